# ClearML without a server.
import json
import os
import shutil

os.environ["CLEARML_OFFLINE_MODE"] = "1"
os.environ["CLEARML_CACHE_DIR"] = os.path.abspath("log")
from clearml import Task

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


Task.set_offline(True)
task = Task.init("newtop", "line", auto_connect_frameworks=False, auto_resource_monitoring=False)
task.connect({"lr": 0.05})
logger = task.get_logger()
truth = []
for step, loss, norm, val in train(12):
    logger.report_scalar("loss", "train", iteration=step, value=loss)
    logger.report_scalar("loss", "val", iteration=step, value=val)
    logger.report_scalar("gradient", "norm", iteration=step, value=norm)
    truth += [("loss/train", step, loss), ("loss/val", step, val), ("gradient/norm", step, norm)]
logger.report_single_value("best", loss)
task.close()
json.dump({"log": truth}, open("truth.json", "w"))
