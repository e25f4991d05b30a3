# tqdm: the loss in the bar's description, and lines above the bar.
import json
import time

from tqdm import tqdm

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
bar = tqdm(train(20), total=20)
for step, loss, norm, val in bar:
    bar.set_description(f"loss {loss:.4f}")
    truth.append(("loss", step, loss))
    time.sleep(0.12)
    if step % 4 == 3:
        tqdm.write(f"iter {step + 1}: val loss {val:.5f}, gradient {norm:.5f}")
        truth += [("val loss", step + 1, val), ("gradient", step + 1, norm)]
json.dump({"console": truth}, open("truth.json", "w"))
