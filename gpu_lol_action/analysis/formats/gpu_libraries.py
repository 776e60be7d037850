"""Libraries whose import, or whose package, means that work is done on a GPU."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping

from gpu_lol_action.domain.patterns import regex

GPU_MODULES = frozenset({
    "torch", "torchvision", "torchaudio", "tensorflow", "keras", "keras_hub", "keras_nlp", "jax", "flax", "transformers", "diffusers", "accelerate",
    "peft", "trl", "bitsandbytes", "deepspeed", "vllm", "sglang", "lightning", "pytorch_lightning", "fastai", "timm",
    "sentence_transformers", "whisper", "faster_whisper", "ultralytics", "mmcv", "mmdet", "mmengine", "detectron2",
    "open_clip", "unsloth", "axolotl", "llamafactory", "llmtuner", "torchtune", "composer", "megatron", "colossalai", "cupy",
    "stable_baselines3", "mamba_ssm", "xformers", "flash_attn", "lit_gpt", "litgpt", "torch_geometric", "dgl",
    "nemo", "fairseq", "espnet", "speechbrain", "paddle", "mxnet", "auto_gptq", "awq", "ctransformers", "exllamav2",
    "optimum", "setfit", "torchrl", "kornia", "monai", "segment_anything", "clip", "mlx_lm", "xtuner", "swift", "mmseg", "mmpose",
    "mmpretrain", "mmcls", "mmrazor", "mmaction", "tensorflow_hub", "tf_keras", "haiku", "optax", "equinox", "tensorflow_probability",
    "torchmetrics", "autokeras", "fairscale", "whisperx", "TTS", "trax", "tianshou", "sb3_contrib", "sample_factory", "llama_cpp", "lmdeploy",
    "gptqmodel", "liger_kernel", "transformer_engine", "apex", "torchao", "audiocraft", "kandinsky2", "sparseml", "pytorch3d",
    "lightning_fabric", "pytorch_metric_learning", "torchvision_models", "compressai", "spconv", "MinkowskiEngine", "nerfstudio",
    "gsplat", "diff_gaussian_rasterization", "denoising_diffusion_pytorch", "tinycudann", "insightface", "megengine", "oneflow", "jittor", "tensorrt_llm", "fairseq2", "funasr", "llmcompressor", "onnxruntime_gpu", "cudf", "cuml", "rmm", "pytorch_transformers", "allennlp", "flair", "simpletransformers", "chainer", "chainermn", "chainerrl",
    "tinygrad", "nnabla", "ignite", "catalyst", "skorch", "horovod", "easyocr", "demucs", "bark", "realesrgan", "gfpgan", "basicsr", "facexlib",
    "facenet_pytorch", "pytorch_tabnet", "pytorch_forecasting", "pykeen", "recbole", "torchrec", "transformer_lens", "nnsight",
    "sae_lens", "lm_eval", "mlc_llm", "comfy", "isaacgym", "isaaclab", "brax", "nnunet", "nnunetv2", "cellpose", "esm", "openfold", "torchdrug",
    "nerfacc", "kaolin", "trlx", "mergekit", "hqq", "aqlm", "causal_conv1d", "fla", "flashinfer", "exllama", "open_clip_train", "pycuda",
    "caffe2", "determined", "labml_nn", "FlagEmbedding", "mii", "mistralrs", "areal", "skyrl", "skyrl_train", "oumi", "physicsnemo", "modelopt", "opacus", "verl", "openrlhf", "nanotron", "nemo_rl", "nemo_aligner",
    "hugectr", "ragatouille", "colbert", "torchtext", "pyannote", "controlnet_aux", "compel", "k_diffusion", "ludwig",
    "onmt", "xturing", "vissl", "mmedit", "mmagic", "mmgen", "mmrotate", "mmdet3d", "mmocr", "mmtrack", "mmyolo", "mmflow", "mmselfsup", "mmfewshot",
    "mmhuman3d", "alpa", "chai_lab", "petals", "boltz", "rfdetr", "sam2", "surya", "imagen_pytorch", "dalle2_pytorch", "videollama2",
    "stable_audio_tools", "diffsynth", "riffusion", "qwen_tts", "qwen_asr", "vibevoice", "chatterbox", "open_flamingo", "musubi_tuner", "asteroid",
    "mmf", "evo2", "lmms_eval", "vlmeval", "opencompass", "lighteval", "levanter", "t5x", "llmfoundry", "open_lm", "hf_olmo", "olmo_core",
    "nemo_automodel", "fengshen", "flagai", "easynlp", "lmflow", "tevatron", "pylate", "colpali_engine", "lerobot", "yolox",
    "torchsparse", "mambavision", "kvpress", "cosmos_predict2", "hy3dgen", "deepfloyd_if", "invokeai", "rudalle", "dalle_mini", "scgpt", "momentfm",
    "infinity_emb", "audioldm2", "audiolm_pytorch", "parler_tts", "fastmri", "segmentation_models_pytorch", "clip_retrieval", "omnilingual_asr",
    "f5_tts", "cosyvoice", "openvoice", "styletts2", "tortoise", "kokoro", "fish_speech", "moshi", "outetts", "groundingdino", "lang_sam",
    "exllamav3", "ktransformers", "airllm", "nanovllm", "lightllm", "aphrodite", "torchtitan", "unsloth_zoo", "prime_rl", "timesfm", "uni2ts",
    "neuralforecast", "protenix", "bionemo", "nougat", "olmocr", "magic_pdf", "InstructorEmbedding", "scvi", "isaacsim", "rsl_rl", "rl_games", "skrl", "mjlab", "espnet2", "mace", "fairchem", "nequip",
})  # fmt: skip
"""Importing one of these means tensors on a GPU. Libraries that merely may use one (xgboost, sklearn) are not here."""

OF_KERNELS = frozenset({"triton", "tilelang", "cuda-python", "nvidia-cutlass-dsl", "warp-lang"})
"""Packages in which kernels for a card are written."""

_OF_RAPIDS = ("cudf", "cuml", "cugraph", "rmm", "dask-cudf", "cuspatial", "cuvs", "pylibraft")
GPU_PACKAGES = frozenset(name.replace("_", "-").lower() for name in GPU_MODULES) | {
    "openai-whisper", "tensorflow-gpu", "pytorch-lightning", "pytorch", "fairscale", "flash-attn", "auto-gptq", "autoawq",
    "jaxlib", "nemo-toolkit", "torch-geometric", "paddlepaddle-gpu", "llama-cpp-python", "open-clip-torch", "cupy-cuda12x",
    "deepspeed-mii", "sentence-transformers", "faster-whisper", "stable-baselines3", "mamba-ssm", "segment-anything", "ms-swift",
    "aphrodite-engine", "whisper-ctranslate2", "insanely-fast-whisper", "colabfold", "fair-esm", "marker-pdf", "surya-ocr", "simpletuner", "coqui-tts", "scvi-tools", "rsl-rl-lib", "mace-torch", "fairchem-core", "cupy-cuda11x", "cupy-cuda13x",
} | {f"{name}-cu{release}" for name in _OF_RAPIDS for release in (11, 12, 13)} | OF_KERNELS  # fmt: skip

# Parts of a library that need another one: Ray's on language models are vLLM's, ModelScope's pipelines run PyTorch's models, as ParlAI's trainer does, ART's
# local backend trains with Unsloth.
BROUGHT: Mapping[str, str] = {
    **dict.fromkeys(("ray.data.llm", "ray.serve.llm", "ray.llm"), "vllm"),
    **dict.fromkeys(
        (
            "modelscope.pipelines",
            "autogluon.multimodal",
            "ray.train.torch",
            "ray.train.lightning",
            "ray.train.huggingface",
            "horovod.torch",
            "parlai.scripts.train_model",
            "parlai.scripts.multiprocessing_train",
            "parlai.core.torch_agent",
            "parlai.core.torch_generator_agent",
            "parlai.core.torch_ranker_agent",
        ),
        "torch",
    ),
    "art.local": "unsloth",
    # Darts and GluonTS also have models that no card helps: these are their networks, which Lightning trains.
    **dict.fromkeys(
        (
            f"darts.models.{name}"
            for name in (
                "RNNModel",
                "BlockRNNModel",
                "NBEATSModel",
                "NHiTSModel",
                "TCNModel",
                "TransformerModel",
                "TFTModel",
                "DLinearModel",
                "NLinearModel",
                "TiDEModel",
                "TSMixerModel",
                "Chronos2Model",
                "TimesFM2p5Model",
            )
        ),
        "pytorch_lightning",
    ),
    **dict.fromkeys(
        (
            f"gluonts.torch{part}"
            for part in (
                "",
                *(
                    f".model.{name}"
                    for name in (
                        "deepar",
                        "deep_npts",
                        "tft",
                        "patch_tst",
                        "simple_feedforward",
                        "d_linear",
                        "lag_tst",
                        "wavenet",
                        "tide",
                        "mqf2",
                    )
                ),
                ".model.estimator",
                ".model.predictor",
            )
        ),
        "pytorch_lightning",
    ),
    **dict.fromkeys(("horovod.tensorflow", "horovod.keras", "ray.train.tensorflow"), "tensorflow"),
}


OF_SERIES = ("darts.models", "gluonts.torch")
"""Libraries for series, whose networks Lightning puts on a card unless it is told otherwise."""
_ACCELERATOR = regex(r"accelerator[\"']?\s{0,4}[:=]\s{0,4}([^\n]{0,12})")
_CORES = ('"cpu"', "'cpu'")
_WORD = regex(r"\w{1,100}")
_RENAMED = regex(r"\b(\w{1,100})[ ]as[ ]")


def brought_by(module: str, names: Iterable[str]) -> str | None:
    """Return the library that an import of a part of another one needs; None where it needs none."""
    return next((BROUGHT[each] for each in (module, *(f"{module}.{name}" for name in names)) if each in BROUGHT), None)


def uses_networks_for_series(imports: Iterable[tuple[str, Iterable[str]]], text: str) -> bool:
    """Whether a program does something with what it takes of these libraries' networks (modules and names), and lets them have a card."""
    told = _ACCELERATOR.findall(text)
    if told and all(each.startswith(_CORES) for each in told):
        return False
    counted, renamed = Counter(_WORD.findall(text)), frozenset(_RENAMED.findall(text))
    taken = [
        name
        for module, names in imports
        for name in (*names, "")
        if (f"{module}.{name}" if name else module) in BROUGHT
    ]
    return any(not name or counted[name] > 1 or name in renamed for name in taken)
