"""A value that other places only seem to tell: each of these was once taken for the run's."""

from __future__ import annotations

import pytest

from gpu_lol_action.analysis.answer.assemble import analyze
from tests.unit.analysis.conftest import Build

HEAD = """import argparse, sys
import torch, yaml
from datasets import load_dataset
from torch.utils.data import DataLoader
from transformers import AutoModelForCausalLM
from trl import SFTConfig, SFTTrainer
"""
LEARNS = """
def learn(loader):
    net = AutoModelForCausalLM.from_pretrained("Qwen/Qwen2.5-7B")
    optimizer = torch.optim.AdamW(net.parameters())
    for batch in loader:
        net(**batch).loss.backward()
        optimizer.step()
"""


def tuned(length: str, *, pad: str = "") -> str:
    lines = (
        'model = AutoModelForCausalLM.from_pretrained("Qwen/Qwen2.5-7B")',
        f'arguments = SFTConfig("out", per_device_train_batch_size=2, max_length={length}, gradient_checkpointing=False)',
        'SFTTrainer(model, arguments, train_dataset=load_dataset("a/b")).train()',
    )
    return "".join(f"{pad}{line}\n" for line in lines)


def told(checkout: Build, field: str, files: dict[str, str]) -> str | None:
    found = analyze(checkout({"requirements.txt": "trl\n", **files}))
    return next((f.value for f in found.findings if f.field == field), None)


