"""Tests of newtop.py's peers with PyTorch, against dense matrices, differences, and runs without newtop. See ./run."""
import contextlib
import copy
import importlib.util
import io
import itertools
import os
import random
import re
import subprocess
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
import numpy as np
import torch
from torch import nn

from driver import MODULE, Driver

sys.path.insert(0, MODULE)
import newtop

DATA = os.path.join(MODULE, "testdata")
torch.set_num_threads(1)


def flat(tensors):
    return np.concatenate([t.detach().numpy().reshape(-1) for t in tensors])


def functional(model, data, loss_fn):
    """The loss and the outputs as functions of one vector of weights, which share nothing with newtop.py."""
    params = list(model.parameters())
    model, number = copy.deepcopy(model), {}
    for p in model.parameters():
        number[id(p)] = len(number)
    places = [(m, k, number[id(p)]) for m in model.modules() for k, p in m._parameters.items() if p is not None]  # tied ones in two places
    for m, k, _ in places:
        del m._parameters[k]

    def call(w):
        parts = [x.view(p.shape) for x, p in zip(w.split([p.numel() for p in params]), params)]
        for m, k, i in places:
            setattr(m, k, parts[i])
        return model(data[0])

    return (lambda w: loss_fn(call(w), data[1])), call


def dense(model, data, loss_fn, w):
    """The gradient, the Hessian and the Gauss-Newton matrix, entry by entry."""
    loss, call = functional(model, data, loss_fn)
    w = torch.tensor(w)
    out = call(w).detach()
    h = torch.autograd.functional.hessian(loss, w).numpy()
    j = torch.autograd.functional.jacobian(call, w).reshape(out.numel(), -1).numpy()
    b = torch.autograd.functional.hessian(lambda o: loss_fn(o, data[1]), out).reshape(out.numel(), -1).numpy()
    return torch.autograd.functional.jacobian(loss, w).numpy(), h, j.T @ b @ j


def near(got, want, tolerance):
    scale = np.abs(want).max()
    error = np.abs(np.asarray(got) - want).max()
    assert error <= tolerance * max(scale, 1e-300), (error, scale)


