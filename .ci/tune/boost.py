"""XGBoost on whether a letter is one of A to M, with the lines that it prints by itself."""
import argparse, os
import numpy as np, xgboost

p = argparse.ArgumentParser()
for name, kind, default in (("eta", float, .3), ("depth", int, 6), ("child", float, 1), ("rows", float, 1), ("columns", float, 1),
                            ("l2", float, 1), ("seed", int, 0), ("rounds", int, 45)):
    p.add_argument("--" + name, type=kind, default=default)
a = p.parse_args()
data = np.load(os.environ.get("TUNE_DATA", "data.npz"))
train, val = (xgboost.DMatrix(data["letters_" + x], data["letters_" + y] < 13) for x, y in (("x", "y"), ("vx", "vy")))
xgboost.train(dict(objective="binary:logistic", eval_metric="logloss", eta=a.eta, max_depth=a.depth, min_child_weight=a.child, subsample=a.rows,
                   colsample_bytree=a.columns, reg_lambda=a.l2, seed=a.seed, nthread=1), train, a.rounds, [(val, "val")], verbose_eval=1)
