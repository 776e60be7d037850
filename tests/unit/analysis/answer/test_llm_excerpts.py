"""What a language model is shown of a tree: the lines that a reader decides by, however long the files are."""

from __future__ import annotations

from gpu_lol_action.analysis.answer import llm_excerpts
from gpu_lol_action.analysis.answer.assemble import analyze
from gpu_lol_action.analysis.answer.llm_excerpts import excerpts
from tests.unit.analysis.conftest import Build

TRAIN = """\
import argparse
from transformers import AutoModelForCausalLM, Trainer, TrainingArguments

parser = argparse.ArgumentParser()
parser.add_argument("--bs", type=int, default=4)
args = parser.parse_args()
model = AutoModelForCausalLM.from_pretrained("Qwen/Qwen2.5-7B")

if __name__ == "__main__":
    Trainer(model=model, args=TrainingArguments("out", per_device_train_batch_size=args.bs)).train()
"""
FILLER = "a sentence that tells nothing of the machine, as most do\n" * 800


def shown(build: Build, files: dict[str, str]) -> dict[str, str]:
    """Return the text that is shown of each file."""
    tree = build(files)
    return {excerpt["path"]: excerpt["text"] for excerpt in excerpts(tree, analyze(tree))}


def test_of_a_long_readme_what_it_says_of_machines_and_runs_is_shown(checkout: Build) -> None:
    readme = f"# Lab\n\nopening\n\n{FILLER}\n## Hardware\n\nWe used 8 A100 with 80GB each\nfor two days.\n\n{FILLER}\n## Train\n\n```\nbash run.sh\n```\n"
    texts = shown(
        checkout, {"README.md": readme, "train.py": TRAIN, "run.sh": "torchrun --nproc_per_node=8 train.py --bs 2\n"}
    )
    for words in (
        "1: # Lab",
        "3: opening",
        "We used 8 A100 with 80GB each\n",
        "for two days.",
        "## Train",
        "bash run.sh",
        "\n...\n",
    ):
        assert words in texts["README.md"], words
    assert len(texts["README.md"]) <= llm_excerpts.README_CHARACTERS * 1.1


def test_the_script_that_a_run_starts_is_shown(checkout: Build) -> None:
    readme = "# Lab\n\n```\nbash scripts/run.sh\n```\n"
    texts = shown(checkout, {"README.md": readme, "train.py": TRAIN, "scripts/run.sh": "export N=8\ntorchrun --nproc_per_node=$N train.py --bs 2\n"})  # fmt: skip
    assert texts["scripts/run.sh"] == "1: export N=8\n2: torchrun --nproc_per_node=$N train.py --bs 2"


def test_without_documents_the_program_tells(checkout: Build) -> None:
    texts = shown(checkout, {"train.py": TRAIN, "notes.txt": "x"})
    assert texts == {"train.py": "\n".join(f"{number}: {line}" for number, line in enumerate(TRAIN.splitlines(), 1))}


def test_of_documents_beside_only_what_speaks_of_machines_is_shown(checkout: Build) -> None:
    files = {
        "README.md": "# Lab\n",
        "train.py": TRAIN,
        "docs/hardware.md": f"# Machines\n\n{FILLER}\nTraining needs 40 GB of VRAM.\n",
        "docs/history.md": FILLER,
    }
    texts = shown(checkout, files)
    assert "Training needs 40 GB of VRAM." in texts["docs/hardware.md"]
    assert len(texts["docs/hardware.md"]) < 300
    assert "docs/history.md" not in texts


def test_pictures_take_no_room(checkout: Build) -> None:
    pictures = "".join(f"![curve {number}](https://example.com/{'x' * 200}/{number}.png) " for number in range(20))
    texts = shown(
        checkout, {"README.md": f"# Lab\n{pictures}\n<img src='{'y' * 300}'>Needs 24 GB.\n", "train.py": TRAIN}
    )
    assert "example.com" not in texts["README.md"]
    assert "![]Needs 24 GB." in texts["README.md"]


def test_whatever_the_tree_holds_what_is_shown_is_bounded(checkout: Build) -> None:
    gpus = "\n".join(f"{number} GPUs with {number} GB, " + "z" * 900 for number in range(500))
    files = {f"docs/{name}.md": gpus for name in "abcdefgh"}
    files |= {
        "README.md": gpus,
        "train.py": TRAIN + f"x = '{'y' * 100_000}'\n" * 3,
        "run.sh": f"python train.py {'--bs 1 ' * 9000}\n" * 50,
    }
    texts = shown(checkout, {**files, "Makefile": "train:\n\tbash run.sh\n"})
    # A program takes only the room that others leave; marks of what is left out between lines are not counted.
    assert sum(map(len, texts.values())) <= llm_excerpts.MAX_CHARACTERS * 1.1
    assert len(texts["README.md"]) > llm_excerpts.README_CHARACTERS * 0.8
