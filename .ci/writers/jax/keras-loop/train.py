# Keras in a loop of one's own: each call is one epoch, and none says which.
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
truth = []
for i in range(1, 6):
    history = model.fit(x, y, epochs=1, verbose=2, validation_split=0.25).history
    truth += [(name, i, float(values[0])) for name, values in history.items()]
json.dump({"console": truth}, open("truth.json", "w"))
