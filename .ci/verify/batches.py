"""Methods that go through batches: torch.optim's where it has them, else the papers' formulas. Each is a generator that
yields the weights after every epoch, the inner solves (none) and rho."""
import math

import numpy as np
import torch


def batches(net, s, rng, growth=1):
    size = int(s["batch"] * growth)
    if size == 0 or size >= net.rows:
        return [list(range(net.rows))]
    order = rng.shuffled(net.rows)
    return [order[i:i + size] for i in range(0, net.rows, size)]


def rate(s, epochs, epoch, i, count):
    before, after = epoch + i / count, epoch + (i + 1) / count
    up, floor, end = s.get("warmup", 0), s.get("end-rate", 0), s.get("horizon", 0) or epochs
    if after < up:
        return s["rate"] * after / up
    if s["schedule"] == "constant":
        return s["rate"]
    x = 1 if before >= end else max(0, (before - up) / (end - up))
    left = 1 - x if s["schedule"] == "linear" else (1 + math.cos(math.pi * x)) / 2
    return s["rate"] * (floor + (1 - floor) * left)


def updates(net, w, s, rng, epochs, move):
    """Calls move(w, rows, rate) for each batch."""
    for epoch in range(epochs):
        parts = batches(net, s, rng)
        for i, rows in enumerate(parts):
            eta = rate(s, epochs, epoch, i, len(parts))
            w = net.rounded(move(w, rows, eta))
        yield w, "", None


def decayed(net, w, s, eta):
    return w * (1 - eta * s["weight-decay"] * net.is_weight)


def by_torch(make):
    def method(net, w, s, rng, epochs):
        single = net.dtype == torch.float32 and make == adam and 0 < s["batch"] < net.rows
        dtype = torch.float32 if single else torch.float64
        parts = [torch.nn.Parameter(torch.tensor(w[k], dtype=dtype)) for k in (net.is_weight, ~net.is_weight)]
        optimizer = make(parts, s)

        def move(w, rows, eta):
            g = net.grad(w, rows)
            for part, group, mask in zip(parts, optimizer.param_groups, (net.is_weight, ~net.is_weight)):
                part.data[:] = torch.tensor(w[mask])
                if not isinstance(optimizer, torch.optim.AdamW) and mask is net.is_weight:
                    part.data *= 1 - eta * s["weight-decay"]
                part.grad, group["lr"] = torch.tensor(g[mask], dtype=dtype), eta
            optimizer.step()
            w = w.copy()
            for part, mask in zip(parts, (net.is_weight, ~net.is_weight)):
                w[mask] = part.detach().double().numpy()
            return w
        return updates(net, w, s, rng, epochs, move)
    return method


def sgd(parts, s):
    return torch.optim.SGD([{"params": [p]} for p in parts], s["rate"])


def adagrad(parts, s):
    return torch.optim.Adagrad([{"params": [p]} for p in parts], s["rate"], eps=s["delta"])


def rmsprop(parts, s):
    return torch.optim.RMSprop([{"params": [p]} for p in parts], s["rate"], alpha=s["decay"], eps=s["epsilon"])


def adam(parts, s):
    return torch.optim.AdamW([{"params": [p], "weight_decay": d} for p, d in zip(parts, (s["weight-decay"], 0))],
                             s["rate"], (s["beta1"], s["beta2"]), s["epsilon"])


def ball(ahead):
    """Polyak 1964, and with the gradient ahead Sutskever et al. 2013, eq. 3 and 4. torch's momentum has the rate
    outside of v, which is the same while that is constant: there it must agree."""
    def method(net, w, s, rng, epochs):
        v, p = np.zeros(net.n), torch.nn.Parameter(torch.tensor(w))
        if s["schedule"] == "constant" and not ahead:
            other = torch.optim.SGD([p], s["rate"], momentum=s["momentum"])

        def move(w, rows, eta):
            nonlocal v
            g = net.grad(w + ahead * s["momentum"] * v, rows)
            v = s["momentum"] * v - eta * g
            if s["schedule"] == "constant" and not ahead:
                p.data, p.grad = torch.tensor(w), torch.tensor(g)
                other.step()
                assert np.abs(p.detach().numpy() - (w + v)).max() < 1e-14
            return decayed(net, w, s, eta) + v
        return updates(net, w, s, rng, epochs, move)
    return method


