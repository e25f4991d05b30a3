"""Tests of newtop.py's peers with JAX, against dense matrices. See ./run."""
import sys
import unittest

sys.dont_write_bytecode = True
import jax
import jax.numpy as jnp
import numpy as np
from jax.flatten_util import ravel_pytree

from driver import MODULE, Driver

sys.path.insert(0, MODULE)
import newtop

jax.config.update("jax_enable_x64", True)


def near(got, want, tolerance=1e-10):
    assert np.abs(np.asarray(got) - want).max() <= tolerance * np.abs(want).max(), (got, want)


@jax.custom_vjp
def sine(x):
    return jnp.sin(x)


sine.defvjp(lambda x: (jnp.sin(x), x), lambda x, g: (g * jnp.cos(x),))


class Functions(unittest.TestCase):
    def setUp(self):
        k = jax.random.split(jax.random.PRNGKey(0), 4)
        self.params = {"b": jax.random.normal(k[0], (3,)), "w": jax.random.normal(k[1], (4, 3))}
        self.data = jax.random.normal(k[2], (8, 4)), jax.random.normal(k[3], (8, 3))

    def test_products(self):
        """Those of a net, forward over reverse; and of one with custom_vjp, which has two derivatives backward alone."""
        loss = lambda o, t: jnp.mean((o - t) ** 4)
        for f in jnp.tanh, sine:
            net, plain = (lambda p, x, f=f: f(x @ p["w"] + p["b"])), jnp.sin if f is sine else f
            d = Driver().call(newtop.serve, loss, self.params, self.data, outputs=net, eval=self.data)
            self.assertEqual((set(d.hello["has"]), d.hello["findings"]), ({"grad", "hv", "gnv", "eval", "rows"}, []))
            self.assertIn("no layers", d.hello["lacks"]["factors"])
            w, unravel = ravel_pytree(self.params)
            out = lambda w: plain(self.data[0] @ unravel(w)["w"] + unravel(w)["b"]).reshape(-1)
            of = lambda o: loss(o, self.data[1].reshape(-1))
            whole = lambda w: of(out(w))
            j, b = jax.jacrev(out)(w), jax.hessian(of)(out(w))
            v = np.random.default_rng(0).normal(size=d.n)
            near(d.ask("grad")["g"], jax.grad(whole)(w))
            near(d.ask("hv", v=v)["hv"], jax.hessian(whole)(w) @ v)
            near(d.ask("gnv", v=v)["gnv"], j.T @ (b @ (j @ v)))
            rows = lambda w: loss(plain(self.data[0][np.array([2, 5])] @ unravel(w)["w"] + unravel(w)["b"]), self.data[1][np.array([2, 5])])
            near(d.ask("grad", rows=[2, 5])["g"], jax.grad(rows)(w))
            d.ask("set", w=v)
            d.ask("stop")
            np.testing.assert_array_equal(ravel_pytree(d.join())[0], v)

    def test_loader(self):
        """All of its rows at once, of pairs and of dicts."""
        loss, net = (lambda o, t: jnp.mean((o - t) ** 4)), (lambda p, x: jnp.tanh(x @ p["w"] + p["b"]))
        w, unravel = ravel_pytree(self.params)
        whole = lambda w: loss(net(unravel(w), self.data[0]), self.data[1])
        pairs = [tuple(np.asarray(x[k : k + 3]) for x in self.data) for k in (0, 3, 6)]
        for f, loader, named in (loss, pairs, {"outputs": net}), (lambda p, b: loss(net(p, b["x"]), b["y"]), [dict(zip("xy", p)) for p in pairs], {}):
            d = Driver().call(newtop.serve, f, self.params, loader, eval=loader, **named)
            self.assertEqual((d.hello["rows"], d.hello["batches"], d.hello["test_rows"]), (8, [3, 3, 2], 8))
            near([d.ask("loss")["loss"], d.ask("eval")["loss"]], np.array([whole(w)] * 2))
            near(d.ask("grad")["g"], jax.grad(whole)(w))
            v = np.random.default_rng(0).normal(size=d.n)
            near(d.ask("hv", v=v)["hv"], jax.hessian(whole)(w) @ v)
            near(d.ask("grad", rows=[1])["g"], jax.grad(lambda w: loss(net(unravel(w), pairs[1][0]), pairs[1][1]))(w))
            d.ask("stop")
            d.join()
        with self.assertRaisesRegex(TypeError, "^batch is a list_iterator, which can be read once"):
            Driver().call(newtop.serve, loss, self.params, iter(pairs), outputs=net)

    def test_leaves_that_are_no_weights(self):
        for leaf, words in (jnp.array([1 + 2j]), "complex128"), (jnp.array(3), "int64"):
            with self.assertRaisesRegex(TypeError, words):
                Driver().call(newtop.serve, lambda p, b: jnp.sum(jnp.abs(p["w"])), {"w": leaf, "v": jnp.ones(2)}, jnp.ones(2))

    def test_sixteen_bits_within(self):
        half = jax.jit(lambda x: jnp.sin(x.astype(jnp.bfloat16)))
        d = Driver().call(newtop.serve, lambda p, b: jnp.sum(half(b @ p).astype(b.dtype)), jnp.ones(3), jnp.ones((4, 3)))
        finding, = d.hello["findings"]
        self.assertEqual(finding["what"], "16 bits within the model or the loss")
        self.assertIn("sin", finding["where"])
        d.ask("stop")
        d.join()

    def test_what_fails_before_hello(self):
        with self.assertRaisesRegex(TypeError, "contracting dimensions"):
            Driver().call(newtop.serve, lambda p, b: jnp.sum(b @ p), jnp.ones((4, 6)), jnp.ones((3, 5)))


if __name__ == "__main__":
    unittest.main(warnings="ignore")
