"""Commands that name the model of a service: nothing of it lies on the machine, and the next run is meant."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import pytest

from gpu_lol_action.analysis.answer.assemble import analyze
from gpu_lol_action.analysis.files.checkout import Checkout

Build = Callable[[Mapping[str, str]], Checkout]
EVALUATE = "import torch\nif __name__ == '__main__':\n    net = torch.load('a').cuda()\n    net.generate(1)\n"
README = "```\npython first.py {}\n```\n```\npython local.py --model meta-llama/Meta-Llama-3-8B-Instruct\n```\n"


@pytest.mark.parametrize(
    ("told", "is_remote"),
    [
        ('"hf-inference-providers/openai/gpt-oss-20b" gpqa', True),
        ("--model together_ai/meta-llama/Llama-2-70b-chat-hf", True),
        ("--model_name=openrouter/deepseek/deepseek-r1:free", True),
        ("eval model=groq/llama3-70b-8192", True),
        ("--model openai/gpt-oss-20b", False),
        ("--model meta-llama/Llama-2-7b-hf", False),
        ("bedrock/run.yaml", False),
        ("--model gpt2 groq/llama3-70b-8192", False),
    ],
)
def test_a_command_that_asks_a_service_is_no_run(checkout: Build, told: str, *, is_remote: bool) -> None:
    files = {"first.py": EVALUATE, "local.py": EVALUATE, "README.md": README.format(told)}
    first = analyze(checkout({**files, "requirements.txt": "torch\n"})).first
    assert first is not None
    assert first.command.startswith("python local.py" if is_remote else "python first.py")
