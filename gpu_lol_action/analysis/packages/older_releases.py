"""Packages that no list bounds, of which the newest release has no longer what the run's programs call: one that still has it is asked for.

Names of modules are in a table (``gone_names``); what only an expression tells stands here, each with the release that took it out.
Sources: the projects' own notes on releases.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import TYPE_CHECKING

from gpu_lol_action.analysis.files.checkout import Checkout, Source
from gpu_lol_action.analysis.files.effort import remembered
from gpu_lol_action.analysis.package_lists.package_files import package_name
from gpu_lol_action.analysis.programs.gone_names import gone_names, gone_options, packages_with_gone_names
from gpu_lol_action.analysis.programs.import_graph import imported_unguarded
from gpu_lol_action.analysis.programs.loaded_modules import loaded_modules
from gpu_lol_action.analysis.runs.entry_points import Run
from gpu_lol_action.domain.finding import Evidence, Finding
from gpu_lol_action.domain.patterns import regex
from gpu_lol_action.estimation.read_requirements import read_requirement

if TYPE_CHECKING:
    from packaging.specifiers import Specifier

MAX_MODULES = 60
# What a newer release calls by another name, or does without, and no name of a module tells: the package, a word for a first look,
# how it stands in a program, the first release without it.
_GONE: tuple[tuple[str, str, re.Pattern[str], tuple[int, ...]], ...] = (
    ("openai", "openai.", regex(r"\bopenai\.(?:ChatCompletion|Completion|Embedding|Moderation|Image)\.a?create\b"), (1, 0)),
    ("gradio", "concurrency_count", regex(r"\.queue\([^()]{0,200}\bconcurrency_count\s?="), (4, 0)),
    ("pillow", "textsize", regex(r"\b\w{0,40}[dD]raw\w{0,40}\.textsize\("), (10, 0)),
    ("pillow", "getsize", regex(r"\b\w{0,40}[fF]ont\w{0,40}\.getsize\("), (10, 0)),
    ("pytorch-lightning", "rainer.", regex(r"\bTrainer\.(?:add_argparse_args|from_argparse_args)\b"), (2, 0)),
    ("librosa", "filters.mel", regex(r"\blibrosa\.filters\.mel\(\s{0,20}[\w.]{0,40}(?:sr|sampling_rate|sample_rate)\s?,"), (0, 10)),
    ("transformers", "evaluation_strategy", regex(r"\w*TrainingArguments\((?:[^()]|\([^()]{0,200}\)){0,3000}?\b(evaluation_strategy)\s?="), (4, 46)),
    ("langchain", "langchain.", regex(r"(?m)^from langchain\.(?:llms|chat_models|embeddings|vectorstores|document_loaders)\b"), (0, 2)),
    ("llama-index", "llama_index", regex(r"(?m)^from llama_index import\b"), (0, 10)),
)  # fmt: skip
# An option that no other library's parser has.
_THEIRS = frozenset({"evaluation_strategy"})
_OF_MMCV = regex(r"mmcv\s?[<>]")
# The first release of each that asks for MMCV 2.
_OF_MMCV_1 = {
    "mmdet": "3",
    "mmsegmentation": "1",
    "mmdet3d": "1.1",
    "mmpose": "1",
    "mmocr": "1",
    "mmaction2": "1",
    "mmrotate": "1",
}
# Of that time's, what loads MMCV's operators as it is imported.
_LOADS_OPERATORS = frozenset(
    {"mmdet", "mmdet3d", "mmsegmentation", "mmpose", "mmocr", "mmrotate", "mmtrack", "mmedit", "mmgen"}
)
_SAME = MappingProxyType({"mmcv-full": "mmcv", "lightning": "pytorch-lightning"})
_OF_GONE = frozenset(name for name, *_ in _GONE)

Missed = tuple[str, Evidence, tuple[int, ...]]
"""What was taken out, where it is called, and the first release without it."""


def with_older_releases(checkout: Checkout, run: Run | None, findings: Sequence[Finding]) -> list[Finding]:
    """Return findings of packages with those that a list leaves too open as the last that the run's programs know."""
    known = _OF_GONE | packages_with_gone_names()
    wanted = {finding: name for finding in findings if (name := _name(finding)) in known}
    if not wanted:
        return list(findings)
    found = taken_out(checkout, run)
    bounded = [
        _bounded(each, wanted[each], found[wanted[each]]) if wanted.get(each) in found else each for each in findings
    ]
    names = {package_name(each.value) for each in findings if each.field == "dependencies.requirements"}
    is_called = names & _LOADS_OPERATORS or any("mmcv.ops" in source.text for source in _sources(checkout, run))
    if "mmcv" not in found:
        return bounded
    bounded = [
        replace(each, value=f"{each.value}<{_OF_MMCV_1[each.value]}") if each.value in _OF_MMCV_1 else each
        for each in bounded
    ]
    if not is_called:
        return bounded
    # Before 2 its operators were in a build of another name.
    return [
        replace(each, value=f"mmcv-full{each.value[4:]}") if _OF_MMCV.match(each.value) else each for each in bounded
    ]


