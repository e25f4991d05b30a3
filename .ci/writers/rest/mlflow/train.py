# MLflow: its default store (SQLite) and files, a run without steps, NaN, two runs.
import json
import logging
import os

os.makedirs("log")
os.environ |= {"MLFLOW_DISABLE_TELEMETRY": "true", "MLFLOW_ALLOW_FILE_STORE": "true"}
import mlflow  # noqa: E402

logging.disable(logging.WARNING)
truth = {}
for store, uri in ("log/mlflow.db", "sqlite:///log/mlflow.db"), ("log/mlruns", "file:" + os.path.abspath("log/mlruns")):
    mlflow.set_tracking_uri(uri)
    if store.endswith(".db"):
        mlflow.create_experiment("e", artifact_location="file:" + os.path.abspath("log/artifacts"))
    mlflow.set_experiment("e")
    for name, rate in ("slow-" + store[-2:], 0.95), ("fast-" + store[-2:], 0.8):
        points = truth[f"{store}#{name}"] = []
        with mlflow.start_run(run_name=name):
            mlflow.log_params({"rate": rate, "rows": 200})
            for i in range(15):
                loss = float("nan") if i == 4 else 2 * rate**i
                mlflow.log_metric("loss", loss, step=i)
                points.append(("loss", i, None if i == 4 else loss))
                if i % 5 == 4:
                    mlflow.log_metrics({"val_loss": 2.2 * rate**i, "val_accuracy": 1 - 0.5 * rate**i}, step=i)
                    points += [("val_loss", i, 2.2 * rate**i), ("val_accuracy", i, 1 - 0.5 * rate**i)]
                if rate < 0.9:
                    mlflow.log_metric("norm", 1 / (1 + i))
                    points.append(("norm", i, 1 / (1 + i)))
json.dump(truth, open("truth.json", "w"))
