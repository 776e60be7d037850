"""Which package a module comes from, where the names differ."""

from __future__ import annotations

import sys

PACKAGE_OF_MODULE = {
    "cv2": "opencv-python-headless", "PIL": "pillow", "yaml": "pyyaml", "sklearn": "scikit-learn", "skimage": "scikit-image",
    "bs4": "beautifulsoup4", "dotenv": "python-dotenv", "attr": "attrs", "git": "gitpython", "dateutil": "python-dateutil",
    "whisper": "openai-whisper", "open_clip": "open-clip-torch", "clip": "git+https://github.com/openai/CLIP.git",
    "pytorch_lightning": "pytorch-lightning", "faiss": "faiss-cpu", "Crypto": "pycryptodome", "serial": "pyserial",
    "umap": "umap-learn", "hydra": "hydra-core", "google.protobuf": "protobuf", "flash_attn": "flash-attn",
    "mpl_toolkits": "matplotlib", "tensorboardX": "tensorboardX", "segment_anything": "segment-anything",
    "sentence_transformers": "sentence-transformers", "stable_baselines3": "stable-baselines3", "faster_whisper": "faster-whisper",
    "huggingface_hub": "huggingface-hub", "torch_geometric": "torch-geometric", "mamba_ssm": "mamba-ssm", "lpips": "lpips",
    "auto_gptq": "auto-gptq", "awq": "autoawq", "gym": "gym", "jose": "python-jose", "OpenSSL": "pyopenssl", "slugify": "python-slugify",
    "pkg_resources": "setuptools", "llama_cpp": "llama-cpp-python", "trl": "trl", "ale_py": "ale-py", "decord": "decord",
}  # fmt: skip

# Part of another distribution, of the tool that runs the code, or a name that only a build makes.
IGNORED_MODULES = frozenset({"google", "mpl_toolkits", "pkg_resources", "setuptools", "distutils", "_typeshed", "IPython",
                             "triton", "six", "__future__", "common", "utils", "src", "lib"})  # fmt: skip


def package_of(module: str) -> str | None:
    """Return the package that holds a top-level module; None for the standard library and what is never installed."""
    top = module.split(".", maxsplit=1)[0]
    if not top or top in sys.stdlib_module_names or top in IGNORED_MODULES or top.startswith("_"):
        return None
    return PACKAGE_OF_MODULE.get(top, top.replace("_", "-").lower() if "_" in top else top)
