# scikit-learn: the verbose lines of MLPClassifier, SGDClassifier and boosting, each in its own file.
import contextlib
import json
import os

import numpy as np

from sklearn.ensemble import GradientBoostingRegressor
from sklearn.neural_network import MLPClassifier

rng = np.random.default_rng(0)
x = rng.normal(size=(300, 3))
y = x @ [1.0, -2.0, 0.5] + rng.normal(0, 1.0, 300)
mlp = MLPClassifier((8,), max_iter=20, verbose=True, random_state=0, early_stopping=True, n_iter_no_change=30)
mlp.fit(x, y > 0)
truth = {"console": [("loss", i + 1, v) for i, v in enumerate(mlp.loss_curve_)]}
truth["console"] += [("Validation score", i + 1, v) for i, v in enumerate(mlp.validation_scores_)]
os.makedirs("log")
with open("log/boosting.txt", "w") as f, contextlib.redirect_stdout(f):
    boosting = GradientBoostingRegressor(n_estimators=10, verbose=2, subsample=0.5, random_state=0).fit(x, y)
truth["log/boosting.txt"] = [("Train Loss", i + 1, v) for i, v in enumerate(boosting.train_score_)]
truth["log/boosting.txt"] += [("OOB Improve", i + 1, v) for i, v in enumerate(boosting.oob_improvement_)]
json.dump(truth, open("truth.json", "w"))
