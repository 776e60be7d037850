"""One run is the same one however its modules are laid out and its command is made."""

from __future__ import annotations

import pytest

from gpu_lol_action.analysis.answer.assemble import Analysis, analyze
from gpu_lol_action.domain.finding import Confidence
from tests.unit.analysis.conftest import Build

MODEL = 'from transformers import AutoModelForCausalLM\n\n\ndef load(brain):\n    return AutoModelForCausalLM.from_pretrained(brain, torch_dtype="bfloat16")\n'
HEAD = "from datasets import load_dataset\nfrom peft import LoraConfig\nfrom trl import SFTConfig, SFTTrainer\n"
BODY = """    config = SFTConfig("out", per_device_train_batch_size=bunch, max_length=window, gradient_checkpointing=False)
    SFTTrainer(load(brain), config, train_dataset=load_dataset("a/b"), peft_config=LoraConfig(r=48)).train()
"""
PARSED = (
    "import argparse\n"
    + HEAD
    + "{taken}\n\n\ndef main():\n    p = argparse.ArgumentParser()\n    p.add_argument('--brain', default='Qwen/Qwen2.5-7B')\n"
    "    p.add_argument('--bunch', type=int, default=3)\n    p.add_argument('--window', type=int, default=3072)\n    args = p.parse_args()\n"
    + BODY.replace("=bunch", "=args.bunch")
    .replace("=window", "=args.window")
    .replace("load(brain)", "load(args.brain)")
)
GUARD = "\n\nif __name__ == '__main__':\n    {}()\n"
TYPER = (
    HEAD
    + "import typer\nfrom model import load\n\napp = typer.Typer()\n\n\n@app.command()\ndef tune(brain: str = 'gpt2', bunch: int = 1, window: int = 128):\n"
    + BODY
)
CLICK = (
    "import click\n"
    + HEAD
    + "from model import load\n\n\n@click.group()\ndef cli():\n    pass\n\n\n@cli.command()\n@click.option('--brain', default='gpt2')\n"
    "@click.option('--bunch', default=1)\n@click.option('--window', default=128)\ndef tune(brain, bunch, window):\n"
    + BODY
)
TOLD = "{} tune --brain Qwen/Qwen2.5-7B --bunch 3 --window 3072\n"
LAYOUTS = {
    "beside each other": {"model.py": MODEL, "train.py": PARSED.format(taken="from model import load") + GUARD.format("main")},
    "a package's own program": {
        "kit/__init__.py": "", "kit/model.py": MODEL, "kit/cli.py": PARSED.format(taken="from .model import load"),
        "kit/__main__.py": "from kit.cli import main\n\nmain()\n", "run.sh": "python -m kit\n",
    },
    "what a package hands on": {
        "kit/__init__.py": "from .model import load\n", "kit/model.py": MODEL,
        "train.py": PARSED.format(taken="from kit import load") + GUARD.format("main"),
    },
    "a command of typer's": {"model.py": MODEL, "cli.py": TYPER + GUARD.format("app"), "run.sh": TOLD.format("python cli.py")},
    "a command of click's": {"model.py": MODEL, "cli.py": CLICK + GUARD.format("cli"), "run.sh": TOLD.format("python cli.py")},
}  # fmt: skip


def told(analysis: Analysis, field: str) -> tuple[str, Confidence] | None:
    found = [(each.confidence, each.value) for each in analysis.findings if each.field == field]
    best = max(found, key=lambda each: each[0], default=None)
    return (best[1], best[0]) if best is not None else None


@pytest.mark.parametrize("layout", LAYOUTS)
def test_its_values_are_found(checkout: Build, layout: str) -> None:
    analysis = analyze(checkout({**LAYOUTS[layout], "requirements.txt": "torch\ntransformers\ntrl\npeft\n"}))

    assert told(analysis, "training.batch_size") == ("3", Confidence.HIGH)
    assert told(analysis, "training.sequence_length") == ("3072", Confidence.HIGH)
    assert [each.value for each in analysis.findings if each.field == "model.id"][:1] == ["Qwen/Qwen2.5-7B"]


