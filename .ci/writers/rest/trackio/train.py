# trackio: two runs in one project, one nested.
import json
import os

os.environ |= {"TRACKIO_DIR": os.path.abspath("log"), "HF_HUB_OFFLINE": "1"}
import trackio  # noqa: E402

truth = {}
for name, rate in ("slow", 0.95), ("fast", 0.8):
    truth[name] = []
    trackio.init(project="p", name=name, config={"rate": rate}, embed=False)
    for i in range(15):
        row = {"loss": 2 * rate**i, "val/loss": 2.2 * rate**i, "opt": {"lr": 0.1 / (1 + i)}}
        row["val/loss"] = float("nan") if i == 4 else row["val/loss"]
        trackio.log(row, step=10 * i)
        seen = None if i == 4 else row["val/loss"]
        truth[name] += [("loss", 10 * i, row["loss"]), ("val/loss", 10 * i, seen), ("opt/lr", 10 * i, 0.1 / (1 + i))]
    trackio.finish()
json.dump({"log/p.db#" + name: points for name, points in truth.items()}, open("truth.json", "w"))
