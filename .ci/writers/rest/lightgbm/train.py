# LightGBM: its console with early stopping, from a start score.
import json

import lightgbm as lgb

import numpy as np

rng = np.random.default_rng(0)
x = rng.normal(size=(400, 3))
y = (x @ [1.0, -2.0, 0.5] + rng.normal(0, 1.0, 400) > 0).astype(int)
train = lgb.Dataset(x[:300], y[:300])
test = lgb.Dataset(x[300:], y[300:], reference=train)
settings = {"objective": "binary", "metric": ["binary_logloss", "auc"], "num_leaves": 7, "num_threads": 1, "seed": 0}
history = {}
callbacks = [lgb.log_evaluation(1), lgb.early_stopping(5), lgb.record_evaluation(history)]
lgb.train(settings, train, 60, [train, test], ["training", "valid_1"], callbacks=callbacks)
truth = [(f"{p}'s {n}", i + 1, v) for p, m in history.items() for n, vs in m.items() for i, v in enumerate(vs)]
json.dump({"console": truth}, open("truth.json", "w"))
