# Lightning: its CSV and TensorBoard loggers and its tqdm bar; fit, validate and test.
import json

import lightning as L
import torch
from lightning.pytorch.callbacks import LearningRateMonitor, TQDMProgressBar
from lightning.pytorch.loggers import CSVLogger, TensorBoardLogger

console, logged, held_names = [], [], ("val_loss", "val_mae")


class Line(L.LightningModule):
    def __init__(self):
        super().__init__()
        self.save_hyperparameters({"lr": 0.05, "width": 4})
        self.layer = torch.nn.Linear(4, 1)

    def both(self, batch):
        y = self.layer(batch[0])
        return torch.nn.functional.mse_loss(y, batch[1]), (y - batch[1]).abs().mean()

    def training_step(self, batch, _):
        loss, mae = self.both(batch)
        self.log("train_loss", loss, prog_bar=True)
        self.log("train_mae", mae, on_step=False, on_epoch=True)
        console.extend([("train_loss", self.global_step + 1, loss.item()), ("epoch", self.global_step + 1, self.current_epoch)])
        return loss

    def on_train_epoch_end(self):
        metrics = self.trainer.callback_metrics
        console.extend((k, self.global_step, float(metrics[k])) for k in held_names)

    def validation_step(self, batch, _):
        self.log_dict(dict(zip(held_names, self.both(batch))), prog_bar=True)

    def test_step(self, batch, _):
        self.log_dict(dict(zip(("test_loss", "test_mae"), self.both(batch))))

    def configure_optimizers(self):
        optimizer = torch.optim.SGD(self.parameters(), lr=0.05)
        return [optimizer], [torch.optim.lr_scheduler.StepLR(optimizer, 1, 0.7)]


class Keep(CSVLogger):
    def log_metrics(self, metrics, step=None):
        if self.experiment:
            logged.extend((k, step, float(v)) for k, v in metrics.items())
        super().log_metrics(metrics, step)


x = torch.randn(128, 4, generator=torch.manual_seed(0))
data = torch.utils.data.TensorDataset(x, x @ torch.tensor([[1.0], [-2.0], [0.5], [0.0]]))
train, held = (torch.utils.data.DataLoader(torch.utils.data.Subset(data, r), 8) for r in (range(96), range(96, 128)))
loggers = [Keep("log", name="csv"), TensorBoardLogger("log", name="tb", default_hp_metric=False)]
callbacks = [LearningRateMonitor(), TQDMProgressBar(refresh_rate=1)]
trainer = L.Trainer(max_epochs=4, logger=loggers, callbacks=callbacks, log_every_n_steps=3)
trainer.fit(Line(), train, held)
trainer.validate(trainer.model, held)
console.extend((k, 48, v) for k, v in trainer.test(trainer.model, held)[0].items())
json.dump({"console": console, "log/csv": logged, "log/tb": logged}, open("truth.json", "w"))
