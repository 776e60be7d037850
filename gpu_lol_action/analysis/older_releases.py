"""Packages that no list bounds, of which the newest release has no longer what the run's programs call: one that still has it is asked for.

Each row is a name that its project took out, with the release that did so. Sources: the projects' own notes on releases.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType

from gpu_lol_action.analysis.checkout import Checkout, Source
from gpu_lol_action.analysis.effort import remembered
from gpu_lol_action.analysis.entry_points import Run
from gpu_lol_action.analysis.import_graph import imported_unguarded
from gpu_lol_action.analysis.package_files import package_name
from gpu_lol_action.domain.finding import Evidence, Finding
from gpu_lol_action.domain.patterns import regex

MAX_MODULES = 60
_OPEN = regex(
    r"([A-Za-z0-9][\w.-]{0,60}(?:\[[\w,-]{1,60}\])?)\s{0,3}(?:(>=|>|~=)\s{0,3}(\d{1,4})(?:\.(\d{1,4}))?[\w.]{0,20})?"
)
_NAMES = (
    "numpy",
    "openai",
    "pillow",
    "moviepy",
    "gradio",
    "pytorch-lightning",
    "networkx",
    "datasets",
    "librosa",
    "mmcv",
    "huggingface-hub",
)
# Per package: a word for a first look, what was taken out, and the first release without it.
_GONE: Mapping[str, tuple[str, re.Pattern[str], tuple[int, int]]] = MappingProxyType({
    "numpy": ("np.", regex(r"\bnp\.(?:float|int|bool|object|complex)\b(?!_)(?=[\s),\]:;.])(?!\.\w)"), (1, 24)),
    "openai": ("openai.", regex(r"\bopenai\.(?:ChatCompletion|Completion|Embedding|Moderation|Image)\.a?create\b"), (1, 0)),
    "pillow": ("ANTIALIAS", regex(r"\bImage\.ANTIALIAS\b"), (10, 0)),
    "moviepy": ("moviepy.editor", regex(r"(?m)^(?:from|import) moviepy\.editor\b"), (2, 0)),
    "gradio": ("puts.", regex(r"\b(?:gr|gradio)\.(?:inputs|outputs)\.[A-Z]\w"), (4, 0)),
    "pytorch-lightning": (
        "rainer",
        regex(r"\bTrainer\.(?:add_argparse_args|from_argparse_args)\b|\b(?:pl|pytorch_lightning)\.Trainer\([^()]{0,400}?\bgpus\s?="),
        (2, 0),
    ),
    "networkx": ("numpy_matrix", regex(r"\b(?:nx|networkx)\.(?:from|to)_numpy_matrix\b"), (3, 0)),
    "datasets": ("load_metric", regex(r"(?m)^from datasets import [^\n]{0,200}\bload_metric\b|\bdatasets\.load_metric\("), (3, 0)),
    "librosa": ("filters.mel", regex(r"\blibrosa\.filters\.mel\(\s{0,20}[\w.]{0,40}(?:sr|sampling_rate|sample_rate)\s?,"), (0, 10)),
    "mmcv": ("mmcv.", regex(r"(?m)^(?:from|import) mmcv\.(?:runner|parallel)\b"), (2, 0)),
    "huggingface-hub": ("cached_download", regex(r"(?m)^from huggingface_hub import [^\n]{0,200}\bcached_download\b"), (0, 26)),
})  # fmt: skip
_SAME = MappingProxyType({"mmcv-full": "mmcv", "lightning": "pytorch-lightning"})


def with_older_releases(checkout: Checkout, run: Run | None, findings: Sequence[Finding]) -> list[Finding]:
    """Return findings of packages with those that nothing bounds from above as the last that the run's programs know."""
    script = run.script if run is not None else None
    wanted = {finding: name for finding in findings if (name := _open_name(finding))}
    if script is None or not wanted:
        return list(findings)
    sources = sorted(imported_unguarded(checkout, script), key=lambda source: (source is not script, source.path))
    found: dict[str, tuple[str, Evidence]] = {}
    for source in sources[:MAX_MODULES]:
        for name, word, line in _taken_out(source):
            found.setdefault(name, (word, Evidence(source.path, line)))
    return [
        _bounded(each, wanted[each], *found[wanted[each]]) if wanted.get(each) in found else each for each in findings
    ]


def _open_name(finding: Finding) -> str:
    """Return the row of a package that is asked for in any release, or from one before the end of that row's; empty for others."""
    read = _OPEN.fullmatch(finding.value) if finding.field == "dependencies.requirements" else None
    name = package_name(read[1]) if read is not None else ""
    name = _SAME.get(name, name)
    if read is None or name not in _GONE:
        return ""
    least = (int(read[3]), int(read[4] or 0)) if read[3] else (0, 0)
    return name if least < _GONE[name][2] and read[2] != "~=" else ""


def _bounded(finding: Finding, name: str, word: str, where: Evidence) -> Finding:
    bound = ".".join(map(str, _GONE[name][2])).removesuffix(".0")
    is_bare = re.search(r"[<>~=]", finding.value) is None
    value = f"{finding.value}{'' if is_bare else ','}<{bound}"
    return replace(
        finding, value=value, why=f"`{word}` ({where}) is in no {name} from {bound} on, and no list bounds it"
    )


@remembered
def _taken_out(source: Source) -> tuple[tuple[str, str, int], ...]:
    return tuple(_in_program(source)) if source.code is not None else ()


def _in_program(source: Source) -> Iterator[tuple[str, str, int]]:
    """Yield the packages of which a program calls what was taken out: the row, the word, and its line."""
    for name in _NAMES:
        mark, gone, _ = _GONE[name]
        found = gone.search(source.text) if mark in source.text else None
        if found is not None and not _is_remark(source.text, found.start()):
            line = source.text.count("\n", 0, found.start()) + 1
            word = found[0].strip().split("(")[0].removeprefix("from ").removeprefix("import ").split(" import ")[0]
            yield name, word, source.code.line_of_file(line) if source.code is not None else line


def _is_remark(text: str, place: int) -> bool:
    return "#" in text[text.rfind("\n", 0, place) + 1 : place]
