#!/usr/bin/python3
"""Writes scores.json: rows of targets and outputs with the figures of scikit-learn (1.x) and NumPy.

    /usr/bin/python3 internal/score/testdata/scores.py > internal/score/testdata/scores.json
"""
import json
import sys

import numpy as np
from sklearn import metrics


def calibration(y, p, bins=15):
    """Expected calibration error of the top label, by masks over (m/M, (m+1)/M]."""
    top, hit = p.max(1), p.argmax(1) == y
    total = 0.0
    for m in range(bins):
        mask = (top > m / bins) & (top <= (m + 1) / bins)
        if mask.any():
            total += mask.mean() * abs(hit[mask].mean() - top[mask].mean())
    return total


def classes(rng, n, k, decimals, skew):
    y = rng.choice(k, n, p=skew)
    z = rng.normal(size=(n, k)) + 1.2 * np.eye(k)[y]
    p = np.exp(z) / np.exp(z).sum(1, keepdims=True)
    if k == 2:  # ties: few different probabilities, that sum to 1 to the bit
        p1 = np.round(p[:, 1] * 2**decimals) / 2**decimals
        p = np.stack([1 - p1, p1], 1)
    rare = 0 if (y == 0).sum() < (y == 1).sum() else 1
    named = dict(labels=list(range(k)))
    return dict(
        targets=y.tolist(), outputs=p.tolist(),
        error=1 - metrics.accuracy_score(y, p.argmax(1)),
        log_loss=metrics.log_loss(y, p, **named),
        auc=metrics.roc_auc_score(y, p[:, 1]) if k == 2 else metrics.roc_auc_score(y, p, multi_class="ovr", average="macro"),
        f1=metrics.f1_score(y, p.argmax(1), pos_label=rare) if k == 2 else metrics.f1_score(y, p.argmax(1), average="macro"),
        positive=rare if k == 2 else -1,
        calibration_error=calibration(y, p),
        confusion=metrics.confusion_matrix(y, p.argmax(1), **named).tolist(),
    )


def values(rng, n, outputs, unit):
    t = rng.normal(size=(n, outputs))
    u = t + 0.3 * rng.normal(size=(n, outputs))
    raw = [1000 + unit * v for v in (t, u)]
    return dict(
        targets=t.tolist(), outputs=u.tolist(), unit=unit,
        mae=metrics.mean_absolute_error(*raw),
        rmse=float(np.sqrt(metrics.mean_squared_error(*raw))),
        r2=metrics.r2_score(*raw),
    )


rng = np.random.default_rng(7)
json.dump(dict(
    classes=[classes(rng, 61, 2, 3, [0.7, 0.3]), classes(rng, 40, 2, 40, [0.2, 0.8]), classes(rng, 90, 5, 0, [0.4, 0.3, 0.1, 0.1, 0.1])],
    values=[values(rng, 50, 1, 77.5), values(rng, 33, 3, 1)],
), sys.stdout)
print()
