# rich: a bar of epochs with their values, and one of batches below it.
import json
import sys
import time

from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

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


truth = []
texts = TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(), TextColumn("{task.fields[text]}")
with Progress(*texts) as progress:
    epochs = progress.add_task("epochs", total=8, text="")
    for step, loss, norm, val in train(8):
        batches = progress.add_task("batches", total=3, text="")
        for _ in range(3):
            time.sleep(0.1)
            progress.advance(batches)
        progress.remove_task(batches)
        progress.update(epochs, advance=1, text=f"loss {loss:.4f} val_loss {val:.4f}")
        time.sleep(0.2)
        truth += [("loss", step + 1, loss), ("val_loss", step + 1, val)]
truth = truth if sys.stdout.isatty() else truth[-2:]  # a pipe has the last state alone
json.dump({"console": truth}, open("truth.json", "w"))
