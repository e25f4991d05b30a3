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
bounds, updates = [], []


class Lda(LdaModel):
    def log_perplexity(self, chunk, total_docs=None):
        bounds.append(float(super().log_perplexity(chunk, total_docs)))
        return bounds[-1]

    def do_mstep(self, rho, other, extra_pass=False):
        before = self.state.get_Elogbeta().copy()
        super().do_mstep(rho, other, extra_pass)
        updates.append((float(np.abs(before - self.state.get_Elogbeta()).mean()), float(rho)))


Lda(corpus, id2word=dictionary, num_topics=3, passes=5, eval_every=1, random_state=0)
truth = [point for i, v in enumerate(bounds, 1) for point in (("per-word bound", i, v), ("perplexity", i, 2**-v))]
truth += [point for i, (d, rho) in enumerate(updates, 1) for point in (("topic diff", i, d), ("rho", i, rho))]
json.dump({"console": truth}, open("truth.json", "w"))
