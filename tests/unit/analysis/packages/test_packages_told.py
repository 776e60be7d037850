"""Where no list counts: what commands install is one, if it is enough, and sub-projects that the run takes nothing of say nothing."""

from __future__ import annotations

import pytest

from gpu_lol_action.analysis.answer.assemble import analyze
from tests.unit.analysis.conftest import Build

TRAIN = "import torch\nimport einops\nnet = torch.nn.Linear(2, 2).cuda()\nnet(x).sum().backward()\n"
OTHERS = {"side/record.py": "import pyaudio\n", "side/measure.py": "import calflops\n"}
INSTALL = "# Install\n```\npip install {}\n```\n# Train\n```\npython train.py\n```\n"
WHOLE = "torch torchvision transformers==4.33.2 timm sentencepiece"


def _requirements(checkout: Build, files: dict[str, str]) -> set[str]:
    return set(analyze(checkout(files)).spec.dependencies.requirements or ())


def test_commands_that_install_a_framework_and_more_are_the_list(checkout: Build) -> None:
    files = {"README.md": INSTALL.format(WHOLE), "train.py": TRAIN, **OTHERS}
    assert _requirements(checkout, files) == {*WHOLE.split(), "einops"}


@pytest.mark.parametrize("told", ["torch", "numpy scipy pandas tqdm requests", "torch torchvision tqdm numpy"])
def test_a_few_packages_are_no_list(checkout: Build, told: str) -> None:
    files = {"README.md": INSTALL.format(told), "train.py": TRAIN, **OTHERS}
    assert {"pyaudio", "calflops", "einops"} <= _requirements(checkout, files)


def test_a_collection_s_sub_project_speaks_for_what_takes_something_of_it(checkout: Build) -> None:
    project = '[project]\nname = "zoom"\ndependencies = ["torch==2.0.1", "xlsxwriter", "shortuuid"]\n'
    files = {
        "README.md": INSTALL.format(WHOLE),
        "train.py": TRAIN,
        "projects/zoom/pyproject.toml": project,
        "projects/zoom/zoom/run.py": "import torch\n",
    }
    assert "shortuuid" not in _requirements(checkout, files)
    files["train.py"] = f"import zoom\n{TRAIN}"
    assert "shortuuid" in _requirements(checkout, files)


ENVIRONMENT = (
    "name: net\nchannels: [pytorch]\ndependencies:\n- python=3.9\n- pytorch=1.10.2\n- pip:\n  - higher==0.2.1\n"
)
CREATES = 'RECIPE=${{RECIPE:-net}}\nconda env {} --name="$NAME" --file "${{RECIPE}}.yml"\n'


@pytest.mark.parametrize(
    ("files", "is_read"),
    [
        ({"scripts/net.yml": ENVIRONMENT, "scripts/setup.sh": CREATES.format("create")}, True),
        ({"scripts/net.yml": ENVIRONMENT, "scripts/setup.sh": CREATES.format("export")}, False),
        ({"other/net.yml": ENVIRONMENT, "scripts/setup.sh": CREATES.format("create")}, False),
        ({"scripts/net.yml": ENVIRONMENT, "scripts/old.yml": ENVIRONMENT, "scripts/setup.sh": CREATES.format("create")}, False),
    ],
)  # fmt: skip
def test_the_environment_beside_the_script_that_creates_one_by_a_variable(
    checkout: Build, files: dict[str, str], *, is_read: bool
) -> None:
    tree = {"README.md": "```\npython train.py\n```\n", "train.py": TRAIN, **files}
    assert ("higher==0.2.1" in _requirements(checkout, tree)) is is_read


