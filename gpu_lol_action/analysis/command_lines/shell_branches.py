"""Which lines of a script its own variables leave out: ``case "$SIZE" in 8B) … ;; esac`` where the script says ``SIZE=1B`` above.

Comparisons of one variable with plain words are decided, and whether one that is set is (``-z``, ``-n``); whatever else is
asked, both branches stay.
"""

from __future__ import annotations

import fnmatch
from collections.abc import Iterator, Mapping, Sequence

from gpu_lol_action.analysis.command_lines.shell_defaults import as_default
from gpu_lol_action.domain.patterns import regex
from gpu_lol_action.domain.records import record

Numbered = tuple[int, str]
MAX_OPEN = 40
_ASKS = ("if", "case")
_QUOTED = r"[\"']?([\w.:/+-]{0,80})[\"']?"
_OF = r"[\"']?\$\{?(\w{1,60})\}?[\"']?"
_SETS = regex(rf"\s*(?:export\s+|local\s+|readonly\s+)?([A-Za-z_]\w{{0,60}})={_QUOTED}\s*(?:;?\s*#.*)?$")
_FALLS_BACK = regex(
    rf"\s*(?:export\s+|local\s+)?([A-Za-z_]\w{{0,60}})=[\"']?\$\{{(\w{{1,60}}):?-{_QUOTED}\}}[\"']?\s*(?:#.*)?$"
)
_COPIES = regex(
    r"\s*(?:export\s+|local\s+|readonly\s+)?([A-Za-z_]\w{0,60})=[\"']?\$\{?(\w{1,60})\}?[\"']?\s*(?:;?\s*#.*)?$"
)
_ASSIGNS = regex(r"\s*(?:export\s+|local\s+|readonly\s+)?([A-Za-z_]\w{0,60})\+?=")
_READS = regex(r"\s*(?:read|getopts|for|while|shift|source|\.|eval)\b")
_IF = regex(r"\s*(el)?if\s+(.{1,300}?)\s*(?:;\s*then\b.*|then)?\s*$")
_ELSE = regex(r"\s*else\s*$")
_FI = regex(r"\s*fi\b")
_CASE = regex(rf"\s*case\s+(?:{_OF}|[\"']?\$\{{(\w{{1,60}}):?-{_QUOTED}\}}[\"']?)\s+in\s*$")
_ANY_CASE = regex(r"\s*case\s.{1,200}\sin\s*$")
_ARM = regex(r"\s*\(?\s*([^()\s|]{1,60}(?:\s*\|\s*[^()\s|]{1,60}){0,12})\s*\)(?:\s|$)")
_ESAC = regex(r"\s*esac\b")
_IS_SET = regex(r"(!\s+)?\[{1,2}\s+(!\s+)?-([zn])\s+[\"']?\$\{?(\w{1,60})(?::?[-+]x?)?\}?[\"']?\s+\]{1,2}$")
_TEST = regex(rf"(!\s+)?\[{{1,2}}\s+(!\s+)?{_OF}\s*(==?|!=)\s*{_QUOTED}\s+\]{{1,2}}$")


@record(slots=True)
class _Open:
    """A condition that is open: whether its lines are taken now, whether a branch was, and the value that its arms are held against."""

    is_case: bool
    is_taken: bool | None
    was_taken: bool | None
    value: str | None = None


def with_taken_branches(lines: Iterator[Numbered], given: Mapping[str, str]) -> Iterator[Numbered]:
    """Yield a script's lines, those empty that its own variables, or its caller's, leave out."""
    kept = [(number, as_default(line)) for number, line in lines]
    if not any(line.lstrip().startswith(_ASKS) for _, line in kept):
        yield from kept
        return
    values = dict(given)
    opened: list[_Open] = []
    for number, line in kept:
        is_word = (opened or line.lstrip().startswith(_ASKS)) and _follow(line, opened, values)
        is_left_out = any(each.is_taken is False for each in opened)
        if not is_left_out and not is_word:
            _keep(line, values, given, is_sure=all(each.is_taken for each in opened))
        yield number, "" if is_left_out else _after_arm(line, opened) if is_word else line


