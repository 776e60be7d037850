"""Whether a program gives a value to a name, at the places where its text looks so: most are prose, or what a call returns.

To build the tree of a library's module for one name is most of what looking an option up costs, and nearly always in vain:
``model`` stands before a quote or a colon in every other docstring. What is left out here gives the name no value in the tree
either; what is hard to tell is kept, and the tree decides.
"""

from __future__ import annotations

from gpu_lol_action.analysis.formats.texts import READING_CALLS, given_at
from gpu_lol_action.analysis.python.scan import Quoted
from gpu_lol_action.domain.patterns import regex

MAX_WALKED = 2000
"""Characters of an annotation, or of a call's arguments, that are walked through; what is longer is kept."""
MAX_STEPS = 400
MAX_PLACES = 200
"""In code, of one name: a program with more of them is left to its tree."""
MAX_LEAD = 20

# Where options are made, a string that is nothing but the name may be one in ways that a text does not tell; else only a key is.
_OPTIONS = regex(r"add_argument|add_option|DEFINE_|\boption[\s\\]*[(\[]")
_KEY = regex(r"[\"']{0,2}[\s\\)]*(?::|#|\][\s\\)]*(?:[:#]|=(?!=)))")
_SIGN = regex(r"[\"'#()\[\]{},;=\n]")
_BRACKET = regex(r"[\"'#()\[\]{}]")
_BLANKS = regex(r"(?:[ \t\f\n\\]|#[^\n]*)*")
_WORD = regex(r"[ \t]*([A-Za-z_]\w*)[ \t]*")
_END = regex(r"[ \t]*(?:#[^\n]*)?(?:\n|\Z)")
_OPENING, _CLOSING = frozenset("([{"), frozenset(")]}")


def scan_gives(text: str, quoted: Quoted, name: str) -> bool:
    """Whether the program may give a value to an option or variable of that name."""
    walked, has_parser = 0, None
    for place, end in given_at(text, name):
        sign, begin = text[end - 1], quoted.begin_of(place)
        if begin is not None:
            if text[begin] == "#" or sign not in "\"'/" or not _is_alone(text, begin, place):
                continue
            if has_parser is None:
                has_parser = _OPTIONS.search(text) is not None
            if has_parser or _KEY.match(text, end) is not None:
                return True
            continue
        walked += 1
        is_given = (
            _has_value(text, quoted, end) if sign == ":" else sign == "=" and not _is_call_alone(text, quoted, end)
        )
        if is_given or walked > MAX_PLACES:
            return True
    return False


def _is_alone(text: str, begin: int, place: int) -> bool:
    """Whether a string begins with the word at a place: keys and options have nothing but dashes before it."""
    inner = begin + (3 if text[begin : begin + 3] in {'"""', "'''"} else 1)
    return place <= inner + MAX_LEAD and not text[inner:place].strip(" \t\n-")


def _has_value(text: str, quoted: Quoted, place: int) -> bool:
    """Whether what stands behind a name and its colon may be an annotation with a value behind it."""
    if text.startswith("=", place):  # `:=` is no assignment that a run starts with
        return False
    depth, start = 0, place
    for _ in range(MAX_STEPS):
        found = _SIGN.search(text, place, start + MAX_WALKED)
        if found is None:
            return len(text) > start + MAX_WALKED
        sign, place = found[0], found.end()
        if sign in "\"'#":
            end = quoted.end_of(found.start())
            if end is None:
                return True
            place = end
        elif sign in _OPENING:
            depth += 1
        elif depth:
            depth -= sign in _CLOSING
        elif sign == "=":
            return True
        elif sign != "\n":
            return False
        else:
            return _goes_on(text, found.start())
    return True


def _goes_on(text: str, place: int) -> bool:
    """Whether an annotation, or its value, may stand on the line below: in parentheses that are not looked for."""
    blanks = _BLANKS.match(text, place)
    after = text[blanks.end() : blanks.end() + 1] if blanks is not None else ""
    return after in {"=", "|"} or text[max(0, place - 80) : place].rstrip(" \t").endswith(("|", "\\"))


def _is_call_alone(text: str, quoted: Quoted, place: int) -> bool:
    """Whether the value is nothing but a call up to the end of its line, of which nobody reads a value."""
    word = _WORD.match(text, place)
    if word is None:
        return False
    last, place, is_call = word[1], word.end(), False
    while text[place : place + 1] in {".", "(", "["}:
        is_call = text[place] == "("
        if text[place] == ".":
            word = _WORD.match(text, place + 1)
            if word is None:
                return False
            last, place = word[1], word.end()
            continue
        end = _closed(text, quoted, place)
        if end is None:
            return False
        place = end
    return is_call and last not in READING_CALLS and _END.match(text, place) is not None


def _closed(text: str, quoted: Quoted, place: int) -> int | None:
    """Return where the bracket at a place is closed again; None where that is hard to tell."""
    depth, start = 0, place
    for _ in range(MAX_STEPS):
        found = _BRACKET.search(text, place, start + MAX_WALKED)
        if found is None:
            return None
        place = found.end()
        if found[0] in "\"'#":
            end = quoted.end_of(found.start())
            if end is None:
                return None
            place = end
            continue
        depth += 1 if found[0] in _OPENING else -1
        if not depth:
            return place
    return None
