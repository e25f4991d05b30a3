"""A small net of PyTorch on letters."""
import argparse, os
import numpy as np, torch

p = argparse.ArgumentParser()
for name, kind, default in (("opt", str, "adam"), ("lr", float, 1e-3), ("momentum", float, 0), ("wd", float, 0), ("hidden", int, 32),
                            ("batch", int, 64), ("seed", int, 0), ("epochs", int, 18)):
    p.add_argument("--" + name, type=kind, default=default)
a = p.parse_args()
torch.manual_seed(a.seed)
torch.set_num_threads(1)
data = np.load(os.environ.get("TUNE_DATA", "data.npz"))
x, y, vx, vy = (torch.tensor(data["letters_" + k]) for k in ("x", "y", "vx", "vy"))
model = torch.nn.Sequential(torch.nn.Linear(16, a.hidden), torch.nn.ReLU(), torch.nn.Linear(a.hidden, 26))
optimizer = (torch.optim.AdamW(model.parameters(), a.lr, weight_decay=a.wd) if a.opt == "adam" else
             torch.optim.SGD(model.parameters(), a.lr, a.momentum, weight_decay=a.wd))
loss_of = torch.nn.CrossEntropyLoss()
for epoch in range(1, a.epochs + 1):
    for rows in torch.randperm(len(x)).split(a.batch):
        optimizer.zero_grad()
        loss = loss_of(model(x[rows]), y[rows])
        loss.backward()
        optimizer.step()
    with torch.no_grad():
        out = model(vx)
        print(f"epoch {epoch}: loss {loss.item():.4f} val_loss {loss_of(out, vy).item():.5f} val_acc {(out.argmax(1) == vy).float().mean():.4f}")
