"""Each format of a dependency list, in small repositories."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from gpu_lol_action.analysis.files.checkout import Checkout, read_checkout
from gpu_lol_action.analysis.formats.poetry_versions import pip_version
from gpu_lol_action.analysis.package_lists.conda_files import conda_requirement
from gpu_lol_action.analysis.package_lists.package_files import applies, placed
from gpu_lol_action.analysis.packages import packages

Build = Callable[[Mapping[str, str]], Checkout]
RUN = "import torch\nloss.backward()\nif __name__ == '__main__': pass\n"


def found(checkout: Checkout, field: str = "dependencies.requirements") -> list[str]:
    return [f.value for f in packages.detect(checkout) if f.field == field]


@pytest.mark.parametrize(
    ("text", "requirements"),
    [
        ("torch==2.1.0+cu118\n--extra-index-url https://wheels.example/whl/cu118\n", ["torch==2.1.0"]),
        ("numpy==1.26.4 \\\n    --hash=sha256:aa \\\n    --hash=sha256:bb\npeft\n", ["numpy==1.26.4", "peft"]),
        ("numpy @ file:///croot/numpy\n", ["numpy"]),
        ("pywin32; sys_platform == 'win32'\ntriton; platform_system == 'Linux'\n", ["triton; platform_system == 'Linux'"]),
        ("tomli; python_version < '3.9'\nrich ; python_version >= '3.9'\n", ["rich ; python_version >= '3.9'"]),
        ("transformers[torch,sentencepiece]>=4.40\n", ["transformers[torch,sentencepiece]>=4.40"]),
        ("peft @ git+https://github.com/a/peft@main\n", ["peft @ git+https://github.com/a/peft@main"]),
        ("sklearn\npytorch==2.1.0\napex\n", ["scikit-learn", "torch==2.1.0", "git+https://github.com/NVIDIA/apex.git"]),
        ("torch\nhttps://pages.example/whl/cpu\n", ["torch"]),
    ],
)  # fmt: skip
def test_requirements(checkout: Build, text: str, requirements: list[str]) -> None:
    assert found(checkout({"requirements.txt": text})) == requirements


def test_constraints_give_versions_to_bare_names(checkout: Build) -> None:
    files = {
        "requirements.txt": "-c constraints.txt\ntorch\npeft>=0.10\n",
        "constraints.txt": "torch==2.6.0\npeft==0.9\nunused==1\n",
    }
    assert found(checkout(files)) == ["torch==2.6.0", "peft>=0.10"]


def test_a_list_of_powershell_is_read(tmp_path: Path) -> None:
    (tmp_path / "requirements.txt").write_bytes("torch==2.6.0\r\npeft\r\n".encode("utf-16"))
    assert found(read_checkout(tmp_path)) == ["torch==2.6.0", "peft"]


def test_dynamic_dependencies_are_read_from_their_file(checkout: Build) -> None:
    text = '[project]\nname="x"\ndynamic=["dependencies"]\n[tool.setuptools.dynamic]\ndependencies={file=["reqs/requirements.txt"]}\n'
    assert found(checkout({"pyproject.toml": text, "reqs/requirements.txt": "torch\n"})) == ["torch"]


def test_groups_include_groups_and_circles_end(checkout: Build) -> None:
    text = (
        '[project]\nname="x"\ndependencies=["torch"]\n[dependency-groups]\n'
        'train=["trl", {include-group="base"}]\nbase=["peft", {include-group="train"}]\ndev=["pytest"]\n'
        '[tool.uv]\ndefault-groups=["train", "dev"]\n'
    )
    assert found(checkout({"pyproject.toml": text})) == ["torch", "trl", "peft"]


def test_uv_sources_become_repositories(checkout: Build) -> None:
    text = (
        '[project]\nname="x"\ndependencies=["a-lib>=1", "b-lib", "c-lib"]\n[tool.uv.sources]\n'
        'a-lib={git="https://github.com/x/a", rev="abc"}\nb-lib={workspace=true}\n'
    )
    assert found(checkout({"pyproject.toml": text})) == ["a-lib @ git+https://github.com/x/a@abc", "c-lib"]


def test_extras_that_the_documentation_installs_are_required(checkout: Build) -> None:
    files = {
        "pyproject.toml": '[build-system]\nrequires=[]\n[project]\nname="mine"\ndependencies=["torch"]\n[project.optional-dependencies]\n'
        'train=["trl"]\nall=["mine[train,eval]"]\neval=["lm-eval"]\ndev=["pytest"]\nother=["dask"]\n',
        "README.md": "## Install\n```\npip install -e '.[all,dev]'\n```\n",
    }
    tree = checkout(files)
    assert found(tree) == ["torch", "trl", "lm-eval"]
    assert found(tree, "dependencies.setup_commands") == ["python3 -m pip install -e '.[all]'"]


def test_poetry_groups_markers_and_sources(checkout: Build) -> None:
    text = (
        '[tool.poetry]\nname="x"\n[tool.poetry.dependencies]\npython="^3.10"\ntorch="~2.3.1"\n'
        'jax={version="^0.4.30", extras=["cuda12"]}\nlib={git="https://github.com/x/lib", tag="v1"}\n'
        'win={version="1.0", platform="win32"}\nmine={path="../mine"}\n'
        '[tool.poetry.group.gpu.dependencies]\nxformers="*"\n[tool.poetry.group.dev.dependencies]\nblack="*"\n'
        '[tool.poetry.group.web]\noptional=true\n[tool.poetry.group.web.dependencies]\nflask="*"\n'
    )
    assert found(checkout({"pyproject.toml": text})) == [
        "torch>=2.3.1,<2.4", "jax[cuda12]>=0.4.30,<0.5", "lib @ git+https://github.com/x/lib@v1", "xformers",
    ]  # fmt: skip


def test_pdm_and_hatch_and_pixi(checkout: Build) -> None:
    pdm = '[project]\nname="x"\ndependencies=["torch"]\n[tool.pdm.dev-dependencies]\ntest=["pytest"]\n'
    assert found(checkout({"pyproject.toml": pdm})) == ["torch"]
    pixi = '[workspace]\nchannels=["conda-forge"]\n[dependencies]\npython="3.11.*"\npytorch=">=2.4"\ncuda="12.*"\n[pypi-dependencies]\ntrl=">=0.9"\n'
    assert found(checkout({"pyproject.toml": "", "pixi.toml": pixi})) == ["trl>=0.9", "torch>=2.4"]


@pytest.mark.parametrize(
    ("poetry", "pip"),
    [
        ("^1.2.3", ">=1.2.3,<2"), ("^0.3.1", ">=0.3.1,<0.4"), ("^0.0.3", ">=0.0.3,<0.0.4"), ("^0", ">=0,<1"), ("^2", ">=2,<3"),
        ("~1.2.3", ">=1.2.3,<1.3"), ("~1.2", ">=1.2,<1.3"), ("~1", ">=1,<2"), ("1.*", "==1.*"), ("*", ""), ("1.4", "==1.4"),
        (">=1,<2", ">=1,<2"), (">=1.0 <2.0", ">=1.0,<2.0"), ("^1.0 || ^2.0", ">=2.0,<3"), ("nonsense", ""), ("=1.2", "==1.2"),
    ],
)  # fmt: skip
def test_pip_version(poetry: str, pip: str) -> None:
    assert pip_version(poetry) == pip


SETUPS = {
    "file": "setup(install_requires=open('requirements.txt').read().splitlines())",
    "path": "setup(install_requires=Path(__file__).with_name('x').joinpath('requirements.txt').read_text().split('\\n'))",
    "with": "with open('requirements.txt') as f:\n    required = f.read().splitlines()\nsetup(install_requires=required)",
    "loop": "reqs = []\nfor line in open('requirements.txt'):\n    reqs.append(line.strip())\nsetup(install_requires=reqs)",
    "comprehension": "with open('requirements.txt') as f:\n    r = [l.strip() for l in f if l]\nsetup(install_requires=r)",
    "function": "def read(name):\n    with open(name) as f:\n        return f.readlines()\nsetup(install_requires=read('requirements.txt'))",
    "default": "def reqs(name='requirements.txt'):\n    return open(name).readlines()\nsetup(install_requires=reqs())",
    "inside": "def reqs():\n    with open('requirements.txt') as f:\n        lines = f.readlines()\n    return lines\nsetup(install_requires=reqs())",
    "pip": "setup(install_requires=[str(r.req) for r in parse_requirements('requirements.txt', session=False)])",
    "list": "setup(install_requires=['torch', 'peft>=0.1'])",
    "sum": "base = ['torch']\nbase += ['peft>=0.1']\nsetup(install_requires=base)",
    "append": "base = ['torch']\nbase.append('peft>=0.1')\nsetup(**{'install_requires': base})",
    "table": "deps = ['torch', 'peft>=0.1', 'x']\nt = {d.split('>')[0]: d for d in deps}\nsetup(install_requires=[t['torch'], t['peft']])",
    "named": "_d = ['torch', 'peft>=0.1']\nd = dict(_d)\ndef pick(*p):\n    return [d[q] for q in p]\nsetup(install_requires=pick('torch', 'peft'))",
    "format": "V = '0.1'\nsetup(install_requires=['torch', f'peft>={V}'])",
    "text": "R = '''\ntorch\npeft>=0.1\n'''\nsetup(install_requires=R.strip().split('\\n'))",
    "made": "L = {'install': ['torch'], 'run': ['peft>=0.1'], 'docs': ['sphinx']}\nE = {k: v for k, v in L.items() if k not in ['install', 'docs']}\nsetup(install_requires=L['install'] + list(E.values())[0])",
    "keyed": "L = {'a': ['torch'], 'b': ['peft>=0.1']}\nE = {k + 'x': [v] for k, v in L.items()}\nsetup(install_requires=E['ax'] + E['bx'])",
    "extras": "E = {'train': ['peft>=0.1'], 'dev': ['pytest']}\nsetup(install_requires=['torch'] + E['train'], extras_require=E)",
}  # fmt: skip


@pytest.mark.parametrize("name", SETUPS)
def test_setup_py_is_evaluated_without_running_it(checkout: Build, name: str) -> None:
    text = f"raise SystemExit('never run')\n{SETUPS[name]}\n"
    # The list lies where only setup.py says that it counts.
    files = {"setup.py": text, "train.py": RUN, "requirements.txt": "torch\npeft>=0.1\n"}
    if "requirements.txt" not in text:
        del files["requirements.txt"]
    assert found(checkout(files)) == ["torch", "peft>=0.1"]


def test_extras_that_are_made_of_a_table_are_told_by_name(checkout: Build) -> None:
    text = (
        "L = {'install': ['torch'], 'serve': ['fastapi'], 'docs': ['sphinx']}\n"
        "setup(name='x', install_requires=L['install'], extras_require={k: v for k, v in L.items() if k != 'install'})\n"
    )
    files = {"setup.py": text, "train.py": RUN}
    assert found(checkout(files)) == ["torch"]
    assert found(checkout({**files, "README.md": "# Install\n```\npip install -e .[serve]\n```\n"})) == [
        "torch",
        "fastapi",
    ]


def test_setup_py_reads_a_list_that_stands_elsewhere(checkout: Build) -> None:
    files = {"setup.py": "setup(install_requires=open('reqs/requirements-core.txt').readlines())\n", "train.py": RUN}
    assert found(checkout({**files, "reqs/requirements-core.txt": "torch\npeft\n"})) == ["torch", "peft"]


def test_setup_cfg_names_a_file(checkout: Build) -> None:
    files = {
        "setup.cfg": "[options]\ninstall_requires = file: requirements/core.txt\n",
        "requirements/core.txt": "torch\n",
    }
    assert found(checkout(files)) == ["torch"]


@pytest.mark.parametrize(
    ("conda", "pip"),
    [
        ("pytorch::pytorch=1.12.1=py3.8_cuda11.3_cudnn8.3.2_0", "torch==1.12.1"), ("numpy=1.19", "numpy==1.19.*"),
        ("pytorch>=2.1,<2.3", "torch>=2.1,<2.3"), ("scikit-image", "scikit-image"), ("faiss-gpu=1.7.2", "faiss-cpu==1.7.2"), ("torchvision-cpu", "torchvision"),
        ("libgcc-ng=9.3.0=h5101ec6_17", None), ("cudatoolkit=11.3", None), ("pytorch-cuda=12.1", None), ("_openmp_mutex=5.1", None),
        ("pyg::pyg=2.3.0", "torch-geometric==2.3.0"), ("blas=*=mkl", None), ("python=3.8", None), ("matplotlib-base", "matplotlib"),
        # A build without Python in its name is of a library or a program; so are some names without a build.
        ("newlib=1.2.1=hd590300_0", None), ("newlib=1.2.1", "newlib==1.2.1"), ("conda-forge::dav1d=1.2.1", None), ("samtools=1.9", None),
        ("font-ttf-ubuntu=0.83", None), ("abnumber=0.2=pyh_0", "abnumber==0.2.*"), ("ninja=1.10.2=h5e70eb0_2", "ninja"), ("graphviz=7.1.0", "graphviz"),
        ("typing-extensions=4.3.0=hd3eb1b0_0", "typing-extensions==4.3.0"), ("tensorflow-gpu=2.4.1=h30adc30_0", "tensorflow==2.4.1"),
    ],
)  # fmt: skip
def test_conda_requirement(conda: str, pip: str | None) -> None:
    assert conda_requirement(conda) == pip


def test_an_environment_includes_lists_and_projects(checkout: Build) -> None:
    text = "name: x\nchannels: [pytorch]\ndependencies:\n  - python=3.10\n  - pip:\n    - -r requirements/gpu.txt\n    - -e .\n    - trl==0.10\n"
    files = {"environment.yaml": text, "requirements/gpu.txt": "torch==2.6.0\n", "setup.py": "setup(name='mine')\n"}
    tree = checkout(files)
    assert found(tree) == ["torch==2.6.0", "trl==0.10"]
    assert found(tree, "dependencies.setup_commands") == ["python3 -m pip install -e ."]
    assert found(tree, "environment.python_version") == ["3.10"]


def test_lock_files_never_speak(checkout: Build) -> None:
    files = {"uv.lock": '[[package]]\nname = "vllm"\n', "poetry.lock": '[[package]]\nname = "vllm"\n', "train.py": RUN}
    assert found(checkout(files)) == ["torch"]


@pytest.mark.parametrize(
    ("text", "python", "holds"),
    [
        ("a; python_version < '3.11'", "3.10", True), ("a; python_version < '3.11'", "3.11", False), ("a", "3.8", True),
        ("a; platform_machine == 'arm64'", "3.11", False), ("a; extra == 'x'", "3.11", False), ("not a requirement;", "3.11", True),
        ("a; python_full_version >= '3.10.4'", "3.10.4", True),
    ],
)  # fmt: skip
def test_applies(text: str, python: str, *, holds: bool) -> None:
    assert applies(text, python) is holds


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("Install the rest via `pip install -e .[LIST OF MODES]`. Then `pip install wandb`.", ["wandb"]),
        ("You can pip install foo to get more, or pip install bar.", []),
        ("- a step:\n\n    then run pip install it ad hoc if you actually want to\n", []),
        ("- a step:\n\n    pip install is needed to build\n", []),
        ("`pip install peft and then wandb`", ["peft"]),
        ("    $ pip install peft\n    (venv) $ python3 -m pip install wandb\n", ["peft", "wandb"]),
        ("$ pip install peft\npip install in the usual way\n", ["peft"]),
        ("> pip install is what you want\n", []),
        ("```\nsudo CUDA_HOME=/x /opt/venv/bin/python -m pip install peft\nuv run pip install wandb\n```\n", ["peft", "wandb"]),
        ("```\nMAX_JOBS=4 uv pip install --system peft # not trl\n```\n", ["peft"]),
        ("```\necho 'pip install peft'\nread -p \"run 'pip install trl' to go on? \" x\n```\n", []),
        ("```\n-> RUN pip install lines   <- NEW\n```\n", []),
        ("```\npip install requirements.txt\npip install -Uqr more.txt peft\n```\n", ["peft"]),
        ("```\npip install peft<br>\npip install YOUR_PACKAGE\npip install <name>\npip install [name]\n```\n", []),
        ("```\npip install ${PACKAGE} trl\npip install {name} wandb\n```\n", []),
        ("```\nconda install python=${{ matrix.python-version }} numpy\nconda install to get started\n```\n", ["numpy"]),
        ("```\npip install 'torch>=2' && cd x && pip install trl; pip install wandb\n```\n", ["torch>=2", "trl", "wandb"]),
        ("```\nif ! pip install peft; then pip install trl; fi\n```\n", ["peft", "trl"]),
    ],
)  # fmt: skip
def test_words_of_running_text_are_no_packages(checkout: Build, text: str, named: list[str]) -> None:
    tree = checkout({"README.md": f"# Installation\n\n{text}", "train.py": "loss.backward()\n"})
    assert found(tree) == named


def test_literal_blocks_and_spans_of_rst_hold_commands(checkout: Build) -> None:
    text = "Install\n=======\n\npip install is used here, so run ``pip install peft``::\n\n    pip install wandb\n\nor pip install trl.\n"
    assert found(checkout({"README.rst": text, "train.py": "loss.backward()\n"})) == ["peft", "wandb"]


def test_an_image_and_a_script_install_in_every_usual_way(checkout: Build) -> None:
    files = {
        "Dockerfile": "RUN --mount=type=cache,target=/var/cache/pip pip install peft\n"
        "RUN . /opt/x/bin/activate && exec pip3 install trl\nRUN bash -c 'pip install wandb'\nRUN echo pip install nltk\n",
        "train.py": "loss.backward()\n",
    }  # fmt: skip
    assert found(checkout(files)) == ["peft", "trl", "wandb"]


def test_a_magic_with_joined_switches_names_a_list(checkout: Build) -> None:
    cell = '{"cells": [{"cell_type": "code", "source": ["%pip install -qr requirements.txt comet_ml\\n", "!{sys.executable} -m pip install wandb"]}]}'
    assert found(checkout({"a.ipynb": cell})) == ["comet_ml", "wandb"]


def test_templates_place_for_a_version_is_no_version(checkout):
    tree = checkout({"requirements.txt": "kedro[jupyter]~={{ cookiecutter.kedro_version }}\nkedro-viz>=6.7\n"})
    assert found(tree) == ["kedro[jupyter]", "kedro-viz>=6.7"]


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("setup(\n    install_requires=['torch>=2', 'peft'],\n)\n", 2),
        ("# torch\nx = 1  # 'torch'\ny = ['pytorch', 'torch-x', 'https://a/torch']\nz = ['torch']\n", 4),
        ("torchvision\ntorch==2.1\n", 2),
        ("x = 'tor' + 'ch'\n", 0),
        ("a='#'; torch\n" * 3 + " torch", 4),
        ("torch" * 60_000 + "\n torch", 2),  # on one line, each place must not be looked at from the line's begin
    ],
)
def test_a_requirement_stands_on_the_first_line_that_names_it_by_itself(checkout: Build, text: str, line: int) -> None:
    (source,) = checkout({"setup.py": text}).sources
    assert placed(source, "torch>=2", "", is_library=True).evidence.line == line


def test_a_project_with_an_extra_for_every_build_is_read(checkout: Build) -> None:
    extras = "".join(f'cu{number} = ["torch=={number}.0.0", "xformers=={number}"]\n' for number in range(4000))
    text = f'[project]\nname="mine"\ndependencies=["torch"]\n[project.optional-dependencies]\n{extras}'
    assert 128 * 1024 < len(text) < 256 * 1024
    assert found(checkout({"pyproject.toml": text})) == ["torch"]


def test_a_key_of_thousands_of_parts_is_not_walked(checkout: Build) -> None:
    text = '[project]\nname="mine"\ndependencies=["torch"]\n'
    short, long = (text + "a." * parts + "b=1\n" for parts in (300, 60_000))
    assert found(checkout({"pyproject.toml": short})) == ["torch"]
    assert found(checkout({"pyproject.toml": long})) == []


@pytest.mark.parametrize(
    ("tag", "is_ours"),
    [
        ("win_amd64", False),
        ("macosx_11_0_arm64", False),
        ("manylinux_2_24_x86_64", True),
        ("linux_x86_64", True),
        ("linux_armv7l", False),
        ("manylinux_2_17_aarch64.manylinux2014_aarch64", False),
    ],
)
def test_wheels_for_other_systems_are_left_out(checkout: Build, tag: str, is_ours: bool) -> None:
    wheel = f"https://example.org/wheels/bitsandbytes-0.39.1-py3-none-{tag}.whl"
    assert found(checkout({"requirements.txt": f"torch\n{wheel}\n"})) == [
        "torch",
        *([f"bitsandbytes @ {wheel}"] if is_ours else []),
    ]


@pytest.mark.parametrize(
    ("line", "wanted"),
    [
        ("tritonclient-2.35.0-py3-none-manylinux1_x86_64.whl[all]", ["tritonclient[all]==2.35.0"]),
        ("torch_scatter-2.1.2+pt22cu118-cp310-cp310-linux_x86_64.whl", ["torch_scatter==2.1.2"]),
        ("tritonclient-2.35.0-py3-none-manylinux2014_aarch64.whl[all]", []),
        ("https://example.org/lab-0.2-cp27-cp27mu-manylinux1_x86_64.whl", []),
        ("https://example.org/lab-0.2-7-py3-none-any.whl#sha256=ab", ["lab @ https://example.org/lab-0.2-7-py3-none-any.whl#sha256=ab"]),
        ("https://example.org/lab.whl", ["https://example.org/lab.whl"]),
        ("https://example.org/lab-0.2-cp37-cp37m-manylinux1_x86_64.whl", ["lab @ https://example.org/lab-0.2-cp37-cp37m-manylinux1_x86_64.whl"]),
    ],
)  # fmt: skip
def test_a_wheel_that_lies_beside_means_its_version_and_one_for_python_2_nothing(
    checkout: Build, line: str, wanted: list[str]
) -> None:
    assert found(checkout({"requirements.txt": f"numpy\n{line}\n"})) == ["numpy", *wanted]


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("git+git://github.com/a/b.git", ["git+https://github.com/a/b.git"]),
        ("-e git+git://github.com/a/b@v1#egg=b", ["b @ git+https://github.com/a/b@v1"]),
        ("c @ git+git://github.com/a/c", ["c @ git+https://github.com/a/c"]),
        ("git+git://example.org/a/b.git", ["git+git://example.org/a/b.git"]),
        # Nothing of that name is there for Linux and NVIDIA's cards.
        ("pywin32==306\ntensorflow-macos\ntorch_npu==2.1.0\npyobjc-core\nnumpy", ["numpy"]),
        ("tensorflow-metadata\nwmi-tools\nnumpy", ["tensorflow-metadata", "wmi-tools", "numpy"]),
    ],
)
def test_what_pip_could_not_fetch_for_this_machine(checkout: Build, line: str, expected: list[str]) -> None:
    assert found(checkout({"requirements.txt": f"{line}\n"})) == expected


def test_pixi_s_tables_for_linux_count_and_others_do_not(checkout: Build) -> None:
    tables = "".join(
        f'[tool.pixi.target.{name}.pypi-dependencies]\n{package}="==1.0"\n'
        for name, package in (("linux-64", "jax"), ("osx-arm64", "jax-metal-one"), ("linux-aarch64", "armed"))
    )
    conda = '[tool.pixi.target.linux-64.dependencies]\nopenmm="==8.2.0"\n'
    text = f'[project]\nname="a"\nversion="1"\n[tool.pixi.workspace]\nchannels=["conda-forge"]\n{tables}{conda}'
    assert found(checkout({"pyproject.toml": text})) == ["jax==1.0", "openmm==8.2.0"]


@pytest.mark.parametrize(
    ("folder", "is_used"), [("v1.0.0", False), ("1.5_old_installers", False), ("golden", False), ("setup", True)]
)
def test_installers_of_old_versions_do_not_speak_beside_a_list(checkout: Build, folder: str, is_used: bool) -> None:
    tree = checkout({"requirements.txt": "numpy\n", f"{folder}/install.sh": "pip install jax==0.2.20\n"})
    assert ("jax==0.2.20" in found(tree)) is is_used


@pytest.mark.parametrize(
    ("files", "is_needed"),
    [
        ({"lib/setup.py": "from distutils.core import setup\nfrom Cython.Build import cythonize\nsetup()\n"}, True),
        ({"lib/setup.py": "from distutils.core import setup\nsetup()  # Cython translated it\n"}, False),
        ({"lib/tools.py": "from Cython.Build import cythonize\n"}, False),
    ],
)
def test_a_build_script_that_imports_cython_needs_it(
    checkout: Build, files: Mapping[str, str], is_needed: bool
) -> None:
    tree = checkout({"train.py": RUN, "requirements.txt": "torch\n", **files})
    assert ("cython" in found(tree)) is is_needed


def test_cython_that_a_list_names_is_not_named_again(checkout: Build) -> None:
    setup = "from distutils.core import setup\nfrom Cython.Build import cythonize\nsetup()\n"
    tree = checkout({"train.py": RUN, "requirements.txt": "torch\nCython==0.29\n", "lib/setup.py": setup})
    assert found(tree) == ["torch", "Cython==0.29"]


@pytest.mark.parametrize(
    ("files", "is_needed"),
    [
        ({"setup.py": "from pybind11.setup_helpers import Pybind11Extension\nsetup()\n"}, True),
        ({"setup.py": "try:\n    import pybind11\nexcept ImportError:\n    pybind11 = None\nsetup()\n"}, False),
        (
            {
                "setup.py": "import pybind11\nsetup()\n",
                "pyproject.toml": "[build-system]\nrequires = ['setuptools', 'pybind11']\n",
            },
            False,
        ),
    ],
    ids=["imported", "taken along", "brought by the build"],
)
def test_a_build_script_that_imports_pybind11_needs_it(
    checkout: Build, files: Mapping[str, str], *, is_needed: bool
) -> None:
    tree = checkout({"train.py": "import torch\nloss.backward()\nif __name__ == '__main__': pass\n", **files})
    assert ("pybind11" in found(tree)) is is_needed


def test_a_module_that_the_checkout_compiles_itself_is_not_called_unknown(checkout: Build) -> None:
    program = "import torch\nimport {name}\nloss.backward()\nif __name__ == '__main__': pass\n"
    build = "from setuptools import setup\nfrom torch.utils.cpp_extension import CppExtension\nsetup(ext_modules=[CppExtension(\n    'sampler_core', ['s.cpp'])])\n"
    tree = checkout({"train.py": program.format(name="sampler_core"), "setup.py": build})
    assert not [f for f in packages.detect(tree) if f.field == "not_understood"]
    other = checkout({"train.py": program.format(name="sampler_other"), "setup.py": build})
    assert [f for f in packages.detect(other) if f.field == "not_understood"]