class Moments:
    """Adam's (Kingma & Ba 2015, algorithm 1)."""

    def __init__(self, shape, beta1, beta2, eps):
        self.m, self.v, self.t, self.b1, self.b2, self.eps = np.zeros(shape), np.zeros(shape), 0, beta1, beta2, eps

    def step(self, g, turned=lambda m: m):
        """The direction; m is kept of g, and v of its square as turned."""
        self.t += 1
        self.m = self.b1 * self.m + (1 - self.b1) * g
        self.v = self.b2 * self.v + (1 - self.b2) * turned(g) ** 2
        return turned(self.m) / (1 - self.b1**self.t) / (np.sqrt(self.v / (1 - self.b2**self.t)) + self.eps)


class Basis:
    """A factor's sum F, and its basis Q by descending curvature; a side longer than the bound has none, and Q = I."""

    def __init__(self, d, side):
        self.f, self.q, self.used = np.zeros((d, d)), np.eye(d), d <= side

    def add(self, outer, beta):
        self.f = beta * self.f + outer

    def decompose(self):
        if self.used:
            self.q = np.linalg.eigh(self.f)[1][:, ::-1]

    def turn(self):
        """Vyas et al. 2024, algorithm 4: one QR step, in the order of q'Fq. Vectors without curvature stay."""
        if not self.used:
            return np.arange(len(self.q))
        bend = np.einsum("ji,jk,ki->i", self.q, self.f, self.q)
        bend[bend <= len(bend) * 2.0**-52 * bend.max()] = 0
        order = np.argsort(-bend, kind="stable")
        fq = np.where(bend > 0, self.f @ self.q, self.q)
        self.q = np.linalg.qr(fq[:, order])[0]
        return order

    def root(self, damping, power):
        if not self.used:
            return self.q
        bend = np.maximum(0, np.einsum("ji,jk,ki->i", self.q, self.f, self.q))
        return self.q * (bend + damping * bend.max()) ** power @ self.q.T


def soap(net, w, s, rng, epochs):
    """Vyas et al. 2024, algorithm 3, as the paper has it: M in the weights' own basis."""
    works = [(at, Basis(m, s["side"]), Basis(n, s["side"]), Moments((m, n), s["beta1"], s["beta2"], s["epsilon"]))
             for m, n, at in net.blocks()]
    count = 0

    def move(w, rows, eta):
        nonlocal count
        g, count = net.grad(w, rows), count + 1
        w = decayed(net, w, s, eta)
        for at, left, right, moments in works:
            left.add(g[at] @ g[at].T, s["factor-decay"])
            right.add(g[at].T @ g[at], s["factor-decay"])
            if count == 1:  # makes the bases and moves nothing
                left.decompose()
                right.decompose()
                continue
            step = moments.step(g[at], lambda x: left.q.T @ x @ right.q)
            w[at] -= eta * left.q @ step @ right.q.T
            if count % s["every"] == 0:
                moments.v = moments.v[left.turn()][:, right.turn()]
        return w
    return updates(net, w, s, rng, epochs, move)


def shampoo(net, w, s, rng, epochs):
    """Gupta, Koren & Singer 2018, algorithm 1, with decay, momentum and Adam's length (Anil et al. 2020)."""
    works = [[at, Basis(m, s["side"]), Basis(n, s["side"]), Moments((m, n), s["beta1"], s["beta2"], s["epsilon"]),
              None, None] for m, n, at in net.blocks()]
    count = 0

    def move(w, rows, eta):
        nonlocal count
        g, count = net.grad(w, rows), count + 1
        w = decayed(net, w, s, eta)
        for work in works:
            at, left, right, moments = work[:4]
            left.add(g[at] @ g[at].T, s["factor-decay"])
            right.add(g[at].T @ g[at], s["factor-decay"])
            adam = moments.step(g[at])
            if count == 1 or count % s["every"] == 0:
                for basis in (left, right):
                    basis.decompose() if count == 1 else basis.turn()
                power = -0.25 if left.used and right.used else -0.5
                work[4:] = (b.root(s["damping"], power) for b in (left, right))
            step = work[4] @ moments.m @ work[5]
            w[at] -= eta * np.linalg.norm(adam) / np.linalg.norm(step) * step
        return w
    return updates(net, w, s, rng, epochs, move)


def orthogonal(x):
    """Five steps of Newton and Schulz (Jordan et al. 2024)."""
    x = x / np.linalg.norm(x)
    for _ in range(5):
        a = x @ x.T
        x = 3.4445 * x + (-4.7750 * a + 2.0315 * a @ a) @ x
    return x


def muon(net, w, s, rng, epochs):
    works = [(at[:, :-1], np.zeros((m, n - 1))) for m, n, at in net.blocks()]
    biases = Moments(net.n, 0.9, 0.999, 1e-8)

    def move(w, rows, eta):
        g = net.grad(w, rows)
        w = decayed(net, w, s, eta)
        for at, v in works:
            v *= s["momentum"]
            v += g[at]
            m, n = v.shape
            w[at] -= eta * math.sqrt(max(1, m / n)) * orthogonal(g[at] + s["momentum"] * v)
        return w - s["bias-rate"] * eta / s["rate"] * biases.step(g * ~net.is_weight)
    return updates(net, w, s, rng, epochs, move)


