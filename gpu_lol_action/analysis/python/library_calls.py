"""Calls by which a program trains or runs a model of a certain library, whose names say nothing elsewhere (``fit``, ``Llama``, ``main``)."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from gpu_lol_action.analysis.python.code import Call, PythonCode

TRAINS: Mapping[str, tuple[str, ...]] = MappingProxyType({
    "art": ("TrainableModel",),
    "axolotl": ("do_cli", "do_train", "train"),
    "equinox": ("filter_grad", "filter_value_and_grad"),
    "mmcv": ("EpochBasedRunner", "IterBasedRunner"),
    "mmengine": ("from_cfg",),
    "skorch": ("fit", "partial_fit"),
    "catalyst": ("train",),
    "autogluon": ("fit",),
    "pytorch_tabnet": ("fit", "pretrain"),
    "pytorch_forecasting": ("fit",),
    "pykeen": ("pipeline", "hpo_pipeline"),
    "recbole": ("run_recbole", "run"),
    "brax": ("train",),
    "open_clip_train": ("main",),
    "nnunetv2": ("run_training",),
    "cellpose": ("train_seg",),
    "pyro": ("SVI",),
    "horovod": ("DistributedOptimizer", "DistributedGradientTape"),
    "cuml": ("fit", "fit_predict"),
    "neuralforecast": ("fit", "cross_validation"),
    "gluonts": ("train",),
    "labml": ("start",),
    "ludwig": ("train", "experiment", "train_online", "auto_train", "kfold_cross_validate"),
    **dict.fromkeys(("skyrl", "skyrl_train"), ("BasePPOExp", "SFTTrainer")),
    "torchtitan": ("TrainingConfig", "JobConfig"),
    "nemo_rl": ("sft_train", "dpo_train", "rm_train", "grpo_train", "async_grpo_train", "ppo_train", "async_ppo_train", "distillation_train"),
})  # fmt: skip
"""By the library's import name: the last words of its calls that train."""

INFERS: Mapping[str, tuple[str, ...]] = MappingProxyType({
    "llama_cpp": ("Llama",),
    "exllamav2": ("ExLlamaV2",),
    "mlc_llm": ("MLCEngine", "AsyncMLCEngine"),
    "insightface": ("FaceAnalysis", "get_model"),
    "easyocr": ("Reader",),
    "demucs": ("main", "apply_model", "Separator"),
    "realesrgan": ("RealESRGANer",),
    "gfpgan": ("GFPGANer",),
    "facenet_pytorch": ("MTCNN", "InceptionResnetV1"),
    "cellpose": ("CellposeModel", "Cellpose"),
    "comfy": ("load_checkpoint_guess_config", "load_diffusion_model", "load_unet"),
    "transformer_lens": ("from_pretrained",),
    "lm_eval": ("simple_evaluate", "cli_evaluate"),
    "mii": ("serve", "pipeline"),
    "esm": ("load_model_and_alphabet", "get_batch_converter", "infer_pdb", "infer_pdbs"),
    "timesfm": ("forecast",),
    "chronos": ("predict_quantiles",),
    "mistralrs": ("Runner",),
})  # fmt: skip
"""By the library's import name: the last words of its calls that run a model."""

BRINGS: Mapping[str, tuple[str, ...]] = MappingProxyType({
    "langchain_huggingface": ("HuggingFacePipeline", "from_model_id"),
    "langchain_community": ("HuggingFacePipeline", "from_model_id", "VLLM"),
    "langchain": ("HuggingFacePipeline", "from_model_id"),
    "llama_index": ("HuggingFaceLLM",),
})  # fmt: skip
"""The same of libraries that most programs ask hosted models with: only these calls load one."""


def library_call(code: PythonCode, calls: Mapping[str, tuple[str, ...]]) -> Call | None:
    """Return the first call of a program by which it does what ``calls`` says, of a library that it imports."""
    words = {word for library in code.imported() & calls.keys() for word in calls[library]}
    return next(iter(code.calls_named(*sorted(words))), None) if words else None
