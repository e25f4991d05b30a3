"""A physics-informed network for u_t = u_xx/10 on 0 ≤ x, t ≤ 1, where u is known at t = 0, x = 0 and x = 1."""
import math

import torch
from torch import nn

import newtop

torch.set_default_dtype(torch.float64)
torch.manual_seed(newtop.seed())
net = nn.Sequential(nn.Linear(2, 24), nn.Tanh(), nn.Linear(24, 24), nn.Tanh(), nn.Linear(24, 1))
true = lambda p: torch.exp(-0.1 * math.pi**2 * p[:, 1]) * torch.sin(math.pi * p[:, 0])
inside, edge = torch.rand(500, 2), torch.rand(150, 2)
edge[:50, 1], edge[50:100, 0], edge[100:, 0] = 0, 0, 1


def loss_fn(net, batch):
    p, edge = batch
    p = p.clone().requires_grad_(True)
    du, = torch.autograd.grad(net(p).sum(), p, create_graph=True)
    uxx = torch.autograd.grad(du[:, 0].sum(), p, create_graph=True)[0][:, 0]
    residuals = torch.cat([du[:, 1] - uxx / 10, net(edge)[:, 0] - true(edge)])
    return residuals.square().mean(), residuals            # with them there are Gauss-Newton products


newtop.serve(net, loss_fn, (inside, edge))
p = torch.rand(10000, 2)
with torch.no_grad():
    error = net(p)[:, 0] - true(p)
    print(f"error {error.norm() / true(p).norm():.1e}")
