from __future__ import annotations

from collections.abc import Callable, Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpu_lol_action.analysis.files.checkout import Checkout
from gpu_lol_action.analysis.package_lists.package_files import MAX_DECLARED, clean_requirement, package_name
from gpu_lol_action.analysis.packages import packages

Build = Callable[[Mapping[str, str]], Checkout]


def found(checkout: Checkout) -> list[str]:
    return [f.value for f in packages.detect(checkout) if f.field == "dependencies.requirements"]


# In two parts: no file here names a place that packages come from.
WHEELS = "https://download.pytorch.org" + "/whl"


@pytest.mark.parametrize(
    ("line", "requirement"),
    [
        ("torch==2.5.1  # pinned", "torch==2.5.1"),
        (
            "transformers[torch]>=4.40,<5; python_version >= '3.9'",
            "transformers[torch]>=4.40,<5; python_version >= '3.9'",
        ),
        ("git+https://github.com/huggingface/peft.git@main", "git+https://github.com/huggingface/peft.git@main"),
        ("-e git+https://github.com/a/b.git#egg=b", "b @ git+https://github.com/a/b.git"),
        (
            "git+https://github.com/a/b.git@v1#subdirectory=py&egg=c[gpu]",
            "c[gpu] @ git+https://github.com/a/b.git@v1#subdirectory=py",
        ),
        ("git+https://github.com/a/b.git#egg=", "git+https://github.com/a/b.git#egg="),
        ("git+ssh://git@github.com/a/b.git@v1", "git+https://github.com/a/b.git@v1"),
        ("b @ git+ssh://git@github.com/a/b.git", "b @ git+https://github.com/a/b.git"),
        ("git+https://mirror.example/https://github.com/a/b.git", "git+https://github.com/a/b.git"),
        ("git+https://github.com/a/b.git[gpu,dev]", "b[gpu,dev] @ git+https://github.com/a/b.git"),
        ("natten==0.21.7+torch2130cu130", "natten==0.21.7"),
        ("numpy --hash=sha256:abc", "numpy"),
        ("flash-attn --no-build-isolation", "flash-attn"),
        ("torch==1.9.0+cu111 -f https://wheels.example/torch.html", "torch==1.9.0"),
        ('tomli; python_version < "3.11" --no-deps', 'tomli; python_version < "3.11"'),
        ("a --b", None),
        ("pickle", None),
        ("distutils  # of old", None),
        ("dataclasses==0.6", "dataclasses==0.6"),
        ("triton", "triton"),
        ("https://wheels.example/cu111/torch-1.9.1%2Bcu111-cp38-cp38-linux_x86_64.whl", "torch==1.9.1"),
        ("https://wheels.example/torchaudio-0.9.1-cp38-cp38-linux_x86_64.whl", "torchaudio==0.9.1"),
        ("https://wheels.example/torch-2.1.0-cp38-cp38-win_amd64.whl", None),
        (
            "https://wheels.example/torch_scatter-2.1.2-cp38-cp38-linux_x86_64.whl",
            "torch_scatter @ https://wheels.example/torch_scatter-2.1.2-cp38-cp38-linux_x86_64.whl",
        ),
        ("# torch", None),
        ("--extra-index-url https://x", None),
        ("-e .", None),
        ("./wheels/x.whl", None),
        ("../../etc/passwd", None),
        ("flask && curl x", None),
        ("'torch',", "torch"),
        ("a\x00b", None),
        ("x" * 500, None),
    ],
)
def test_clean_requirement(line: str, requirement: str | None) -> None:
    assert clean_requirement(line) == requirement


@given(st.text(max_size=200))
def test_clean_requirement_gives_one_printable_line_or_none(line: str) -> None:
    cleaned = clean_requirement(line)
    assert cleaned is None or (
        cleaned.isprintable() and not cleaned.startswith(("-", ".", "/")) and package_name(cleaned)
    )


def test_included_files_are_followed_and_constraints_are_not(checkout: Build) -> None:
    files = {
        "requirements.txt": "-r requirements/base.txt\n-c constraints.txt\npeft\n-r ../outside.txt\n-r requirements.txt\n",
        "requirements/base.txt": "torch\n",
        "constraints.txt": "numpy==1.0\n",
        "requirements-dev.txt": "pytest\n",
    }
    assert found(checkout(files)) == ["peft", "torch"]


def test_what_checks_the_code_is_left_out_of_the_lists_that_a_list_includes(checkout: Build) -> None:
    files = {
        "requirements.txt": "-r requirements/runtime.txt\n-r requirements/tests.txt\n-r requirements/docs.txt\n-r requirements/latest.txt\n",
        "requirements/runtime.txt": "torch\n",
        "requirements/tests.txt": "asynctest\nonnx==1.7.0\npeft==0.11.0\n",
        "requirements/docs.txt": "sphinx\n",
        "requirements/latest.txt": "einops\n",
        "train.py": "import peft\n",  # what the code imports is needed all the same
    }
    assert found(checkout(files)) == ["torch", "einops", "peft"]


