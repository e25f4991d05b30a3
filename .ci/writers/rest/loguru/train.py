# loguru: a terminal's colours, JSON with the line or with what was bound, and its own format.
import json
import sys

from loguru import logger

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


logger.remove()
logger.add(sys.stderr, level="INFO")
logger.add("log/serialized.jsonl", serialize=True)
logger.add("log/text.log", format="{time} {level} {message} {extra}")
logger.info("lr=0.05 rows=200")
truth, bound = [], []
for step, loss, norm, val in train(12):
    logger.info("step {} loss {:.5f} grad_norm {:.4f}", step, loss, norm)
    truth += [("loss", step, loss), ("grad_norm", step, norm)]
logger.remove()
logger.add("log/bound.jsonl", serialize=True)
for step, loss, norm, val in train(6, 12):
    logger.bind(step=step, loss=loss, val_loss=val).info("trained")
    bound += [("loss", step, loss), ("val_loss", step, val)]
logger.remove()
files = {"log/serialized.jsonl": truth, "log/text.log": truth, "log/bound.jsonl": bound}
json.dump({"console": truth, **files}, open("truth.json", "w"))
