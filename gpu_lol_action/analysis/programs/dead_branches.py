"""Which lines of a program a run does not reach: branches whose condition its options and their defaults decide.

``if args.int8: model = load(..., load_in_8bit=True)`` says nothing of a run that leaves ``--int8`` off. Only conditions made of
names of options are decided (``x``, ``not x``, ``x is None``, ``x == "a"``, ``x in ("a", "b")``, joined by ``and`` or ``or``);
every other branch counts as reached.
"""

from __future__ import annotations

import functools
import itertools
import re
from collections.abc import Iterable, Iterator, Mapping

from gpu_lol_action.analysis.files.checkout import Source
from gpu_lol_action.analysis.files.effort import remembered
from gpu_lol_action.analysis.files.setting import Setting, fold_key
from gpu_lol_action.analysis.files.unfilled_options import is_unfilled
from gpu_lol_action.analysis.formats.paths import Form
from gpu_lol_action.analysis.programs.dead_functions import dead_functions
from gpu_lol_action.analysis.programs.looked_up_switches import with_looked_up
from gpu_lol_action.analysis.programs.unset_options import unset_options
from gpu_lol_action.domain.patterns import regex
from gpu_lol_action.domain.records import record

MAX_CONDITIONS = 2000
MAX_BLOCK_LINES = 400

# The leading line feed lets the expression engine leap from line to line.
_CONDITION = regex(
    r"\n([ \t]*)(?:(if|elif)\s+([^\n#]{1,300}?):\s*(?:#[^\n]*)?$|else\s*:\s*(?:#[^\n]*)?$)", re.MULTILINE
)
# `if (`, the condition on lines of its own, `):`, as formatters break a long one.
_LONG_CONDITION = regex(r"\n([ \t]*)(if|elif) ?\([ \t]*\n((?:[^\n#]{0,120}\n){1,8}?)\1\)[ \t]*:[ \t]*(?=\n)")
# `Quantized(bits=4) if option == "int4" else None`: the condition on the expression's last line.
_CHOSEN = regex(r"\n([ \t]*)[^\n#]{0,200}?[)\]}]\s+if\s+([^\n#]{1,200}?)\s+else\s+(?:None|False|\{\})[,)]*[ \t]*(?=\n)")
# Its last words, which few lines have: looked for first, for the whole expression is slow to look for on every line.
_OTHERWISE = regex(r"\selse\s+(?:None|False|\{\})[,)]*[ \t]*(?=\n)")
MAX_LINES_OF_CHOICE = 3
_NAME = r"(?:\w{1,60}\.){0,4}(\w{1,60})"
_PLAIN = regex(rf"(not\s+)?{_NAME}")
_IS_NONE = regex(rf"{_NAME}\s+is\s+(not\s+)?None")
_EQUALS = regex(rf"{_NAME}\s*(==|!=)\s*['\"]([^'\"]{{0,80}})['\"]")
_AMONG = regex(rf"{_NAME}\s+(not\s+)?in\s*[\[({{]([^\])}}]{{1,200}})[\])}}]")
_TEXT = regex(r"['\"]([^'\"]{0,80})['\"]")
# `TRACKER_TYPE = args.tracker`: another name for an option, at a module's margin.
_ALIAS = regex(r"^([A-Za-z_]\w{0,60})[ \t]?=[ \t]?(?:args|opts?|options|FLAGS)\.(\w{1,60})[ \t]*$", re.MULTILINE)
MAX_ALIASES = 60
_KEYED = regex(
    r"(?<=[\w\])])(?:\[['\"]([A-Za-z_]\w{0,60})['\"]\]|\.get\(['\"]([A-Za-z_]\w{0,60})['\"](?:,\s?(?:False|None))?\))"
)
_OPTIONS = regex(r"(?:\w{0,20}_)?(?:args|opts?|options|flags|hparams|params)")
_SIGNS = frozenset("'\"([{=")
_NOTHING = frozenset({"", "none", "null", "false", "0", "no", "off"})
# What is done, which whoever starts the program decides anew each time: the default says little.
TASKS = frozenset({"mode", "task", "stage", "phase", "command", "action", "train", "do_train", "is_train", "training", "test_only", "eval",
                    "do_eval", "evaluate", "inference", "local_rank", "rank", "distributed"})  # fmt: skip


