"""A network in float64 on seeded numbers: python3 mlp.py [ROWS [INPUTS HIDDEN… OUTPUTS]], cross-entropy of OUTPUTS classes."""
import sys

import torch
from torch import nn

import newtop

torch.set_num_threads(1)
rows, *widths = map(int, sys.argv[1:] or ["64"])
widths = widths or [5, 7, 6, 3]
torch.manual_seed(newtop.seed(1))
x = torch.randn(rows, widths[0], dtype=torch.float64)
t = (x @ torch.randn(widths[0], widths[-1], dtype=torch.float64) + 0.3 * torch.randn(rows, widths[-1], dtype=torch.float64)).argmax(1)
layers = []
for a, b in zip(widths, widths[1:]):
    layers += [nn.Linear(a, b, dtype=torch.float64), nn.Tanh()]
model = nn.Sequential(*layers[:-1])

newtop.serve(model, nn.CrossEntropyLoss(), (x[: 3 * rows // 4], t[: 3 * rows // 4]), eval=(x[3 * rows // 4 :], t[3 * rows // 4 :]))
print("the last loss is %.17g" % nn.functional.cross_entropy(model(x[: 3 * rows // 4]), t[: 3 * rows // 4]).item())