class Products(unittest.TestCase):
    def compare(self, model, data, loss_fn, mapped=True, served=None):
        torch.manual_seed(3)
        d = Driver(mapped=mapped).call(newtop.serve, model, *(served or (loss_fn, data)))
        rng = np.random.default_rng(5)
        start = d.ask("get")["w"]
        np.testing.assert_array_equal(start, flat(model.parameters()))
        for w in start, start + 0.1 * rng.normal(size=d.n):
            d.ask("at", w=w)
            g, h, gn = dense(model, data, loss_fn, w)
            for v in rng.normal(size=(2, d.n)):
                near(d.ask("hv", v=v)["hv"], h @ v, 1e-10)
                near(d.ask("gnv", v=v)["gnv"], gn @ v, 1e-10)
                other = w + 0.3 * v
                before = d.ask("loss")["loss"]
                loss, _ = functional(model, data, loss_fn)
                near(d.ask("loss", w=other)["loss"], loss(torch.tensor(other)).item(), 1e-12)
                near(d.ask("grad", w=other)["g"], dense_gradient(loss, other), 1e-10)
                self.assertEqual(d.ask("loss")["loss"], before)
            a = d.ask("grad")
            near(a["g"], g, 1e-10)
            np.testing.assert_array_equal(a["g"], d.ask("grad")["g"])
            np.testing.assert_array_equal(d.ask("hv", v=v)["hv"], d.ask("hv", v=v)["hv"])
            np.testing.assert_array_equal(d.ask("get")["w"], w)
            if "diag" in d.hello["has"]:
                near(d.ask("diag")["diag"], np.diag(gn), 1e-10)
        if "rows" in d.hello["has"]:
            rows = [4, 1, 1]
            loss, _ = functional(model, tuple(x[rows] for x in data), loss_fn)
            near(d.ask("grad", rows=rows)["g"], dense_gradient(loss, w), 1e-10)
            near(d.ask("grad", rows=rows, w=start)["g"], dense_gradient(loss, start), 1e-10)
        final = rng.normal(size=d.n)
        d.ask("set", w=final)
        np.testing.assert_array_equal(d.ask("get")["w"], final)
        near(d.ask("hv", v=v)["hv"], h @ v, 1e-10)  # the point has not moved
        d.ask("stop")
        self.assertIs(d.join(), model)
        np.testing.assert_array_equal(flat(model.parameters()), final)
        self.assertTrue(all(p.grad is None for p in model.parameters()))
        return d.hello

    def net(self, *widths):
        layers = []
        for a, b in zip(widths, widths[1:]):
            layers += [nn.Linear(a, b), nn.Tanh()]
        return nn.Sequential(*layers[:-1]).double()

    def rows(self, n, *shape):
        return torch.randn(n, *shape, dtype=torch.float64, generator=torch.Generator().manual_seed(1))

    def test_cross_entropy(self):
        t = torch.arange(12) % 3
        t[5] = -100
        weighted = nn.CrossEntropyLoss(weight=torch.tensor([1.0, 2, 0.5]).double(), label_smoothing=0.1)
        for loss_fn in nn.CrossEntropyLoss(), weighted:
            for mapped in True, False:
                hello = self.compare(self.net(4, 5, 3), (self.rows(12, 4), t), loss_fn, mapped)
                self.assertEqual((hello["classes"], hello["outputs"], hello["rows"], hello["loss"]), (3, 3, 12, "cross-entropy"))
                self.assertEqual(set(hello["has"]), {"grad", "hv", "gnv", "diag", "rows", "sample", "factors"})

    def test_squares(self):
        hello = self.compare(self.net(4, 6, 2), (self.rows(9, 4), self.rows(9, 2)), nn.MSELoss())
        self.assertEqual((hello["classes"], hello["outputs"], hello["findings"]), (0, 2, []))

    def test_loss_of_model_and_batch(self):
        data = self.rows(9, 4), self.rows(9, 2)

        def with_outputs(model, batch):
            outputs = model(batch["x"])
            return nn.functional.mse_loss(outputs, batch["t"]), outputs
        hello = self.compare(self.net(4, 6, 2), data, nn.MSELoss(), served=(with_outputs, {"x": data[0], "t": data[1]}))
        self.assertIn("rows", hello["has"])
        d = Driver().call(newtop.serve, self.net(4, 2), lambda m, b: m(b).square().mean(), data[0])
        self.assertEqual(set(d.hello["has"]), {"grad", "hv", "rows", "sample"})
        d.fails("unsupported", "gnv", v=np.ones(d.n))
        d.ask("stop")
        d.join()

    def test_convolution(self):
        model = nn.Sequential(nn.Conv2d(1, 2, 3), nn.Softplus(), nn.AvgPool2d(2), nn.Flatten(), nn.Linear(8, 3)).double()
        self.compare(model, (self.rows(6, 1, 6, 6), torch.arange(6) % 3), nn.CrossEntropyLoss())

    def test_lstm(self):
        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.rnn, self.out = nn.LSTM(2, 3, batch_first=True), nn.Linear(3, 2)

            def forward(self, x):
                return self.out(self.rnn(x)[0][:, -1])

        self.compare(Net().double(), (self.rows(5, 4, 2), torch.arange(5) % 2), nn.CrossEntropyLoss())
        d = Driver().call(newtop.serve, Net(), nn.CrossEntropyLoss(), (self.rows(5, 4, 2).float(), torch.arange(5) % 2))
        self.assertEqual((d.hello["dtype"], d.hello["findings"]), ("F32", []))
        d.ask("stop")
        d.join()

    def test_tied_transformer(self):
        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.letters = nn.Embedding(5, 4)
                self.layer = nn.TransformerEncoderLayer(4, 2, 6, dropout=0.0, activation="gelu", batch_first=True)
                self.out = nn.Linear(4, 5, bias=False)
                self.out.weight = self.letters.weight

            def forward(self, x):
                return self.out(self.layer(self.letters(x)))

        model = Net().double()
        ids = torch.randint(5, (5, 3), generator=torch.Generator().manual_seed(2))
        with newtop_math():
            hello = self.compare(model, (ids, ids.roll(1, 1)), lambda o, t: nn.functional.cross_entropy(o.flatten(0, 1), t.flatten()))
        self.assertEqual([b["name"] for b in hello["blocks"]].count("letters.weight"), 1)
        self.assertNotIn("out.weight", [b["name"] for b in hello["blocks"]])
        self.assertEqual(hello["n"], sum(p.numel() for p in model.parameters()))

    def test_frozen_unused_and_half(self):
        model = self.net(4, 3, 2)
        model[0].weight.requires_grad_(False)
        model.unused = nn.Parameter(torch.ones(3).double())
        data = self.rows(6, 4), torch.arange(6) % 2
        d = Driver().call(newtop.serve, model, nn.CrossEntropyLoss(), data)
        self.assertEqual([b["name"] for b in d.hello["blocks"]], ["unused", "0.bias", "2.weight", "2.bias"])
        for name in "hv", "gnv":
            self.assertEqual(list(d.ask(name, v=np.ones(d.n))[name][:3]), [0, 0, 0])
        self.assertTrue(d.ask("grad")["g"][3:].any())
        d.ask("stop")
        d.join()
        half = self.net(4, 3, 2).bfloat16()
        d = Driver().call(newtop.serve, half, nn.CrossEntropyLoss(), (data[0].bfloat16(), data[1]))
        self.assertEqual((d.hello["dtype"], d.hello["findings"][0]["what"]), ("F32", "weights of 16 bits"))
        w = d.ask("get")["w"]
        a = d.ask("loss")["loss"]
        d.ask("loss", w=w + 1)
        self.assertEqual(d.ask("loss", w=w)["loss"], a)
        self.assertEqual(d.ask("loss")["loss"], a)
        d.ask("stop")
        d.join()


    def all_of(self, d, op):
        return np.array([d.ask(op, v=e)[op] for e in np.eye(d.n)])

    def leave(self, d):
        d.ask("stop")
        return d.join()

    def test_losses_that_differentiate_by_inputs(self):
        """A PINN and a gradient penalty are evaluated with gradients."""
        x = torch.linspace(0, 1, 9, dtype=torch.float64)[:, None]

        def residual(model, x):
            x = x.clone().requires_grad_(True)
            u = model(x)
            du, = torch.autograd.grad(u.sum(), x, create_graph=True)
            ddu, = torch.autograd.grad(du.sum(), x, create_graph=True)
            return (ddu + torch.sin(3 * x)).square().mean()

        model = self.net(1, 4, 1)
        d = Driver().call(newtop.serve, model, residual, x, eval=x)
        want = residual(model, x).item()
        for op in "loss", "eval":
            self.assertAlmostEqual(d.ask(op)["loss"], want, 12)
            d.ask(op, w=d.ask("get")["w"] + 0.1)
        params = list(model.parameters())
        g = torch.autograd.grad(residual(model, x), params, create_graph=True, allow_unused=True)
        g = torch.cat([torch.zeros(p.numel()) if y is None else y.reshape(-1) for p, y in zip(params, g)])
        rows = [torch.autograd.grad(g, params, e, retain_graph=True, allow_unused=True) for e in torch.eye(d.n, dtype=torch.float64)]
        near(self.all_of(d, "hv"), np.array([flat([torch.zeros_like(p) if y is None else y for p, y in zip(params, r)]) for r in rows]), 1e-10)
        self.leave(d)

    def test_last_functions_that_belong_to_the_loss(self):
        """The Gauss-Newton matrix is that of the logits: of the outputs the loss is linear."""
        data, ones = (self.rows(12, 4), torch.arange(12) % 3), (self.rows(12, 4), (torch.arange(12) % 2)[:, None].double())
        logp = lambda p, t: nn.functional.nll_loss(torch.log(p), t)
        picked = lambda o, t: -o.gather(1, t[:, None]).mean()
        for width, last, loss_fn, same, batch in (
            (3, nn.LogSoftmax(1), nn.NLLLoss(), nn.CrossEntropyLoss(), data),
            (3, nn.LogSoftmax(1), picked, nn.CrossEntropyLoss(), data),
            (3, nn.Softmax(1), logp, nn.CrossEntropyLoss(), data),
            (1, nn.Sigmoid(), nn.BCELoss(), nn.BCEWithLogitsLoss(), ones),
        ):
            model = self.net(4, 5, width)
            d = Driver().call(newtop.serve, nn.Sequential(*model, last), loss_fn, batch)
            g, h, gn = dense(model, batch, same, d.ask("get")["w"])
            near(self.all_of(d, "hv"), h, 1e-10)
            near(self.all_of(d, "gnv"), gn, 1e-10)
            near(d.ask("diag")["diag"], np.diag(gn), 1e-10)
            self.leave(d)
        model = nn.Sequential(*self.net(4, 5, 1), nn.Sigmoid())  # with squares these matrices would not be positive
        d = Driver().call(newtop.serve, model, nn.MSELoss(), ones)
        near(self.all_of(d, "gnv"), dense(model, ones, nn.MSELoss(), d.ask("get")["w"])[2], 1e-10)
        self.leave(d)

    def test_wrong_second_derivatives(self):
        class Wrong(torch.autograd.Function):
            @staticmethod
            def forward(ctx, x):
                ctx.save_for_backward(x)
                return x.sin()

            @staticmethod
            def backward(ctx, g):
                x, = ctx.saved_tensors
                return g * x.cos() + 0.1 * (x.cumsum(1) - x.cumsum(1).detach())

        class Layer(nn.Module):
            def forward(self, x):
                return Wrong.apply(x)

        d = Driver().call(newtop.serve, nn.Sequential(nn.Linear(4, 5), Layer(), nn.Linear(5, 3)).double(), nn.CrossEntropyLoss(),
                          (self.rows(12, 4), torch.arange(12) % 3))
        self.assertNotIn("hv", d.hello["has"])
        self.assertIn("not symmetric", d.hello["findings"][0]["where"])
        self.leave(d)

    def test_sixteen_bits_within(self):
        class Net(nn.Linear):
            def forward(self, x):
                with torch.autocast("cpu", dtype=torch.bfloat16):
                    return super().forward(x)

        data = self.rows(12, 4).float(), torch.arange(12) % 3
        for model, loss_fn in (Net(4, 3), nn.CrossEntropyLoss()), (nn.Linear(4, 3), lambda o, t: nn.functional.cross_entropy(o.bfloat16(), t)):
            d = Driver().call(newtop.serve, model, loss_fn, data)
            self.assertEqual([f["what"] for f in d.hello["findings"]], ["16 bits within the model or the loss"])
            self.leave(d)

    def test_checkpointed_attention(self):
        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.q, self.o = nn.Linear(4, 12), nn.Linear(4, 3)

            def attend(self, x):
                return nn.functional.scaled_dot_product_attention(*self.q(x).chunk(3, -1))

            def forward(self, x):
                return self.o(torch.utils.checkpoint.checkpoint(self.attend, x, use_reentrant=False).mean(1))

        with newtop_math():
            self.compare(Net().double(), (self.rows(5, 3, 4), torch.arange(5) % 3), nn.CrossEntropyLoss())

    def test_embeddings(self):
        data = torch.randint(7, (9, 3), generator=torch.Generator().manual_seed(2)), torch.arange(9) % 3
        for named in {"sparse": True}, {"padding_idx": 0}:
            table = nn.Embedding(7, 2, **named)
            model = nn.Sequential(table, nn.Flatten(), nn.Tanh(), nn.Linear(6, 3)).double()
            d = Driver().call(newtop.serve, model, nn.CrossEntropyLoss(), data)
            w = d.ask("get")["w"]
            v = np.random.default_rng(5).normal(size=d.n)
            before, e = d.ask("get")["w"], 1e-5
            for op in "hv", "gnv":
                h = d.ask(op, v=v)[op]
                self.assertEqual(h.shape, v.shape)
            h = d.ask("hv", v=v)["hv"]
            near((d.ask("grad", w=w + e * v)["g"] - d.ask("grad", w=w - e * v)["g"]) / (2 * e), h, 1e-7)
            d.ask("at", w=w + 1)
            moved = d.ask("get")["w"] - before
            self.assertEqual(moved[0], 0 if "padding_idx" in named else 1)
            self.leave(d)

    def test_spectral_norm_is_held(self):
        for normed in nn.utils.spectral_norm, nn.utils.parametrizations.spectral_norm:
            model = nn.Sequential(normed(nn.Linear(4, 5)), nn.Tanh(), nn.Linear(5, 3)).double()
            d = Driver().call(newtop.serve, model, nn.CrossEntropyLoss(), (self.rows(12, 4), torch.arange(12) % 3))
            w, v, e = d.ask("get")["w"], np.random.default_rng(5).normal(size=d.n), 1e-5
            h = d.ask("hv", v=v)["hv"]
            near((d.ask("grad", w=w + e * v)["g"] - d.ask("grad", w=w - e * v)["g"]) / (2 * e), h, 1e-7)
            self.leave(d)
            self.assertTrue(all(m.training for m in model.modules()))

    def test_rows_of_any_batch(self):
        """Rows are offered of whatever has as many in all tensors, where the loss is their mean."""
        x, t = self.rows(12, 4), torch.arange(12) % 3
        loss_fn = lambda m, b: nn.functional.cross_entropy(m(b["in"]["x"]), b["t"])
        model = self.net(4, 3)
        d = Driver().call(newtop.serve, model, loss_fn, {"in": {"x": x}, "t": t, "scale": torch.tensor(2.0)})
        rows = [4, 1, 1]
        loss, _ = functional(model, (x[rows], t[rows]), nn.functional.cross_entropy)
        near(d.ask("grad", rows=rows)["g"], dense_gradient(loss, d.ask("get")["w"]), 1e-10)
        self.leave(d)
        edges = lambda m, b: m(b).square().mean() + m(b)[0].square().sum()
        d = Driver().call(newtop.serve, self.net(4, 3), edges, x)
        self.assertNotIn("rows", d.hello["has"])
        self.leave(d)

        class Fixed(nn.Linear):
            def forward(self, x):
                return super().forward(x.view(12, 4))

        d = Driver().call(newtop.serve, Fixed(4, 3).double(), nn.CrossEntropyLoss(), (x, t))
        self.assertEqual(("rows" in d.hello["has"], [f["what"] for f in d.hello["findings"]]), (False, ["a batch that can't be divided"]))
        self.leave(d)

    def test_generators_and_dropout_by_function(self):
        own = torch.Generator().manual_seed(7)

        class Noisy(nn.Linear):
            def forward(self, x):
                return super().forward(nn.functional.dropout(x + torch.randn(x.shape, generator=own, dtype=x.dtype)))

        state = own.get_state()
        d = Driver().call(newtop.serve, Noisy(4, 3).double(), nn.CrossEntropyLoss(), (self.rows(12, 4), torch.arange(12) % 3))
        self.assertEqual([f["what"] for f in d.hello["findings"]], ["dropout by function"])
        w = d.ask("get")["w"]
        self.assertEqual(len({d.ask("loss")["loss"], d.ask("loss", w=w)["loss"], d.ask("grad", w=w)["loss"]}), 1)
        self.leave(d)
        self.assertTrue(torch.equal(state, own.get_state()))


