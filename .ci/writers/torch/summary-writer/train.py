# torch's SummaryWriter: scalars, several of a name (a folder each), hyperparameters, histograms, text, own steps.
import json
import math

import torch
from torch.utils.tensorboard import SummaryWriter

torch.manual_seed(0)
x = torch.randn(64, 4)
y = x @ torch.tensor([1.0, -2.0, 0.5, 0.0])
w = torch.zeros(4, requires_grad=True)
writer = SummaryWriter("log")
writer.add_text("note", "step 5 loss 3")
runs = []
for step in range(30):
    loss = ((x @ w - y) ** 2).mean()
    (gradient,) = torch.autograd.grad(loss, w)
    with torch.no_grad():
        w -= 0.1 * gradient
    error = (x @ w - y).abs().detach()
    writer.add_scalar("Loss/train", loss, step)
    writer.add_scalar("gradient", gradient.norm().item(), step, new_style=True)
    runs += [("Loss/train", step, loss.item()), ("gradient", step, gradient.norm().item())]
    if step % 10 == 9:
        writer.add_scalar("Loss/validation", error.square().mean(), step // 10)
        writer.add_scalar("odd", math.nan if step == 9 else math.inf, step)
        writer.add_histogram("weights", w, step)
        writer.add_scalars("error", {"mean": error.mean(), "worst": error.max()}, step)
        value = None if step == 9 else "inf"
        runs += [("Loss/validation", step // 10, error.square().mean().item()), ("odd", step, value)]
        runs.append(("error_mean/error", step, error.mean().item()))
        runs.append(("error_worst/error", step, error.max().item()))
writer.close()
json.dump({"log": runs}, open("truth.json", "w"))