def check_muon():
    """torch.optim.Muon works in bfloat16: two digits of one step."""
    g = np.random.default_rng(1).normal(size=(6, 4))
    p = torch.nn.Parameter(torch.zeros(6, 4))
    p.grad = torch.tensor(g, dtype=torch.float32)
    torch.optim.Muon([p], lr=1.0, weight_decay=0, momentum=0.95, nesterov=True).step()
    ours = -math.sqrt(6 / 4) * orthogonal(g)
    assert np.abs(p.detach().numpy() - ours).max() < 0.03 * np.abs(ours).max()


class Factors:
    """K-FAC's matrix (Martens & Grosse 2015): running means of the factors, and their damped inverses."""

    def __init__(self, net, decay, power=-1, side=512):
        self.net, self.decay, self.power, self.side, self.count, self.means = net, decay, power, side, 0, None

    def update(self, w, rows, rng):
        mean = lambda f: f if len(f) <= self.side else np.trace(f) / len(f) * np.eye(len(f))
        fresh = [(mean(a), mean(s)) for a, s in self.net.factors(w, rows, rng)]
        self.count += 1
        keep = min(1 - 1 / self.count, self.decay)
        self.means = [(keep * a + (1 - keep) * fa, keep * s + (1 - keep) * fs)
                      for (a, s), (fa, fs) in zip(self.means or fresh, fresh)]

    def invert(self, gamma):
        self.inverses = []
        for a, s in self.means:
            pi = math.sqrt(np.trace(a) / len(a) / (np.trace(s) / len(s)))
            pair = a + pi * math.sqrt(gamma) * np.eye(len(a)), s + math.sqrt(gamma) / pi * np.eye(len(s))
            self.inverses.append([power(x, self.power) for x in pair])

    def solve(self, g):
        out = np.zeros_like(g)
        for (_, _, at), (a, s) in zip(self.net.blocks(), self.inverses):
            out[at] = s @ g[at] @ a
        return out


def power(x, p):
    values, q = np.linalg.eigh(x)
    return q * values**p @ q.T


def ratio(before, after, promised):
    eps = 10 * 2.0**-52 * max(1, abs(before))
    return (before - after + eps) / (promised + eps)


def share(rows, part):
    return rows[:max(1, int(part * len(rows)))]


def kfac(net, w, s, rng, epochs):
    factors, step, gamma = Factors(net, s["factor-decay"], side=s["side"]), np.zeros(net.n), s["damping"]
    for epoch in range(epochs):
        parts, rho = batches(net, s, rng), None
        for i, rows in enumerate(parts):
            eta, g = rate(s, epochs, epoch, i, len(parts)), net.grad(w, rows)
            w = decayed(net, w, s, eta)
            factors.update(w, share(rows, s["factor-share"]), rng)
            if factors.count <= 3 or factors.count % s["every"] == 0:
                factors.invert(gamma)
            delta = -factors.solve(g)
            if s["step"] == "rate":  # Ba, Grosse & Martens 2017, section 5
                step = s["momentum"] * step + eta * min(1, math.sqrt(s["clip"] / (-s["rate"]**2 * g @ delta))) * delta
                w = net.rounded(w + step)
                continue
            d = np.stack([delta, step]) if step.any() else delta[None]  # sections 6.4 and 7
            some = share(rows, s["product-share"])
            f = d @ (net.gauss_newton(w, some) + gamma * np.eye(net.n))
            best = -np.linalg.solve(d @ f.T, d @ g)
            promised, step = -0.5 * best @ (d @ g) * eta * (2 - eta), eta * best @ d
            adapts = s["adapt"] and factors.count % s["adapt"] == 0
            before = net.loss(w, rows) if adapts else None
            w = net.rounded(w + step)
            if adapts:  # section 6.5
                rho = ratio(before, net.loss(w, rows), promised)
                gamma *= (19 / 20) ** (s["adapt"] * (1 if rho > 0.75 else -1 if rho < 0.25 else 0))
        yield w, "", rho


METHODS = {"sgd": by_torch(sgd), "momentum": ball(0), "online-bp": ball(0), "adagrad": by_torch(adagrad),
           "rmsprop": by_torch(rmsprop), "adam": by_torch(adam), "nag": ball(1), "soap": soap, "shampoo": shampoo,
           "muon": muon, "kfac": kfac}
