"""What a library is handed says what a value means: a length is one wherever it is written, and whatever it is called there."""

from __future__ import annotations

import pytest

from gpu_lol_action.analysis.answer.assemble import analyze
from tests.unit.analysis.conftest import Build

HEAD = """from datasets import load_dataset
from peft import LoraConfig
from transformers import AutoModelForCausalLM
from trl import SFTConfig, SFTTrainer
"""
BODY = """model = AutoModelForCausalLM.from_pretrained({model})
arguments = SFTConfig("out", per_device_train_batch_size={batch}, max_length={length}, gradient_checkpointing=False)
adapters = LoraConfig(r={rank}, task_type="CAUSAL_LM")
SFTTrainer(model, arguments, train_dataset=load_dataset("a/b"), peft_config=adapters).train()
"""
CONFIG = "net:\n  brain: Qwen/Qwen2.5-7B\n  lodim: 48\ndata:\n  bunch: 3\n  window: 3072\n"
BY_KEY = ('cfg["net"]["brain"]', 'cfg["data"]["bunch"]', 'cfg["data"]["window"]', 'cfg["net"]["lodim"]')
BY_DOT = ("cfg.net.brain", "cfg.data.bunch", "cfg.data.window", "cfg.net.lodim")
CAPITALS = ("BRAIN", "BUNCH", "WINDOW", "LODIM")
PLAIN = ("brain", "bunch", "window", "lodim")
CONSTANTS = 'BRAIN = "Qwen/Qwen2.5-7B"\nBUNCH = 3\nWINDOW = 3072\nLODIM = 48\n'


def of(base: str, names: tuple[str, ...] = PLAIN) -> tuple[str, ...]:
    return tuple(f"{base}.{name}" for name in names)


def program(before: str, told: tuple[str, ...]) -> str:
    return HEAD + before + BODY.format(model=told[0], batch=told[1], length=told[2], rank=told[3])


def function(head: str, before: str, told: tuple[str, ...], after: str) -> str:
    body = BODY.format(model=told[0], batch=told[1], length=told[2], rank=told[3])
    return HEAD + before + head + "\n" + "".join(f"    {line}\n" for line in body.splitlines()) + after


FORMS = {
    "yaml": {"config.yaml": CONFIG, "train.py": program("cfg = yaml.safe_load(open('config.yaml'))\n", BY_KEY)},
    "omegaconf": {"config.yaml": CONFIG, "train.py": program("cfg = OmegaConf.load('config.yaml')\n", BY_DOT)},
    "a path of parts": {
        "configs/small.yaml": CONFIG,
        "train.py": program("HERE = Path(__file__).parent\ncfg = load(HERE / 'configs' / 'small.yaml')\n", BY_KEY),
    },
    "hydra's groups": {
        "conf/config.yaml": "defaults:\n  - net: qwen\n  - data: short\n",
        "conf/net/qwen.yaml": "brain: Qwen/Qwen2.5-7B\nlodim: 48\n",
        "conf/data/short.yaml": "bunch: 3\nwindow: 3072\n",
        "train.py": "import hydra\n"
        + function(
            '@hydra.main(config_path="conf", config_name="config")\ndef main(cfg):', "", BY_DOT, "\n\nmain()\n"
        ),
    },
    "an imported constant": {
        "settings.py": CONSTANTS,
        "train.py": program("from settings import BRAIN, BUNCH, LODIM, WINDOW\n", CAPITALS),
    },
    "every constant": {"settings.py": CONSTANTS, "train.py": program("from settings import *\n", CAPITALS)},
    "an imported module": {
        "settings.py": CONSTANTS,
        "train.py": program("import settings as s\n", of("s", CAPITALS)),
    },
    "a parser elsewhere": {
        "options.py": "import argparse\n\n\ndef parse():\n    p = argparse.ArgumentParser()\n"
        "    p.add_argument('--brain', default='Qwen/Qwen2.5-7B')\n    p.add_argument('--bunch', type=int, default=3)\n"
        "    p.add_argument('--window', type=int, default=3072)\n    p.add_argument('--lo-dim', type=int, default=48)\n"
        "    return p.parse_args()\n",
        "train.py": program("from options import parse\nargs = parse()\n", (*of("args")[:3], "args.lo_dim")),
    },
    "a function that makes it": {
        "settings.py": "import ml_collections\n\n\ndef get_config():\n    c = ml_collections.ConfigDict()\n"
        "    c.brain = 'Qwen/Qwen2.5-7B'\n    c.bunch = 3\n    c.window = 3072\n    c.lodim = 48\n    return c\n",
        "train.py": program("from settings import get_config\nmine = get_config()\n", of("mine")),
    },
    "a namespace": {
        "train.py": program(
            "ns = SimpleNamespace(brain='Qwen/Qwen2.5-7B', bunch=3, window=3072, lodim=48)\n", of("ns")
        ),
    },
    "who calls it": {
        "train.py": function(
            "def fit(brain, bunch, window=128, lodim=4):",
            "",
            PLAIN,
            "\n\nfit('Qwen/Qwen2.5-7B', 3, window=3072, lodim=48)\n",
        ),
    },
    "who calls it elsewhere": {
        "fitting.py": function("def fit(brain, bunch, window, lodim):", "", PLAIN, ""),
        "config.yaml": CONFIG,
        "train.py": "import yaml\nfrom fitting import fit\n\ncfg = yaml.safe_load(open('config.yaml'))\n"
        f"fit({BY_KEY[0]}, {BY_KEY[1]}, {BY_KEY[2]}, lodim={BY_KEY[3]})\n",
    },
    "settings that are handed on": {
        "settings.py": "from dataclasses import dataclass\n\n\n@dataclass\nclass Config:\n    brain: str = 'Qwen/Qwen2.5-7B'\n"
        "    bunch: int = 3\n    window: int = 3072\n    lodim: int = 48\n",
        "fitting.py": function("def fit(cfg):", "", of("cfg"), ""),
        "train.py": "from fitting import fit\nfrom settings import Config\n\nfit(Config())\n",
    },
    "an object's own": {
        "train.py": HEAD + "class Fit:\n    def __init__(self, brain, bunch, window, lodim):\n"
        "        self.brain = brain\n        self.bunch = bunch\n        self.window = window\n        self.lodim = lodim\n\n"
        "    def run(self):\n"
        + "".join(f"        {line}\n" for line in BODY.format(
            model="self.brain", batch="self.bunch", length="self.window", rank="self.lodim").splitlines())
        + "\n\nFit('Qwen/Qwen2.5-7B', 3, 3072, 48).run()\n",
    },
}  # fmt: skip


