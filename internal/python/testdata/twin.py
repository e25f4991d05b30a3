"""The network, data and weights of a file, in float64: python3 twin.py FILE. Layers are joined by tanh, and the loss is cross-entropy."""
import json
import sys

import torch
from torch import nn

import newtop

torch.set_num_threads(1)
torch.set_default_dtype(torch.float64)
told = json.load(open(sys.argv[1], encoding="utf-8"))
layers = []
for weight, bias in told["layers"]:
    layer = nn.Linear(len(weight[0]), len(weight))
    layer.weight.data, layer.bias.data = torch.tensor(weight), torch.tensor(bias)
    layers += [layer, nn.Tanh()]


def data(rows):
    return torch.tensor(rows["x"]), torch.tensor(rows["t"])


newtop.serve(nn.Sequential(*layers[:-1]), nn.CrossEntropyLoss(), data(told["train"]), eval=data(told["test"]))
