"""One network that is trained from nothing is the same one wherever its sizes are written, and whatever they are called there."""

from __future__ import annotations

import pytest

from gpu_lol_action.analysis.answer.assemble import Analysis, analyze
from tests.unit.analysis.conftest import Build

NET = """import torch
import torch.nn as nn
import torch.nn.functional as F


class Net(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.table = nn.Embedding(32000, c.{wide})
        self.body = nn.ModuleList([nn.TransformerEncoderLayer(c.{wide}, 8, 4 * c.{wide}) for _ in range(c.{deep})])
        self.head = nn.Linear(c.{wide}, 32000)

    def forward(self, x, y):
        h = self.table(x)
        for part in self.body:
            h = part(h)
        return F.cross_entropy(self.head(h).flatten(0, 1), y.flatten())
"""
CONFIG = """

@dataclass
class NetConfig:
    {deep}: int = 4
    {wide}: int = 256
    {reach}: int = 128
"""
LOOP = """
net = Net(config).cuda()
optimizer = torch.optim.AdamW(net.parameters())
row = np.memmap("train.bin", dtype=np.uint16)
for step in range(1000):
    at = torch.randint(len(row) - {length}, ({many},))
    x = torch.stack([torch.tensor(row[i : i + {length}]) for i in at])
    y = torch.stack([torch.tensor(row[i + 1 : i + 1 + {length}]) for i in at])
    loss = net(x.cuda(), y.cuda())
    loss.backward()
    optimizer.step()
"""
USUAL = {"deep": "n_layer", "wide": "n_embd", "reach": "block_size", "bunch": "batch_size"}
ODD = {"deep": "storeys", "wide": "breadth", "reach": "reach", "bunch": "bunch"}
SIZES = {"deep": 16, "wide": 768, "reach": 640, "bunch": 7}
GIVEN = "{deep}=16, {wide}=768, {reach}=640"
LINES = "".join(f"{{{word}}} = {size}\n" for word, size in SIZES.items())
OLD = "{deep} = 4\n{wide} = 256\n{reach} = 128\n{bunch} = 2\n"
ROWS = "PRESETS = {{\n    'small': dict({deep}=4, {wide}=256, {reach}=128),\n    'large': dict({deep}=16, {wide}=768, {reach}=640),\n}}\n"
MORE = ROWS.replace("}}", "    'tiny': dict({deep}=2, {wide}=128, {reach}=64),\n}}")
YAML = "{deep}: 16\n{wide}: 768\n{reach}: 640\n{bunch}: 7\n"
CHOICE = "p = argparse.ArgumentParser()\np.add_argument('--size', default='small')\na = p.parse_args()\n"
TAKEN = "config = NetConfig({deep}={deep}, {wide}={wide}, {reach}={reach})\n"
WAYS: dict[str, tuple[str, dict[str, str], str, str]] = {
    "names that are set together": ("{deep}, {wide} = 16, 768\n{reach}, {bunch} = 640, 7\n" + TAKEN, {}, "{reach}", "{bunch}"),
    "what a constructor is given": ("config = NetConfig(" + GIVEN + ")\n", {}, "config.{reach}", "7"),
    "what a dictionary hands it": ("given = dict(" + GIVEN + ")\nconfig = NetConfig(**given)\n", {}, "config.{reach}", "7"),
    "one of two presets": (ROWS + "config = NetConfig(**PRESETS['large'])\n", {}, "640", "7"),
    "one of three presets": (MORE + "config = NetConfig(**PRESETS['large'])\n", {}, "640", "7"),
    "a preset that the command says": (
        CHOICE + MORE + "config = NetConfig(**PRESETS[a.size])\n", {"run.sh": "python train.py --size large\n"}, "640", "7",
    ),
    "one of two that the command says": (
        CHOICE + ROWS + "config = NetConfig(**PRESETS[a.size])\n", {"run.sh": "python train.py --size large\n"}, "640", "7",
    ),
    "a file that is run among its variables": (
        OLD + "exec(open('configurator.py').read())\n" + TAKEN,
        {"config/large.py": LINES, "configurator.py": "import sys\nexec(open(sys.argv[1]).read())\n", "run.sh": "python train.py config/large.py\n"},
        "{reach}",
        "{bunch}",
    ),
    "a file that is handed whole": (
        "cfg = yaml.safe_load(open('net.yaml'))\nconfig = NetConfig(**cfg)\n", {"net.yaml": YAML.replace("{bunch}: 7\n", "")}, "640", "7",
    ),
    "a tree of nodes": (
        "cfg = get_cfg()\nconfig = cfg.NET\n",
        {"nodes.py": "from yacs.config import CfgNode as CN\n\n_C = CN()\n_C.NET = CN()\n_C.NET.{deep} = 16\n_C.NET.{wide} = 768\n"
         "_C.RUN = CN()\n_C.RUN.{reach} = 640\n_C.RUN.{bunch} = 7\n\n\ndef get_cfg():\n    return _C.clone()\n"},
        "cfg.RUN.{reach}",
        "cfg.RUN.{bunch}",
    ),
}  # fmt: skip
IMPORTS = "import argparse\nimport numpy as np\nimport torch\nimport yaml\nfrom nodes import get_cfg\nfrom net import Net, NetConfig\n\n"


