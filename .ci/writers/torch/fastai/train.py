# fastai: its table and CSVLogger.
import json
import os

import torch
from fastai.basics import DataLoaders, accuracy, set_seed
from fastai.callback.progress import CSVLogger
from fastai.callback.schedule import Learner  # adds fit_one_cycle

set_seed(0)
x = torch.randn(192, 4)
data = list(zip(x, (x[:, 0] > x[:, 1]).long()))
loaders = DataLoaders.from_dsets(data[:128], data[128:], bs=16, device="cpu")
model = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.Tanh(), torch.nn.Linear(8, 2))
learner = Learner(loaders, model, loss_func=torch.nn.functional.cross_entropy, metrics=[accuracy])
os.makedirs("log")
learner.fit_one_cycle(6, 0.05, cbs=CSVLogger("log/history.csv"))
names = learner.recorder.metric_names[1:-1]
truth = [(n, e, float(v)) for e, row in enumerate(learner.recorder.values) for n, v in zip(names, row)]
json.dump({"console": truth, "log/history.csv": truth}, open("truth.json", "w"))