class Factors(unittest.TestCase):
    """Kronecker factors of a user's layers, summed over the targets that may be drawn, against dense blocks of autograd."""

    def serve(self, model, loss_fn, data, **named):
        return Driver().call(newtop.serve, model, loss_fn, data, **named)

    def leave(self, d):
        d.ask("stop")
        d.join()

    def sizes(self, d):
        shapes, sizes = {b["name"]: b["shape"] for b in d.hello["blocks"]}, []
        for l in d.hello["factors"]["layers"]:
            m, n = shapes[l["block"]][0], int(np.prod(shapes[l["block"]][1:])) + l["bias"]
            sizes += {"matrix": [n * n, m * m], "table": [n * n, m], "diagonal": [m * n, 1]}[l["kind"]]
        return sizes

    def expected(self, d, model, data, row):
        """The factors over one row, by names: the mean over all targets, of which each is drawn once."""
        sizes, told = self.sizes(d), d.hello["factors"]
        out = model(data[0][row:row + 1]).detach().numpy()
        if told["normal"]:
            draws = [(1 / told["draws"], e) for e in np.eye(told["draws"]) * told["draws"] ** 0.5]
        else:
            p = np.exp(out.reshape(told["draws"], -1))
            p /= p.sum(1, keepdims=True)
            middle = p.cumsum(1) - p / 2
            draws = [(np.prod([q[k] for q, k in zip(p, y)]), [c[k] for c, k in zip(middle, y)]) for y in itertools.product(range(p.shape[1]), repeat=len(p))]
        total = sum(share * d.ask("factors", rows=[row], w=d.ask("get")["w"], draws=u, sizes=sizes)["factors"] for share, u in draws)
        parts, at = {}, 0
        for l, a, b in zip(told["layers"], sizes[::2], sizes[1::2]):
            parts[l["block"]] = l, total[at:at + a], total[at + a:at + a + b]
            at += a + b
        return parts

    def test_one_position_is_the_dense_block(self):
        """Over one row S times A is the block of the Gauss-Newton matrix, whatever the layer and the loss."""
        rows, t = Products.rows(self, 6, 4), torch.arange(6) % 3
        net = lambda last, *more: nn.Sequential(nn.Linear(4, 5), nn.Tanh(), nn.Linear(5, 4, bias=False), nn.ReLU(inplace=True), nn.Linear(4, last), *more).double()
        weighted = nn.CrossEntropyLoss(weight=torch.tensor([1.0, 2, 0.5]).double(), label_smoothing=0.1)
        ids = torch.randint(5, (6, 1), generator=torch.Generator().manual_seed(3))

        class Words(nn.Module):
            def __init__(self, batch_first):
                super().__init__()
                self.first, self.letters, self.places = batch_first, nn.Embedding(5, 4, padding_idx=0), nn.Embedding(3, 4)
                self.layer, self.norm, self.out = nn.TransformerEncoderLayer(4, 2, 6, dropout=0.0, activation="gelu", batch_first=batch_first), nn.LayerNorm(4), nn.Linear(4, 3)

            def forward(self, x):
                h = self.letters(x) + self.places(torch.arange(x.shape[1]))
                return self.out(self.norm(self.layer(h) if self.first else self.layer(h.transpose(0, 1)).transpose(0, 1)))

        each = lambda o, t: nn.functional.cross_entropy(o.flatten(0, -2), t.flatten())
        image = nn.Sequential(nn.Conv2d(2, 3, (3, 2), padding=0), nn.BatchNorm2d(3).eval(), nn.Tanh(), nn.Flatten(), nn.Linear(3, 3)).double()
        for model, loss_fn, data, same in (
            (net(3), nn.CrossEntropyLoss(), (rows, t), None), (net(3), weighted, (rows, t), None), (net(2), nn.MSELoss(), (rows, rows[:, :2]), None),
            (net(2), nn.HuberLoss(), (rows, rows[:, :2]), None), (net(3, nn.LogSoftmax(1)), nn.NLLLoss(), (rows, t), nn.CrossEntropyLoss()),
            (net(1, nn.Sigmoid()), nn.BCELoss(), (rows, t[:, None] / 2.0 + rows[:, :1] * 0), nn.BCEWithLogitsLoss()),
            (Words(True).double(), each, (ids, ids.roll(1, 0) % 3), None), (Words(False).double(), each, (ids, ids.roll(1, 0) % 3), None),
            (image, nn.CrossEntropyLoss(), (Products.rows(self, 6, 2, 3, 2), t), None),
        ):
            d = self.serve(model, loss_fn, data)
            w, row = d.ask("get")["w"], 4
            one, count = tuple(x[row:row + 1] for x in data), 0
            with newtop_math():
                gn = dense(model if same is None else model[:-1], one, same or loss_fn, w)[2]
            names, at = [b["name"] for b in d.hello["blocks"]], np.cumsum([0] + [int(np.prod(b["shape"])) for b in d.hello["blocks"]])
            for name, (l, a, s) in self.expected(d, model, data, row).items():
                i, shape = names.index(name), d.hello["blocks"][names.index(name)]["shape"]
                if l["kind"] == "diagonal":
                    near(a, np.diag(gn)[at[i]:at[i + 1]], 1e-10)
                else:
                    m, n = shape[0], int(np.prod(shape[1:]))
                    order = [j * n + k if k < n else m * n + j for j in range(m) for k in range(n + l["bias"])]
                    s = np.diag(s) if l["kind"] == "table" else s.reshape(m, m)
                    near(np.kron(s, a.reshape(n + l["bias"], -1)), gn[at[i]:, at[i]:][np.ix_(order, order)], 1e-10)
                count += int(np.prod(shape)) + l["bias"] * shape[0]
            self.assertEqual(count, d.n)  # none is left out
            self.leave(d)

    def oracle(self, model, data, loss_fn, layer, row, reduces):
        """A and S of one layer from Jacobians: of the outputs by what the layer puts out, and of that by its weights."""
        one, kept = tuple(x[row:row + 1] for x in data), []
        handle = layer.register_forward_hook(lambda m, i, o: kept.append((i[0].detach(), o.detach())))
        out = model(one[0]).detach()
        handle.remove()
        x, v = kept[0]

        def outputs(delta):
            handle = layer.register_forward_hook(lambda m, i, o: o + delta)
            try:
                return model(one[0])
            finally:
                handle.remove()

        j = torch.autograd.functional.jacobian(outputs, torch.zeros_like(v)).reshape(out.numel(), *v.shape)
        b = torch.autograd.functional.hessian(lambda o: loss_fn(o, one[1]), out).reshape(out.numel(), -1)
        image = isinstance(layer, nn.Conv2d)
        j = (j.movedim(2, -1) if image else j).reshape(out.numel(), -1, layer.weight.shape[1 if isinstance(layer, nn.Embedding) else 0])
        by = torch.autograd.functional.jacobian(lambda w: torch.func.functional_call(layer, {"weight": w}, x), layer.weight.detach())
        if isinstance(layer, nn.Embedding):
            u = by[0, :, 0, :, 0]
        else:
            u = (by[0, 0].reshape(-1, *layer.weight.shape)[:, 0].flatten(1) if image else by.reshape(*j.shape[1:], *layer.weight.shape)[:, 0, 0])
            if layer.bias is not None:
                u = torch.cat([u, torch.ones_like(u[:, :1])], 1)
        if reduces:
            u, j = u.mean(0, keepdim=True), j.sum(1, keepdim=True)
        return (u.T @ u / len(u)).numpy(), sum(j[:, t].T @ b @ j[:, t] for t in range(j.shape[1])).numpy()

    def test_many_positions(self):
        """Convolutions, sequences and tables, in both ways in which positions share weights."""
        class Words(nn.Module):
            def __init__(self):
                super().__init__()
                self.letters, self.norm, self.mix, self.out = nn.Embedding(5, 3), nn.LayerNorm(3), nn.Linear(3, 4), nn.Linear(4, 2, bias=False)

            def forward(self, x):
                return self.out(torch.tanh(self.mix(self.norm(self.letters(x)))).cumsum(1))

        image = lambda **named: nn.Sequential(nn.Conv2d(1, 2, 3, **named), nn.GroupNorm(1, 2), nn.Tanh(), nn.Conv2d(2, 2, 2, padding=1, bias=False), nn.Tanh(), nn.Flatten(), nn.LazyLinear(3))
        ids = torch.randint(5, (4, 3), generator=torch.Generator().manual_seed(3))
        pictures = Products.rows(self, 4, 1, 6, 5), torch.arange(4) % 3
        each = lambda o, t: nn.functional.cross_entropy(o.flatten(0, 1), t.flatten())
        for model, loss_fn, data in (
            (Words(), each, (ids, ids % 2)), (image(padding="same", dilation=(2, 1)), nn.CrossEntropyLoss(), pictures), (image(stride=2, padding=(1, 2)), nn.CrossEntropyLoss(), pictures),
        ):
            with torch.no_grad():
                model.float()(data[0] if data[0].dtype == torch.int64 else data[0].float())
            model.double()
            for sharing in "expand", "reduce":
                d = self.serve(model, loss_fn, data, sharing=sharing)
                for row in 0, 2:
                    got = self.expected(d, model, data, row)
                    gn = np.diag(dense(model, tuple(x[row:row + 1] for x in data), loss_fn, d.ask("get")["w"])[2])
                    at = 0
                    for b in d.hello["blocks"]:
                        name, size = b["name"], int(np.prod(b["shape"]))
                        if name in got:
                            l, a, s = got[name]
                            if l["kind"] == "diagonal":
                                near(a, gn[at:at + size], 1e-10)
                            else:
                                inputs, outputs = self.oracle(model, data, loss_fn, model.get_submodule(name.rpartition(".")[0]), row, sharing == "reduce" and l["kind"] == "matrix")
                                a, s = (s, a) if l["kind"] == "table" else (a, s)
                                near(a, np.diag(inputs) if l["kind"] == "table" else inputs.reshape(-1), 1e-10)
                                near(s, outputs.reshape(-1), 1e-10)
                        at += size
                self.leave(d)

    def test_curvlinops(self):
        """K-FAC of several rows as curvlinops has it, where that is installed."""
        try:
            from curvlinops import KFACLinearOperator
        except ImportError:
            self.skipTest("no curvlinops")
        image = nn.Sequential(nn.Conv2d(1, 2, 3, stride=2, padding=1), nn.Tanh(), nn.Conv2d(2, 3, 2, bias=False), nn.Tanh(), nn.Flatten(), nn.Linear(12, 3)).double()
        pictures = Products.rows(self, 3, 1, 6, 5), torch.arange(3)
        for model, loss_fn, data in (
            (image, nn.CrossEntropyLoss(), pictures), (Products.net(self, 4, 5, 2), nn.MSELoss(), (Products.rows(self, 3, 4), Products.rows(self, 3, 2))),
            (Products.net(self, 4, 5, 1), nn.BCEWithLogitsLoss(), (Products.rows(self, 3, 4), torch.tensor([[0.0], [1], [1]]).double())),
        ):
            for sharing in "expand", "reduce":
                d = self.serve(model, loss_fn, data, sharing=sharing)
                each, at = [self.expected(d, model, data, row) for row in range(3)], 0
                theirs = KFACLinearOperator(model, loss_fn, list(model.parameters()), [data], fisher_type="type-2", kfac_approx=sharing, separate_weight_and_bias=False)
                theirs = (theirs @ torch.eye(d.n, dtype=torch.float64)).numpy()
                for b in d.hello["blocks"]:
                    if b["name"] in each[0]:
                        m, n, (l, _, _) = b["shape"][0], int(np.prod(b["shape"][1:])), each[0][b["name"]]
                        a, s = (sum(e[b["name"]][k] for e in each) / 3 for k in (1, 2))
                        order = at + np.array([j * n + k if k < n else m * n + j for j in range(m) for k in range(n + l["bias"])])
                        near(np.kron(s.reshape(m, m), a.reshape(n + l["bias"], -1)), theirs[np.ix_(order, order)], 1e-10)
                    at += int(np.prod(b["shape"]))
                self.leave(d)

    def test_means_and_long_sides(self):
        """Factors of several rows are means of those of one; a side of one number is the mean of the diagonal."""
        model, data = Products.net(self, 4, 5, 3), (Products.rows(self, 6, 4), torch.arange(6) % 3)
        d = self.serve(model, nn.CrossEntropyLoss(), data)
        w, sizes, u = d.ask("get")["w"], self.sizes(d), [0.2, 0.7]
        each = [d.ask("factors", rows=[r], w=w, draws=[x], sizes=sizes)["factors"] for r, x in zip((1, 3), u)]
        both = d.ask("factors", rows=[1, 3], w=w, draws=u, sizes=sizes)["factors"]
        near(both, (each[0] + each[1]) / 2, 1e-12)
        means = d.ask("factors", rows=[1, 3], w=w, draws=u, sizes=[1, 1, 1, 9])["factors"]
        near(means[:3], [np.trace(x.reshape(k, k)) / k for x, k in zip(np.split(both, [25, 50, 86]), (5, 5, 6))], 1e-12)
        near(means[3:], both[86:], 1e-12)
        self.leave(d)

    def test_what_has_none(self):
        class Tied(nn.Module):
            def __init__(self):
                super().__init__()
                self.letters = nn.Embedding(5, 4)

            def forward(self, x):
                return self.letters(x).sum(1) @ self.letters.weight.T

        class Recurrent(nn.Module):
            def __init__(self):
                super().__init__()
                self.rnn, self.out = nn.LSTM(2, 3, batch_first=True), nn.Linear(3, 3)

            def forward(self, x):
                return self.out(self.rnn(x)[0][:, -1])

        x, t = Products.rows(self, 6, 4), torch.arange(6) % 3
        for model, loss_fn, data, words in (
            (Tied(), nn.CrossEntropyLoss(), (t[:, None], t), "letters.weight is used by more than one layer"),
            (Recurrent(), nn.CrossEntropyLoss(), (x.float().view(6, 2, 2), t), "rnn.weight_ih_l0, rnn.weight_hh_l0"),
            (nn.Linear(4, 3).double(), lambda o, t: (1 - nn.functional.cosine_similarity(o, x[:len(o), :3])).mean(), (x, t), "neither"),
            (nn.Linear(4, 3).double(), lambda m, b: m(b).square().mean(), x, "no outputs apart from the loss"),
        ):
            d = self.serve(model, loss_fn, data)
            self.assertNotIn("factors", d.hello["has"])
            self.assertIn(words, d.hello["lacks"]["factors"])
            self.leave(d)
        with self.assertRaisesRegex(ValueError, 'expected "expand" or "reduce"'):
            self.serve(nn.Linear(4, 3).double(), nn.CrossEntropyLoss(), (x, t), sharing="both")

    def test_points_of_some_rows(self):
        model, (x, t) = Products.net(self, 4, 5, 3), (Products.rows(self, 6, 4), torch.arange(6) % 3)
        d = self.serve(model, nn.CrossEntropyLoss(), (x, t))
        rng, rows = np.random.default_rng(1), [5, 1, 1]
        w, v = rng.normal(size=(2, d.n))
        g, h, gn = dense(model, (x[rows], t[rows]), nn.CrossEntropyLoss(), w)
        d.ask("at", w=w, rows=rows)
        near(d.ask("grad")["g"], g, 1e-10)
        near(d.ask("hv", v=v)["hv"], h @ v, 1e-10)
        near(d.ask("gnv", v=v)["gnv"], gn @ v, 1e-10)
        near(d.ask("loss", w=w, rows=rows)["loss"], d.ask("loss")["loss"], 1e-12)
        d.ask("at", w=w)
        near(d.ask("grad")["g"], dense(model, (x, t), nn.CrossEntropyLoss(), w)[0], 1e-10)
        self.leave(d)


