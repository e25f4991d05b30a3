"""JAX's side: jit, linearize, and epochs of Adam in one scan. Usage: jax_side.py FOLDER float32|float64 THREADS [scan SEED],
which is a whole training"""
import os, sys

folder, dtype, threads = sys.argv[1], sys.argv[2], int(sys.argv[3])
os.environ["JAX_PLATFORMS"] = "cpu"
if threads == 1:
    os.environ.update(XLA_FLAGS="--xla_cpu_multi_thread_eigen=false", NPROC="1")
import numpy as np, jax, jax.numpy as jnp
from jax.flatten_util import ravel_pytree
from side import Problem, answer, largest, whole

jax.config.update("jax_enable_x64", True)
p = Problem(folder, dtype)
x, t = jnp.asarray(p.x), jnp.asarray(p.t)
layers_of = lambda flat: jax.tree.map(jnp.asarray, p.split(flat))
W, V = layers_of(p.w), layers_of(p.v)


def network(layers, h):
    for l, (W, b) in enumerate(layers):
        h = h @ W.T + b
        h = jnp.tanh(h) if p.bends(l) else h
    return h


def head(z, t):
    return -(t * jax.nn.log_softmax(z)).sum() / len(z) if p.loss == "cross" else ((z - t) ** 2).sum() / (2 * len(z))


loss = lambda layers, x, t: head(network(layers, x), t)
flat = lambda tree: np.concatenate([np.asarray(part).ravel() for part in jax.tree.leaves(tree)])
wait = jax.block_until_ready
B1, B2, EPS = .9, p.beta2, 1e-8
order = np.random.default_rng(int((sys.argv[5:] or [0])[0]))


def epochs(batch, as_one):
    """An epoch in one scan over batches, with the weights in one vector or by layers, and what it begins with."""
    of = (lambda w, x, t: loss(p.split(w), x, t)) if as_one else loss

    def step(state, rows):
        w, m, s, n = state
        rate, n, g = jnp.asarray(p.rate(n), dtype), n + 1, jax.grad(of)(w, *rows)
        m = jax.tree.map(lambda m, g: B1 * m + (1 - B1) * g, m, g)
        s = jax.tree.map(lambda s, g: B2 * s + (1 - B2) * g * g, s, g)
        c1, c2 = ((1 / (1 - b ** n)).astype(dtype) for b in (B1, B2))
        return (jax.tree.map(lambda w, m, s: w - rate * ((m * c1) / (jnp.sqrt(s * c2) + EPS) + p.decay * w), w, m, s), m, s, n), None

    def epoch(state, x, t, order):
        return jax.lax.scan(step, state, (x[order].reshape(-1, batch, p.nodes[0]), t[order].reshape(-1, batch, p.nodes[-1])))[0]
    w = jax.tree.map(lambda part: jnp.array(part, copy=True), jnp.asarray(p.w) if as_one else W)
    zeros = lambda: jax.tree.map(jnp.zeros_like, w)
    return jax.jit(epoch, donate_argnums=0), (w, zeros(), zeros(), jnp.zeros((), jnp.float64))


if "scan" in sys.argv:
    epoch, state = epochs(p.batches[0], True)
    test, classes = p.held_out()
    test, outputs, cell = jnp.asarray(test), jax.jit(lambda w, x: network(p.split(w), x)), [state]
    wait(epoch(jax.tree.map(jnp.copy, state), x, t, jnp.arange(p.rows)))  # compiled before it begins
    outputs(state[0], test)

    def run():
        cell[0] = epoch(cell[0], x, t, jnp.asarray(order.permutation(p.rows)))
    whole(p.most, run, lambda: outputs(cell[0][0], test), classes)
works = {}


def add(name, kind, call, units=1):
    works[f"{name}:{kind}@{threads}"] = (lambda: wait(call()), lambda: flat(call()), units)


@jax.jit
def hv(w, v, x, t):
    return jax.jvp(lambda layers: jax.grad(loss)(layers, x, t), (w,), (v,))[1]


@jax.jit
def gn(w, v, x, t):
    z, rz = jax.jvp(lambda layers: network(layers, x), (w,), (v,))
    _, back = jax.vjp(lambda layers: network(layers, x), w)
    return back(jax.jvp(jax.grad(lambda z: head(z, t)), (z,), (rz,))[1])[0]


@jax.jit
def linear_hessian(w, x, t):
    return jax.linearize(lambda layers: jax.grad(loss)(layers, x, t), w)[1]


@jax.jit
def linear_gauss_newton(w, x, t):
    z, push = jax.linearize(lambda layers: network(layers, x), w)
    _, curve = jax.linearize(jax.grad(lambda z: head(z, t)), z)
    return jax.tree_util.Partial(lambda push, curve, v: jax.linear_transpose(push, v)(curve(push(v)))[0], push, curve)


apply = jax.jit(lambda f, v: f(v))
gradient = jax.jit(jax.grad(loss))
add("gradient", "jit", lambda: gradient(W, x, t))
add("hv", "jit", lambda: hv(W, V, x, t))
add("gn", "jit", lambda: gn(W, V, x, t))
hessian, gauss_newton = linear_hessian(W, x, t), linear_gauss_newton(W, x, t)
add("hv-kept", "linearize", lambda: apply(hessian, V))
add("gn-kept", "linearize", lambda: apply(gauss_newton, V))
predict = jax.jit(lambda w, x: jax.nn.softmax(network(w, x)) if p.loss == "cross" else network(w, x))
add("predict", "jit", lambda: predict(W, x))

ravelled, unravel = ravel_pytree(W)
flat_hessian = jax.jit(lambda w, x, t: jax.linearize(lambda w: ravel_pytree(jax.grad(loss)(unravel(w), x, t))[0], w)[1])
top = largest(p, lambda: flat_hessian(ravelled, x, t), lambda kept, v: np.asarray(apply(kept, v.astype(dtype))), [0])
works[f"eigenvalues:linearize@{threads}"] = (top, top, 1)

for batch in p.batches:
    for as_one in (False, True):
        epoch, state = epochs(batch, as_one)
        cell, count = [state], batch * p.steps(batch)

        def run(epoch=epoch, cell=cell, count=count):
            cell[0] = wait(epoch(cell[0], x, t, jnp.asarray(order.permutation(p.rows)[:count])))

        def out(as_one=as_one, batch=batch):
            epoch, state = epochs(batch, as_one)
            return flat(epoch(state, x, t, jnp.asarray(np.tile(np.arange(batch), 3)))[0])
        works[f"adam-{batch}:scan{'-flat' * as_one}@{threads}"] = (run, out, p.steps(batch))
answer(works)
