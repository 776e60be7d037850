"""The machine gets a Python that the run's code works on; what no Python that is asked for takes is said."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import pytest

from gpu_lol_action.analysis.answer.assemble import analyze
from gpu_lol_action.analysis.files.checkout import Checkout
from gpu_lol_action.analysis.packages.python_bounds import python_bounds
from gpu_lol_action.analysis.runs.runs import primary_run
from gpu_lol_action.domain.gpus import find_accelerator
from gpu_lol_action.domain.tables import table_rows
from gpu_lol_action.estimation.compatibility import ImageWish, choose_image
from gpu_lol_action.estimation.image_python import python_inside

Build = Callable[[Mapping[str, str]], Checkout]
README = "```\npython train.py\n```\n"
TRAIN = (
    "import torch\nfrom torchvision.models import resnet50\nmodel = resnet50().cuda()\n"
    "optimizer = torch.optim.SGD(model.parameters(), 0.1)\nfor x, y in loader:\n    loss = model(x).sum()\n"
    "    loss.backward()\n    optimizer.step()\n"
)


def bounds(checkout: Build, line: str, **files: str) -> list[tuple[str, int, int, int | None]]:
    tree = checkout(
        {"train.py": f"{line}\n{TRAIN}", "README.md": README, "requirements.txt": "torch\ntorchvision\n", **files}
    )
    return [(b.what, b.evidence.line, b.since, b.until) for b in python_bounds(tree, primary_run(tree))]


@pytest.mark.parametrize(
    ("line", "since"),
    [
        ("def first[T](items: list[T]) -> T: return items[0]", 12),
        ("class Box[T: (int, str)]: pass", 12),
        ("type Pair = tuple[int, int]", 12),
        ("type Pair[T] = tuple[T, T]", 12),
        ('print(f"{names["first"]}")', 12),
        ("print(f'step {step} loss {d['loss']:.3f}')", 12),
        ("from itertools import batched", 12),
        ("from typing import Any, override", 12),
        ("from warnings import deprecated", 13),
        ("import annotationlib", 14),
    ],
)
def test_what_only_later_pythons_take_is_found(checkout: Build, line: str, since: int) -> None:
    assert [(at, low) for _, at, low, _ in bounds(checkout, line)] == [(1, since)]


@pytest.mark.parametrize(
    ("line", "until"),
    [
        ("from collections import Iterable", 10),
        ("import collections\nisinstance(x, collections.Mapping)", 10),
        ("import inspect\ninspect.getargspec(f)", 11),
        ("import imp", 12),
        ("from fractions import gcd", 9),
        ("import time\nt = time.clock()", 8),
        ("import imghdr", 13),
        ("from cgi import escape", 8),
        ("import cPickle as pickle", 0),
        ("print 'loss', 1", 0),
        ("exec 'x = 1'", 0),
        ("raise ValueError, 'no'", 0),
    ],
)
def test_what_later_pythons_took_out_is_found(checkout: Build, line: str, until: int) -> None:
    assert [high for *_, high in bounds(checkout, line)] == [until]


@pytest.mark.parametrize(
    "line",
    [
        '"""\nprint \'loss\'\ntype Pair = int\ndef first[T](x): ...\n"""',
        "# print 'loss'",
        "try:\n    from collections import Iterable\nexcept ImportError:\n    from collections.abc import Iterable",
        "import sys\nif sys.version_info[0] == 2:\n    import cPickle as pickle\nelse:\n    import pickle",
        "import inspect\nspec = inspect.getfullargspec if hasattr(inspect, 'getfullargspec') else inspect.getargspec",
        "print ('loss', 1)",
        "print (x) if x else None",
        "print = log\nprint\nprint, x",
        "type = 1\ntype == 2",
        "def first(items): return items[0]",
        "print(f'{a}' 'b {c}')",
        "print(f'{{a}}' + 'b' + '}')",
        "print(f\"{a['b']} {c}\")",
        "from collections.abc import Iterable",
        "from .parser import parse",
    ],
)
def test_what_every_python_takes_or_a_program_guards_bounds_nothing(checkout: Build, line: str) -> None:
    assert bounds(checkout, line, **{"parser.py": "def parse(): pass\n"}) == []


def test_what_ends_the_program_at_once_and_what_only_perhaps_are_two_bounds(checkout: Build) -> None:
    assert [high for *_, high in bounds(checkout, "import cgi\nx = cgi.escape(y)")] == [13, 8]


def test_a_module_of_the_checkout_is_not_pythons(checkout: Build) -> None:
    assert (
        bounds(
            checkout, "import commands\nfrom symbol import S", **{"commands.py": "", "symbol/__init__.py": "S = 1\n"}
        )
        == []
    )


