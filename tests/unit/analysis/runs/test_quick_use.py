"""What a document opens with is what the repository is for."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import pytest

from gpu_lol_action.analysis.files.checkout import Checkout
from gpu_lol_action.analysis.runs.runs import all_runs, primary_run

Build = Callable[[Mapping[str, str]], Checkout]
TRAIN = "import torch\nif __name__ == '__main__':\n    loss.cuda().backward()\n"
INFER = "import torch\nif __name__ == '__main__':\n    model.cuda().generate(x)\n"


def readme(*chapters: tuple[str, str]) -> str:
    return "".join(f"## {title}\n```\npython {program}\n```\n" for title, program in chapters)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        (readme(("Quick start", "infer.py"), ("Training", "train.py")), "python infer.py"),
        (readme(("🎮 Web Demo", "infer.py"), ("🏋️ Training", "train.py")), "python infer.py"),
        (readme(("推理", "infer.py"), ("训练", "train.py")), "python infer.py"),
        (readme(("命令行工具", "infer.py"), ("微调", "train.py")), "python infer.py"),
        (readme(("网页部署", "infer.py"), ("训练", "train.py")), "python infer.py"),
        (readme(("微调后部署", "infer.py"), ("训练", "train.py")), "python train.py"),
        (readme(("Use the model", "infer.py"), ("Finetune the model", "train.py")), "python infer.py"),
        # The section has the model's name, the chapter above it says what is done.
        ("## Quick start\n### Small\n```\npython infer.py\n```\n## Training\n### Small\n```\npython train.py\n```\n", "python infer.py"),
        ("## Training\n### Demo\n```\npython infer.py\n```\n### Large\n```\npython train.py\n```\n", "python train.py"),
        (readme(("Model Weights", "infer.py"), ("Training", "train.py")), "python infer.py"),
        # A folder for it makes inference no less important than one for training.
        (readme(("Usage", "inference/chat.py"), ("Training", "train/train.py")), "python chat.py"),
        # Training is shown first: that is what most readers come for.
        (readme(("Training", "train.py"), ("Inference", "infer.py")), "python train.py"),
        # A step of a way that ends in training, what may be left out, and what is only looked at.
        (readme(("Step 1: Generation", "infer.py"), ("Step 2: Training", "train.py")), "python train.py"),
        (readme(("Web demo (optional)", "infer.py"), ("Training", "train.py")), "python train.py"),
        (readme(("Evaluation", "infer.py"), ("Training", "train.py")), "python train.py"),
        # A module of a package is started from the root, wherever it lies; another sample deeper than what trains is but one.
        (readme(("Demo", "-m samples.webcam"), ("Training", "train.py")), "python samples.webcam"),
        (readme(("Demo", "samples/webcam.py"), ("Training", "train.py")), "python train.py"),
    ],
)  # fmt: skip
def test_the_opening_of_the_readme_decides(checkout: Build, text: str, shown: str) -> None:
    tree = checkout({"README.md": text, "train.py": TRAIN, "infer.py": INFER, "samples/webcam.py": INFER,
                     "inference/chat.py": INFER, "train/train.py": TRAIN})  # fmt: skip
    run = primary_run(tree)
    assert run is not None
    assert run.shown == shown


@pytest.mark.parametrize(
    ("before", "trained", "shown"),
    [(5, 1, "python infer.py"), (6, 2, "python infer.py"), (4, 1, "python train.py"), (5, 2, "python train.py")],
)
def test_what_is_told_in_many_ways_comes_before_a_training_in_passing(
    checkout: Build, before: int, trained: int, shown: str
) -> None:
    ways = [("News", f"infer.py --size {number}") for number in range(before)]
    text = readme(*ways, *[("Training", f"train.py --lr 0.{number}1") for number in range(trained)])
    run = primary_run(checkout({"README.md": text, "train.py": TRAIN, "infer.py": INFER}))
    assert run is not None
    assert run.shown == shown


def test_training_stays_a_choice(checkout: Build) -> None:
    text = readme(("Quick start", "infer.py"), ("Training", "train.py"))
    tree = checkout({"README.md": text, "train.py": TRAIN, "infer.py": INFER})
    assert [run.shown for run in all_runs(tree)] == ["python infer.py", "python train.py"]


def test_a_script_that_the_document_names_stands_in_its_chapter(checkout: Build) -> None:
    text = "## Quickstart\n### Inference\n##### Linux\n```\nsh infer.sh\n```\n" + readme(("Training", "train.py"))
    tree = checkout({"README.md": text, "infer.sh": "python infer.py\n", "train.py": TRAIN, "infer.py": INFER})
    run = primary_run(tree)
    assert run is not None
    assert run.shown == "python infer.py"


CARD = "# Model\n```python\nfrom transformers import AutoModelForCausalLM\nmodel = AutoModelForCausalLM.from_pretrained('lab/net-7b').cuda()\nmodel.generate(x)\n```\n"


@pytest.mark.parametrize(
    ("folder", "card", "trains"),
    [
        ("training", CARD, True),
        ("rl", CARD, True),
        ("finetune", CARD, False),
        ("chat", CARD, False),
        # What is shown is the checkout's own.
        ("training", CARD.replace("transformers", "net"), False),
    ],
)
def test_weights_that_are_only_shown_come_from_the_training_beside(
    checkout: Build, folder: str, card: str, trains: bool
) -> None:
    told = "# Training\n```\npython train.py\n```\n"
    net = "from transformers import AutoModelForCausalLM\n"
    tree = checkout({"README.md": card, f"{folder}/README.md": told, f"{folder}/train.py": TRAIN, "net.py": net})
    run = primary_run(tree)
    assert run is not None
    assert (run.shown == "python train.py") is trains


@pytest.mark.parametrize(
    ("heading", "expected"),
    [("Train!", "python main.py"), ("4. Fine-tuning", "python main.py"), ("Get ready", "python txt2img.py")],
)
def test_a_program_that_is_not_here_does_what_its_chapter_says(checkout: Build, heading: str, expected: str) -> None:
    commands = (
        "python main.py -t --base configs/net.yaml --gpus 0,1",
        "python scripts/txt2img.py --prompt cat --ckpt net.ckpt",
    )
    text = f"# Pictures\n## {heading}\n```\n{commands[0]}\n```\n## Results\n```\n{commands[1]}\n```\n"
    run = primary_run(checkout({"README.md": text}))
    assert run is not None
    assert run.shown == expected


def test_a_launcher_of_other_programs_does_what_its_chapter_says(checkout: Build) -> None:
    launch = "import hydra, subprocess\n@hydra.main()\ndef main(config):\n    subprocess.run(config.command)\nif __name__ == '__main__':\n    main()\n"
    text = "# Video\n## Training the network\n```\npython src/launch.py dataset=ffs num_gpus=4\n```\n## Sample\n```\npython generate.py\n```\n"
    run = primary_run(checkout({"README.md": text, "src/launch.py": launch, "generate.py": INFER}))
    assert run is not None
    assert run.shown == "python launch.py"


@pytest.mark.parametrize(
    ("command", "kind"),
    [
        ("torchrun --nproc_per_node=2 inference/pipeline/entry.py --config a.json", "infers"),
        ("torchrun --nproc_per_node=2 pipeline/entry.py --config a.json", "trains"),
        ("python inference/pipeline/entry.py --config a.json", "infers"),
    ],
)
def test_the_folder_of_a_program_that_is_not_here_says_what_it_does(checkout: Build, command: str, kind: str) -> None:
    run = primary_run(checkout({"run.sh": f"{command}\n"}))
    assert run is not None
    assert run.behavior.value == kind


def test_what_takes_out_parts_of_pictures_is_a_step_beside(checkout: Build) -> None:
    text = readme(
        ("Face mask extraction", "face_mask_extraction.py"), ("Inference", "infer.py"), ("Training", "train.py")
    )
    files = {"face_mask_extraction.py": INFER, "infer.py": INFER, "train.py": TRAIN}
    run = primary_run(checkout({"README.md": text, **files}))
    assert run is not None
    assert run.shown == "python infer.py"
