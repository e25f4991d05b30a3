# Accelerate: its TensorBoard tracker and its logger, beside tqdm as in Transformers' examples.
import json
import logging

import torch
from accelerate import Accelerator
from accelerate.logging import get_logger
from tqdm.auto import tqdm

torch.manual_seed(0)
logging.basicConfig(
    format="%(asctime)s - %(levelname)s - %(name)s - %(message)s", datefmt="%m/%d/%Y %H:%M:%S", level=logging.INFO
)
accelerator = Accelerator(log_with="tensorboard", project_dir="log", cpu=True)
accelerator.init_trackers("line", config={"lr": 0.1, "epochs": 4, "name": "line"})
x = torch.randn(256, 4)
data = torch.utils.data.TensorDataset(x, x @ torch.tensor([[1.0], [-2.0], [0.5], [0.0]]))
model = torch.nn.Linear(4, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
schedule = torch.optim.lr_scheduler.StepLR(optimizer, 10, 0.7)
loader = torch.utils.data.DataLoader(data, 32, shuffle=True)
model, optimizer, loader, schedule = accelerator.prepare(model, optimizer, loader, schedule)
logger = get_logger(__name__)
logger.info("***** Running training *****")
logger.info("  Num examples = 256")
logger.info("  Instantaneous batch size per device = 32")
logger.info("  Total optimization steps = 32")
bar = tqdm(range(4 * len(loader)), disable=not accelerator.is_local_main_process)
console, tracked, step = [], [], 0
for epoch in range(4):
    total = 0
    for inputs, targets in loader:
        with accelerator.accumulate(model):
            loss = torch.nn.functional.mse_loss(model(inputs), targets)
            accelerator.backward(loss)
            optimizer.step()
            schedule.step()
            optimizer.zero_grad()
        bar.update(1)
        step += 1
        total += loss.item()
        accelerator.log({"train_loss": loss.item(), "lr": schedule.get_last_lr()[0]}, step=step)
        tracked += [("train_loss", step, loss.item()), ("lr", step, schedule.get_last_lr()[0])]
    with torch.no_grad():
        eval_loss = torch.nn.functional.mse_loss(model(x), data.tensors[1]).item()
    logger.info(f"epoch {epoch}: train_loss: {total / len(loader)} eval_loss: {eval_loss}")
    accelerator.log({"eval_loss": eval_loss, "epoch": epoch}, step=step)
    console += [("train_loss", epoch, total / len(loader)), ("eval_loss", epoch, eval_loss)]
    tracked += [("eval_loss", step, eval_loss), ("epoch", step, epoch)]
accelerator.end_training()
json.dump({"console": console, "log": tracked}, open("truth.json", "w"))
