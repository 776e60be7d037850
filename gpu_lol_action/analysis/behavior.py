"""What a program does, told from what it calls: trains, infers, or neither; and which packages make a GPU worth having."""

from __future__ import annotations

import enum
import re

from gpu_lol_action.analysis.checkout import Source
from gpu_lol_action.analysis.python_code import Call, PythonCode

# Importing one of these means tensors on a GPU. Libraries that merely may use one (xgboost, sklearn) are not here.
GPU_MODULES = frozenset({
    "torch", "torchvision", "torchaudio", "tensorflow", "keras", "jax", "flax", "transformers", "diffusers", "accelerate",
    "peft", "trl", "bitsandbytes", "deepspeed", "vllm", "sglang", "lightning", "pytorch_lightning", "fastai", "timm",
    "sentence_transformers", "whisper", "faster_whisper", "ultralytics", "mmcv", "mmdet", "mmengine", "detectron2",
    "open_clip", "unsloth", "axolotl", "llamafactory", "torchtune", "composer", "megatron", "colossalai", "cupy",
    "stable_baselines3", "mamba_ssm", "xformers", "flash_attn", "lit_gpt", "litgpt", "torch_geometric", "dgl",
    "nemo", "fairseq", "espnet", "speechbrain", "paddle", "mxnet", "auto_gptq", "awq", "ctransformers", "exllamav2",
    "optimum", "setfit", "torchrl", "kornia", "monai", "segment_anything", "clip", "mlx_lm", "xtuner", "swift",
})  # fmt: skip
GPU_PACKAGES = frozenset(name.replace("_", "-") for name in GPU_MODULES) | {
    "openai-whisper", "tensorflow-gpu", "pytorch-lightning", "pytorch", "fairscale", "flash-attn", "auto-gptq", "autoawq",
    "jaxlib", "nemo-toolkit", "torch-geometric", "paddlepaddle-gpu", "llama-cpp-python", "open-clip-torch", "cupy-cuda12x",
    "sentence-transformers", "faster-whisper", "stable-baselines3", "mamba-ssm", "segment-anything", "ms-swift",
}  # fmt: skip

_TRAINING_CALLS = frozenset({"backward", "TrainingArguments", "train_on_batch", "fit_one_cycle", "fine_tune", "manual_backward",
                             "train_step", "value_and_grad", "training_step", "deepspeed.initialize"})  # fmt: skip
_TRAINER = re.compile(
    r"(?:\w*Trainer|TrainingArguments|\w*TrainingArguments|(?:SFT|DPO|GRPO|PPO|ORPO|KTO|Reward|RLOO)Config)"
)
# The last word of everything that `is_training_call` may say yes to.
_TRAINING_WORDS = ("*Trainer", "*TrainingArguments", "fit", "learn", "train", "initialize",
                   *sorted(_TRAINING_CALLS), *(f"{kind}Config" for kind in ("SFT", "DPO", "GRPO", "PPO", "ORPO", "KTO", "Reward", "RLOO")))  # fmt: skip
_FIT_OWNERS = frozenset(
    {"torch", "lightning", "pytorch_lightning", "tensorflow", "keras", "fastai", "sentence_transformers", "jax"}
)
_INFERENCE_CALLS = frozenset({"generate", "LLM", "pipeline", "transcribe", "InferencePipeline", "chat", "stream_chat", "predict",
                              "text_completion", "chat_completion", "AsyncLLMEngine", "encode_prompt"})  # fmt: skip
_INFERENCE_WORDS = tuple(sorted(_INFERENCE_CALLS))
_LOADS = ("from_pretrained", "load_model", "load_state_dict", "load_checkpoint")


class Behavior(enum.Enum):
    """What a program does with a model."""

    TRAINS = "trains"
    INFERS = "infers"
    NEITHER = "neither"


def behavior_of(code: PythonCode, *, uses_gpu: bool = False) -> tuple[Behavior, Call | None]:
    """Return what a program does, and the call that says so. ``uses_gpu``: what it imports uses a GPU library."""
    if not uses_gpu and not code.imported() & GPU_MODULES:
        return Behavior.NEITHER, None
    training = next((call for call in code.calls_named(*_TRAINING_WORDS) if is_training_call(call, code)), None)
    if training is not None:
        return Behavior.TRAINS, training
    inference = next(iter(code.calls_named(*_INFERENCE_WORDS)), None)
    inference = inference or next((call for call in code.calls_named(*_LOADS) if "oken" not in call.name), None)
    return (Behavior.INFERS, inference) if inference is not None else (Behavior.NEITHER, None)


def is_training_call(call: Call, code: PythonCode) -> bool:
    """Whether this call trains: a backward pass, a trainer, or ``fit`` of a deep-learning library."""
    if call.last in _TRAINING_CALLS or call.name in _TRAINING_CALLS:
        return True
    if _TRAINER.fullmatch(call.last) and call.last != "Tokenizer":
        return True
    if call.last in {"fit", "learn", "train"} and call.name.count("."):
        owner = call.name.rpartition(".")[0].lower()
        if call.last == "learn":
            return "stable_baselines3" in code.imported()
        if call.last == "fit":
            return bool(code.imported() & _FIT_OWNERS) and not ("sklearn" in code.imported() and "trainer" not in owner)
        return "trainer" in owner or "yolo" in owner
    return False


def top_level_gpu_import(source: Source) -> tuple[str, int] | None:
    """Return the first GPU library that a file imports whatever happens, with its line."""
    if source.code is None:
        return None
    found = (item for item in source.code.imports if not item.is_optional)
    return next(((item.module, item.line) for item in found if item.module.split(".")[0] in GPU_MODULES), None)
