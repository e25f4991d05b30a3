"""A loop with a network so small that torch has its Hessian as a matrix, whose eigenvalues it prints after each step."""
import torch
from torch import nn

import newtop

torch.set_num_threads(1)
torch.set_default_dtype(torch.float64)
torch.manual_seed(newtop.seed(4))
x, t = torch.randn(40, 3), torch.randint(2, (40,))


class Tiny(nn.Module):
    def __init__(self):
        super().__init__()
        self.w = nn.Parameter(0.7 * torch.randn(26))

    def forward(self, x, w=None):
        w = self.w if w is None else w
        return torch.tanh(x @ w[:12].view(3, 4) + w[12:16]) @ w[16:24].view(4, 2) + w[24:]


model = Tiny()
optimizer = torch.optim.SGD(model.parameters(), lr=0.3)
probe = newtop.probe(model, nn.functional.cross_entropy, (x, t), every=2, optimizer=optimizer)
for step in range(1, 7):
    loss = nn.functional.cross_entropy(model(x), t)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    probe.step(loss)
    hessian = torch.autograd.functional.hessian(lambda w: nn.functional.cross_entropy(model(x, w), t), model.w.detach())
    print(step, *("%.17g" % v for v in torch.linalg.eigvalsh(hessian)))
