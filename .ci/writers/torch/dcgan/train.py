# DCGAN's lines, as PyTorch's example prints them.
import json

import torch

torch.manual_seed(0)
generator, critic = torch.nn.Linear(2, 2), torch.nn.Sequential(torch.nn.Linear(2, 8), torch.nn.Tanh(), torch.nn.Linear(8, 1))
g = torch.optim.Adam(generator.parameters(), 0.02)
d = torch.optim.Adam(critic.parameters(), 0.02)
loss = torch.nn.functional.binary_cross_entropy_with_logits
truth, batches = [], 20
for epoch in range(3):
    for i in range(batches):
        real = torch.randn(32, 2) * 0.5 + 2
        fake = generator(torch.randn(32, 2))
        ones, zeros = torch.ones(32, 1), torch.zeros(32, 1)
        d.zero_grad()
        on_real, on_fake = critic(real), critic(fake.detach())
        loss_d = loss(on_real, ones) + loss(on_fake, zeros)
        loss_d.backward()
        d.step()
        g.zero_grad()
        after = critic(fake)
        loss_g = loss(after, ones)
        loss_g.backward()
        g.step()
        a, b, c = (v.sigmoid().mean().item() for v in (on_real, on_fake, after))
        print(
            "[%d/%d][%d/%d] Loss_D: %.4f Loss_G: %.4f D(x): %.4f D(G(z)): %.4f / %.4f"
            % (epoch, 3, i, batches, loss_d.item(), loss_g.item(), a, b, c)
        )
        step = epoch * batches + i
        truth += [("epoch", step, epoch), ("Loss_D", step, loss_d.item()), ("Loss_G", step, loss_g.item())]
        truth += [("D(x)", step, a), ("D(G(z))", step, b), ("D(G(z))/2", step, c)]
json.dump({"console": truth}, open("truth.json", "w"))
