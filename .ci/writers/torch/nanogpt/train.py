# A loop that prints as nanoGPT does.
import json
import time

import torch

torch.manual_seed(0)
x = torch.randn(256, 8)
y = x @ torch.randn(8, 1)
model = torch.nn.Linear(8, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.02)
eval_interval, log_interval, max_iters, truth = 20, 5, 60, []
print("tokens per iteration will be: 491,520")
print("number of parameters: 0.00M")
print(f"num decayed parameter tensors: 1, with {8:,} parameters")
start = time.time()
for iter_num in range(max_iters + 1):
    if iter_num % eval_interval == 0:
        with torch.no_grad():
            losses = {s: torch.nn.functional.mse_loss(model(x[r]), y[r]) for s, r in (("train", slice(128)), ("val", slice(128, 256)))}
        print(f"step {iter_num}: train loss {losses['train']:.4f}, val loss {losses['val']:.4f}")
        truth += [("train loss", iter_num, losses["train"].item()), ("val loss", iter_num, losses["val"].item())]
        if iter_num > 0:
            print("saving checkpoint to out")
    rows = torch.randint(128, (16,))
    loss = torch.nn.functional.mse_loss(model(x[rows]), y[rows])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    seconds, start = time.time() - start, time.time()
    if iter_num % log_interval == 0:
        print(f"iter {iter_num}: loss {loss.item():.4f}, time {seconds * 1000:.2f}ms, mfu {17 + iter_num / 10:.2f}%")
        truth += [("loss", iter_num, loss.item()), ("mfu", iter_num, 17 + iter_num / 10)]
json.dump({"console": truth}, open("truth.json", "w"))
