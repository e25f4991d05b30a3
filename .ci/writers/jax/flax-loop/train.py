# The loop of Flax's MNIST example, with its line an epoch.
import json

import jax
import jax.numpy as jnp
import numpy as np
import optax
from absl import app, logging
from flax import linen as nn
from flax.training import train_state

rng = np.random.default_rng(0)
x = rng.normal(size=(400, 4)).astype("float32")
y = (x[:, 0] > x[:, 1]).astype("int32")
model = nn.Dense(2)


@jax.jit
def step(state, x, y):
    def loss_of(params):
        logits = state.apply_fn({"params": params}, x)
        return optax.softmax_cross_entropy_with_integer_labels(logits, y).mean(), logits

    (loss, logits), grads = jax.value_and_grad(loss_of, has_aux=True)(state.params)
    return state.apply_gradients(grads=grads), loss, (logits.argmax(-1) == y).mean()


def main(argv):
    params = model.init(jax.random.PRNGKey(0), jnp.ones((1, 4)))["params"]
    state = train_state.TrainState.create(apply_fn=model.apply, params=params, tx=optax.sgd(0.5))
    truth = []
    for epoch in range(1, 9):
        state, loss, accuracy = step(state, x[:300], y[:300])
        _, test_loss, test_accuracy = step(state, x[300:], y[300:])
        row = [float(v) for v in (loss, accuracy * 100, test_loss, test_accuracy * 100)]
        logging.info("epoch:% 3d, train_loss: %.4f, train_accuracy: %.2f, test_loss: %.4f, test_accuracy: %.2f", epoch, *row)
        truth += [(name, epoch, v) for name, v in zip(("train_loss", "train_accuracy", "test_loss", "test_accuracy"), row)]
    json.dump({"console": truth}, open("truth.json", "w"))


logging.set_verbosity(logging.INFO)
app.run(main)
