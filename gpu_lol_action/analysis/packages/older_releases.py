"""Packages that no list bounds, of which the newest release has no longer what the run's programs call: one that still has it is asked for.

Each row is a name that its project took out, with the release that did so. Sources: the projects' own notes on releases.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType

from gpu_lol_action.analysis.files.checkout import Checkout, Source
from gpu_lol_action.analysis.files.effort import remembered
from gpu_lol_action.analysis.package_lists.package_files import package_name
from gpu_lol_action.analysis.programs.import_graph import imported_unguarded
from gpu_lol_action.analysis.programs.loaded_modules import loaded_modules
from gpu_lol_action.analysis.runs.entry_points import Run
from gpu_lol_action.domain.finding import Evidence, Finding
from gpu_lol_action.domain.patterns import regex

MAX_MODULES = 60
_OPEN = regex(
    r"([A-Za-z0-9][\w.-]{0,60}(?:\[[\w,-]{1,60}\])?)\s{0,3}(?:(>=|>|~=)\s{0,3}(\d{1,4})(?:\.(\d{1,4}))?[\w.]{0,20})?"
)
# NumPy's `np.bool` is back since 2.0. Each: the package, a word for a first look, what was taken out, the first release without it.
_GONE: tuple[tuple[str, str, re.Pattern[str], tuple[int, int]], ...] = (
    ("numpy", "np.", regex(r"np\.(?<!\wnp\.)(?:float|int|object|complex)\b(?!_)(?=[\s),\]:;.])(?!\.\w)"), (1, 24)),
    ("numpy", "np.", regex(r"np\.(?<!\wnp\.)(?:Inf|Infinity|NaN|NINF|PINF|infty|float_|complex_|unicode_|string_|product|cumproduct|sometrue|alltrue|asfarray|find_common_type)\b"), (2, 0)),
    ("openai", "openai.", regex(r"\bopenai\.(?:ChatCompletion|Completion|Embedding|Moderation|Image)\.a?create\b"), (1, 0)),
    ("pillow", "ANTIALIAS", regex(r"\bImage\.ANTIALIAS\b"), (10, 0)),
    ("moviepy", "moviepy.editor", regex(r"(?m)^(?:from|import) moviepy\.editor\b"), (2, 0)),
    ("gradio", "puts.", regex(r"\b(?:gr|gradio)\.(?:inputs|outputs)\.[A-Z]\w"), (4, 0)),
    ("gradio", "concurrency_count", regex(r"\.queue\([^()]{0,200}\bconcurrency_count\s?="), (4, 0)),
    (
        "pytorch-lightning",
        "rainer",
        regex(r"\bTrainer\.(?:add_argparse_args|from_argparse_args)\b|\b(?:pl|pytorch_lightning)\.Trainer\([^()]{0,400}?\bgpus\s?="),
        (2, 0),
    ),
    ("networkx", "numpy_matrix", regex(r"\b(?:nx|networkx)\.(?:from|to)_numpy_matrix\b"), (3, 0)),
    ("datasets", "load_metric", regex(r"(?m)^from datasets import [^\n]{0,200}\bload_metric\b|\bdatasets\.load_metric\("), (3, 0)),
    ("librosa", "filters.mel", regex(r"\blibrosa\.filters\.mel\(\s{0,20}[\w.]{0,40}(?:sr|sampling_rate|sample_rate)\s?,"), (0, 10)),
    ("mmcv", "mmcv.", regex(r"(?m)^(?:from|import) mmcv\.(?:runner|parallel)\b"), (2, 0)),
    ("huggingface-hub", "cached_download", regex(r"(?m)^from huggingface_hub import [^\n]{0,200}\bcached_download\b"), (0, 26)),
    ("huggingface-hub", "HfFolder", regex(r"(?m)^from huggingface_hub import [^\n]{0,200}\b(HfFolder)\b"), (1, 0)),
    ("transformers", "AdamW", regex(r"(?m)^from transformers import (?:[^\n(]{0,300}|\([^()]{0,900})\b(AdamW)\b"), (4, 50)),
    ("transformers", "evaluation_strategy", regex(r"\w*TrainingArguments\((?:[^()]|\([^()]{0,200}\)){0,3000}?\b(evaluation_strategy)\s?="), (4, 46)),
    ("peft", "int8_training", regex(r"(?m)^from peft import (?:[^\n(]{0,300}|\([^()]{0,900})\b(prepare_model_for_int8_training)\b"), (0, 10)),
    ("langchain", "langchain.", regex(r"(?m)^from langchain\.(?:llms|chat_models|embeddings|vectorstores|document_loaders)\b"), (0, 2)),
    ("llama-index", "llama_index", regex(r"(?m)^from llama_index import\b"), (0, 10)),
    ("torch", "torch._six", regex(r"(?m)^(?:from|import) torch\._six\b"), (2, 0)),
)  # fmt: skip
_OPTIONS = {"evaluation_strategy": ("transformers", (4, 46))}
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
_ROWS = frozenset(name for name, *_ in _GONE)


Gone = tuple[str, Evidence, tuple[int, int]]
"""What was taken out, where it is called, and the first release without it."""


def with_older_releases(checkout: Checkout, run: Run | None, findings: Sequence[Finding]) -> list[Finding]:
    """Return findings of packages with those that nothing bounds from above as the last that the run's programs know."""
    wanted = {finding: name for finding in findings if (name := _name(finding)) in _ROWS}
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


