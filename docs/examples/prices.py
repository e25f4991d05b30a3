"""A model whose forward returns its loss, batches that are dicts, and test data: newtop --model prices.py."""
import torch

import newtop


class Prices(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.town, self.net = torch.nn.Embedding(20, 3), torch.nn.Linear(5, 1)

    def forward(self, town, size, price):
        out = self.net(torch.cat([self.town(town), size], 1))[:, 0]
        return {"loss": torch.nn.functional.mse_loss(out, price)}


def rows(n):
    town, size = torch.randint(20, (n,)), torch.rand(n, 2)
    return {"town": town, "size": size, "price": size.sum(1) + town / 20}


torch.manual_seed(newtop.seed())
newtop.serve(Prices(), None, rows(400), eval=rows(100))
