"""Commands that only hand on: the module behind a verb of theirs is what runs."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import pytest

from gpu_lol_action.analysis.files.checkout import Checkout
from gpu_lol_action.analysis.runs.runs import primary_run

Build = Callable[[Mapping[str, str]], Checkout]
PROJECT = "[project]\nname = 'lab'\n[project.scripts]\nlab = 'lab.cli.main:main'\n"
TABLE = "import importlib\nROUTES = {\n    'tune': 'lab.cli.tune',\n    'use': 'lab.cli.use',\n}\ndef main():\n    importlib.import_module(ROUTES[verb]).main()\n"
TUNE = "import torch\ndef main():\n    loss.cuda().backward()\n    optimizer.step()\n"
USE = "import torch\ndef main():\n    torch.load('a').cuda().generate(x)\n"
README = "```\nlab {} --model a\n```\n"


def started(tree: Checkout) -> tuple[str, str]:
    run = primary_run(tree)
    assert run is not None
    return run.evidence.path, run.script.path if run.script is not None else ""


@pytest.mark.parametrize(
    ("verb", "table", "expected"),
    [
        ("tune", TABLE, ("README.md", "lab/cli/tune.py")),
        ("other", TABLE, ("lab/cli/tune.py", "lab/cli/tune.py")),
        # One row may be anything (`{"tune": "lab.cli.tune"}` names a logger as well), but for a module that bears the verb's name.
        ("tune", TABLE.replace("    'use': 'lab.cli.use',\n", ""), ("README.md", "lab/cli/tune.py")),
        ("go", "import importlib\nROUTES = {'go': 'lab.cli.tune'}\n", ("lab/cli/tune.py", "lab/cli/tune.py")),
    ],
)
def test_verb_of_a_table_starts_its_module(checkout: Build, verb: str, table: str, expected: tuple[str, str]) -> None:
    main = "if __name__ == '__main__':\n    main()\n"
    tree = checkout(
        {
            "pyproject.toml": PROJECT,
            "README.md": README.format(verb),
            "lab/cli/main.py": table,
            "lab/cli/tune.py": TUNE + main,
            "lab/cli/use.py": USE,
        }
    )
    assert started(tree) == expected


def test_verb_with_hyphens_starts_the_command_of_the_folder_that_bears_its_name(checkout: Build) -> None:
    main = "import importlib\nTOOLS = ['clean-up']\ndef main():\n    importlib.import_module('lab.cli.' + TOOLS[0].replace('-', '_') + '.cli').main()\n"
    files = {"pyproject.toml": PROJECT, "README.md": README.format("clean-up"), "lab/cli/main.py": main}
    tree = checkout(files | {"lab/cli/clean_up/cli.py": TUNE, "lab/cli/clean_up/other.py": USE})
    assert started(tree) == ("README.md", "lab/cli/clean_up/cli.py")
