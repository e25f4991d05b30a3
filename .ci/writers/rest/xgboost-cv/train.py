# XGBoost's cross-validation: means and deviations on the console, and its table as CSV.
import json
import os

import numpy as np

import xgboost as xgb

rng = np.random.default_rng(0)
x = rng.normal(size=(300, 3))
y = (x @ [1.0, -2.0, 0.5] + rng.normal(0, 1.0, 300) > 0).astype(int)
settings = {"objective": "binary:logistic", "eval_metric": "logloss", "max_depth": 2, "nthread": 1}
table = xgb.cv(settings, xgb.DMatrix(x, y), 15, nfold=3, verbose_eval=True, show_stdv=True, seed=0, as_pandas=True)
os.makedirs("log")
table.to_csv("log/cv.csv")
truth = [(name, i, v) for name in table for i, v in enumerate(table[name])]
json.dump({"console": truth, "log/cv.csv": truth}, open("truth.json", "w"))