def value(analysis: Analysis, field: str) -> str:
    found = [f for f in analysis.findings if f.field == field]
    return max(found, key=lambda f: f.confidence).value if found else ""


def weights_of(deep: int, wide: int) -> int:
    """Return the weights of the network: a table, a head with its bias, and layers of attention, two products and two norms."""
    layer = 4 * wide * wide + 4 * wide + 8 * wide * wide + 5 * wide + 4 * wide
    return 32000 * wide + 32000 * wide + 32000 + deep * layer


@pytest.mark.parametrize("names", [USUAL, ODD], ids=["usual names", "odd names"])
@pytest.mark.parametrize("way", WAYS)
def test_its_sizes_are_found(checkout: Build, way: str, names: dict[str, str]) -> None:
    before, files, length, many = WAYS[way]
    tree = {path: text.format(**names) for path, text in files.items()}
    fields = CONFIG if "NetConfig(" in before else "\n\nNetConfig = None\n"
    tree["net.py"] = "from dataclasses import dataclass\n\n" + (NET + fields).format(**names)
    program = before.format(**names) + LOOP.format(length=length.format(**names), many=many.format(**names))

    analysis = analyze(checkout({**tree, "train.py": IMPORTS + program, "requirements.txt": "torch\nnumpy\n"}))

    assert float(value(analysis, "media.own_parameters")) == pytest.approx(weights_of(16, 768), rel=0.001)
    assert value(analysis, "training.sequence_length") == "640"
    assert value(analysis, "training.batch_size") == "7"


def test_what_a_library_makes_a_command_of_is_given_by_that_command(checkout: Build) -> None:
    program = (
        "import fire\nimport numpy as np\nimport torch\nfrom net import Net, NetConfig\n\n\n"
        "def main(storeys=4, breadth=256, reach=128, bunch=2):\n    config = NetConfig(storeys, breadth, reach)\n"
        + "".join(f"    {line}\n" for line in LOOP.format(length="reach", many="bunch").strip().split("\n"))
        + "\n\nfire.Fire(main)\n"
    )
    net = "from dataclasses import dataclass\n\n" + (NET + CONFIG).format(**ODD)
    files = {"net.py": net, "train.py": program, "requirements.txt": "torch\nfire\n"}

    alone = analyze(checkout(files))
    told = analyze(checkout({**files, "run.sh": "python train.py --storeys 16 --breadth 768 --reach 640 --bunch 7\n"}))

    assert (value(alone, "training.batch_size"), value(alone, "training.sequence_length")) == ("2", "128")
    assert (value(told, "training.batch_size"), value(told, "training.sequence_length")) == ("7", "640")
    assert float(value(told, "media.own_parameters")) == pytest.approx(weights_of(16, 768), rel=0.001)


def test_what_may_be_made_with_anything_is_not_what_it_starts_with(checkout: Build) -> None:
    program = IMPORTS + "config = NetConfig(**somewhere())\n" + LOOP.format(length="config.reach", many="7")
    net = "from dataclasses import dataclass\n\n" + (NET + CONFIG).format(**ODD)

    analysis = analyze(checkout({"net.py": net, "train.py": program, "requirements.txt": "torch\n"}))

    assert value(analysis, "training.sequence_length") == ""


