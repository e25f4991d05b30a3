# python-json-logger: the line as its message, or the numbers as extra fields.
import json
import logging
import os

from pythonjsonlogger.json import JsonFormatter

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


os.makedirs("log")
files = {}
for name in "message", "extra":
    handler = logging.FileHandler(f"log/{name}.jsonl")
    handler.setFormatter(JsonFormatter("%(asctime)s %(levelname)s %(name)s %(process)d %(lineno)d %(message)s"))
    files[name] = logging.getLogger(name)
    files[name].addHandler(handler)
    files[name].setLevel("INFO")
message, extra = [], []
files["message"].info("lr=0.05 rows=200")
for step, loss, norm, val in train(12):
    files["message"].info("step %d: loss %.5f, val_loss %.5f", step, loss, val)
    files["extra"].info("trained", extra={"step": step, "loss": loss, "grad_norm": norm})
    message += [("loss", step, loss), ("val_loss", step, val)]
    extra += [("loss", step, loss), ("grad_norm", step, norm)]
json.dump({"log/message.jsonl": message, "log/extra.jsonl": extra}, open("truth.json", "w"))
