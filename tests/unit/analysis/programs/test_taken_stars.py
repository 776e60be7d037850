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