def newtop_math():
    """Attention of which torch has second derivatives, for what is compared with."""
    try:
        from torch.nn.attention import SDPBackend, sdpa_kernel
    except ImportError:  # before 2.3
        return torch.backends.cuda.sdp_kernel(enable_flash=False, enable_mem_efficient=False, enable_math=True)
    return sdpa_kernel(SDPBackend.MATH)


def dense_gradient(loss, w):
    return torch.autograd.functional.jacobian(loss, torch.tensor(w)).numpy()


class Loaders(unittest.TestCase):
    """What is told of a loader is that of all of its rows at once, in float64."""

    def setUp(self):
        self.x, self.t = torch.randn(50, 4, generator=torch.Generator().manual_seed(1)), torch.arange(50) % 3
        self.y = torch.randn(50, 3, generator=torch.Generator().manual_seed(2))

    def loader(self, *tensors, **how):
        return torch.utils.data.DataLoader(torch.utils.data.TensorDataset(*tensors), **{"batch_size": 16, "shuffle": True, **how})

    def compare(self, model, loss_fn, loader, data, whole, **named):
        """whole is a loss of (outputs, targets); data all rows."""
        with contextlib.redirect_stderr(io.StringIO()) as errs:
            d = Driver().call(newtop.serve, model, loss_fn, loader, **named)
        double = copy.deepcopy(model).double()
        w = d.ask("get")["w"].astype(np.float64)
        g, h, gn = dense(double, data, whole, w)
        a = d.ask("grad")
        near(a["loss"], functional(double, data, whole)[0](torch.tensor(w)).item(), 1e-6)
        near(d.ask("loss")["loss"], a["loss"], 1e-6)
        near(a["g"], g, 1e-6)
        near(np.array([d.ask("hv", v=e)["hv"] for e in np.eye(d.n)]), h, 1e-6)
        if "gnv" in d.hello["has"]:
            near(np.array([d.ask("gnv", v=e)["gnv"] for e in np.eye(d.n)]), gn, 1e-6)
        np.testing.assert_array_equal(d.ask("grad")["g"], a["g"])
        return d, a, errs.getvalue()

    def stop(self, d):
        d.ask("stop")
        d.join()

    def test_odd_targets(self):
        for t, whole in (self.t.to(torch.uint8), self.t), (odd := self.t.where(torch.arange(50) < 32, torch.tensor(-100)), odd):
            loader = [(self.x[i:i + 16], t[i:i + 16]) for i in range(0, 50, 16)]  # with -100 two batches have none that counts
            d, a, _ = self.compare(nn.Linear(4, 3), nn.CrossEntropyLoss(), loader, (self.x.double(), whole), nn.CrossEntropyLoss())
            self.assertLessEqual(a["error_rate"], 1)
            self.stop(d)

    def test_a_loop_of_its_own(self):
        loader, seen = self.loader(self.x, self.t, num_workers=1, persistent_workers=True), 0
        for _ in loader:
            seen += 1
            if seen == 2:
                self.assertEqual(len(newtop._read(loader)), 4)
        self.assertEqual(seen, 4)

    def test_losses(self):
        net = lambda: nn.Sequential(nn.Linear(4, 5), nn.Tanh(), nn.Linear(5, 3))
        some = self.t.clone()
        some[5:20] = -100
        parts = lambda *of: [tuple(x[k : k + 20] for x in of) for k in (0, 20, 40)]
        ce, weight = nn.functional.cross_entropy, torch.tensor([1.0, 5, 0.2])
        both = self.x.double(), self.t
        for loss_fn, loader, data, whole in (
            (nn.CrossEntropyLoss(), self.loader(self.x, self.t), both, ce),
            (nn.CrossEntropyLoss(reduction="sum"), self.loader(self.x, self.t), both, lambda o, t: ce(o, t, reduction="sum")),
            (nn.CrossEntropyLoss(), parts(self.x, some), (both[0], some), ce),
            (lambda o, t: ce(o, t), parts(self.x, some), (both[0], some), ce),
            (nn.CrossEntropyLoss(weight=weight), parts(self.x, some), (both[0], some), lambda o, t: ce(o, t, weight=weight.double())),
            (nn.MSELoss(), self.loader(self.x, self.y), (both[0], self.y.double()), nn.functional.mse_loss),
            (lambda m, b: (m(b["x"]) - b["y"]).pow(4).mean(), [dict(zip("xy", p)) for p in parts(self.x, self.y)], (both[0], self.y.double()), lambda o, y: (o - y).pow(4).mean()),
        ):
            d, a, said = self.compare(net(), loss_fn, loader, data, whole)
            self.assertIn("batches of ", said)
            self.assertEqual((d.hello["rows"], d.hello["findings"]), (50, []))
            if "rows" in d.hello["has"]:
                sizes = d.hello["batches"]
                self.assertEqual((sum(sizes), len(set(sizes[:-1]))), (50, 1))
                near(sum(d.ask("grad", rows=[k])["g"] * n / 50 for k, n in enumerate(sizes)), a["g"], 1e-6 if some is not data[1] else 10)
                v, w = np.ones(d.n), d.ask("get")["w"]
                d.ask("at", w=w, rows=[0, 2])
                both_hv, both_loss = d.ask("hv", v=v)["hv"], d.ask("loss")["loss"]
                d.ask("at", w=w)
                self.assertNotEqual(d.ask("loss")["loss"], both_loss)
                self.assertFalse(np.array_equal(d.ask("hv", v=v)["hv"], both_hv))
                self.assertRegex(d.fails("failed", "grad", rows=[9]), "no such batches")
            self.stop(d)

    def test_forms(self):
        class Model(nn.Module):
            def __init__(self, answer):
                super().__init__()
                self.net, self.answer = nn.Linear(4, 3), answer

            def forward(self, *args, **named):
                return self.answer(torch.tanh(self.net(args[0] if args else named["x"])), *args[1:], **{k: v for k, v in named.items() if k != "x"})

        class Out(dict):
            __getattr__ = dict.__getitem__

        mse, double = nn.functional.mse_loss, (self.x.double(), self.y.double())
        for answer, loss_fn, data in (
            (lambda o: o, mse, (self.x, self.y)),
            (lambda o: (o, 1), mse, (self.x, self.y)),
            (lambda o: Out(logits=o), mse, (self.x, self.y)),
            (lambda o, z=0: o + 0 * z, mse, (self.x, torch.zeros(50, 3), self.y)),
            (lambda o, y=None: (o, mse(o, y)), None, (self.x, self.y)),
            (lambda o, labels=None: Out(logits=o, loss=mse(o, labels)), None, {"x": self.x, "labels": self.y}),
            (lambda o: o, lambda m, b: mse(m(b[0]), b[1]), (self.x, self.y)),
        ):
            loader = self.loader(*data) if isinstance(data, tuple) else [{k: v[i : i + 20] for k, v in data.items()} for i in (0, 20, 40)]
            model = Model(answer)
            with contextlib.redirect_stderr(io.StringIO()):
                d, one = (Driver().call(newtop.serve, copy.deepcopy(model), loss_fn, x) for x in (loader, data))
            g, h, _ = dense(nn.Sequential(copy.deepcopy(model.net), nn.Tanh()).double(), double, mse, flat(model.parameters()).astype(np.float64))
            for of in d, one:
                near(of.ask("grad")["g"], g, 1e-6)
                near(np.array([of.ask("hv", v=e)["hv"] for e in np.eye(d.n)]), h, 1e-6)
                self.stop(of)

    def test_figures(self):
        net = nn.Linear(4, 3)
        both, some = (self.x.double(), self.t), (self.x[:30], self.t[:30])
        d, a, _ = self.compare(net, nn.CrossEntropyLoss(), self.loader(self.x, self.t), both, nn.functional.cross_entropy, eval=self.loader(*some))
        wrong = net(self.x).argmax(1) != self.t
        self.assertAlmostEqual(a["error_rate"], wrong.float().mean().item(), 6)
        test = d.ask("eval")
        self.assertAlmostEqual(test["error_rate"], wrong[:30].float().mean().item(), 6)
        self.assertAlmostEqual(test["loss"], nn.functional.cross_entropy(net(some[0]), some[1]).item(), 5)
        self.assertEqual((d.hello["rows"], d.hello["test_rows"]), (50, 30))
        self.stop(d)

    def test_next_tokens(self):
        """Of a language model the loss is a mean over the tokens that follow others and are no padding."""
        try:
            from transformers import GPT2Config, GPT2LMHeadModel
        except ImportError:
            self.skipTest("there is no transformers")
        torch.manual_seed(0)
        config = dict(n_layer=1, n_head=1, n_embd=4, vocab_size=7, n_positions=8, bos_token_id=0, eos_token_id=0, attn_pdrop=0.0, embd_pdrop=0.0, resid_pdrop=0.0)
        model, ids = GPT2LMHeadModel(GPT2Config(**config)), torch.randint(7, (10, 6))
        labels = ids.clone()
        for k in range(4, 10):
            labels[k, k - 3 :] = -100
        batch = lambda a, b: {"input_ids": ids[a:b], "labels": labels[a:b]}
        with contextlib.redirect_stderr(io.StringIO()):
            d, one = (Driver().call(newtop.serve, copy.deepcopy(model), None, x) for x in ([batch(0, 4), batch(4, 7), batch(7, 10)], batch(0, 10)))
        v = np.random.default_rng(0).normal(size=d.n)
        a, b = d.ask("grad"), one.ask("grad")
        near(a["loss"], b["loss"], 1e-6)
        near(a["g"], b["g"], 2e-6)
        near(d.ask("hv", v=v)["hv"], one.ask("hv", v=v)["hv"], 2e-6)
        self.stop(d), self.stop(one)

    def test_a_probe_of_a_loader(self):
        """It leaves random numbers and the loader's own as they are."""
        def loop(probed):
            torch.manual_seed(0)
            loader = self.loader(self.x, self.t, generator=torch.Generator().manual_seed(7))
            model = nn.Sequential(nn.Linear(4, 5), nn.Dropout(0.3), nn.Linear(5, 3))
            probe = newtop.probe(model, nn.functional.cross_entropy, loader, every=2) if probed else None
            for x, t in loader:
                model.zero_grad()
                nn.functional.cross_entropy(model(x), t).backward()
                with torch.no_grad():
                    for p in model.parameters():
                        p -= 0.1 * p.grad
                if probe:
                    probe.step()
            return flat(model.parameters()), torch.rand(2).numpy(), next(iter(loader))[0].numpy()

        with contextlib.redirect_stderr(io.StringIO()):
            d = Driver().call(loop, True)
            for step in 2, 4:
                self.assertEqual(d.look()["step"], step)
                d.ask("hv", v=np.ones(d.n)), d.ask("update")
                d.on()
            for a, b in zip(d.join(), loop(False)):
                np.testing.assert_array_equal(a, b)


