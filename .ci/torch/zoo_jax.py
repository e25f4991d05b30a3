"""Models in JAX for zoo.py. A case is a function that returns what newtop.spectrum takes: the loss, the params and the batch, and perhaps
the net by name."""
import functools
import types

import jax
import jax.numpy as jnp
import numpy as np
from jax.flatten_util import ravel_pytree

import newtop
import zoo

cases = []
timers = zoo.timers_of(newtop._Plain)


def title():
    return f"JAX {jax.__version__}"


def case(name, *, refused="", noted="", differences=False, within=1e-2, needs=()):
    def add(build):
        cases.append(types.SimpleNamespace(name=name, build=build, refused=refused, noted=noted, differences=differences, within=within, needs=needs))
        return build
    return add


def begin(c):
    jax.config.update("jax_enable_x64", False)
    loss_fn, params, batch, *net = c.build()
    c.served, c.outputs = (loss_fn, params, batch), net[0] if net else None


def spectrum(c):
    return newtop.spectrum(*c.served, k=1, outputs=c.outputs)


def truth(c):
    """The ends of the Hessian in float64: reverse over reverse, where newtop takes forward over reverse."""
    jax.config.update("jax_enable_x64", True)
    wide = lambda tree: jax.tree_util.tree_map(lambda x: np.asarray(x, np.float64) if jnp.issubdtype(jnp.asarray(x).dtype, jnp.floating) else np.asarray(x), tree)
    loss_fn, params, batch = c.served
    w, unravel = ravel_pytree(jax.tree_util.tree_map(jnp.asarray, wide(params)))
    batch = wide(batch)
    loss = (lambda w: loss_fn(c.outputs(unravel(w), batch[0]), batch[1])) if c.outputs else lambda w: loss_fn(unravel(w), batch)
    product = jax.jit(jax.grad(lambda w, v: jnp.vdot(jax.grad(loss)(w), v)))
    return zoo.ends(lambda v: np.asarray(product(w, jnp.asarray(v.reshape(-1)))), len(w)), len(w)


key = jax.random.PRNGKey


def normal(seed, *shape):
    return jnp.asarray(np.random.default_rng(seed).normal(size=shape), jnp.float32)


def integers(seed, high, *shape):
    return jnp.asarray(np.random.default_rng(seed).integers(high, size=shape), jnp.int32)


def dense(seed, *widths):
    return [{"w": normal(seed + i, a, b) / a ** 0.5, "b": 0.1 * normal(seed + 50 + i, b)} for i, (a, b) in enumerate(zip(widths, widths[1:]))]


def mlp(params, x, act=jnp.tanh):
    for layer in params[:-1]:
        x = act(x @ layer["w"] + layer["b"])
    return x @ params[-1]["w"] + params[-1]["b"]


def ce(o, t):
    return -jnp.mean(jnp.take_along_axis(jax.nn.log_softmax(o), t[..., None], -1))


def mse(o, t):
    return jnp.mean((o - t) ** 2)


def classes(n, k, *shape):
    return normal(7, n, *shape), integers(8, k, n)


@case("MLP of dicts and lists")
def _():
    return ce, dense(0, 6, 16, 4), classes(48, 4, 6), functools.partial(mlp, act=jax.nn.gelu)


@case("without outputs")
def _():
    return lambda p, b: mse(mlp(p, b["x"]), b["y"]), dense(0, 4, 12, 2), {"x": normal(1, 40, 4), "y": normal(2, 40, 2)}


@case("RNN by lax.scan")
def _():
    p = {"a": 0.3 * normal(0, 8, 8), "u": normal(1, 3, 8), "o": normal(2, 8, 3)}
    return ce, p, classes(16, 3, 6, 3), lambda p, x: jax.lax.scan(lambda h, x: (jnp.tanh(h @ p["a"] + x @ p["u"]), None), jnp.zeros((16, 8), x.dtype), x.swapaxes(0, 1))[0] @ p["o"]


