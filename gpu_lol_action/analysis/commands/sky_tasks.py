"""What SkyPilot tasks ask for: cards and how many of each, by document of a YAML file.

Forms: SkyPilot's reference of task files (``resources.accelerators``): a name with or without a count (``A100:8``), a set or list of
them of which any will do (``{L4:8, A100:4}``), or the same as lines below the key; ``any_of`` and ``ordered`` repeat the key.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from gpu_lol_action.analysis.documents.card_names import find_card
from gpu_lol_action.analysis.files.checkout import Checkout, Source
from gpu_lol_action.analysis.files.effort import remembered
from gpu_lol_action.analysis.formats.paths import Form
from gpu_lol_action.analysis.formats.texts import is_fence, without_comment
from gpu_lol_action.domain.finding import Evidence
from gpu_lol_action.domain.named_cards import named_card_gib
from gpu_lol_action.domain.patterns import regex
from gpu_lol_action.domain.records import record

MAX_FILES, MAX_LINES = 60, 2000
_KEYS = regex(r"^(?:run|setup|num_nodes|service|workdir|envs|file_mounts):", re.MULTILINE)
_RESOURCES = regex(r"^resources:", re.MULTILINE)
_ASKED = regex(r"([ \t]+(?:-[ \t]+)?)accelerators:(.*)$")
_ONE = regex(r"([A-Za-z][\w.-]{0,30})\s*(?::\s*(\d{1,3})\b)?")
_NODES = regex(r"^num_nodes:[ \t]*(\d{1,3})", re.MULTILINE)
_SIZED = regex(r"(.+?)[-_](\d{2,3})gb?", re.IGNORECASE)


@record(frozen=True, slots=True)
class SkyTask:
    """One document: the cards that it asks for by our table's names, each with its count, and its machines.

    ``first`` and ``last`` are its lines; ``evidence`` is where it asks, or where it begins.
    """

    source: Source
    first: int
    last: int
    asked: tuple[tuple[str, int], ...]
    nodes: int | None
    evidence: Evidence

    @property
    def choice(self) -> tuple[str, int] | None:
        """The card with the least memory of those that are asked for in the number named first: it is enough."""
        if not self.asked:
            return None
        count = self.asked[0][1]
        return min((one for one in self.asked if one[1] == count), key=lambda one: named_card_gib(one[0]))


@remembered
def sky_tasks_of(source: Source) -> tuple[SkyTask, ...]:
    """Return a file's tasks in their order; none where it is no task file."""
    if source.form is not Form.YAML or not (_RESOURCES.search(source.text) and _KEYS.search(source.text)):
        return ()
    lines = source.text.split("\n")[:MAX_LINES]
    starts = [0, *(number for number, line in enumerate(lines) if regex(r"---(?:\s|$)").match(line))]
    ends = [*starts[1:], len(lines)]
    return tuple(
        _task(source, lines[start:end], start + 1) for start, end in zip(starts, ends, strict=True) if start < end
    )


@remembered
def sky_tasks(checkout: Checkout) -> tuple[SkyTask, ...]:
    """Return the tasks of a checkout that ask for cards, what lies nearest to the root first."""
    files = sorted(checkout.of(Form.YAML), key=lambda source: (source.depth, source.path))
    return tuple(task for source in files[:MAX_FILES] for task in sky_tasks_of(source) if task.asked)


def quotes_task(checkout: Checkout, where: Evidence) -> bool:
    """Whether a document shows at this place what a task file of the checkout says: there the variables are set."""
    source = checkout.find(where.path)
    if source is None or source.form is not Form.MARKDOWN or not sky_tasks(checkout):
        return False
    return any(first <= where.line <= last for first, last in _quoted(source))


@remembered
def _quoted(source: Source) -> tuple[tuple[int, int], ...]:
    """Return the first and last lines of a document's blocks that hold tasks."""
    found: list[tuple[int, int]] = []
    start = 0
    lines = source.text.split("\n")
    for number, line in enumerate(lines, 1):
        if not is_fence(line, is_code=start > 0):
            continue
        block = "\n".join(lines[start : number - 1])
        if start and _RESOURCES.search(block) and _KEYS.search(block):
            found.append((start, number))
        start = 0 if start else number
    return tuple(found)


def _task(source: Source, lines: Sequence[str], first: int) -> SkyTask:
    found = list(_asked(lines))
    nodes = _NODES.search("\n".join(lines))
    where = Evidence(source.path, first + (found[0][2] if found else 0))
    asked = tuple(dict.fromkeys((card, count) for card, count, _ in found))
    return SkyTask(source, first, first + len(lines) - 1, asked, int(nodes[1]) if nodes else None, where)


def _asked(lines: Sequence[str]) -> Iterator[tuple[str, int, int]]:
    """Yield cards with their counts and the place of the line that names them."""
    indent, place = -1, 0
    for number, line in enumerate(lines):
        bare = without_comment(line).rstrip()
        if not bare.strip():
            continue
        depth = len(bare) - len(bare.lstrip())
        if found := _ASKED.match(bare):
            indent, place = len(found[1]), number
            yield from ((card, count, number) for card, count in _cards(found[2]))
            indent = indent if not found[2].strip() else -1
        elif indent >= 0 and (depth > indent or (depth == indent and bare.lstrip().startswith("-"))):
            yield from ((card, count, place) for card, count in _cards(bare))
        else:
            indent = -1


def _cards(text: str) -> Iterator[tuple[str, int]]:
    for name, count in _ONE.findall(text):
        card = card_of(name)
        if card is not None:
            yield card, max(1, int(count or 1))


def card_of(name: str) -> str | None:
    """Return the table's name of a card as clouds write it: ``A10g``, ``A100-80GB``, ``V100-32GB``, ``H200-SXM``."""
    bare = regex(r"[-_](?:SXM\d?|PCIE|NVL|MEGA)\b", re.IGNORECASE).sub("", name)
    sized = _SIZED.fullmatch(bare)
    found = find_card(sized[1].replace("-", " "), sized[2]) if sized is not None else None
    return found or find_card(bare.replace("-", " "), None)