@pytest.mark.parametrize("form", FORMS)
def test_the_same_run_is_understood_in_every_form(checkout: Build, form: str) -> None:
    found = analyze(checkout({"requirements.txt": "trl\npeft\n", **FORMS[form]}))
    told = {finding.field: finding.value for finding in found.findings}
    assert told["model.id"] == "Qwen/Qwen2.5-7B"
    assert told["training.batch_size"] == "3"
    assert told["training.sequence_length"] == "3072"
    assert told["training.lora_rank"] == "48"


def test_a_value_is_shown_where_it_is_written(checkout: Build) -> None:
    found = analyze(checkout(FORMS["yaml"]))
    where = {f.field: f"{f.evidence.path}:{f.evidence.line}" for f in found.findings if f.evidence is not None}
    assert where["training.batch_size"] == "config.yaml:5"
    assert where["training.sequence_length"] == "config.yaml:6"


def length(checkout: Build, files: dict[str, str]) -> str | None:
    found = analyze(checkout(files))
    return next((f.value for f in found.findings if f.field == "training.sequence_length"), None)


@pytest.mark.parametrize(("config", "expected"), [({"config.yaml": "window: 3072\n"}, "3072"), ({}, "512")])
def test_a_configuration_goes_before_what_a_program_starts_with(
    checkout: Build, config: dict[str, str], expected: str
) -> None:
    before = "args = load(Options, 'config.yaml')\nclass Options:\n    window: int = 512\n"
    told = ('"Qwen/Qwen2.5-7B"', "3", "args.window", "8")
    assert length(checkout, {**config, "train.py": program(before, told)}) == expected


@pytest.mark.parametrize(
    "calls",
    [
        "fit(1024)\nfit(3072)\n",  # which of them is the run is not told
        "fit(3072)\nfit(measured())\n",
        "\n\ndef debug():\n    fit(3072)\n",
    ],
)
def test_callers_that_do_not_agree_tell_nothing(checkout: Build, calls: str) -> None:
    told = ('"Qwen/Qwen2.5-7B"', "3", "window", "8")
    assert length(checkout, {"train.py": function("def fit(window):", "", told, f"\n\n{calls}")}) is None


def test_a_name_that_is_not_imported_is_another_one(checkout: Build) -> None:
    told = ('"Qwen/Qwen2.5-7B"', "3", "WINDOW", "8")
    files = {"settings.py": CONSTANTS, "train.py": program("from settings import BUNCH\nWINDOW = best()\n", told)}
    assert length(checkout, files) is None


def test_an_entry_of_a_registry_is_one_of_many(checkout: Build) -> None:
    table = "".join(f"dict(name='n{size}', window={size}),\n" for size in (512, 1024, 2048))
    files = {
        "shapes.py": f"class Shape:\n    window: int = 4096\n\n\nSHAPES = [\n{table}]\n",
        "train.py": program("from shapes import Shape\nshape = Shape()\n", ('"gpt2"', "3", "shape.window", "8")),
    }
    assert length(checkout, files) is None


def test_names_that_lead_to_each_other_end(checkout: Build) -> None:
    calls = "".join(f"\n\ndef f{n}(window):\n    f{(n + 1) % 40}(window)\n" for n in range(40))
    told = ('"Qwen/Qwen2.5-7B"', "3", "window", "8")
    assert length(checkout, {"train.py": function("def f40(window):", "", told, calls + "\n\nf0(f0)\n")}) is None


