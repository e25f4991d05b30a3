# Transformers' Trainer without a bar, whose lines tell fractions of epochs alone, and its TensorBoard events.
import json
import os

import torch
from transformers import GPT2Config, GPT2LMHeadModel, Trainer, TrainingArguments, set_seed

os.environ["TENSORBOARD_LOGGING_DIR"] = "log"
set_seed(0)
model = GPT2LMHeadModel(GPT2Config(vocab_size=64, n_positions=16, n_embd=16, n_layer=1, n_head=2))
starts = torch.randint(64, (128, 1))
rows = [{"input_ids": r, "labels": r} for r in (starts + torch.arange(16) * 3) % 64]
args = TrainingArguments(
    "checkpoints",
    num_train_epochs=3,
    per_device_train_batch_size=8,
    learning_rate=0.01,
    logging_steps=2,
    logging_first_step=True,
    eval_strategy="epoch",
    save_strategy="no",
    report_to="tensorboard",
    disable_tqdm=True,
    use_cpu=True,
)
trainer = Trainer(model, args, train_dataset=rows[:104], eval_dataset=rows[104:])
trainer.train()
history = trainer.state.log_history
epochs = sorted({h["epoch"] for h in history})
console = [(k, 1 + epochs.index(h["epoch"]), v) for h in history[:-1] for k, v in h.items() if k != "step"]
board = [(k, h["step"], v) for h in history for k, v in h.items() if k != "step"]
json.dump({"console": console, "log": board}, open("truth.json", "w"))