def test_two_parts_of_one_whole_both_count(checkout: Build) -> None:
    """A pair of like dictionaries of which the program takes both is no choice."""
    whole = "CFG = {'net': {'n_layer': 16, 'n_embd': 768, 'n_head': 8}, 'run': {'n_layer': 16, 'batch_size': 7, 'n_head': 8}}\n"
    program = IMPORTS + whole + "print(CFG['net'], CFG['run'])\nconfig = NetConfig(n_layer=CFG['net']['n_layer'])\n"
    net = "from dataclasses import dataclass\n\n" + (NET + CONFIG).format(**USUAL)

    analysis = analyze(
        checkout(
            {"net.py": net, "train.py": program + LOOP.format(length="640", many="many"), "requirements.txt": "torch\n"}
        )
    )

    assert value(analysis, "training.batch_size") == "7"
    assert value(analysis, "model.layers") == "16"


SIZES = """from transformers import GPT2Config, GPT2LMHeadModel

SIZES = {
    "base": {"n_layer": 12, "n_head": 12, "n_embd": 768},
    "large": {"n_layer": 36, "n_head": 20, "n_embd": 1280},
    "xl": {"n_layer": 48, "n_head": 25, "n_embd": 1600},
}


def build(size):
    \"\"\"Build a network, like ``SIZES["base"]``.\"\"\"
    return GPT2LMHeadModel(GPT2Config(**SIZES[size]))


def tiny():
    return SIZES["base"], ROWS["base"]
"""
BUILT = """import argparse
import torch
from model import build

p = argparse.ArgumentParser()
p.add_argument("--size", default="xl")
args = p.parse_args()
net = build(args.size).cuda()
optimizer = torch.optim.AdamW(net.parameters())
for x in load(batch_size=8, max_length=1024):
    net(x, labels=x["base"]).loss.backward()
    optimizer.step()
"""


@pytest.mark.parametrize("command", ["python train.py", "python train.py --size xl", "python train.py --size SIZE"])
def test_a_preset_is_what_an_option_says_wherever_else_its_words_stand(checkout: Build, command: str) -> None:
    files = {
        "model.py": SIZES,
        "train.py": BUILT,
        "requirements.txt": "transformers\n",
        "README.md": f"```\n{command}\n```\n",
    }

    assert value(analyze(checkout(files)), "model.layers") == "48"


def test_parts_of_one_whole_both_stay(checkout: Build) -> None:
    program = """import torch
from transformers import AutoModelForSequenceClassification

config = {
    "model": {"name": "roberta-large", "lr": 1e-5, "dropout": 0.1},
    "data": {"name": "imdb", "lr": 0, "batch_size": 24, "max_length": 384},
}
model = AutoModelForSequenceClassification.from_pretrained("FacebookAI/roberta-large").cuda()
optimizer = torch.optim.AdamW(model.parameters())
for batch in load(**config["model"]):
    model(**batch).loss.backward()
    optimizer.step()
"""

    analysis = analyze(checkout({"train.py": program, "requirements.txt": "transformers\n"}))

    assert (value(analysis, "training.batch_size"), value(analysis, "training.sequence_length")) == ("24", "384")


def test_the_half_that_judges_is_not_the_run_s(checkout: Build) -> None:
    program = """import torch
from transformers import AutoModelForSequenceClassification

LOADERS = {
    "train": {"batch_size": 16, "max_length": 384, "shuffle": True},
    "test": {"batch_size": 256, "max_length": 384, "shuffle": False},
}
model = AutoModelForSequenceClassification.from_pretrained("FacebookAI/roberta-large").cuda()
optimizer = torch.optim.AdamW(model.parameters())
for kind in LOADERS:
    for batch in load(**LOADERS[kind]):
        model(**batch).loss.backward()
        optimizer.step()
judge(model, LOADERS["test"])
"""

    assert (
        value(analyze(checkout({"train.py": program, "requirements.txt": "transformers\n"})), "training.batch_size")
        == "16"
    )


def test_a_file_that_is_run_in_a_function_sets_nothing_of_the_module(checkout: Build) -> None:
    names = USUAL
    before = (
        OLD.format(**names)
        + "def later():\n    exec(open('configurator.py').read())\n\n\nlater()\n"
        + TAKEN.format(**names)
    )
    program = IMPORTS + before + LOOP.format(length="640", many="7")
    net = "from dataclasses import dataclass\n\n" + (NET + CONFIG).format(**names)
    files = {
        "net.py": net,
        "train.py": program,
        "config/large.py": LINES.format(**names),
        "run.sh": "python train.py config/large.py\n",
    }

    analysis = analyze(checkout({**files, "requirements.txt": "torch\nnumpy\n"}))

    assert float(value(analysis, "media.own_parameters")) == pytest.approx(weights_of(4, 256), rel=0.001)
