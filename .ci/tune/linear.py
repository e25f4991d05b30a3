"""A linear classifier of scikit-learn on the digits that come with it."""
import argparse, os
import numpy as np
from sklearn.linear_model import SGDClassifier

p = argparse.ArgumentParser()
for name, kind, default in (("alpha", float, 1e-4), ("eta", float, .1), ("rate", str, "constant"), ("power", float, .5), ("loss", str, "hinge"),
                            ("penalty", str, "l2"), ("seed", int, 0), ("epochs", int, 18)):
    p.add_argument("--" + name, type=kind, default=default)
a = p.parse_args()
data = np.load(os.environ.get("TUNE_DATA", "data.npz"))
x, y, vx, vy = (data["digits_" + k] for k in ("x", "y", "vx", "vy"))
model = SGDClassifier(loss=a.loss, penalty=a.penalty, alpha=a.alpha, learning_rate=a.rate, eta0=a.eta, power_t=a.power, random_state=a.seed)
r = np.random.default_rng(a.seed)
for epoch in range(1, a.epochs + 1):
    rows = r.permutation(len(x))
    model.partial_fit(x[rows], y[rows], classes=np.arange(10))
    print(f"[{epoch}/{a.epochs}] val_error={1 - model.score(vx, vy):.5f}")
