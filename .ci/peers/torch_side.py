"""PyTorch's side: autograd, passes by hand, and either compiled; Adam fused, by hand on one flat vector, and a whole step
compiled. Usage: torch_side.py FOLDER float32|float64 THREADS plain|compiled, or module|hand SEED for a whole training"""
import sys
import numpy as np, torch
from torch import addmm, mm
from side import Problem, answer, largest, whole

folder, dtype, threads, compiled = sys.argv[1], sys.argv[2], int(sys.argv[3]), "compiled" in sys.argv
torch.set_num_threads(threads)
torch._dynamo.config.recompile_limit = 99
torch._dynamo.config.automatic_dynamic_shapes = False
p = Problem(folder, dtype)
L, rows = p.layers, p.rows
x, t, w, v = (torch.from_numpy(a) for a in (p.x, p.t, p.w, p.v))
labels = t.argmax(1)
functional = torch.nn.functional
flat = lambda layers: torch.cat([part.reshape(-1) for layer in layers for part in layer])
compile = lambda f: torch.compile(f, dynamic=False) if compiled else f


def head(z, t, labels):
    return functional.cross_entropy(z, labels) if p.loss == "cross" else ((z - t) ** 2).sum() / (2 * len(z))


def network(layers, h):
    for l, (W, b) in enumerate(layers):
        h = functional.linear(h, W, b)
        h = torch.tanh(h) if p.bends(l) else h
    return h


def outputs(layers, h):
    h = network(layers, h)
    return torch.softmax(h, 1) if p.loss == "cross" else h


# Passes by hand: u of every layer, δ, and for products f' and f″ of what is kept.
def gradient(layers, x, t):
    u = [x]
    for l, (W, b) in enumerate(layers):
        z = addmm(b, u[l], W.T)
        u.append(torch.tanh(z) if p.bends(l) else torch.softmax(z, 1) if p.loss == "cross" else z)
    d = (u[-1] - t) / len(x)
    d = d * (1 - u[-1] * u[-1]) if p.loss == "squared" else d
    delta, g = [None] * L, [None] * L
    for l in reversed(range(L)):
        delta[l], g[l] = d, (mm(d.T, u[l]), d.sum(0))
        if l:
            d = mm(d, layers[l][0]) * (1 - u[l] * u[l])
    return g, u, delta


def keep(layers, x, t):
    _, u, delta = gradient(layers, x, t)
    slope, bend = [None] * L, [None] * L
    for l in range(L):
        if p.bends(l):
            slope[l] = 1 - u[l + 1] ** 2
            e = mm(delta[l + 1], layers[l + 1][0]) if l < L - 1 else (u[-1] - t) / len(x)
            bend[l] = -2 * u[l + 1] * slope[l] * e
    return u, delta, slope, bend


def product(layers, directions, kept, exact):
    u, delta, slope, bend = kept
    ru, rz = [None] * (L + 1), [None] * L
    for l, (V, c) in enumerate(directions):
        z = addmm(c, u[l], V.T)
        rz[l] = z.addmm_(ru[l], layers[l][0].T) if l else z
        ru[l + 1] = rz[l] * slope[l] if p.bends(l) else rz[l]
    n = len(u[0])
    if p.loss == "cross":
        s = u[-1] * rz[-1]
        d = (s - u[-1] * s.sum(1, keepdim=True)) / n
    elif p.loss == "linear":
        d = rz[-1] / n
    else:
        d = slope[-1] * ru[-1] / n
        d = d + bend[-1] * rz[-1] if exact else d
    out = [None] * L
    for l in reversed(range(L)):
        W = mm(d.T, u[l])
        if exact and l:
            W.addmm_(delta[l].T, ru[l])
        out[l] = (W, d.sum(0))
        if l:
            e = mm(d, layers[l][0])
            if exact:
                e.addmm_(delta[l], directions[l][0])
            d = e * slope[l - 1]
            d = d + bend[l - 1] * rz[l - 1] if exact else d
    return out


W, V = p.split(w), p.split(v)
B1, B2, EPS = .9, p.beta2, 1e-8
generator = torch.Generator().manual_seed(int((sys.argv[5:] or [0])[0]))


def module_step():
    """An nn.Sequential with fused Adam."""
    layers = [m for l, (i, n) in enumerate(zip(p.nodes, p.nodes[1:])) for m in [torch.nn.Linear(i, n, dtype=x.dtype)] + [torch.nn.Tanh()] * p.bends(l)]
    net = torch.nn.Sequential(*layers)
    with torch.no_grad():
        for to, of in zip(net.parameters(), [part for layer in W for part in layer]):
            to.copy_(of)
    adam, count = torch.optim.AdamW(net.parameters(), p.start, (B1, B2), EPS, p.decay, fused=True), [0]

    def step(x, t, labels):
        adam.param_groups[0]["lr"] = p.rate(count[0])
        count[0] += 1
        adam.zero_grad()
        head(net(x), t, labels).backward()
        adam.step()
    return step, lambda: torch.cat([q.detach().reshape(-1) for q in net.parameters()])


