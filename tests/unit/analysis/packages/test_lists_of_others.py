"""Lists and projects beside a run that are another program's, and programs whose packages the run's list does not name."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import pytest

from gpu_lol_action.analysis.files.checkout import Checkout
from gpu_lol_action.analysis.packages import packages

Build = Callable[[Mapping[str, str]], Checkout]
TRAIN = "import torch\nimport wandb\nmodel.cuda()\nloss.backward()\nif __name__ == '__main__': pass\n"
SHOWN = (
    "# Net\n```python\nfrom diffusers import NetPipeline\nimport torch\n"
    "pipe = NetPipeline.from_pretrained('x/net', torch_dtype=torch.float16).to('cuda')\npipe('a cat')\n```\n"
)


def found(checkout: Checkout) -> list[str]:
    return [f.value for f in packages.detect(checkout) if f.field == "dependencies.requirements"]


def test_the_program_that_a_readme_shows_takes_the_list_of_the_folder_that_names_what_it_imports(
    checkout: Build,
) -> None:
    program = "import torch\nmodel = load()\nif __name__ == '__main__': model.generate()\n"
    tree = checkout(
        {
            "README.md": SHOWN,
            "inference/demo.py": program,
            "inference/requirements.txt": "diffusers>=0.30\ntorch>=2.4\nopenai\n",
            "sat/sample.py": program,
            "sat/requirements.txt": "SwissArmyTransformer\ntorch>=2.4\n",
        }
    )
    assert found(tree)[:3] == ["diffusers>=0.30", "torch>=2.4", "openai"]
    assert "SwissArmyTransformer" not in found(tree)


def test_a_clients_list_beside_a_server_leaves_the_servers_list_above_it(checkout: Build) -> None:
    server = "import torch\nmodel = torch.load('x').cuda()\nmodel.generate()\nif __name__ == '__main__': pass\n"
    files = {
        "requirements.txt": "vllm==0.7.3\n",
        "runtime/grpc/requirements_client.txt": "grpcio==1.57.0\n",
        "runtime/grpc/server.py": server,
        "README.md": "```\ncd runtime/grpc\npython server.py\n```\n",
    }
    assert found(checkout(files))[0] == "vllm==0.7.3"


BESIDE = {
    "requirements.txt": "torch==2.1.0\nsentencepiece\n",
    "train/requirements_qlora.txt": "torch==2.0.0\nbitsandbytes\n",
    "train/train_clm.py": TRAIN,
    "train/train_with_qlora.py": TRAIN,
}


def test_a_list_that_bears_another_programs_name_leaves_the_list_above_it(checkout: Build) -> None:
    run = {"README.md": "```\npip install -r requirements.txt\npython train/train_clm.py\n```\n"}
    assert found(checkout({**BESIDE, **run}))[:2] == ["torch==2.1.0", "sentencepiece"]
    assert "bitsandbytes" not in found(checkout({**BESIDE, **run}))


def test_the_program_that_a_list_is_named_after_takes_it(checkout: Build) -> None:
    run = {"README.md": "```\npython train/train_with_qlora.py\n```\n"}
    assert found(checkout({**BESIDE, **run}))[:2] == ["torch==2.0.0", "bitsandbytes"]


def test_the_only_list_speaks_for_all_programs_whoever_bears_its_name(checkout: Build) -> None:
    run = {"README.md": "```\npython train/train_clm.py\n```\n", "requirements.txt": "", "train/sft.py": ""}
    tree = checkout({name: text for name, text in {**BESIDE, **run}.items() if text})
    assert found(tree)[:2] == ["torch==2.0.0", "bitsandbytes"]


@pytest.mark.parametrize("name", ["requirements.txt", "requirements-gpu.txt"])
def test_a_programs_own_list_still_comes_first(checkout: Build, name: str) -> None:
    files = {
        "requirements.txt": "dask\n",
        f"runtime/{name}": "torch\n",
        "runtime/serve.py": "import torch\nmodel = torch.load('x').cuda()\nmodel.generate()\nif __name__ == '__main__': pass\n",
        "README.md": "```\npython runtime/serve.py\n```\n",
    }
    assert found(checkout(files)) == ["torch"]


SIMULATOR = (
    "from setuptools import setup\nsetup(name='simulator', install_requires=['networkx==2.3', 'certifi==2019.3.9'])\n"
)


def test_a_copied_project_of_which_the_run_takes_nothing_names_none_of_its_packages(checkout: Build) -> None:
    files = {
        "train.py": TRAIN,
        "simulator/setup.py": SIMULATOR,
        "simulator/simulator/__init__.py": "import networkx\n",
        "README.md": "```\npython train.py\n```\n",
    }
    assert not {"networkx==2.3", "certifi==2019.3.9"} & set(found(checkout(files)))


@pytest.mark.parametrize("line", ["import simulator\n", "import sys\nsys.path.append('simulator')\nimport household\n"])
def test_one_that_it_imports_names_them(checkout: Build, line: str) -> None:
    files = {
        "train.py": line + TRAIN,
        "simulator/setup.py": SIMULATOR,
        "simulator/simulator/__init__.py": "import networkx\n",
        "simulator/household/__init__.py": "",
        "README.md": "```\npython train.py\n```\n",
    }
    assert {"networkx==2.3", "certifi==2019.3.9"} <= set(found(checkout(files)))


SERVES = "# Evaluate\n```\nvllm serve x/net-9b\n```\nThen ask it:\n```\npython {program}\n```\n"


@pytest.mark.parametrize(
    ("program", "imports", "is_needed"),
    [("ask.py", "import openai\nimport tiktoken\n", True), ("plot.py", "import tiktoken\nimport matplotlib\n", False)],
)
def test_what_a_document_starts_to_ask_its_server_needs_its_packages_too(
    checkout: Build, program: str, imports: str, *, is_needed: bool
) -> None:
    tree = checkout(
        {
            "README.md": SERVES.format(program=program),
            "requirements.txt": "vllm\n",
            program: f"{imports}if __name__ == '__main__': pass\n",
        }
    )
    assert ("tiktoken" in found(tree)) is is_needed


@pytest.mark.parametrize(
    ("option", "packages_needed"),
    [("vllm", {"vllm==0.8.5"}), ("sglang", {"sglang[all]"}), ("hf", set())],
)
def test_the_engine_that_samples_is_installed_in_the_version_that_any_list_tells(
    checkout: Build, option: str, packages_needed: set[str]
) -> None:
    tree = checkout(
        {
            "train.py": TRAIN,
            "run.sh": f"python train.py actor_rollout_ref.rollout.name={option}\n",
            "requirements.txt": "torch\n",
            "eval/requirements.txt": "vllm==0.8.5\n",
        }
    )
    assert {each for each in found(tree) if each.startswith(("vllm", "sglang"))} == packages_needed


@pytest.mark.parametrize(
    ("command", "is_kept"),
    [
        ("pip install torch==1.13.0a0+git6c9b55e intel_extension_for_pytorch==1.13.120+xpu", False),
        ("pip install torch torch_npu", False),
        ("pip install mlx-whisper", False),
        ("pip install torch==2.1.0+rocm5.6 extra", False),
        ("pip install torch==2.1.0+cu121 mlxtend", True),
    ],
)
def test_commands_for_other_makers_hardware_are_left_to_those_who_have_it(
    checkout: Build, command: str, *, is_kept: bool
) -> None:
    tree = checkout(
        {"train.py": TRAIN, "requirements.txt": "numpy\n", "README.md": f"## Install\n```\n{command}\n```\n"}
    )
    assert (len(found(tree)) > len({"numpy", "torch", "wandb"})) is is_kept


@pytest.mark.parametrize(("told", "is_taken"), [("pip install -r lama/requirements.txt", False), ("", True)])
def test_an_environment_below_the_root_counts_only_where_readers_are_told_no_other_list(
    checkout: Build, told: str, *, is_taken: bool
) -> None:
    tree = checkout(
        {
            "train.py": TRAIN,
            "README.md": f"## Install\n```\n{told}\n```\n```\npython train.py\n```\n",
            "lama/requirements.txt": "easydict==1.9.0\n",
            "lama/bin/train.py": "import easydict\n",
            "sttn/environment.yml": "dependencies:\n  - pip:\n    - chainer==7.7.0\n",
        }
    )
    assert ("chainer==7.7.0" in found(tree)) is is_taken


def test_a_project_whose_package_has_a_well_known_name_is_the_runs_where_it_is_imported(checkout: Build) -> None:
    files = {
        "train.py": "import sys\nsys.path.append('tools')\nimport timm\n" + TRAIN,
        "tools/setup.py": SIMULATOR,
        "tools/src/timm/__init__.py": "",
        "README.md": "```\npython train.py\n```\n",
    }
    assert "networkx==2.3" in found(checkout(files))
