# Vowpal Wabbit's table: rows at 1, 2, 4, 8, … examples.
import json
import os
import subprocess
import sys

import numpy as np

rng = np.random.default_rng(0)
x = rng.normal(size=(600, 3))
y = x @ [1.0, -2.0, 0.5] + rng.normal(0, 0.1, 600)
rows = [f"{t:.4f} | " + " ".join(f"f{i}:{v:.4f}" for i, v in enumerate(r)) for r, t in zip(x, y)]
open("data.txt", "w").write("\n".join(rows) + "\n")
command = "from vowpalwabbit import Workspace; vw = Workspace('-d data.txt -p predictions.txt'); vw.finish()"
subprocess.run([sys.executable, "-c", command], check=True)
predictions = [float(line) for line in open("predictions.txt")]
labels = [float(f"{t:.4f}") for t in y]
truth, total, before, since, at = [], 0.0, 0.0, 0, 1
for n, (p, t) in enumerate(zip(predictions, labels), 1):
    total += (p - t) ** 2
    if n == at:
        truth += [("average loss", n, total / n), ("since last", n, (total - before) / (n - since))]
        truth += [("current label", n, t), ("current predict", n, p), ("weight", n, n), ("features", n, 4)]
        before, since, at = total, n, at * 2
json.dump({"console": truth}, open("truth.json", "w"))
