"""Projects of which one brings the modules of the others."""

from __future__ import annotations

from collections.abc import Set as AbstractSet

# One of these brings the modules of the others: headless and contrib builds, projects that were renamed, thin wrappers.
_FAMILIES = (
    frozenset({"opencv-python", "opencv-python-headless", "opencv-contrib-python", "opencv-contrib-python-headless"}),
    frozenset({"lightning", "pytorch-lightning", "lightning-fabric"}),
    frozenset({"tensorflow", "tensorflow-gpu", "tensorflow-cpu", "tf-nightly", "tf-nightly-gpu", "keras", "tf-keras"}),
    frozenset({"tensorboard", "tb-nightly"}), frozenset({"soundfile", "pysoundfile"}),
    frozenset({"faiss-cpu", "faiss-gpu", "faiss-gpu-cu12", "faiss-gpu-cu11", "faiss"}),
    frozenset({"gym", "gymnasium"}), frozenset({"openai-whisper", "whisper"}), frozenset({"clip", "openai-clip", "clip-anytorch"}),
    frozenset({"onnxruntime", "onnxruntime-gpu"}), frozenset({"paddlepaddle", "paddlepaddle-gpu"}),
    frozenset({"psycopg2", "psycopg2-binary"}), frozenset({"mmcv", "mmcv-full", "mmcv-lite"}), frozenset({"pil", "pillow", "pillow-simd"}),
    frozenset({"mosaicml", "composer"}), frozenset({"cupy", "cupy-cuda11x", "cupy-cuda12x", "cupy-cuda13x"}),
    frozenset({"nvidia-ml-py", "pynvml", "nvidia-ml-py3"}), frozenset({"sklearn", "scikit-learn"}), frozenset({"jax", "jaxlib"}),
    frozenset({"segment-anything", "segment-anything-py"}), frozenset({"taming-transformers", "taming-transformers-rom1504"}),
    frozenset({"dm-tree", "optree"}), frozenset({"beautifulsoup4", "bs4"}), frozenset({"pycocotools", "pycocotools-windows"}),
    frozenset({"spconv", "spconv-cu120", "spconv-cu118", "spconv-cu117", "spconv-cu114", "spconv-cu113"}),
    frozenset({"sentence-transformers", "sentence-transformers[train]"}), frozenset({"pymupdf", "fitz"}),
    *(frozenset({name, f"{name}-cu11", f"{name}-cu12", f"{name}-cu13"}) for name in ("cudf", "cuml", "cugraph", "rmm", "dask-cudf")),
    frozenset({"levenshtein", "python-levenshtein"}), frozenset({"box2d-py", "box2d"}), frozenset({"coqui-tts", "tts"}),
    frozenset({"pytorch-ignite", "ignite"}), frozenset({"monai", "monai-weekly"}), frozenset({"rdkit", "rdkit-pypi"}),
    frozenset({"dgl", *(f"dgl-cu{cuda}" for cuda in ("100", "101", "102", "110", "111", "113", "116", "117"))}), frozenset({"haystack-ai", "farm-haystack"}), frozenset({"pyyaml", "yaml"}),
    frozenset({"pydantic-ai", "pydantic-ai-slim"}), frozenset({"griffe", "griffelib"}), frozenset({"orbit-ml", "tf-models-official"}), frozenset({"scikit-plot", "mljar-scikit-plot"}),
)  # fmt: skip


def comes_with(name: str, known: AbstractSet[str]) -> bool:
    """Whether one of these packages brings what a package brings."""
    return any(name in family and family & known for family in _FAMILIES)
