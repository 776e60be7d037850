"""Programs of TensorFlow 2 as it was before Keras 3: what they call was taken out, and lists that only name TensorFlow bring the newest.

With 2.16 estimators ended, and Keras 3 took the place of the Keras that TensorFlow Addons, TF-Slim and experimental layers build on;
2.13 moved the modules of Keras that programs imported by their files.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from gpu_lol_action.analysis.files.checkout import Checkout, Source
from gpu_lol_action.analysis.files.effort import remembered
from gpu_lol_action.analysis.package_lists.package_files import package_name
from gpu_lol_action.analysis.runs.entry_points import Run, import_closure
from gpu_lol_action.domain.finding import Evidence, Finding
from gpu_lol_action.domain.patterns import regex
from gpu_lol_action.estimation.package_pairs import allows, specifier_of

BEFORE_KERAS_3, BEFORE_ITS_MOVE = "<2.16", "<2.13"
MAX_MODULES = 40
_OPEN = regex(r"(tensorflow)((?:\s{0,3}>=?\s{0,3}[\d.]{1,12})?)")
_GONE = regex(
    r"\btf\.(?:compat\.v1\.)?estimator\.[A-Za-z]\w{1,40}|\btf\.keras\.layers\.experimental\.\w{1,30}|\bmixed_precision\.experimental\b|"
    r"\bkeras\.experimental\.\w{1,30}"
)
_MODULES = (
    "tensorflow_addons",
    "tf_slim",
    "tensorflow.estimator",
    "tensorflow.keras.layers.experimental",
    "tensorflow_estimator",
)
_MOVED = ("keras.engine", "keras.utils.np_utils", "keras.utils.generic_utils", "keras.layers.core", "keras.layers.convolutional",
          "keras.layers.embeddings", "keras.layers.pooling", "keras.layers.wrappers", "keras.layers.noise")  # fmt: skip
# Where the old Keras is asked for by its own name, or the program takes what is there.
_OF_BOTH = regex(r"TF_USE_LEGACY_KERAS|\btf_keras\b")


def with_older_keras(checkout: Checkout, run: Run | None, findings: Sequence[Finding]) -> list[Finding]:
    """Return findings of packages with a `tensorflow` that nothing bounds from above as the last that the run's programs know."""
    wanted = [finding for finding in findings if finding.field == "dependencies.requirements"]
    if not any(_OPEN.fullmatch(finding.value) for finding in wanted):
        return list(findings)
    found = _bound([finding.value for finding in wanted]) or _first(checkout, run)
    if not found:
        return list(findings)
    return [_bounded(each, *found) if each in wanted else each for each in findings]


def _bounded(finding: Finding, bound: str, said: str) -> Finding:
    open_ = _OPEN.fullmatch(finding.value)
    least = open_[2].strip(" >=") if open_ is not None else ""
    if open_ is None or (least and not allows(f">=2,{bound}", least)):
        return finding  # "1.11 or newer" was written for TensorFlow 1
    value = f"{open_[1]}{open_[2].strip()}{',' if open_[2] else ''}{bound}"
    return replace(finding, value=value, why=f"{said}, and no list bounds `tensorflow`")


def _bound(requirements: Sequence[str]) -> tuple[str, str] | None:
    """Return the bound that a list's own older packages set, and why: a Keras before 3, or what ended with it."""
    keras = specifier_of(requirements, "keras")
    if keras and not allows(keras, "3.0.5") and not allows(keras, "3.10.0"):
        return BEFORE_KERAS_3, f"`keras{keras}` is of TensorFlow before 2.16"
    if "tensorflow-addons" in {package_name(text) for text in requirements}:
        return BEFORE_KERAS_3, "TensorFlow Addons ended with TensorFlow 2.15"
    return None


def _first(checkout: Checkout, run: Run | None) -> tuple[str, str] | None:
    """Return the bound that the run's programs set by what they call, the lower one where there are two."""
    if run is None or run.script is None:
        return None
    sources = [
        s for s in import_closure(checkout, run.script)[:MAX_MODULES] if "tensorflow" in s.text or "keras" in s.text
    ]
    if any(_OF_BOTH.search(source.text) for source in sources):
        return None
    found = [said for source in sources if (said := _said(source)) is not None]
    return min(found, default=None, key=lambda said: said[0] != BEFORE_ITS_MOVE)


@remembered
def _said(source: Source) -> tuple[str, str] | None:
    for item in source.code.imports if source.code is not None else ():
        if item.is_optional:
            continue
        if any(item.module == name or item.module.startswith(f"{name}.") for name in _MOVED):
            return (
                BEFORE_ITS_MOVE,
                f"`{item.module}` ({Evidence(source.path, item.line)}) is no module of Keras since 2.13",
            )
        if any(item.module == name or item.module.startswith(f"{name}.") for name in _MODULES):
            return BEFORE_KERAS_3, f"`{item.module}` ({Evidence(source.path, item.line)}) needs TensorFlow before 2.16"
    gone = _GONE.search(source.text)
    if gone is None:
        return None
    where = Evidence(source.path, source.text.count("\n", 0, gone.start()) + 1)
    return BEFORE_KERAS_3, f"`{gone[0]}` ({where}) was taken out of TensorFlow with 2.16"
