# SwanLab offline: steps of its own, nested, two runs.
import json
import os

os.makedirs("log")
import swanlab  # noqa: E402

truth = {}
for name, rate in ("slow", 0.95), ("fast", 0.8):
    truth[name] = []
    swanlab.init(project="p", experiment_name=name, config={"rate": rate}, logdir="log/swanlog", mode="offline")
    for i in range(15):
        row = {"loss": 2 * rate**i, "val": {"loss": 2.2 * rate**i}}
        swanlab.log(row, step=3 * i)
        truth[name] += [("loss", 3 * i, row["loss"]), ("val/loss", 3 * i, row["val"]["loss"])]
    swanlab.finish()
json.dump({"log/swanlog#" + name: points for name, points in truth.items()}, open("truth.json", "w"))
