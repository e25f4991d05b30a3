# Ignite: its bars, its TensorBoard logger, and lines as in its examples.
import json

import torch
from ignite.contrib.handlers import ProgressBar, TensorboardLogger
from ignite.engine import Events, create_supervised_evaluator, create_supervised_trainer
from ignite.metrics import Accuracy, Loss, RunningAverage

torch.manual_seed(0)
x = torch.randn(256, 4)
data = torch.utils.data.TensorDataset(x, (x[:, 0] > x[:, 1]).long())
train = torch.utils.data.DataLoader(torch.utils.data.Subset(data, range(192)), 16)
held = torch.utils.data.DataLoader(torch.utils.data.Subset(data, range(192, 256)), 16)
model = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.Tanh(), torch.nn.Linear(8, 2))
criterion = torch.nn.CrossEntropyLoss()
trainer = create_supervised_trainer(model, torch.optim.SGD(model.parameters(), 0.2), criterion)
RunningAverage(output_transform=lambda loss: loss).attach(trainer, "loss")
evaluator = create_supervised_evaluator(model, {"accuracy": Accuracy(), "nll": Loss(criterion)})
bar = ProgressBar(persist=True, mininterval=0)
bar.attach(trainer, ["loss"])
board = TensorboardLogger("log")
board.attach_output_handler(
    trainer, Events.ITERATION_COMPLETED(every=4), tag="training", output_transform=lambda loss: {"batchloss": loss}
)
console, tracked = [], []


@trainer.on(Events.ITERATION_COMPLETED(every=4))
def note(engine):
    tracked.append(("training/batchloss", engine.state.iteration, engine.state.output))


@trainer.on(Events.ITERATION_COMPLETED)
def draw(engine):
    console.append(("epoch", engine.state.iteration, engine.state.epoch))
    if engine.state.iteration % 12 != 1:  # the bar draws a loss before it counts its batch
        console.append(("loss", engine.state.iteration - 1, engine.state.metrics["loss"]))


@trainer.on(Events.EPOCH_COMPLETED)
def report(engine):
    for part, loader in ("Training", train), ("Validation", held):
        metrics = evaluator.run(loader).metrics
        bar.log_message(
            f"{part} Results - Epoch: {engine.state.epoch}  "
            f"Avg accuracy: {metrics['accuracy']:.4f} Avg loss: {metrics['nll']:.4f}"
        )
        console.append((f"{part} accuracy", engine.state.iteration, metrics["accuracy"]))
        console.append((f"{part} loss", engine.state.iteration, metrics["nll"]))


trainer.run(train, max_epochs=5)
board.close()
json.dump({"console": console, "log": tracked}, open("truth.json", "w"))
