"""Of a pipeline whose denoiser alone is quantized the text encoders and the autoencoder stay at 16 bit."""

from __future__ import annotations

import pytest

from gpu_lol_action.analysis.answer.assemble import analyze
from tests.unit.analysis.conftest import Build

HEAD = """
import torch
from diffusers import BitsAndBytesConfig, FluxPipeline, FluxTransformer2DModel, GGUFQuantizationConfig, PipelineQuantizationConfig
from transformers import T5EncoderModel
config = BitsAndBytesConfig(load_in_4bit=True, bnb_4bit_compute_dtype=torch.bfloat16)
FLUX = "black-forest-labs/FLUX.1-dev"
"""
DENOISER = (
    'transformer = FluxTransformer2DModel.from_pretrained(FLUX, subfolder="transformer", quantization_config=config)\n'
)
TEXT = 'text = T5EncoderModel.from_pretrained(FLUX, subfolder="text_encoder_2", quantization_config=config)\n'
FILE = 'transformer = FluxTransformer2DModel.from_single_file("flux1-dev-Q4_0.gguf", quantization_config=GGUFQuantizationConfig())\n'
WHOLE = 'whole = PipelineQuantizationConfig(quant_backend="bitsandbytes_4bit", quant_kwargs={{"load_in_4bit": True}}{parts})\n'
MAPPED = "whole = PipelineQuantizationConfig(quant_mapping={{{parts}}})\n"
LAST = "pipe = FluxPipeline.from_pretrained(FLUX, torch_dtype=torch.bfloat16{given}){on}\npipe('a cat')\n"
ALL, ALONE = 8.1, 15.0
"""GiB of FLUX.1's weights: all at 4 bit, and its denoiser (11.9 B) alone beside text encoders and autoencoder (4.97 B) at 16."""


def weights(checkout: Build, program: str) -> float:
    found = analyze(
        checkout({"main.py": HEAD + program, "requirements.txt": "diffusers\ntransformers\nbitsandbytes\n"})
    )
    assert found.breakdown is not None
    return next(term.gib for term in found.breakdown.terms if term.name == "weights")


@pytest.mark.parametrize(
    ("before", "given", "gib"),
    [
        (DENOISER, ", transformer=transformer", ALONE),
        (FILE, ", transformer=transformer", ALONE),
        ('FILE = "flux1-dev-Q4_0.gguf"\n' + FILE.replace('"flux1-dev-Q4_0.gguf"', "FILE"), ", transformer=transformer", ALONE),
        (DENOISER + TEXT.replace("quantization_config=config", "load_in_8bit=True"), ", transformer=transformer, text_encoder_2=text", ALL),
        (MAPPED.format(parts='"transformer": config'), ", quantization_config=whole", ALONE),
        (MAPPED.format(parts='"transformer": config, "text_encoder_2": config'), ", quantization_config=whole", ALL),
        (DENOISER + TEXT, ", transformer=transformer, text_encoder_2=text", ALL),
        (WHOLE.format(parts=', components_to_quantize=["transformer"]'), ", quantization_config=whole", ALONE),
        (WHOLE.format(parts=', components_to_quantize="transformer"'), ", quantization_config=whole", ALONE),
        (WHOLE.format(parts=', components_to_quantize=["transformer", "text_encoder_2"]'), ", quantization_config=whole", ALL),
        (WHOLE.format(parts=""), ", quantization_config=whole", ALL),
    ],
)  # fmt: skip
def test_what_is_quantized_lies_narrow_and_the_rest_does_not(
    checkout: Build, before: str, given: str, gib: float
) -> None:
    found = weights(checkout, before + LAST.format(given=given, on='.to("cuda")'))
    assert found == pytest.approx(gib, abs=0.3)


def test_one_part_at_a_time_asks_for_the_widest(checkout: Build) -> None:
    # T5 and CLIP at 16 bit, 4.9 B, are more than 11.9 B at 4.
    last = LAST.format(given=", transformer=transformer", on="\npipe.enable_model_cpu_offload()")
    assert weights(checkout, DENOISER + last) == pytest.approx(9.1, abs=0.5)


def test_no_quantization_leaves_all_at_16_bit(checkout: Build) -> None:
    program = "import torch\nfrom diffusers import FluxPipeline\n" + LAST.replace(
        "FLUX", '"black-forest-labs/FLUX.1-dev"'
    )
    found = analyze(
        checkout({"main.py": program.format(given="", on='.to("cuda")'), "requirements.txt": "diffusers\n"})
    )
    assert found.breakdown is not None
    assert found.breakdown.terms[0].gib == pytest.approx(31.4, abs=0.3)