def option_values(said: Iterable[Setting], sources: Iterable[Source]) -> dict[str, str]:
    """Return what a run's options are: what its command and configuration say, else what their parsers start with.

    Options that tell what is to be done count only where they are said, and those of which two parsers differ not at all. Of a run
    that gives any options, the ones that start with nothing stay so.
    """
    defaults: dict[str, set[str]] = {}
    known = tuple(sources)
    for source in known:
        for default in source.code.defaults if source.code is not None else ():
            if default.is_option:
                defaults.setdefault(fold_key(default.name.lstrip("-")), set()).add(default.text)
    values = {key: next(iter(texts)) for key, texts in defaults.items() if len(texts) == 1 and key not in TASKS}
    given: dict[str, str] = {}
    for setting in said:
        if not is_unfilled(setting.text):
            given.setdefault(setting.key, setting.text)
    unset = unset_options(known) - TASKS - defaults.keys() if given else ()
    return {**dict.fromkeys(unset, "None"), **values, **given}


def with_other_names(source: Source, told: Mapping[str, str]) -> dict[str, str]:
    """Return what options are, also under a program's own names for them, where nothing else is called so."""
    found: dict[str, set[str]] = {}
    for alias in itertools.islice(_ALIAS.finditer(source.text), MAX_ALIASES):
        found.setdefault(fold_key(alias[1]), set()).add(told.get(fold_key(alias[2]), ""))
    own = {name: next(iter(texts)) for name, texts in found.items() if len(texts) == 1 and texts != {""}}
    return {**own, **told}


def reached(source: Source, settings: Iterable[Setting], values: Mapping[str, str]) -> list[Setting]:
    """Return the settings of a program that stand where the run may come."""
    found = list(settings)
    dead = dead_lines(source, values) if found else ()
    return [s for s in found if not any(s.evidence.line in block for block in dead)] if dead else found


@record(frozen=True, slots=True)
class _Branch:
    """A line that begins a branch: its number from 0, its indent, its word, and its condition (nothing for ``else``)."""

    line: int
    depth: int
    word: str
    condition: str


@remembered
def _branches(source: Source) -> tuple[_Branch, ...]:
    """Return the first branches of a program: the same for every run that comes by."""
    text = f"\n{source.text}"
    found: list[_Branch] = []
    for expression in (_CONDITION, _LONG_CONDITION):
        line = position = 0
        for branch in itertools.islice(expression.finditer(text), MAX_CONDITIONS):
            line += text.count("\n", position, branch.start())
            position = branch.start()
            condition = " ".join((branch[3] or "").split()) if expression is _LONG_CONDITION else branch[3] or ""
            found.append(_Branch(line, len(branch[1]), branch[2] or "else", condition))
    return tuple(sorted(found, key=lambda branch: branch.line))


def dead_lines(source: Source, values: Mapping[str, str]) -> tuple[range, ...]:
    """Return the blocks of a program, as ranges of line numbers, that these options switch off."""
    told = with_looked_up(source, values) if source.form is Form.PYTHON else {}
    if not told:
        return ()
    verdicts = (decided(branch.condition, told) if branch.condition else None for branch in _branches(source))
    missed = (decided(choice.condition, told) is False for choice in _choices(source))
    return _dead_lines(source, tuple(verdicts), tuple(missed))


@remembered
def _dead_lines(source: Source, verdicts: tuple[bool | None, ...], missed: tuple[bool, ...]) -> tuple[range, ...]:
    """Return the blocks that are switched off by how the conditions of a program's branches and choices are decided; runs differ in few."""
    branches = _branches(source)
    dead = _not_chosen(source, missed)
    if verdicts.count(None) == len(verdicts):
        return (*dead, *dead_functions(source.text, dead))
    lines = source.text.split("\n")
    # By depth: where the block of the last branch ends of a chain of which one is surely taken.
    taken: dict[int, int] = {}
    for branch, verdict in zip(branches, verdicts, strict=True):
        end = taken.get(branch.depth)
        is_taken = end is not None and branch.word != "if" and not any(map(_is_code, lines[end : branch.line]))
        taken = {depth: end for depth, end in taken.items() if depth < branch.depth} if taken else taken
        if not is_taken and verdict is None:
            continue
        block = range(branch.line + 2, _end(lines, branch.line + 1, branch.depth) + 1)
        if is_taken or verdict is False:
            dead.append(block)
        if is_taken or verdict is True:
            taken[branch.depth] = block.stop - 1
    return (*dead, *dead_functions(source.text, dead))


def compared_blocks(source: Source) -> tuple[tuple[str, str, range], ...]:
    """Return the blocks of a program that a name's equality with a word opens: the name, the word, and the lines."""
    found = []
    lines: list[str] = []
    for branch in _branches(source) if source.form is Form.PYTHON else ():
        equals = _EQUALS.fullmatch(branch.condition.strip())
        if equals is not None and equals[2] == "==":
            lines = lines or source.text.split("\n")
            end = _end(lines, branch.line + 1, branch.depth)
            found.append((fold_key(equals[1]), equals[3], range(branch.line + 2, end + 1)))
    return tuple(found)


