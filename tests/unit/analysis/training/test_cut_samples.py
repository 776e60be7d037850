"""A program that cuts its samples out of a long row of tokens says how long they are, and how many, whatever it calls that."""

from __future__ import annotations

import pytest

from gpu_lol_action.analysis.answer.assemble import Analysis, analyze
from gpu_lol_action.domain.finding import Confidence
from tests.unit.analysis.conftest import Build

MODEL = """import torch
import torch.nn as nn
import torch.nn.functional as F


class Net(nn.Module):
    def __init__(self, words, wide, deep):
        super().__init__()
        self.table = nn.Embedding(words, wide)
        self.body = nn.ModuleList([nn.TransformerEncoderLayer(wide, 8, 4 * wide) for _ in range(deep)])
        self.head = nn.Linear(wide, words)

    def forward(self, x, y):
        h = self.table(x)
        for part in self.body:
            h = part(h)
        return F.cross_entropy(self.head(h).flatten(0, 1), y.flatten())
"""
HEAD = "import numpy as np\nimport torch\nfrom torch.utils.data import DataLoader, Dataset, IterableDataset\n\nfrom model import Net\n\n"
STEPS = """
net = Net(32000, 512, 8).cuda()
optimizer = torch.optim.AdamW(net.parameters())
for step in range(1000):
    x, y = {get}
    loss = net(x.cuda(), y.cuda())
    loss.backward()
    optimizer.step()
"""
DRAWN = """row = np.memmap("train.bin", dtype=np.uint16)


def piece():
    at = {draw}
    x = np.stack([row[i : i + 768] for i in at])
    y = np.stack([row[i + 1 : i + 1 + 768] for i in at])
    return torch.tensor(x), torch.tensor(y)

"""
ITEMS = """class Rows(Dataset):
    def __init__(self, row, reach):
        self.row = row
        self.reach = reach

    def __len__(self):
        return len(self.row) // self.reach

    def __getitem__(self, index):
        {cut}


loader = iter(DataLoader(Rows(np.load("tokens.npy"), {given}), batch_size=5))
"""
LITE = """class Lite:
    def __init__(self, B, T):
        self.B = B
        self.T = T
        self.tokens = np.load("tokens.npy")
        self.place = 0

    def next(self):
        B, T = self.B, self.T
        buffer = torch.tensor(self.tokens[self.place : self.place + B * T + 1])
        return buffer[:-1].view(B, T), buffer[1:].view(B, T)


loader = Lite({given})
"""
STREAM = """class Stream(IterableDataset):
    def __init__(self, row, reach):
        self.row, self.reach = row, reach

    def __iter__(self):
        for i in range(0, len(self.row), self.reach):
            begin = i
            end = begin + self.reach + 1
            piece = torch.tensor(self.row[begin:end])
            yield piece[:-1], piece[1:]


loader = iter(DataLoader(Stream(np.load("tokens.npy"), 768), batch_size=5))
"""
PARAMETERS = """row = np.load("tokens.npy")


def piece(many, reach):
    at = torch.randint(len(row) - reach, (many,))
    return torch.stack([row[i : i + reach] for i in at]), torch.stack([row[i + 1 : i + reach + 1] for i in at])

"""
TWO_LINES = """start = index * self.reach
        end = start + self.reach
        return self.row[start:end], self.row[start + 1 : end + 1]"""
WAYS = {
    "drawn by torch": (DRAWN.format(draw="torch.randint(len(row) - 768, (5,))"), "piece()"),
    "drawn by torch between": (DRAWN.format(draw="torch.randint(0, len(row) - 768, size=(5,)).tolist()"), "piece()"),
    "drawn by numpy": (DRAWN.format(draw="np.random.randint(0, len(row) - 768, 5)"), "piece()"),
    "drawn by a generator": (
        DRAWN.format(draw="np.random.default_rng(1).integers(0, len(row) - 768, size=5)"),
        "piece()",
    ),
    "a sample of places": (DRAWN.format(draw="random.sample(range(len(row) - 768), 5)"), "piece()"),
    "who calls it": (PARAMETERS, "piece(5, 768)"),
    "who calls it by name": (PARAMETERS, "piece(many=5, reach=768)"),
    "items": (
        ITEMS.format(
            cut="return self.row[index * self.reach : (index + 1) * self.reach], self.row[index * self.reach + 1 : (index + 1) * self.reach + 1]",
            given="768",
        ),
        "next(loader)",
    ),
    "items by a window": (
        ITEMS.format(
            cut="piece = self.row[index : index + self.reach + 1]\n        return piece[:-1], piece[1:]",
            given="reach=768",
        ),
        "next(loader)",
    ),
    "items in steps": (ITEMS.format(cut=TWO_LINES, given="768"), "next(loader)"),
    "a row laid out": (LITE.format(given="5, 768"), "loader.next()"),
    "a row laid out, by name": (LITE.format(given="B=5, T=768"), "loader.next()"),
    "a stream": (STREAM, "next(loader)"),
}


