# gensim's log of LDA: the bound of each pass, numbered by what it is in the log.
import json
import logging

import numpy as np
from gensim.corpora import Dictionary
from gensim.models import LdaModel

rng = np.random.default_rng(0)
texts = [[f"w{i}" for i in rng.zipf(1.5, 40) if i < 60] for _ in range(400)]
logging.basicConfig(format="%(asctime)s : %(levelname)s : %(message)s", level=logging.INFO)
dictionary = Dictionary(texts)
corpus = [dictionary.doc2bow(text) for text in texts]
bounds = []


class Lda(LdaModel):
    def log_perplexity(self, chunk, total_docs=None):
        bounds.append(float(super().log_perplexity(chunk, total_docs)))
        return bounds[-1]


Lda(corpus, id2word=dictionary, num_topics=3, passes=5, eval_every=1, random_state=0)
truth = [("per-word bound", i, v) for i, v in enumerate(bounds, 1)]
json.dump({"console": truth}, open("truth.json", "w"))
