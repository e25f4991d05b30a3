# Sacred's files.
import json

from sacred import Experiment
from sacred.observers import FileStorageObserver

import numpy as np

rng = np.random.default_rng(0)
x = rng.normal(size=(300, 3))
y = x @ [1.0, -2.0, 0.5] + rng.normal(0, 0.1, 300)
w = np.zeros(3)


def train(steps, start=0):
    """Descend, and give step, loss, the norm of the gradient, and the loss of validation."""
    global w
    for step in range(start, start + steps):
        error = x[:200] @ w - y[:200]
        gradient = x[:200].T @ error / 100
        yield step, float(error @ error / 200), float(np.linalg.norm(gradient)), float(((x[200:] @ w - y[200:]) ** 2).mean())
        w -= 0.05 * gradient


ex = Experiment("line", save_git_info=False)
ex.observers.append(FileStorageObserver("log"))
truth = []


@ex.config
def config():
    lr = 0.05


@ex.main
def main(lr, _run):
    for step, loss, norm, val in train(12):
        _run.log_scalar("training.loss", loss, step)
        truth.append(("training.loss", step, loss))
        if step % 4 == 0:
            _run.log_scalar("validation.loss", val, step)
            truth.append(("validation.loss", step, val))
        _run.log_scalar("norm", norm)  # counts by itself
        truth.append(("norm", step, norm))
    return loss


ex.run()
json.dump({"log": truth}, open("truth.json", "w"))
