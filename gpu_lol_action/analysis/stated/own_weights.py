"""The size of a repository's own weights, where their name has none: what their name in a document's links says, or that of their base.

``[weights](https://huggingface.co/us/Net-16B)`` in the README of ``# Net: drawing with words`` are what it is about, whatever
else it links to; ``Net3 is tuned from [Base-10.7B](…)`` says of the weights ``us/Net3``, which a program loads, how large they are.
"""

from __future__ import annotations

from collections.abc import Iterator

from gpu_lol_action.analysis.files.checkout import Source
from gpu_lol_action.domain.finding import Confidence, Evidence, Finding
from gpu_lol_action.domain.patterns import regex

LEAST_B, MOST_B = 0.5, 400
MAX_LINES, MAX_LINE_CHARACTERS = 400, 2000
LEAST_TITLE = 4
_TITLE = regex(r"^#\s+(?:[^\w\n]{1,8}\s?)?([A-Za-z][\w.+-]{2,60})")
_HEADING = regex(r"^#{1,6}\s")
_LINKED = regex(r"https?://(?:huggingface\.co|(?:www\.)?modelscope\.cn/models)/[\w.-]{1,60}/([\w.-]{1,90})")
_SIZED = regex(r"(.{1,80}?)[-_](\d{1,3}(?:\.\d{1,2})?)[bB](?=$|[-_])")
_LOADED = regex(r"[\"'][\w.-]{1,60}/([A-Za-z][\w.-]{3,80})[\"']")
_COMPARES = regex(r"\b(?:than|compar\w+|versus|vs\.?|outperform\w*|surpass\w*|competitive|rival\w*)\b|\|")
_LETTERS = regex(r"[^a-z0-9]+")


def own_size(readme: Source, script: Source | None) -> Finding | None:
    """Return the size of the weights that bear the README's title, else of those that the loaded ones are made from; None without one."""
    if not (readme.mentions("huggingface.co") or readme.mentions("modelscope.cn")):
        return None
    return _bearing_the_title(readme) or _of_the_base(readme, script)


def _bearing_the_title(readme: Source) -> Finding | None:
    """Return the one size of all linked weights whose name begins with the title's first word and goes on with a size."""
    title = next((found[1] for _, line in _lines(readme) if (found := _TITLE.match(line)) is not None), "")
    word = _plain(title)
    if len(word) < LEAST_TITLE:
        return None
    told = [
        (number, float(sized[2]))
        for number, line in _lines(readme)
        for name in _LINKED.findall(line)
        if (sized := _SIZED.match(name)) is not None and _plain(sized[1]) == word
    ]
    sizes = {size for _, size in told}
    return _finding(readme, *told[0], "the linked weights of the title's name bear") if len(sizes) == 1 else None


def _of_the_base(readme: Source, script: Source | None) -> Finding | None:
    """Return the size in the one link of a line that names the weights which the program loads."""
    loaded = set(_LOADED.findall(script.text)) if script is not None else set()
    own = {name for name in loaded if _SIZED.match(name) is None}
    if not own:
        return None
    # Not the program itself, which a README may show.
    for number, line in _lines(readme):
        names = _LINKED.findall(line)
        if len(names) != 1 or names[0] in own or _COMPARES.search(line) or _HEADING.match(line):
            continue
        sized = _SIZED.match(names[0])
        if sized is not None and any(_names(line, name) for name in own):
            return _finding(
                readme, number, float(sized[2]), f"what is loaded is made from `{names[0]}`, whose name bears"
            )
    return None


def _names(line: str, name: str) -> bool:
    """Whether a line names weights as a word of its own: in front of, behind or without a link (``Net3 is made from …``)."""
    place = line.find(name)
    end = place + len(name)
    before, behind = line[place - 1 : place], line[end : end + 1]
    ends = before[:1] not in {"/", "-", "_"} and not (
        behind.isascii() and (behind.isalnum() or behind in {"-", "_", "/"})
    )
    return place >= 0 and ends and not (before.isascii() and before.isalnum())


def _finding(readme: Source, number: int, size: float, why: str) -> Finding | None:
    if not LEAST_B <= size <= MOST_B:
        return None
    where = Evidence(readme.path, number)
    return Finding("documented.parameters_b", f"{size:g}", f"{why} {size:g}B", Confidence.LOW, where)


def _lines(readme: Source) -> Iterator[tuple[int, str]]:
    for number, line in enumerate(readme.text.split("\n")[:MAX_LINES], 1):
        if len(line) <= MAX_LINE_CHARACTERS:
            yield number, line


def _plain(text: str) -> str:
    return _LETTERS.sub("", text.lower())
