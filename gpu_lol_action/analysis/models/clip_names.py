"""CLIP's models by the names that OpenAI's package and OpenCLIP know them by (``clip.load("ViT-L/14")``, ``create_model("ViT-H-14")``)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from gpu_lol_action.analysis.files.checkout import Source
from gpu_lol_action.analysis.runs.entry_points import Run
from gpu_lol_action.analysis.runs.settings import Scope
from gpu_lol_action.domain.finding import Confidence, Finding

LOADERS = frozenset({"clip.load", "open_clip.create_model", "open_clip.create_model_and_transforms", "open_clip.create_model_from_pretrained"})  # fmt: skip
LAST_WORDS = ("load", "create_model_and_transforms", "create_model_from_pretrained")
"""What such calls end in, besides what other libraries' do."""
_PUBLISHED = {
    "vit-b-32": "openai/clip-vit-base-patch32",
    "vit-b-16": "openai/clip-vit-base-patch16",
    "vit-l-14": "openai/clip-vit-large-patch14",
    "vit-l-14-336": "openai/clip-vit-large-patch14-336",
    "vit-h-14": "laion/CLIP-ViT-H-14-laion2B-s32B-b79K",
    "vit-bigg-14": "laion/CLIP-ViT-bigG-14-laion2B-39B-b160k",
}


def published_clip(name: str) -> str | None:
    """Return the id under which a model of CLIP is published; None for one of another shape, whose size is not known here."""
    if name.startswith("hf-hub:"):
        return name.removeprefix("hf-hub:")
    folded = name.lower().replace("/", "-").replace("@336px", "-336").removesuffix("-quickgelu")
    return _PUBLISHED.get(folded)


_ABOUT = ("open_clip", "clip.load(", "import clip", "from clip", "CLIPModel")
_KEYS = frozenset({"model", "model_name", "clip_model", "backbone", "arch", "name"})


def named_clips(run: Run, scope: Scope, programs: Sequence[Source]) -> Iterator[Finding]:
    """Yield the published model of CLIP that a command or a configuration names, where the command or a program is about CLIP (``open_clip_train.main --model ViT-L-14``)."""
    started = run.command.text.lower() if run.command is not None else ""
    is_about = any(
        source.mentions(word) for source in programs for word in _ABOUT
    )  # `clip_grad_norm_` is about no picture
    if "clip" not in started and not is_about:
        return
    for _, settings in scope.tiers[:2]:
        for setting in settings:
            is_name = setting.key in _KEYS and setting.text.lower().startswith("vit-")
            published = published_clip(setting.text) if is_name else None
            if published is not None:
                why = f"`{setting.key}` is `{setting.text}`"
                yield Finding("model.id", published, why, Confidence.MEDIUM, setting.evidence)
