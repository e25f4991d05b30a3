# numpyro's bar of SVI.run: the mean loss of the last twentieth.
import json
import os

os.environ["TQDM_MININTERVAL"] = "0"  # each state is drawn
import jax
import jax.numpy as jnp
import numpy as np
import numpyro
import numpyro.distributions as dist
from numpyro.infer import SVI, Trace_ELBO
from numpyro.infer.autoguide import AutoNormal

data = np.random.default_rng(0).normal(3, 1, 100).astype("float32")


def model(data):
    mean = numpyro.sample("mean", dist.Normal(0, 10))
    numpyro.sample("data", dist.Normal(mean, 1), obs=data)


svi = SVI(model, AutoNormal(model), numpyro.optim.Adam(0.05), Trace_ELBO())
steps = 400
losses = np.asarray(svi.run(jax.random.PRNGKey(0), steps, jnp.asarray(data)).losses, "float64")
ends = range(20, steps + 1, 20)
truth = [("init loss", i, losses[0]) for i in ends] + [("avg. loss", i, losses[i - 20 : i].mean()) for i in ends]
json.dump({"console": truth}, open("truth.json", "w"))
