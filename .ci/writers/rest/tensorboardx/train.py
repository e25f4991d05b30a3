# tensorboardX: train/ beside test/, metrics with steps of their own, NaN, all in one wall second.
import json

import numpy as np

from tensorboardX import SummaryWriter

rng = np.random.default_rng(0)
at = 1795798025.0
truth = {"train": [], "test": []}
writers = {part: SummaryWriter("log/" + part) for part in truth}
loss = 2.0
for step in range(30):
    loss *= 0.9 + 0.05 * rng.random()
    value = float("nan") if step == 17 else loss
    for part in truth:
        writers[part].add_scalar("loss", value + (part == "test"), step, walltime=at)
        truth[part].append(("loss", step, None if step == 17 else value + (part == "test")))
    if step % 10 == 9:
        writers["test"].add_scalar("epoch/accuracy", 1 - loss / 4, step // 10, walltime=at)
        truth["test"].append(("epoch/accuracy", step // 10, 1 - loss / 4))
    writers["train"].add_scalars("lr", {"a": 0.1 / (1 + step), "b": 0.2}, step, walltime=at)
    truth["train"] += [("lr/a/lr", step, 0.1 / (1 + step)), ("lr/b/lr", step, 0.2)]
writers["train"].add_text("note", "a note", 0)
for w in writers.values():
    w.close()
files = {"log/" + part: points for part, points in truth.items()}
json.dump(files, open("truth.json", "w"))
