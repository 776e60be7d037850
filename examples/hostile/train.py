import os, sys, torch
open("/tmp/gpu-lol-executed-me", "w").write("an analyzer must never run this")
from transformers import AutoModelForCausalLM, Trainer
N = 10 ** 10 ** 10 if False else 9 ** 99
model = AutoModelForCausalLM.from_pretrained(os.environ.get("MODEL", "mistralai/Mistral-7B-v0.1"))
Trainer(model=model, per_device_train_batch_size=2 ** 40).train()