def value(analysis: Analysis, field: str) -> str:
    found = [f for f in analysis.findings if f.field == field]
    return max(found, key=lambda f: f.confidence).value if found else ""


@pytest.mark.parametrize("way", WAYS)
def test_what_is_cut_out_is_a_sample(checkout: Build, way: str) -> None:
    data, get = WAYS[way]
    program = HEAD + data + STEPS.format(get=get)

    analysis = analyze(checkout({"model.py": MODEL, "train.py": program, "requirements.txt": "torch\n"}))

    assert value(analysis, "training.batch_size") == "5"
    assert value(analysis, "training.sequence_length") == "768"


def test_a_sample_is_as_long_as_the_function_that_is_mapped_cuts_it(checkout: Build) -> None:
    program = """from datasets import load_dataset
from transformers import GPT2Config, GPT2LMHeadModel, Trainer, TrainingArguments

REACH = 640


def group(rows):
    joined = sum(rows["input_ids"], [])
    pieces = [joined[i : i + REACH] for i in range(0, len(joined), REACH)]
    return {"input_ids": pieces, "labels": pieces}


data = load_dataset("a/b", split="train").map(group, batched=True)
Trainer(GPT2LMHeadModel(GPT2Config()), TrainingArguments("out"), train_dataset=data).train()
"""

    analysis = analyze(checkout({"train.py": program, "requirements.txt": "transformers\n"}))

    assert value(analysis, "training.sequence_length") == "640"


NOT_SAMPLES = {
    "batches of a list": "\n\ndef some(rows, many):\n    return [rows[i : i + many] for i in range(0, len(rows), many)]\n\n\nparts = some(list(range(90)), 32)\n",
    "what a validation draws": "\n\ndef validate(row):\n    at = torch.randint(len(row) - 96, (64,))\n    return torch.stack([row[i : i + 96] for i in at])\n",
    "keras' batches": "\n\nclass Rows(keras.utils.Sequence):\n    def __getitem__(self, index):\n        return self.row[index * 64 : (index + 1) * 64]\n",
    "two lengths": DRAWN.format(draw="torch.randint(len(row) - 768, (5,))").replace(
        "row[i + 1 : i + 1 + 768]", "row[i + 1 : i + 1 + 96]"
    ).replace("(5,)", "(n,)"),
    "what is put there": "\n\nclass Rows(Dataset):\n    def __getitem__(self, index):\n        self.row[index : index + 24] = 0\n        return self.row\n",
    "always the same part": "\n\nclass Rows(Dataset):\n    def __getitem__(self, index):\n        return self.row[96:160], self.row[160:184]\n",
    "lines that are walked through": "\n\nclass Rows(IterableDataset):\n    def __iter__(self):\n        for i in range(0, 9000, 1000):\n            for line in self.lines[i : i + 1000]:\n                yield line\n",
    "a batch of rows": "\n\nclass Rows(IterableDataset):\n    def __iter__(self):\n        for i in range(0, 9000, self.batch_size):\n            yield self.rows[i : i + self.batch_size]\n",
    "a stride": "\n\nclass Rows(Dataset):\n    def __getitem__(self, index):\n        return self.row[index : index + 256 : 2]\n",
    "the rest": "\n\nclass Rows(Dataset):\n    def __getitem__(self, index):\n        return self.row[index:], self.row[: index + 256]\n",
    "a ratio": "\n\nclass Rows(Dataset):\n    def __getitem__(self, index):\n        return self.row[index : index + 2 * 64 * len(self.row)], self.row[index : index + REACH * 2]\n\n\nREACH = 128\n",
}  # fmt: skip


@pytest.mark.parametrize("way", NOT_SAMPLES)
def test_other_cuts_say_nothing(checkout: Build, way: str) -> None:
    program = HEAD + NOT_SAMPLES[way] + STEPS.format(get="load()")

    analysis = analyze(checkout({"model.py": MODEL, "train.py": program, "requirements.txt": "torch\n"}))

    assert value(analysis, "training.batch_size") == ""
    assert value(analysis, "training.sequence_length") == ""


def test_what_a_mapped_function_hands_on_is_no_sample(checkout: Build) -> None:
    program = """from datasets import load_dataset
from transformers import GPT2Config, GPT2LMHeadModel, Trainer, TrainingArguments


def scored(rows):
    scores = [s for i in range(0, len(rows["text"]), 64) for s in judge(rows["text"][i : i + 64])]
    return {"score": scores}


data = load_dataset("a/b", split="train").map(scored, batched=True)
Trainer(GPT2LMHeadModel(GPT2Config()), TrainingArguments("out"), train_dataset=data).train()
"""

    analysis = analyze(checkout({"train.py": program, "requirements.txt": "transformers\n"}))

    assert value(analysis, "training.sequence_length") == ""