GOT, OF_DATA = 'cfg["train"].get("window", 1024)', 'cfg["data"]["window"]'
OF_MINE, OF_OTHER, OF_PART = 'mine["window"]', 'other["window"]', 'part["window"]'
ASKED = 'int(os.environ["WINDOW"])'
OPTION = "p = argparse.ArgumentParser()\np.add_argument('--length', type=int, default=512)\nargs = p.parse_args()\n"
FIT = f"def fit(length=4096):\n{tuned('length', pad='    ')}\n"
LENGTHS: dict[str, tuple[dict[str, str], str | None]] = {
    "another section's entry, beside an option": (
        {"config.yaml": "audio:\n  length: 16000\n", "train.py": f"{OPTION}cfg = yaml.safe_load(open('config.yaml'))\n{tuned('args.length')}"},
        "512",
    ),
    "a section that lacks it": (
        {"config.yaml": "train:\n  lr: 1\neval:\n  window: 8192\n",
         "train.py": f"cfg = yaml.safe_load(open('config.yaml'))\n{tuned(GOT)}"},
        "1024",
    ),
    "what is set after it was loaded": (
        {"config.yaml": "window: 4096\n", "train.py": f"cfg = OmegaConf.load('config.yaml')\ncfg.window = 512\n{tuned('cfg.window')}"},
        "512",
    ),
    "a section that is taken aside": (
        {"config.yaml": "eval:\n  window: 8192\ntrain:\n  window: 1024\n",
         "train.py": f"cfg = yaml.safe_load(open('config.yaml'))\nmine = cfg['train']\n{tuned(OF_MINE)}"},
        "1024",
    ),
    "a section that a function is given": (
        {"config.yaml": "eval:\n  window: 8192\ntrain:\n  window: 1024\n",
         "train.py": f"def fit(part):\n{tuned(OF_PART, pad='    ')}\ncfg = yaml.safe_load(open('config.yaml'))\nfit(cfg['train'])\n"},
        "1024",
    ),
    "a deeper section of the name": (
        {"config.yaml": "teacher:\n  data:\n    window: 8192\ndata:\n  window: 1024\n",
         "train.py": f"cfg = yaml.safe_load(open('config.yaml'))\n{tuned(OF_DATA)}"},
        "1024",
    ),
    "two configurations": (
        {"train.yaml": "window: 1024\n", "data.yaml": "window: 8192\nrows: 5\n",
         "train.py": f"one = yaml.safe_load(open('data.yaml'))\nother = yaml.safe_load(open('train.yaml'))\n{tuned(OF_OTHER)}"},
        None,
    ),
    "what the command says of it": (
        {"config.yaml": "train:\n  window: 4096\n", "README.md": "```\npython train.py train.window=512\n```\n",
         "train.py": f"cfg = OmegaConf.merge(OmegaConf.load('config.yaml'), OmegaConf.from_cli())\n{tuned('cfg.train.window')}"},
        "512",
    ),
    "a call that leaves it at what it starts with": (
        {"train.py": f"{FIT}def overfit_one_batch():\n    fit(length=128)\n\nfit()\n"}, "4096",
    ),
    "two phases": ({"train.py": f"{FIT}def longer():\n    fit(length=32768)\n\nfit()\n"}, "4096"),
    "another function of the name": (
        {"train.py": f"import subprocess\ndef run(name, length=4096):\n{tuned('length', pad='    ')}\n"
                     "subprocess.run('nvidia-smi', 100)\nrun('a')\n"},
        "4096",
    ),
    "an object's method of the name": (
        {"train.py": "class Fitter:\n    def fit(self, data, length=2048):\n" + tuned("length", pad="        ")
                     + "pca.fit(x, 512)\nFitter().fit(y)\n"},
        "2048",
    ),
    "a parameter that has no place": (
        {"train.py": f"def fit(model, *sets, length=4096):\n{tuned('length', pad='    ')}\nLIMIT = 100\nfit(m, LIMIT)\n"}, "4096",
    ),
    "words that nobody counts": (
        {"train.py": f"def fit(out, data, length, batch):\n{tuned('length', pad='    ')}\nfit(*sys.argv[1:3], 32, 5)\n"}, None,
    ),
    "a function that is made into another": (
        {"train.py": f"@on_every_card\ndef fit(rank, length):\n{tuned('length', pad='    ')}\nfit(64)\n"}, None,
    ),
    "another object's": (
        {"train.py": "class Reader:\n    def __init__(self, path, window):\n        self.window = window\n\n"
                     "class Tuner:\n    def __init__(self, cfg):\n        self.window = cfg.longest()\n\n    def run(self):\n"
                     + tuned("self.window", pad="        ") + "Reader('x', 8192)\nTuner(c).run()\n"},
        None,
    ),
    "another class of fields": (
        {"settings.py": "class TrainArgs:\n    window: int\n\n\nclass EvalArgs:\n    window: int = 8192\n",
         "train.py": f"from settings import EvalArgs, TrainArgs\nmine = read(TrainArgs)\n{tuned('mine.window')}"},
        None,
    ),
    "another module's constant": (
        {"settings.py": "SPAN = measured()\n", "clean.py": "SPAN = 100\n",
         "train.py": f"import clean\nfrom settings import SPAN\n{tuned('SPAN')}"},
        None,
    ),
    "another program's parser": (
        {"judge.py": "import argparse\np = argparse.ArgumentParser()\np.add_argument('--window', type=int, default=8192)\n",
         "train.py": "import judge\np = argparse.ArgumentParser()\np.add_argument('--window', type=int, required=True)\n"
                     f"args = p.parse_args()\n{tuned('args.window')}"},
        None,
    ),
    "a function's own variable": (
        {"data.py": "def load_data(p):\n    span = 100\n    return [span]\n",
         "train.py": f"from data import load_data\nds = load_data('x')\n{tuned('ds.span')}"},
        None,
    ),
    "what a judge of the training reads": (
        {"config.yaml": "longest: 32\n",
         "train.py": f"cfg = yaml.safe_load(open('config.yaml'))\nclass Critic:\n    def __init__(self):\n        self.net = LLM(max_model_len=cfg['longest'])\n{tuned('4096')}"},
        "4096",
    ),
    "presets": (
        {"sizes.py": "SHORT = 256\nMID = 512\nLONG = 1024\n",
         "train.py": "import sizes as s\n" + "".join(f"def {n.lower()}():\n    return SFTConfig('out', max_length=s.{n})\n\n" for n in ("SHORT", "MID", "LONG"))
                     + "PRESETS = {'a': short, 'b': mid, 'c': long}\nSFTTrainer(AutoModelForCausalLM.from_pretrained('Qwen/Qwen2.5-7B'), PRESETS[sys.argv[1]]()).train()\n"},
        None,
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", LENGTHS)
def test_a_length_is_the_runs_own(checkout: Build, case: str) -> None:
    files, expected = LENGTHS[case]
    files = {name: HEAD + text if name == "train.py" else text for name, text in files.items()}
    assert told(checkout, "training.sequence_length", files) == expected


SPLIT = "eval:\n  bunch: 64\ntrain:\n  bunch: 8\n"
CFG = "cfg = yaml.safe_load(open('config.yaml'))\n"
BATCHES: dict[str, tuple[dict[str, str], str | None]] = {
    "another function's variable": (
        {"config.yaml": SPLIT, "train.py": f"{CFG}def measure():\n    n = cfg['eval']['bunch']\n    return DataLoader(v, batch_size=n)\n"
                                           "def main():\n    n = cfg['train']['bunch']\n    learn(DataLoader(t, batch_size=n))\nmain()\n"},
        "8",
    ),
    "a parameter that is called so": (
        {"config.yaml": SPLIT, "train.py": f"{CFG}def made(d, n):\n    return DataLoader(d, batch_size=n)\n"
                                           "def measure():\n    n = cfg['eval']['bunch']\n    return n\nlearn(made(t, cfg['train']['bunch']))\n"},
        "8",
    ),
    "a loader for validation": (
        {"train.py": "def made(d, n=8):\n    return DataLoader(d, batch_size=n)\nval = made(v, n=64)\nlearn(made(t))\n"}, "8",
    ),
    "what a module does alone": (
        {"loader.py": "from torch.utils.data import DataLoader\ndef made(d, n=16):\n    return DataLoader(d, batch_size=n)\n\n\nif __name__ == '__main__':\n    made([1], n=2)\n",
         "train.py": "from loader import made\nlearn(made(t))\n"},
        "16",
    ),
    "a module that judges": (
        {"config.yaml": "judging:\n  bunch: 256\n", "evaluate.py": "from torch.utils.data import DataLoader\ndef scores(net, d, cfg):\n    return DataLoader(d, batch_size=cfg['judging']['bunch'])\n",
         "train.py": f"{CFG}from evaluate import scores\nlearn(load_dataset('a/b'))\nscores(net, d, cfg)\n"},
        None,
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", BATCHES)
def test_a_batch_is_the_trainings(checkout: Build, case: str) -> None:
    files, expected = BATCHES[case]
    files = {name: HEAD + LEARNS + text if name == "train.py" else text for name, text in files.items()}
    assert told(checkout, "training.batch_size", files) == expected


@pytest.mark.parametrize("name", ["teacher", "judge", "reward_model"])
def test_a_model_beside_the_one_that_learns_is_not_the_runs(checkout: Build, name: str) -> None:
    program = (
        f"{HEAD}{LEARNS}\ndef load(name):\n    return AutoModelForCausalLM.from_pretrained(name)\n\n"
        f"{name} = load('Qwen/Qwen2.5-72B')\nlearn(load_dataset('a/b'))\n"
    )
    assert told(checkout, "model.id", {"train.py": program}) == "Qwen/Qwen2.5-7B"


def test_what_a_program_writes_is_no_configuration_of_its_own(checkout: Build) -> None:
    program = f"{HEAD}sys.path.insert(0, os.path.dirname(__file__))\nout = Path(sys.argv[1])\n(out / 'config.yaml').write_text('x')\n{tuned('4096')}"
    files = {"train.py": program, "deploy/config.yaml": "model:\n  name: Qwen/Qwen2.5-72B\nmax_length: 64\n"}
    assert told(checkout, "training.sequence_length", files) == "4096"
    assert told(checkout, "model.id", files) == "Qwen/Qwen2.5-7B"


def test_a_field_of_a_page_is_no_picture(checkout: Build) -> None:
    program = (
        f"{HEAD}from torchvision.models import resnet50\nnet = resnet50()\nPictures('d', width=512, height=512, label='class')\n"
        "gr.Image(label='in', height=370, width=100)\nnet(torch.zeros(1)).sum().backward()\ntorch.optim.SGD(net.parameters()).step()\n"
    )
    assert told(checkout, "media.image_size", {"train.py": program}) in {"512", "512x512"}


def test_a_thousand_sections_and_arguments_are_followed_soon(checkout: Build) -> None:
    sections = "".join(f"s{number}:\n  name: v{number}\n" for number in range(900))
    program = (
        f"{HEAD}class Options:\n    name: str = 'z'\n\n\ncfg = load(Options, 'config.yaml')\n"
        + "F(x=cfg.q.name)\n" * 5000
    )
    assert (
        told(checkout, "training.sequence_length", {"config.yaml": sections, "train.py": program + tuned("777")})
        == "777"
    )


def test_what_the_command_gives_goes_before_what_a_judge_starts_with(checkout: Build) -> None:
    program = (
        f"{HEAD}p = argparse.ArgumentParser()\np.add_argument('--length', type=int, default=512)\nargs = p.parse_args()\n"
        f"def log_validation():\n    make(max_length=args.length)\n{tuned('args.length')}"
    )
    files = {"train.py": program, "README.md": "```\npython train.py --length 1024\n```\n"}
    assert told(checkout, "training.sequence_length", files) == "1024"


def test_a_length_is_shown_where_it_is_written(checkout: Build) -> None:
    program = f"{HEAD}WIDE = 777\n\n\ndef fit(length):\n{tuned('length', pad='    ')}\n\nfit(WIDE)\n"
    found = analyze(checkout({"train.py": program}))
    place = next(f.evidence for f in found.findings if f.field == "training.sequence_length")
    assert place is not None
    assert place.line == program[: program.index("WIDE")].count("\n") + 1


def test_an_attribute_is_followed_each_time(checkout: Build) -> None:
    program = (
        f"{HEAD}class Tuner:\n    def __init__(self, longest):\n        self.window = longest\n\n    def run(self):\n"
        f"        note(max_prompt=self.window)\n        note(max_answer=self.window)\n{tuned('self.window', pad='        ')}\nTuner(777).run()\n"
    )
    assert told(checkout, "training.sequence_length", {"train.py": program}) == "777"


def test_a_configuration_is_not_the_environment(checkout: Build) -> None:
    program = f"{HEAD}cfg = yaml.safe_load(open('config.yaml'))\n{tuned(ASKED)}"
    assert told(checkout, "training.sequence_length", {"config.yaml": "window: 8192\n", "train.py": program}) is None
