"""How many parameters low-rank adapters add: rank x (in + out) for each matrix that has them (Hu et al. 2021).

Language models have them on query and value (peft's default for most families), or on every matrix of a layer. Trainers of
diffusion models put them on query, key, value and output of self- and cross-attention of the denoiser (diffusers' examples):
counted from the public configurations that is, per rank, 1.45 M for SDXL, 1.17 or with its MLPs 2.80 M for FLUX.1, 3.28 M for Wan 2.1
14B. A denoiser of which only the size is known is taken to have the usual proportions (``typical_model``): 1.18, 3.12 and 3.61 M.
"""

from __future__ import annotations

from gpu_lol_action.estimation.known_models import ModelFacts
from gpu_lol_action.estimation.vram_question import VramQuestion
from gpu_lol_action.estimation.vram_shape import layer_shape, typical_model

_ATTENTION_OF_DENOISER = 8
"""Matrices of a denoiser's block that have adapters: four of self-attention, four of cross-attention or of the other stream."""


def trainable_b(question: VramQuestion) -> float:
    """Return the trainable parameters of the adapters of a run, in billions; what is trained whole beside them not counted."""
    model = question.model
    if question.adapted_b or model.kind.startswith("diffusion"):
        size_b = question.adapted_b or model.parameters_b
        denoiser = model if model.has_shape else typical_model(model.name, size_b)
        hidden, layers = denoiser.hidden_size, denoiser.layers
        matrices = 2.0 * _ATTENTION_OF_DENOISER * hidden
        if question.is_lora_everywhere:
            # What attention leaves of the denoiser are two matrices to and from the MLP's width.
            inner = max(size_b * 1e9 / layers - _ATTENTION_OF_DENOISER * hidden**2, 0.0) / (2 * hidden)
            matrices += 2 * (hidden + inner)
        return question.lora_rank * layers * matrices / 1e9
    return adapter_parameters_b(model, question.lora_rank, is_everywhere=question.is_lora_everywhere)


def adapter_parameters_b(model: ModelFacts, rank: int, *, is_everywhere: bool) -> float:
    """Return trainable parameters of a language model's adapters in billions; by default of query and value."""
    if not model.has_shape:
        model = typical_model(model.name, model.parameters_b)
    hidden, shape = model.hidden_size, layer_shape(model)
    kv = hidden * shape.kv_share
    attention = (hidden + hidden) + (hidden + kv)
    everything = 2 * (hidden + hidden) + 2 * (hidden + kv) + shape.mlp_matrices * (hidden + shape.inner)
    return rank * model.layers * (everything if is_everywhere else attention) / 1e9
