"""Programs that start a module as a process of its own."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import pytest

from gpu_lol_action.analysis.files.checkout import Checkout
from gpu_lol_action.analysis.programs.behavior import Behavior
from gpu_lol_action.analysis.runs.program_behavior import program_behavior

Build = Callable[[Mapping[str, str]], Checkout]
TRAIN = "import torch\ndef main():\n    loss.cuda().backward()\nif __name__ == '__main__':\n    main()\n"
LOADS = "import torch\ndef main():\n    torch.load('a').cuda().generate(x)\nif __name__ == '__main__':\n    main()\n"
START = "import subprocess\ndef main():\n    subprocess.Popen(['torchrun', '--nproc-per-node', '8', '-m',\n        'lab.jobs.clm', '--config', 'a.json'])\nif __name__ == '__main__':\n    main()\n"


def behavior(tree: Checkout, path: str) -> Behavior:
    source = tree.find(path)
    assert source is not None
    return program_behavior(tree, source)


@pytest.mark.parametrize(
    ("start", "module", "expected"),
    [
        (START, TRAIN, Behavior.TRAINS),
        (START, LOADS, Behavior.NEITHER),
        (START.replace("lab.jobs.clm", "lab.jobs.other"), TRAIN, Behavior.NEITHER),
        # A list that is handed to nobody.
        (START.replace("import subprocess\n", "").replace("subprocess.Popen", "print"), TRAIN, Behavior.NEITHER),
    ],
)
def test_a_module_that_is_started_is_what_its_starter_does(
    checkout: Build, start: str, module: str, expected: Behavior
) -> None:
    tree = checkout({"lab/cli.py": start, "lab/jobs/clm.py": module})
    assert behavior(tree, "lab/cli.py") is expected