class Behaviour(unittest.TestCase):
    def serve(self, model, loss_fn=None, data=None, **named):
        data = data or (torch.randn(12, 4), torch.arange(12) % 3)
        return Driver().call(newtop.serve, model, loss_fn or nn.CrossEntropyLoss(), data, **named)

    def stop(self, d):
        d.ask("stop")
        return d.join()

    def test_dropout_draws_the_same_mask(self):
        torch.manual_seed(0)
        random.seed(0)
        model = nn.Sequential(nn.Linear(4, 50), nn.Dropout(0.5), nn.Tanh(), nn.Linear(50, 3)).double()
        data = torch.randn(12, 4).double(), torch.arange(12) % 3
        d = self.serve(model, data=data, eval=data)
        self.assertEqual([(f["what"], f["where"]) for f in d.hello["findings"]], [("dropout", "1")])
        w, v = d.ask("get")["w"], np.random.default_rng(1).normal(size=d.n)
        torch.manual_seed(99)  # whatever else draws numbers
        a, h = d.ask("grad"), d.ask("hv", v=v)["hv"]
        self.assertEqual([d.ask("loss")["loss"], d.ask("loss", w=w)["loss"], d.ask("grad", w=w)["loss"]], [a["loss"]] * 3)
        e = 1e-5
        near((d.ask("grad", w=w + e * v)["g"] - d.ask("grad", w=w - e * v)["g"]) / (2 * e), h, 1e-7)
        slope = (d.ask("loss", w=w + e * v)["loss"] - d.ask("loss", w=w - e * v)["loss"]) / (2 * e)
        near(slope, a["g"] @ v, 1e-8)
        d.ask("at", w=w)
        np.testing.assert_array_equal(d.ask("hv", v=v)["hv"], h)
        model.eval()
        want = nn.functional.cross_entropy(model(data[0]), data[1]).item()
        model.train()
        self.assertAlmostEqual(d.ask("eval")["loss"], want, 14)
        self.assertTrue(model.training and model[1].training)
        self.stop(d)

    def test_batch_norm_keeps_its_averages(self):
        model = nn.Sequential(nn.Linear(4, 6), nn.BatchNorm1d(6), nn.Tanh(), nn.Linear(6, 3)).double()
        before = [b.clone() for b in model.buffers()]
        data = torch.randn(12, 4).double(), torch.arange(12) % 3
        d = self.serve(model, data=data, eval=data)
        self.assertEqual(d.hello["findings"][0]["what"], "batch norm")
        self.assertNotIn("rows", d.hello["has"])
        w, v = d.ask("get")["w"], np.random.default_rng(1).normal(size=d.n)
        h = d.ask("hv", v=v)["hv"]
        d.ask("loss", w=w + v), d.ask("eval", w=w - v), d.ask("grad", w=w + v)
        np.testing.assert_array_equal(d.ask("hv", v=v)["hv"], h)
        e = 1e-5
        near((d.ask("grad", w=w + e * v)["g"] - d.ask("grad", w=w - e * v)["g"]) / (2 * e), h, 1e-6)
        self.stop(d)
        for a, b in zip(before, model.buffers()):
            self.assertTrue(torch.equal(a, b))

    def test_gradient_is_computed_anew_with_weights(self):
        """What is kept for the point hides that a loss drifts; newtop sees it by sending the point's own weights."""

        class Drifting(nn.Module):
            def __init__(self):
                super().__init__()
                self.inner, self.calls = nn.Linear(4, 3), 0

            def forward(self, x):
                self.calls += 1
                return self.inner(x) + 0.01 * self.calls * x[:, :3]

        def clean(*layers):
            return nn.Sequential(nn.Linear(4, 6), *layers, nn.Tanh(), nn.Linear(6, 3))

        for model, drifts in (clean(), False), (clean(nn.Dropout(0.5)), False), (clean(nn.BatchNorm1d(6)), False), (Drifting(), True):
            d = self.serve(model)
            for w in d.ask("get")["w"], d.ask("get")["w"] + 0.1:
                d.ask("at", w=w)
                v = np.random.default_rng(1).normal(size=d.n)
                a, h = d.ask("grad"), d.ask("hv", v=v)["hv"]
                b = d.ask("grad", w=w)
                self.assertEqual(np.array_equal(a["g"], b["g"]) and a["loss"] == b["loss"], not drifts)
                np.testing.assert_array_equal(d.ask("hv", v=v)["hv"], h)  # the point's graph is as it was
                np.testing.assert_array_equal(d.ask("grad")["g"], a["g"])
            self.stop(d)

    def test_figures(self):
        model, data = nn.Linear(4, 3), (torch.randn(12, 4), torch.arange(12) % 3)
        d = self.serve(model, data=data, eval=data)
        want = (model(data[0]).argmax(1) != data[1]).float().mean().item()
        self.assertAlmostEqual(d.ask("loss")["error_rate"], want, 6)
        self.assertAlmostEqual(d.ask("eval")["error_rate"], want, 6)
        self.stop(d)
        d = self.serve(model, lambda o, t: nn.functional.mse_loss(o, t) / 2, (data[0], torch.randn(12, 3)))
        got = d.ask("loss")
        self.assertAlmostEqual(got["rmse"] ** 2 / 2, got["loss"], 6)
        self.stop(d)

    def test_what_has_no_second_derivative(self):
        class Once(torch.autograd.Function):
            @staticmethod
            def forward(ctx, x):
                ctx.save_for_backward(x)
                return x.sin()

            @staticmethod
            @torch.autograd.function.once_differentiable
            def backward(ctx, g):
                return g * ctx.saved_tensors[0].cos()

        class Layer(nn.Module):
            def forward(self, x):
                return Once.apply(x)

        d = self.serve(nn.Sequential(nn.Linear(4, 5), Layer(), nn.Linear(5, 3)))
        self.assertEqual(set(d.hello["has"]), {"grad", "rows", "sample"})
        self.assertEqual(d.hello["findings"][0]["what"], "hv fails")
        self.assertIn("once_differentiable", d.hello["findings"][0]["remedy"])
        d.ask("grad")
        self.stop(d)

    def test_sums_have_no_rows(self):
        d = self.serve(nn.Linear(4, 3), nn.CrossEntropyLoss(reduction="sum"))
        self.assertNotIn("rows", d.hello["has"])
        self.stop(d)

    def test_memory(self):
        class Hungry(nn.Module):
            calls = 0

            def __init__(self):
                super().__init__()
                self.inner = nn.Linear(4, 3)

            def forward(self, x):
                Hungry.calls += 1
                if Hungry.calls in (5, 7, 8):
                    raise RuntimeError("CUDA out of memory. Tried to allocate 2.1 GiB\nmore")
                return self.inner(x)

        d = self.serve(Hungry())
        while Hungry.calls < 4:
            d.ask("loss")
        d.ask("loss")  # the graphs are released, and it is tried again
        self.assertEqual(Hungry.calls, 6)
        self.assertIn("2.1 GiB", d.fails("memory", "loss"))
        d.ask("hv", v=np.ones(d.n))
        self.stop(d)

    def test_bad_requests(self):
        d = self.serve(nn.Linear(4, 3))
        with contextlib.redirect_stderr(io.StringIO()) as errs:
            d.fails("failed", "at")
            d.fails("failed", "hv", v=np.ones(3))
            d.fails("failed", "grad", rows=[12])
            d.fails("failed", "grad", rows=[-1])
            d.fails("failed", "grad", rows=[])
        self.assertEqual(errs.getvalue().count("Traceback"), 5)
        d.fails("unsupported", "eval")
        d.fails("unsupported", "dance")
        d.fails("unsupported", "update")
        d.ask("hv", v=np.ones(d.n))
        d.sock.sendall(b"HTTP/1.1 200 OK!")
        with self.assertRaisesRegex(SystemExit, "no magic"):
            d.join()

    def test_newtop_dies(self):
        d = self.serve(nn.Linear(4, 3))
        d.sock.close()
        with self.assertRaises(SystemExit) as end:
            d.join()
        self.assertEqual(end.exception.code, 1)  # without words

    def test_no_weights_to_train(self):
        for model in nn.Linear(4, 3).requires_grad_(False), nn.Tanh():
            with self.assertRaisesRegex(ValueError, "^the model has no weights that need a gradient"):
                self.serve(model)

    def test_arguments_that_cannot_be_meant(self):
        x, t = torch.randn(12, 4), torch.arange(12) % 3
        loss_fn, loader, rows = nn.CrossEntropyLoss(), torch.utils.data.DataLoader([]), torch.utils.data.TensorDataset(x, t)

        class Stream(torch.utils.data.IterableDataset):
            def __iter__(self):
                return iter(zip(x, t))

        no_batches = r"^a \w+ has rows one by one, and no batches: give torch.utils.data.DataLoader\(data, batch_size=256\)$"
        for data in rows, torch.utils.data.Subset(rows, range(5)), Stream(), list(rows), torch.utils.data.DataLoader(rows, batch_size=None), [{"x": x[0], "labels": 2}]:
            for arguments in ((data,), ((x, t), data)):
                with self.assertRaisesRegex(TypeError, no_batches):
                    Driver().call(newtop.serve, nn.Linear(4, 3), loss_fn, *arguments)
        if importlib.util.find_spec("datasets"):
            import datasets
            data = datasets.Dataset.from_dict({"x": x.tolist(), "labels": t.tolist()})
            for data in data, data.with_format("torch"), data.to_iterable_dataset():
                with self.assertRaisesRegex(TypeError, r"DataLoader\(data.with_format\('torch'\), batch_size=256\)$"):
                    Driver().call(newtop.serve, nn.Linear(4, 3), loss_fn, data)
        for arguments, words in (
            ((loss_fn, nn.Linear(4, 3), (x, t)), "^the model comes first: "),
            ((nn.Linear(4, 3), loader, loss_fn), "^loss_fn is a DataLoader: "),
            ((nn.Linear(4, 3), loss_fn, loader), "^the loader has no batches"),
            ((nn.Linear(4, 3), loss_fn, iter([(x, t)])), r"^batch is a list_iterator, which can be read once: newtop.serve\(model, loss_fn, list\(batches\)\)"),
            ((nn.Linear(4, 3), loss_fn, (b for b in [(x, t)])), "^batch is a generator, which can be read once: "),
            ((nn.Linear(4, 3), loss_fn, torch.utils.data.DataLoader), "^batch is the class DataLoader: "),
            ((nn.Linear(4, 3), loss_fn), "^there is no batch: "),
            ((nn.Linear(4, 3), 3, (x, t)), "^loss_fn is a int: "),
            (((x, t), loss_fn), "^the first argument is a tuple: "),
            ((nn.LazyLinear(3), loss_fn, (x, t)), "lazy modules"),
            ((nn.Linear(4, 3).requires_grad_(False), loss_fn, (x, t)), r"it is frozen: model.requires_grad_\(True\)"),
        ):
            with self.assertRaisesRegex((TypeError, ValueError), words):
                Driver().call(newtop.serve, *arguments)

    def test_forms_of_the_loss(self):
        torch.manual_seed(0)
        x, t = torch.randn(12, 4), torch.arange(12) % 3
        net = nn.Linear(4, 3)

        class Out:
            def __init__(self, logits, loss=None):
                self.logits, self.loss = logits, loss

        class Model(nn.Module):
            def __init__(self, answer):
                super().__init__()
                self.net, self.answer = net, answer

            def forward(self, *args, **named):
                return self.answer(*args, **named)

        ce = nn.functional.cross_entropy
        want = ce(net(x), t).item()
        for model, loss_fn, batch, outputs in (
            (Model(lambda x: (net(x), x)), ce, (x, t), True),
            (Model(lambda x: Out(net(x))), ce, (x, t), True),
            (Model(lambda x, scale: net(x) * scale), ce, (x, torch.ones(1), t), True),
            (Model(lambda x, labels: Out(net(x), ce(net(x), labels))), None, {"x": x, "labels": t}, False),
            (Model(net.forward), lambda m, b: ce(m(b[0]), b[1]), (x, t), False),
        ):
            d = self.serve(model, loss_fn, batch) if loss_fn else Driver().call(newtop.serve, model, None, batch)
            self.assertAlmostEqual(d.ask("loss")["loss"], want, 6)
            self.assertEqual(("hv" in d.hello["has"], "gnv" in d.hello["has"]), (True, outputs))
            self.stop(d)
        with contextlib.redirect_stderr(io.StringIO()) as errs:
            d = self.serve(nn.Linear(5, 3))
        self.assertRegex(d.hello["findings"][0]["where"], r"^loss_fn\(model\(inputs\), targets\): .*; loss_fn\(model, batch\): ")
        self.assertEqual(errs.getvalue().count("Traceback"), 1)
        d.sock.close()
        d = self.serve(nn.Linear(4, 1), nn.MSELoss(), (x, torch.randn(12)))
        self.assertEqual(d.hello["findings"][0]["where"], "[12], and outputs of [12, 1]")
        self.stop(d)

    def test_threads(self):
        before = torch.get_num_threads()
        for count, words in (1, "1 thread"), (2, "2 threads"):
            torch.set_num_threads(count)
            d = self.serve(nn.Linear(4, 3))
            self.assertEqual(d.hello["program"].split(", ")[1:], ["CPU", words])
            self.stop(d)
        torch.set_num_threads(before)

    def test_wrapped_and_events(self):
        class Compiled(nn.Module):
            def __init__(self, inner):
                super().__init__()
                self._orig_mod = inner

        seen, model = [], nn.Linear(4, 3)
        d = self.serve(Compiled(model), on_event=seen.append)
        self.assertEqual(d.hello["findings"][0]["what"], "torch.compile")
        self.assertEqual([b["name"] for b in d.hello["blocks"]], ["weight", "bias"])
        d.ask("event", event={"type": "epoch", "epoch": 1})
        self.stop(d)
        self.assertEqual(seen, [{"type": "epoch", "epoch": 1}])

    def test_autocast_is_left(self):
        model = nn.Linear(4, 3).double()
        data = torch.randn(12, 4).double(), torch.arange(12) % 3

        def serve():
            with torch.autocast("cpu", dtype=torch.bfloat16):
                return newtop.serve(model, nn.CrossEntropyLoss(), data)

        d = Driver().call(serve)
        self.assertEqual(d.hello["findings"][0]["what"], "autocast")
        self.assertAlmostEqual(d.ask("loss")["loss"], nn.functional.cross_entropy(model(data[0]), data[1]).item(), 14)
        self.stop(d)

    def test_what_can_not_be_done(self):
        with contextlib.redirect_stderr(io.StringIO()) as errs:
            d = self.serve(nn.Linear(5, 3))
            (finding,) = d.hello["findings"]
            self.assertEqual((finding["what"], finding["fatal"], d.hello["has"]), ("the gradient fails", True, []))
            d.sock.close()
            with self.assertRaises(SystemExit):
                d.join()
            d = Driver().call(newtop.serve, nn.Linear(4, 3), nn.CrossEntropyLoss(), (np.zeros((6, 4)), np.arange(6) % 3))
            self.assertRegex(d.hello["findings"][0]["where"], r"^the batch is a tuple without tensors: .* torch.as_tensor\(x\)")
            self.stop(d)
            d = Driver().call(newtop.serve, nn.Linear(4, 3), nn.CrossEntropyLoss(), 3 * ((torch.zeros(6, 4), torch.arange(6) % 3),))
            self.assertRegex(d.hello["findings"][0]["where"], r"; list\(batch\), if these are batches$")
            self.stop(d)
        self.assertIn("Traceback", errs.getvalue())

        class FullyShardedDataParallel(nn.Linear):
            pass

        d = self.serve(FullyShardedDataParallel(4, 3))
        self.assertEqual([(f["what"], f["fatal"]) for f in d.hello["findings"]], [("FSDP", True)])
        self.stop(d)

    def test_digest(self):
        def digest(width, value):
            torch.manual_seed(0)
            d = self.serve(nn.Linear(width, 3), data=(torch.full((12, width), value), torch.arange(12) % 3))
            self.stop(d)
            return d.hello["digest"]

        self.assertEqual(digest(4, 1.0), digest(4, 1.0))
        self.assertEqual(len({digest(4, 1.0), digest(5, 1.0), digest(4, 2.0)}), 3)


