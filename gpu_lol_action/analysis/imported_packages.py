"""Packages that the workload's code imports and no list names."""

from __future__ import annotations

import functools
from collections.abc import Collection, Iterator, Mapping, Sequence

from gpu_lol_action.analysis.checkout import Checkout, Source
from gpu_lol_action.analysis.entry_points import Run, import_closure
from gpu_lol_action.analysis.import_names import is_known, is_standard, package_of
from gpu_lol_action.analysis.package_files import Declared, package_name
from gpu_lol_action.analysis.paths import Form
from gpu_lol_action.analysis.python_code import Import
from gpu_lol_action.domain.finding import Confidence, Evidence, Finding

# One of these brings the modules of the others: headless and contrib builds, projects that were renamed, thin wrappers.
_FAMILIES = (
    frozenset({"opencv-python", "opencv-python-headless", "opencv-contrib-python", "opencv-contrib-python-headless"}),
    frozenset({"lightning", "pytorch-lightning", "lightning-fabric"}),
    frozenset({"tensorflow", "tensorflow-gpu", "tensorflow-cpu", "tf-nightly", "tf-nightly-gpu", "keras", "tf-keras"}),
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
    frozenset({"levenshtein", "python-levenshtein"}), frozenset({"box2d-py", "box2d"}), frozenset({"coqui-tts", "tts"}),
    frozenset({"pytorch-ignite", "ignite"}), frozenset({"haystack-ai", "farm-haystack"}), frozenset({"pyyaml", "yaml"}),
)  # fmt: skip
# What these packages install with them and people import without naming it.
_BRINGS = {
    "torch": ("numpy", "sympy", "networkx", "typing-extensions", "fsspec", "filelock", "jinja2"),
    "transformers": ("huggingface-hub", "numpy", "safetensors", "tokenizers", "tqdm", "requests", "pyyaml", "regex"),
    "datasets": ("huggingface-hub", "numpy", "pandas", "pyarrow", "tqdm", "requests", "dill", "fsspec", "multiprocess", "xxhash"),
    "diffusers": ("huggingface-hub", "safetensors", "numpy", "pillow", "requests", "regex"),
    "gradio": ("numpy", "pandas", "pydantic", "fastapi", "uvicorn", "httpx", "pillow", "huggingface-hub", "gradio-client"),
    "tensorflow": ("numpy", "absl-py", "h5py", "keras", "tensorboard", "protobuf"), "jax": ("numpy", "scipy", "jaxlib"),
    "hydra-core": ("omegaconf",), "fastapi": ("pydantic", "starlette"), "scikit-learn": ("numpy", "scipy", "joblib"),
    "pandas": ("numpy", "python-dateutil", "pytz"), "torchvision": ("torch", "numpy", "pillow"), "lightning": ("torch", "torchmetrics"),
    "pytorch-lightning": ("torch", "torchmetrics"), "peft": ("transformers", "torch", "accelerate"), "matplotlib": ("numpy", "pillow"),
    "trl": ("transformers", "datasets", "accelerate", "torch"), "accelerate": ("torch", "numpy"), "openai": ("httpx", "pydantic"),
    "stable-baselines3": ("torch", "gymnasium", "numpy"), "timm": ("torch", "torchvision", "safetensors"),
    "vllm": ("torch", "transformers", "fastapi", "pydantic", "openai"), "sentence-transformers": ("transformers", "torch", "scikit-learn"),
    "ultralytics": ("torch", "torchvision", "opencv-python", "numpy", "pyyaml", "matplotlib"), "spacy": ("numpy", "tqdm", "requests"),
    "flax": ("jax", "optax", "msgpack", "orbax-checkpoint"), "langchain": ("langchain-core", "pydantic"), "mlflow": ("numpy", "pandas"),
    "openai-whisper": ("torch", "numpy", "tiktoken"), "nltk": ("regex", "tqdm"), "scikit-image": ("numpy", "scipy", "pillow"),
}  # fmt: skip

_LEAST_COMPLETE = 4
"""Dependencies that a project's own list needs to be taken for complete: many research projects name two and mean twenty."""


