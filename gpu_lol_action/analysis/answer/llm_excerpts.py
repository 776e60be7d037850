"""Which lines of a tree a language model is shown: what documents say of machines and how they start runs, then the code behind the findings.

A reader decides by a few sentences of a long document. So of documents those lines come first that speak of cards, of memory
and of commands, with what stands around them; only the room that is left goes to the beginning.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import field
from itertools import islice

from gpu_lol_action.analysis.files.checkout import Checkout, Source
from gpu_lol_action.analysis.files.project_folder import alone
from gpu_lol_action.analysis.formats.paths import Form, Role
from gpu_lol_action.domain.analysis import Analysis
from gpu_lol_action.domain.finding import Finding
from gpu_lol_action.domain.patterns import regex
from gpu_lol_action.domain.records import record
from gpu_lol_action.domain.redaction import redact

README_CHARACTERS = 14_000
STARTED_CHARACTERS = 6_000
CODE_CHARACTERS = 10_000
DOCUMENTS_CHARACTERS = 7_000
MAX_CHARACTERS = README_CHARACTERS + STARTED_CHARACTERS + CODE_CHARACTERS + DOCUMENTS_CHARACTERS
PROGRAM_CHARACTERS = 12_000
"""Of the room that the others leave."""

MAX_DOCUMENTS = 6
MAX_LINE_CHARACTERS = 500
MAX_PATH_CHARACTERS = 200

_LOOKED_AT_CHARACTERS = 8_000
_AROUND_DOCUMENTS = 2
_AROUND_CODE = 7
_MOST_OF_A_KIND = 2
_DOCUMENTS = (Role.DOCUMENTATION, Role.WORKLOAD, Role.PACKAGES)
_OF_MACHINES = regex(
    r"(?<![\w.])\d{1,4}(?:\.\d{1,2})?[\s-]?(?:GB|GiB|G)\b|V-?RAM|\bGPUs?\b|CUDA_VISIBLE_DEVICES|nproc|(?<![A-Za-z0-9])(?:[ABHVP]\d{2,3}s?|[TL]4|L40S?|RTX|GTX|Titan)\b|"
    r"\bout of memory\b|\bCPU\b|\bgraphics card|\bnum_(?:gpus|processes)|显存|显卡|[\d单双两四八]\s?卡",
    re.IGNORECASE,
)
_STARTS = regex(
    r"(?:^|[\s$`>])(?:python3?|torchrun|accelerate|deepspeed|bash|sh|swift|llamafactory-cli|axolotl|tune|vllm|make|docker|uv|mpirun|srun|sbatch)\s+[\w./-]",
)
_HEADING = regex(r"\s{0,3}(?:#{1,6}\s|<summary>|<h\d)")
_FILE = regex(r"[\w./-]{1,200}\.(?:sh|bash|ya?ml|json|toml|gin|slurm|sbatch)")
_PICTURE = regex(r"!\[[^\]\n]{0,200}\]\([^)\n]{0,500}\)|<img\b[^>\n]{0,500}>", re.IGNORECASE)
# What the sum of memory rests on; a reader wants to see the lines themselves.
_BEHIND_THE_SUM = ("entry_point", "workload", "model.id", "model.unsized_id", "training.method", "training.batch_size",
                   "training.sequence_length", "training.sharding", "hardware.gpu_count", "media.own_network", "gpu.use")  # fmt: skip


@record(slots=True)
class _Shown:
    """The lines of each file that are shown, and how many characters they take."""

    lines: dict[str, Sequence[str]] = field(default_factory=dict)
    numbers: dict[str, set[int]] = field(default_factory=dict)

    def of(self, source: Source) -> Sequence[str]:
        """Return all lines of a file, as they are shown."""
        if source.path not in self.lines:
            self.lines[source.path] = _lines(source)
        return self.lines[source.path]

    def add(self, source: Source, wanted: Iterable[int], left: int) -> int:
        """Show these lines of a file, in their order, while there is room; return the room that is left."""
        lines = self.of(source)
        known = self.numbers.setdefault(source.path, set())
        for number in wanted:
            if not 1 <= number <= len(lines) or number in known:
                continue
            left -= len(lines[number - 1]) + 6
            if left < 0:
                return 0
            known.add(number)
        return left


def excerpts(checkout: Checkout, analysis: Analysis) -> list[dict[str, str]]:
    """Return path and numbered lines of each file that is shown, bounded as a whole; the same tree gives the same ones."""
    shown, checkout = _Shown(), alone(checkout)
    readme, others = _documents(checkout)
    left = README_CHARACTERS if readme is None else _add_document(shown, readme, README_CHARACTERS)
    room = STARTED_CHARACTERS
    for source in _started(checkout, analysis):
        room = shown.add(source, range(1, 200), room)
    room = CODE_CHARACTERS
    for finding in _told(analysis.findings):
        place = finding.evidence
        program = checkout.find(place.path)
        if program is not None and program.form is not Form.MARKDOWN:
            # A notebook's line is that of the file, its text is the code of its cells.
            middle = place.line if place.line <= len(shown.of(program)) else 0
            room = shown.add(program, _around([middle], _AROUND_CODE), room)
    left += room
    room = DOCUMENTS_CHARACTERS
    for source in others:
        spoken = [number for number, line in enumerate(shown.of(source), 1) if _OF_MACHINES.search(line)]
        room = shown.add(source, _around(spoken, 1), room)
    program = checkout.find(analysis.first.program) if analysis.first is not None else None
    if program is not None:
        # Where documents are short or missing, the program itself has to tell.
        shown.add(program, range(1, PROGRAM_CHARACTERS), min(left + room, PROGRAM_CHARACTERS))
    return [_excerpt(path, shown.lines[path], sorted(numbers)) for path, numbers in shown.numbers.items() if numbers]


def _lines(source: Source) -> list[str]:
    """Return a file's lines as they are shown: of bounded length, and pictures only marked as such."""
    looked_at = (line[:_LOOKED_AT_CHARACTERS] for line in source.text.splitlines())
    return [_PICTURE.sub("![]", line)[:MAX_LINE_CHARACTERS] for line in looked_at]


