"""Which imports count: of what a command switches on, of what only a README shows, and not of what converts weights."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import pytest

from gpu_lol_action.analysis.files.checkout import Checkout
from gpu_lol_action.analysis.packages import packages

Build = Callable[[Mapping[str, str]], Checkout]

TRAINS = (
    "import argparse\nimport torch\nparser = argparse.ArgumentParser()\nparser.add_argument('--use_8bit_adam', action='store_true')\n"
    "args = parser.parse_args()\nif args.use_8bit_adam:\n    try:\n        import bitsandbytes as bnb\n    except ImportError:\n        raise\n"
    "loss.backward()\n"
)
SHOWN = "```python\nimport torch\nfrom transformers import AutoModel\nnet = AutoModel.from_pretrained('org/net-7b')\nnet.generate()\n```\n"
SERVES = "```bash\npython -m sglang.launch_server --model org/net-7b --tp 8\n```\n"


def found(tree: Checkout) -> list[str]:
    return [f.value for f in packages.detect(tree) if f.field == "dependencies.requirements"]


@pytest.mark.parametrize(("options", "is_on"), [(" --use_8bit_adam", True), ("", False), (" --lr 1", False)])
@pytest.mark.parametrize("list_", ["", "torch\n"])
def test_what_an_option_switches_on_is_installed(checkout: Build, options: str, is_on: bool, list_: str) -> None:
    files = {"README.md": f"```bash\npython train.py{options}\n```\n", "train.py": TRAINS}
    tree = checkout({**files, "requirements.txt": list_} if list_ else files)
    assert sorted(found(tree)) == (["bitsandbytes", "torch"] if is_on else ["torch"])


def test_of_a_checkout_without_programs_the_readme_is_one(checkout: Build) -> None:
    assert found(checkout({"README.md": f"# Net\n{SHOWN}\n{SERVES}"})) == ["torch", "transformers", "sglang"]


@pytest.mark.parametrize(
    "files",
    [
        {
            "README.md": SHOWN.replace("transformers import AutoModel", "vllm import LLM").replace("AutoModel", "LLM")
            + SERVES
        },
        {"README.md": SHOWN + SERVES, "requirements.txt": "sglang\n"},  # a list says all
    ],
)
def test_another_server_or_a_list_leaves_it_aside(checkout: Build, files: Mapping[str, str]) -> None:
    assert found(checkout(files)) == ["sglang"]


def test_a_checkout_with_programs_speaks_by_them(checkout: Build) -> None:
    tree = checkout({"README.md": SHOWN + SERVES, "serve.py": "import fastapi\nif __name__ == '__main__': pass\n"})
    assert "transformers" not in found(tree)


def test_what_converts_weights_is_not_run(checkout: Build) -> None:
    converts = "import torch\nimport tensorflow as tf\nif __name__ == '__main__': pass\n"
    files = {
        "run.py": "import torch\nfrom net import modeling\nloss.backward()\nif __name__ == '__main__': pass\n",
        "net/__init__.py": "",
        "net/modeling.py": "import numpy\n",
        "net/convert_tf_checkpoint.py": converts,
    }
    assert found(checkout(files)) == ["numpy", "torch"]
    (tree,) = [
        checkout(
            {**files, "run.py": files["run.py"].replace("import modeling", "import modeling, convert_tf_checkpoint")}
        )
    ]
    assert "tensorflow" in found(tree)


def test_a_modules_own_try_out_is_not_the_run(checkout: Build) -> None:
    module = "import numpy\nif __name__ == '__main__':\n    import ipdb\n    ipdb.set_trace()\n"
    program = "import torch\nfrom util import boxes\nloss.backward()\nif __name__ == '__main__':\n    import fire\n    fire.Fire()\n"
    files = {"train.py": program, "util/__init__.py": "", "util/boxes.py": module, "requirements.txt": "torch\n"}
    assert found(checkout(files)) == ["torch", "fire", "numpy"]


def test_a_module_on_a_path_that_the_program_adds_is_no_package(checkout: Build) -> None:
    program = "import _init_paths\nimport torch\nfrom datasets.factory import get\nloss.backward()\nif __name__ == '__main__': pass\n"
    files = {"src/main.py": program, "src/_init_paths.py": "", "src/lib/datasets/factory.py": "import numpy\n"}
    assert found(checkout(files)) == ["numpy", "torch"]
    assert "datasets" in found(checkout({**files, "src/main.py": program.replace("datasets.factory", "datasets")}))


def test_a_build_for_one_card_is_not_what_an_import_asks_for(checkout: Build) -> None:
    wheel = "torch @ https://wheels.example.org/xpu/torch-2.6.0-cp311-cp311-linux_x86_64.whl"
    text = f'[project]\nname="mine"\ndependencies=["rich"]\n[project.optional-dependencies]\nintel=["{wheel}"]\n'
    program = "import torch\nloss.backward()\nif __name__ == '__main__': pass\n"
    assert found(checkout({"train.py": program, "pyproject.toml": text})) == ["rich", "torch"]
    text = text.replace("[project.optional", "[build-system]\nrequires=[]\n[project.optional").replace(
        "intel=", 'base=["torch"]\nintel='
    )
    assert found(checkout({"pyproject.toml": text})) == ["rich", "torch"]


@pytest.mark.parametrize(
    ("list_", "is_added"),
    [("keras\n", True), ("tf-keras\n", True), ("tensorflow\n", False), ("tensorflow-gpu==2.4\n", False)],
)
def test_keras_brings_no_tensorflow(checkout: Build, list_: str, is_added: bool) -> None:
    program = "import keras\nimport tensorflow as tf\nmodel.fit(x, y)\nif __name__ == '__main__': pass\n"
    names = found(checkout({"train.py": program, "requirements.txt": list_}))
    assert ("tensorflow" in names[1:]) is is_added
    assert "keras" not in names[1:]


@pytest.mark.parametrize(
    ("main", "names"),
    [
        ("import tensorflow as tf\n", ["numpy", "tensorflow"]),
        ("import torch\n", ["numpy", "torch"]),
        ("import tensorflow as tf\nimport torch\n", ["numpy", "tensorflow", "torch"]),
    ],
)
def test_another_programs_framework_is_not_the_runs(checkout: Build, main: str, names: list[str]) -> None:
    files = {
        "train.py": main + "opt.minimize(loss)\nloss.backward()\nif __name__ == '__main__': pass\n",
        "server/tools/torch_dumper.py": "import numpy\nimport torch\nif __name__ == '__main__': pass\n",
        "README.md": "```\npython train.py\n```\n",
    }
    assert sorted(found(checkout(files))) == names
    beside = {"torch_loader.py" if path.startswith("server") else path: text for path, text in files.items()}
    assert "torch" in found(checkout(beside))


@pytest.mark.parametrize(
    ("package", "is_library_s"),
    [({"book/__init__.py": ""}, True), ({}, False)],  # beside it, where no package is, a program takes the file
)
def test_a_part_that_is_called_after_its_framework_hides_none(
    checkout: Build, package: Mapping[str, str], *, is_library_s: bool
) -> None:
    part = "import jax\nfrom jax import numpy as jnp\n\ndef fit(x):\n    return jax.value_and_grad(x)\n"
    files = {"book/jax.py": part, "book/tools.py": "import jax\nimport wandb\n", **package}
    assert ("jax" in found(checkout(files))) is is_library_s


FETCHES = "def build(name):\n    if True:\n        pass\n    from .waymo import read\n    return read()\n"


@pytest.mark.parametrize(
    ("list_", "loader", "is_added"),
    [
        ("torch\n", FETCHES, False),  # left out of the list on purpose
        ("torch\n", "from .waymo import read\n", True),
        ("", FETCHES, True),  # without a list all that may be reached counts
    ],
)
def test_what_a_module_fetches_when_asked_is_no_need_beside_a_list(
    checkout: Build, list_: str, loader: str, is_added: bool
) -> None:
    files = {
        "README.md": "```bash\npython train.py\n```\n",
        "train.py": "import torch\nfrom data import build\nbuild('kitti')\nloss.backward()\n",
        "data/__init__.py": loader,
        "data/waymo.py": "import tensorflow as tf\ndef read():\n    return tf.data\n",
    }
    files |= {"requirements.txt": list_} if list_ else {}
    assert ("tensorflow" in found(checkout(files))) is is_added


@pytest.mark.parametrize(
    ("work", "is_added"),
    [
        ("def start():\n    from . import policies, sums\n", True),
        ("def start():\n    from net.other import policies\n", False),  # of another folder
        ("def start():\n    from . import policies, sums, a, b, c\n", False),  # a choice of many
    ],
)
def test_a_module_beside_the_script_may_fetch_its_few_parts(checkout: Build, work: str, is_added: bool) -> None:
    files = {
        "README.md": "```bash\npython net/main.py\n```\n",
        "requirements.txt": "torch\n",
        "net/main.py": "import torch\nfrom net.work import start\nstart()\nloss.backward()\n",
        "net/work.py": work,
        **{f"net/{name}.py": "" for name in ("sums", "a", "b", "c")},
        **dict.fromkeys(("net/policies.py", "net/other/policies.py"), "import h5py\n"),
    }
    assert ("h5py" in found(checkout(files))) is is_added


@pytest.mark.parametrize(
    ("folder", "count", "is_added"), [("examples", 3, True), ("examples", 2, False), ("net", 3, False)]
)
def test_what_most_examples_import_is_installed(checkout: Build, folder: str, count: int, is_added: bool) -> None:
    files = {
        "setup.py": "from setuptools import setup\nsetup(name='net', install_requires=['torch', 'tqdm', 'scipy', 'numpy'])\n",
        "net/__init__.py": "import torch\n",
        f"{folder}/a_run.py": "import torch\nloss.backward()\n",
        **{
            f"{folder}/b{n}.py": f"import torch\n{'import pandas' if n < count else ''}\nloss.backward()\n"
            for n in range(4)
        },
    }
    assert ("pandas" in found(checkout(files))) is is_added


def test_what_the_script_itself_fetches_is_needed(checkout: Build) -> None:
    files = {
        "README.md": "```bash\npython train.py\n```\n",
        "requirements.txt": "torch\n",
        "train.py": "import torch\ndef main():\n    from data import read\n    read()\nloss.backward()\nmain()\n",
        "data.py": "import pandas\n",
    }
    assert "pandas" in found(checkout(files))


LIBRARY = "from setuptools import setup\nsetup(name='sound', packages=['sound'], install_requires=[{}])\n"
OF_FIVE = "'librosa', 'scipy', 'tqdm', 'einops', 'h5py'"


@pytest.mark.parametrize(
    ("listed", "model", "is_added"),
    [
        (OF_FIVE, "import torchaudio\n", True),
        (OF_FIVE + ", 'torch'", "import torchaudio\n", True),
        (OF_FIVE, "def load(path):\n    import torchaudio\n    return torchaudio.load(path)\n", False),
        (OF_FIVE, "try:\n    import torchaudio\nexcept ImportError:\n    torchaudio = None\n", False),
    ],
)
def test_what_ends_a_run_at_its_start_is_installed_though_its_library_s_list_forgot_it(
    checkout: Build, listed: str, model: str, *, is_added: bool
) -> None:
    files = {
        "README.md": "```\npython sound/bin/train.py --lr 1\n```\n",
        "setup.py": LIBRARY.format(listed),
        "sound/__init__.py": "",
        "sound/bin/__init__.py": "",
        "sound/bin/train.py": "import torch\nfrom sound.model import net\nnet().cuda().backward()\n",
        "sound/model.py": f"import torch\n{model}def net():\n    return torch.nn.Linear(2, 2)\n",
    }
    assert ("torchaudio" in found(checkout(files))) is is_added


@pytest.mark.parametrize(
    ("listed", "is_added"),
    [
        (OF_FIVE, True),
        (OF_FIVE + ", 'torch'", True),
        (OF_FIVE + ", 'pytorch-lightning'", False),
        (OF_FIVE + ", 'tensorflow'", False),
    ],
)
def test_pytorchs_writer_for_tensorboard_needs_it(checkout: Build, listed: str, *, is_added: bool) -> None:
    files = {
        "README.md": "```\npython -m sound.train --lr 1\n```\n",
        "setup.py": LIBRARY.format(listed),
        "sound/__init__.py": "",
        "sound/train.py": "import torch\nfrom sound.log import write\nmodel.cuda()\nloss.backward()\nwrite(loss)\n",
        "sound/log.py": "from torch.utils.tensorboard import SummaryWriter\ndef write(loss):\n    SummaryWriter().add(loss)\n",
    }
    assert ("tensorboard" in found(checkout(files))) is is_added


@pytest.mark.parametrize(
    ("more", "is_added"),
    [
        ({}, True),
        ({"other.py": "import json\n"}, False),  # which of two is started, nothing says
        ({"pyproject.toml": "[project]\nname = 'study'\nversion = '1'\ndependencies = []\n"}, False),
    ],
)
def test_a_lone_program_is_started_though_nothing_in_it_says_so(
    checkout: Build, more: dict[str, str], *, is_added: bool
) -> None:
    files = {"study.py": "import optuna\nstudy = optuna.create_study()\n", "requirements.txt": "plotly\n", **more}
    assert ("optuna" in found(checkout(files))) is is_added


@pytest.mark.parametrize(
    ("place", "is_added"), [("parts/show.ipynb", False), ("net/show.ipynb", True), ("show.ipynb", True)]
)
def test_notebooks_of_another_folder_show_another_part(checkout: Build, place: str, *, is_added: bool) -> None:
    cell = '{"cell_type": "code", "source": ["import gensim"], "outputs": [], "metadata": {}, "execution_count": null}'
    notebook = f'{{"cells": [{cell}], "metadata": {{}}, "nbformat": 4, "nbformat_minor": 5}}'
    files = {
        "README.md": "```\npython net/train.py\n```\n",
        "net/train.py": "import torch\nloss.backward()\n",
        place: notebook,
    }
    assert ("gensim" in found(checkout(files))) is is_added


@pytest.mark.parametrize(
    ("place", "is_added"),
    [
        ("2 - Words.ipynb", True),
        ("02Words.ipynb", True),
        ("3d_plots.ipynb", False),
        ("extra.ipynb", False),
        ("old/2 - Words.ipynb", False),
    ],
)
def test_the_numbered_lessons_of_a_course_count_beside_its_list(checkout: Build, place: str, *, is_added: bool) -> None:
    files = {
        "requirements.txt": "torch\n",
        "1 - Sums.ipynb": _notebook("import torch\\nloss.backward()"),
        place: _notebook("import gensim"),
    }
    assert ("gensim" in found(checkout(files))) is is_added


@pytest.mark.parametrize(("folder", "is_added"), [("src/external/boost", False), ("src/own", True)])
def test_what_was_copied_in_from_other_projects_adds_nothing(checkout: Build, folder: str, *, is_added: bool) -> None:
    program = "import gensim\nif __name__ == '__main__':\n    gensim.run()\n"
    files = {"src/main.py": "import torch\nloss.backward()\n", f"{folder}/demo.py": program}
    assert ("gensim" in found(checkout(files))) is is_added


def _notebook(code: str) -> str:
    cell = f'{{"cell_type": "code", "source": ["{code}"], "outputs": [], "metadata": {{}}, "execution_count": null}}'
    return f'{{"cells": [{cell}], "metadata": {{}}, "nbformat": 4, "nbformat_minor": 5}}'


@pytest.mark.parametrize(("module", "is_added"), [("wandb", True), ("tensorflow", False), ("flash_attn", False)])
def test_of_what_most_examples_import_no_second_framework_and_nothing_to_compile_is_installed(
    checkout: Build, module: str, *, is_added: bool
) -> None:
    files = {
        "setup.py": "from setuptools import setup\nsetup(name='net', install_requires=['torch', 'tqdm', 'scipy', 'numpy'])\n",
        "net/__init__.py": "import torch\n",
        "examples/a_run.py": "import torch\nloss.backward()\n",
        **{f"examples/b{n}.py": f"import torch\nimport {module}\nloss.backward()\n" for n in range(3)},
    }
    assert (module.replace("_", "-") in found(checkout(files))) is is_added


def test_a_list_says_which_of_two_projects_of_one_name_is_meant(checkout: Build) -> None:
    files = {"requirements.txt": "torch\norbit-ml\n", "train.py": "import orbit\nimport torch\nloss.backward()\n"}
    assert sorted(found(checkout(files))) == ["orbit-ml", "torch"]