PAIRS = """import torch
from torch.utils.data import Dataset


class Pairs(Dataset):
    def __init__(self, rows, tokenizer, {taken}):
        self.rows, self.tokenizer = rows, tokenizer
        self.{taken} = {taken}

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, i):
        return self.tokenizer(self.rows[i]["a"], max_length=self.{said}, truncation=True, padding="max_length")
"""
ENCODER = """from datasets import load_dataset
from torch.utils.data import DataLoader
from transformers import AutoModelForSequenceClassification, AutoTokenizer

{before}
net = AutoModelForSequenceClassification.from_pretrained("FacebookAI/roberta-large").cuda()
tokenizer = AutoTokenizer.from_pretrained("FacebookAI/roberta-large")
rows = load_dataset("a/b", split="train")
for inputs in {loader}:
    net(**inputs).loss.backward()
    optimizer.step()
"""
PARSER = "import argparse\n\n\ndef parse():\n    p = argparse.ArgumentParser()\n    p.add_argument('--reach', type=int, default=384)\n    return p.parse_args()\n\n\nargs = parse()\n"
OF_ITEMS = {
    "what its data set is made with": (
        {"pairs.py": PAIRS.format(taken="reach", said="reach")},
        "from pairs import Pairs",
        "DataLoader(Pairs(rows, tokenizer, 384), batch_size=24)",
    ),
    "a batch by its place": (
        {"pairs.py": PAIRS.format(taken="reach", said="reach")},
        "from pairs import Pairs",
        "DataLoader(Pairs(rows, tokenizer, reach=384), 24)",
    ),
    "options that its data set is handed": (
        {"pairs.py": PAIRS.format(taken="args", said="args.reach")},
        PARSER + "from pairs import Pairs",
        "DataLoader(Pairs(rows, tokenizer, args), 24)",
    ),
    "what a function is made with in part": (
        {},
        "from functools import partial\n\n\ndef encode(row, reach):\n    return tokenizer(row['a'], max_length=reach, padding='max_length')\n\n",
        "DataLoader(rows.map(partial(encode, reach=384)), batch_size=24)",
    ),
    "what Lightning keeps": (
        {
            "data.py": "import lightning as L\nfrom torch.utils.data import DataLoader\n\n\nclass Data(L.LightningDataModule):\n"
            "    def __init__(self, tokenizer, bunch, reach):\n        super().__init__()\n        self.save_hyperparameters()\n\n"
            "    def train_dataloader(self):\n        rows = load().map(lambda r: self.tokenizer(r['a'], max_length=self.hparams.reach, padding='max_length'))\n"
            "        return DataLoader(rows, batch_size=self.hparams.bunch)\n\n\ndef collate(rows):\n    return rows\n"
        },
        "from data import Data",
        "Data(tokenizer, 24, 384).train_dataloader()",
    ),
}  # fmt: skip


@pytest.mark.parametrize("way", OF_ITEMS)
def test_samples_that_a_data_set_makes_are_cut_as_it_is_told(checkout: Build, way: str) -> None:
    files, before, loader = OF_ITEMS[way]

    analysis = analyze(checkout({**files, "train.py": ENCODER.format(before=before, loader=loader)}))

    best = {each.field: each.value for each in sorted(analysis.findings, key=lambda each: each.confidence)}
    assert (best.get("training.batch_size"), best.get("training.sequence_length")) == ("24", "384")


def test_a_model_is_loaded_by_the_options_that_its_module_is_handed(checkout: Build) -> None:
    net = "from transformers import AutoModel\nimport torch.nn as nn\n\n\nclass Net(nn.Module):\n    def __init__(self, args):\n        super().__init__()\n        self.body = AutoModel.from_pretrained(args.brain)\n"
    program = (
        "import argparse\nimport torch\nfrom net import Net\n\np = argparse.ArgumentParser()\np.add_argument('--brain', default='FacebookAI/roberta-large')\n"
        "args = p.parse_args()\nnet = Net(args).cuda()\noptimizer = torch.optim.AdamW(net.parameters())\nnet(1).loss.backward()\noptimizer.step()\n"
    )

    analysis = analyze(checkout({"net.py": net, "train.py": program}))

    assert "FacebookAI/roberta-large" in [each.value for each in analysis.findings if each.field == "model.id"]
    assert analysis.spec.hardware.vram_required_gb is not None


def test_the_first_module_of_a_sentence_transformer_is_its_model(checkout: Build) -> None:
    program = (
        "from sentence_transformers import SentenceTransformer, losses, models\n\nword = models.Transformer('FacebookAI/roberta-large')\n"
        "net = SentenceTransformer(modules=[word, models.Pooling(1024)])\nnet.fit([(loader, losses.MultipleNegativesRankingLoss(net))])\n"
    )

    analysis = analyze(checkout({"train.py": program}))

    assert "FacebookAI/roberta-large" in [each.value for each in analysis.findings if each.field == "model.id"]
