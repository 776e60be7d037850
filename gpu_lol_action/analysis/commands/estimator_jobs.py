"""Training jobs that a notebook or program hands to Amazon SageMaker, as the command that runs on the machine.

``HuggingFace(entry_point="train.py", source_dir="scripts", instance_type="ml.g5.2xlarge", hyperparameters={"epochs": 3})`` starts
``train.py`` there with the hyperparameters as its options: what it is given says more than what its parser starts with. The
machine's cards stand in the same lines and are read where all orders of machines are (``declared_hardware``).
Source: the documentation of SageMaker's Python SDK, "Use Script Mode to train".
"""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping

from gpu_lol_action.analysis.files.checkout import Source
from gpu_lol_action.analysis.python.code import Call, PythonCode
from gpu_lol_action.analysis.python.tree import HYPERPARAMETERS
from gpu_lol_action.analysis.python.values import Value
from gpu_lol_action.domain.patterns import regex

_ESTIMATORS = ("HuggingFace", "PyTorch", "TensorFlow", "Estimator")
_INSTANCE = regex(r"ml\.(p[345]\w{0,3}|g[456]\w{0,2})\.(\d{0,2})xlarge")
_BY_SIZE = {"p": {8: 4, 16: 8}, "g": {12: 4, 24: 4, 48: 8}}
MAX_JOBS = 10
MAX_OPTIONS = 60


def estimator_lines(source: Source) -> Iterator[tuple[int, str]]:
    """Yield the commands of a source's training jobs, each with the line on which the job is made; at most ten."""
    code = source.code
    if code is None or not source.mentions("sagemaker") or not source.mentions("entry_point"):
        return
    for call in [call for call in code.calls if call.last in _ESTIMATORS][:MAX_JOBS]:
        if (text := _command(code, call)) is not None:
            yield call.line, text


def _command(code: PythonCode, call: Call) -> str | None:
    program = code.resolve(call.keyword("entry_point"), call.owner)
    if program is None or not program.endswith(".py"):
        return None
    folder = (code.resolve(call.keyword("source_dir"), call.owner) or "").strip("/").removeprefix("./")
    path = program.removeprefix("./") if not folder or folder == "." or ":" in folder else f"{folder}/{program}"
    cards = _cards(code.resolve(call.keyword("instance_type"), call.owner) or "")
    # A job that says how it is distributed takes a process per card; any other program takes what it finds.
    is_divided = cards > 1 and call.keyword("distribution") is not None
    alone = ["CUDA_VISIBLE_DEVICES=0"] if cards == 1 else []
    words = ["torchrun", f"--nproc_per_node={cards}", path] if is_divided else [*alone, "python", path]
    for name, value in list(_given(code, call.keyword("hyperparameters")).items())[:MAX_OPTIONS]:
        text = code.resolve(value, call.owner)
        if text is not None:
            words += [f"--{name}", text]
    return " ".join(map(shlex.quote, words))


def _cards(instance: str) -> int:
    """Return how many GPUs an instance has (AWS's documentation of accelerated computing instances); 0 where it has none or is not known."""
    found = _INSTANCE.fullmatch(instance.strip())
    if found is None:
        return 0
    family, size = found[1], int(found[2] or 1)
    if family.startswith(("p4", "p5", "p3dn")):
        return 8
    return _BY_SIZE["p" if family == "p3" else "g"].get(size, 1)


def _given(code: PythonCode, value: Value | None) -> Mapping[str, Value]:
    """Return the hyperparameters of a job by name, where they are a dictionary that the source writes down."""
    name = value.table or value.reference if value is not None else None
    return code.names().tables.get(name or HYPERPARAMETERS, {})
