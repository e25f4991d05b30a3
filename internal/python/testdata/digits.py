"""A convolutional network on digits: python3 digits.py [ROWS]. newtop owns its weights."""
import sys

import torch
from torch import nn

import newtop
from data import digits

torch.set_num_threads(1)
torch.manual_seed(newtop.seed())
model = nn.Sequential(nn.Conv2d(1, 8, 3), nn.Tanh(), nn.MaxPool2d(2), nn.Conv2d(8, 16, 2), nn.Tanh(), nn.Flatten(), nn.Linear(64, 10))
rows = int((sys.argv + ["600"])[1])

print("the convnet is there")
newtop.serve(model, nn.CrossEntropyLoss(), digits(rows, 1), eval=digits(rows // 4, 2))
print("the weights are %.6g long" % torch.cat([p.detach().flatten() for p in model.parameters()]).norm().item())
