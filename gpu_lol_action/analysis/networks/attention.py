"""Layers of transformers that libraries bring whole: attention, encoder and decoder blocks, timm's parts of vision transformers."""

from __future__ import annotations

from gpu_lol_action.analysis.networks.arguments import number
from gpu_lol_action.analysis.networks.machine import Machine
from gpu_lol_action.analysis.networks.sizes import side_of
from gpu_lol_action.analysis.networks.values import UNKNOWN, Layer, Tensor, Value

ATTENTION = frozenset({"MultiheadAttention", "MultiHeadAttention", "MultiHeadDotProductAttention", "TransformerEncoderLayer", "TransformerDecoderLayer",
                       "Transformer", "TransformerEncoder", "TransformerDecoder", "Attention", "Block", "VisionTransformer", "Mlp", "PatchEmbed"})  # fmt: skip


def attention_parameters(layer: Layer) -> float | None:
    """Return the weights of such a layer; None where its width is not known."""
    kind = layer.kind
    width = _width(layer)
    if kind in {"TransformerEncoder", "TransformerDecoder"}:
        inner = layer.places[0] if layer.places else layer.named.get("encoder_layer", layer.named.get("decoder_layer"))
        times = number(layer, 1, "num_layers", default=6.0) or 6.0
        return inner.parameters * times if isinstance(inner, Layer) and inner.parameters else None
    if not width:
        return None
    if kind == "PatchEmbed":
        patch = number(layer, 1, "patch_size", default=16.0) or 16.0
        return width * ((number(layer, 2, "in_chans", default=3.0) or 3.0) * patch**2 + 1)
    if kind == "Mlp":
        hidden = number(layer, 1, "hidden_features") or 4 * width
        outer = number(layer, 2, "out_features") or width
        return width * hidden + hidden + hidden * outer + outer
    if kind in {"Block", "VisionTransformer"}:
        ratio = number(layer, 2 if kind == "Block" else -1, "mlp_ratio", default=4.0) or 4.0
        block = (4 + 2 * ratio) * width**2 + (9 + ratio) * width
        if kind == "Block":
            return block
        depth = number(layer, -1, "depth", default=12.0) or 12.0
        patch = number(layer, -1, "patch_size", default=16.0) or 16.0
        return depth * block + width * (3 * patch**2 + 200 + (number(layer, -1, "num_classes", default=1000.0) or 0.0))
    if not kind.startswith("Transformer"):
        return 4 * width * (width + 1)
    return _blocks(layer) * _block(layer, width)


def _width(layer: Layer) -> float | None:
    if layer.kind == "VisionTransformer":
        return number(layer, -1, "embed_dim", default=768.0)
    if layer.kind == "PatchEmbed":
        return number(layer, 3, "embed_dim", default=768.0)
    default = 512.0 if layer.kind == "Transformer" else None
    return number(layer, 0, "d_model", "embed_dim", "key_dim", "dim", "in_features", "qkv_features", default=default)


def _block(layer: Layer, width: float) -> float:
    place = 5 if layer.kind == "Transformer" else 2
    inner = number(layer, place - (layer.kind == "Transformer"), "dim_feedforward", default=2048.0) or 2048.0
    decoder = 8 if layer.kind == "TransformerDecoderLayer" else 4
    return decoder * width * width + 2 * width * inner + inner + 12 * width


def _blocks(layer: Layer) -> float:
    if layer.kind != "Transformer":
        return 1.0
    return (number(layer, 2, "num_encoder_layers", default=6.0) or 6.0) + 1.5 * (
        number(layer, 3, "num_decoder_layers", default=6.0) or 6.0
    )


def apply_attention(machine: Machine, layer: Layer, tensor: Tensor, *, holds_scores: bool) -> Value:
    """Return what such a layer gives, and note what it keeps per position: 16 widths a block, and attention's scores if they are held."""
    kind, kept = layer.kind, machine.kept
    width = _width(layer)
    if kind in {"TransformerEncoder", "TransformerDecoder"}:
        inner = layer.places[0] if layer.places else layer.named.get("encoder_layer", layer.named.get("decoder_layer"))
        width = _width(inner) if isinstance(inner, Layer) else None
    if kind in {"VisionTransformer", "PatchEmbed"} and tensor.numel is None and width:
        patch = number(layer, 1 if kind == "PatchEmbed" else -1, "patch_size", default=16.0) or 16.0
        side = number(layer, 0 if kind == "PatchEmbed" else -1, "img_size") or side_of(machine)
        positions = max(1.0, (side / patch) ** 2)
    elif tensor.numel is None or not width:
        positions = float(machine.length) if width else 0.0
        kept.is_sequence = kept.is_sequence or bool(width)
    else:
        patch = number(layer, 1, "patch_size", default=16.0) or 16.0
        side = 3 * patch**2 if kind in {"PatchEmbed", "VisionTransformer"} else width
        positions = max(1.0, tensor.numel / side)
    if not width:
        kept.unknown += 1
        return tensor
    outer = (number(layer, 2, "out_features") or width) if kind == "Mlp" else width
    out = Tensor(positions * outer, (1.0, positions, outer))
    scores = _scores(layer, positions, width) if holds_scores else 0.0
    kept.keep(out, _kept_widths(layer) + scores)
    return [out, UNKNOWN] if kind == "MultiheadAttention" else out


def _kept_widths(layer: Layer) -> float:
    """Return how many times its width a layer keeps per position."""
    ratio = number(layer, 2, "mlp_ratio", default=4.0) or 4.0
    block = 8.0 + 2 * ratio
    if layer.kind == "Block":
        return block
    if layer.kind == "VisionTransformer":
        return block * (number(layer, -1, "depth", default=12.0) or 12.0) + 1
    if layer.kind == "Mlp":
        return (
            2
            * (number(layer, 1, "hidden_features") or 4 * (number(layer, 0, "in_features") or 1))
            / (number(layer, 0, "in_features") or 1)
            + 1
        )
    if layer.kind == "PatchEmbed":
        return 1.0
    if layer.kind.startswith("Transformer"):
        inner = (
            layer.places[0] if layer.kind in {"TransformerEncoder", "TransformerDecoder"} and layer.places else layer
        )
        times = (number(layer, 1, "num_layers", default=6.0) or 6.0) if inner is not layer else _blocks(layer)
        if not isinstance(inner, Layer):
            return 16.0 * times
        width = _width(inner) or 1.0
        wide = number(inner, 2, "dim_feedforward", default=2048.0) or 2048.0
        return times * (9.0 + 3 * wide / width + (6.0 if inner.kind == "TransformerDecoderLayer" else 0.0))
    return 5.0


def _scores(layer: Layer, positions: float, width: float) -> float:
    """Return how many widths per position the scores take that PyTorch's own attention holds when it is asked for its weights."""
    if layer.kind != "MultiheadAttention":
        return 0.0
    heads = number(layer, 1, "num_heads", default=8.0) or 8.0
    return min(2 * heads * positions / width, 64.0)