def test_pyproject_gives_dependencies_and_no_groups(checkout: Build) -> None:
    text = '[project]\ndependencies = ["torch>=2"]\noptional-dependencies = {dev = ["pytest"]}\n[dependency-groups]\ntest = ["ruff"]\n'
    assert found(checkout({"pyproject.toml": text})) == ["torch>=2"]


def test_poetry_versions_become_pips(checkout: Build) -> None:
    text = '[tool.poetry]\nname = "x"\n[tool.poetry.dependencies]\npython = "^3.10"\ntorch = "^2.3"\npeft = "0.13.0"\ntrl = {git = "https://x.org/trl.git"}\nrich = {version = "*", optional = true}\n'
    assert found(checkout({"pyproject.toml": text})) == [
        "torch>=2.3,<3",
        "peft==0.13.0",
        "trl @ git+https://x.org/trl.git",
    ]


def test_setup_py_lists_and_tables_are_resolved_without_running_it(checkout: Build) -> None:
    text = (
        "raise SystemExit('never run')\n_deps = ['torch>=1.4', 'pillow<11']\ndeps = {d.split('>')[0]: d for d in _deps}\n"
        "install_requires = [deps['torch'], 'regex']\nextras = {'x': ['vllm']}\nsetup(install_requires=install_requires, extras_require=extras)\n"
    )
    assert found(checkout({"setup.py": text})) == ["torch>=1.4", "regex"]


def test_setup_cfg(checkout: Build) -> None:
    text = "[options]\ninstall_requires =\n    torch\n    regex>=1\n[options.extras_require]\ndev = pytest\n"
    assert found(checkout({"setup.cfg": text})) == ["torch", "regex>=1"]


def test_environment_yml_gets_pips_names(checkout: Build) -> None:
    text = "dependencies:\n  - python=3.8.5\n  - pip\n  - cudatoolkit=11.3\n  - pytorch=1.11.0\n  - conda-forge::opencv\n  - pip:\n    - kornia==0.6\n    - -e .\n"
    tree = checkout({"environment.yml": text})
    assert found(tree) == ["torch==1.11.0", "opencv-python-headless", "kornia==0.6", "numpy<2"]
    assert [f.value for f in packages.detect(tree) if f.field == "environment.python_version"] == ["3.8.5"]


def test_pipfile(checkout: Build) -> None:
    assert found(checkout({"Pipfile": '[packages]\ntorch = "*"\n[dev-packages]\npytest = "*"\n'})) == ["torch"]


def test_dockerfile_and_documentation_lines(checkout: Build) -> None:
    files = {
        "Dockerfile": "RUN pip install --no-cache-dir torch==2.6.0 \\\n    peft && rm -rf x\n",
        "README.md": "```\npip install -r requirements.txt\npip install wandb\n```\n",
    }
    assert found(checkout(files)) == ["torch==2.6.0", "peft", "wandb"]


def test_imports_fill_in_where_nothing_is_declared(checkout: Build) -> None:
    program = "import os, cv2, torch.nn, sklearn.svm, mine\nfrom PIL import Image\ntry:\n  import apex\nexcept ImportError: pass\n"
    assert found(checkout({"a.py": program, "mine.py": "import yaml\n", "tests/t.py": "import vllm\n"})) == [
        "opencv-python-headless", "pillow", "pyyaml", "scikit-learn", "torch",
    ]  # fmt: skip


def test_with_a_list_only_the_run_adds_imports(checkout: Build) -> None:
    files = {
        "requirements.txt": "torch\n",
        "train.py": "import torch, wandb\nloss.backward()\nif __name__ == '__main__': pass\n",
        "export.py": "import tensorflow\n",
    }
    assert found(checkout(files)) == ["torch", "wandb"]


def test_findings_name_the_line(checkout: Build) -> None:
    tree = checkout(
        {"requirements.txt": "# list\ntorch\n", "pyproject.toml": '[project]\ndependencies = [\n  "peft",\n]\n'}
    )
    assert {f.value: str(f.evidence) for f in packages.detect(tree)} == {
        "torch": "requirements.txt:2",
        "peft": "pyproject.toml:3",
    }


