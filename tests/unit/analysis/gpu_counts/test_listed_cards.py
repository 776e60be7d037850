"""Cards that runs list by their numbers, and lists that are of something else."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import pytest

from gpu_lol_action.analysis.files.checkout import Checkout
from gpu_lol_action.analysis.gpu_counts.gpu_count import detect
from gpu_lol_action.analysis.gpu_counts.listed_cards import cards_in
from gpu_lol_action.analysis.runs.runs import primary_run

Build = Callable[[Mapping[str, str]], Checkout]
TRAIN = "import torch\nif __name__ == '__main__':\n    loss.cuda().backward()\n    opt.step()\n"
SPREAD = TRAIN + "    torch.nn.DataParallel(model)\n"


def shell(text: str) -> str:
    return f"# Use\n```\n{text}\n```\n"


def counted(tree: Checkout) -> str | None:
    return next((f.value for f in detect(tree, primary_run(tree)) if f.field == "hardware.gpu_count"), None)


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("0,1,2,3", 4),
        ("[4, 5]", 2),
        ("(0,1,)", 2),
        ("cuda:0,1", 2),
        ("cuda:0,cuda:1, cuda:2", 3),
        ("'6,7'", 2),
        ("0-3", 4),
        ("4-7", 4),
        ("3-0", 0),
        ("10-99", 0),
        ("0", 0),
        ("[0]", 0),
        ("1,1", 0),  # the same one twice is no list of cards
        ("0.5,1", 0),
        ("256,512", 0),
        ("a,b", 0),
        ("", 0),
        (",".join(map(str, range(17))), 0),
    ],
)
def test_a_text_lists_cards(text: str, count: int) -> None:
    assert cards_in(text) == count


def test_a_hostile_text_is_no_list() -> None:
    assert cards_in("1 , " * 50_000) == 0
    assert cards_in("[" * 100_000 + "0,1") == 2


@pytest.mark.parametrize(
    ("command", "count"),
    [
        ("python train.py --gpus 0,1,2", "3"),
        ("python train.py --gpu-ids 4 5 6 7", "4"),
        ("python train.py --gpu_ids 0 1 --lr 3", "2"),
        ("python train.py --gpu_ids '[2,3]'", "2"),
        ("python train.py --devices cuda:0 cuda:1 cuda:2", "3"),
        ("python train.py trainer.devices=[0,1]", "2"),
        ("python train.py --gpu_ids 0", None),
        ("python train.py --layers 0,1,2", None),
        ("python train.py --layers 0 1 2", None),
        # One card, and words of the program's own behind it.
        ("python train.py --gpu_ids 0 data", None),
    ],
)
def test_options_list_cards(checkout: Build, command: str, count: str | None) -> None:
    assert counted(checkout({"train.py": TRAIN, "README.md": shell(command)})) == count


@pytest.mark.parametrize(
    ("config", "count"),
    [
        ("gpu_ids: [0, 1, 2, 3]\n", "4"),
        ("train:\n  devices: [4, 5, 6, 7]\n", "4"),
        ("gpus: [0]\n", None),
        # The card that is taken, which says nothing of how many.
        ("devices: [2]\n", None),
        ("devices:\n- 3\n- 1\n", None),
        ("devices: 2\n", "2"),
        # Amounts to try, shares, and more than a machine has.
        ("gpus: [1, 2, 4, 8]\n", None),
        ("gpus: [0.5, 1.5]\n", None),
        (f"gpus: {list(range(20))}\n", None),
        ("layers: [0, 1, 2, 3]\n", None),
    ],
)
def test_a_configuration_lists_cards(checkout: Build, config: str, count: str | None) -> None:
    tree = checkout({"train.py": TRAIN, "c.yaml": config, "README.md": shell("python train.py --config c.yaml")})
    assert counted(tree) == count


def test_an_option_for_the_cards_goes_before_the_configurations_list(checkout: Build) -> None:
    files = {"train.py": TRAIN, "c.yaml": "gpus: [0, 1, 2, 3]\n"}
    assert counted(checkout({**files, "README.md": shell("python train.py --config c.yaml --gpus 2")})) == "2"


OPTION = "    parser.add_argument('--gpu', default='0,1')\n"


@pytest.mark.parametrize(
    ("program", "count"),
    [
        (SPREAD + OPTION, "2"),
        (SPREAD + OPTION + "    parser.add_argument('--multi_gpu', type=bool, default=True)\n", "2"),
        (SPREAD + OPTION + "    parser.add_argument('--multi_gpu', type=bool, default=False)\n", None),
        (TRAIN + OPTION, None),
        (SPREAD + "    Trainer(devices=[2])\n", None),
        (SPREAD + "    Trainer(devices=2)\n", "2"),
        (SPREAD + "    parser.add_argument('--stages', default='0,1')\n", None),
    ],
)
def test_an_options_default_lists_cards_where_the_program_takes_several(
    checkout: Build, program: str, count: str | None
) -> None:
    assert counted(checkout({"train.py": program, "README.md": shell("python train.py")})) == count


@pytest.mark.parametrize(
    ("listed", "expected"),
    [
        ("gpus = [0, 1, 2, 3]", "4"),
        ("gpu_ids = [2, 3]", "2"),
        ("gpus = [00, 01]", "2"),  # no number of JSON's, nor of Python 3's
        ("gpus = [0, 1,, 2]", None),
        ("gpus = [0]", None),
        ("gpus = [1, 2, 4, 8]", None),  # amounts to try
        ("steps = [0, 1, 2, 3]", None),
    ],
)
def test_a_configuration_that_is_a_program_lists_them_too(checkout: Build, listed: str, expected: str | None) -> None:
    imports = "".join(f"from parts.{name} import {name}\n" for name in "abcdefghij")
    config = f"{imports}\n\ndef get_config(is_train):\n    class Store:\n        {listed}\n    return Store\n"
    readme = shell("python train.py --config config/net.py")
    assert counted(checkout({"README.md": readme, "config/net.py": config, "train.py": TRAIN})) == expected
