"""A transformer of two layers that guesses the next character of this very text: python3 chars.py [WIDTH [ROWS]]."""
import sys

import torch
from torch import nn

import newtop

torch.set_num_threads(1)
torch.manual_seed(newtop.seed())
width, rows = map(int, (sys.argv[1:] + ["32", "32"][len(sys.argv) - 1 :])[:2])
text = open(__file__, encoding="utf-8").read()
letters = sorted(set(text))
codes = torch.tensor([letters.index(c) for c in text])
length = 24


class Characters(nn.Module):
    def __init__(self):
        super().__init__()
        self.letters, self.places = nn.Embedding(len(letters), width), nn.Parameter(0.02 * torch.randn(length, width))
        self.layers = nn.TransformerEncoder(nn.TransformerEncoderLayer(width, 4, 2 * width, dropout=0.0, activation="gelu", batch_first=True), 2)
        self.out = nn.Linear(width, len(letters), bias=False)
        self.out.weight = self.letters.weight  # tied
        nn.init.normal_(self.letters.weight, std=width**-0.5)
        self.register_buffer("mask", torch.full((length, length), float("-inf")).triu(1))

    def forward(self, x):
        return self.out(self.layers(self.letters(x) + self.places, mask=self.mask))


def windows(count, seed):
    starts = torch.randint(len(codes) - length, (count,), generator=torch.Generator().manual_seed(seed))
    rows = torch.stack([codes[s : s + length + 1] for s in starts])
    return rows[:, :-1], rows[:, 1:]


def loss(outputs, targets):
    return nn.functional.cross_entropy(outputs.flatten(0, 1), targets.flatten())


newtop.serve(Characters(), loss, windows(rows, 1), eval=windows(rows, 2))