class Probe(unittest.TestCase):
    """The loop's losses, weights, gradients, random numbers and averages are the same bits with a probe and without."""

    def loop(self, probe, steps=9):
        torch.manual_seed(0)
        random.seed(0)
        np.random.seed(0)
        x, t = torch.randn(64, 6), torch.randint(3, (64,))
        model = nn.Sequential(nn.Linear(6, 16), nn.BatchNorm1d(16), nn.ReLU(), nn.Dropout(0.3), nn.Linear(16, 3))
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9, weight_decay=1e-3)
        p = newtop.probe(model, nn.functional.cross_entropy, (x[:16], t[:16]), every=3, optimizer=optimizer) if probe else None
        trace = []
        for step in range(steps):
            rows = torch.randint(64, (8,)) if step % 2 else torch.tensor(random.sample(range(64), 8))
            noise = torch.tensor(np.random.normal(size=(8, 6)), dtype=torch.float32)
            optimizer.zero_grad(set_to_none=step % 2 == 0)
            loss = nn.functional.cross_entropy(model(x[rows] + 0.1 * noise), t[rows])
            loss.backward()
            grads = [q.grad for q in model.parameters()]
            optimizer.step()
            model[3].train(step % 4 != 0)
            if p is not None:
                p.step(loss)
            assert all(a is q.grad for a, q in zip(grads, model.parameters()))
            trace += [loss.detach(), *(q.detach().clone() for q in model.parameters()), *(g.clone() for g in grads), *(b.clone() for b in model.buffers())]
        return trace + [torch.rand(3), torch.tensor(random.random()), torch.tensor(np.random.rand()), torch.tensor([m.training for m in model.modules()])]

    def same(self, a, b):
        self.assertEqual(len(a), len(b))
        for x, y in zip(a, b):
            self.assertTrue(torch.equal(x, y))

    def test_bit_for_bit(self):
        plain = self.loop(False)
        os.environ.pop("NEWTOP_PEER", None)
        self.same(plain, self.loop(True))
        d = Driver().call(self.loop, True)
        self.assertEqual((d.hello["mode"], "update" in d.hello["has"]), ("observed", True))
        rng, weights = np.random.Generator(np.random.PCG64(1)), None
        per_step = (len(plain) - 4) // 9
        for k in 3, 6, 9:
            head = d.look()
            self.assertEqual((head["step"], head["rate"], head["momentum"], head["optimizer"]), (k, 0.1, 0.9, "SGD"))
            self.assertEqual(head["loss"], plain[(k - 1) * per_step].item())
            w = d.ask("get")["w"]
            at = lambda step: flat(plain[(step - 1) * per_step + 1 : (step - 1) * per_step + 7])
            np.testing.assert_array_equal(w, at(k))
            np.testing.assert_array_equal(d.ask("update")["u"], at(k) - at(k - 1))
            v = rng.normal(size=d.n)
            h = d.ask("hv", v=v)["hv"]
            d.ask("loss", w=w + 0.1), d.ask("grad", w=w - 0.1), d.ask("gnv", v=v), d.ask("grad")
            np.testing.assert_array_equal(d.ask("hv", v=v)["hv"], h)
            d.fails("unsupported", "at", w=w)
            d.fails("unsupported", "set", w=w)
            d.on()
        self.same(plain, d.join())

    def test_newtop_dies_or_stops(self):
        plain = self.loop(False)
        d = Driver().call(self.loop, True)
        d.look()
        d.ask("get")
        d.sock.close()
        self.same(plain, d.join())
        d = Driver().call(self.loop, True)
        d.look()
        d.on()
        d.look()
        d.ask("stop")
        self.same(plain, d.join())
        for path in "/nowhere/at/all", "/too/long" * 20, "":
            os.environ["NEWTOP_PEER"] = path
            with contextlib.redirect_stderr(io.StringIO()) as errs:
                self.same(plain, self.loop(True))
            self.assertEqual(errs.getvalue(), "")

    def test_several(self):
        """Each probe has a connection of its own; the end of one is not that of the other."""

        def loop(probes):
            torch.manual_seed(0)
            x, t = torch.randn(12, 4), torch.arange(12) % 3
            models = [nn.Sequential(nn.Linear(4, k), nn.Dropout(0.5), nn.Linear(k, 3)) for k in (5, 6)]
            looks = [newtop.probe(m, nn.functional.cross_entropy, (x, t), every=2, name=f"net {k}") for k, m in enumerate(models)] if probes else []
            for _ in range(6):
                for k, m in enumerate(models):
                    m.zero_grad()
                    nn.functional.cross_entropy(m(x), t).backward()
                    with torch.no_grad():
                        for p in m.parameters():
                            p -= 0.1 * p.grad
                    if looks:
                        looks[k].step()
            return [p.detach() for m in models for p in m.parameters()]

        plain = loop(False)
        a = Driver()
        b = Driver(listener=a.listener)
        with contextlib.redirect_stderr(io.StringIO()) as errs:
            a.call(loop, True)
            for step in 2, 4:
                self.assertEqual(a.look()["step"], step)
                a.ask("hv", v=np.ones(a.n))
                a.on()
                if step == 2:
                    b.meet()
                self.assertEqual(b.look()["step"], step)
                b.ask("grad")
                b.on()
            self.assertEqual((a.hello["name"], b.hello["name"], b.n - a.n), ("net 0", "net 1", 8))
            a.look()
            a.sock.close()
            self.assertEqual(b.look()["step"], 6)
            b.ask("update")
            b.on()
            self.same(plain, a.join())
        self.assertEqual(errs.getvalue(), "")

    def test_every_step(self):
        """At the first step the last change of the weights is not known, and at later ones it is."""

        def loop():
            model, batch = nn.Linear(4, 3), (torch.randn(12, 4), torch.arange(12) % 3)
            p = newtop.probe(model, nn.functional.cross_entropy, batch, every=1)
            for _ in range(3):
                with torch.no_grad():
                    model.bias += 1
                p.step()

        d = Driver()
        with contextlib.redirect_stderr(io.StringIO()) as errs:
            d.call(loop)
            for step in 1, 2, 3:
                self.assertEqual(d.look()["step"], step)
                if step == 1:
                    d.fails("unsupported", "update")
                else:
                    near(d.ask("update")["u"], np.array([0] * 12 + [1] * 3), 1e-6)
                d.ask("hv", v=np.ones(d.n))
                d.on()
            d.join()
        self.assertEqual(errs.getvalue(), "")

    def test_nothing_to_look_at(self):
        os.environ["NEWTOP_PEER"] = "/nowhere/at/all"
        with contextlib.redirect_stderr(io.StringIO()) as errs:
            p = newtop.probe(nn.Tanh(), nn.functional.mse_loss, (torch.ones(2), torch.ones(2)), every=1)
            p.step(), p.step()
        self.assertEqual(errs.getvalue(), "newtop: probe: the model has no weights that need a gradient: no more of it\n")

    def test_rates(self):
        p = [nn.Parameter(torch.ones(2))]
        for optimizer, want in (
            (torch.optim.SGD(p, lr=0.5), {"optimizer": "SGD", "rate": 0.5, "momentum": 0.0}),
            (torch.optim.SGD(p, lr=0.5, momentum=0.9), {"optimizer": "SGD", "rate": 0.5, "momentum": 0.9}),
            (torch.optim.SGD(p, lr=0.5, momentum=0.9, nesterov=True), {"optimizer": "SGD"}),
            (torch.optim.Adam(p), {"optimizer": "Adam"}),
            (None, {}),
        ):
            self.assertEqual(newtop._rate(optimizer), want)


