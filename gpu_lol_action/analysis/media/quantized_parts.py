"""Pipelines of diffusers of which the denoiser alone is loaded quantized: text encoders and autoencoder stay as wide as they are.

``FluxTransformer2DModel.from_pretrained(..., subfolder="transformer", quantization_config=...)``, a file of llama.cpp's in its place, or
``PipelineQuantizationConfig(components_to_quantize="transformer")``: diffusers' guide on quantization.
"""

from __future__ import annotations

from collections.abc import Iterator

from gpu_lol_action.analysis.files.checkout import Checkout, Source
from gpu_lol_action.analysis.python.defaults import Call
from gpu_lol_action.analysis.runs.entry_points import Run, import_closure
from gpu_lol_action.domain.finding import Confidence, Evidence, Finding
from gpu_lol_action.domain.patterns import regex
from gpu_lol_action.estimation.quantized_names import scheme_in_name
from gpu_lol_action.estimation.vram_states import bits_of

FIELD, DENOISER = "media.quantized_part", "denoiser"
MAX_PROGRAMS, MAX_LINES = 12, 40
_MAPPING = regex(r"quant_mapping\s{0,4}=\s{0,4}\{([^{}]{1,2000})")
_PARTS = regex(r"[\"'](\w{2,40})[\"']\s{0,4}:")
_LOADS = ("from_pretrained", "from_single_file")
_OF_A_DENOISER = regex(r"(?:Transformer(?:2D|3D)?|UNet\w{0,30})Model\b|(?:^|\.)(?:transformer|unet)$")
_IS_ONE = regex(r"(?:transformer|unet)(?:_2)?")


def detect(checkout: Checkout, run: Run | None) -> list[Finding]:
    """Return that the denoiser alone is quantized, and the width of a file of llama.cpp's; nothing where other parts are, too, or none is."""
    if run is None or run.script is None:
        return []
    found: list[Finding] = []
    for source in import_closure(checkout, run.script)[:MAX_PROGRAMS]:
        if source.code is None or not source.mentions("diffusers") or "diffusers" not in source.code.imported():
            continue
        parts = list(_quantized(source))
        if not parts or not all(is_denoiser for _, is_denoiser in parts):
            continue
        call, where = parts[0][0], Evidence(source.path, parts[0][0].line)
        confidence = Confidence.HIGH if source is run.script else Confidence.MEDIUM
        found.append(Finding(FIELD, DENOISER, "its denoiser alone is loaded quantized", confidence, where))
        file = source.code.resolve(call.arguments[0], call.owner) if call.arguments else None
        scheme = scheme_in_name(file.removesuffix(".gguf")) if file is not None and file.endswith(".gguf") else None
        if scheme is not None:
            width = f"the file of the denoiser is in {scheme}"
            found.append(Finding("model.weight_bits", str(bits_of(scheme)), width, confidence, where))
    return found


def _quantized(source: Source) -> Iterator[tuple[Call, bool]]:
    """Yield each call that quantizes what it loads, and whether that is a denoiser and nothing else."""
    code = source.code
    for call in code.calls_named(*_LOADS) if code is not None else ():
        switches = (call.keyword("load_in_4bit"), call.keyword("load_in_8bit"))
        is_switched = any(value is not None and value.text == "True" for value in switches)
        if code is None or not (is_switched or call.keyword("quantization_config") is not None):
            continue
        folder = code.resolve(call.keyword("subfolder"), call.owner)
        owner = call.name.rpartition(".")[0]
        if "Pipeline" in owner:
            yield from ((call, all(map(_IS_ONE.fullmatch, words))) for words in _components(source))
        else:
            yield call, bool(_IS_ONE.fullmatch(folder) if folder is not None else _OF_A_DENOISER.search(owner))


def _components(source: Source) -> Iterator[list[str]]:
    """Yield the parts that a configuration for a whole pipeline names; none stands for all of them."""
    code = source.code
    for call in code.calls_named("PipelineQuantizationConfig") if code is not None else ():
        value = call.keyword("components_to_quantize")
        words = (
            [each.text or "" for each in value.items] if value is not None and value.items else _mapped(source, call)
        )
        single = code.resolve(value, call.owner) if code is not None and value is not None and not words else None
        yield words or [single or "all"]


def _mapped(source: Source, call: Call) -> list[str]:
    """Return the parts that ``quant_mapping={"transformer": ...}`` names, as it is written in the call."""
    lines = source.text.split("\n")[call.line - 1 : call.line - 1 + MAX_LINES]
    found = _MAPPING.search("\n".join(lines))
    return _PARTS.findall(found[1]) if call.keyword("quant_mapping") is not None and found is not None else []
