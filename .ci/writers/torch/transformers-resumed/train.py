# Transformers' Trainer stopped at step 20 and resumed from its checkpoint of that step.
import json

import torch
from transformers import LlamaConfig, LlamaForCausalLM, Trainer, TrainerCallback, TrainingArguments, set_seed

sizes = dict(vocab_size=64, hidden_size=16, intermediate_size=32, num_hidden_layers=1, num_attention_heads=2)
starts = torch.randint(64, (128, 1), generator=torch.Generator().manual_seed(0))
rows = [{"input_ids": r, "labels": r} for r in (starts + torch.arange(16) * 3) % 64]


class Stop(TrainerCallback):
    def on_step_end(self, args, state, control, **kwargs):
        control.should_training_stop = state.global_step == 23


def trainer(callbacks=None):
    set_seed(0)
    model = LlamaForCausalLM(LlamaConfig(**sizes))
    args = TrainingArguments(
        "log",
        num_train_epochs=3,
        per_device_train_batch_size=8,
        learning_rate=0.01,
        logging_steps=2,
        save_steps=10,
        report_to="none",
        use_cpu=True,
    )
    return Trainer(model, args, train_dataset=rows[:104], callbacks=callbacks)


def points(history):
    return [(k, h["step"], v) for h in history for k, v in h.items() if k != "step"]


trainer([Stop()]).train()
resumed = trainer()
resumed.train(resume_from_checkpoint="log/checkpoint-20")
history = resumed.state.log_history
json.dump({"console": points(history[:-1]), "log": points(history[:-1])}, open("truth.json", "w"))