@case("PINN by vmap of grad")
def _():
    def loss(p, b):
        x, edge = b
        u = lambda x: mlp(p, x)[0]
        residual = jax.vmap(lambda x: jax.grad(u)(x)[1] - 0.1 * jax.hessian(u)(x)[0, 0])
        return jnp.mean(residual(x) ** 2) + jnp.mean((jax.vmap(u)(edge) - jnp.sin(jnp.pi * edge[:, 0])) ** 2)
    return loss, dense(0, 2, 12, 12, 1), (abs(normal(1, 40, 2)) / 2, abs(normal(2, 16, 2)) * jnp.array([0.5, 0.0]))


@case("neural ODE by fori_loop")
def _():
    step = lambda p: lambda _, x: x + 0.1 * mlp(p, x)
    return mse, dense(0, 2, 12, 2), (normal(1, 40, 2), normal(2, 40, 2)), lambda p, x: jax.lax.fori_loop(0, 8, step(p), x)


@case("remat, relu")
def _():
    return ce, dense(0, 6, 16, 16, 4), classes(40, 4, 6), jax.checkpoint(functools.partial(mlp, act=jax.nn.relu))


@case("dropout by a mask")
def _():
    kept = np.asarray(integers(3, 5, 40, 16) > 0)  # from a key it would have other bits with jax_enable_x64

    def net(p, x):
        h = jnp.tanh(x @ p[0]["w"] + p[0]["b"]) * kept / 0.8
        return h @ p[1]["w"] + p[1]["b"]
    return ce, dense(0, 6, 16, 4), classes(40, 4, 6), net


@case("GNN by segment_sum")
def _():
    a, b = integers(4, 20, 2, 60)

    def net(p, x):
        for layer in p[:-1]:
            x = jnp.tanh((x + jax.ops.segment_sum(x[a], b, 20) / 3) @ layer["w"] + layer["b"])
        return mlp(p[-1:], x)
    return ce, dense(0, 5, 8, 8, 3), classes(20, 3, 5), net


@jax.custom_vjp
def sine(x):
    return jnp.sin(x)


sine.defvjp(lambda x: (jnp.sin(x), x), lambda x, g: (g * jnp.cos(x),))


@case("custom_vjp")
def _():
    return mse, dense(0, 3, 12, 1), (normal(1, 40, 3), normal(2, 40, 1)), functools.partial(mlp, act=sine)


@case("while_loop", refused="while_loop")
def _():
    def net(p, x):
        return jax.lax.while_loop(lambda s: s[0] < 3, lambda s: (s[0] + 1, jnp.tanh(s[1] @ p["w"])), (0, x))[1]
    return mse, {"w": normal(0, 4, 4)}, (normal(1, 20, 4), normal(2, 20, 4)), net


@case("bfloat16 within", noted="16 bits", within=0.5)
def _():
    def net(p, x):
        half = jnp.bfloat16 if x.dtype == jnp.float32 else x.dtype  # and the truth in full
        return mlp(jax.tree_util.tree_map(lambda w: w.astype(half), p), x.astype(half)).astype(x.dtype)
    return ce, dense(0, 6, 16, 4), classes(40, 4, 6), net


@case("complex leaves", refused="complex")
def _():
    return lambda p, b: jnp.mean(jnp.abs(b * p["w"]) ** 2), {"w": jnp.ones(3) * (1 + 1j)}, normal(0, 5, 3)


@case("integer leaves", refused="no weights")
def _():
    return lambda p, b: jnp.mean((b @ p["w"]) ** 2), {"w": normal(0, 3), "step": jnp.array(3)}, normal(1, 5, 3)


def linen_cnn():
    from flax import linen as nn

    class Net(nn.Module):
        @nn.compact
        def __call__(self, x):
            x = nn.relu(nn.Conv(4, (3, 3))(x))
            x = nn.BatchNorm(use_running_average=True)(nn.avg_pool(x, (2, 2), (2, 2)))
            return nn.Dense(3)(x.reshape(len(x), -1))
    return Net()


@case("flax linen: CNN, BatchNorm", needs=("flax",))
def _():
    net, (x, t) = linen_cnn(), classes(16, 3, 6, 6, 1)
    state = net.init(key(0), x)
    return ce, state["params"], (x, t), lambda p, x: net.apply({"params": p, "batch_stats": state["batch_stats"]}, x)


