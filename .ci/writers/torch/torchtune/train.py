# A loop with torchtune's bar, and the text of its loggers for the console and the disk.
import json
import os
import time

import torch
from tqdm import tqdm

torch.manual_seed(0)
x = torch.randn(320, 8)
y = x @ torch.randn(8, 1)
model = torch.nn.Linear(8, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
os.makedirs("log")
file = open(f"log/log_{int(time.time())}.txt", "a")
truth, console, step = [], [], 0
for epoch in range(3):
    bar = tqdm(total=20)
    for rows in torch.randperm(320).view(20, 16):
        loss = torch.nn.functional.mse_loss(model(x[rows]), y[rows])
        optimizer.zero_grad()
        loss.backward()
        norm = torch.nn.utils.clip_grad_norm_(model.parameters(), 10).item()
        optimizer.step()
        step += 1
        time.sleep(0.11)
        bar.update(1)
        bar.set_description(f"{epoch + 1}|{step}|Loss: {loss.item()}")
        metrics = {"loss": loss.item(), "lr": 0.05, "tokens_per_second_per_gpu": 1000 + step, "grad_norm": norm}
        file.write(f"Step {step} | " + " ".join(f"{name}:{value}" for name, value in metrics.items()) + "\n")
        file.flush()
        truth += [(name, step, value) for name, value in metrics.items()]
        console += [("Loss", step, loss.item()), ("epoch", step, epoch + 1)]
    bar.close()
json.dump({"console": console, file.name: truth}, open("truth.json", "w"))