def _not_chosen(source: Source, missed: tuple[bool, ...]) -> list[range]:
    """Return the lines of expressions that are taken only on a condition that is decided against."""
    lines = source.text.split("\n") if any(missed) else []
    found = []
    for choice in itertools.compress(_choices(source), missed):
        first = last = choice.line + 1
        while first > max(1, last - MAX_BLOCK_LINES) and lines[first - 1].lstrip().startswith((")", "]", "}")):
            first -= 1  # the expression began above, where a line stands no deeper
            while first > 1 and len(lines[first - 1]) - len(lines[first - 1].lstrip()) > choice.depth:
                first -= 1
        found.append(range(first, last + 1))
    return found


@remembered
def _choices(source: Source) -> tuple[_Branch, ...]:
    """Return what looks like the last line of an expression with a condition behind it: the same for every run that comes by."""
    text = f"\n{source.text}"
    found: list[_Branch] = []
    line = position = 0
    for choice in itertools.islice(_last_lines(text), MAX_CONDITIONS) if " else " in text else ():
        line += text.count("\n", position, choice.start())
        position = choice.start()
        found.append(_Branch(line, len(choice[1]), "if", choice[2]))
    return tuple(found)


def _last_lines(text: str) -> Iterator[re.Match[str]]:
    place = text.find("else")  # a plain word, which is found far faster than what may stand around it
    while place >= 0:
        otherwise = _OTHERWISE.match(text, place - 1)
        start = place - 1
        for _ in range(MAX_LINES_OF_CHOICE if otherwise is not None else 0):
            start = text.rfind("\n", 0, start)
            choice = _CHOSEN.match(text, start) if start >= 0 else None
            if choice is not None and otherwise is not None and choice.end() == otherwise.end():
                yield choice
                break
        place = text.find("else", place + 4)


def decided(condition: str, values: Mapping[str, str]) -> bool | None:
    """Return whether a condition holds; None where the options do not decide it."""
    if "[" in condition or ".get(" in condition:  # `cfg["offload"]`, `args.get("offload", False)`
        condition = _KEYED.sub(functools.partial(_as_option, values=values), condition)
    if " or " in condition:
        parts = [decided(part.strip(), values) for part in condition.split(" or ")] if "(" not in condition else [None]
        return True if True in parts else False if set(parts) == {False} else None
    if " and " in condition:
        parts = [decided(part.strip(), values) for part in condition.split(" and ")]
        return False if False in parts else True if set(parts) == {True} else None
    return _simple(condition.strip(), values)


def _as_option(found: re.Match[str], values: Mapping[str, str]) -> str:
    """Return an entry as an option of that name: of options, or of a configuration where something is said under it, not what an option lacks."""
    name = found[1] or found[2]
    base = regex(r"(\w{1,60})\)?$").search(found.string, max(0, found.start() - 62), found.start())
    is_options = base is not None and _OPTIONS.fullmatch(base[1]) is not None
    said = values.get(fold_key(name), "").strip("\"' ").lower()
    return f".{name}" if is_options or said not in {"", "none", "null"} else found[0]


def _simple(condition: str, values: Mapping[str, str]) -> bool | None:
    """Decide a condition without ``and`` and ``or``; the signs in it tell which of the expressions to try."""
    if _SIGNS.isdisjoint(condition):
        if found := _PLAIN.fullmatch(condition):
            text = values.get(fold_key(found[2]))
            return None if text is None else (text.strip().lower() not in _NOTHING) is not bool(found[1])
        if "None" in condition and (found := _IS_NONE.fullmatch(condition)):
            text = values.get(fold_key(found[1]))
            return None if text is None else (text.strip().lower() in {"none", "null"}) is not bool(found[2])
        return None
    if found := _EQUALS.fullmatch(condition):
        text = values.get(fold_key(found[1]))
        return None if text is None else (text == found[3]) is (found[2] == "==")
    if " in" in condition and (found := _AMONG.fullmatch(condition)):
        text, among = values.get(fold_key(found[1])), _TEXT.findall(found[3])
        return None if text is None or not among else (text in among) is not bool(found[2])
    return None


def _is_code(line: str) -> bool:
    bare = line.strip()
    return bool(bare) and not bare.startswith("#")


def _end(lines: list[str], start: int, depth: int) -> int:
    """Return the number of the last line of the block that begins behind line ``start`` (both counted from 1)."""
    last = start
    for index in range(start, min(len(lines), start + MAX_BLOCK_LINES)):
        line = lines[index]
        bare = line.strip()
        if not bare:
            continue
        if len(line) - len(line.lstrip()) <= depth and not bare.startswith(("#", ")", "]", "}")):
            break
        last = index + 1
    return last
