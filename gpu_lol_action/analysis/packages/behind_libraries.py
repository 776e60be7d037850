"""Packages that a library loads by itself for what the run asks of it, and that pip does not bring with it.

Keras computes by the framework that ``KERAS_BACKEND`` names; torchvision reads videos by PyAV; Megatron Core's layers are those of
Transformer Engine unless the command says ``--transformer-impl local``.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from collections.abc import Set as AbstractSet

from gpu_lol_action.analysis.files.checkout import Checkout, Source
from gpu_lol_action.analysis.formats.paths import Form
from gpu_lol_action.analysis.programs.import_graph import import_closure
from gpu_lol_action.analysis.runs.entry_points import Run
from gpu_lol_action.domain.finding import Confidence, Evidence, Finding
from gpu_lol_action.domain.patterns import regex

MAX_PROGRAMS = 40
_KERAS = regex(r"KERAS_BACKEND[\"']\s?\]?\s?[=,]\s?[\"'](jax|torch|tensorflow)[\"']")
_VIDEOS = frozenset({"read_video", "VideoClips", "Kinetics", "UCF101", "HMDB51"})
_VIDEO = regex(
    r"torchvision\.(?:io\.read_video\b|io\.video\.read_video\b|datasets\.(?:\w{1,20}\.)?(?:VideoClips|Kinetics|UCF101|HMDB51)\b)"
)
_IN_MEGATRON = "tensor_model_parallel_size"
_ENGINE = "transformer-engine"


def behind_libraries(
    checkout: Checkout, run: Run | None, known: AbstractSet[str], own: AbstractSet[str]
) -> list[Finding]:
    """Return what the run needs of these besides ``known`` packages and the checkout's ``own``."""
    found: dict[str, Finding] = {}
    for package, why, where in _needed(checkout, run):
        if package not in known and package not in own:
            reason = f"{why} and no list names it"
            found.setdefault(package, Finding("dependencies.requirements", package, reason, Confidence.HIGH, where))
    return list(found.values())


def _needed(checkout: Checkout, run: Run | None) -> Iterator[tuple[str, str, Evidence]]:
    sources = _programs(checkout, run)
    for source in sources:
        yield from _of_keras(source)
        yield from _of_videos(source)
    is_told = run is not None and _IN_MEGATRON in run.options and run.options.get("transformer_impl") != "local"
    if run is not None and is_told and any(map(_takes_core, sources)):
        yield _ENGINE, "Megatron Core's layers are Transformer Engine's", run.evidence


def _programs(checkout: Checkout, run: Run | None) -> Sequence[Source]:
    """Return what the run imports; without one the programs at the root."""
    if run is not None:
        return import_closure(checkout, run.script) if run.script is not None else ()
    return [source for source in checkout.of(Form.PYTHON) if not source.depth][:MAX_PROGRAMS]


def _of_keras(source: Source) -> Iterator[tuple[str, str, Evidence]]:
    said = _KERAS.search(source.text) if source.mentions("KERAS_BACKEND") else None
    if said is not None:
        where = _at(source, said.start())
        yield "keras", "`KERAS_BACKEND` is Keras's", where
        yield said[1], f"`KERAS_BACKEND` is {said[1]}", where


def _of_videos(source: Source) -> Iterator[tuple[str, str, Evidence]]:
    if source.code is None or "torchvision" not in source.code.imported():
        return
    for item in source.code.imports:
        is_theirs = item.module.startswith(("torchvision.io", "torchvision.datasets"))
        if is_theirs and not item.is_optional and (taken := _VIDEOS & set(item.names)):
            yield "av", f"torchvision's `{min(taken)}` reads by PyAV", Evidence(source.path, item.line)
    if (said := _VIDEO.search(source.text)) is not None:
        yield "av", f"`{said[0]}` reads by PyAV", _at(source, said.start())


def _takes_core(source: Source) -> bool:
    imports = source.code.imports if source.code is not None and source.mentions("megatron") else ()
    return any(item.module.startswith("megatron.core") for item in imports)


def _at(source: Source, place: int) -> Evidence:
    line = source.text.count("\n", 0, place) + 1
    return Evidence(source.path, source.code.line_of_file(line) if source.code is not None else line)