def imported_packages(
    checkout: Checkout, run: Run | None, declared: Sequence[Declared], own: Collection[str], *, has_list: bool
) -> list[Finding]:
    """Return findings for imports that no list names, by name.

    ``own`` are names of the checkout itself. An optional dependency that is imported gives its version.
    Without a list the whole workload speaks; with one only what the run reaches. A lazy import counts where the run may
    reach it; one in ``try``, ``if`` or for type checkers never.
    """
    required = {package_name(item.requirement) for item in declared if not item.is_optional} | set(own)
    optional = {package_name(item.requirement): item.requirement for item in declared if item.is_optional}
    present = required | {inner for name in required for inner in _BRINGS.get(name, ())}
    library = [item for item in declared if item.is_library and not item.is_optional]
    is_complete = len(library) >= _LEAST_COMPLETE
    found: dict[str, Finding] = {}
    for source, item in _reached(checkout, run, has_list=has_list, has_complete_list=is_complete):
        package = None if is_local(checkout, source, item.module) else package_of(item.module)
        if package is None:
            continue
        name = package_name(package)
        if name in present or any(name in family and family & present for family in _FAMILIES):
            continue
        where = Evidence(source.path, item.line)
        why = f"`{item.module.split('.')[0]}` is imported and no list names it"
        requirement = optional.get(name, package)
        found.setdefault(name, Finding("dependencies.requirements", requirement, why, Confidence.MEDIUM, where))
    return [found[name] for name in sorted(found)]


def unknown_imports(checkout: Checkout, run: Run | None, declared: Mapping[str, str]) -> list[tuple[str, Evidence]]:
    """Return what the run imports without a guard and nobody knows: no list, no file of the checkout, no table."""
    found: dict[str, Evidence] = {}
    for source, item in _reached(checkout, run, has_list=True):
        top = item.module.split(".")[0]
        if item.is_optional or not top or is_known(item.module) or is_local(checkout, source, item.module):
            continue
        name = package_name(top)
        if name not in declared and not any(name in other.replace("-", "") or name in other for other in declared):
            found.setdefault(top, Evidence(source.path, item.line))
    return sorted(found.items())


def _reached(
    checkout: Checkout, run: Run | None, *, has_list: bool, has_complete_list: bool = False
) -> Iterator[tuple[Source, Import]]:
    """Yield the imports that count, with their file. A library's own list is complete: only its scripts add to it."""
    script = run.script if run is not None else None
    closure = import_closure(checkout, script) if script is not None else ()
    if has_list and has_complete_list:
        closure = closure[:1]
    rest: Sequence[Source] = () if has_list else checkout.of(Form.PYTHON, Form.NOTEBOOK)
    for source in dict.fromkeys([*closure, *rest]):
        for item in source.code.imports if source.code is not None else ():
            # With a list, what is needed only now and then and is not on it was left out on purpose.
            may_be_lazy = source is script or (source in closure and not has_list)
            if not item.module.startswith(".") and (not item.is_optional or (item.is_lazy and may_be_lazy)):
                yield source, item


def is_local(checkout: Checkout, source: Source, module: str) -> bool:
    """Whether an import gives a file of the checkout: beside its file or above it, in ``src``, or by a name nobody else has.

    A folder without ``__init__.py`` hides no installed package (PEP 420), unless the very module lies in it.
    """
    if is_standard(module):
        return False
    words = module.split(".")
    tops, every = _own_names(checkout)
    folders = [source.folder]
    while folders[-1]:
        folders.append(folders[-1].rpartition("/")[0])
    for folder in folders:
        for base in (folder, f"{folder}/src".lstrip("/")):
            prefix = f"{base}/" if base else ""
            if prefix + words[0] in tops or any(prefix + "/".join(words[:end]) in tops for end in range(2, len(words) + 1)):
                return True
    return words[0] in every and package_of(module) is None


@functools.lru_cache(maxsize=4)
def _own_names(checkout: Checkout) -> tuple[frozenset[str], frozenset[str]]:
    """Return paths that can be imported (files, folders with ``__init__.py``) without their ending, and every name in them."""
    paths = [source.path for source in checkout.sources if source.form is Form.PYTHON]
    tops = frozenset(path.removesuffix(".py").removesuffix("/__init__") for path in paths)
    return tops, frozenset(part for path in paths for part in path.removesuffix(".py").split("/"))
