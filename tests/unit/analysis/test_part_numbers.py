"""How wide the numbers of a part are, and of an island in the arithmetic, says nothing of the whole."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import pytest

from gpu_lol_action.analysis.answer.assemble import detect_all
from gpu_lol_action.analysis.files.checkout import Checkout

Build = Callable[[Mapping[str, str]], Checkout]
VIDEO = "import torch\nfrom diffusers import AutoencoderKLWan, WanPipeline\nif __name__ == '__main__':\n    name = 'Wan-AI/Wan2.1-T2V-1.3B-Diffusers'\n    vae = {vae}\n    pipe = WanPipeline.from_pretrained(name, vae=vae{own}).to('cuda')\n    pipe(prompt)\n"
VAE = "AutoencoderKLWan.from_pretrained(name, subfolder='vae', torch_dtype=torch.float32)"


def precisions(tree: Checkout) -> list[str]:
    return [finding.value for finding in detect_all(tree) if finding.field == "training.precision"]


@pytest.mark.parametrize(
    ("vae", "own", "expected"),
    [
        (VAE, ", torch_dtype=torch.bfloat16", ["bf16"]),
        (VAE.replace("from_pretrained", "from_single_file"), ", torch_dtype=torch.bfloat16", ["bf16"]),
        # Where the whole is told nothing, the part's is all there is.
        (VAE, "", ["fp32"]),
        ("None", ", torch_dtype=torch.float32", ["fp32"]),
    ],
)
def test_a_part_that_is_kept_at_32_bit(checkout: Build, vae: str, own: str, expected: list[str]) -> None:
    assert precisions(checkout({"run.py": VIDEO.format(vae=vae, own=own)})) == expected


NET = "import torch\nfrom transformers import AutoModel\nif __name__ == '__main__':\n    m = AutoModel.from_pretrained('a/b-7b').cuda()\n    with torch.autocast('cuda', dtype=torch.{}):\n        m.generate(x)\n"


@pytest.mark.parametrize(("kind", "expected"), [("float32", ["fp16"]), ("bfloat16", ["bf16"])])
def test_an_exact_step_amid_the_rest(checkout: Build, kind: str, expected: list[str]) -> None:
    assert precisions(checkout({"run.py": NET.format(kind)})) == expected
