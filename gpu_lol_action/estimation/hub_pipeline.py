"""How large a diffusion pipeline is: the Hub counts no parameters for its several models, but it lists their files.

Layout of a pipeline's folder: one subfolder for each model (``unet`` or ``transformer``, ``vae``, text encoders), with
weights as ``diffusion_pytorch_model`` or ``model``, in shards or not, and perhaps once more as a variant (``.fp16.``).
"""

from __future__ import annotations

from collections import defaultdict
from typing import Any

from gpu_lol_action.domain.lookup import HubFields
from gpu_lol_action.domain.patterns import regex
from gpu_lol_action.estimation.known_models import ModelFacts
from gpu_lol_action.estimation.model_facts import rounded_b

# Parts that a pipeline loads; a safety checker and what is converted for other engines are none.
_PART = regex(r"(?:unet|transformer|prior|decoder|dit|vae|movq|vqgan|text_encoder|image_encoder)(?:_\d)?")
_WEIGHTS = regex(
    r"(?:diffusion_pytorch_model|pytorch_model|model)(?P<early>\.(?:fp16|bf16))?(?:-\d{5}-of-\d{5})?(?P<late>\.(?:fp16|bf16))?"
    r"\.(?P<format>safetensors|bin)"
)
_BYTES_PER_PARAMETER = 2
_MAX_FILES = 5000
_MAX_BYTES = 10**13
_VIDEO = frozenset({"text-to-video", "image-to-video", "video-to-video"})


def is_pipeline(info: HubFields) -> bool:
    """Whether the Hub counts a repository as a diffusers pipeline."""
    return info.get("library_name") == "diffusers"


def read_pipeline(name: str, info: HubFields, files: HubFields) -> ModelFacts | None:
    """Return the size of a pipeline's models together, from its list of files; None where none is one.

    A variant of 16 bit is counted as such. Weights without one are too: newer pipelines publish nothing else. Where they are
    of 32 bit, the size is twice what it is, which is the safe side.
    """
    sizes: defaultdict[tuple[str, str, bool], int] = defaultdict(int)
    listed = files.get("siblings")
    for entry in listed[:_MAX_FILES] if isinstance(listed, list) else ():
        found = _weights(entry)
        if found is not None:
            key, size = found
            sizes[key] += size
    parts = {part for part, _, _ in sizes}
    total = sum(_best(part, sizes) for part in sorted(parts))
    if not parts & {"unet", "transformer", "prior", "decoder", "dit"} or not 0 < total <= _MAX_BYTES:
        return None
    kind = "diffusion-video" if info.get("pipeline_tag") in _VIDEO else "diffusion-image"
    note = f"{', '.join(sorted(parts))}: counted from the sizes of their files"
    return ModelFacts(name, kind, rounded_b(total / _BYTES_PER_PARAMETER / 1e9), source="hub", note=note)


def _weights(entry: Any) -> tuple[tuple[str, str, bool], int] | None:
    """Return part, format and whether it is a variant of 16 bit, and the bytes of a file that holds weights."""
    path = entry.get("rfilename") if isinstance(entry, dict) else None
    size = entry.get("size") if isinstance(entry, dict) else None
    if not isinstance(path, str) or not isinstance(size, int) or isinstance(size, bool) or not 0 < size <= _MAX_BYTES:
        return None
    part, _, file = path.partition("/")
    match = _WEIGHTS.fullmatch(file)
    if match is None or not _PART.fullmatch(part):
        return None
    return (part, match["format"], bool(match["early"] or match["late"])), size


def _best(part: str, sizes: defaultdict[tuple[str, str, bool], int]) -> int:
    """Return the bytes of a part in the form that a pipeline would load at 16 bit."""
    forms = (("safetensors", True), ("bin", True), ("safetensors", False), ("bin", False))
    return next((size for form, is_variant in forms if (size := sizes.get((part, form, is_variant), 0))), 0)
