"""Methods that solve or search: from the papers, with dense matrices where newtop has none. Each is a generator that
yields the weights after every epoch, its inner solves (iterations and the letter of the stop) and rho."""
import math

import numpy as np
from scipy.optimize import brentq
from scipy.optimize._dcsrch import DCSRCH

from batches import Factors, batches, rate, ratio, share

EPS = 2.0**-52


class Solve:
    """Steihaug and Toint's truncated CG as Mizutani & Demmel 2003, algorithm 1, has it, d = z + beta d in its step 9; M
    is a diagonal. With boundary=minimum a solve that leaves the region ends at the model's minimizer over the Krylov
    space (Gould et al. 1999), here by a dense basis and the eigenvalues of T. CG's own vectors lose their orthogonality
    after many iterations, so that references have few."""

    def __init__(self, mul, g, radius, xi, limit, boundary="segment", lanczos=0, m=None):
        self.mul, self.g, self.m = mul, g, np.ones_like(g) if m is None else m
        self.s, self.stop, self.count, self.space = self.cg(radius, xi, limit, boundary)
        self.h = None
        if boundary == "minimum" and self.stop in "BN":
            steps = 0
            while True:
                self.open(self.count)
                s, h, multiplier = self.minimum(radius)
                left = np.linalg.norm(g + mul(s) + multiplier * self.m * s)
                if steps >= lanczos or self.count >= limit or left <= xi * np.linalg.norm(g):
                    break
                steps, self.count = steps + 1, self.count + 1
            if self.promise(s) >= (1 - 1e-12) * self.promise(self.s):
                self.s, self.h = s, h

    def cg(self, radius, xi, limit, boundary):
        g, m = self.g, self.m
        s, r = np.zeros_like(g), -g
        z = d = r / m
        norm = lambda x: math.sqrt(x @ (m * x))
        for k in range(1, limit + 1):
            hd = self.mul(d)
            bend = d @ hd
            eta = r @ z / bend if bend > 0 else math.inf
            if bend <= 0 or norm(s + eta * d) >= radius:
                if boundary == "scaling" and bend > 0:
                    s = s + eta * d
                    return s * radius / norm(s), "B", k, None
                a, b, c = d @ (m * d), s @ (m * d), s @ (m * s) - radius**2
                return s + (-b + math.sqrt(b * b - a * c)) / a * d, "N" if bend <= 0 else "B", k, None
            s, last = s + eta * d, r @ z
            r = r - eta * hd
            if np.linalg.norm(r) <= xi * np.linalg.norm(g):
                return s, "R", k, None
            if k == limit:
                return s, "L", k, None
            z = r / m
            d = z + r @ z / last * d

    def open(self, k):
        """An M-orthonormal basis P of k vectors, and T = P'HP."""
        p = []
        for _ in range(k):
            v = self.g / self.m if not p else self.mul(p[-1]) / self.m
            for _ in range(2):
                for q in p:
                    v = v - q @ (self.m * v) * q
            p.append(v / math.sqrt(v @ (self.m * v)))
        self.p = np.array(p).T
        hp = np.array([self.mul(x) for x in self.p.T]).T
        self.t = (self.p.T @ hp + hp.T @ self.p) / 2

    def minimum(self, radius):
        values, q = np.linalg.eigh(self.t)
        c = q.T @ self.p.T @ -self.g
        h = lambda multiplier: c / (values + multiplier)
        multiplier = 0.0
        if values[0] <= 0 or np.linalg.norm(h(0)) > radius:
            low = max(0, -values[0])
            far = 2 * (np.linalg.norm(c) / radius + abs(values).max())
            near = low + 1e-14 * abs(values).max()
            if np.linalg.norm(h(near)) <= radius:  # only rounding is left of the multiplier
                return self.p @ (q @ h(near)), True, near
            multiplier = brentq(lambda x: 1 / np.linalg.norm(h(x)) - 1 / radius, near, far, xtol=1e-300, rtol=4 * EPS)
        return self.p @ (q @ h(multiplier)), True, multiplier

    def promise(self, s):
        return -(self.g @ s + s @ self.mul(s) / 2)

    def shorter(self, radius):
        """What the same solve finds in a smaller region."""
        if self.h is not None:
            return self.minimum(radius)[0]
        return self.cg(radius, 1e-300, len(self.g), "segment")[0]


