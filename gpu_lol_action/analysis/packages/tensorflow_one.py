"""Programs of TensorFlow 1 whose lists do not say so: what they call was taken out of 2, and they end at their first line there.

`tf.contrib` is gone altogether; sessions, placeholders and variable scopes live on under `tensorflow.compat.v1`, which a program
that means to run on both imports.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from gpu_lol_action.analysis.files.checkout import Checkout, Source
from gpu_lol_action.analysis.files.effort import remembered
from gpu_lol_action.analysis.runs.entry_points import Run, import_closure
from gpu_lol_action.domain.finding import Evidence, Finding
from gpu_lol_action.domain.patterns import regex

REQUIREMENT = "tensorflow>=1.15,<2"
MAX_MODULES = 30
_AS_TF = regex(r"(?m)^import tensorflow as tf[ \t]*(?:#|$)")
_GRAPHS = regex(
    r"\btf\.(?:placeholder|Session|InteractiveSession|get_variable|variable_scope|global_variables_initializer|app\.run|app\.flags|ConfigProto"
    r"|train\.(?:Adam|GradientDescent|RMSProp|Momentum|Adagrad)Optimizer|set_random_seed|layers\.\w{1,30})\b"
)
_CONTRIB = regex(r"\btf\.contrib\.\w")
_OF_BOTH = regex(
    r"compat\.v1|compat import v1|disable_v2_behavior|disable_eager_execution|@tf\.function|list_physical_devices|\btf\.__version__|\bTF_VERSION\b"
)
_LEAST = 2  # different words of graphs: one may stand in an old corner of a program for 2


def with_tensorflow_one(checkout: Checkout, run: Run | None, findings: Sequence[Finding]) -> list[Finding]:
    """Return findings of packages with a `tensorflow` that no list pins as that of the first generation, where the run is written for it."""
    if not any(_is_open(finding) for finding in findings):
        return list(findings)
    place = _first_place(checkout, run)
    if place is None:
        return list(findings)
    word, where = place
    why = f"`{word}` ({where}) is of TensorFlow 1, and no list pins a version"
    return [replace(each, value=REQUIREMENT, why=why) if _is_open(each) else each for each in findings]


def _is_open(finding: Finding) -> bool:
    return finding.field == "dependencies.requirements" and finding.value in {"tensorflow", "tensorflow-gpu"}


def _first_place(checkout: Checkout, run: Run | None) -> tuple[str, Evidence] | None:
    """Return the first word of the run's programs that TensorFlow 2 does not know, and where it stands."""
    if run is None or run.script is None:
        return None
    sources = [s for s in import_closure(checkout, run.script)[:MAX_MODULES] if "tensorflow" in s.text]
    for source in sources:
        if (contrib := _contrib(source)) is not None:
            return contrib
    return None if any(_OF_BOTH.search(s.text) for s in sources) else _graphs(sources)


@remembered
def _contrib(source: Source) -> tuple[str, Evidence] | None:
    """Return where a program uses what was contributed to TensorFlow 1, whatever happens."""
    for item in source.code.imports if source.code is not None else ():
        if item.module.startswith("tensorflow.contrib") and not item.is_optional:
            return item.module, Evidence(source.path, item.line)
    found = _CONTRIB.search(source.text) if _AS_TF.search(source.text) and not _OF_BOTH.search(source.text) else None
    return ("tf.contrib", _place(source, found.start())) if found is not None else None


def _graphs(sources: Iterable[Source]) -> tuple[str, Evidence] | None:
    words: dict[str, Evidence] = {}
    for source in sources:
        if _AS_TF.search(source.text):
            for found in _GRAPHS.finditer(source.text):
                words.setdefault(found[0], _place(source, found.start()))
                if len(words) >= _LEAST:
                    return next(iter(words.items()))
    return None


def _place(source: Source, begin: int) -> Evidence:
    return Evidence(source.path, source.text.count("\n", 0, begin) + 1)