def flat_step():
    """Passes by hand into one flat gradient, and the fused kernel of Adam once."""
    own, g, m, s, count, taken = w.clone(), torch.zeros_like(w), torch.zeros_like(w), torch.zeros_like(w), torch.zeros(()), [0]
    layers, to = p.split(own), p.split(g)

    def step(x, t, labels):
        u = [x]
        for l, (W, b) in enumerate(layers):
            z = addmm(b, u[l], W.T)
            u.append(z.tanh_() if p.bends(l) else torch.softmax(z, 1) if p.loss == "cross" else z)
        d = (u[-1] - t) / len(x)
        d = d * (1 - u[-1] * u[-1]) if p.loss == "squared" else d
        for l in reversed(range(L)):
            mm(d.T, u[l], out=to[l][0])
            torch.sum(d, 0, out=to[l][1])
            if l:
                d = mm(d, layers[l][0]).mul_(1 - u[l] * u[l])
        count.add_(1)
        torch._fused_adamw_([own], [g], [m], [s], [], [count], lr=p.rate(taken[0]), beta1=B1, beta2=B2, weight_decay=p.decay, eps=EPS, amsgrad=False,
                            maximize=False)
        taken[0] += 1
    return step, lambda: own


def compiled_step():
    """Passes by hand and Adam in one compiled function."""
    own = [[part.clone() for part in layer] for layer in W]
    m, s = ([[torch.zeros_like(part) for part in layer] for layer in W] for _ in range(2))
    powers, factors = [1., 1.], torch.ones(2, dtype=x.dtype)

    def whole(own, m, s, factors, x, t):
        g = gradient(own, x, t)[0]
        for parts in zip(own, m, s, g):
            for a, b, c, d in zip(*parts):
                b.mul_(B1).add_(d, alpha=1 - B1)
                c.mul_(B2).addcmul_(d, d, value=1 - B2)
                a.sub_(p.start * (b * factors[0]) / (torch.sqrt(c * factors[1]) + EPS))
    call = torch.compile(whole, dynamic=False)

    def step(x, t, labels):
        powers[0] *= B1
        powers[1] *= B2
        factors[0], factors[1] = 1 / (1 - powers[0]), 1 / (1 - powers[1])
        call(own, m, s, factors, x, t)
    return step, lambda: flat(own)



if sys.argv[4] in ("module", "hand"):
    step, weights = {"module": module_step, "hand": flat_step}[sys.argv[4]]()
    test, classes = p.held_out()
    test = torch.from_numpy(test)

    def epoch():
        order = torch.randperm(rows, generator=generator)
        for part in zip(*(a[order].split(p.batches[0]) for a in (x, t, labels))):
            step(*part)
    if sys.argv[4] == "hand":
        epoch = torch.no_grad()(epoch)
    whole(p.most, epoch, torch.no_grad()(lambda: outputs(p.split(weights()), test)), classes)
works = {}
hand = "hand-compiled" if compiled else "hand"


def add(name, kind, run, out=None, units=1):
    def quiet(f):
        def call():
            with torch.no_grad():
                return f()
        return call
    out = out or (lambda: flat(run()))
    if kind not in ("autograd", "module"):
        run, out = quiet(run), quiet(out)
    works[f"{name}:{kind}@{threads}"] = (run, out, units)


gradient_only = compile(lambda layers, x, t: gradient(layers, x, t)[0])
add("gradient", hand, lambda: gradient_only(W, x, t))
kept = keep(W, x, t)
exact, gauss_newton = compile(lambda *a: product(*a, True)), compile(lambda *a: product(*a, False))
add("hv-kept", hand, lambda: exact(W, V, kept))
add("gn-kept", hand, lambda: gauss_newton(W, V, kept))
hv, gn = compile(lambda W, V, x, t: product(W, V, keep(W, x, t), True)), compile(lambda W, V, x, t: product(W, V, keep(W, x, t), False))
add("hv", hand, lambda: hv(W, V, x, t))
add("gn", hand, lambda: gn(W, V, x, t))
predict = compile(outputs)
add("predict", "compiled" if compiled else "eager", lambda: predict(W, x), lambda: predict(W, x))
if not compiled:
    needs = [(a.clone().requires_grad_(), b.clone().requires_grad_()) for a, b in W]
    all_parts, directions = [part for layer in needs for part in layer], [part for layer in V for part in layer]
    pairs = lambda parts: list(zip(parts[::2], parts[1::2]))
    grad = lambda graph: torch.autograd.grad(head(network(needs, x), t, labels), all_parts, create_graph=graph)
    add("gradient", "autograd", lambda: pairs(grad(False)))
    graph = grad(True)
    add("hv-kept", "autograd", lambda: pairs(torch.autograd.grad(graph, all_parts, directions, retain_graph=True)))
    add("hv", "autograd", lambda: pairs(torch.autograd.grad(grad(True), all_parts, directions)))
    count, double = [0], lambda a: torch.from_numpy(np.ascontiguousarray(a)).to(x.dtype)
    add("eigenvalues", "hand", largest(p, lambda: keep(W, x, t), lambda k, a: flat(product(W, p.split(double(a)), k, True)).numpy(), count))
    works[f"eigenvalues:hand@{threads}"] = (works[f"eigenvalues:hand@{threads}"][0],) * 2 + (1,)

for batch in p.batches:
    for kind, make in [("compiled", compiled_step)] if compiled else [("module", module_step), ("hand", flat_step)]:
        step, _ = make()

        def run(step=step, batch=batch):
            order = torch.randperm(rows, generator=generator)[:batch * p.steps(batch)]
            for part in zip(x[order].split(batch), t[order].split(batch), labels[order].split(batch)):
                step(*part)

        def out(make=make, batch=batch):
            step, weights = make()
            for _ in range(3):
                step(x[:batch].clone(), t[:batch].clone(), labels[:batch].clone())
            return weights()
        add(f"adam-{batch}", kind, run, out, p.steps(batch))
answer(works)
