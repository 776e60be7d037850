"""What a block starts in the background before its own command serves that command; trainings in a row do not."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import pytest

from gpu_lol_action.analysis.answer.assemble import analyze
from gpu_lol_action.analysis.files.checkout import Checkout

Build = Callable[[Mapping[str, str]], Checkout]
SERVE = "import torch\nmodel = Encoder().cuda()\nif __name__ == '__main__':\n    model.generate(x)\n"
INFER = "import torch\nfrom diffusers import DiffusionPipeline\nif __name__ == '__main__':\n    DiffusionPipeline.from_pretrained(path).to('cuda')\n"
TRAIN = "import torch\nif __name__ == '__main__':\n    loss.cuda().backward()\n"


def entry(tree: Checkout) -> tuple[str, int]:
    analysis = analyze(tree)
    found = next(finding.value for finding in analysis.findings if finding.field == "entry_point")
    return found, analysis.spec.hardware.gpu_count


def document(*lines: str) -> str:
    return "# Clips\n## Inference\n```bash\n" + "\n".join(lines) + "\n```\n"


def test_a_service_in_the_background_is_beside_the_run_that_it_serves(checkout: Build) -> None:
    readme = document(
        "python serve.py --dir x &  # prints the address; it takes a card of its own",
        "n=4",
        "torchrun --nproc_per_node $n sample.py --address y",
    )
    files = {"serve.py": SERVE, "sample.py": INFER, "README.md": readme, "requirements.txt": "torch\ndiffusers\n"}
    assert entry(checkout(files)) == ("torchrun sample.py", 4)


@pytest.mark.parametrize(
    "lines",
    [
        ("python serve.py --dir x", "torchrun --nproc_per_node 4 sample.py --address y"),  # one after the other
        (
            "python serve.py --dir x &",
            "```",
            "## Evaluation",
            "```",
            "torchrun --nproc_per_node 4 sample.py",
        ),  # another section
    ],
)
def test_without_both_in_one_block_the_first_is_the_run(checkout: Build, lines: tuple[str, ...]) -> None:
    files = {"serve.py": SERVE, "sample.py": INFER, "README.md": document(*lines), "requirements.txt": "torch\n"}
    assert entry(checkout(files))[0] == "python serve.py"


def test_trainings_in_the_background_are_runs(checkout: Build) -> None:
    readme = document("python train.py --seed 1 &", "python sample.py")
    files = {"train.py": TRAIN, "sample.py": INFER, "README.md": readme, "requirements.txt": "torch\n"}
    assert entry(checkout(files))[0] == "python train.py"


def test_what_one_documented_line_runs_beside_a_training_is_a_step_of_it(checkout: Build) -> None:
    files = {
        "run.sh": "python answer.py --batch 8\naccelerate launch --num_processes 4 learn/train.py\n",
        "answer.py": INFER,
        "learn/train.py": TRAIN,
        "README.md": document("bash run.sh"),
        "requirements.txt": "torch\ndiffusers\n",
    }
    assert entry(checkout(files)) == ("accelerate train.py", 4)


@pytest.mark.parametrize("section", ["Learning by reward", "Run"])
def test_a_server_that_a_section_starts_before_its_training_serves_it(checkout: Build, section: str) -> None:
    readme = f"# Reward\n## {section}\n```bash\npython vllm_server.py --port 1\n```\nand in another shell\n```bash\npython learn/train.py\n```\n"
    files = {"vllm_server.py": INFER, "learn/train.py": TRAIN, "README.md": readme, "requirements.txt": "torch\n"}
    assert entry(checkout(files))[0] == "python train.py"


def test_a_server_of_another_section_is_a_run(checkout: Build) -> None:
    readme = "# Chat\n## Serve\n```bash\npython server.py\n```\n## Train\n```bash\npython learn/train.py\n```\n"
    files = {"server.py": INFER, "learn/train.py": TRAIN, "README.md": readme, "requirements.txt": "torch\n"}
    assert entry(checkout(files))[0] == "python server.py"


@pytest.mark.parametrize(
    "name", ["retriever_serving.py", "search_server.py", "index_builder.py", "build_index.py", "mcp_server.py"]
)
def test_what_an_agent_asks_is_beside_the_work(checkout: Build, name: str) -> None:
    readme = (
        f"# Search\n## Run it\n```bash\npython {name} --port 1\n```\n## Train\n```bash\npython learn/train.py\n```\n"
    )
    files = {name: INFER, "learn/train.py": TRAIN, "README.md": readme, "requirements.txt": "torch\n"}
    assert entry(checkout(files))[0] == "python train.py"
