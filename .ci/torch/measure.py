"""A network whose products newtop asks for, and which it computes by itself too when an event says so: measure.py SIZE. ROWS rows."""
import json
import os
import sys
import time

import torch
from torch import nn

import newtop

torch.set_num_threads(1)
ROWS = int(os.environ.get("ROWS", "256"))
widths = {"1e5": (256, 256, 128, 10), "1e7": (784, 3000, 2500, 10)}[sys.argv[1]]
torch.manual_seed(0)
layers = []
for a, b in zip(widths, widths[1:]):
    layers += [nn.Linear(a, b), nn.Tanh()]
model, x, t = nn.Sequential(*layers[:-1]), torch.randn(ROWS, widths[0]), torch.randint(10, (ROWS,))
params, grad = list(model.parameters()), torch.autograd.grad
v = [torch.randn(p.shape) for p in params]
out = model(x)
loss = nn.functional.cross_entropy(out, t)
g, slope = grad(loss, params, create_graph=True), grad(loss, out, create_graph=True)[0]
u = torch.zeros_like(out, requires_grad=True)
back = grad(out, params, u, create_graph=True)


def hv():
    """On a kept graph of one's own."""
    return grad(g, params, v, retain_graph=True)


def gnv():
    """The same."""
    jv = grad(back, u, v, retain_graph=True)[0]
    return grad(out, params, grad(slope, out, jv, retain_graph=True), retain_graph=True)


def direct(event):
    """Print how many milliseconds each of so many products took."""
    times = []
    for _ in range(event["count"]):
        began = time.perf_counter()
        {"hv": hv, "gnv": gnv}[event["op"]]()
        times.append((time.perf_counter() - began) * 1e3)
    print(json.dumps(times), flush=True)


newtop.serve(model, nn.CrossEntropyLoss(), (x, t), on_event=direct)
