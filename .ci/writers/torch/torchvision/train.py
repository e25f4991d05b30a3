# A loop that prints as MetricLogger of torchvision's reference scripts does.
import json
import time

import torch

torch.manual_seed(0)
x = torch.randn(256, 8)
y = (x[:, 0] > x[:, 1]).long()
model = torch.nn.Linear(8, 2)
optimizer = torch.optim.SGD(model.parameters(), lr=0.5)
schedule = torch.optim.lr_scheduler.StepLR(optimizer, 2, 0.5)
truth, total = [], 12
for epoch in range(4):
    header, losses, accuracies = f"Epoch: [{epoch}]", [], []
    for i in range(total):
        rows = slice(16 * i, 16 * i + 16)
        output = model(x[rows])
        loss = torch.nn.functional.cross_entropy(output, y[rows])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
        accuracies.append(100 * (output.argmax(1) == y[rows]).float().mean().item())
        if i % 4 == 0 or i == total - 1:
            lr, median = optimizer.param_groups[0]["lr"], sorted(losses)[(len(losses) - 1) // 2]
            mean, accuracy = sum(losses) / len(losses), sum(accuracies) / len(accuracies)
            print(
                f"{header}  [{i:2d}/{total}]  eta: 0:00:0{total - i - 1}  lr: {lr}  img/s: {800.25 + i}  "
                f"loss: {median:.4f} ({mean:.4f})  acc1: {accuracies[-1]:.4f} ({accuracy:.4f})  time: 0.0123  data: 0.0012"
            )
            step = epoch * total + i
            truth.append(("epoch", step, epoch))
            truth += [("lr", step, lr), ("loss", step, median), ("acc1", step, accuracies[-1]), ("img/s", step, 800.25 + i)]
    print(f"{header} Total time: 0:00:01")
    schedule.step()
    with torch.no_grad():
        output, target = model(x[192:]), y[192:]
        loss = torch.nn.functional.cross_entropy(output, target).item()
    accuracy = 100 * (output.argmax(1) == target).float().mean().item()
    print(f"Test:   [0/4]  eta: 0:00:01  loss: {loss:.4f} ({loss:.4f})  acc1: {accuracy:.4f} ({accuracy:.4f})  time: 0.0101")
    print("Test:  Total time: 0:00:01")
    print(f"Test:  Acc@1 {accuracy:.3f} Acc@5 100.000")
    truth += [("test Acc@1", step, accuracy), ("test Acc@5", step, 100), ("test loss", step, loss)]
    truth.append(("test acc1", step, accuracy))
json.dump({"console": truth}, open("truth.json", "w"))
