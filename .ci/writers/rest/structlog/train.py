# structlog: its console, and JSON with the part in the event; the first event is settings.
import json
import os

import structlog

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
log = structlog.get_logger()
log.info("config", lr=0.05, rows=200)
truth, rows = [], []
for step, loss, norm, val in train(10):
    log.info("step", step=step, loss=round(loss, 6), val_loss=round(val, 6))
    truth += [("loss", step, loss), ("val_loss", step, val)]
add = [structlog.processors.add_log_level, structlog.processors.TimeStamper(fmt="iso"), structlog.processors.JSONRenderer()]
structlog.configure(processors=add, logger_factory=structlog.WriteLoggerFactory(open("log/events.jsonl", "w")))
log = structlog.get_logger().bind(seed=7)
log.info("config", lr=0.05, rows=200, epochs=10)
for step, loss, norm, val in train(10, 0):
    log.info("train", epoch=step, loss=loss, grad_norm=norm)
    log.info("validate", epoch=step, loss=val)
    rows += [("train loss", step, loss), ("grad_norm", step, norm), ("validate loss", step, val)]
json.dump({"console": truth, "log/events.jsonl": rows}, open("truth.json", "w"))
