# alive-progress, with lines printed beside its bar.
import json
import sys
import time

from alive_progress import alive_bar

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
with alive_bar(12, title="fit") as bar:
    for step, loss, norm, val in train(12):
        bar.text(f"loss: {loss:.4f}")
        time.sleep(0.25)
        if sys.stdout.isatty():  # a pipe has no text in the bar
            truth.append(("loss", step, loss))
        bar()
        if step % 3 == 2:
            print(f"step {step + 1}: val loss {val:.4f}, gradient {norm:.4f}")
            truth += [("val loss", step + 1, val), ("gradient", step + 1, norm)]
json.dump({"console": truth}, open("truth.json", "w"))
