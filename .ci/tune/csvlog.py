"""A small net of Lightning on letters, whose CSVLogger writes its values."""
import argparse, logging, os, warnings
import numpy as np, torch, lightning.pytorch as lightning
from lightning.pytorch.loggers import CSVLogger

warnings.filterwarnings("ignore")
logging.getLogger("lightning.pytorch").setLevel(logging.ERROR)
p = argparse.ArgumentParser()
for name, kind, default in (("lr", float, 1e-3), ("hidden", int, 32), ("seed", int, 0), ("epochs", int, 6), ("dir", str, ".")):
    p.add_argument("--" + name, type=kind, default=default)
a = p.parse_args()
lightning.seed_everything(a.seed)
torch.set_num_threads(1)
data = np.load(os.environ.get("TUNE_DATA", "data.npz"))
x, y, vx, vy = (torch.tensor(data["letters_" + k]) for k in ("x", "y", "vx", "vy"))


class Net(lightning.LightningModule):
    def __init__(self):
        super().__init__()
        self.net = torch.nn.Sequential(torch.nn.Linear(16, a.hidden), torch.nn.ReLU(), torch.nn.Linear(a.hidden, 26))

    def step(self, batch, name):
        loss = torch.nn.functional.cross_entropy(self.net(batch[0]), batch[1])
        self.log(name, loss, on_step=False, on_epoch=True)
        return loss

    def training_step(self, batch, _):
        return self.step(batch, "train_loss")

    def validation_step(self, batch, _):
        self.step(batch, "val_loss")

    def configure_optimizers(self):
        return torch.optim.Adam(self.parameters(), a.lr)


def loader(*rows, shuffle=False):
    return torch.utils.data.DataLoader(torch.utils.data.TensorDataset(*rows), batch_size=64, shuffle=shuffle)


lightning.Trainer(max_epochs=a.epochs, logger=CSVLogger(a.dir), accelerator="cpu", enable_checkpointing=False, enable_progress_bar=False,
                  enable_model_summary=False).fit(Net(), loader(x, y, shuffle=True), loader(vx, vy))
