"""CLIP's models by the names that OpenAI's package and OpenCLIP know them by (``clip.load("ViT-L/14")``, ``create_model("ViT-H-14")``)."""

from __future__ import annotations

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
