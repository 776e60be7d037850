"""A short option is the long one that the program's parser declares with it."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import pytest

from gpu_lol_action.analysis.answer.assemble import analyze
from gpu_lol_action.analysis.files.checkout import Checkout

Build = Callable[[Mapping[str, str]], Checkout]
PROGRAM = (
    "import argparse\nimport torch\nfrom transformers import AutoModelForSequenceClassification\n"
    "if __name__ == '__main__':\n"
    "    parser = argparse.ArgumentParser()\n"
    "    parser.add_argument({declared}, type=int, default=2048)\n"
    "    args = parser.parse_args()\n"
    "    net = AutoModelForSequenceClassification.from_pretrained('bert-base-uncased').cuda()\n"
    "    loss.backward()\n    optimizer.step()\n"
)


def batch(checkout: Build, declared: str, options: str) -> str | None:
    files = {
        "train.py": PROGRAM.format(declared=declared),
        "README.md": f"```bash\npython train.py {options}\n```\n",
        "requirements.txt": "torch\ntransformers\n",
    }
    found = analyze(checkout(files)).findings
    return next((finding.value for finding in found if finding.field == "training.batch_size"), None)


@pytest.mark.parametrize(
    ("declared", "options", "expected"),
    [
        ("'-b', '--batch_size'", "-b 16", "16"),
        ("'--batch_size', '-b'", "-b 16", "16"),
        ("'-b', dest='batch_size'", "-b 16", "16"),
        ("'-bz', '--batch-size'", "-bz 16", "16"),
        ("'-b', '--batch_size'", "--batch_size 32 -b 16", "32"),
        ("'-n', '--number'", "-b 16", None),
        ("'-b', '--batch_size'", "-n 16", "2048"),
    ],
)
def test_a_short_option_is_the_long_one(checkout: Build, declared: str, options: str, expected: str | None) -> None:
    assert batch(checkout, declared, options) == expected
