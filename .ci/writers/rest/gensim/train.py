# gensim: the loss of Word2Vec, by a callback.
import json

import numpy as np
from gensim.models import Word2Vec
from gensim.models.callbacks import CallbackAny2Vec

rng = np.random.default_rng(0)
texts = [[f"w{i}" for i in rng.zipf(1.5, 40) if i < 60] for _ in range(400)]
truth = []


class Report(CallbackAny2Vec):
    epoch, before = 0, 0.0

    def on_epoch_end(self, model):
        total = model.get_latest_training_loss()
        print(f"Loss after epoch {self.epoch}: {total - self.before}", flush=True)
        truth.append(("Loss", self.epoch, float(total - self.before)))
        self.epoch, self.before = self.epoch + 1, total


Word2Vec(texts, vector_size=8, min_count=1, epochs=6, workers=1, seed=0, compute_loss=True, callbacks=[Report()])
json.dump({"console": truth}, open("truth.json", "w"))