@pytest.mark.parametrize(
    ("install", "expected"),
    [("pip install --user gensim scipy\n", "gensim"), ("pip install scipy\n", "gensim==4.0.1"), ("pip install gensim==4.3.0 scipy\n", "gensim==4.0.1")],
)  # fmt: skip
def test_a_copied_in_list_does_not_bind_what_the_install_script_leaves_open(
    checkout: Build, install: str, expected: str
) -> None:
    files = {
        "README.md": "```\npython train.py\n```\n",
        "install.sh": install,
        "train.py": f"import sys\nsys.path.append('software/net')\nimport walk\n{TRAIN}",
        "software/net/walk.py": "import gensim\n",
        "software/net/requirements.txt": "gensim==4.0.1\n",
    }
    assert expected in _requirements(checkout, files)


@pytest.mark.parametrize(
    ("said", "is_installed"),
    [
        ("(Optional) For logging:", False),
        ("* [OPTIONAL] If you like it faster, take the GPU package:", False),
        ("3. Optionally, install the logger:", False),
        ("(Optional) For logging, if you like\nto see the curves of a run:", False),
        ("(Optional)\n\nNow the logger:", True),
        ("- (Optional) Look at the pictures.\n- Install the logger:", True),
        ("Now the logger:", True),
        ("(Optional, Recommended) For logging:", True),
        ("The following optional dependencies are necessary:", True),
        ("(Optional) Create a conda environment:", True),
        ("If you encounter any issues with the logger:", False),
        ("**In case something goes wrong** and you need to install again:", False),
        ("If you want the best results:", True),
    ],
)
def test_what_a_line_calls_optional_is_left_out(checkout: Build, said: str, *, is_installed: bool) -> None:
    readme = f"# Install\n```\npip install -r requirements.txt\n```\n{said}\n```\npip install wandb\n```\nThen:\n```\npip install fire\n```\n"
    files = {"README.md": readme, "requirements.txt": "torch\n", "train.py": TRAIN}
    found = _requirements(checkout, files)
    assert ("wandb" in found) is is_installed
    assert "fire" in found


TOPICS = (
    '[project]\nname = "topics"\ndependencies = ["torch", "numpy"]\n[project.optional-dependencies]\n'
    'flair = ["flair"]\nspacy = ["spacy"]\nuse = ["tensorflow"]\ntrain = ["peft"]\n'
)


@pytest.mark.parametrize(
    ("commands", "extra"),
    [
        (["topics", "topics[flair,spacy]"], set()),
        (["topics[flair]", "topics[spacy]", "topics[use]"], set()),
        (["topics[flair]"], {"flair"}),
        (["topics[flair,spacy]", "topics"], {"flair", "spacy"}),
        (["topics", "topics[train]"], {"peft"}),
    ],
)
def test_extras_behind_the_plain_name_and_menus_of_them_are_offers(
    checkout: Build, commands: list[str], extra: set[str]
) -> None:
    readme = "# Install\n" + "".join(f"```\npip install {command}\n```\nor\n" for command in commands)
    files = {"README.md": readme, "pyproject.toml": TOPICS, "topics/__init__.py": TRAIN.replace("import einops\n", "")}
    assert _requirements(checkout, files) - {"torch", "numpy"} == extra


@pytest.mark.parametrize(
    ("heading", "items", "expected"),
    [
        ("Requirements", "- python>=3.8\n- torch==2.2.2\n* `einops==0.7.0`\n- **numpy >= 1.20**\n- CUDA >= 11\n", {"torch==2.2.2", "einops==0.7.0", "numpy>=1.20,<2"}),
        ("Prerequisites", "- PyTorch == 1.13.1\n- nobody-knows==1.0\n", {"torch==1.13.1", "einops"}),
        ("Results", "- torch==2.2.2\n", {"torch", "einops"}),
        ("Requirements", "- torch==2.2.2 is faster\n", {"torch", "einops"}),
    ],
)  # fmt: skip
def test_items_that_are_versions_under_a_heading_of_requirements_are_a_list(
    checkout: Build, heading: str, items: str, expected: set[str]
) -> None:
    files = {"README.md": f"# {heading}\n{items}\n# Train\n```\npython train.py\n```\n", "train.py": TRAIN}
    assert _requirements(checkout, files) == expected


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ("Python packages you might not have: `cython`, `python-opencv`, `nobody-knows`", {"cython", "opencv-python-headless"}),
        ("Python packages might missing: cython, opencv-python >= 3.2.0", {"cython", "opencv-python>=3.2.0"}),
        ("Packages you may not have installed yet: cython", {"cython"}),
        ("Python packages: `cython`, `python-opencv`", set()),
        ("System packages you might not have: ffmpeg, cmake, wget", set()),
        ("On Windows some packages may be missing: triton, deepspeed", set()),
        ("These packages may not have been tested: deepspeed, xformers", set()),
        ("The conda packages may not have CUDA support: faiss, xformers", set()),
    ],
)  # fmt: skip
def test_packages_that_a_reader_may_lack_are_installed(checkout: Build, said: str, expected: set[str]) -> None:
    files = {"README.md": f"# Net\n{said}\n# Train\n```\npython train.py\n```\n", "train.py": TRAIN}
    assert _requirements(checkout, files) - {"torch", "einops"} == expected


