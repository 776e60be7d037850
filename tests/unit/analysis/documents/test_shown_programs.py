"""A README's own code as the run of a repository that holds nothing nearer to start."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from gpu_lol_action.analysis.answer.assemble import analyze
from gpu_lol_action.analysis.answer.profiles import shown_command
from gpu_lol_action.analysis.documents.shown_programs import shown_program
from gpu_lol_action.analysis.formats.surest import best
from gpu_lol_action.analysis.programs.behavior import Behavior
from gpu_lol_action.analysis.runs.runs import primary_run
from gpu_lol_action.domain.spec import WorkloadType
from tests.unit.analysis.conftest import Build

README = """# Weights

```bash
pip install transformers
```

## Use

```python
from transformers import AutoModelForCausalLM, AutoTokenizer
name = "mistralai/Mistral-7B-v0.1"
tokenizer = AutoTokenizer.from_pretrained(name)
```

```python
model = AutoModelForCausalLM.from_pretrained(name).half().cuda()
model.generate(**tokenizer("Hello", return_tensors="pt"))
```
"""
DEEP = (
    "from transformers import AutoModel\nif __name__ == '__main__':\n    AutoModel.from_pretrained('gpt2').generate()\n"
)


def test_what_a_readme_shows_is_the_run_where_nothing_is_nearer(checkout: Build) -> None:
    analysis = analyze(checkout({"README.md": README, "extra/deep/demo.py": DEEP, "requirements.txt": "torch\n"}))
    entry, model = best(analysis.findings, "entry_point"), best(analysis.findings, "model.id")
    assert entry is not None
    assert (entry.evidence.path, entry.evidence.line) == ("README.md", 17)
    assert model is not None
    assert model.value == "mistralai/Mistral-7B-v0.1"
    assert analysis.spec.meta.workload_type is WorkloadType.INFERENCE
    assert 15 <= (analysis.spec.hardware.vram_required_gb or 0) <= 20


@pytest.mark.parametrize(
    "files",
    [
        {"demo.py": DEEP},
        {"README.md": README + "\n```\npython extra/deep/demo.py\n```\n", "extra/deep/demo.py": DEEP},
    ],
)
def test_a_program_or_a_command_of_the_same_level_comes_before(checkout: Build, files: Mapping[str, str]) -> None:
    analysis = analyze(checkout({"README.md": README, "requirements.txt": "torch\n", **files}))
    entry = best(analysis.findings, "entry_point")
    assert entry is not None
    assert entry.value != "the code in README.md"


def test_an_example_of_a_library_that_needs_no_gpu_makes_it_need_none(checkout: Build) -> None:
    setup = (
        "from setuptools import setup\nsetup(name='x', install_requires=['numpy'], extras_require={'all': ['torch']})\n"
    )
    tree = checkout({"README.md": README, "setup.py": setup, "x/__init__.py": "import numpy\n"})
    assert analyze(tree).spec.meta.workload_type is WorkloadType.CPU_ONLY


def test_a_placeholder_that_is_shown_is_not_meant(checkout: Build) -> None:
    shown = README.replace("mistralai/Mistral-7B-v0.1", "facebook/opt-125m")
    analysis = analyze(checkout({"README.md": shown, "requirements.txt": "torch\n"}))
    assert best(analysis.findings, "model.id") is None


CARD = (
    "# Net\n\n```python\nimport torch\nfrom transformers import LlamaForCausalLM\n"
    "model_path = 'openlm-research/open_llama_3b_v2'\n"
    "model = LlamaForCausalLM.from_pretrained(model_path, torch_dtype=torch.float16, device_map='auto')\n"
    "print(model.generate(ids))\n```\n"
)


@pytest.mark.parametrize(
    ("files", "kind"),
    [
        ({}, "inference"),
        (
            {"tools/count.py": "import json\nprint(json.load(open('a')))\n"},
            "cpu-only",
        ),  # then it may be one use of many
    ],
)
def test_a_checkout_that_is_a_models_card_does_what_the_card_shows(
    checkout: Build, files: dict[str, str], kind: str
) -> None:
    assert analyze(checkout({"README.md": CARD, **files})).spec.meta.workload_type.value == kind


FORECASTS = (
    "# Foo\n```\npip install foo-forecasting\n```\n```python\nfrom foo import Pipeline\n\n"
    'pipeline = Pipeline.from_pretrained("acme/foo-base", device_map="cuda")\nanswer = pipeline.predict(rows)\n```\n'
)
TRAINS = "import torch\nif __name__ == '__main__':\n    loss.cuda().backward()\n"
LIBRARY = {"src/foo/__init__.py": "import torch\n\n\nclass Pipeline:\n    pass\n"}


def test_what_a_readme_takes_from_the_package_beside_it_may_use_a_gpu(checkout: Build) -> None:
    found = checkout({"README.md": FORECASTS, **LIBRARY})
    run = primary_run(found)

    assert run is not None
    assert (run.behavior, str(run.evidence), run.shown) == (Behavior.INFERS, "README.md:9", "the code in README.md")
    assert shown_command(run) == "the code in README.md"


@pytest.mark.parametrize(
    ("files", "shown"),
    [
        ({}, "the code in README.md"),
        # Training has a page of its own, in its folder.
        ({"scripts/README.md": "```\npython training/train.py\n```\n", "scripts/training/train.py": TRAINS}, "the code in README.md"),
        # What lies at the root is not an extra of a library; nor is what the README itself starts first.
        ({"train.py": TRAINS}, "train.py"),
        ({"README.md": "```\npython tools/train.py\n```\n" + FORECASTS, "tools/train.py": TRAINS}, "python train.py"),
    ],
)  # fmt: skip
def test_a_library_is_what_its_readme_shows_of_it(checkout: Build, files: Mapping[str, str], shown: str) -> None:
    run = primary_run(checkout({"README.md": FORECASTS, **LIBRARY, **files}))

    assert run is not None
    assert run.shown == shown


ASKED = "```python\nfrom foo import get_foo\nmodel = get_foo('cuda', version='2.2')\n{}\n```\n"


@pytest.mark.parametrize(
    ("line", "is_run"),
    [
        ("images = model.generate_text2img('a red cat')", True),
        ("verdict = model.score(docs=rows)", True),
        # Nothing is handed to it, or it is a function and no model.
        ("model.score()", False),
        ("generate_report(model)", False),
        ("model.describe_all = 1", False),
    ],
)
def test_a_package_s_own_model_is_asked_by_a_method_of_its_own(checkout: Build, line: str, is_run: bool) -> None:
    run = primary_run(checkout({"README.md": ASKED.format(line), **LIBRARY}))
    assert (run is not None) == is_run
    # Of a package that computes nothing on a card it says nothing.
    plain = {"README.md": ASKED.format(line), "src/foo/__init__.py": "def get_foo():\n    pass\n"}
    assert primary_run(checkout(plain)) is None


def test_a_package_that_computes_nothing_on_a_gpu_is_no_run(checkout: Build) -> None:
    assert primary_run(checkout({"README.md": FORECASTS, "src/foo/__init__.py": "class Pipeline:\n    pass\n"})) is None


BUILT = (
    "import torch\nfrom foo import build, Predictor\n\nweights = './checkpoints/foo_large.pt'\npredictor = Predictor(build(weights))\n"
    "with torch.inference_mode():\n    predictor.set_image(<your_image>)\n    masks = predictor.predict(<input prompts>, top=3)\n"
)


@pytest.mark.parametrize(
    ("readme", "line"),
    [
        (f"# Foo\n```python\n{BUILT}```\n", 8),
        # A block in an item of a list stands as far from the margin as its fence.
        ("# Foo\n1. Run it:\n   ```python\n" + "".join(f"   {each}\n" for each in BUILT.split("\n")[:-1]) + "   ```\n", 9),
    ],
)  # fmt: skip
def test_places_to_fill_in_and_indents_hide_no_program(checkout: Build, readme: str, line: int) -> None:
    files = {
        "README.md": readme,
        "foo/__init__.py": "import torch\n",
        "training/README.md": "```\npython training/train.py\n```\n",
    }
    run = primary_run(checkout({**files, "training/train.py": TRAINS}))

    assert run is not None
    assert (run.behavior, str(run.evidence)) == (Behavior.INFERS, f"README.md:{line}")


def test_comparisons_are_no_places_to_fill_in(checkout: Build) -> None:
    readme = "# Foo\n```python\nimport torch\nif a <b and c> d:\n    net = torch.hub.load('a/b', 'net')\n    net.cuda().generate(x)\n```\n"
    run = primary_run(checkout({"README.md": readme}))

    assert run is not None
    assert run.script is not None
    assert "a <b and c> d" in run.script.text


@pytest.mark.parametrize(("end", "is_run"), [("ds.push_to_hub('o/codes')", False), ("print(codes)", True)])
def test_code_that_prepares_data_is_not_what_a_folder_is_for(checkout: Build, end: str, is_run: bool) -> None:
    readme = (
        "# Voice\n\n```python\nimport torch\nfrom datasets import load_dataset\nfrom snac import SNAC\n"
        f"model = SNAC.from_pretrained('o/snac')\nds = load_dataset('o/speech')\ncodes = model.encode(ds)\n{end}\n```\n"
    )
    config = "base_model: meta-llama/Llama-3.2-3B\ndatasets:\n  - path: o/codes\nmicro_batch_size: 1\nsequence_len: 2048\nnum_epochs: 1\n"
    tree = checkout({"README.md": readme, "finetune.yml": config})
    assert (shown_program(tree) is not None) is is_run
    run = primary_run(tree)
    assert run is not None
    assert is_run or run.evidence.path == "finetune.yml"


@pytest.mark.parametrize(
    ("device", "is_run"),
    [("torch.device(f'cuda:{0}')", True), ("'cuda'", True), ("torch.device('cpu')", False)],
)
def test_an_object_of_the_project_that_is_put_on_a_card_is_at_work(checkout: Build, device: str, is_run: bool) -> None:
    shown = f"# Judge\n```python\nimport torch\nfrom judge import Helper\nhelper = Helper(16000, {device})\nresult = helper.main('a', 'b')\n```\n"
    tree = checkout({"README.md": shown, "judge/__init__.py": "import torch\nclass Helper: pass\n"})
    assert (shown_program(tree) is not None) is is_run


@pytest.mark.parametrize(
    "before",
    [
        "<!-- Agree first:\n```python\nnet-cli login\n``` -->\n",  # a remark, of which nothing is shown
        "```python\nTable({\n  train: 8 rows\n```\n",  # what was printed
    ],
)
def test_what_is_no_code_hides_no_program(checkout: Build, before: str) -> None:
    readme = f"# Net\n{before}\n```python\nfrom transformers import AutoModel\nAutoModel.from_pretrained('o/net').generate(x)\n```\n"
    assert shown_program(checkout({"README.md": readme})) is not None


@pytest.mark.parametrize(
    ("line", "does"),
    [
        ("model = Model().get('a')\nmodel.fit(rows)\nmodel.generate(10)", Behavior.TRAINS),
        ("model = mine.Model()\nmodel.fit_online(world)\nmodel.predict(x)", Behavior.TRAINS),
        ("model = Model().get('a')\nmodel.generate(10)", Behavior.INFERS),
        ("model = mine.NetClassifier()\nmodel.fit(x, y)\nmodel.predict(x)", Behavior.INFERS),  # as scikit-learn's
        ("model = mine.NetClassifier()\nmodel.fit(x, y, epochs=3)", Behavior.TRAINS),
        ("index = mine.Index()\nindex.fit(docs)\nindex.predict(x)", Behavior.INFERS),
        ("scaler = mine.Scaler()\nscaler.fit(rows)\nmodel = Model()\nmodel.generate(10)", Behavior.INFERS),
        ("words = mine.Tokenizer()\nwords.fit(rows)\nmodel = Model()\nmodel.generate(10)", Behavior.INFERS),
        ("scaler = Scaler()\nscaler.fit(rows)\nmodel = Model()\nmodel.generate(10)", Behavior.INFERS),  # another's
    ],
)
def test_a_package_s_own_model_that_is_fitted_is_trained(checkout: Build, line: str, does: Behavior) -> None:
    shown = f"# Mine\n```python\nimport mine\nfrom mine import Model\nfrom others import Scaler\n{line}\n```\n"
    run = primary_run(checkout({"README.md": shown, "mine/__init__.py": "import torch\nclass Model: pass\n"}))
    assert run is not None
    assert run.behavior is does
