"""Models on which kfac, hessian-free and adam are compared, on real data: newtop train --model 'curvature.py cnn' --opt kfac. They are
mlp (letters), cnn (MNIST's test images) and transformer (the characters of newtop's docs). SHARED is the folder of the data."""
import glob
import gzip
import os
import sys

import numpy as np
import torch
from torch import nn

import newtop

HERE = os.path.dirname(os.path.abspath(__file__))
SHARED = os.environ.get("SHARED") or os.path.join(HERE, "..", "..", "..", "shared", "data")
torch.set_num_threads(1)
torch.manual_seed(newtop.seed())


def letters():
    rows = [line.strip().split(",") for line in open(os.path.join(SHARED, "letter-recognition.data"), encoding="utf-8")]
    x = torch.tensor([[float(v) for v in r[1:]] for r in rows])
    return (x - x.mean(0)) / x.std(0), torch.tensor([ord(r[0]) - 65 for r in rows])


def images():
    x, t = (np.frombuffer(gzip.open(os.path.join(SHARED, f"t10k-{name}.gz")).read(), np.uint8) for name in ("images-idx3-ubyte", "labels-idx1-ubyte"))
    x = torch.tensor(x[16:].copy()).view(-1, 1, 28, 28).float() / 255
    return nn.functional.avg_pool2d(x, 2), torch.tensor(t[8:].copy()).long()


def text():
    pages = "".join(open(p, encoding="utf-8").read() for p in sorted(glob.glob(os.path.join(HERE, "..", "..", "docs", "*.md"))))
    codes = torch.tensor([min(ord(c), 127) for c in pages])
    rows = codes[:len(codes) // 33 * 33].view(-1, 33)
    return rows[torch.randperm(len(rows), generator=torch.Generator().manual_seed(0))]


class Words(nn.Module):
    """A transformer of two layers that predicts the next character."""

    def __init__(self, width=48):
        super().__init__()
        self.letters, self.places, self.out = nn.Embedding(128, width), nn.Embedding(32, width), nn.Linear(width, 128)
        self.layers = nn.ModuleList(nn.TransformerEncoderLayer(width, 4, 96, dropout=0.0, batch_first=True, norm_first=True) for _ in range(2))
        self.norm = nn.LayerNorm(width)

    def forward(self, x):
        h, mask = self.letters(x) + self.places(torch.arange(x.shape[1])), nn.Transformer.generate_square_subsequent_mask(x.shape[1])
        for layer in self.layers:
            h = layer(h, src_mask=mask)
        return self.out(self.norm(h))


what, loss_fn = sys.argv[1], nn.CrossEntropyLoss()
if what == "mlp":
    (x, t), rows = letters(), 4000
    model = nn.Sequential(nn.Linear(16, 70), nn.Tanh(), nn.Linear(70, 50), nn.Tanh(), nn.Linear(50, 26))
elif what == "cnn":
    (x, t), rows = images(), 4000
    model = nn.Sequential(nn.Conv2d(1, 8, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(8, 16, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
                          nn.Flatten(), nn.Linear(144, 10))
else:
    x, rows, model = text(), 2048, Words()
    x, t, loss_fn = x[:, :-1], x[:, 1:], lambda o, t: nn.functional.cross_entropy(o.flatten(0, 1), t.flatten())
newtop.serve(model, loss_fn, (x[:rows], t[:rows]), eval=(x[rows:rows + 1000], t[rows:rows + 1000]), sharing=(sys.argv[2:] or ["expand"])[0])