def _after_arm(line: str, opened: Sequence[_Open]) -> str:
    """Return what a taken arm says on the line of its pattern; another line that heeds a condition as it is."""
    if not opened or not opened[-1].is_case or not opened[-1].is_taken or (arm := _ARM.match(line)) is None:
        return line
    return line[arm.end() :].rstrip().removesuffix(";;")


def _follow(line: str, opened: list[_Open], values: Mapping[str, str]) -> bool:
    """Heed what opens, divides or closes a condition; tell whether the line does."""
    is_shell = not line.rstrip().endswith(":")  # nor what a script hands to Python
    if (
        is_shell
        and (found := _IF.match(line)) is not None
        and (found[1] is None or (opened and not opened[-1].is_case))
    ):
        answer = _answer(found[2], values)
        if found[1] is None:
            if not line.rstrip().endswith("fi") and len(opened) < MAX_OPEN:
                opened.append(_Open(False, answer, answer))
        else:
            _divide(opened[-1], answer=answer)
    elif _ELSE.match(line) and opened and not opened[-1].is_case:
        _divide(opened[-1], answer=True)
    elif _FI.match(line) and opened and not opened[-1].is_case:
        opened.pop()
    elif (found := _CASE.match(line)) is not None or _ANY_CASE.match(line):
        asked = (found[1] or found[2]) if found is not None else ""
        opened.append(_Open(True, None, False, values.get(asked, found[3]) if found is not None else None))
    elif _ESAC.match(line) and opened and opened[-1].is_case:
        opened.pop()
    elif opened and opened[-1].is_case and (found := _ARM.match(line)) is not None and "$(" not in line:
        _arm(opened[-1], found[1])
    else:
        return False
    return True


def _divide(condition: _Open, *, answer: bool | None) -> None:
    """Go on to the next branch: not taken where one before was; open where that is not known."""
    if condition.was_taken:
        condition.is_taken = False
    elif condition.was_taken is None:
        condition.is_taken = None if answer is not False else False
    else:
        condition.is_taken = condition.was_taken = answer


def _arm(condition: _Open, patterns: str) -> None:
    if condition.value is None:
        condition.is_taken = None
        return
    words = [each.strip().strip("\"'") for each in patterns.split("|")]
    is_meant = any(fnmatch.fnmatchcase(condition.value, word) for word in words if "$" not in word)
    condition.is_taken = is_meant and not condition.was_taken
    condition.was_taken = condition.was_taken or is_meant


def _answer(test: str, values: Mapping[str, str]) -> bool | None:
    """Return whether a comparison holds, or a variable is set; None where it asks anything else, or of what is not known."""
    if (asked := _IS_SET.match(test.strip())) is not None:
        is_set_asked = (asked[3] == "n") ^ bool(asked[1]) ^ bool(asked[2])
        return is_set_asked if asked[4] in values else None
    found = _TEST.match(test.strip())
    if found is None or found[3] not in values:
        return None
    is_same = values[found[3]] == found[5]
    is_denied = bool(found[1]) ^ bool(found[2]) ^ (found[4] == "!=")
    return is_same ^ is_denied


def _keep(line: str, values: dict[str, str], given: Mapping[str, str], *, is_sure: bool) -> None:
    """Heed what a line sets: a plain word, or a fallback; anything else, or under what is not decided, is not known from there on."""
    if (found := _FALLS_BACK.match(line)) is not None:
        name, value = found[1], given.get(found[2], found[3])
    elif (found := _SETS.match(line)) is not None:
        name, value = found[1], found[2]
    elif (found := _COPIES.match(line)) is not None:  # what it is handed: `model=$1`
        name, value = found[1], values.get(found[2], "")
    elif (found := _ASSIGNS.match(line)) is not None:
        values.pop(found[1], None)
        return
    else:
        if _READS.match(line):  # options that are taken apart may set anything
            values.clear()
            values.update(given)
        return
    if is_sure and value:  # what is empty is filled in by whoever starts it
        values[name] = value
    else:
        values.pop(name, None)
