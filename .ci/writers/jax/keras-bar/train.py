# Keras' bar, with ModelCheckpoint and ReduceLROnPlateau printed, and a CSVLogger.
import json
import os

os.environ["KERAS_BACKEND"] = "jax"
import keras
import numpy as np

keras.utils.set_random_seed(0)
x = np.random.default_rng(0).normal(size=(600, 4)).astype("float32")
y = (x[:, 0] > x[:, 1]).astype("int32")
model = keras.Sequential([keras.Input((4,)), keras.layers.Dense(8, "relu"), keras.layers.Dense(2, "softmax")])
model.compile(keras.optimizers.Adam(0.05), "sparse_categorical_crossentropy", metrics=["accuracy"])
os.makedirs("log")
history = model.fit(
    x,
    y,
    epochs=6,
    validation_split=0.25,
    callbacks=[
        keras.callbacks.CSVLogger("log/history.csv"),
        keras.callbacks.ReduceLROnPlateau(monitor="val_loss", patience=1, min_delta=0.02, verbose=1),
        keras.callbacks.ModelCheckpoint("best.keras", monitor="val_loss", save_best_only=True, verbose=1),
    ],
).history
rows = [(name, e, float(v)) for name, values in history.items() for e, v in enumerate(values)]
truth = {
    "log/history.csv": [row for row in rows if row[0] != "learning_rate"],  # the file's columns are the first epoch's
    "console": [(name, e + 1, v) for name, e, v in rows],
}
json.dump(truth, open("truth.json", "w"))