def _documents(checkout: Checkout) -> tuple[Source | None, list[Source]]:
    """Return the README, the root's before others, and the shallowest documents beside it that speak of machines."""
    documents = checkout.of(Form.MARKDOWN, roles=_DOCUMENTS)
    readme = next((source for source in documents if source.name.startswith("readme") and not source.folder), None)
    readme = readme or next((source for source in documents if source.name.startswith("readme")), None)
    others = (source for source in documents if source is not readme and _OF_MACHINES.search(source.text))
    return readme, list(islice(others, MAX_DOCUMENTS))


def _add_document(shown: _Shown, source: Source, room: int) -> int:
    """Show a document, or of a long one what tells most; return the room that is left."""
    lines = shown.of(source)
    if sum(len(line) + 6 for line in lines) <= room:
        return shown.add(source, range(1, len(lines) + 1), room)
    headings = [number for number, line in enumerate(lines, 1) if _HEADING.match(line)]
    spoken = [number for number, line in enumerate(lines, 1) if _OF_MACHINES.search(line)]
    started = [number for number, line in enumerate(lines, 1) if _STARTS.search(line)]
    left = 0
    for share, wanted in (
        (0.1, headings),
        (0.45, _around(spoken, _AROUND_DOCUMENTS)),
        (0.2, _around(started, 1)),
        (0.25, range(1, len(lines) + 1)),
    ):
        left = shown.add(source, wanted, left + int(room * share))
    return left


def _started(checkout: Checkout, analysis: Analysis) -> Iterator[Source]:
    """Return the script and the files of settings that the run's command names."""
    if analysis.first is None:
        return
    for named in _FILE.finditer(analysis.first.command[:2000]):
        source = checkout.find_named(named[0])
        if source is not None:
            yield source
    script = checkout.find(analysis.first.evidence.path)
    if script is not None and script.form in (Form.SHELL, Form.YAML):
        yield script


def _told(findings: Sequence[Finding]) -> Iterator[Finding]:
    for name in _BEHIND_THE_SUM:
        alike = sorted(
            (finding for finding in findings if finding.field == name), key=lambda finding: -finding.confidence
        )
        yield from alike[:_MOST_OF_A_KIND]


def _around(numbers: Iterable[int], reach: int) -> Iterator[int]:
    for number in numbers:
        yield from range(number - reach, number + reach + 1)


def _excerpt(path: str, lines: Sequence[str], numbers: Sequence[int]) -> dict[str, str]:
    told: list[str] = []
    for before, number in zip([0, *numbers], numbers, strict=False):
        if told and number > before + 1:
            told.append("...")
        told.append(f"{number}: {lines[number - 1]}")
    return {"path": " ".join(path.split())[:MAX_PATH_CHARACTERS], "text": redact("\n".join(told))}
