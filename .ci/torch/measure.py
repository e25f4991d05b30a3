"""What products cost that are asked for through the socket, beside the same products called in PyTorch: ./run measure."""
import os
import sys
import time

sys.dont_write_bytecode = True
import numpy as np
import torch
from torch import nn

from driver import MODULE, Driver

sys.path.insert(0, MODULE)
import newtop

torch.set_num_threads(1)


def best(f, seconds):
    """The shortest and the middle time in seconds of some calls, after one."""
    f()
    times, end = [], time.perf_counter() + seconds
    while len(times) < 5 or time.perf_counter() < end:
        began = time.perf_counter()
        f()
        times.append(time.perf_counter() - began)
    return min(times), sorted(times)[len(times) // 2]


def direct(model, x, t, v):
    """Kept graphs of one's own: Hv, and the Gauss-Newton product with the closed form of the loss's Hessian."""
    params, grad = list(model.parameters()), torch.autograd.grad
    out = model(x)
    g = grad(nn.functional.cross_entropy(out, t), params, create_graph=True)
    u = torch.zeros_like(out, requires_grad=True)
    back = grad(out, params, u, create_graph=True)
    p = out.detach().softmax(1)

    def hv():
        return grad(g, params, v, retain_graph=True)

    def gnv():
        jv = grad(back, u, v, retain_graph=True)[0]
        return grad(out, params, p * (jv - (p * jv).sum(1, keepdim=True)) / len(t), retain_graph=True)

    return {"hv": hv, "gnv": gnv}


def built(size):
    widths = {"1e5": (256, 256, 128, 10), "1e7": (784, 3000, 2500, 10)}[size]
    torch.manual_seed(0)
    layers = []
    for a, b in zip(widths, widths[1:]):
        layers += [nn.Linear(a, b), nn.Tanh()]
    return nn.Sequential(*layers[:-1]), torch.randn(ROWS, widths[0]), torch.randint(10, (ROWS,))


def measure(size, mapped):
    model, x, t = built(size)
    d = Driver(mapped=mapped)
    process = d.start(__file__, size)
    d.meet()
    v = np.random.default_rng(0).normal(size=d.n).astype(np.float32)
    sizes = [p.numel() for p in model.parameters()]
    parts = [a.view(p.shape) for a, p in zip(torch.tensor(v).split(sizes), model.parameters())]
    for op, call in direct(model, x, t, parts).items():
        asked, plain = [], []
        for _ in range(3):  # in turns, as the machine's clock and its other users come and go
            asked.append(best(lambda: d.ask(op, v=v), 1))
            plain.append(best(call, 1))
        ms = min(d.ask(op, v=v)["ms"] for _ in range(5))
        (a, b), (p, q) = (tuple(map(min, zip(*times))) for times in (asked, plain))
        print(f"n = {d.n:>8}, {ROWS} rows, {'mapped' if mapped else 'bodies'}, {op:>3}: {a * 1e3:7.2f} ms asked for (the peer says {ms:7.2f}), {p * 1e3:7.2f} ms direct: "
              f"{100 * (a / p - 1):+5.1f} % by the shortest, {100 * (b / q - 1):+5.1f} % by the middle ones", flush=True)
    d.ask("stop")
    process.communicate()


ROWS = int(os.environ.get("ROWS", "256"))
if sys.argv[1:]:
    model, x, t = built(sys.argv[1])
    newtop.serve(model, nn.CrossEntropyLoss(), (x, t))
else:
    for size in "1e5", "1e7":
        for mapped in False, True:
            measure(size, mapped)
