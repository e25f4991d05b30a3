"""A training loop of its own, which newtop looks into: python3 loop.py [STEPS [EVERY]]. It prints its losses to all digits."""
import sys

import torch
from torch import nn

import newtop
from data import digits

torch.set_num_threads(1)
torch.manual_seed(newtop.seed())
steps, every = map(int, (sys.argv[1:] + ["60", "20"][len(sys.argv) - 1 :])[:2])
x, t = digits(512, 1)
model = nn.Sequential(
    nn.Conv2d(1, 8, 3), nn.BatchNorm2d(8), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(), nn.Dropout(0.2), nn.Linear(72, 32), nn.GELU(), nn.Linear(32, 10)
)
optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
probe = newtop.probe(model, nn.functional.cross_entropy, (x[:128], t[:128]), every=every, optimizer=optimizer)
for step in range(1, steps + 1):
    rows = torch.randint(512, (64,))
    loss = nn.functional.cross_entropy(model(x[rows]), t[rows])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    probe.step(loss)
    print(step, "%.17g" % loss.item())
