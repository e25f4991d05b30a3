# W&B offline: a default run, metrics with steps of their own (a glob), nested, NaN, tables, one resumed, and several runs.
import json
import os
import time

os.environ |= {"WANDB_MODE": "offline", "WANDB_DIR": "log", "WANDB_SILENT": "true"}
os.makedirs("log")
import wandb  # noqa: E402

truth = {}


def start(name):
    truth[name] = []
    return wandb.init(project="p", name=name, id=name, config={"lr": 0.1, "model": {"width": 8}})


run = start("plain")
for step in range(20):
    row = {"loss": 2 * 0.9**step, "val/loss": 2.1 * 0.92**step}
    run.log(row)
    truth["plain"] += [(k, step, v) for k, v in row.items()]
run.summary["best"] = row["loss"]
run.finish()

run = start("axes")
run.define_metric("train/step")
run.define_metric("train/*", step_metric="train/step")
run.define_metric("val/*", step_metric="epoch")
for i in range(20):
    run.log({"train/loss": 3 * 0.9**i, "train/step": 100 * i})
    truth["axes"].append(("train/loss", 100 * i, 3 * 0.9**i))
    if i % 5 == 4:
        run.log({"val/loss": 3.1 * 0.9**i, "epoch": i // 5})
        truth["axes"].append(("val/loss", i // 5, 3.1 * 0.9**i))
run.finish()

run = start("nested")
for i in range(12):
    loss = float("nan") if i == 5 else float("inf") if i == 7 else 1 / (1 + i)
    run.log({"train": {"loss": loss, "norm": {"grad": i * 0.5}}, "w": wandb.Histogram([1, 2, i])}, step=2 * i)
    seen = None if i == 5 else "inf" if i == 7 else loss
    truth["nested"] += [("train.loss", 2 * i, seen), ("train.norm.grad", 2 * i, i * 0.5)]
    if i == 6:
        run.log({"table": wandb.Table(columns=["a", "b"], data=[[1, 2.0], [3, 4.0]])}, step=2 * i)
run.finish()

for part in range(2):
    time.sleep(1)  # folders are named by the second
    run = wandb.init(project="p", name="resumed", id="resumed", resume="allow")
    for i in range(10 * part, 10 * part + 10):
        run.log({"loss": 5 * 0.8**i}, step=i)
        truth.setdefault("resumed", []).append(("loss", i, 5 * 0.8**i))
    run.finish()
json.dump({"log/wandb#" + name: points for name, points in truth.items()}, open("truth.json", "w"))
