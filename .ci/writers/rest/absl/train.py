# absl's log, with settings before step 0.
import json
import sys

from absl import app, flags, logging

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


flags.DEFINE_float("lr", 0.05, "The rate.")


def main(argv):
    logging.info("lr = %g, rows = %d", flags.FLAGS.lr, len(x))
    truth = []
    for step, loss, norm, val in train(40):
        logging.log_every_n(logging.INFO, "Step %d: loss = %.5f (grad norm %.4f)", 4, step, loss, norm)
        if step % 4 == 0:
            truth += [("loss", step, loss), ("grad norm", step, norm)]
        if step % 10 == 9:
            logging.info("Validation at step %d: loss = %.5f", step, val)
            truth.append(("val loss", step, val))
    json.dump({"console": truth}, open("truth.json", "w"))


logging.set_verbosity(logging.INFO)
app.run(main, argv=sys.argv[:1])
