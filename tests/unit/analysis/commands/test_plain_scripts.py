"""Programs without a main guard, programs that commands only test, and scripts that other scripts start."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import pytest

from gpu_lol_action.analysis.answer.assemble import analyze
from gpu_lol_action.analysis.files.checkout import Checkout
from gpu_lol_action.analysis.programs.behavior import Behavior
from gpu_lol_action.analysis.runs.entry_points import is_started
from gpu_lol_action.analysis.runs.runs import all_runs, primary_run
from gpu_lol_action.domain.spec import WorkloadType

Build = Callable[[Mapping[str, str]], Checkout]
TRAIN = "import torch\nif __name__ == '__main__':\n    loss.cuda().backward()\n"
INFER = "import torch\nif __name__ == '__main__':\n    model.cuda().generate(x)\n"


@pytest.mark.parametrize(
    ("text", "is_made_to_be"),
    [
        ("args = parser.parse_args()\n", True),
        ("args, rest = argparse.ArgumentParser().parse_known_args()\n", True),
        ("for epoch in range(9):\n    step()\n", True),
        ("model = AutoModel.from_pretrained('o/net')\n", True),
        ("demo.queue().launch()\n", True),
        ("main()\n", True),
        ("def read(parser):\n    args = parser.parse_args()\n", False),
        ("def main():\n    for epoch in range(9):\n        step()\n", False),
        ("domain()\nremain = main\n", False),
    ],
)
def test_a_script_that_works_as_it_is_read_is_started(checkout: Build, text: str, is_made_to_be: bool) -> None:
    tree = checkout({"net/work.py": "import torch\n" + text})
    source = tree.find("net/work.py")
    assert source is not None
    assert is_started(tree, source) is is_made_to_be


def test_a_module_that_others_import_is_no_script(checkout: Build) -> None:
    tree = checkout(
        {"net/options.py": "args = parser.parse_args()\n", "net/other.py": "from net.options import args\n"}
    )
    source = tree.find("net/options.py")
    assert source is not None
    assert not is_started(tree, source)


def test_such_a_script_does_what_its_modules_do(checkout: Build) -> None:
    learn = "import torch\ndef train(model):\n    loss.cuda().backward()\ndef predict(model):\n    return model(x)\n"
    main = (
        "import argparse, torch, learn\nparser = argparse.ArgumentParser()\nparser.add_argument('-lr', type=float, default=0.1)\n"
        "args = parser.parse_args()\nif args.predict:\n    learn.predict(net)\nelse:\n    learn.train(net)\n"
    )
    run = primary_run(checkout({"main.py": main, "learn.py": learn}))
    assert run is not None
    assert (run.evidence.path, run.behavior) == ("main.py", Behavior.TRAINS)


@pytest.mark.parametrize("script", ["test_cases.sh", "benchmark.sh"])
def test_a_program_that_commands_only_try_is_a_run_of_its_own(checkout: Build, script: str) -> None:
    tree = checkout({"ncf.py": TRAIN, "inference.py": INFER, script: "torchrun --nproc_per_node=1 ncf.py --epochs 1\n"})
    assert [run.evidence.path for run in all_runs(tree)] == ["ncf.py", "inference.py"]


def test_a_script_that_another_script_starts_is_told_of_in_no_document(checkout: Build) -> None:
    files = {
        "train.py": TRAIN,
        "inference.py": INFER,
        "scripts/large.sh": "torchrun --nproc_per_node=8 train.py --large\n",
        "scripts/base.sh": "bash scripts/large.sh\n",
        "scripts/use.sh": "python inference.py\n",
    }
    run = primary_run(checkout(files))
    assert run is not None
    assert (run.evidence.path, run.reason[:15]) == ("scripts/large.sh", "a launch script")


def test_a_script_that_another_starts_is_read_with_what_it_is_handed(checkout: Build) -> None:
    files = {
        "train.py": TRAIN,
        "train.sh": "torchrun --nproc_per_node=$1 train.py --name $2\n",
        "train_test.sh": "bash train.sh 8 base\n",
    }
    runs = all_runs(checkout(files))
    assert [(run.command.processes, run.options["name"]) for run in runs if run.command is not None] == [(8, "base")]


def test_what_an_image_starts_says_what_is_served(checkout: Build) -> None:
    files = {
        "train.py": TRAIN,
        "app.py": INFER,
        "train.sh": "python train.py\n",
        "entry.sh": "python app.py\n",
        "Dockerfile": 'FROM python\nCMD ["bash", "entry.sh"]\n',
    }
    run = primary_run(checkout(files))
    assert run is not None
    assert run.evidence.path == "train.sh"


@pytest.mark.parametrize(
    ("text", "model"),
    [
        ("from sentence_transformers import SentenceTransformer\nmodel = SentenceTransformer('all-MiniLM-L6-v2')\nprint(model.encode(['a']))\n", "all-MiniLM-L6-v2"),
        ("from ultralytics import YOLO\nmodel = YOLO('yolov8n.pt')\nprint(model('a.png'))\n", "yolov8n.pt"),
    ],
)  # fmt: skip
def test_a_script_that_makes_its_model_by_a_class_infers(checkout: Build, text: str, model: str) -> None:
    tree = checkout({"README.md": "# Example\n", "example.py": text})
    run = primary_run(tree)
    assert run is not None
    assert (run.evidence.path, run.behavior) == ("example.py", Behavior.INFERS)
    assert model in [f.value for f in analyze(tree).findings if f.field == "model.id"]


def test_weights_that_the_user_gives_a_detector_are_its_usual_ones(checkout: Build) -> None:
    text = (
        "import argparse\nfrom ultralytics import YOLO\nclass Counter:\n    def __init__(self, path):\n        self.model = YOLO(path)\n"
        "    def frame(self, picture):\n        return self.model(picture)[0]\n"
        "if __name__ == '__main__':\n    parser = argparse.ArgumentParser()\n    parser.add_argument('--weights', required=True)\n"
        "    Counter(parser.parse_args().weights).frame(x)\n"
    )
    result = analyze(checkout({"count.py": text}))
    assert result.spec.meta.workload_type is WorkloadType.INFERENCE
    assert [f.value for f in result.findings if f.field == "model.family"] == ["Ultralytics/YOLOv8"]
    own = text.replace("from ultralytics import YOLO", "import torch\nfrom net import YOLO")
    assert not [f for f in analyze(checkout({"count.py": own})).findings if f.field == "model.family"]