def test_what_is_imported_counts_and_what_nothing_loads_does_not(checkout: Build) -> None:
    module = {"data.py": "from collections import Sequence\n", "old/tool.py": "import cPickle\n"}
    tree = checkout({"train.py": f"import data\n{TRAIN}", "README.md": README, **module})
    assert [str(b.evidence) for b in python_bounds(tree, primary_run(tree))] == ["data.py:1"]


def test_later_syntax_chooses_an_image_with_a_later_python(checkout: Build) -> None:
    files = {
        "train.py": f"type Pair = tuple[int, int]\n{TRAIN}",
        "README.md": README,
        "requirements.txt": "torch\ntorchvision\n",
    }
    analysis = analyze(checkout(files))
    assert analysis.spec.environment.python_version == "3.12"
    assert python_inside(analysis.spec.environment.base_image or "") == "3.12"


def test_a_range_is_narrowed_by_what_the_code_is_written_in(checkout: Build) -> None:
    project = "[project]\nname = 'a'\nrequires-python = '>=3.9'\ndependencies = ['torch', 'torchvision']\n"
    files = {"train.py": f"type Pair = tuple[int, int]\n{TRAIN}", "README.md": README, "pyproject.toml": project}
    assert analyze(checkout(files)).spec.environment.python_version == "3.12"


def test_an_exact_python_that_the_code_does_not_run_on_is_a_contradiction(checkout: Build) -> None:
    environment = "name: a\ndependencies:\n  - python=3.9\n  - pytorch\n"
    files = {"train.py": f"type Pair = tuple[int, int]\n{TRAIN}", "README.md": README, "environment.yml": environment}
    said = analyze(checkout(files)).not_understood
    assert "a `type` statement (train.py:1) needs Python 3.12 or a later one, but the image has 3.11" in said


def test_what_a_later_python_took_out_chooses_an_older_image_where_torch_is_open(checkout: Build) -> None:
    files = {
        "train.py": f"from collections import Iterable\n{TRAIN}",
        "README.md": README,
        "requirements.txt": "torch\ntorchvision\n",
    }
    analysis = analyze(checkout(files))
    inside = python_inside(analysis.spec.environment.base_image or "")
    assert inside is not None
    assert int(inside.split(".")[1]) < 10
    pinned = analyze(checkout({**files, "requirements.txt": "torch==2.6.0\ntorchvision\n"}))
    assert (pinned.spec.environment.base_image or "").startswith("pytorch/pytorch:2.6.0-")
    assert any("Python 3.9" in gap for gap in pinned.not_understood)


def test_what_is_only_perhaps_come_to_takes_no_old_pytorch_but_is_said(checkout: Build) -> None:
    code = f"import collections\n\ndef flat(x):\n    return isinstance(x, collections.Iterable)\n\n{TRAIN}"
    analysis = analyze(checkout({"train.py": code, "README.md": README, "requirements.txt": "torch\ntorchvision\n"}))
    assert python_inside(analysis.spec.environment.base_image or "") == "3.11"
    assert (
        "`collections.Iterable` (train.py:4) is in no Python from 3.10 on, but the image has 3.11"
        in analysis.not_understood
    )


def test_an_image_that_is_old_enough_contradicts_nothing(checkout: Build) -> None:
    code = f"import collections\n\ndef flat(x):\n    return isinstance(x, collections.Iterable)\n\n{TRAIN}"
    analysis = analyze(
        checkout({"train.py": code, "README.md": README, "requirements.txt": "torch==1.7.0\ntorchvision\n"})
    )
    assert python_inside(analysis.spec.environment.base_image or "") == "3.8"
    assert not any("collections" in gap for gap in analysis.not_understood)


def test_a_program_of_python_2_is_called_one(checkout: Build) -> None:
    files = {
        "train.py": f"{TRAIN}    print 'loss', loss\n",
        "README.md": README,
        "requirements.txt": "torch\ntorchvision\n",
    }
    analysis = analyze(checkout(files))
    assert (
        "a statement of Python 2 (train.py:9) is in no Python from 3.0 on, and no image has Python 2"
        in analysis.not_understood
    )
    assert analysis.spec.environment.python_version == "3.11"


def test_the_newest_image_up_to_a_python_is_taken_and_none_where_none_has_it() -> None:
    assert choose_image(ImageWish(last_python="3.10")).python == "3.10"
    assert choose_image(ImageWish(last_python="3.12")) == choose_image(ImageWish())
    assert choose_image(ImageWish(last_python="3.5")) == choose_image(ImageWish())
    # No older PyTorch runs on a newer card.
    card = find_accelerator("B200")
    assert choose_image(ImageWish(last_python="3.9", card=card)) == choose_image(ImageWish(card=card))


def test_each_row_of_pythons_own_names_says_which_python_has_it_no_longer() -> None:
    rows = table_rows("gone_python_names.csv")
    assert [row["name"] for row in rows] == sorted({row["name"] for row in rows})
    assert {row["gone_in"] for row in rows} <= {"3.0", *(f"3.{minor}" for minor in range(7, 14))}