def trust(product, jacobi=lambda s: False):
    def method(net, w, s, rng, epochs):
        rule = {k: s[k] for k in ("accept", "shrink-below", "shrink-by", "grow-above", "grow-by", "retries")}
        if s["rule"] == "textbook":  # Nocedal & Wright 2006, algorithm 4.1
            rule = {"accept": 1e-4, "shrink-below": 0.25, "shrink-by": 0.25, "grow-above": 0.75, "grow-by": 2,
                    "retries": 0}
        if s["boundary"] == "scaling":
            rule["retries"] = 0
        count, radius, pause, left = int(s["blocks"]), s["radius"], 0, 0
        factors = Factors(net, 0.95, -0.5) if s.get("preconditioner") == "kfac" else None
        seen = []

        def step(w, part, judge, before, radius):
            """One solve for the rows of a part at w, and shorter steps while they fail."""
            rows = list(range(net.rows))[part[0]::part[1]]
            g, curvature, m, back = net.grad(w, rows), product(net)(w, rows), None, lambda x: x
            mul = lambda d: curvature @ d
            length = np.linalg.norm(g)
            xi = min(0.5, math.sqrt(length)) if s["forcing"] == "sqrt" else s["block-xi"] if count > 1 else s["xi"]
            if jacobi(s):
                m = np.diag(net.gauss_newton(w, rows))
                m = np.maximum(m, s["floor"] * m.max())
            if factors:
                if not seen or seen[-1][1] != part or (seen[-1][0] != w).any():
                    factors.update(w, rows, rng)
                    factors.invert(s["damping"])
                    seen.append((w.copy(), part))
                back = factors.solve
                g, mul = back(g), lambda d: back(curvature @ back(d))
            solve = Solve(mul, g, radius, xi, int(s["limit"] or net.n), s["boundary"], int(s["lanczos"]), m)
            x, edge, shortened = solve.s, solve.stop in "BN", False
            long = radius if edge else math.sqrt(x @ (solve.m * x))
            longest = long
            while True:
                promised, trial = solve.promise(x), w + back(x)
                after = net.loss(trial, judge)
                rho = ratio(before, after, promised)
                taken = after <= before and rho > rule["accept"]
                fits = [r for i in range(1, int(rule["retries"]) + 1)
                        if (r := radius * rule["shrink-by"]**i) <= math.sqrt(rule["shrink-by"]) * long and r <= longest]
                if taken or not fits:
                    break
                long, shortened = max(fits), True
                x = solve.shorter(long)
            if not taken or rho < rule["shrink-below"]:
                radius = min(radius, rule["shrink-by"] * long)
            elif shortened:
                radius = min(radius, long)
            elif edge and rho > rule["grow-above"]:
                radius = max(radius, min(rule["grow-by"] * radius, s["radius-max"]))
            return trial if taken else w, after if taken else before, promised, rho, taken, radius, \
                f"{solve.count}{solve.stop}"

        loss = net.loss(w)
        for _ in range(epochs):
            if count == 1 or left > 0:
                w, loss, _, rho, taken, radius, inner = step(w, (0, 1), None, loss, radius)
                left = max(0, left - 1)
                w = net.rounded(w) if taken else w
                yield w, inner, rho
                continue
            at, start, promised, inners, moved, now = w, radius, 0, [], False, loss
            for i in range(count):
                judge = None if s["block-error"] == "all" else list(range(net.rows))[i::count]
                before = now if s["block-error"] == "all" else net.loss(at, judge)
                at, now, promise, _, taken, radius, inner = step(at, (i, count), judge, before, radius)
                inners.append(inner)
                moved, promised = moved or taken, promised + promise * taken
            after = net.loss(at)
            if moved and after < loss:
                rho, w, loss, pause = ratio(loss, after, promised), net.rounded(at), after, 0
            else:
                rho = ratio(loss, after, promised) if moved else None
                radius = start if moved else radius
                if s["block-error"] == "own":
                    pause = left = max(1, 2 * pause)
            yield w, " ".join(inners), rho
    return method


class Assembled:
    """The dense Gauss-Newton matrix in variables in which the scaling M is I."""

    def __init__(self, net, w, s):
        self.matrix, self.g = net.gauss_newton(w), net.grad(w)
        d = np.diag(self.matrix)
        self.root = np.sqrt(np.maximum(d, EPS * d.max())) if s["scaling"] == "diagonal" else np.ones_like(d)
        self.matrix, self.g = self.matrix / np.outer(self.root, self.root), self.g / self.root

    def newton(self, mu):
        return -np.linalg.solve(self.matrix + mu * np.eye(len(self.g)), self.g)

    def promise(self, x):
        return -(self.g @ x + x @ self.matrix @ x / 2)


