"""Sub-commands that write a configuration or list what there is run no model."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import pytest

from gpu_lol_action.analysis.files.checkout import Checkout
from gpu_lol_action.analysis.runs.runs import primary_run

Build = Callable[[Mapping[str, str]], Checkout]
CLI = "import torch\ndef main():\n    torch.load('a').cuda().generate(x)\nif __name__ == '__main__':\n    main()\n"


@pytest.mark.parametrize(
    ("verb", "line"), [("configure", 3), ("download", 3), ("list", 3), ("speak", 2), ("listen", 2)]
)
def test_the_first_command_that_runs_the_model_is_the_run(checkout: Build, verb: str, line: int) -> None:
    run = primary_run(
        checkout({"cli.py": CLI, "README.md": f"```\npython cli.py {verb} a\npython cli.py say a\n```\n"})
    )
    assert run is not None
    assert run.evidence.line == line
