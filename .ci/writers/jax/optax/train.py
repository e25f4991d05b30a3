# A loop of one's own with optax, from step 0, behind a line of settings; absl's log.
import json

import jax
import jax.numpy as jnp
import numpy as np
import optax
from absl import logging

logging.set_verbosity(logging.INFO)
logging.use_absl_handler()
x = np.random.default_rng(0).normal(size=(200, 4)).astype("float32")
y = x @ np.array([1, -2, 0.5, 0], "float32")
rate = 0.1
tx = optax.adamw(rate)
w = jnp.zeros(4)
state = tx.init(w)
logging.info("learning_rate=%g batch_size=%d", rate, len(x))
truth = []
for step in range(100):
    loss, grad = jax.value_and_grad(lambda w: ((x @ w - y) ** 2).mean())(w)
    updates, state = tx.update(grad, state, w)
    w = optax.apply_updates(w, updates)
    if step % 5 == 0:
        norm = float(optax.global_norm(grad))
        logging.info("step %d: loss=%.5f grad_norm=%.4f", step, loss, norm)
        print("Step", step, "loss", loss, flush=True)
        truth += [("loss", step, float(loss)), ("grad_norm", step, norm)]
json.dump({"console": truth}, open("truth.json", "w"))
