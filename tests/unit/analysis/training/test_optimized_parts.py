"""What is trained beside a loaded denoiser: the modules whose parameters the optimizer is given."""

from __future__ import annotations

import pytest

from gpu_lol_action.analysis.files.checkout import Source
from gpu_lol_action.analysis.formats.paths import Form, Role
from gpu_lol_action.analysis.media import media
from gpu_lol_action.analysis.runs.runs import primary_run
from gpu_lol_action.analysis.training.optimized_parts import trained_beside
from tests.unit.analysis.conftest import Build

LOADED = (
    "import diffusers, torch\nunet = UNet.from_pretrained(args.model, subfolder='unet')\nnet = build(config).cuda()\n"
)


@pytest.mark.parametrize(
    ("lines", "owner"),
    [
        ("optimizer = AdamW(net.parameters(), lr=1)\n", "net"),
        ("given = net.parameters()\noptimizer = optimizer_class(\n    given,\n    lr=args.lr,\n)\n", "net"),
        ("given = itertools.chain(a.proj.parameters(), a.heads.parameters())\noptimizer = AdamW(given)\n", "a.proj"),
        ("optimizer = AdamW(list(net.parameters()) + list(unet.parameters()))\n", None),
        ("given = net.parameters()\ngiven += unet.parameters()\noptimizer = AdamW(given)\n", None),
        ("optimizer = AdamW(filter(lambda p: p.requires_grad, unet.parameters()))\n", None),
        ("optimizer = AdamW(net.parameters())\nunet_optimizer = AdamW(unet.parameters())\n", None),
        # What may hold the denoiser, adapters on its own weights, and what nobody can tell.
        ("both = Whole(unet, net)\noptimizer = AdamW(both.parameters())\n", None),
        ("optimizer = AdamW(lora_layers.parameters())\n", None),
        ("optimizer = AdamW(gathered)\n", None),
        ("optimizer = AdamW(unknown.parameters())\n", None),
    ],
)
def test_the_optimizer_tells_what_learns(lines: str, owner: str | None) -> None:
    found = trained_beside(Source("train.py", Form.PYTHON, Role.WORKLOAD, LOADED + lines))
    assert (found[0] if found is not None else None) == owner


def test_without_a_loaded_denoiser_nothing_is_beside_it() -> None:
    text = "import diffusers\noptimizer = AdamW(net.parameters())\nvae = VAE.from_pretrained('a')\n"
    assert trained_beside(Source("train.py", Form.PYTHON, Role.WORKLOAD, text)) is None


def test_hostile_programs_are_read_in_passing() -> None:
    for line in ("optimizer = AdamW(" + "(" * 50_000, "optimizer = " * 20_000, "unet = " * 20_000, "a\n" * 50_000):
        assert trained_beside(Source("train.py", Form.PYTHON, Role.WORKLOAD, LOADED + line)) is None


def test_an_adapter_is_the_trained_part(checkout: Build) -> None:
    text = LOADED + "optimizer = AdamW(net.parameters(), lr=1)\nloss.backward()\noptimizer.step()\n"
    tree = checkout({"train.py": text})
    found = {finding.field: finding.value for finding in media.detect(tree, primary_run(tree))}
    assert found["media.trained_part"] == "adapter"


@pytest.mark.parametrize(
    ("made", "part"),
    [
        ("net = BranchModel.from_unet(unet)\n", "controlnet"),
        (
            "if args.path:\n    net = Branch.from_pretrained(args.path)\nelse:\n    net = Branch.from_unet(unet)\n",
            "controlnet",
        ),
        ("net = build(config)\nother = BranchModel.from_unet(unet)\n", "adapter"),
        ("net = build(config)\n", "adapter"),
    ],
)
def test_a_copy_of_the_denoiser_is_no_small_adapter(checkout: Build, made: str, part: str) -> None:
    text = LOADED + made + "optimizer = AdamW(net.parameters(), lr=1)\nloss.backward()\noptimizer.step()\n"
    tree = checkout({"train.py": text})
    found = {finding.field: finding.value for finding in media.detect(tree, primary_run(tree))}
    assert found["media.trained_part"] == part