@case("flax linen: transformer", needs=("flax",))
def _():
    from flax import linen as nn

    class Net(nn.Module):
        @nn.compact
        def __call__(self, i):
            x = nn.Embed(11, 8)(i)
            x = x + nn.MultiHeadDotProductAttention(2)(nn.LayerNorm()(x), nn.LayerNorm()(x), mask=nn.make_causal_mask(i))
            return nn.Dense(11)(x + nn.Dense(8)(nn.gelu(nn.Dense(16)(nn.LayerNorm()(x)))))
    net, i = Net(), integers(1, 11, 4, 6)
    return ce, net.init(key(0), i), (i, jnp.roll(i, -1, 1)), net.apply


@case("flax linen: LSTM", needs=("flax",))
def _():
    from flax import linen as nn

    class Net(nn.Module):
        @nn.compact
        def __call__(self, x):
            return nn.Dense(3)(nn.RNN(nn.LSTMCell(8))(x, initial_carry=(jnp.zeros((12, 8), x.dtype),) * 2)[:, -1])
    net, (x, t) = Net(), classes(12, 3, 5, 3)
    return ce, net.init(key(0), x), (x, t), net.apply


@case("flax linen: the module", refused="flax.linen has no weights within", needs=("flax",))
def _():
    return linen_cnn(), ce, classes(16, 3, 6, 6, 1)


def nnx_net():
    from flax import nnx

    class Net(nnx.Module):
        def __init__(self, rngs):
            self.a, self.drop, self.norm, self.b = nnx.Linear(6, 16, rngs=rngs), nnx.Dropout(0.2, rngs=rngs), nnx.LayerNorm(16, rngs=rngs), nnx.Linear(16, 3, rngs=rngs)

        def __call__(self, x):
            return self.b(self.norm(self.drop(jnp.tanh(self.a(x)))))
    net = Net(nnx.Rngs(0))
    net.eval()
    return net


@case("flax nnx: split and merge", needs=("flax",))
def _():
    from flax import nnx
    graph, params, rest = nnx.split(nnx_net(), nnx.Param, ...)
    return ce, params, classes(40, 3, 6), lambda p, x: nnx.merge(graph, p, rest)(x)


@case("flax nnx: the module", refused="flax.nnx.split", needs=("flax",))
def _():
    return nnx_net(), ce, classes(40, 3, 6)


@case("equinox: partition", needs=("equinox",))
def _():
    import equinox
    params, rest = equinox.partition(equinox.nn.MLP(4, 3, 12, 2, key=key(0)), equinox.is_inexact_array)
    return ce, params, classes(40, 3, 4), lambda p, x: jax.vmap(equinox.combine(p, rest))(x)


@case("equinox: the module", refused="equinox.partition", needs=("equinox",))
def _():
    import equinox
    return equinox.nn.MLP(4, 3, 12, 2, key=key(0)), ce, classes(40, 3, 4)


@case("haiku: transform", needs=("haiku",))
def _():
    import haiku
    net = haiku.without_apply_rng(haiku.transform(lambda x: haiku.nets.MLP([12, 3], activation=jnp.tanh)(x)))
    x, t = classes(40, 3, 4)
    return ce, net.init(key(0), x), (x, t), net.apply


@case("optax losses", needs=("optax",))
def _():
    import optax
    return lambda o, t: optax.softmax_cross_entropy_with_integer_labels(o, t).mean(), dense(0, 6, 16, 4), classes(48, 4, 6), mlp


@case("optax: trained by adam", needs=("optax",))
def _():
    import optax
    p, (x, t), o = dense(0, 3, 12, 1), (normal(1, 40, 3), normal(2, 40, 1)), optax.adam(0.01)
    loss, state = lambda p: optax.huber_loss(mlp(p, x), t).mean(), None
    state, slope = o.init(p), jax.jit(jax.grad(lambda p: loss(p)))
    for _ in range(50):
        change, state = o.update(slope(p), state)
        p = optax.apply_updates(p, change)
    return lambda o, t: optax.huber_loss(o, t).mean(), p, (x, t), mlp
