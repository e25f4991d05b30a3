"""Nets by PyTorch's automatic differentiation: what newtop's own passes are held against.

The weights w are one flat vector: for each layer l = 1 .. L the blocks W^{lr} by ascending source r, row by row (nodes
of l x nodes of r), then the biases b^l. E is the mean over rows of 0.5 |u - t|^2 ("mse") or of the cross-entropy
("xent": after softmax one class a row, after sigmoid every output by itself), and 0.5 l2 |w|^2 without biases.
G = J'BJ has the Jacobian J of u and B = I for mse, that of the net inputs z of the outputs and B = d2E_p/dz2 for xent.
"""
import numpy as np
import torch
from torch.func import grad, hessian, jvp, vjp, vmap

torch.set_num_threads(1)
ACTIVATIONS = {"identity": lambda v: v, "sigmoid": torch.sigmoid, "tanh": torch.tanh, "relu": torch.relu,
               "softplus": torch.nn.functional.softplus, "softmax": lambda v: torch.softmax(v, -1)}


class SplitMix:
    """SplitMix64 (Steele, Lea & Flood 2014), and how Go's math/rand/v2 makes numbers of its 64 bits."""

    def __init__(self, seed):
        self.state = seed

    def bits(self):
        self.state = (self.state + 0x9E3779B97F4A7C15) % 2**64
        z = self.state
        z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9 % 2**64
        z = (z ^ z >> 27) * 0x94D049BB133111EB % 2**64
        return z ^ z >> 31

    def uniform(self):
        return (self.bits() % 2**53) / 2**53

    def below(self, n):
        if n & (n - 1) == 0:
            return self.bits() & (n - 1)
        product = self.bits() * n
        assert product % 2**64 >= n  # else Go might draw again
        return product >> 64

    def shuffled(self, n):
        """0 .. n-1 by Fisher and Yates, from the last one down."""
        order = list(range(n))
        for i in range(n - 1, 0, -1):
            j = self.below(i + 1)
            order[i], order[j] = order[j], order[i]
        return order

    def normal(self):
        """The ziggurat of Marsaglia & Tsang 2000."""
        while True:
            u = self.bits()
            j, i = u % 2**32, u >> 32 & 127
            j -= 2**32 if j >= 2**31 else 0
            x = j * float(ZIGGURAT_W[i])
            if abs(j) < ZIGGURAT_K[i]:
                return x
            while i == 0:  # the tail
                x, y = -np.log(self.uniform()) / ZIGGURAT_R, -np.log(self.uniform())
                if y + y >= x * x:
                    return ZIGGURAT_R + x if j > 0 else -ZIGGURAT_R - x
            if ZIGGURAT_F[i] + self.uniform() * (ZIGGURAT_F[i - 1] - ZIGGURAT_F[i]) < np.exp(-x * x / 2):
                return x


ZIGGURAT_R = 3.442619855899


def ziggurat():
    d = t = ZIGGURAT_R
    v, m = 9.91256303526217e-3, 2.0**31
    q = v / np.exp(-d * d / 2)
    k, w, f = [d / q * m] + [0.0] * 127, [q / m] + [0.0] * 126 + [d / m], [1.0] + [0.0] * 126 + [np.exp(-d * d / 2)]
    for i in range(126, 0, -1):
        d = np.sqrt(-2 * np.log(v / d + np.exp(-d * d / 2)))
        k[i + 1], t, w[i], f[i] = d / t * m, d, d / m, np.exp(-d * d / 2)
    return [int(x) for x in k], np.array(w, np.float32), f


ZIGGURAT_K, ZIGGURAT_W, ZIGGURAT_F = ziggurat()


def signs(n):
    s = SplitMix(1)
    return np.array([1.0 - 2 * (s.bits() & 1) for _ in range(n)])


