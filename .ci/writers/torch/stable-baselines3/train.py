# Stable-Baselines3: its box on the console, progress.csv, progress.json and TensorBoard.
import json

from stable_baselines3 import PPO
from stable_baselines3.common.logger import KVWriter, configure

truth = []


class Note(KVWriter):
    def write(self, key_values, key_excluded, step=0):
        truth.extend((k, step, float(v)) for k, v in key_values.items())

    def close(self):
        pass


model = PPO("MlpPolicy", "CartPole-v1", n_steps=64, batch_size=32, n_epochs=2, seed=0, verbose=1, device="cpu")
logger = configure("log", ["stdout", "csv", "json", "tensorboard"])
logger.output_formats.append(Note())
model.set_logger(logger)
model.learn(64 * 15)
counts = "time/iterations", "time/time_elapsed", "time/total_timesteps"
boxes = [point for point in truth if point[0] not in counts]
json.dump({"console": boxes, "log/progress.csv": truth, "log/progress.json": truth}, open("truth.json", "w"))