def test_extras_that_alone_compute_on_a_gpu_are_no_offers(checkout: Build) -> None:
    project = TOPICS.replace('"torch", "numpy"', '"numpy"').replace('use = ["tensorflow"]', 'hf = ["torch", "peft"]')
    readme = "# Install\n```\npip install topics\npip install topics[hf]\n```\n"
    files = {"README.md": readme, "pyproject.toml": project, "topics/__init__.py": TRAIN.replace("import einops\n", "")}
    assert {"torch", "peft"} <= _requirements(checkout, files)


SECTION = "# Use\n{0}\nThen run it:\n```\npython train.py\n```\n# Other ways\n```\npip install peft\n```\n"


@pytest.mark.parametrize(
    ("readme", "is_told"),
    [
        (SECTION.format("First install timm:\n```\npip install timm==0.4.9\n```\n"), True),
        (SECTION.format("# Serve it\n```\npip install timm==0.4.9\n```\n# Use\n"), False),
        (SECTION.format("Optionally:\n```\npip install timm==0.4.9\n```\n"), False),
    ],
)
def test_what_is_installed_above_the_run_in_its_section_counts_beside_a_list(
    checkout: Build, readme: str, is_told: bool
) -> None:
    files = {"README.md": readme, "train.py": TRAIN, "requirements.txt": "torch\neinops\n"}
    assert _requirements(checkout, files) == {"torch", "einops", *(["timm==0.4.9"] if is_told else [])}


def test_a_file_that_only_a_table_names_is_none(checkout: Build) -> None:
    readme = "# Install\n```\npip install -r requirements/<requirements file according to table below>\n```\n# Train\n```\npython train.py\n```\n"
    assert _requirements(checkout, {"README.md": readme, "train.py": TRAIN}) == {"torch", "einops"}


def test_of_several_images_the_one_that_starts_the_run_counts(checkout: Build) -> None:
    files = {
        "README.md": "# Serve\n```\npython serve_vllm.py\n```\n",
        "serve_vllm.py": "import torch\nfrom transformers import AutoModelForCausalLM\nnet = AutoModelForCausalLM.from_pretrained('org/net-7b')\nnet.generate()\n",
        "docker/Dockerfile.a": "FROM pytorch/pytorch:2.1.0-cuda12.1-cudnn8-runtime\nRUN pip install timm\nCMD python serve_other.py\n",
        "docker/Dockerfile.b": "FROM pytorch/pytorch:2.2.0-cuda12.1-cudnn8-runtime\nRUN pip install einops\nCMD python serve_vllm.py\n",
    }
    spec = analyze(checkout(files)).spec
    assert spec.environment.base_image == "pytorch/pytorch:2.2.0-cuda12.1-cudnn8-runtime"
    assert "timm" not in (spec.dependencies.requirements or ())


