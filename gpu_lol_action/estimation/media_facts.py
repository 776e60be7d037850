"""What networks for pictures, video and sound keep per sample, and of what parts a diffusion pipeline is made.

``data/media_networks.csv`` holds, per network, what its layers save for the backward pass and have at work at once without it,
counted once from the public architecture (``benchmarks/count_activations.py`` can count most of timm's and torchvision's again);
``data/media_pipelines.csv`` the parts of diffusion pipelines and which network's activations each denoiser has.
``data/SOURCES.md`` names the sources.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable, Mapping

from gpu_lol_action.domain.patterns import regex
from gpu_lol_action.domain.records import record
from gpu_lol_action.domain.tables import table_rows

# timm's and torchvision's words for the size that a network's name states in pixels.
_STATED_SIZE = regex(r"[_-](?:224|256|288|320|336|384|448|512|518|576|600|640|768|896|1024|1280)(?=$|[_.-])")
_SUFFIX = regex(r"\.(?:pt|pth|yaml|yml|onnx|engine|safetensors|ckpt|weights)$")
# Names of other libraries for what the table has.
_SAME: tuple[tuple[str, str], ...] = (
    (r"yolo[-_]?(?:v)?11", "yolo11"), (r"yolo[-_]?(?:v)?12", "yolo12"), (r"yolo[-_]?(?:v)?26", "yolo26"),
    (r"yolo[-_]?v?(3|5|6|8|9|10)(?=$|[-_nsmlxbcet])", r"yolov\1"),
    (r"^resnet[-_](\d)", r"resnet\1"), (r"^vgg[-_](\d)", r"vgg\1"), (r"^efficientnet[-_]?b", "efficientnet_b"),
    (r"^mobilenet[-_]?v2.*", "mobilenet_v2"), (r"^mobilenet[-_]?v3$", "mobilenet_v3_large"), (r"^densenet[-_](\d)", r"densenet\1"),
    (r"^(faster|mask|keypoint)[-_]?r[-_]?cnn.*", r"\1rcnn_resnet50_fpn"), (r"^vit[-_]?b[-_]?16$", "vit_b_16"), (r"^vit[-_]?l[-_]?16$", "vit_l_16"),
    (r"^convnext[-_](\w+?)[-_]\d{3}.*", r"convnext_\1"), (r"^swin[-_]t(?:iny)?$", "swin_t"), (r"^swin[-_]b(?:ase)?$", "swin_b"),
    (r"^(vit|deit|beit)-(tiny|small|base|large|huge)(?:-distilled)?-patch(\d+)-.*", r"\1_\2_patch\3_224"),
    (r"^swin-(tiny|small|base|large)-patch4-window\d+-.*", r"swin_\1_patch4_window7_224"), (r"^swinv2-([tsb])\w+-patch4-window\d+-.*", r"swin_v2_\1"),
    (r"^convnext(v2)?-(tiny|small|base|large|xlarge|huge)-.*", r"convnext\1_\2"),
    (r"^segformer[-_]?b(\d)$", r"segformer-b\1"), (r"^mit[-_]b(\d)$", r"segformer-b\1"), (r"^(?:nvidia/)?segformer-b(\d).*", r"segformer-b\1"),
    (r"^sam[-_]vit[-_](b|l|h)(?:ase|arge|uge)?$", r"sam-vit-\1"), (r"^vit_(b|l|h)$", r"sam-vit-\1"),
    (r"^dinov2[-_]vit(s|b|l|g)14.*", r"dinov2-\1"), (r"^deeplab[-_]?v3(?:plus|\+)?$", "deeplabv3_resnet50"),
    (r"^deeplab.*101.*", "deeplabv3_resnet101"), (r"^retinanet$", "retinanet_resnet50_fpn"), (r"^whisper-large.*v[123]$", "whisper-large"),
    (r"^(?:res)?unet(?:\+\+|plusplus|2d)?$", "unet-64"), (r"^unet3d|^3d-?unet|^nnunet", "unet3d-128"), (r"^swin-?unetr.*", "swinunetr-48"),
    (r"^(yolo\w+)-(?:seg|pose|cls|obb|world\w*)$", r"\1"), (r"^inception[-_]?v3$", "inception_v3"), (r"^wide[-_]?resnet[-_]?50.*", "wide_resnet50_2"),
)  # fmt: skip
_DINO = {"s": "vit_small", "b": "vit_base", "l": "vit_large", "g": "vit_giant"}


@record(frozen=True, slots=True)
class Network:
    """Activations of a network per sample at its reference size, in MB (10**6 bytes).

    ``training_*`` is what is saved for the backward pass, ``inference_fp32_mb`` the most that lies there at once without one
    (half of it at 16 bit), ``checkpoint_*`` what gradient checkpointing keeps and what one block needs; 0 where not counted.
    ``height`` and ``width`` are pixels, ``frames`` 1 for pictures and the depth of volumes, ``seconds`` 0 but for sound.
    """

    name: str
    family: str
    parameters_m: float
    height: int
    width: int
    frames: int
    seconds: float
    training_fp32_mb: float
    training_mixed_mb: float
    inference_fp32_mb: float
    checkpoint_kept_mb: float
    checkpoint_block_mb: float

    @property
    def is_volume(self) -> bool:
        """Whether it sees volumes, whose depth is that of its pictures unless told otherwise."""
        return self.frames == self.height > 1


@record(frozen=True, slots=True)
class Pipeline:
    """The parts of a diffusion pipeline in millions of parameters, its usual size of output, and what it denoises and decodes.

    ``guidance`` is how many samples a step computes per picture (two with classifier-free guidance), ``frames_per_latent`` how
    many frames one latent holds, ``decode_elements`` how many numbers the decoder has at work per pixel and frame.
    """

    name: str
    network: Network
    denoiser_m: float
    text_m: float
    decoder_m: float
    other_m: float
    height: int
    width: int
    frames: int
    guidance: int
    frames_per_latent: int
    decode_elements: float
    decode_bits: int

    @property
    def parameters_m(self) -> float:
        """All parts together."""
        return self.denoiser_m + self.text_m + self.decoder_m + self.other_m


@functools.lru_cache(maxsize=1024)  # every run asks of the same words
def find_network(name: str) -> Network | None:
    """Return the network of that name in torchvision, timm, ultralytics, transformers or a paper; None where it is not counted."""
    for candidate in _candidates(name):
        found = networks().get(candidate)
        if found is not None:
            return found
    return None


def find_pipeline(name: str) -> Pipeline | None:
    """Return the diffusion pipeline that an id or a class name is of."""
    asked = name.strip().lower()[:200]
    if not asked or regex(r"\s").search(asked):
        return None
    return next((pipeline for pattern, pipeline in _pipelines() if pattern.search(asked)), None)


@functools.cache
def networks() -> Mapping[str, Network]:
    """Return the counted networks by name."""
    return {row["name"]: _network(row) for row in table_rows("media_networks.csv")}


def _candidates(name: str) -> Iterable[str]:
    """Yield spellings of a name, the given one first."""
    asked = _SUFFIX.sub("", name.strip().strip("/").lower()[:120])
    last = asked.rsplit("/", 1)[-1]
    bare = regex(r"\.[a-z][\w.-]*$").sub("", last)  # timm's training recipe
    for word in dict.fromkeys((asked, last, bare)):
        yield word
        yield word.replace("-", "_")
        yield word.replace("_", "-")
        changed = word
        for pattern, instead in _SAME:
            changed = regex(pattern).sub(instead, changed)
        if changed != word:
            yield _dino(changed)
        without = _STATED_SIZE.sub("", word.replace("-", "_"))
        if without != word:
            yield without
            yield from (f"{without}_{size}" for size in ("224", "384"))


def _dino(name: str) -> str:
    found = regex(r"dinov2-([sblg])").fullmatch(name)
    return f"{_DINO[found[1]]}_patch14_dinov2" if found else name


@functools.cache
def _pipelines() -> tuple[tuple[re.Pattern[str], Pipeline], ...]:
    return tuple((regex(row["pattern"]), _pipeline(row)) for row in table_rows("media_pipelines.csv"))


def _network(row: Mapping[str, str]) -> Network:
    def number(key: str) -> float:
        return float(row[key] or 0)

    return Network(
        name=row["name"],
        family=row["family"],
        parameters_m=number("parameters_m"),
        height=int(row["height"]),
        width=int(row["width"]),
        frames=int(row["frames"]),
        seconds=number("seconds"),
        training_fp32_mb=number("training_fp32_mb"),
        training_mixed_mb=number("training_mixed_mb"),
        inference_fp32_mb=number("inference_fp32_mb"),
        checkpoint_kept_mb=number("checkpoint_kept_mb"),
        checkpoint_block_mb=number("checkpoint_block_mb"),
    )


def _pipeline(row: Mapping[str, str]) -> Pipeline:
    return Pipeline(
        name=row["name"],
        network=networks()[row["network"]],
        denoiser_m=float(row["denoiser_m"]),
        text_m=float(row["text_m"]),
        decoder_m=float(row["decoder_m"]),
        other_m=float(row["other_m"]),
        height=int(row["height"]),
        width=int(row["width"]),
        frames=int(row["frames"]),
        guidance=int(row["guidance"]),
        frames_per_latent=int(row["frames_per_latent"]),
        decode_elements=float(row["decode_elements"]),
        decode_bits=int(row["decode_bits"]),
    )