def lm(net, w, s, rng, epochs):
    mu = s["mu"]
    for _ in range(epochs):
        a, before, taken = Assembled(net, w, s), net.loss(w), False
        while not taken:
            x = a.newton(mu)
            after = net.loss(w + x / a.root)
            rho = ratio(before, after, a.promise(x))
            taken = after <= before and rho > s["accept"]
            mu = max(mu / s["decrease"], min(mu, s["mu-min"])) if taken else mu * s["increase"]
        w = net.rounded(w + x / a.root)
        yield w, "", rho


def dogleg(net, w, s, rng, epochs):
    radius = s["radius"]
    for _ in range(epochs):
        a, before, taken = Assembled(net, w, s), net.loss(w), False
        cauchy = -(a.g @ a.g) / (a.g @ a.matrix @ a.g) * a.g
        ridge, bound = 0, s["condition-max"]
        while True:
            damped = ridge * np.diag(a.matrix).max()
            condition = np.linalg.cond(a.matrix + damped * np.eye(net.n), 1)
            assert not bound / 1.5 < condition < bound * 1.5, condition  # which an estimate might see on the other side
            if condition < bound:
                break
            ridge = max(10 * ridge, math.sqrt(net.n) / bound)
        newton = a.newton(damped)
        while not taken:
            if np.linalg.norm(cauchy) >= radius:
                x = radius * cauchy / np.linalg.norm(cauchy)
            elif np.linalg.norm(newton) <= radius:
                x = newton
            else:
                p = newton - cauchy
                b, c = cauchy @ p, cauchy @ cauchy - radius**2
                x = cauchy + (-b + math.sqrt(b * b - p @ p * c)) / (p @ p) * p
            long = np.linalg.norm(x)
            after = net.loss(w + x / a.root)
            rho = ratio(before, after, a.promise(x))
            taken = after <= before and rho > s["accept"]
            if not taken or rho < s["shrink-below"]:
                radius = min(radius, s["shrink-by"] * long)
            elif long >= radius * (1 - 1e-9) and rho > s["grow-above"]:
                radius = max(radius, min(s["grow-by"] * radius, s["radius-max"]))
        w = net.rounded(w + x / a.root)
        yield w, "", rho


def scg(product):
    def method(net, w, s, rng, epochs):
        """Moller 1993 (Neural Networks 6), steps 1 to 9; with form=guarded what docs and scg.go say beside."""
        lam, r = s["lambda"], -net.grad(w)
        p, known, before = r, False, net.loss(w)
        for _ in range(epochs):
            size = p @ p
            if not known:
                delta, bar = p @ product(net, s, w, p, -r), 0
            delta += (lam - bar) * size
            if delta <= 0:
                bar = 2 * (lam - delta / size)
                delta, lam = -delta + lam * size, bar
            bar, mu = lam, p @ r
            alpha = mu / delta
            after = net.loss(w + alpha * p)
            promised = alpha * mu / 2
            rho = ratio(before, after, promised) if s["form"] == "guarded" else (before - after) / promised
            comparison = max(rho, -98) if s["form"] == "guarded" else rho
            known = comparison < 0 or after > before
            if comparison < 0.25:
                lam += delta * (1 - comparison) / size
            if not known:
                if comparison >= 0.75:
                    lam /= 4
                w = net.rounded(w + alpha * p)
                new, before = -net.grad(w), after
                p, r = new + (new @ new - new @ r) / mu * p, new
            yield w, "", rho
    return method


def exact(net, s, w, p, g):
    return net.hv(w, p)


def differences(net, s, w, p, g):
    step = s["sigma"] / np.linalg.norm(p)
    return (net.grad(w + step * p) - g) / step


def lbfgs(net, w, s, rng, epochs):
    """Nocedal & Wright 2006, algorithm 7.4, and SciPy's search of More & Thuente 1994."""
    pairs, g, first = [], net.grad(w), True
    for _ in range(epochs):
        q, alphas = g.copy(), []
        for a, b in reversed(pairs):
            alphas.append(a @ q / (a @ b))
            q -= alphas[-1] * b
        if pairs:
            a, b = pairs[-1]
            q *= a @ b / (b @ b)
        for (a, b), alpha in zip(pairs, reversed(alphas)):
            q += (alpha - b @ q / (a @ b)) * a
        d = -q
        search = DCSRCH(lambda x: net.loss(w + x * d), lambda x: net.grad(w + x * d) @ d, s["decrease"], s["curvature"],
                        1e-10, 0, 1e20)
        alpha = search(1 / np.linalg.norm(d) if first else 1.0, phi0=net.loss(w), derphi0=g @ d)[0]
        new, first = net.rounded(w + alpha * d), False
        after = net.grad(new)
        pairs = (pairs + [(new - w, after - g)])[-int(s["memory"]):]
        w, g = new, after
        yield w, "", None


