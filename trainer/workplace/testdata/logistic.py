# scikit-learn's logistic regression with its penalty and balanced classes, on a part of iris:
#   python3 logistic.py > logistic.json
import json

import numpy as np
from sklearn.datasets import load_iris
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import StandardScaler

x, labels = load_iris(return_X_y=True)
keep = np.r_[0:40, 50:80, 100:112]
x, labels = np.round(StandardScaler().fit_transform(x[keep]), 4), labels[keep]
LAMBDA = 0.02
m = LogisticRegression(C=1 / (LAMBDA * len(x)), class_weight="balanced", tol=1e-12, max_iter=100000, solver="newton-cg").fit(x, labels)
print(json.dumps({
    "x": x.tolist(), "labels": labels.tolist(), "l2": LAMBDA, "coef": m.coef_.ravel().tolist(),
    "probabilities": m.predict_proba(x)[::9].ravel().tolist(),
}))