def test_what_a_module_cuts_is_less_sure_than_what_its_program_does(checkout: Build) -> None:
    rows = ITEMS.format(cut=TWO_LINES, given="768")
    module, loader = rows.split("\n\n\nloader")
    program = HEAD + "from rows import Rows\n\nloader" + loader + STEPS.format(get="next(loader)")
    files = {"model.py": MODEL, "rows.py": HEAD + module, "train.py": program, "requirements.txt": "torch\n"}

    told = [each for each in analyze(checkout(files)).findings if each.field == "training.sequence_length"]

    assert [(each.value, each.confidence) for each in told] == [("768", Confidence.MEDIUM)]


def test_rows_of_other_things_are_no_texts(checkout: Build) -> None:
    sounds = "import torchaudio\n" + WAYS["items"][0].replace("768", "64000")
    program = HEAD + sounds + STEPS.format(get="next(loader)")

    analysis = analyze(checkout({"model.py": MODEL, "train.py": program, "requirements.txt": "torch\n"}))

    assert value(analysis, "training.sequence_length") == ""


def test_what_the_run_says_itself_goes_before(checkout: Build) -> None:
    data, get = WAYS["drawn by numpy"]
    command = "#!/bin/bash\npython train.py --batch-size 2 --max-seq-length 128\n"
    files = {"model.py": MODEL, "train.py": HEAD + data + STEPS.format(get=get), "requirements.txt": "torch\n"}

    analysis = analyze(checkout({**files, "train.sh": command}))

    assert value(analysis, "training.batch_size") == "2"
    assert value(analysis, "training.sequence_length") == "128"


def test_long_sums_and_many_functions_are_looked_at_soon(checkout: Build) -> None:
    long = " + ".join(["a * b * c * d"] * 3000)
    many = "".join(f"\n\ndef f{n}(row):\n    i = randint(0, 9)\n    return row[i : i + n{n}]\n" for n in range(3000))
    turned = "x = " + "(" * 80 + "a + b" + ") * (c + d)" * 80
    program = f"{HEAD}\n\ndef long(row):\n    i = torch.randint(9, (4,))\n    {turned}\n    return row[i : i + {long}]\n{many}"

    analysis = analyze(checkout({"model.py": MODEL, "train.py": program + STEPS.format(get="long(1)")}))

    assert value(analysis, "training.sequence_length") == ""


FORECASTER = """import numpy as np
import torch
import torch.nn as nn
from torch.utils.data import DataLoader, Dataset


class Net(nn.Module):
    def __init__(self, sensors, wide, ahead):
        super().__init__()
        self.begin = nn.Linear(sensors, wide)
        self.body = {body}
        self.end = nn.Linear(wide, sensors)
        self.ahead = ahead

    def forward(self, x):
        return self.end(self.body(self.begin(x)))[:, -self.ahead :]


class Steps(Dataset):
    def __init__(self, values, past, ahead):
        self.values, self.past, self.ahead = values, past, ahead

    def __getitem__(self, i):
        return self.values[i : i + self.past], self.values[i + self.past : i + self.past + self.past]


net = Net(321, 512, 96).cuda()
optimizer = torch.optim.AdamW(net.parameters())
for x, y in DataLoader(Steps(np.load("power.npy"), 720, 96), batch_size=64):
    nn.functional.mse_loss(net(x.cuda()), y.cuda()).backward()
    optimizer.step()
"""


def test_steps_of_time_are_positions(checkout: Build) -> None:
    along = "nn.TransformerEncoder(nn.TransformerEncoderLayer(wide, 8, 4 * wide, batch_first=True), 6)"
    aside = "nn.Sequential(nn.Linear(wide, wide), nn.ReLU(), nn.Linear(wide, wide))"

    steps = analyze(checkout({"train.py": FORECASTER.format(body=along), "requirements.txt": "torch\nnumpy\n"}))
    rows = analyze(checkout({"train.py": FORECASTER.format(body=aside), "requirements.txt": "torch\nnumpy\n"}))

    assert value(steps, "training.sequence_length") == "720"
    assert (value(steps, "media.own_sequence"), value(rows, "media.own_sequence")) == ("yes", "")
    # A layer keeps some 17 numbers of its width for each of 46,080 positions at least (Korthikanti et al. 2022, without scores).
    least = 64 * 720 * 512 * 17 * 4 * 6 / 2**30
    assert least < (steps.spec.hardware.needed_gib or 0) < 2.5 * least
    assert (rows.spec.hardware.needed_gib or 0) < least