def eigen_gd(net, w, s, rng, epochs):
    """Moller 1993, eq. 18 with each component weighted by lambda_{k+1}/lambda_i, by all of H's eigenvectors."""
    age, last, before = None, None, None
    for _ in range(epochs):
        loss, g = net.loss(w), net.grad(w)
        if age is None or age >= s["every"] or age > 0 and loss > before:
            values, vectors = np.linalg.eigh(net.hessian(w))
            values, vectors, age = values[::-1], vectors[:, ::-1], 0
            count = int(min(s["k"], (values > 0).sum() - 1))
            above = max(values[count], -values[-1])
            count = min(count, int((values > above).sum())) if above > values[count] else count
        d = -g + sum((1 - above / values[i]) * (vectors[:, i] @ g) * vectors[:, i] for i in range(count))
        w, before, age = net.rounded(w + s["relative-rate"] / above * d), loss, age + 1
        yield w, "", None


def hessian_free(net, w, s, rng, epochs):
    """Martens 2010, algorithm 2, on samples (Byrd et al. 2011)."""
    lam, last, factors = s["damping"], np.zeros(net.n), Factors(net, 0.95)
    for epoch in range(epochs):
        parts, inner = batches(net, s, rng, s["growth"]**epoch), []
        for i, rows in enumerate(parts):
            eta, g, before = rate(s, epochs, epoch, i, len(parts)), net.grad(w, rows), net.loss(w, rows)
            some = share(rows, s["curvature-share"])
            curvature = net.gauss_newton(w, some) + lam * np.eye(net.n)
            mul = lambda d: curvature @ d
            inverse = lambda r: r
            if s["preconditioner"] == "diagonal":
                m = (net.squares(w, some) + lam) ** 0.75
                inverse = lambda r: r / m
            if s["preconditioner"] == "kfac":
                factors.update(w, share(some, 0.5), rng)
                if factors.count <= 3 or factors.count % 5 == 0:
                    factors.invert(lam)
                inverse = factors.solve
            start = s["warm-start"] * last
            r = -g - (mul(start) if start.any() else 0)
            watched = s["stop"] == "progress"  # Martens 2010, section 4.4
            goal, x, path, kept = 0 if watched else s["xi"] * np.linalg.norm(r), start, [], 1
            q = [g @ x + x @ mul(x) / 2]
            z = d = inverse(r)
            for k in range(1, int(s["iterations"]) + 1):
                hd = mul(d)
                step, tau = r @ z / (d @ hd), r @ z
                x, r = x + step * d, r - step * hd
                if k >= kept:
                    path, kept = path + [x], max(math.ceil(kept * 1.3), kept + 1)
                q.append(g @ x + x @ mul(x) / 2)
                back = max(10, k // 10)
                stands = watched and k > back and q[k] < 0 and (q[k] - q[k - back]) / q[k] < back * 0.0005
                if stands or np.linalg.norm(r) <= goal:
                    break
                z = inverse(r)
                d = z + r @ z / tau * d
            inner.append(f"{k}{'P' if stands else 'R' if np.linalg.norm(r) <= goal else 'L'}")
            promised, after, last = -q[-1], net.loss(w + x, rows), x
            rho = ratio(before, after, promised)
            if rho < 0.25:
                for y in reversed(path):
                    if (y != x).any():
                        shorter = net.loss(w + y, rows)
                        if shorter >= after:
                            break
                        x, after = y, shorter
            if s["adapt"] == "yes":
                lam *= 2 / 3 if rho > 0.75 else 3 / 2 if rho < 0.25 else 1
            if after < before:
                w = net.rounded(w + eta * x)
            else:
                last = np.zeros(net.n)
        yield w, " ".join(inner), rho


ACTS = {"tanh": (np.tanh, lambda u, k: np.clip(u, k - 1, 1 - k), np.arctanh), "identity": (lambda v: v, lambda u, k: u,
        lambda u: u), "sigmoid": (lambda v: 1 / (1 + np.exp(-v)), lambda u, k: np.clip(u, k, 1 - k),
                                  lambda u: np.log(u / (1 - u)))}


def clip_softmax(u, k):
    u = np.clip(u, k, 1)
    return u / u.sum(1, keepdims=True)


def softmax(v):
    e = np.exp(v - v.max(1, keepdims=True))
    return e / e.sum(1, keepdims=True)


ACTS["softmax"] = (softmax, clip_softmax, lambda u: np.log(u) - np.log(u).mean(1, keepdims=True))


def bpls(net, w, s, rng, epochs):
    """Tomic et al. 2024, algorithms 1 and 2, line 18 read as "while mu falls"."""
    x, t = np.array(net.p["x"]), np.array(net.p["t"])
    acts = [ACTS[a] for a in net.p["activations"]]
    second = s["algorithm"] == 2 or s["algorithm"] == "auto" and net.p["activations"][-1] == "softmax"
    blocks = list(net.blocks())

    def least(a, b):
        """The weights, biases last, that make b of a best, with the ridge."""
        mean, to = a.mean(0), b.mean(0)
        a, b = a - mean, b - to
        ridge = s["ridge-2" if second else "ridge-1"] * np.square(a).sum(0).max()
        if ridge > 0:
            n = a.shape[1]
            a, b = np.vstack([a, math.sqrt(ridge) * np.eye(n)]), np.vstack([b, np.zeros((n, b.shape[1]))])
        weights = np.linalg.lstsq(a, b, rcond=None)[0].T
        return np.column_stack([weights, to - weights @ mean])

    def outputs(w, x):
        n = [x]
        for (_, _, at), act in zip(blocks, acts):
            n.append(act[0](n[-1] @ w[at][:, :-1].T + w[at][:, -1]))
        return n

    def solve(w, x, t):
        n, new = outputs(w, x), w.copy()
        b = acts[-1][2](acts[-1][1](t, s["clip"]))
        for l in range(len(blocks) - 1, -1, -1):
            a, at = n[l], blocks[l][2]
            new[at] = least(a, b)
            if l == 0:
                return new
            weights = new[at][:, :-1]
            r = b - a @ weights.T - new[at][:, -1]
            c = weights / np.square(weights).sum(0)
            if s["target"] == "damped":
                c = c / weights.shape[1]
            if s["target"] == "minimum-norm":
                c = np.linalg.pinv(weights, rcond=math.sqrt(EPS)).T
            if s["target"] == "none":
                return new
            wanted = acts[l - 1][1](a + r @ c, s["clip"])
            if second:
                new[at] = least(wanted, b)
            b = acts[l - 1][2](wanted)

    missed = lambda w: np.flatnonzero(outputs(w, x)[-1].argmax(1) != t.argmax(1))
    for epoch in range(epochs):
        if epoch == 0:
            if s["start"] == "random":
                w = np.array([s["range"] * (2 * rng.uniform() - 1) for _ in w])
            w = solve(net.rounded(w), x, t)
        else:
            rows = missed(w)
            part = len(rows) / len(x)
            w = (1 - part) * w + part * solve(w, x[rows], t[rows])
            assert len(missed(w)) < len(rows)
        w = net.rounded(w)
        yield w, "", None


newton, gauss_newton = (lambda net: net.hessian), (lambda net: net.gauss_newton)
METHODS = {
    "tr-newton": trust(newton, lambda s: s["preconditioner"] == "jacobi"), "tr-gn": trust(gauss_newton),
    "tr-rows": trust(gauss_newton), "tr-gn-jacobi": trust(gauss_newton, lambda s: True), "lm": lm, "dogleg": dogleg,
    "scg": scg(exact), "scg-fd": scg(differences), "lbfgs": lbfgs, "eigen-gd": eigen_gd, "hessian-free": hessian_free,
    "bpls": bpls}


def cases(case, numbers, classes, schedule):
    region = ("radius=0.5 radius-max=1000 xi=0.05 forcing=fixed limit=7 boundary=minimum lanczos=0 blocks=1 "
              "block-xi=0.1 block-error=own rule=tuned accept=0.0001 retries=6 shrink-below=0.25 shrink-by=0.5 "
              "grow-above=0.5 grow-by=2 ")
    for name in numbers, classes:
        for method, own, curvature in (("tr-newton", "preconditioner=none floor=0.001 ", "hessian"),
                                       ("tr-gn", "preconditioner=none damping=0.001 ", "gauss-newton"),
                                       ("tr-rows", "", "gauss-newton"),
                                       ("tr-gn-jacobi", "floor=0.001 ", "gauss-newton")):
            yield case(method, "minimum over the Krylov space", name, 4, region + own, curvature)
            yield case(method, "3 Lanczos steps", name, 4, region + own + "lanczos=3", curvature)
            yield case(method, "segment, textbook rule", name, 4,
                       region + own + "boundary=segment rule=textbook forcing=sqrt radius=2", curvature)
            yield case(method, "scaling", name, 3, region + own + "boundary=scaling", curvature)
            yield case(method, "3 blocks", name, 3, region + own + "blocks=3", curvature)
            yield case(method, "3 blocks, all rows' error", name, 3, region + own + "blocks=3 block-error=all",
                       curvature)
            yield case(method, "too large a radius", name, 3, region + own + "radius=20", curvature)
        yield case("tr-newton", "jacobi", name, 4, region + "preconditioner=jacobi floor=0.01", "hessian")
        yield case("tr-gn", "K-FAC as preconditioner", name, 3, region + "preconditioner=kfac damping=0.01",
                   "gauss-newton")
        mu = "mu=0.1 decrease=4 increase=10 mu-min=1e-20 mu-max=1e10 accept=0.0001 "
        dog = "radius=1 radius-max=1000 accept=0.0001 shrink-below=0.25 shrink-by=0.25 grow-above=0.75 grow-by=2 "
        for scaling in "none", "diagonal":
            yield case("lm", f"scaling={scaling}", name, 4, mu + f"scaling={scaling}", "gauss-newton")
            for problem, bound, what in (name, "1e3", "a ridge"), ("tiny " + name, "1e9", "no ridge"):
                yield case("dogleg", f"scaling={scaling}, {what}", problem, 4,
                           dog + f"scaling={scaling} condition-max={bound}", "gauss-newton")
        for form in "guarded", "published":
            yield case("scg", form, name, 6, f"lambda=1e-6 form={form}", "hessian")
            yield case("scg-fd", form, name, 6, f"lambda=1e-6 sigma=0.01 form={form}")
        yield case("lbfgs", "Wolfe 0.9", name, 6, "memory=3 decrease=0.0001 curvature=0.9")
        yield case("lbfgs", "an exact search", name, 5, "memory=3 decrease=0.0001 curvature=0.01")
        free = schedule + ("rate=1 damping=0.1 xi=0.01 batch=12 growth=1 curvature-share=0.5 iterations=5 "
                           "warm-start=0.5 stop=residual ")
        for preconditioner in "none", "diagonal", "kfac":
            yield case("hessian-free", preconditioner, name, 3, free + f"adapt=yes preconditioner={preconditioner}",
                       "gauss-newton")
        # As many iterations as there are weights raise the rounding of products 10^5 times: that of float32 is no small error then.
        for stop, precisions in ("residual", ["float64", "float32"]), ("progress", ["float64"]):
            yield case("hessian-free", f"stop={stop}", name, 2, free + f"adapt=yes preconditioner=none stop={stop} xi=0.2 iterations=100",
                       "gauss-newton", precisions)
        yield case("hessian-free", "growing batches, fixed damping", name, 2,
                   free + "adapt=no preconditioner=none growth=1.5 rate=0.7 end-rate=0.1 " +
                   ("schedule=linear" if name == numbers else "schedule=cosine"), "gauss-newton")
    for name in "tiny numbers", "tiny classes":
        yield case("eigen-gd", "all eigenvectors", name, 4, "relative-rate=1 k=11 every=2 steps=0", "hessian")
    plain = "start=random range=1 clip=0.01 solver=cholesky tau-max=100 "
    first, second = plain + "ridge-1=0.001 ridge-2=0 ", plain + "ridge-1=0 ridge-2=0.01 "
    for solver in "cholesky", "qr":
        for target, steps in ("printed", 2), ("damped", 1), ("minimum-norm", 2), ("none", 1):
            what = f"target={target} solver={solver}"
            yield case("bpls", "algorithm=1 " + what, numbers, 1, first + "algorithm=1 " + what, precisions=["float64"])
            yield case("bpls", "algorithm=2 " + what, classes, steps, second + "algorithm=2 " + what,
                       precisions=["float64"])
    keep = "algorithm=auto start=keep target=minimum-norm"
    yield case("bpls", "algorithm=auto start=keep", numbers, 1, first + keep, precisions=["float64"])
    yield case("bpls", "algorithm=auto start=keep", classes, 1, second + keep, precisions=["float64"])