class Callbacks(unittest.TestCase):
    """Those of transformers and Lightning have the model looked at, and training computes the same bits."""

    def looked_at(self, run, steps):
        def loop(callbacks):
            with tempfile.TemporaryDirectory() as place, contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
                os.environ["NEWTOP_LOG"] = os.path.join(place, "log")
                torch.manual_seed(0)
                return flat(run(callbacks, place).parameters())

        os.environ.pop("NEWTOP_PEER", None)
        plain = loop(lambda: [])
        d = Driver().call(loop, self.callbacks)
        for k in steps:
            self.assertEqual(d.look()["step"], k)
            d.ask("hv", v=np.ones(d.n))
            d.on()
        np.testing.assert_array_equal(d.join(), plain)

    def test_transformers(self):
        try:
            from transformers import GPT2Config, GPT2LMHeadModel, Trainer, TrainingArguments
        except ImportError:
            self.skipTest("there is no transformers")
        self.callbacks = lambda: [newtop.HFCallback(every=4)]

        def run(callbacks, place):
            model = GPT2LMHeadModel(GPT2Config(n_layer=1, n_head=2, n_embd=8, vocab_size=11, n_positions=8, bos_token_id=0, eos_token_id=0))
            data = [{"input_ids": i, "labels": i} for i in torch.randint(11, (16, 6))]
            how = TrainingArguments(output_dir=place, max_steps=8, logging_steps=2, report_to=[], save_strategy="no", use_cpu=True, disable_tqdm=True)
            Trainer(model=model, args=how, train_dataset=data, callbacks=callbacks()).train()
            return model

        self.looked_at(run, (4, 8))

    def test_lightning(self):
        """By its name, and by its older one, of which each has classes of its own."""
        found = [importlib.import_module(name) for name in ("lightning.pytorch", "pytorch_lightning") if importlib.util.find_spec(name.split(".")[0])]
        if not found:
            self.skipTest("there is no lightning")
        for lightning in found:
            with self.subTest(lightning.__name__):
                self.lightning(lightning)

    def lightning(self, lightning):
        x, t = torch.randn(16, 4), torch.arange(16) % 3
        self.callbacks = lambda: [newtop.LightningCallback(nn.functional.cross_entropy, (x, t), every=4)]

        class Model(lightning.LightningModule):
            def __init__(self):
                super().__init__()
                self.net = nn.Sequential(nn.Linear(4, 5), nn.Dropout(0.2), nn.Linear(5, 3))

            def forward(self, x):
                return self.net(x)

            def training_step(self, batch, _):
                return nn.functional.cross_entropy(self(batch[0]), batch[1])

            def configure_optimizers(self):
                return torch.optim.SGD(self.parameters(), lr=0.1)

        def run(callbacks, place):
            model, data = Model(), torch.utils.data.DataLoader(torch.utils.data.TensorDataset(x, t), 4, shuffle=True)
            lightning.Trainer(max_epochs=2, accelerator="cpu", logger=False, enable_checkpointing=False, enable_progress_bar=False,
                              enable_model_summary=False, callbacks=callbacks(), default_root_dir=place).fit(model, data)
            return model

        self.looked_at(run, (4, 8))


