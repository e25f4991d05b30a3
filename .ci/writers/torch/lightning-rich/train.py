# Lightning with Rich's bar; fit, validate and test.
import json

import lightning as L
import torch
from lightning.pytorch.callbacks import Callback, RichModelSummary, RichProgressBar

truth = []


class Line(L.LightningModule):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(4, 1)

    def loss(self, batch):
        return torch.nn.functional.mse_loss(self.layer(batch[0]), batch[1])

    def training_step(self, batch, _):
        loss = self.loss(batch)
        self.log("train_loss", loss, on_step=False, on_epoch=True, prog_bar=True)
        return loss

    def validation_step(self, batch, _):
        self.log("val_loss", self.loss(batch), prog_bar=True)

    def test_step(self, batch, _):
        self.log("test_loss", self.loss(batch))

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=0.01)


class Note(Callback):
    def on_train_epoch_end(self, trainer, _):
        metrics = trainer.callback_metrics
        truth.extend((k, trainer.global_step, float(metrics[k])) for k in ("train_loss", "val_loss"))


L.seed_everything(0)
x = torch.randn(128, 4)
data = torch.utils.data.TensorDataset(x, x @ torch.tensor([[1.0], [-2.0], [0.5], [0.0]]))
train, held = (torch.utils.data.DataLoader(torch.utils.data.Subset(data, r), 8) for r in (range(96), range(96, 128)))
callbacks = [Note(), RichProgressBar(), RichModelSummary()]
trainer = L.Trainer(max_epochs=6, logger=False, callbacks=callbacks, enable_checkpointing=False, num_sanity_val_steps=0)
trainer.fit(Line(), train, held)
trainer.validate(trainer.model, held)
truth.append(("test_loss", trainer.global_step, trainer.test(trainer.model, held)[0]["test_loss"]))
json.dump({"console": truth}, open("truth.json", "w"))
