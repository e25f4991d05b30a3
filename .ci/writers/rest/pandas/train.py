# pandas: to_csv with its index as an unnamed first column, and a frame that is printed.
import json

import pandas as pd

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


frame = pd.DataFrame([row[1:] for row in train(15)], columns=["loss", "grad_norm", "val_loss"])
frame.iloc[:10].to_csv("frame.csv")
late = pd.DataFrame({"iteration": range(10, 160, 10), **frame.to_dict("list")})
late.to_csv("late.csv")
print(late.head(8).to_string())
print(late.tail(7).set_index("iteration"))


def points(frame, xs):
    return [(name, int(i), float(v)) for name in ("loss", "grad_norm", "val_loss") for i, v in zip(xs, frame[name])]


truth = {"frame.csv": points(frame.iloc[:10], range(10)), "late.csv": points(late, late["iteration"])}
json.dump({"console": points(late, late["iteration"]), **truth}, open("truth.json", "w"))
