"""What imported modules start with speaks for a run only where the run comes to it: found when 320 stated settings were looked at one by one."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import pytest

from gpu_lol_action.analysis.answer.assemble import analyze
from gpu_lol_action.analysis.command_lines.option_words import split_options
from gpu_lol_action.analysis.files.checkout import Checkout
from gpu_lol_action.analysis.programs.unused_definitions import is_unused_at
from gpu_lol_action.analysis.runs import other_places, run_calls
from gpu_lol_action.domain.finding import Confidence

Build = Callable[[Mapping[str, str]], Checkout]
LOOP = "model = Net().cuda()\noptimizer = torch.optim.AdamW(model.parameters())\nmodel(1).loss.backward()\noptimizer.step()\n"


def stated(tree: Checkout, field: str) -> list[str]:
    return [f.value for f in analyze(tree).findings if f.field == field]


def program(more: str = "") -> str:
    return f"import torch\nfrom parts import Net, told, load\n{more}{LOOP}"


@pytest.mark.parametrize(("names", "expected"), [("", []), ("load(told)\n", ["24"])])
def test_a_function_that_nothing_names(checkout: Build, names: str, expected: list[str]) -> None:
    parts = "import torch\nclass Net(torch.nn.Module):\n    pass\n\n\ndef load(data, batch_size=24):\n    return data\n"
    assert stated(checkout({"train.py": program(names), "parts.py": parts}), "training.batch_size") == expected


@pytest.mark.parametrize(
    ("lines", "unused"),
    [
        ("def load(data):\n    batch = 24\n", True),
        ("@register\ndef load(data):\n    batch = 24\n", False),
        ("class LoadConfig:\n    batch = 24\n", False),
        ("if True:\n    batch = 24\n", False),
        ("def load(data):\n    batch = 24\n\n\nother = load\n", False),
    ],
)
def test_what_counts_as_unused(checkout: Build, lines: str, unused: bool) -> None:
    tree = checkout({"train.py": "from parts import load\n", "parts.py": f"import torch\n{lines}"})
    first, parts = tree.by_path["train.py"], tree.by_path["parts.py"]
    line = 1 + parts.text.split("\n").index("    batch = 24")
    assert is_unused_at(parts, line, (first, parts)) is unused
    assert not is_unused_at(parts, line, (parts, first))


def test_any_class_may_be_made_by_a_name_that_is_put_together(checkout: Build) -> None:
    files = {"train.py": "import parts\nnet = getattr(parts, name)()\n", "parts.py": "class Net:\n    batch = 24\n"}
    tree = checkout(files)
    assert not is_unused_at(tree.by_path["parts.py"], 2, (tree.by_path["train.py"], tree.by_path["parts.py"]))


@pytest.mark.parametrize(
    ("adapters", "expected"), [("", []), ("from peft import LoraConfig\nconfig = LoraConfig(r=16)\n", ["16"])]
)
def test_a_rank_is_one_of_adapters(checkout: Build, adapters: str, expected: list[str]) -> None:
    code = f"import torch\nfrom einops import repeat\n{adapters}x = repeat(torch.ones(2), 'a -> (a r)', r=2)\n{LOOP}"
    assert stated(checkout({"train.py": code}), "training.lora_rank") == expected


def test_a_helper_s_classes_and_frames_are_not_the_run_s(checkout: Build) -> None:
    parts = "import torch\nclass Net(torch.nn.Module):\n    def show(self, num_frames=60, num_classes=19):\n        pass\ndef told(): pass\ndef load(): pass\n"
    tree = checkout({"train.py": program(), "parts.py": parts})
    assert (stated(tree, "media.frames"), stated(tree, "media.classes")) == ([], [])
    own = program("num_frames, num_classes = 16, 10\nnum_frames = 16\nnum_classes = 10\n")
    tree = checkout({"train.py": own, "parts.py": parts})
    assert (stated(tree, "media.frames"), stated(tree, "media.classes")) == (["16"], ["10"])


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        ("torch.autocast('cuda')", ["fp16"]),
        ("torch.autocast('cuda', enabled=False)", []),
        ("torch.autocast('cuda', enabled=args.narrow)", []),
        ("te.autocast(enabled=True)", []),
    ],
)
def test_sixteen_bit_that_is_switched_off(checkout: Build, call: str, expected: list[str]) -> None:
    code = (
        "import argparse, torch\nparser = argparse.ArgumentParser()\nparser.add_argument('--narrow', default=False, type=bool)\n"
        f"args = parser.parse_args()\nwith {call}:\n    pass\n{LOOP}"
    )
    readme = "```\npython train.py --lr 1e-4\n```\n"
    assert stated(checkout({"train.py": code, "README.md": readme}), "training.precision") == expected


def test_two_sides_of_one_option(checkout: Build) -> None:
    code = (
        "import argparse, torch\nfrom diffusers import DiffusionPipeline\nparser = argparse.ArgumentParser()\n"
        "parser.add_argument('--video-size', type=int, nargs='+')\nargs = parser.parse_args()\n"
        "DiffusionPipeline.from_pretrained('stabilityai/stable-diffusion-2-1').to('cuda')(height=args.video_size[0])\n"
    )
    readme = "```\npython sample.py --video-size 720 1280 --video-length 129\n```\n"
    assert stated(checkout({"sample.py": code, "README.md": readme}), "media.image_size") == ["720x1280"]


@pytest.mark.parametrize(
    ("words", "options"),
    [
        (["--img", "640", "480"], {"img": "640 480"}),
        (["--resolution", "640", "480", "--x"], {"resolution": "640 480", "x": "True"}),
        (["--batch-size", "4", "512"], {"batch_size": "4"}),
        (["--image_size", "512", "out.png"], {"image_size": "512"}),
    ],
)
def test_two_numbers_behind_an_option(words: list[str], options: dict[str, str]) -> None:
    assert split_options(words)[0] == options


def test_what_a_filter_leaves_out_is_no_sample(checkout: Build) -> None:
    config = "dataset:\n  filter_conf:\n    max_num_frames: 400\n  num_frames: 150\n"
    code = f"import torch, yaml\nconfig = yaml.safe_load(open('train.yaml'))\nclass Net(torch.nn.Module):\n    pass\n{LOOP}"
    readme = "```\npython train.py --config train.yaml\n```\n"
    tree = checkout({"train.py": code, "train.yaml": config, "README.md": readme})
    assert stated(tree, "media.frames") == ["150"]


@pytest.mark.parametrize(("name", "expected"), [("test.py", []), ("evaluation.py", []), ("loading.py", ["1"])])
def test_what_judges_a_training_says_nothing_of_it(checkout: Build, name: str, expected: list[str]) -> None:
    module = name.partition(".")[0]
    part = "import torch\nfrom torch.utils.data import DataLoader\n\n\ndef judged(data):\n    return DataLoader(data, batch_size=1)\n"
    code = f"import torch\nimport {module}\nfrom parts import Net\n{LOOP}{module}.judged(data)\n"
    tree = checkout({"train.py": code, name: part, "parts.py": "import torch\nclass Net(torch.nn.Module):\n    pass\n"})
    assert stated(tree, "training.batch_size") == expected


@pytest.mark.parametrize(
    ("folder", "is_taken"),
    [("", True), ("net/weights/", True), ("examples/more/old/net/", False), ("src/a/b/c/", True)],
)
def test_a_config_json_far_below_is_of_something_else(checkout: Build, folder: str, is_taken: bool) -> None:
    config = '{"hidden_size": 1024, "num_hidden_layers": 16, "vocab_size": 32000}'
    tree = checkout({"src/train.py": f"import torch\n{LOOP}", f"{folder}config.json": config})
    assert ("16" in stated(tree, "model.layers")) is is_taken


def test_a_shape_beside_a_named_model_is_a_part_s(checkout: Build) -> None:
    parts = (
        "import torch\nclass Face(torch.nn.Module):\n    def __init__(self, depth=4, dim=512, heads=8):\n        pass\n"
    )
    load = "from transformers import AutoModel\nfrom parts import Face\nface = Face()\nmodel = AutoModel.from_pretrained({0})\n"
    named = f"import torch\n{load.format(repr('gpt2'))}{LOOP.partition(chr(10))[2]}"
    unnamed = f"import torch\n{load.format('path')}{LOOP.partition(chr(10))[2]}"
    assert stated(checkout({"train.py": named, "parts.py": parts}), "model.layers") == []
    assert stated(checkout({"train.py": unnamed, "parts.py": parts}), "model.layers") == ["4"]


@pytest.mark.parametrize(("folder", "confidence"), [("criteria/lpips/", Confidence.LOW), ("parts/", Confidence.MEDIUM)])
def test_what_a_loss_s_folder_loads_judges(checkout: Build, folder: str, confidence: Confidence) -> None:
    part = "import torchvision\n\n\ndef taken():\n    return torchvision.models.squeezenet1_1(pretrained=True)\n"
    module = f"{folder}networks.py".replace("/", ".").removesuffix(".py")
    code = f"import torch\nfrom {module} import taken\nmodel = taken().cuda()\nmodel(1).loss.backward()\n"
    findings = analyze(checkout({"train.py": code, f"{folder}networks.py": part})).findings
    assert [f.confidence for f in findings if f.field == "model.id"][:1] == [confidence]


def test_of_thousands_of_places_not_all_are_looked_at(checkout: Build, monkeypatch: pytest.MonkeyPatch) -> None:
    parts = "import torch\n" + "".join(f"def load_{n}(batch_size={n % 64 + 1}):\n    x.half()\n" for n in range(2_000))
    looked: list[int] = []
    for module in (other_places, run_calls):
        monkeypatch.setattr(module, "is_unused_at", lambda source, line, closure: looked.append(line) or True)
    found = analyze(checkout({"train.py": f"import torch, parts\n{LOOP}", "parts.py": parts})).findings
    assert [f.value for f in found if f.field == "workload"] == ["training"]
    assert 0 < len(looked) <= 4 * other_places.MOST_PLACES
