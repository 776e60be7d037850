"""What several processes that infer divide among them: the rows, or the model."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import pytest

from gpu_lol_action.analysis.answer.assemble import analyze
from gpu_lol_action.analysis.files.checkout import Checkout

Build = Callable[[Mapping[str, str]], Checkout]
CODE = "import torch\nfrom transformers import AutoModelForCausalLM as A\n{}\nif __name__ == '__main__':\n    m = A.from_pretrained('meta-llama/Llama-2-7b-hf', torch_dtype=torch.float16{}).cuda()\n    m.generate(x)\n"
SAMPLER = "from torch.utils.data import DistributedSampler"
READMES = {
    tool: f"```\n{command} infer.py\n```\n"
    for tool, command in (
        ("torchrun", "torchrun --nproc_per_node=8"),
        ("accelerate", "accelerate launch --num_processes 8"),
        ("python", "python"),
    )
}


@pytest.mark.parametrize(
    ("tool", "imports", "options", "is_whole"),
    [
        ("torchrun", SAMPLER, "", True),
        ("torchrun", "from torch.nn.parallel import DistributedDataParallel", "", True),
        ("accelerate", "from accelerate import PartialState\nstate = PartialState()\nstate.split_between_processes(x)", "", True),
        ("torchrun", "class Rows(torch.utils.data.sampler.Sampler):\n    def __init__(self):\n        self.size = torch.distributed.get_world_size()", "", True),
        # Each of eight processes spreads its own model over the eight cards.
        ("torchrun", SAMPLER, ", device_map='auto'", True),
        # Nothing says that they share rows; or something may divide the model as well.
        ("torchrun", "", "", False),
        ("torchrun", "class Rows(torch.utils.data.sampler.Sampler): ...", "", False),
        ("torchrun", f"{SAMPLER}\nfrom torch.distributed.fsdp import FullyShardedDataParallel", "", False),
    ],
)  # fmt: skip
def test_processes_that_share_rows_hold_the_whole_model(
    checkout: Build, tool: str, imports: str, options: str, is_whole: bool
) -> None:
    hardware = analyze(checkout({"README.md": READMES[tool], "infer.py": CODE.format(imports, options)})).spec.hardware
    assert hardware.gpu_count == 8
    assert ((hardware.needed_gib or 0) > 12) is is_whole


def test_one_process_is_no_copy(checkout: Build) -> None:
    found = analyze(checkout({"README.md": READMES["python"], "infer.py": CODE.format(SAMPLER, "")}))
    assert "serving.copies" not in {finding.field for finding in found.findings}


PLACED = "import torch\nfrom diffusers import StableDiffusionXLPipeline as P\nfrom caption import Agent\nif torch.cuda.device_count() >= 2:\n    first, second = 'cuda:0', 'cuda:1'\nagent = Agent({}device=second)\nif __name__ == '__main__':\n    p = P.from_pretrained('stabilityai/stable-diffusion-xl-base-1.0', torch_dtype=torch.float16).to(first)\n    p('a').images\n"


@pytest.mark.parametrize(("given", "is_whole"), [("", True), ("device_map='auto', ", False)])
def test_a_model_that_has_a_card_to_itself_is_not_divided(checkout: Build, given: str, is_whole: bool) -> None:
    readme = "```\nCUDA_VISIBLE_DEVICES=0,1 python demo.py\n```\n"
    analysis = analyze(checkout({"README.md": readme, "demo.py": PLACED.format(given)}))
    assert analysis.spec.hardware.gpu_count == 2
    assert (
        any("2 cards by their numbers" in f.why and f.field == "serving.copies" for f in analysis.findings) is is_whole
    )
    assert analysis.breakdown is not None
    weights = next(term.gib for term in analysis.breakdown.terms if term.name == "weights")
    assert (weights > 6) is is_whole
