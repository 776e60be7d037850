"""What documents start in ONNX Runtime, where all else is a step beside the work."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import pytest

from gpu_lol_action.analysis.answer.assemble import analyze
from gpu_lol_action.analysis.files.checkout import Checkout

Build = Callable[[Mapping[str, str]], Checkout]
EXPORT = "import torch\nfrom transformers import AutoModelForCausalLM as A\nif __name__ == '__main__':\n    m = A.from_pretrained('openai-community/gpt2').cuda()\n    m.generate(x)\n    torch.onnx.export(m)\n"
DEMO = "from net.pool import Pool\nif __name__ == '__main__':\n    Pool('a.onnx').run(x)\n"
POOL = "import onnxruntime as ort\n\nclass Pool:\n    def __init__(self, path):\n        self.session = ort.InferenceSession(path{})\n"
README = "```\npython3 demo.py models\n```\nOnce:\n```\npython3 tools/export_onnx.py\n```\n"


def tree(pool: str = POOL.format(""), **files: str) -> dict[str, str]:
    return {"README.md": README, "demo.py": DEMO, "net/pool.py": pool, "tools/export_onnx.py": EXPORT, **files}


def test_a_demo_of_sessions_is_the_run_and_stays_on_the_cpu(checkout: Build) -> None:
    found = analyze(checkout(tree())).spec
    assert (found.meta.workload_type.value, found.hardware.gpu_count) == ("cpu-only", 0)


@pytest.mark.parametrize(
    "files",
    [
        tree(POOL.format(", providers=['CUDAExecutionProvider']")),
        tree(**{"requirements.txt": "onnxruntime-gpu\n"}),
    ],
)
def test_a_session_that_is_told_of_a_card_needs_one(checkout: Build, files: dict[str, str]) -> None:
    found = analyze(checkout(files)).spec
    assert (found.meta.workload_type.value, found.hardware.gpu_count) == ("inference", 1)


@pytest.mark.parametrize("extra", [{"generate.py": EXPORT}, {"net/pool.py": "import torch\n" + POOL.format("")}])
def test_what_runs_in_pytorch_goes_before(checkout: Build, extra: dict[str, str]) -> None:
    found = analyze(checkout(tree() | extra)).spec
    assert found.hardware.gpu_count == 1


WEATHER = "import onnxruntime as ort\nsession = ort.InferenceSession('day.onnx', providers=['{}'])\nout = session.run(None, x)\n"


@pytest.mark.parametrize(
    ("provider", "listed", "expected"),
    [
        ("CUDAExecutionProvider", "onnxruntime-gpu==1.14.0", "inference"),
        ("CUDAExecutionProvider", "onnxruntime==1.14.0", "cpu-only"),
        ("CPUExecutionProvider", "onnxruntime-gpu==1.14.0", "cpu-only"),
    ],
)
def test_a_program_of_sessions_on_a_card_is_the_run_where_nothing_else_is(
    checkout: Build, provider: str, listed: str, expected: str
) -> None:
    files = {
        "README.md": "# Weather\nSee `infer.py`.\n",
        "infer.py": WEATHER.format(provider),
        "requirements.txt": f"{listed}\n",
    }
    assert analyze(checkout(files)).spec.meta.workload_type.value == expected
