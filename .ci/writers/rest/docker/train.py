# What Docker's json-file driver keeps of a program's lines.
import datetime
import json
import os

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


os.makedirs("log")
truth = []
with open("log/0123abcd-json.log", "w") as log:

    def line(text, stream="stdout"):
        time = datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%S.%f000Z")
        print(json.dumps({"log": text + "\n", "stream": stream, "time": time}), file=log, flush=True)

    line("UserWarning: 4 workers on 2 cores", "stderr")
    for step, loss, norm, val in train(12):
        line(f"step {step} | loss {loss:.5f} | grad norm {norm:.4f}")
        truth += [("loss", step, loss), ("grad norm", step, norm)]
        if step % 4 == 3:
            line(f"step {step} | val loss {val:.5f}", "stderr")
            truth.append(("val loss", step, val))
json.dump({"log/0123abcd-json.log": truth}, open("truth.json", "w"))
