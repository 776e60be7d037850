"""The line on which a value stands, of a command or a call that goes on over many: who follows the evidence looks for the option.

Detectors know where a statement begins, which is what tells one from another. Here, when all is found, each value gets the line of
the statement that holds the words in which it is told (``--train_batch_size 4``), as far as one holds more of them than the first.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import islice

from gpu_lol_action.analysis.files.checkout import Checkout, Source
from gpu_lol_action.analysis.formats.paths import Form
from gpu_lol_action.domain.finding import Evidence, Finding
from gpu_lol_action.domain.patterns import regex

MAX_LINES = 150
"""Lines of one statement that are looked through."""
MAX_LINE = 2_000
MAX_NAMES = 3
_OF_NAME = 3
# Behind an argument's or a key's name: ``batch_size=4``, ``"batch_size": 4``.
_GIVEN = regex(r"[\"']?\s{0,3}[=:]")
# What a statement says as a whole, or a sentence: its first line is the place.
_WHOLE = regex(r"entry_point|workload|gpu\.use|checkout\.\w+|documented\..*|hardware\.(?!gpu_count).*")
_NAMED = regex(r"`-{0,2}([A-Za-z][\w.-]{0,80})[^`]{0,200}`")
_TEXTS = regex(r"\"(?:[^\"\\\n]|\\.){0,400}\"|'(?:[^'\\\n]|\\.){0,400}'")
# "--tune_llm True \  # or not"
_REMARK = regex(r"(?<=\\)\s{1,30}#.*$")
_GOES_ON_IN = frozenset({Form.PYTHON, Form.NOTEBOOK})

Numbered = Sequence[tuple[int, str]]
"""Lines, each with its number in the file: of notebooks the lines of code alone."""


def on_exact_lines(checkout: Checkout, findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """Return findings, each with the line of its statement that holds what it tells."""
    read: dict[str, Numbered] = {}
    return tuple(_on_exact_line(checkout, finding, read) for finding in findings)


def _on_exact_line(checkout: Checkout, finding: Finding, read: dict[str, Numbered]) -> Finding:
    path, number = finding.evidence.path, finding.evidence.line
    source = checkout.by_path.get(path)
    names = () if _WHOLE.fullmatch(finding.field) else _names(finding)
    if source is None or not number or not names:
        return finding
    lines = read.get(path) or read.setdefault(path, _numbered(source))
    first = next((place for place, (line, _) in enumerate(lines) if line == number), None)
    if first is None:
        return finding
    value = _folded(finding.value)
    best, most = number, _held(lines[first][1], names, value)
    for line, text in _statement(lines, first, source.form) if most < _most(names) else ():
        if (held := _held(text, names, value)) > most:
            best, most = line, held
    if best == number:
        return finding
    moved = Evidence(path, best)
    return replace(finding, why=finding.why.replace(f"({finding.evidence})", f"({moved})"), evidence=moved)


def _names(finding: Finding) -> tuple[str, ...]:
    """Return what its sentence names in quotes: options, arguments, packages; and the model that it found."""
    found = [match[1] for match in islice(_NAMED.finditer(finding.why), MAX_NAMES)]
    if finding.field == "model.id":
        found.append(finding.value.rpartition("/")[2] or finding.value)
    return tuple(map(_folded, found))


def _most(names: Sequence[str]) -> int:
    return _OF_NAME * len(names) + 2


def _held(text: str, names: Sequence[str], value: str) -> int:
    """Return how much a line holds of what is told: each name, and whether one is given a value there.

    The value by itself is nothing; beside its name it tells two lines apart.
    """
    folded = _folded(text[:MAX_LINE])
    found = [places for name in names if (places := tuple(_places(folded, name)))]
    return _OF_NAME * len(found) + any(map(any, found)) + any(True for _ in _places(folded, value)) if found else 0


def _places(folded: str, name: str) -> Iterator[bool]:
    """Yield for each place of a name as a whole word whether it is given a value there; of a letter or two only where it is."""
    place = folded.find(name)
    while name and place >= 0:
        end = place + len(name)
        if (
            not (folded[place - 1 : place].isalnum() or folded[end : end + 1].isalnum())
            and folded[end : end + 1] != "_"
        ):
            is_given = folded[max(0, place - 2) : place] == "__" or _GIVEN.match(folded, end) is not None
            if is_given or len(name) > 2 or name.isdigit():
                yield is_given
        place = folded.find(name, end)


def _folded(text: str) -> str:
    """Return a text in small letters, with the signs that join the parts of a name as one: ``--Batch-Size`` is ``__batch_size``."""
    return text.lower().replace("-", "_").replace(".", "_")


def _numbered(source: Source) -> Numbered:
    lines = source.text.split("\n")
    code = source.code
    return [(code.line_of_file(place) if code is not None else place, line) for place, line in enumerate(lines, 1)]


def _statement(lines: Numbered, first: int, form: Form) -> Iterator[tuple[int, str]]:
    """Yield the further lines of what begins on a line: behind a backslash, in open brackets, or in the same block of a configuration."""
    if form is Form.YAML and not lines[first][1].rstrip().endswith("\\"):
        yield from _block(lines, first)
        return
    depth = 0
    for place in range(first, min(first + MAX_LINES, len(lines) - 1)):
        text = _REMARK.sub("", lines[place][1][:MAX_LINE]).rstrip()
        goes_on = text.endswith("\\") or (form not in _GOES_ON_IN and _begins_with_option(lines, place + 1))
        if not goes_on and (depth > 0 or form in _GOES_ON_IN or text.endswith(("(", "[", "{"))):
            plain = _TEXTS.sub("", text).partition("#")[0]
            depth += sum(map(plain.count, "([{")) - sum(map(plain.count, ")]}"))
            goes_on = depth > 0
        if not goes_on:
            return
        yield lines[place + 1]


def _begins_with_option(lines: Numbered, place: int) -> bool:
    """Whether a line, or the one behind its remark, begins with an option: of a command whose backslash was forgotten, or a part of it."""
    behind = [text.lstrip() for _, text in lines[place : place + 2]]
    return behind[0].startswith("--") or (behind[0].startswith("#") and behind[-1].startswith("--"))


def _block(lines: Numbered, first: int) -> Iterator[tuple[int, str]]:
    """Yield the lines of the same block, first those below: no less indented, up to one that is."""
    indent = _indent(lines[first][1])
    below = range(first + 1, min(first + 1 + MAX_LINES, len(lines)))
    above = range(first - 1, max(first - 1 - MAX_LINES, -1), -1)
    for places in (below, above):
        for place in places:
            text = lines[place][1]
            if text.strip() and _indent(text) < indent:
                break
            yield lines[place]


def _indent(text: str) -> int:
    return len(text) - len(text.lstrip(" "))
