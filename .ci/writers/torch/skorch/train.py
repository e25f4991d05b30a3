# skorch: its table with a column of checkpoints, and the history it saves.
import json

import torch
from skorch import NeuralNetClassifier
from skorch.callbacks import Checkpoint, EpochScoring, LRScheduler

torch.manual_seed(0)
x = torch.randn(240, 4)
y = (x[:, 0] > x[:, 1]).long()
module = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.Tanh(), torch.nn.Linear(8, 2))
callbacks = [
    EpochScoring("roc_auc", lower_is_better=False, name="valid_auc"),
    LRScheduler("StepLR", step_size=3, gamma=0.5),
    Checkpoint(monitor="valid_loss_best", dirname="log"),
]
net = NeuralNetClassifier(
    module, criterion=torch.nn.CrossEntropyLoss, lr=0.4, max_epochs=8, batch_size=24, callbacks=callbacks
)
net.fit(x.numpy(), y.numpy())
columns = "train_loss", "valid_acc", "valid_loss", "valid_auc", "event_lr"
counts = "train_batch_count", "valid_batch_count", "dur"


def points(names):
    return [(n, row["epoch"], float(row[n])) for row in net.history for n in names]


json.dump({"console": points(columns), "log/history.json": points(columns + counts)}, open("truth.json", "w"))