def taken_out(checkout: Checkout, run: Run | None) -> Mapping[str, Gone]:
    """Return, by package, what the run's programs call that newer releases lack; of several the one that went first."""
    found: dict[str, Gone] = {}
    for source in _sources(checkout, run):
        for name, word, line, bound in _taken_out(source):
            if name not in found or bound < found[name][2]:
                found[name] = (word, Evidence(source.path, line), bound)
    for option, (name, bound) in _OPTIONS.items():
        if run is not None and option in run.options and name not in found:
            found[name] = (f"--{option}", run.evidence, bound)
    return found


@remembered
def _sources_of(checkout: Checkout, script: Source) -> tuple[Source, ...]:
    near = sorted(imported_unguarded(checkout, script), key=lambda source: (source is not script, source.path))
    return tuple(dict.fromkeys((*loaded_modules(checkout, script)[:MAX_MODULES], *near)))[:MAX_MODULES]


def _sources(checkout: Checkout, run: Run | None) -> tuple[Source, ...]:
    return _sources_of(checkout, run.script) if run is not None and run.script is not None else ()


def _name(finding: Finding) -> str:
    """Return the row of a package that is asked for in any release, or from one on; empty for others."""
    read = _OPEN.fullmatch(finding.value) if finding.field == "dependencies.requirements" else None
    name = package_name(read[1]) if read is not None and read[2] != "~=" else ""
    return _SAME.get(name, name)


def _bounded(finding: Finding, name: str, gone: Gone) -> Finding:
    word, where, end = gone
    read = _OPEN.fullmatch(finding.value)
    if read is None or (read[3] and (int(read[3]), int(read[4] or 0)) >= end):
        return finding
    bound = ".".join(map(str, end)).removesuffix(".0")
    value = f"{finding.value}{',' if read[2] else ''}<{bound}"
    return replace(
        finding, value=value, why=f"`{word}` ({where}) is in no {name} from {bound} on, and no list bounds it"
    )


@remembered
def _taken_out(source: Source) -> tuple[tuple[str, str, int, tuple[int, int]], ...]:
    return tuple(_in_program(source)) if source.code is not None else ()


def _in_program(source: Source) -> Iterator[tuple[str, str, int, tuple[int, int]]]:
    """Yield the packages of which a program calls what was taken out: the row, the word, its line, and the release."""
    for name, mark, gone, bound in _GONE:
        found = gone.search(source.text) if source.mentions(mark) else None
        if found is not None and not _is_remark(source.text, found.start()):
            line = source.text.count("\n", 0, found.start()) + 1
            said = found[1] if gone.groups else found[0]
            word = said.strip().split("(")[0].removeprefix("from ").removeprefix("import ").split(" import ")[0]
            yield name, word, source.code.line_of_file(line) if source.code is not None else line, bound


def _is_remark(text: str, place: int) -> bool:
    return "#" in text[text.rfind("\n", 0, place) + 1 : place]
