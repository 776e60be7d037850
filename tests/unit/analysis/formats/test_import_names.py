"""Which package an import means: of namespaces that many share, of projects that analyze their own folders, of well-known names."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import pytest

from gpu_lol_action.analysis.files.checkout import Checkout
from gpu_lol_action.analysis.formats.import_names import modules_meant, package_of
from gpu_lol_action.analysis.packages import packages
from gpu_lol_action.analysis.programs.outer_packages import without_outer

Build = Callable[[Mapping[str, str]], Checkout]


def required(checkout: Checkout) -> list[str]:
    return [f.value for f in packages.detect(checkout) if f.field == "dependencies.requirements"]


@pytest.mark.parametrize(
    ("line", "wanted"),
    [
        ("from google import genai", ["google-genai"]),
        ("from google.cloud import storage, bigquery", ["google-cloud-bigquery", "google-cloud-storage"]),
        ("from google import nobody_knows_this", []),
        ("from torch import optim", ["torch"]),
        ("from . import genai", []),
    ],
)
def test_of_a_namespace_what_is_taken_from_it_is_installed(checkout: Build, line: str, wanted: list[str]) -> None:
    assert required(checkout({"main.py": f"{line}\nif __name__ == '__main__':\n    pass\n"})) == wanted


def test_names_that_no_table_has_mean_the_module_itself() -> None:
    assert modules_meant("google", ("nobody_knows_this",)) == ("google",)
    assert modules_meant("torch", ("optim",)) == ("torch",)
    assert modules_meant("google", ("genai", "nobody")) == ("google.genai",)


KNOWN = "from fastchat.llm_judge.common import ask\nfrom fastchat.llm_judge.answers import tell\n"


def test_a_known_library_that_is_looked_at_by_a_folder_calls_its_modules_by_their_whole_names(checkout: Build) -> None:
    tree = checkout({"run.py": KNOWN, "common.py": "", "answers.py": ""})
    assert without_outer(tree, "fastchat.llm_judge.common") == "common"


@pytest.mark.parametrize(
    "imports",
    [
        "from fastchat.llm_judge.common import ask\n",  # once may be chance
        KNOWN + "from fastchat.llm_judge.elsewhere import other\n",
        "from fastchat import common\nfrom fastchat import answers\n",  # of one word alone it is the library
        "from os.path import common\nfrom os.path import answers\n",
    ],
)
def test_a_known_library_is_no_outer_name_for_modules_that_are_called_alike(checkout: Build, imports: str) -> None:
    tree = checkout({"run.py": imports, "common.py": "", "answers.py": ""})
    assert without_outer(tree, "fastchat.llm_judge.common") is None
    assert without_outer(tree, "os.path.common") is None


def test_a_package_is_found_under_another_name_than_its_module(checkout: Build) -> None:
    assert required(checkout({"main.py": "import mii\nimport rouge_chinese\n"})) == ["deepspeed-mii", "rouge-chinese"]


@pytest.mark.parametrize(
    ("files", "wanted"),
    [
        ({"main.py": "from agents import Agent, Runner\n"}, ["openai-agents"]),
        ({"main.py": "from agents import Walker\n"}, []),
        ({"main.py": "from agents import Agent\n", "agents/__init__.py": "class Agent: pass\n"}, []),
    ],
)
def test_a_common_word_is_a_package_by_what_is_taken_from_it(
    checkout: Build, files: dict[str, str], wanted: list[str]
) -> None:
    assert required(checkout(files)) == wanted


@pytest.mark.parametrize(
    ("line", "wanted"),
    [
        ("from lingua import LanguageDetectorBuilder", ["lingua-language-detector"]),
        ("from lingua.args import dataclass_from_dict", []),  # a collection's own, of the same name
        ("from baselines.common.vec_env import VecEnv", ["git+https://github.com/openai/baselines.git"]),
        ("from baselines.recipes import utils", []),
        ("from beam import Image, endpoint", ["beam-client"]),
        ("from beam import Beam", []),
        ("from official.nlp import optimization", ["tf-models-official"]),
        ("from official.report import table", []),
        ("from art.estimators.classification import PyTorchClassifier", ["adversarial-robustness-toolbox"]),
        ("from slime.utils.types import Sample", ["git+https://github.com/THUDM/slime.git"]),
        ("import pgl", ["pgl"]),
        ("from flagai.auto_model.auto_loader import AutoLoader", ["flagai"]),
    ],
)
def test_a_name_that_several_have_is_a_package_by_its_own_modules(
    checkout: Build, line: str, wanted: list[str]
) -> None:
    assert required(checkout({"main.py": f"{line}\n"})) == wanted


@pytest.mark.parametrize(
    ("module", "is_unknown"), [("cPickle", False), ("urllib2", False), ("nobody_knows_this", True)]
)
def test_modules_of_python_2_are_not_called_unknown(checkout: Build, module: str, *, is_unknown: bool) -> None:
    program = f"import torch\nimport {module}\nloss.backward()\nif __name__ == '__main__': pass\n"
    said = [f for f in packages.detect(checkout({"train.py": program})) if f.field == "not_understood"]
    assert bool(said) is is_unknown


@pytest.mark.parametrize(
    ("module", "package"),
    [
        ("caffe2.python", "torch"),
        ("a2a.server", "a2a-sdk"),
        ("past.builtins", "future"),
        ("hf_olmo", "ai2-olmo"),
        ("primefac", "primefac"),
    ],
)
def test_names_that_say_little_of_their_package(checkout: Build, module: str, package: str) -> None:
    assert required(checkout({"main.py": f"import {module}\n"})) == [package]


@pytest.mark.parametrize(
    ("more", "wanted"),
    [
        ({}, ["verl"]),
        # Python finds what lies beside a started program first.
        ({"mine/start.py": "from verl import entry\nif __name__ == '__main__':\n    entry.run()\n"}, []),
    ],
)
def test_a_part_of_a_package_hides_no_library_that_it_is_called_after(
    checkout: Build, more: dict[str, str], wanted: list[str]
) -> None:
    files = {
        "run.py": "from mine.verl import entry\nif __name__ == '__main__':\n    entry.run()\n",
        "mine/__init__.py": "",
        "mine/verl/__init__.py": "",
        "mine/verl/entry.py": "from verl import DataProto\n",
        **more,
    }
    assert required(checkout(files)) == wanted


@pytest.mark.parametrize(
    ("line", "wanted"),
    [
        ("from . import xgboost", ["torch", "pandas", "xgboost"]),
        ("try:\n    from . import xgboost\nexcept ImportError:\n    pass", ["torch", "pandas"]),
    ],
)
def test_a_part_for_those_who_have_its_library_asks_nobody_for_it(
    checkout: Build, line: str, wanted: list[str]
) -> None:
    files = {
        "requirements.txt": "torch\n",
        "run.py": "import torch\nimport mine\nloss.backward()\nif __name__ == '__main__':\n    mine.run()\n",
        "mine/__init__.py": f"import pandas\n{line}\n",
        "mine/xgboost.py": "import xgboost\n",
    }
    assert required(checkout(files)) == wanted


@pytest.mark.parametrize(("own", "wanted"), [("class CLIP:\n    pass\n", []), ("import clip\n", ["git"])])
def test_a_part_that_has_what_is_taken_is_no_library_s(checkout: Build, own: str, wanted: list[str]) -> None:
    files = {
        "run.py": "import sys\nsys.path.append('mine')\nfrom work import go\nif __name__ == '__main__':\n    go()\n",
        "mine/__init__.py": "",
        "mine/work.py": "from clip import CLIP\ndef go():\n    CLIP()\n",
        "mine/clip.py": own,
    }
    assert [text.partition("+")[0] for text in required(checkout(files))] == wanted


@pytest.mark.parametrize(
    ("module", "package"),
    [
        ("orbit", "tf-models-official"),
        ("orbit.actions", "tf-models-official"),
        ("orbit.models", "orbit-ml"),
        ("orbit.constants.constants", "orbit-ml"),
        ("orbit.utils.params_tuning", "orbit-ml"),
        ("orbit.utils.common", "tf-models-official"),
    ],
)
def test_loops_of_tensorflow_s_models_are_not_forecasts_of_the_same_name(module: str, package: str) -> None:
    assert package_of(module) == package
