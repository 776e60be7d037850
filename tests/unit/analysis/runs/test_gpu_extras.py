"""A GPU that only an extra of a project needs, and servers that only other runs start."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import pytest

from gpu_lol_action.analysis.answer.assemble import analyze
from gpu_lol_action.analysis.files.checkout import Checkout
from gpu_lol_action.analysis.runs.runs import further_runs, primary_run
from gpu_lol_action.domain.spec import WorkloadType

Build = Callable[[Mapping[str, str]], Checkout]

PROJECT = (
    '[build-system]\nrequires=["setuptools"]\n[project]\nname="judge"\ndependencies=["docker","tqdm"]\n'
    '[project.optional-dependencies]\nlocal=["torch","transformers"]\n'
)
ANSWERS = (
    "import torch\nfrom transformers import AutoModelForCausalLM\nmodel = AutoModelForCausalLM.from_pretrained('org/net-7b')\n"
    "model.generate()\nif __name__ == '__main__': pass\n"
)
JUDGES = "import docker\nif __name__ == '__main__': docker.from_env()\n"
FILES = {
    "pyproject.toml": PROJECT,
    "README.md": "# Judge\n```bash\npip install -e .\npython -m judge.run --workers 4\n```\n",
    "judge/__init__.py": "",
    "judge/run.py": JUDGES,
    "judge/local/__init__.py": "",
    "judge/local/answer.py": ANSWERS,
    "judge/local/README.md": "```bash\npip install -e '.[local]'\npython -m judge.local.answer\n```\n",
}


def test_what_only_an_extra_needs_is_not_rented(checkout: Build) -> None:
    tree = checkout(FILES)
    analysis = analyze(tree)
    assert primary_run(tree) is None
    assert analysis.proposed.meta.workload_type is WorkloadType.CPU_ONLY
    assert analysis.proposed.dependencies.requirements == ("docker", "tqdm")
    assert [profile.name for profile in analysis.profiles] == ["answer"]
    said = next(f for f in analysis.findings if f.field == "workload")
    assert said.why.startswith("only an extra needs a GPU")
    assert str(said.evidence) == "judge/local/README.md:3"


@pytest.mark.parametrize(
    "change",
    [
        {"pyproject.toml": PROJECT.replace('"tqdm"', '"torch"')},  # everybody installs it
        {"README.md": "# Judge\n```bash\npip install -e .\n```\n"},  # nothing else is told
        {"judge/run.py": f"import torch\n{JUDGES}"},  # what is told computes as well
        {"README.md": "# Judge\n```bash\npython -m judge.run\npython -m judge.local.answer\n```\n"},  # told at the root
    ],
)
def test_what_the_project_itself_needs_is_rented(checkout: Build, change: Mapping[str, str]) -> None:
    tree = checkout({**FILES, **change})
    assert primary_run(tree) is not None
    assert analyze(tree).proposed.meta.workload_type is not WorkloadType.CPU_ONLY


def test_every_run_is_either_first_or_further(checkout: Build) -> None:
    tree = checkout({**FILES, "pyproject.toml": PROJECT.replace('"tqdm"', '"torch"')})
    assert primary_run(tree) not in further_runs(tree)


LIBRARY = {
    "setup.py": "from setuptools import setup\nsetup(name='fin', install_requires=['numpy', 'pandas'])\n",
    **{f"fin/part{n}.py": "import pandas\n" for n in range(40)},
    "fin/__init__.py": "",
    "fin/tune/train_lora.py": "import torch\nloss.backward()\nif __name__ == '__main__': pass\n",
}


@pytest.mark.parametrize(
    ("document", "kind"),
    [
        ("```\ndeepspeed train_lora.py --batch_size 4\n```\n", WorkloadType.TRAINING),
        ("```\npython other.py\n```\n", WorkloadType.CPU_ONLY),
    ],
)
def test_a_program_that_is_launched_on_gpus_counts_beside_a_list_without_them(
    checkout: Build, document: str, kind: WorkloadType
) -> None:
    cell = '{"cell_type": "code", "source": ["import torch\\n", "loss.backward()"], "outputs": []}'
    tree = checkout({**LIBRARY, "lesson.ipynb": f'{{"cells": [{cell}]}}', "fin/tune/README.md": document})
    assert analyze(tree).proposed.meta.workload_type is kind


SERVES = (
    "# Net\n## LMDeploy inference\n```bash\npip install lmdeploy\nlmdeploy serve api_server org/net-7b-instruct\n```\n"
)
OTHERS = (
    "## SGLang\n### Installation\n```bash\npip install 'sglang[srt]>=0.4'\n```\n"
    "## TGI\n```\ndocker run --gpus all ghcr.io/huggingface/text-generation-inference:2.0 --model-id org/net-7b-instruct\n```\n"
)


def test_only_the_server_that_is_started_is_installed(checkout: Build) -> None:
    spec = analyze(checkout({"README.md": SERVES + OTHERS})).proposed
    assert [line for line in spec.dependencies.requirements if line.startswith(("lmdeploy", "sglang"))] == ["lmdeploy"]
    assert "text-generation-inference" not in (spec.environment.base_image or "")


def test_a_server_that_is_the_run_keeps_its_image(checkout: Build) -> None:
    only = "# Net\n" + OTHERS[OTHERS.index("## TGI") :]
    spec = analyze(checkout({"README.md": only})).proposed
    assert "text-generation-inference" in (spec.environment.base_image or "")


def test_a_server_for_what_was_trained_is_not_installed_to_train(checkout: Build) -> None:
    text = "# Tune\n```bash\npip install -r requirements.txt\npython train.py\n```\n### Inference\n```bash\npip install vllm\n```\n"
    files = {
        "README.md": text,
        "requirements.txt": "torch\n",
        "train.py": "import torch\nloss.backward()\nif __name__ == '__main__': pass\n",
    }
    assert analyze(checkout(files)).proposed.dependencies.requirements == ("torch",)
    used = {**files, "train.py": "import vllm\n" + files["train.py"]}
    assert "vllm" in analyze(checkout(used)).proposed.dependencies.requirements


SETUP = "from setuptools import setup\nsetup(name='pipes', install_requires=['numpy', 'scikit-learn'], extras_require={'torch': ['torch']})\n"
NET = (
    "import torch\nclass Net(torch.nn.Module):\n    def fit(self, x):\n        self.cuda()(x.cuda()).sum().backward()\n"
)
GUARDED = (
    "try:\n    from .net import Net\nexcept ImportError:\n    import warnings\n    warnings.warn('without PyTorch')\n"
)
PIPES = {
    "setup.py": SETUP,
    "requirements.txt": "numpy\nscikit-learn\n",
    "README.md": "# Pipes\n```\npython -m pipes.driver data.csv\n```\n",
    "pipes/__init__.py": GUARDED,
    "pipes/net.py": NET,
    "pipes/driver.py": "import numpy\nfrom pipes import Net\ndef main():\n    Net().fit(numpy.ones(2))\nif __name__ == '__main__':\n    main()\n",
}


def test_what_a_library_takes_along_where_it_is_there_is_not_rented(checkout: Build) -> None:
    assert analyze(checkout(PIPES)).proposed.meta.workload_type is WorkloadType.CPU_ONLY


@pytest.mark.parametrize(
    "change",
    [
        {"pipes/__init__.py": "from .net import Net\n"},  # whatever happens
        {"setup.py": SETUP.replace("'scikit-learn'", "'torch'")},  # everybody installs it
        {"pipes/driver.py": "import torch\n" + PIPES["pipes/driver.py"]},
        {f"pipes/net_{n}.py": NET for n in range(3)} | {"pipes/__init__.py": GUARDED.replace(".net import Net", ".all import Net"),
         "pipes/all.py": "from .net import Net\n" + "".join(f"from .net_{n} import Net as Net{n}\n" for n in range(3))},  # much of it
    ],
)  # fmt: skip
def test_what_a_library_needs_or_mostly_does_is_rented(checkout: Build, change: Mapping[str, str]) -> None:
    assert analyze(checkout({**PIPES, **change})).proposed.meta.workload_type is not WorkloadType.CPU_ONLY


SAMPLE = {"pyproject.toml": PROJECT, "README.md": "# Judge\n```\npip install judge\n```\n", "judge/__init__.py": ""}


@pytest.mark.parametrize(
    ("path", "change", "needs"),
    [
        ("examples/answer.py", {}, False),
        ("docs/tutorials/answer.py", {}, False),
        ("examples/answer.py", {"pyproject.toml": PROJECT.replace('"tqdm"', '"torch"')}, True),  # everybody installs it
        ("answer.py", {}, True),  # made to be started
    ],
)
def test_an_example_with_an_extra_of_a_library_that_works_without_rents_nothing(
    checkout: Build, path: str, change: Mapping[str, str], needs: bool
) -> None:
    kind = analyze(checkout({**SAMPLE, path: ANSWERS, **change})).proposed.meta.workload_type
    assert (kind is not WorkloadType.CPU_ONLY) is needs


COUNTED = (
    "import torch\nfrom transformers import AutoModel\ndef count(x):\n    model = AutoModel.from_pretrained('org/net')\n"
    "    return model.cuda().generate(x)\n"
)
MIXES = "import json\nif __name__ == '__main__': json.dumps('x')\n"


@pytest.mark.parametrize(
    ("change", "needs"),
    [
        ({}, False),
        ({"tools/pass_two.py": COUNTED + "if __name__ == '__main__': count(1)\n"}, True),  # made to be started
        ({"pile/mix.py": f"import torch\n{MIXES}"}, True),  # what the README starts computes as well
        ({"README.md": "# Pile\n```\npip install -e .\n```\n"}, True),  # the README starts nothing
    ],
)
def test_a_module_that_nothing_starts_beside_what_the_readme_starts_rents_nothing(
    checkout: Build, change: Mapping[str, str], needs: bool
) -> None:
    files = {
        "README.md": f"# Pile\n{'It mixes text of many sources. ' * 30}\n```\npython pile/mix.py --out 3\n```\n",
        "pile/mix.py": MIXES,
        "tools/helpers.py": COUNTED,
        **{f"pile/part{number}.py": "import json\n" for number in range(12)},
    }
    kind = analyze(checkout({**files, **change})).proposed.meta.workload_type
    assert (kind is not WorkloadType.CPU_ONLY) is needs


TRACKER = {
    "setup.py": "from setuptools import setup\nsetup(name='tracker', install_requires=['requests'])\n",
    "tracker/__init__.py": "import requests\n",
    "examples/requirements.txt": "torch\n",
    "examples/train.py": "import torch, tracker\nif __name__ == '__main__':\n    loss.cuda().backward()\n",
}


@pytest.mark.parametrize(
    ("change", "workload"),
    [
        ({}, "cpu-only"),
        ({"setup.py": TRACKER["setup.py"].replace("requests", "torch")}, "training"),
        ({"setup.py": "from torch.utils.cpp_extension import CUDAExtension\n" + TRACKER["setup.py"]}, "training"),
        ({f"tracker/net{number}.py": "import torch\nx = torch.ones(1).cuda()\n" for number in range(4)}, "training"),
    ],
)
def test_examples_of_a_project_that_needs_no_gpu_are_not_what_it_is_for(
    checkout: Build, change: Mapping[str, str], workload: str
) -> None:
    analysis = analyze(checkout({**TRACKER, **change}))
    assert analysis.proposed.meta.workload_type.value == workload
    said = next(finding for finding in analysis.findings if finding.field == "workload")
    assert said.why.startswith("only examples need a GPU") is (workload == "cpu-only")
