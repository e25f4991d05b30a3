# DVCLive without DVC.
import json

from dvclive import Live

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
with Live("log/dvclive", save_dvc_exp=False, report=None) as live:
    live.log_params({"lr": 0.05, "rows": 200})
    for step, loss, norm, val in train(12):
        live.log_metric("train/loss", loss)
        live.log_metric("grad_norm", norm)
        truth += [("train/loss", step, loss), ("grad_norm", step, norm)]
        if step % 3 == 2:
            live.log_metric("val/loss", val)
            truth.append(("val/loss", step, val))
        live.next_step()
    live.summary["best"] = loss
json.dump({"log": truth, "log/dvclive": truth}, open("truth.json", "w"))
