# CatBoost: its console and catboost_info/ (TSV, JSON, and TensorBoard's files of learn/ and test/).
import json
import os

from catboost import CatBoostClassifier

import numpy as np

rng = np.random.default_rng(0)
x = rng.normal(size=(300, 3))
y = (x @ [1.0, -2.0, 0.5] + rng.normal(0, 1.0, 300) > 0).astype(int)
os.makedirs("log")
model = CatBoostClassifier(
    iterations=30, depth=3, learning_rate=0.2, custom_metric=["Accuracy"], thread_count=1, random_seed=0, train_dir="log/catboost_info"
)
model.fit(x[:200], y[:200], eval_set=(x[200:], y[200:]))
history = model.get_evals_result()
parts = {"learn": "learn", "test": "validation"}
points = {p: [(n, i, v) for n, vs in history[k].items() for i, v in enumerate(vs)] for p, k in parts.items()}
both = [(f"{p}/{n}", i, v) for p, ps in points.items() for n, i, v in ps]
seen = [(f"{p}/{n}", i, v) for p, ps in points.items() for n, i, v in ps if n == "Logloss"]
seen += [("bestTest", 29, model.best_score_["validation"]["Logloss"]), ("bestIteration", 29, model.best_iteration_)]
info = "log/catboost_info"
files = {info: both, info + "/learn_error.tsv": points["learn"], info + "/test_error.tsv": points["test"]}
files |= {info + "/learn": points["learn"], info + "/test": points["test"], info + "/catboost_training.json": both}
json.dump({"console": seen, **files}, open("truth.json", "w"))
