"""Parts of networks that libraries bring and that nothing is known of: a network that is mostly made of them was not understood."""

from __future__ import annotations

import sys
from collections.abc import Mapping

from gpu_lol_action.domain.patterns import regex

# Libraries of numbers, data and settings: what their classes hold are no layers.
_WITHOUT_LAYERS = frozenset({
    "torch", "numpy", "np", "scipy", "pandas", "sklearn", "omegaconf", "hydra", "easydict", "yacs", "ml_collections", "wandb", "torchmetrics",
    "PIL", "cv2", "tqdm", "gym", "gymnasium", "matplotlib", "tensorboardX", "loguru", "pydantic", "attr", "attrs", "jax", "jnp", "tf", "keras",
    "tensorflow", "accelerate", "peft", "datasets", "tokenizers", "torchaudio", "librosa", "nltk", "networkx", "rdkit", "lightning",
    "pytorch_lightning", "fvcore", "iopath", "typing_extensions", "absl", "mmengine", "addict",
})  # fmt: skip
_NO_LAYER = regex(
    r"Loss$|Metric|Accuracy|Tokenizer|Processor|Config$|Dataset|Loader|Logger|Scheduler|Optimizer|Error$|Transform$|Registry|Matcher|Sampler"
    r"|Generator$|Spec$|Output$|Dict$|Args$|Arguments$|Criterion|Assigner|Coder$|Initializer|Normal$"
)


WHOLE = 20
"""Layers for which a network stands that a class takes over from a library whole."""
_OF_NETWORKS = regex(
    r"^(?:torchvision\.models|timm|segmentation_models_pytorch|detectron2\.modeling|mmdet|mmseg|mmcls|mmpretrain)\."
)
_PLAIN_BASES = regex(r"(?:Module|Base\w*|Mixin|Backbone|Head|Encoder|Block|Layer)$")


def is_strange_network(name: str) -> bool:
    """Whether a class that one inherits from is a whole network of a library (``torchvision.models.resnet.ResNet``)."""
    return bool(_OF_NETWORKS.match(name)) and not _PLAIN_BASES.search(name) and name.rpartition(".")[2][:1].isupper()


_PARTS = regex(
    r"(?:\w+_)?(?:encoder|decoder|backbone|transformer|unet|trunk|encoder_embed|generator|discriminator|denoiser|base_model)"
)
_MODULES = regex(r"\bModule\b|(?:Encoder|Decoder|Backbone|Transformer)(?!\w*(?:Config|Args|Type))")


def is_part_name(name: str, annotation: str) -> bool:
    """Whether a parameter of a network is handed a network, by its name or by what it is declared to be."""
    return bool(_PARTS.fullmatch(name) or (_MODULES.search(annotation) and "label" not in name))


_OF_LAYERS = frozenset({"in_channels", "out_channels", "in_features", "out_features", "input_size", "hidden_size", "embed_dim", "d_model", "num_features",
                        "kernel_size", "inplanes", "planes", "hidden_dim", "num_heads"})  # fmt: skip


def is_layers(named: Mapping[str, object]) -> bool:
    """Whether a call's arguments are a layer's, by their names."""
    return not _OF_LAYERS.isdisjoint(named)


def is_stranger(name: str) -> bool:
    """Whether a dotted name of a library is that of a class that may hold layers."""
    root, last = name.partition(".")[0], name.rpartition(".")[2]
    is_class = bool(regex(r"[A-Z]+[a-z0-9]\w*$").match(last))
    return (
        is_class
        and "." in name
        and root not in _WITHOUT_LAYERS
        and root not in sys.stdlib_module_names
        and not _NO_LAYER.search(last)
    )
