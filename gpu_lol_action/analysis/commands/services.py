"""Programs that define a service around a model: what the framework's own server starts, and no main guard shows.

Each framework has a word that only a served model has: a decorator, a base class, functions of given names, or the call that
hands the program to the server. Such a program answers requests: it runs a model and does not train it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from gpu_lol_action.analysis.commands.hosting_files import wish_for
from gpu_lol_action.analysis.files.checkout import Checkout, Source
from gpu_lol_action.analysis.files.effort import remembered
from gpu_lol_action.analysis.formats.gpu_libraries import GPU_MODULES
from gpu_lol_action.analysis.formats.paths import Form
from gpu_lol_action.analysis.programs.import_graph import import_closure
from gpu_lol_action.domain.finding import Evidence
from gpu_lol_action.domain.patterns import regex

MAX_TEXT = 200_000
_TRUSS = "Truss"
# By framework: the module that is imported ("" where the framework imports the program, and not the other way round); words of
# which one stands in every definition, for looking at each line of a large tree takes long and looking for words does not; and
# what all stands in the definition of a service, as each framework's documentation shows it.
_DEFINITIONS: tuple[tuple[str, str, tuple[str, ...], tuple[str, ...]], ...] = (
    ("BentoML", "bentoml", ("service", "runnable", "Service", "Runner"),
     (r"^@(?:bentoml\.)?(?:service|runnable)\b|\bbentoml\.(?:Service|Runner)\(",)),
    ("LitServe", "litserve", ("LitServer", "LitAPI"), (r"\bLitServer\(|^class \w+\([^)\n]*\bLitAPI\b",)),
    ("Ray Serve", "ray", ("serve.deployment", "serve.run(", "build_openai_app("),
     (r"^@(?:serve|ray\.serve)\.deployment\b|\bserve\.run\(|\bbuild_openai_app\(",)),
    ("Triton", "triton_python_backend_utils", ("TritonPythonModel",), (r"^class TritonPythonModel\b",)),
    ("PyTriton", "pytriton", ("Triton(",), (r"\bTriton\(",)),
    ("Cog", "cog", ("BasePredictor", "BaseRunner"), (r"^class \w+\([^)\n]*\bBase(?:Predictor|Runner)\b",)),
    ("RunPod", "runpod", ("runpod.serverless.start(",), (r"\brunpod\.serverless\.start\(",)),
    ("KServe", "kserve", ("Model",), (r"^class \w+\([^)\n]*\bModel\b|\bModelServer\(",)),
    ("TorchServe", "ts", ("Handler",), (r"^class \w+\([^)\n]*Handler\b",)),
    ("MLServer", "mlserver", ("MLModel",), (r"^class \w+\([^)\n]*\bMLModel\b",)),
    ("Mosec", "mosec", ("Worker",), (r"^class \w+\([^)\n]*Worker\b",)),
    ("Jina", "jina", ("Executor",), (r"^class \w+\([^)\n]*\bExecutor\b",)),
    ("Potassium", "potassium", ("Potassium(",), (r"\bPotassium\(",)),
    ("Beam", "beam", ("endpoint", "asgi", "task_queue", "realtime"), (r"^@(?:beam\.)?(?:endpoint|asgi|task_queue|realtime)\b",)),
    ("Modal", "modal", ("fastapi_endpoint", "web_endpoint", "asgi_app", "web_server", "wsgi_app"),
     (r"^\s*@(?:modal\.)?(?:fastapi_endpoint|web_endpoint|asgi_app|web_server|wsgi_app)\b",)),
    ("Inference Endpoints", "", ("class EndpointHandler",), (r"^class EndpointHandler\b",)),
    ("SageMaker", "", ("def model_fn(",), (r"^def model_fn\(", r"^def (?:predict_fn|transform_fn)\(")),
    (_TRUSS, "", ("class Model",), (r"^class Model\b", r"^[ \t]+def load\(", r"^[ \t]+(?:async )?def predict\(")),
)  # fmt: skip
_COMPILED = tuple(
    (name, module, words, tuple(regex(pattern, re.MULTILINE) for pattern in patterns))
    for name, module, words, patterns in _DEFINITIONS
)
_WITHOUT_GPU = regex(r"^resources:(?:\n[ \t]+\S.*|\n)*?\n[ \t]+(use_gpu: *false)\b", re.MULTILINE | re.IGNORECASE)
_ACCELERATOR = regex(r"^[ \t]+accelerator: *[\"']?[A-Za-z]\w*(?<!null)[\"']?[ \t]*$", re.MULTILINE)
# What says that the service wants a GPU where the program itself imports nothing that uses one.
_ON_GPU = regex(r"\bvllm\b|\bsglang\b|\bcuda\b|[\"']?\b(?:num_)?gpus?(?:_type|_count)?[\"']?\s*[=:]", re.IGNORECASE)


@remembered
def service_of(checkout: Checkout, source: Source) -> str | None:
    """Return the framework whose GPU service a program defines; None for every other program."""
    if source.form is not Form.PYTHON or source.code is None:
        return None
    for name in _defined(source):
        if name == _TRUSS and not _lies_in_a_truss(checkout, source):
            continue
        is_asked_for = (
            _ON_GPU.search(source.text[:MAX_TEXT]) is not None or wish_for(checkout, source.folder) is not None
        )
        if is_asked_for or any(s.code and s.code.imported() & GPU_MODULES for s in import_closure(checkout, source)):
            return name
    return None


@remembered
def _defined(source: Source) -> tuple[str, ...]:
    """Return the frameworks whose service a program's own text defines."""
    code = source.code
    likely = [
        (name, module, patterns)
        for name, module, words, patterns in _COMPILED
        if (not module or (code is not None and code.may_import(module))) and any(map(source.mentions, words))
    ]
    text = source.text[:MAX_TEXT] if likely else ""
    return tuple(
        name
        for name, module, patterns in likely
        if _all_stand(patterns, text) and (not module or (code is not None and module in code.imported()))
    )


def _all_stand(patterns: Iterable[re.Pattern[str]], text: str) -> bool:
    return all(pattern.search(text) for pattern in patterns)


def refused_gpu(checkout: Checkout, source: Source) -> Evidence | None:
    """Return the line with which a Truss asks for a machine without a GPU; None for every other program."""
    config = _truss_of(checkout, source)
    found = _WITHOUT_GPU.search(config.text[:MAX_TEXT]) if config is not None else None
    if config is None or found is None or _TRUSS not in _defined(source) or _ACCELERATOR.search(config.text[:MAX_TEXT]):
        return None
    return Evidence(config.path, config.text.count("\n", 0, found.start(1)) + 1)


def _lies_in_a_truss(checkout: Checkout, source: Source) -> bool:
    return _truss_of(checkout, source) is not None


def _truss_of(checkout: Checkout, source: Source) -> Source | None:
    """Return the model's configuration where Truss looks for it: beside the folder of the program."""
    above = source.folder.rpartition("/")[0]
    return checkout.find(f"{above}/config.yaml" if above else "config.yaml") if source.folder else None
