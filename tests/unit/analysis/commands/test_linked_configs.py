"""The configuration that a documented command leaves open is the first that its page links."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import pytest

from gpu_lol_action.analysis.files.checkout import Checkout
from gpu_lol_action.analysis.runs.runs import primary_run

Build = Callable[[Mapping[str, str]], Checkout]
TRAIN = "import torch\nloss.backward()\nif __name__ == '__main__': pass\n"
LINKS = "| config |\n| [a](missing.yaml) |\n| [1B](./configs/one.yaml) |\n| [7B](configs/seven.yaml) |\n"
FILES = {"train.py": TRAIN, "configs/one.yaml": "batch_size: 4\n", "configs/seven.yaml": "batch_size: 2\n"}


@pytest.mark.parametrize(
    "command",
    [
        "torchrun --nproc_per_node=8 train.py {path_to_train_config}",
        "python train.py <config.yaml>",
        "python train.py -c configs/<config-file-name.yaml>",
        "python train.py --config <path to yaml config file>",
        "python train.py -Y {path_to_config_yaml_file}",
    ],
)
def test_an_open_configuration_is_the_first_that_is_linked(checkout: Build, command: str) -> None:
    run = primary_run(checkout({**FILES, "README.md": f"# Train\n```bash\n{command}\n```\n{LINKS}"}))
    assert run is not None
    assert [source.path for source in run.configs] == ["configs/one.yaml"]


def test_what_is_linked_behind_the_command_comes_first(checkout: Build) -> None:
    text = "See [7B](configs/seven.yaml).\n```bash\npython train.py {config}\n```\nAny of [1B](configs/one.yaml).\n"
    run = primary_run(checkout({**FILES, "README.md": text}))
    assert run is not None
    assert [source.path for source in run.configs] == ["configs/one.yaml"]


@pytest.mark.parametrize(
    "text",
    [
        f"```bash\npython train.py --name <run_name>\n```\n{LINKS}",  # another place is open
        f"```bash\npython train.py\n```\n{LINKS}",  # none is
        "```bash\npython train.py {config}\n```\n[one](https://example.org/configs/one.yaml)\n",  # of another project
        "```bash\npython train.py {config}\n```\n[one](../configs/one.yaml/../../../etc/x.yaml)\n",
    ],
)
def test_nothing_else_takes_a_linked_configuration(checkout: Build, text: str) -> None:
    run = primary_run(checkout({**FILES, "README.md": text}))
    assert run is not None
    assert run.configs == ()
