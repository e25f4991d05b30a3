# LightGBM's cross-validation: means and deviations on the console.
import json

import lightgbm as lgb

import numpy as np

rng = np.random.default_rng(0)
x = rng.normal(size=(300, 3))
y = x @ [1.0, -2.0, 0.5] + rng.normal(0, 1.0, 300)
settings = {"objective": "regression", "metric": "l2", "num_leaves": 7, "num_threads": 1, "verbose": -1}
table = lgb.cv(settings, lgb.Dataset(x, y), 15, nfold=3, stratified=False, seed=0, callbacks=[lgb.log_evaluation(1)])
truth = [(name, i + 1, v) for name, vs in table.items() for i, v in enumerate(vs)]
json.dump({"console": truth}, open("truth.json", "w"))
