# Transformers' Trainer with max_steps, accumulated gradients, metrics of its own and a callback that prints.
import json

import torch
from transformers import BertConfig, BertForSequenceClassification, Trainer, TrainingArguments, set_seed

set_seed(0)
sizes = dict(vocab_size=64, hidden_size=16, intermediate_size=32, num_hidden_layers=1, num_attention_heads=2)
model = BertForSequenceClassification(BertConfig(**sizes))
ids = torch.randint(64, (200, 16))
rows = [{"input_ids": r, "labels": int(r[0] > 31)} for r in ids]


def metrics(prediction):
    right = prediction.predictions.argmax(-1) == prediction.label_ids
    return {"accuracy": float(right.mean()), "f1": float(right[:10].mean())}


args = TrainingArguments(
    "log",
    max_steps=60,
    per_device_train_batch_size=4,
    gradient_accumulation_steps=2,
    learning_rate=0.01,
    lr_scheduler_type="cosine",
    warmup_steps=6,
    logging_steps=1,
    eval_strategy="steps",
    eval_steps=15,
    save_strategy="best",
    metric_for_best_model="accuracy",
    load_best_model_at_end=True,
    report_to="none",
    use_cpu=True,
)
trainer = Trainer(model, args, train_dataset=rows[:168], eval_dataset=rows[168:], compute_metrics=metrics)
trainer.train()
history = [h for h in trainer.state.log_history if "train_runtime" not in h]
truth = [(k, h["step"], v) for h in history for k, v in h.items() if k != "step"]
json.dump({"console": truth}, open("truth.json", "w"))
