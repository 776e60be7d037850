"""Of several modules of which a program takes everything the last one that has a name says it."""

from __future__ import annotations

import pytest

from gpu_lol_action.analysis.programs.followed_values import Follower
from gpu_lol_action.analysis.python.values import Value
from tests.unit.analysis.conftest import Build

WIDE, NARROW = "PX = 320\n", "PX = 64\n"


def told(checkout: Build, imports: str, **modules: str) -> str | None:
    files = {f"{name}.py": text for name, text in modules.items()}
    tree = checkout({"train.py": f"{imports}\nbuild(PX)\n", **files})
    sources = [tree.find(path) for path in ("train.py", *files)]
    known = tuple(source for source in sources if source is not None)
    return Follower((), (), known).text(known[0], Value(None, reference="PX", path="PX"), "")


@pytest.mark.parametrize(
    "imports",
    [
        "from settings import *",
        "from settings import *\nfrom library import *",
        "from library import *\nfrom settings import *",
        "from other import *\nfrom settings import *\nfrom library import *",
        "from other import *\nfrom settings import PX",
    ],
)
def test_the_last_module_that_has_a_name_says_it(checkout: Build, imports: str) -> None:
    assert told(checkout, imports, settings=WIDE, other=NARROW) == "320"


@pytest.mark.parametrize("imports", ["from library import *", "from settings import SIZE", "import settings"])
def test_a_name_that_nothing_takes_is_not_told(checkout: Build, imports: str) -> None:
    assert told(checkout, imports, settings=WIDE) is None


@pytest.mark.parametrize(
    "others",
    [
        '__all__ = ["build"]\nPX = 64\n',
        "__all__ = (\n    'build',\n    'load',\n)\nPX = 64\n",
        '__all__: list[str] = ["build"]\n__all__ += ["load"]\nPX = 64\n',
        "__all__ = []\nPX = 64\n",
        '__all__ = [\n    "build",  # the network\n]\nPX = 64\n',
    ],
)
def test_a_module_that_lists_what_it_hands_out_hands_out_no_more(checkout: Build, others: str) -> None:
    assert told(checkout, "from settings import *\nfrom other import *", settings=WIDE, other=others) == "320"


@pytest.mark.parametrize(
    "others", ["__all__ = [name for name in NAMES]\nPX = 64\n", '__all__ = [*others, "build"]\nPX = 64\n', '__all__ = ["build", "PX"]\nPX = 64\n', "__all__ = names()\nPX = 64\n", '__all__ = ["build"]\n__all__ += more\nPX = 64\n']
)  # fmt: skip
def test_a_module_that_lists_a_name_or_no_plain_list_hands_it_out(checkout: Build, others: str) -> None:
    assert told(checkout, "from settings import *\nfrom other import *", settings=WIDE, other=others) == "64"


def test_names_that_begin_with_a_line_below_are_not_taken_with_everything(checkout: Build) -> None:
    tree = checkout({"train.py": "from settings import *\nbuild(_PX)\n", "settings.py": "_PX = 320\n"})
    known = tuple(source for path in ("train.py", "settings.py") if (source := tree.find(path)) is not None)
    assert Follower((), (), known).text(known[0], Value(None, reference="_PX", path="_PX"), "") is None
