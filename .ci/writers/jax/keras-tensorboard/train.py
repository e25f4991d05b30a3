# Keras' TensorBoard callback, by epoch and by batch.
import json
import os

os.environ["KERAS_BACKEND"] = "jax"
import keras
import numpy as np

keras.utils.set_random_seed(0)
x = np.random.default_rng(0).normal(size=(600, 4)).astype("float32")
y = (x[:, 0] > x[:, 1]).astype("int32")
model = keras.Sequential([keras.Input((4,)), keras.layers.Dense(8, "relu"), keras.layers.Dense(2, "softmax")])
model.compile(keras.optimizers.Adam(0.02), "sparse_categorical_crossentropy", metrics=["accuracy"])
batches = []


class Batches(keras.callbacks.Callback):
    def on_train_batch_end(self, batch, logs=None):
        batches.append({name: float(v) for name, v in logs.items()})


history = model.fit(
    x,
    y,
    epochs=5,
    verbose=0,
    validation_split=0.25,
    callbacks=[keras.callbacks.TensorBoard("log", update_freq=1), Batches()],
).history
tag = "evaluation_%s_vs_iterations"
truth = [("train batch_" + name, i, v) for i, row in enumerate(batches, 1) for name, v in row.items()]
for name, values in history.items():
    part, short = ("validation", name[4:]) if name.startswith("val_") else ("train", name)
    for epoch, v in enumerate(values):
        truth.append((part + " epoch_" + short, epoch, float(v)))
        if part == "validation":
            truth.append((tag % short, 15 * (epoch + 1), float(v)))
truth += [("train epoch_learning_rate", epoch, 0.02) for epoch in range(5)]
json.dump({"log": truth}, open("truth.json", "w"))