class Net:
    """Passes of a problem in a precision. With eps their inputs and results, and weights that are kept, are off by up
    to eps, relatively and at random: what rounding may do to them."""

    def __init__(self, problem, dtype=torch.float64, eps=0.0, seed=0):
        self.p, self.dtype, self.eps, self.random = problem, dtype, eps, np.random.default_rng(seed)
        self.x, self.t = (torch.tensor(problem[k], dtype=dtype) for k in ("x", "t"))
        self.nodes, self.rows = problem["layers"], len(problem["x"])
        sources = {}
        for to, source in problem["connections"]:
            sources.setdefault(to, []).append(source)
        self.layers, at = [], 0  # (layer, [(source, offset)], offset of the biases)
        for to in range(1, len(self.nodes)):
            blocks = []
            for source in sorted(sources[to]):
                blocks.append((source, at))
                at += self.nodes[to] * self.nodes[source]
            self.layers.append((to, blocks, at))
            at += self.nodes[to]
        self.n = at
        self.is_weight = np.ones(at, bool)
        for to, _, biases in self.layers:
            self.is_weight[biases:biases + self.nodes[to]] = False

    def rounded(self, x):
        if self.eps == 0:
            return x
        return x * (1 + self.eps * self.random.uniform(-1, 1, np.shape(x)))

    def tensor(self, w):
        return torch.tensor(self.rounded(np.asarray(w, np.float64)), dtype=self.dtype)

    def array(self, x):
        return self.rounded(x.detach().to(torch.float64).numpy())

    def forward(self, w, x):
        """Outputs u^0 .. u^L and net inputs v^1 .. v^L."""
        u, v = [x], []
        for to, blocks, biases in self.layers:
            m = self.nodes[to]
            net = w[biases:biases + m]
            for source, at in blocks:
                k = self.nodes[source]
                net = net + u[source] @ w[at:at + m * k].reshape(m, k).T
            v.append(net)
            u.append(ACTIVATIONS[self.p["activations"][to - 1]](net))
        return u, v

    def natural(self, w, rows):
        u, v = self.forward(w, self.x if rows is None else self.x[rows])
        return u[-1] if self.p["loss"] == "mse" else v[-1]

    def mean(self, out, rows):
        t = self.t if rows is None else self.t[rows]
        if self.p["loss"] == "mse":
            return 0.5 * ((out - t) ** 2).sum(-1).mean()
        if self.p["activations"][-1] == "softmax":
            return -(t * torch.log_softmax(out, -1)).sum(-1).mean()
        return torch.nn.functional.binary_cross_entropy_with_logits(out, t, reduction="none").sum(-1).mean()

    def penalty(self, w):
        return 0.5 * self.p["l2"] * (w[torch.tensor(self.is_weight)] ** 2).sum()

    def energy(self, w, rows=None):
        return self.mean(self.natural(w, rows), rows) + self.penalty(w)

    def loss(self, w, rows=None):
        return float(self.array(self.energy(self.tensor(w), rows)))

    def grad(self, w, rows=None):
        return self.array(grad(lambda w: self.energy(w, rows))(self.tensor(w)))

    def hv(self, w, d, rows=None):
        w, d = self.tensor(w), self.tensor(d)
        return self.array(jvp(grad(lambda w: self.energy(w, rows)), (w,), (d,))[1])

    def gv(self, w, d, rows=None):
        return self.array(self.bent(self.tensor(w), rows)(self.tensor(d)))

    def bent(self, w, rows):
        out, back = vjp(lambda w: self.natural(w, rows), w)
        weights = self.p["l2"] * torch.tensor(self.is_weight)

        def product(d):
            along = jvp(lambda w: self.natural(w, rows), (w,), (d,))[1]
            return back(jvp(grad(lambda o: self.mean(o, rows)), (out,), (along,))[1])[0] + weights * d
        return product

    def hessian(self, w, rows=None):
        return self.symmetric(hessian(lambda w: self.energy(w, rows))(self.tensor(w)))

    def gauss_newton(self, w, rows=None):
        return self.symmetric(vmap(self.bent(self.tensor(w), rows))(torch.eye(self.n, dtype=self.dtype)))

    def symmetric(self, m):
        m = self.array(m)
        return (m + m.T) / 2

    def squares(self, w, rows):
        """The mean over rows of the squares of their own gradients."""
        each = [self.array(grad(lambda w: self.mean(self.natural(w, [r]), [r]))(self.tensor(w))) for r in rows]
        return np.mean(np.square(each), 0)

    def factors(self, w, rows, rng):
        """K-FAC's factors of a chain: for each layer the means of aa' of its inputs, 1 behind them, and of gg' of the
        derivatives by its net inputs, for targets that the net itself draws (Martens & Grosse 2015, section 5)."""
        w = self.tensor(w).requires_grad_()
        u, v = self.forward(w, self.x[rows])
        out = u[-1].detach().double().numpy()
        if self.p["loss"] == "mse":
            delta = np.array([[rng.normal() for _ in row] for row in out])  # u - y of y ~ N(u, I)
        else:
            delta = out.copy()
            for row, p in zip(delta, out):
                x, k = rng.uniform(), 0
                while k < len(p) - 1 and x >= p[k]:
                    x, k = x - p[k], k + 1
                row[k] -= 1
        last = v[-1] if self.p["loss"] == "xent" else u[-1]
        g = torch.autograd.grad(last, v, torch.tensor(delta, dtype=self.dtype))
        result = []
        for l in range(len(v)):
            a = torch.cat([u[l], torch.ones(len(rows), 1, dtype=self.dtype)], 1)
            result.append((self.array(a.T @ a / len(rows)), self.array(g[l].T @ g[l] / len(rows))))
        return result

    def blocks(self):
        """Of a chain for each layer: rows, columns with the biases as the last one, and where the numbers are in w."""
        for to, ((source, at),), biases in self.layers:
            m, k = self.nodes[to], self.nodes[source]
            yield m, k + 1, np.concatenate([at + np.arange(m * k).reshape(m, k), biases + np.arange(m)[:, None]], 1)
