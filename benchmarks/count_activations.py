"""What a network saves for its backward pass and has at work without one, counted from its architecture without memory or weights.

    pip install torch torchvision timm            # none of them is needed by gpu-lol itself
    python benchmarks/count_activations.py timm resnet50 vit_base_patch16_224
    python benchmarks/count_activations.py torchvision deeplabv3_resnet50 --size 512

Prints columns of `gpu_lol_action/data/media_networks.csv` (not those of checkpointing): parameters in millions, then MB per sample saved at 32 bit, saved
with autocast, and at work at once without gradients. Fake tensors have shapes but no storage; hooks on what autograd saves sum
the storages, each once and the weights never. Attention counts as fused: query, key, value, output and one number per row.
"""

from __future__ import annotations

import argparse
import contextlib
import gc
import inspect
import weakref
from collections.abc import Callable, Iterable
from typing import Any

import torch
from torch import nn
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.multiprocessing.reductions import StorageWeakRef
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

BATCH = 2
MB = 1e6


def _key(storage: torch.UntypedStorage) -> int:
    return int(StorageWeakRef(storage).cdata)


class _Fused(torch.autograd.Function):
    """Attention as fused kernels keep it."""

    @staticmethod
    def forward(ctx: Any, query: torch.Tensor, key: torch.Tensor, value: torch.Tensor) -> torch.Tensor:
        out = query.new_empty(*query.shape[:-1], value.shape[-1])
        ctx.save_for_backward(query, key, value, out, query.new_empty(query.shape[:-1], dtype=torch.float32))
        return out

    @staticmethod
    def backward(ctx: Any, _gradient: torch.Tensor) -> tuple[torch.Tensor, ...]:
        query, key, value, _, _ = ctx.saved_tensors
        return torch.empty_like(query), torch.empty_like(key), torch.empty_like(value)


def _fused(query: torch.Tensor, key: torch.Tensor, value: torch.Tensor, *_: object, **__: object) -> torch.Tensor:
    if torch.is_autocast_enabled("cpu"):
        kind = torch.get_autocast_dtype("cpu")
        query, key, value = query.to(kind), key.to(kind), value.to(kind)
    return _Fused.apply(query, key, value)


def _at_32_bit(function: Callable[..., torch.Tensor]) -> Callable[..., torch.Tensor]:
    """Return a norm as CUDA's autocast runs it: at 32 bit; the CPU's leaves it at 16."""

    def run(value: torch.Tensor, *rest: object, **named: object) -> torch.Tensor:
        is_small = torch.is_autocast_enabled("cpu") and value.dtype in {torch.bfloat16, torch.float16}
        return function(value.float() if is_small else value, *rest, **named)

    return run


class _AtWork(TorchDispatchMode):
    """The most bytes that lie there at once, weights left out."""

    def __init__(self, weights: Iterable[torch.Tensor]) -> None:
        super().__init__()
        self.known = {_key(weight.untyped_storage()) for weight in weights}
        self.live = self.most = 0

    def __torch_dispatch__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        out = function(*args, **(kwargs or {}))
        for tensor in tree_leaves(out):
            if isinstance(tensor, torch.Tensor):
                self._see(tensor.untyped_storage())
        return out

    def _see(self, storage: torch.UntypedStorage) -> None:
        if _key(storage) in self.known:
            return
        size, key = storage.nbytes(), _key(storage)
        self.known.add(key)
        self.live += size
        self.most = max(self.most, self.live)
        weakref.finalize(storage, self._gone, key, size)

    def _gone(self, key: int, size: int) -> None:
        self.known.discard(key)
        self.live -= size


def count(build: Callable[[], nn.Module], size: int) -> tuple[float, float, float, float]:
    """Return millions of parameters, and MB per picture: saved at 32 bit, saved with autocast, at work without gradients."""
    with FakeTensorMode(allow_non_fake_inputs=True):
        model = build()
        pictures = torch.randn(BATCH, 3, size, size)
        weights = [*model.parameters(), *model.buffers()]
        # Autocast saves a 16-bit copy of each matrix: weights, not activations.
        copies = sum(weight.numel() * 2 for weight in model.parameters() if weight.dim() >= 2)
        model.train()
        whole = _saved(model, pictures, weights, contextlib.nullcontext())
        mixed = (
            _saved(model, pictures, weights, torch.autocast("cpu", dtype=torch.bfloat16, cache_enabled=False)) - copies
        )
        model.eval()
        with torch.no_grad(), _AtWork(weights) as at_work:
            model(pictures)
        parameters = sum(weight.numel() for weight in model.parameters())
        return parameters / 1e6, whole / MB / BATCH, mixed / MB / BATCH, at_work.most / MB / BATCH


def _saved(model: nn.Module, pictures: torch.Tensor, weights: Iterable[torch.Tensor], precision: Any) -> int:
    known = {_key(weight.untyped_storage()) for weight in weights}
    kept: dict[int, torch.UntypedStorage] = {}

    def pack(tensor: torch.Tensor) -> torch.Tensor:
        storage = tensor.untyped_storage()
        if _key(storage) not in known:
            kept[_key(storage)] = storage
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(pack, lambda tensor: tensor), precision:
        out = model(pictures)
    total = sum(storage.nbytes() for storage in kept.values())
    del out
    gc.collect()
    return total


def main() -> None:
    """Print a row for each network."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("library", choices=("timm", "torchvision"))
    parser.add_argument("names", nargs="+")
    parser.add_argument("--size", type=int, default=224)
    asked = parser.parse_args()
    functional = torch.nn.functional
    functional.scaled_dot_product_attention = _fused
    functional.layer_norm, functional.group_norm = _at_32_bit(functional.layer_norm), _at_32_bit(functional.group_norm)
    for name in dir(nn.init):  # values of weights are of no interest, and fake tensors have none
        if name.endswith("_") and not name.startswith("_"):
            setattr(nn.init, name, lambda tensor, *_, **__: tensor)
    if asked.library == "timm":
        import timm

        make = timm.create_model
    else:
        import torchvision

        def make(name: str) -> nn.Module:
            builder = torchvision.models.get_model_builder(name)
            has_backbone = "weights_backbone" in inspect.signature(builder).parameters
            return builder(weights=None, **({"weights_backbone": None} if has_backbone else {}))

    for name in asked.names:
        numbers = count(lambda name=name: make(name), asked.size)
        print(f"{name},{','.join(f'{number:.1f}' for number in numbers)}")


if __name__ == "__main__":
    main()
