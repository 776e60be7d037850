"""What a command leaves to its reader: a place for the weights leaves what the program starts with as the best example."""

from __future__ import annotations

import pytest

from gpu_lol_action.analysis.answer.assemble import detect_all
from gpu_lol_action.analysis.formats.surest import best
from gpu_lol_action.domain.finding import Confidence
from tests.unit.analysis.conftest import Build

PROGRAM = (
    "import argparse, torch\nfrom transformers import AutoModelForCausalLM\n"
    "if __name__ == '__main__':\n    parser = argparse.ArgumentParser()\n"
    "    parser.add_argument('--weights_of', default='mistralai/Mistral-7B-v0.1')\n    args = parser.parse_args()\n"
    "    AutoModelForCausalLM.from_pretrained(args.weights_of, torch_dtype=torch.float16).cuda().generate(x)\n"
)


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ("<model>", "mistralai/Mistral-7B-v0.1"),
        ("path", "mistralai/Mistral-7B-v0.1"),
        ("path/to/model", "mistralai/Mistral-7B-v0.1"),
        ("/path/to/the/weights", "mistralai/Mistral-7B-v0.1"),
        ("out/mine", None),
    ],
)
def test_a_place_for_the_weights_is_no_model(checkout: Build, given: str, expected: str | None) -> None:
    files = {"chat.py": PROGRAM, "README.md": f"# N\n```bash\npython chat.py --weights_of {given}\n```\n"}
    named = best(detect_all(checkout(files)), "model.id")
    assert (named.value if named is not None and named.confidence is Confidence.HIGH else None) == expected