@pytest.mark.parametrize(
    ("place", "script", "counts"),
    [
        ("docker/gpu/Dockerfile", "train.py", True),
        ("annotator/zoe/net/Dockerfile", "train.py", False),
        ("apps/zoe/docker/Dockerfile", "apps/zoe/train.py", True),
        ("runtime/triton_trtllm/Dockerfile.server", "train.py", False),
        ("triton/Dockerfile", "triton/train.py", True),
    ],
)
def test_an_image_deep_in_the_tree_is_of_the_program_that_lies_there(
    checkout: Build, place: str, script: str, counts: bool
) -> None:
    image = "pytorch/pytorch:2.2.0-cuda12.1-cudnn8-runtime"
    files = {
        "README.md": f"# Train\n```\npython {script}\n```\n",
        script: TRAIN,
        place: f"FROM {image}\nRUN pip install timm\n",
    }
    spec = analyze(checkout(files)).spec
    assert (spec.environment.base_image == image) == counts
    assert ("timm" in (spec.dependencies.requirements or ())) == counts


LIST = {"requirements.txt": "torch\n", "train.py": TRAIN}
FILE = "nets/flash_attn-2.5.9.post1+cu122torch2.3-cp310-cp310-linux_x86_64.whl"


@pytest.mark.parametrize(
    ("told", "expected"),
    [
        (FILE, {"flash_attn==2.5.9.post1"}),
        ("apex-0.1-cp310-cp310-linux_x86_64.whl", {"git+https://github.com/NVIDIA/apex.git"}),
        ("nobody_knows_this-0.1-py3-none-any.whl", set()),
        ("-e causal_conv1d>=1.1.0", {"causal_conv1d>=1.1.0"}),
        ("--prefix $(python -c 'import sys; print(sys.prefix)') timm", {"timm"}),
    ],
)
def test_a_file_of_a_known_package_is_that_package(checkout: Build, told: str, expected: set[str]) -> None:
    found = _requirements(checkout, {**LIST, "README.md": INSTALL.format(told)})
    assert found - {"torch", "einops"} == expected


@pytest.mark.parametrize(
    ("said", "is_asked"),
    [
        ("pip install -e .\n```\nTo score the benchmark:\n```\npip install -e '.[bench]'", False),
        ("pip install -e '.[bench]'", True),
        ("pip install -e .\npip install -e '.[train]'", True),
    ],
)
def test_extras_behind_the_plain_project_are_offers(checkout: Build, said: str, *, is_asked: bool) -> None:
    project = (
        "[project]\nname = 'net'\nversion = '1'\ndependencies = ['torch', 'einops']\n[project.optional-dependencies]\n"
    )
    project += "bench = ['gensim']\ntrain = ['gensim']\n[build-system]\nrequires = ['setuptools']\n"
    files = {"pyproject.toml": project, "train.py": TRAIN, "README.md": INSTALL.replace("pip install {}", said)}
    assert ("gensim" in _requirements(checkout, files)) is is_asked


@pytest.mark.parametrize(("line", "is_used"), [("", False), ("import tensorflow as tf\n", True)])
def test_a_framework_that_a_document_tells_of_and_nobody_imports(checkout: Build, line: str, *, is_used: bool) -> None:
    files = {"README.md": INSTALL.format("tensorflow-gpu"), **LIST, "show.py": f"{line}import json\n"}
    assert any(each.startswith("tensorflow") for each in _requirements(checkout, files)) is is_used


@pytest.mark.parametrize(("told", "is_own"), [("conda install dance-all", True), ("pip install dance-all", False)])
def test_what_conda_names_after_the_project_is_its_recipe_s(checkout: Build, told: str, *, is_own: bool) -> None:
    text = f"# Install\n```\n{told}\n```\n# Train\n```\npython train.py\n```\n"
    files = {"README.md": text, "train.py": TRAIN, "dance/__init__.py": ""}
    assert ("dance-all" not in _requirements(checkout, files)) is is_own


