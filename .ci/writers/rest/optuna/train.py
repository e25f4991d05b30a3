# Optuna: the console's value of each trial, and its SQLite storage, which is refused by name.
import json
import os

import optuna

os.makedirs("log")


def objective(trial):
    x, depth = trial.suggest_float("x", -5, 5), trial.suggest_int("depth", 1, 4)
    return (x - 1) ** 2 + 0.1 * depth


study = optuna.create_study(
    study_name="s", storage="sqlite:///log/optuna.db", direction="minimize", sampler=optuna.samplers.TPESampler(seed=0)
)
study.optimize(objective, n_trials=12)
truth = [("value", t.number, t.value) for t in study.trials]
json.dump({"console": truth}, open("truth.json", "w"))
