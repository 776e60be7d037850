"""Models that one program loads together: summed where they are of different kinds, never where they are alternatives or parts."""

from __future__ import annotations

import pytest

from gpu_lol_action.analysis.answer.assemble import analyze
from tests.unit.analysis.conftest import Build

LLM = "llm = AutoModelForCausalLM.from_pretrained('meta-llama/Llama-2-7b-hf')\n"
START = "from transformers import AutoModelForCausalLM, AutoModel\n"


def beside(tree):
    return [term.basis.split(",")[0] for term in analyze(tree).breakdown.terms if term.name == "models beside"]


def test_speech_in_front_of_a_language_model_lies_on_the_card_too(checkout):
    alone = analyze(checkout({"chat.py": START + LLM + "llm.generate()\n"}))
    both = analyze(
        checkout(
            {
                "chat.py": START
                + LLM
                + "ears = AutoModel.from_pretrained('openai/whisper-large-v3')\nears.generate()\nllm.generate()\n"
            }
        )
    )
    assert [term.name for term in both.breakdown.terms][-1] == "models beside"
    added = both.breakdown.expected_gib - alone.breakdown.expected_gib
    assert added == pytest.approx(1.55 * 2 / 1.0737, rel=0.05)
    assert both.spec.hardware.vram_required_gb >= alone.spec.hardware.vram_required_gb + 2


def test_vision_tower_of_the_command_is_counted_with_the_model_that_is_trained(checkout):
    tree = checkout({
        "train.py": "from transformers import AutoModelForCausalLM, Trainer\nm = AutoModelForCausalLM.from_pretrained(args.model_name_or_path)\n"
        "Trainer(model=m, args=args).train()\n",
        "run.sh": "python train.py --model_name_or_path meta-llama/Llama-2-7b-hf --vision_tower openai/clip-vit-large-patch14-336 --bf16 True\n",
    })  # fmt: skip
    assert len(beside(tree)) == 1


@pytest.mark.parametrize(
    "code",
    [
        LLM + "other = AutoModelForCausalLM.from_pretrained('meta-llama/Llama-2-13b-hf')\n",
        (
            "p = StableDiffusionPipeline.from_pretrained('stable-diffusion-v1-5/stable-diffusion-v1-5')\n"
            "t = CLIPTextModel.from_pretrained('openai/clip-vit-large-patch14')\n"
        ),
        "m = AutoModel.from_pretrained('llava-hf/llava-1.5-7b-hf')\nt = AutoModel.from_pretrained('openai/clip-vit-large-patch14-336')\n",
        LLM,
    ],
)
def test_alternatives_and_parts_are_not_summed(checkout, code):
    assert beside(checkout({"demo.py": START + code + "llm.generate()\n"})) == []


def test_what_draws_a_language_models_answers_lies_beside_it(checkout):
    tree = checkout({
        "chat.py": "import torch\nfrom transformers import AutoModelForCausalLM\n"
        "def load(diffusion_model_path='stabilityai/stable-diffusion-2-1-unclip'):\n    pass\n"
        "llm = AutoModelForCausalLM.from_pretrained('meta-llama/Llama-2-7b-hf').cuda()\nllm.generate()\n",
    })  # fmt: skip
    assert len(beside(tree)) == 1


@pytest.mark.parametrize(("drawn", "is_named"), [("from diffusers import UNet2DConditionModel\n", False), ("", True)])
def test_what_looks_at_pictures_for_a_network_that_draws_them_is_not_the_model(
    checkout: Build, drawn: str, *, is_named: bool
) -> None:
    program = (
        f"import torch\n{drawn}from transformers import DPTForDepthEstimation\n"
        "depth = DPTForDepthEstimation.from_pretrained('Intel/dpt-hybrid-midas').cuda()\nloss.backward()\n"
    )
    named = {f.value for f in analyze(checkout({"train.py": program})).findings if f.field == "model.id"}
    assert ("Intel/dpt-hybrid-midas" in named) is is_named
