# tqdm: a bar of epochs with a postfix, and a bar of batches below it.
import json
import time

from tqdm import tqdm, trange

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
with trange(8, desc="epochs") as bar:
    for epoch, (step, loss, norm, val) in zip(bar, train(8)):
        for _ in tqdm(range(4), desc="batches", leave=False):
            time.sleep(0.03)
        bar.set_postfix(loss=loss, val_loss=val)
        truth += [("loss", epoch, float(f"{loss:.3g}")), ("val_loss", epoch, float(f"{val:.3g}"))]
json.dump({"console": truth}, open("truth.json", "w"))