@pytest.mark.parametrize(
    ("readme", "is_told"), [("Read the manual.\n", True), ("# Install\n```\npip install einops\n```\n", False)]
)
def test_a_manual_tells_how_to_install_where_the_readme_does_not(
    checkout: Build, readme: str, *, is_told: bool
) -> None:
    files = {
        "README.md": f"# Net\n{readme}",
        "docs/getting_started/quickstart.md": "# Installation\n```\npip install vllm==0.12.0\n```\n",
        "pyproject.toml": '[build-system]\nrequires=["setuptools"]\n[project]\nname="net"\ndependencies=["einops"]\n',
        "train.py": TRAIN,
    }
    assert ("vllm==0.12.0" in _requirements(checkout, files)) is is_told


@pytest.mark.parametrize(
    ("heading", "item", "expected"),
    [
        ("Prerequisites", "- Pytorch 1.9.1", "torch==1.9.1"),
        ("Environment", "* PyTorch1.10.0", "torch==1.10.0"),
        ("Requirements", "- PyTorch `1.7.1`", "torch==1.7.1"),
        ("Installation", "+ torch (2.1.0+cu118),", "torch==2.1.0"),
        ("Requirements", "- PyTorch 1.9.1+", "torch"),
        ("Requirements", "- PyTorch 1.9.1 or later", "torch"),
        ("Requirements", "- PyTorch 0.4.1", "torch"),  # of no image, and built for no Python of today
        ("Requirements", "- PyTorch 1.9", "torch"),
        ("Results", "- PyTorch 1.9.1", "torch"),
        ("Requirements", "- PyTorch Lightning 1.9.1", "torch"),
    ],
)
def test_the_one_pytorch_that_is_listed_is_what_the_image_holds(
    checkout: Build, heading: str, item: str, expected: str
) -> None:
    files = {"README.md": f"# {heading}\n{item}\n", "train.py": TRAIN, "requirements.txt": "torch\neinops\n"}
    assert {name for name in _requirements(checkout, files) if name.startswith("torch")} == {expected}


@pytest.mark.parametrize(
    ("heading", "items", "expected"),
    [
        # What was there when it worked, and what has no release: any will do.
        ("Requirements", "* Python (3.7.11)\n* pytorch (1.9.1+cu111)\n* faiss-gpu (1.7.1)\n* timm 0.5.4\n* tqdm\n", {"torch==1.9.1", "faiss-gpu", "timm", "tqdm", "safetensors<0.5"}),
        ("Dependencies", "- tqdm\n- our own code\n- nobody-knows\n", {"tqdm"}),
        # Not under such a heading, or no list of packages.
        ("Features", "- tqdm\n- timm\n", set()),
        ("Installation", "- tqdm\n", set()),
    ],
)  # fmt: skip
def test_items_that_are_names_under_a_heading_of_packages_are_a_list(
    checkout: Build, heading: str, items: str, expected: set[str]
) -> None:
    files = {"README.md": f"# {heading}\n{items}\n# Train\n```\npython train.py\n```\n", "train.py": TRAIN}
    assert _requirements(checkout, files) - {"torch", "einops"} == expected


@pytest.mark.parametrize(
    ("heading", "block", "expected"),
    [
        ("Requirements", "accelerate\ndeepspeed\npeft==0.9.0  # adapters\ntqdm", {"accelerate", "deepspeed", "peft==0.9.0", "tqdm"}),
        ("Environment", "accelerate>=0.20\n\npeft\ntqdm", {"accelerate>=0.20", "peft", "tqdm"}),
        # Two are no list, what holds something else is none, and neither is a block elsewhere.
        ("Requirements", "accelerate\npeft", set()),
        ("Requirements", "accelerate\npeft\ntqdm\ngit clone x", set()),
        ("Requirements", "data\ncheckpoints\nresults", set()),
        ("Results", "accelerate\npeft\ntqdm", set()),
    ],
)  # fmt: skip
def test_a_block_that_is_a_list_of_requirements_is_installed(
    checkout: Build, heading: str, block: str, expected: set[str]
) -> None:
    readme = f"# {heading}\n```\n{block}\n```\n# Train\n```\npython train.py\n```\n"
    assert _requirements(checkout, {"README.md": readme, "train.py": TRAIN}) - {"torch", "einops"} == expected
