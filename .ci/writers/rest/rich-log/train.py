# rich: its log, and a table.
import json
import logging

from rich.console import Console
from rich.logging import RichHandler
from rich.table import Table

import numpy as np

rng = np.random.default_rng(0)
x = rng.normal(size=(300, 3))
y = x @ [1.0, -2.0, 0.5] + rng.normal(0, 0.1, 300)
w = np.zeros(3)


def train(steps, start=0):
    """Descend, and give step, loss, the norm of the gradient, and the loss of validation."""
    global w
    for step in range(start, start + steps):
        error = x[:200] @ w - y[:200]
        gradient = x[:200].T @ error / 100
        yield step, float(error @ error / 200), float(np.linalg.norm(gradient)), float(((x[200:] @ w - y[200:]) ** 2).mean())
        w -= 0.05 * gradient


console = Console()
truth = []
logging.basicConfig(level="INFO", format="%(message)s", handlers=[RichHandler(console=console)])
for step, loss, norm, val in train(8):
    logging.info("step %d loss %.4f grad_norm %.4f", step, loss, norm)
    truth += [("loss", step, loss), ("grad_norm", step, norm)]
table = Table("step", "loss", "val loss", title="the last steps")
for step, loss, norm, val in train(6, 8):
    table.add_row(str(step), f"{loss:.4f}", f"{val:.4f}")
    truth += [("loss", step, loss), ("val loss", step, val)]
console.print(table)
json.dump({"console": truth}, open("truth.json", "w"))
