# Transformers' Trainer with its bar; its checkpoints.
import json

import torch
from transformers import LlamaConfig, LlamaForCausalLM, Trainer, TrainingArguments, set_seed

set_seed(0)
sizes = dict(vocab_size=64, hidden_size=16, intermediate_size=32, num_hidden_layers=1, num_attention_heads=2)
model = LlamaForCausalLM(LlamaConfig(**sizes))
starts = torch.randint(64, (128, 1))
rows = [{"input_ids": r, "labels": r} for r in (starts + torch.arange(16) * 3) % 64]
args = TrainingArguments(
    "log",
    num_train_epochs=3,
    per_device_train_batch_size=8,
    learning_rate=0.01,
    logging_steps=5,
    eval_strategy="steps",
    eval_steps=10,
    save_steps=10,
    report_to="none",
    use_cpu=True,
)
trainer = Trainer(model, args, train_dataset=rows[:104], eval_dataset=rows[104:])
trainer.train()
history = trainer.state.log_history
trainer.save_state()


def points(history):
    return [(k, h["step"], v) for h in history for k, v in h.items() if k != "step"]


json.dump({"console": points(history[:-1]), "log": points(history)}, open("truth.json", "w"))
