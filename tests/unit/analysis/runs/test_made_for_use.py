"""Where no document says what a repository is for: its folders, the number of its programs, its commands and its releases do."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import pytest

from gpu_lol_action.analysis.files.checkout import Checkout
from gpu_lol_action.analysis.runs.runs import all_runs, primary_run

Build = Callable[[Mapping[str, str]], Checkout]
TRAIN = "import torch\nif __name__ == '__main__':\n    loss.cuda().backward()\n"
INFER = "import torch\nif __name__ == '__main__':\n    model.cuda().generate(x)\n"
FETCH = INFER + "    fetch('https://github.com/o/net/releases/{}')\n"
INSTALLED = "[project]\nname = 'net'\n[project.scripts]\n{}\n"


def first(tree: Checkout) -> str:
    run = primary_run(tree)
    assert run is not None
    return run.evidence.path


@pytest.mark.parametrize(
    ("paths", "shown"),
    [
        (("finetune/tune.py", "demo/app.py"), "demo/app.py"),
        (("finetune_demo/tune.py", "finetune_demo/app.py", "basic_demo/app.py"), "basic_demo/app.py"),
        (("ptuning/train.py", "cli_demo.py"), "cli_demo.py"),
        # Fine-tuning beside other training, at the root, or with nothing but a judge of what comes out.
        (("finetune/train.py", "pretrain/train.py", "demo/app.py"), "finetune/train.py"),
        (("finetune.py", "generate.py"), "finetune.py"),
        (("finetune/train.py", "evaluation/run.py"), "finetune/train.py"),
        (("finetune/train.py", "finetune/infer.py"), "finetune/train.py"),
    ],
)
def test_a_folder_for_tuning_is_an_aside_of_what_shows_the_model(
    checkout: Build, paths: tuple[str, ...], shown: str
) -> None:
    assert first(checkout({path: TRAIN if "train" in path or "tune." in path else INFER for path in paths})) == shown


@pytest.mark.parametrize(("scripts", "shown"), [(1, "generate.py"), (4, "finetune/size0.sh")])
def test_a_script_for_each_size_is_no_aside(checkout: Build, scripts: int, shown: str) -> None:
    files = {f"finetune/size{number}.sh": f"python finetune.py --size {number}\n" for number in range(scripts)}
    assert first(checkout({**files, "finetune/finetune.py": TRAIN, "generate.py": INFER})) == shown


def test_the_page_of_such_a_folder_tells_of_tuning_alone(checkout: Build) -> None:
    files = {
        "finetune_demo/tune.py": TRAIN,
        "finetune_demo/README.md": "```\npython tune.py\n```\n",
        "demo/app.py": INFER,
    }
    assert first(checkout(files)) == "demo/app.py"


def test_what_a_document_starts_stays_first(checkout: Build) -> None:
    files = {"finetune/tune.py": TRAIN, "demo/app.py": INFER, "README.md": "```\npython finetune/tune.py\n```\n"}
    assert first(checkout(files)) == "README.md"


PAGE = "import gradio\n" + INFER


@pytest.mark.parametrize(
    ("files", "shown"),
    [
        ({"train.py": TRAIN, "app.py": PAGE, "example.py": INFER, "example_text.py": INFER}, "app.py"),
        # Too few, none for a browser, one that is named for something else, and two that train.
        ({"train.py": TRAIN, "app.py": PAGE, "example.py": INFER}, "train.py"),
        ({"train.py": TRAIN, "app.py": INFER, "example.py": INFER, "example_text.py": INFER}, "train.py"),
        ({"train.py": TRAIN, "generate.py": PAGE, "infer.py": INFER, "infer_text.py": INFER}, "train.py"),
        ({"train.py": TRAIN, "train_lm.py": TRAIN, "app.py": PAGE, "a.py": INFER, "b.py": INFER}, "train.py"),
    ],
)
def test_one_program_that_trains_stands_behind_many_that_run_the_model(
    checkout: Build, files: Mapping[str, str], shown: str
) -> None:
    tree = checkout(files)
    assert first(tree) == shown
    assert "train.py" in [run.evidence.path for run in all_runs(tree)]


def test_scripts_that_start_one_program_are_one_that_trains(checkout: Build) -> None:
    files = {
        "net/train.py": TRAIN,
        "net/__init__.py": "",
        "app.py": PAGE,
        "example.py": INFER,
        "example_text.py": INFER,
    }
    scripts = {
        f"scripts/{name}.sh": f"torchrun net/train.py --deepspeed {name}.json\n" for name in ("sft", "sft_offload")
    }
    assert first(checkout({**files, **scripts})) == "app.py"
    second = {"net/train_lm.py": TRAIN, "scripts/lm.sh": "torchrun net/train_lm.py\n"}
    assert first(checkout({**files, **scripts, **second})) == "scripts/lm.sh"


@pytest.mark.parametrize(
    ("used", "trained", "shown"),
    [
        ("design.py", "training/training.py", "design.py"),
        ("tools/design.py", "training/training.py", "training/training.py"),
        ("design.py", "scripts/training.py", "scripts/training.py"),
    ],
)
def test_a_program_at_the_root_goes_before_a_folder_that_trains(
    checkout: Build, used: str, trained: str, shown: str
) -> None:
    assert first(checkout({used: INFER, trained: TRAIN})) == shown


def test_modules_that_try_themselves_out_and_judges_are_not_many_uses(checkout: Build) -> None:
    modules = {f"net/{name}.py": INFER for name in ("psanet", "pspnet", "resnet")}
    judges = {"eval_code/run_a.py": INFER, "data_gen/run_b.py": INFER}
    train = "import net.psanet, net.pspnet, net.resnet\n" + TRAIN
    assert first(checkout({"train.py": train, "demo.py": PAGE, **modules, **judges})) == "train.py"


@pytest.mark.parametrize(
    ("commands", "main", "shown"),
    [
        ("net = 'net.main:main'", "import torch\ndef main():\n    model.cuda().generate(x)\n", "net/main.py"),
        # One of its commands trains, or starts the program that does.
        ("net = 'net.main:main'\nnet-train = 'train:main'", "import torch\ndef main():\n    model.cuda().generate(x)\n", "train.py"),
        ("net = 'net.main:main'", "import torch\nimport train\ndef main():\n    model.cuda().generate(x)\n", "train.py"),
        ("net = 'net.main:main'", "def main():\n    print('net')\n", "train.py"),
    ],
)  # fmt: skip
def test_what_installing_gives_is_what_a_project_is_for(checkout: Build, commands: str, main: str, shown: str) -> None:
    files = {
        "pyproject.toml": INSTALLED.format(commands),
        "net/__init__.py": "",
        "net/main.py": main,
        "train.py": TRAIN,
    }
    assert first(checkout(files)) == shown


def test_a_readme_that_shows_training_goes_before_what_installing_gives(checkout: Build) -> None:
    files = {
        "pyproject.toml": INSTALLED.format("net = 'net.main:main'"),
        "net/__init__.py": "import torch\nclass Net: pass\n",
        "net/main.py": "import torch\ndef main():\n    model.cuda().generate(x)\n",
        "README.md": "```python\nfrom net import Net\nmodel = Net()\nmodel.fit(rows)\n```\n",
    }
    run = primary_run(checkout(files))
    assert run is not None
    assert run.shown == "the code in README.md"


@pytest.mark.parametrize(
    ("address", "shown"),
    [
        ("download/v1/net.pth", "inference.py"),
        ("latest/download/net.zip", "inference.py"),
        # A page of releases is no file of one.
        ("tag/v1", "train.py"),
    ],
)
def test_who_fetches_what_a_project_released_is_started_without_training(
    checkout: Build, address: str, shown: str
) -> None:
    assert first(checkout({"train.py": TRAIN, "inference.py": FETCH.format(address)})) == shown


@pytest.mark.parametrize(("trained", "line"), [("finetune/tune.py", 3), ("demo/train.py", 7)])
def test_a_readme_that_shows_the_model_before_it_names_a_folder_for_tuning(
    checkout: Build, trained: str, line: int
) -> None:
    readme = f"## Step 3: Run it\n```\npython demo/text.py\n```\n## Step 4\n```\npython {trained}\n```\n"
    run = primary_run(checkout({"README.md": readme, "demo/text.py": INFER, trained: TRAIN}))
    assert run is not None
    assert run.evidence.line == line


SHOWN = "# Net\n```python\nfrom net import get_net\nget_net('cuda').generate_text('x')\n```\n"
PACKAGE = {"net/__init__.py": "import torch\n", "setup.py": "from setuptools import setup\nsetup(name='net')\n"}


@pytest.mark.parametrize(
    ("readme", "files", "shown"),
    [
        (SHOWN, PACKAGE, "README.md"),
        (SHOWN + "## Training\nSee the wiki.\n", PACKAGE, "train_net.py"),
        (SHOWN + "Run `train_net.py` on your data.\n", PACKAGE, "train_net.py"),
        # A folder of programs is not installed for use.
        (SHOWN, {"net/__init__.py": "import torch\n"}, "train_net.py"),
    ],
)
def test_a_package_that_the_readme_shows_and_never_trains(
    checkout: Build, readme: str, files: dict[str, str], shown: str
) -> None:
    assert first(checkout({"README.md": readme, "train_net.py": TRAIN, **files})) == shown


def test_the_reason_is_told(checkout: Build) -> None:
    run = primary_run(checkout({"finetune/tune.py": TRAIN, "demo/app.py": INFER}))
    assert run is not None
    assert run.reason.endswith("of 2 runs it is first, for a folder for fine-tuning alone trains here")


INVERTS = "import torch\nclass Edit:\n    def train(self):\n        opt = torch.optim.Adam(self.net.cuda().parameters())\n        loss.backward()\n        opt.step()\n"


@pytest.mark.parametrize(
    ("files", "shown"),
    [
        ({"edit.py": INVERTS, "one.py": INFER, "two.py": INFER, "three.py": INFER}, "one.py"),
        ({"edit.py": INVERTS, "one.py": INFER, "two.py": INFER}, "edit.py"),
        ({"edit.py": f"{INVERTS}if __name__ == '__main__':\n    Edit().train()\n", "one.py": INFER, "two.py": INFER, "three.py": INFER}, "edit.py"),
        ({"edit.py": INVERTS, "run.sh": "accelerate launch edit.py --lr 1\n", "one.py": INFER, "two.py": INFER, "three.py": INFER}, "run.sh"),
    ],
)  # fmt: skip
def test_a_module_that_nothing_starts_stays_behind_programs_that_run_a_model(
    checkout: Build, files: Mapping[str, str], shown: str
) -> None:
    assert first(checkout(files)) == shown


@pytest.mark.parametrize(
    ("paths", "shown"),
    [
        (("model_inference/a.py", "model_inference/b.py", "model_inference/c.py"), "model_inference/a.py"),
        (("model_inference/a.py", "model_inference/b.py"), "model_training/a.sh"),
        (("model_inference/a.py", "model_inference/b.py", "model_inference/c.py", "model_training/other.py"), "model_training/a.sh"),
    ],
)  # fmt: skip
def test_a_shelf_of_models_goes_before_the_program_that_trains_any(
    checkout: Build, paths: tuple[str, ...], shown: str
) -> None:
    files = {path: TRAIN if "training" in path else INFER for path in paths}
    scripts = {f"model_training/{name}.sh": "python model_training/train.py --lr 1\n" for name in "abc"}
    other = {"model_training/d.sh": "python model_training/other.py --lr 1\n"} if len(paths) > 3 else {}
    assert first(checkout({**files, **scripts, **other, "model_training/train.py": TRAIN})) == shown


@pytest.mark.parametrize(
    ("paths", "shown"),
    [
        (("01_load_inference.py", "05_fine_tune.py"), "01_load_inference.py"),
        (("1_fine_tune.py", "2_inference.py"), "1_fine_tune.py"),
        (("01_load_inference.py", "train.py"), "train.py"),
        (("01_helpers.py", "05_fine_tune.py"), "05_fine_tune.py"),
    ],
)
def test_numbered_programs_that_open_with_the_model_at_work(
    checkout: Build, paths: tuple[str, ...], shown: str
) -> None:
    assert first(checkout({path: TRAIN if "tun" in path or "train" in path else INFER for path in paths})) == shown


@pytest.mark.parametrize(
    ("title", "shown"),
    [
        ("# Fine-tune language models", "finetuning_repo/train.py"),
        ("# Finetuning made easy", "finetuning_repo/train.py"),
        ("# Language models", "inference/infer.py"),
    ],
)
def test_a_folder_for_tuning_is_no_aside_of_what_is_for_tuning(checkout: Build, title: str, shown: str) -> None:
    tree = checkout({"README.md": f"{title}\n", "finetuning_repo/train.py": TRAIN, "inference/infer.py": INFER})
    assert first(tree) == shown
