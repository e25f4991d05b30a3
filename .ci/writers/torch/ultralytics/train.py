# Ultralytics: YOLO from its YAML on squares drawn here; its console and results.csv.
import json
import os

import cv2
import numpy as np
from ultralytics import YOLO
from ultralytics.utils import SETTINGS

rng = np.random.default_rng(0)
for part, count in ("train", 16), ("val", 8):
    os.makedirs(f"data/images/{part}")
    os.makedirs(f"data/labels/{part}")
    for i in range(count):
        image = rng.integers(0, 60, (64, 64, 3), dtype=np.uint8)
        x, y, size = (int(v) for v in rng.integers(8, 24, 3))
        image[y : y + size, x : x + size] = 255
        cv2.imwrite(f"data/images/{part}/{i}.png", image)
        with open(f"data/labels/{part}/{i}.txt", "w") as label:
            print(0, (x + size / 2) / 64, (y + size / 2) / 64, size / 64, size / 64, file=label)
with open("data.yaml", "w") as file:
    file.write(f"path: {os.getcwd()}/data\ntrain: images/train\nval: images/val\nnames: [square]\n")
console, table = [], []


def note(trainer):
    epoch = trainer.epoch + 1
    losses = trainer.label_loss_items(trainer.tloss, prefix="")
    console.extend((k, epoch, float(v)) for k, v in losses.items())
    rates = trainer.lr
    table.extend((k, epoch, float(v)) for k, v in {**trainer.label_loss_items(trainer.tloss), **trainer.metrics, **rates}.items())
    for key, name in ("precision", "Box(P"), ("recall", "R"), ("mAP50", "mAP50"), ("mAP50-95", "mAP50-95)"):
        console.append((name, epoch, float(trainer.metrics[f"metrics/{key}(B)"])))


for name in SETTINGS:
    if isinstance(SETTINGS[name], bool):
        SETTINGS[name] = False
model = YOLO("yolo11n.yaml")
model.add_callback("on_fit_epoch_end", lambda t: note(t) if len(table) < 13 * 3 else None)
sizes = dict(epochs=3, imgsz=64, batch=8, workers=0, amp=False, plots=False)
model.train(data="data.yaml", project=os.path.abspath("log"), name="yolo", device="cpu", **sizes)
json.dump({"console": console, "log/yolo/results.csv": table}, open("truth.json", "w"))