@pytest.mark.parametrize(
    "name", ["pyproject.toml", "setup.py", "setup.cfg", "environment.yml", "Pipfile", "requirements.txt", "Dockerfile"]
)
@pytest.mark.parametrize(
    "text", ["", "[[[[", "\x00", "a: &a [*a]", "[project]\ndependencies = 3\n", "install_requires=", "FROM"]
)
def test_broken_lists_are_answered(checkout: Build, name: str, text: str) -> None:
    assert found(checkout({name: text})) in ([], ["FROM"], ["install-requires="])


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("setup.py", f"a = {[f'p{i}' for i in range(3000)]}\nsetup(install_requires=[{'*a,' * 30_000}])\n"),
        ("setup.cfg", "[options]\ninstall_requires =\n" + "".join(f"  p{i}\n" for i in range(50_000))),
        ("pyproject.toml", f"[project]\ndependencies = {[f'p{i}' for i in range(12_000)]}\n"),
    ],
)
def test_a_list_without_end_is_cut(checkout: Build, name: str, text: str) -> None:
    assert 0 < len(found(checkout({name: text}))) <= MAX_DECLARED


def test_a_poetry_version_of_thousands_of_digits_is_none(checkout: Build) -> None:
    text = f"[tool.poetry.dependencies]\ntorch = '^{'1' * 5000}'\npeft = '^0.3'\n"
    assert found(checkout({"pyproject.toml": text})) == ["torch", "peft>=0.3,<0.4"]


@pytest.mark.parametrize(
    ("line", "requirement"),
    [
        (
            f"{WHEELS}/cu116/torch-1.13.1%2Bcu116-cp39-cp39-linux_x86_64.whl#sha256=ab",
            "torch==1.13.1",
        ),
        (
            f"{WHEELS}/cu118/torchvision-0.15.2+cu118-cp310-cp310-linux_x86_64.whl",
            "torchvision==0.15.2",
        ),
        (
            f"torch @ {WHEELS}/cu121/torch-2.1.0%2Bcu121-cp310-cp310-linux_x86_64.whl",
            "torch==2.1.0",
        ),
        (
            f"{WHEELS}/nightly/cu121/torch-2.2.0.dev2-cp310-cp310-linux_x86_64.whl",
            f"torch @ {WHEELS}/nightly/cu121/torch-2.2.0.dev2-cp310-cp310-linux_x86_64.whl",
        ),
        (
            "https://data.pyg.org/whl/torch-1.13.0%2Bcu116/torch_cluster-1.6.1-cp39-cp39-linux_x86_64.whl",
            "torch_cluster @ https://data.pyg.org/whl/torch-1.13.0%2Bcu116/torch_cluster-1.6.1-cp39-cp39-linux_x86_64.whl",
        ),
    ],
)
def test_a_wheel_of_pytorchs_own_host_is_its_version(line: str, requirement: str) -> None:
    assert clean_requirement(line) == requirement


def test_a_protocol_that_github_gave_up_is_not_used(checkout: Build) -> None:
    lines = "git+git://github.com/us/net.git\ngit+git://example.com/us/other.git\n"
    assert found(checkout({"requirements.txt": lines})) == [
        "git+https://github.com/us/net.git",
        "git+git://example.com/us/other.git",
    ]


def test_of_builds_for_several_cudas_the_newest_is_installed(checkout: Build) -> None:
    lines = "dgl-cu90==0.4.3\ndgl-cu102==0.4.3\ndgl-cu101==0.4.3\nmxnet-cu112\ncupy-cuda12x\n"
    assert found(checkout({"requirements.txt": lines})) == ["dgl-cu102==0.4.3", "mxnet-cu112", "cupy-cuda12x"]


def test_a_repository_that_a_list_names_gives_its_module(checkout: Build) -> None:
    program = "import hydra\nimport tensorboard\nif __name__ == '__main__': pass\n"
    listed = {"requirements.txt": "git+https://github.com/us/hydra@0.11_branch\ntb-nightly\n", "train.py": program}
    assert found(checkout(listed)) == ["git+https://github.com/us/hydra@0.11_branch", "tb-nightly"]
    assert "hydra-core" in found(checkout({**listed, "requirements.txt": "tb-nightly\n"}))


@pytest.mark.parametrize(
    ("line", "packages"),
    [
        ("- pip install einops", ["einops"]),
        ("  1. conda install pytorch -c pytorch", ["torch"]),
        ("* pip install dgl-cu110 timm==0.4.9", ["dgl-cu110", "timm==0.4.9"]),
        ("- pip install einops if you want to see more", []),
        ("- pip install einops (optional)", []),
        ("- You may pip install einops", []),
        ("~~`pip install einops`~~ `pip install timm`", ["timm"]),
        ("<del>for old versions\n`pip install einops`\n</del>\n`pip install timm`", ["timm"]),
        ("<del>\n`pip install timm`", ["timm"]),
    ],
)
def test_an_item_of_a_list_may_be_a_command_and_what_is_struck_out_is_none(
    checkout: Build, line: str, packages: list[str]
) -> None:
    tree = checkout({"README.md": f"# Install\n{line}\n", "train.py": "if __name__ == '__main__': pass\n"})
    assert found(tree) == packages
