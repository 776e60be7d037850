"""Fine-tune a chat model on our conversations with LoRA."""

import argparse
import json

import torch
import yaml
from peft import LoraConfig, get_peft_model
from transformers import AutoModelForCausalLM, AutoTokenizer, Trainer, TrainingArguments


class Conversations(torch.utils.data.Dataset):
    """One conversation per line of a JSON Lines file."""

    def __init__(self, path, tokenizer, length):
        with open(path, encoding="utf-8") as lines:
            texts = [tokenizer.apply_chat_template(json.loads(line), tokenize=False) for line in lines]
        self.samples = tokenizer(texts, truncation=True, max_length=length, padding="max_length", return_tensors="pt")

    def __len__(self):
        return len(self.samples["input_ids"])

    def __getitem__(self, index):
        ids = self.samples["input_ids"][index]
        return {"input_ids": ids, "attention_mask": self.samples["attention_mask"][index], "labels": ids.clone()}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--config", default="configs/sft.yaml")
    with open(parser.parse_args().config, encoding="utf-8") as file:
        config = yaml.safe_load(file)

    tokenizer = AutoTokenizer.from_pretrained(config["base_model"])
    model = AutoModelForCausalLM.from_pretrained(config["base_model"], torch_dtype=torch.bfloat16)
    model = get_peft_model(
        model,
        LoraConfig(
            r=config["lora_r"],
            lora_alpha=config["lora_alpha"],
            target_modules=["q_proj", "k_proj", "v_proj", "o_proj"],
            task_type="CAUSAL_LM",
        ),
    )
    trainer = Trainer(
        model=model,
        args=TrainingArguments(
            output_dir=config["output_dir"],
            per_device_train_batch_size=config["micro_batch_size"],
            gradient_accumulation_steps=config["gradient_accumulation_steps"],
            learning_rate=config["learning_rate"],
            num_train_epochs=config["num_epochs"],
            bf16=config["bf16"],
            gradient_checkpointing=config["gradient_checkpointing"],
        ),
        train_dataset=Conversations(config["data_path"], tokenizer, config["max_seq_length"]),
    )
    trainer.train()
    model.save_pretrained(config["output_dir"])


if __name__ == "__main__":
    main()