def test_a_command_that_is_called_elsewhere_is_given_what_calls_it_says(checkout: Build) -> None:
    program = TYPER + "\n\ndef both():\n    tune('gpt2', 9, 512)\n" + GUARD.format("app")
    files = {"model.py": MODEL, "cli.py": program, "run.sh": TOLD.format("python cli.py")}

    analysis = analyze(checkout({**files, "requirements.txt": "torch\ntransformers\ntrl\npeft\n"}))

    assert told(analysis, "training.batch_size") in {("9", Confidence.HIGH), ("3", Confidence.HIGH)}
    assert told(analysis, "training.sequence_length") != ("128", Confidence.HIGH)


def test_a_program_that_does_something_itself_hands_nothing_on(checkout: Build) -> None:
    helper = "def main(batch_size=512, max_length=64):\n    return batch_size, max_length\n"
    program = (
        "import helper\n\n\nclass Mine:\n    batch_size = 2\n\n\n"
        + HEAD
        + "helper.main()\nSFTTrainer('gpt2', SFTConfig('out'), train_dataset=1).train()\n"
    )

    analysis = analyze(checkout({"helper.py": helper, "train.py": program, "requirements.txt": "trl\n"}))

    assert told(analysis, "training.batch_size") == ("2", Confidence.HIGH)


WORK = """from transformers import AutoModelForSequenceClassification, AutoTokenizer, Trainer, TrainingArguments

NAME = "FacebookAI/roberta-large"


def build():
    return AutoModelForSequenceClassification.from_pretrained(NAME)


def predict(texts, batch_size=128, max_length=64):
    return texts[:batch_size], max_length
"""


def test_a_short_program_that_trains_is_the_program_itself(checkout: Build) -> None:
    program = "from transformers import Trainer, TrainingArguments\n\nfrom work import build\n\nTrainer(build(), TrainingArguments('out'), train_dataset=1).train()\n"

    analysis = analyze(checkout({"work.py": WORK, "train.py": program, "requirements.txt": "transformers\n"}))

    assert told(analysis, "training.batch_size") not in {("128", Confidence.HIGH), ("64", Confidence.HIGH)}
    assert told(analysis, "training.sequence_length") != ("64", Confidence.HIGH)


def test_one_of_several_commands_is_not_the_module_s_every_word(checkout: Build) -> None:
    cli = (
        "import argparse\nfrom lab.work import build\n\n\ndef main():\n    p = argparse.ArgumentParser()\n    s = p.add_subparsers()\n"
        "    t = s.add_parser('train')\n    e = s.add_parser('embed')\n    e.add_argument('--batch_size', type=int, default=512)\n"
        "    Trainer(build(), TrainingArguments('out'), train_dataset=1).train()\n"
    )
    files = {
        "lab/__init__.py": "", "lab/__main__.py": "from lab.cli import main\n\nmain()\n", "lab/cli.py": cli, "lab/work.py": WORK,
        "run.sh": "python -m lab train\n", "requirements.txt": "transformers\n",
    }  # fmt: skip

    assert told(analyze(checkout(files)), "training.batch_size") != ("512", Confidence.HIGH)


LOADERS = {
    "a project's own": ("class DataLoader:\n    def __init__(self, path, length, samples):\n        self.path = path\n", "DataLoader('tokens.npy', 1024, 8)", None),
    "PyTorch's": ("from torch.utils.data import DataLoader\n", "DataLoader(rows, 24)", ("24", Confidence.HIGH)),
    "PyTorch's by its module": ("import torch.utils.data as data\n", "data.DataLoader(rows, 24)", ("24", Confidence.HIGH)),
}  # fmt: skip


@pytest.mark.parametrize("kind", LOADERS)
def test_a_loader_s_second_place_is_a_batch_where_it_is_pytorch_s(checkout: Build, kind: str) -> None:
    made, loader, batch = LOADERS[kind]
    program = (
        f"import torch\n{made}\nfrom transformers import AutoModel\n\nnet = AutoModel.from_pretrained('FacebookAI/roberta-large').cuda()\n"
        f"optimizer = torch.optim.AdamW(net.parameters())\nfor x in {loader}:\n    net(x).loss.backward()\n    optimizer.step()\n"
    )

    assert (
        told(
            analyze(checkout({"train.py": program, "requirements.txt": "torch\ntransformers\n"})), "training.batch_size"
        )
        == batch
    )
