# tqdm: a bar an epoch, with a postfix each step and a string at its end.
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
for epoch in range(5):
    bar = tqdm(train(6), total=6, desc=f"Epoch {epoch}")
    for step, loss, norm, val in bar:
        at = 6 * epoch + step
        bar.set_postfix({"loss": f"{loss:.4f}", "norm": f"{norm:.3f}"})
        if step == 5:
            bar.set_postfix_str(f"loss={loss:.4f}, norm={norm:.3f}, val_loss={val:.4f}")
            truth.append(("val_loss", at, val))
        truth += [("loss", at, loss), ("norm", at, norm), ("epoch", at, epoch)]
        time.sleep(0.12)
json.dump({"console": truth}, open("truth.json", "w"))
