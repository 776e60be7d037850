"""What a block starts in the background before its own command serves that command; trainings in a row do not."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import pytest

from gpu_lol_action.analysis.assemble import analyze
from gpu_lol_action.analysis.checkout import Checkout

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