def taken_out(checkout: Checkout, run: Run | None) -> Mapping[str, Missed]:
    """Return, by package, what the run's programs call that newer releases lack; of several the one that went first."""
    found: dict[str, Missed] = {}
    for name, missed in (*_of_programs(checkout, run), *_of_command(checkout, run)):
        if name not in found or missed[2] < found[name][2]:
            found[name] = missed
    return found


def _of_programs(checkout: Checkout, run: Run | None) -> Iterator[tuple[str, Missed]]:
    for source in _sources(checkout, run):
        for name, word, line, bound in _taken_out(source):
            yield name, (word, Evidence(source.path, line), bound)


def _of_command(checkout: Checkout, run: Run | None) -> Iterator[tuple[str, Missed]]:
    """Yield the options that transformers' parser knows no longer, and the program has none of its own."""
    options = [option for option in gone_options() if option in run.options] if run is not None else []
    if run is None or not options:
        return
    is_theirs = any(source.mentions("TrainingArguments") for source in _sources(checkout, run))
    for option in options if is_theirs else _THEIRS.intersection(options):
        if not any(source.mentions(f"{option}:") for source in _sources(checkout, run)):
            name, bound = gone_options()[option]
            yield name, (f"--{option}", run.evidence, bound)


@remembered
def _sources_of(checkout: Checkout, script: Source) -> tuple[Source, ...]:
    near = sorted(imported_unguarded(checkout, script), key=lambda source: (source is not script, source.path))
    return tuple(dict.fromkeys((*loaded_modules(checkout, script)[:MAX_MODULES], *near)))[:MAX_MODULES]


def _sources(checkout: Checkout, run: Run | None) -> tuple[Source, ...]:
    return _sources_of(checkout, run.script) if run is not None and run.script is not None else ()


def _name(finding: Finding) -> str:
    """Return the name under which a package's missing names are known, where a list leaves its newest release open; else nothing."""
    if finding.field != "dependencies.requirements":
        return ""
    read = read_requirement(finding.value)
    if read is None or read.url is not None or read.marker is not None:
        return ""
    if any(each.operator not in {">=", ">", "<", "<=", "!="} for each in read.specifier):
        return ""
    name = package_name(read.name)
    return _SAME.get(name, name)


def _bounded(finding: Finding, name: str, gone: Missed) -> Finding:
    """Return a package below the first release without a name; as it is where its list already says which side it is on."""
    word, where, end = gone
    read = read_requirement(finding.value)
    bound = ".".join(map(str, end)).removesuffix(".0")
    if read is None or any(_decides(each, bound) for each in read.specifier):
        return finding
    name_and_extras = regex(r"[\w\[\],. -]*").match(finding.value)
    head = name_and_extras[0].rstrip() if name_and_extras else ""
    parts = [part.strip() for part in finding.value[len(head) :].split(",")]
    value = head + ",".join([*(part for part in parts if part and not part.startswith("<")), f"<{bound}"])
    return replace(
        finding,
        value=value,
        why=f"`{word}` ({where}) is in no {name} from {bound} on, and no list bounds it below that",
    )


def _decides(each: Specifier, bound: str) -> bool:
    """Whether a part of a list's line asks for what a bound takes away, or already bounds as much."""
    from packaging.version import Version

    if each.operator == "!=":
        return False
    version, end = Version(each.version), Version(bound)
    return {"<": version <= end, "<=": version < end}.get(each.operator, version >= end)


@remembered
def _taken_out(source: Source) -> tuple[tuple[str, str, int, tuple[int, ...]], ...]:
    return tuple(_in_program(source)) if source.code is not None else ()


def _in_program(source: Source) -> Iterator[tuple[str, str, int, tuple[int, ...]]]:
    """Yield the packages of which a program calls what was taken out: the row, the word, its line, and the release."""
    for missing in gone_names(source):
        yield missing.package, missing.name, missing.line, missing.until
    for name, mark, gone, bound in _GONE:
        found = gone.search(source.text) if source.mentions(mark) else None
        if found is not None and not _is_remark(source.text, found.start()):
            line = source.text.count("\n", 0, found.start()) + 1
            said = found[1] if gone.groups else found[0]
            word = said.strip().split("(")[0].removeprefix("from ").removeprefix("import ").split(" import ")[0]
            yield name, word, source.code.line_of_file(line) if source.code is not None else line, bound


def _is_remark(text: str, place: int) -> bool:
    return "#" in text[text.rfind("\n", 0, place) + 1 : place]
