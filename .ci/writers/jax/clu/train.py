# clu's default writer: TensorBoard's events, and lines of absl's log.
import json
import sys

import jax
import jax.numpy as jnp
import numpy as np
import optax
from absl import app, logging
from clu import metric_writers, periodic_actions

x = np.random.default_rng(0).normal(size=(300, 4)).astype("float32")
y = x @ np.array([1, -2, 0.5, 0], "float32")


def loss_of(w):
    return ((x @ w - y) ** 2).mean()


def main(argv):
    tx = optax.adam(0.1)
    w = jnp.zeros(4)
    state = tx.init(w)
    writer = metric_writers.create_default_writer("log", asynchronous=False)
    report = periodic_actions.ReportProgress(num_train_steps=40, every_steps=10, every_secs=None)
    writer.write_hparams({"learning_rate": 0.1})
    truth = []
    for step in range(1, 41):
        loss, grad = jax.value_and_grad(loss_of)(w)
        updates, state = tx.update(grad, state)
        w = optax.apply_updates(w, updates)
        report(step)
        if step % 4 == 0:
            row = {"train/loss": float(loss), "train/grad_norm": float(optax.global_norm(grad))}
            writer.write_scalars(step, row)
            truth += [(name, step, v) for name, v in row.items()]
        if step % 20 == 0:
            writer.write_scalars(step, {"eval/loss": float(loss_of(w))})
            truth.append(("eval/loss", step, float(loss_of(w))))
    writer.flush()
    json.dump({"console": truth, "log": truth}, open("truth.json", "w"))


logging.set_verbosity(logging.INFO)
app.run(main, argv=sys.argv[:1])