class Programs(unittest.TestCase):
    """The programs of internal/python/testdata."""

    def run_program(self, name, *argv, steps=12):
        d = Driver()
        process = d.start(os.path.join(DATA, name), *argv, NEWTOP_SEED="5")
        d.meet()
        w = d.ask("get")["w"].astype(np.float64)
        first = d.ask("loss")["loss"]
        for _ in range(steps):  # conjugate gradients on the damped Gauss-Newton matrix
            d.ask("at", w=w)
            g = d.ask("grad")["g"].astype(np.float64)
            x, r = np.zeros(d.n), -g
            p = r.copy()
            for _ in range(5):
                q = d.ask("gnv", v=p)["gnv"] + 0.1 * p
                a = r @ r / (p @ q)
                x, s = x + a * p, r - a * q
                p, r = s + (s @ s) / (r @ r) * p, s
            while not d.ask("loss", w=w + x)["loss"] < d.ask("loss")["loss"]:
                x /= 2
            w = w + x
        last = d.ask("loss", w=w)["loss"]
        self.assertLess(last, 0.8 * first)
        if "eval" in d.hello["has"]:
            d.ask("eval", w=w)
        d.ask("set", w=w)
        d.ask("stop")
        out, errs = process.communicate(timeout=600)
        self.assertEqual((process.returncode, errs), (0, ""))
        return d.hello, w, last, out

    def test_mlp(self):
        hello, w, last, out = self.run_program("mlp.py")
        self.assertAlmostEqual(float(out.split()[-1]), last, 12)
        self.assertEqual((hello["n"], hello["dtype"], hello["rows"], hello["test_rows"]), (5 * 7 + 7 + 7 * 6 + 6 + 6 * 3 + 3, "F64", 48, 16))

    def test_digits(self):
        hello, w, _, out = self.run_program("digits.py", "200")
        again, same, _, _ = self.run_program("digits.py", "200")
        np.testing.assert_array_equal(w, same)
        self.assertEqual(hello["digest"], again["digest"])
        self.assertAlmostEqual(float(out.split()[-2]), np.linalg.norm(w), 3)
        self.assertEqual((hello["classes"], hello["rows"], hello["test_rows"]), (10, 200, 50))

    def test_pinn(self):
        hello, _, _, _ = self.run_program(os.path.join(MODULE, "..", "..", "docs", "examples", "pinn.py"), steps=4)
        self.assertTrue({"hv", "gnv"} <= set(hello["has"]))

    def test_chars(self):
        hello, _, _, _ = self.run_program("chars.py", "16", "16", steps=6)
        self.assertTrue({"hv", "gnv", "rows"} <= set(hello["has"]))

    def test_numpy(self):
        hello, _, last, _ = self.run_numpy()
        self.assertEqual(hello["program"].split()[0], "NumPy")

    def run_numpy(self):
        d = Driver(mapped=False)
        process = d.start(os.path.join(DATA, "numpy_peer.py"))
        d.meet()
        w = d.ask("get")["w"]
        for _ in range(8):  # Newton's method
            d.ask("at", w=w)
            h = np.array([d.ask("hv", v=e)["hv"] for e in np.eye(d.n)])
            w = w - np.linalg.solve(h, d.ask("grad")["g"])
        self.assertLess(np.abs(d.ask("grad", w=w)["g"]).max(), 1e-12)
        last = d.ask("eval", w=w)["loss"]
        d.fails("unsupported", "update")
        d.ask("stop")
        self.assertEqual(process.wait(600), 0)
        process.stdout.close(), process.stderr.close()
        return d.hello, w, last, ""

    def test_loop(self):
        d = Driver()
        process = d.start(os.path.join(DATA, "loop.py"), "12", "4")
        for k in range(3):
            if k == 0:
                d.meet()
            self.assertEqual(d.look()["step"], 4 * k + 4)
            d.ask("hv", v=np.ones(d.n))
            d.on()
        out, errs = process.communicate(timeout=600)
        self.assertEqual(errs, "")
        environ = {"NEWTOP_PEER": ""}
        other = Driver().start(os.path.join(DATA, "loop.py"), "12", "4", **environ)
        self.assertEqual(other.communicate(timeout=600)[0], out)


class Page(unittest.TestCase):
    """The programs of docs/own-model.md and of docs/examples run, and print what stands below them."""

    def test_programs(self):
        docs = os.path.join(MODULE, "..", "..", "docs")
        with open(os.path.join(docs, "own-model.md")) as page:
            blocks = re.findall(r"^```(\w*)\n(.*?)^```$", page.read(), re.M | re.S) + [("", "")]
        programs = [(code, text) for (kind, code), (_, text) in zip(blocks, blocks[1:]) if kind == "python"]
        for name in "pinn.py", "prices.py":
            with open(os.path.join(docs, "examples", name)) as example:
                programs.append((example.read(), ""))
        for code, text in programs:
            compile(code, "own-model.md", "exec")
            if not re.search("^import .*newtop", code, re.M) or "newtop.spectrum" in code and "NEWTOP" not in os.environ:
                continue
            with tempfile.TemporaryDirectory() as place:
                environ = {**{k: v for k, v in os.environ.items() if k != "NEWTOP_PEER"}, "PYTHONPATH": MODULE}
                done = subprocess.run([sys.executable, "-c", code], cwd=place, env=environ, capture_output=True, text=True)
            self.assertEqual(done.returncode, 0, done.stderr)
            if "newtop.spectrum" in code:
                np.testing.assert_allclose(*(np.array(re.findall(r"-?\d+\.\d+", t), float) for t in (done.stdout, text)), atol=2e-4)


class Objects(unittest.TestCase):
    def test_with_numpy(self):
        a = np.array([[2.0, 1.0], [1.0, 3.0]])

        class Model:
            about = {"dtype": "F32", "blocks": [{"name": "both", "shape": [1, 2]}]}
            start = staticmethod(lambda: np.array([1.0, 2.0]))
            loss = staticmethod(lambda w: w @ a @ w / 2)
            grad = staticmethod(lambda w: (w @ a @ w / 2, a @ w))
            hv = staticmethod(lambda w, v: a @ v if v.dtype == np.float32 else None)
            diag = staticmethod(lambda w: np.diag(a))

        d = Driver().call(newtop.serve_object, Model())
        self.assertEqual(set(d.hello["has"]), {"grad", "hv", "diag"})
        self.assertEqual(list(d.ask("hv", v=[1, -1])["hv"]), [1, -2])
        self.assertEqual(list(d.ask("grad", w=[1, 0])["g"]), [2, 1])
        self.assertEqual((list(d.ask("diag")["diag"]), d.ask("loss")["loss"]), ([2, 3], 9))
        d.ask("stop")
        d.join()


if __name__ == "__main__":
    unittest.main(warnings="ignore")
