# XGBoost: the native API with its console, a logger's callback, early stopping.
import json
import logging
import os

import numpy as np

import xgboost as xgb

rng = np.random.default_rng(0)
x = rng.normal(size=(300, 3))
y = (x @ [1.0, -2.0, 0.5] + rng.normal(0, 1.0, 300) > 0).astype(int)
train, test = xgb.DMatrix(x[:200], y[:200]), xgb.DMatrix(x[200:], y[200:])
settings = {"objective": "binary:logistic", "eval_metric": ["logloss", "error"], "max_depth": 2, "nthread": 1}
watched = [(train, "train"), (test, "test")]


def points(history):
    return [(f"{part}-{name}", i, v) for part, m in history.items() for name, vs in m.items() for i, v in enumerate(vs)]


class Logger(xgb.callback.TrainingCallback):
    """Say the newest scores to logging, as many do."""

    def after_iteration(self, model, epoch, evals_log):
        scores = [f"{part}-{name}:{vs[-1]:.5f}" for part, m in evals_log.items() for name, vs in m.items()]
        log.info("[%d]\t%s", epoch, "\t".join(scores))
        return False


os.makedirs("log")
log = logging.getLogger("xgboost")
log.setLevel("INFO")
history = {}
xgb.train(settings, train, 40, watched, evals_result=history, early_stopping_rounds=6)
truth = {"console": points(history)}

file = logging.FileHandler("log/logger.log", delay=True)
file.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(message)s"))
log.handlers = [file]
history = {}
xgb.train(settings, train, 12, watched, evals_result=history, callbacks=[Logger()], verbose_eval=False)
truth["log/logger.log"] = points(history)
json.dump(truth, open("truth.json", "w"))
