"""What the programs that a line starts have in their environment: exported where it stands, by what it reads, or named by its own option.

A shell keeps what it sets to itself until that is exported: by name, between ``set -a`` and ``set +a``, or by the file that it reads.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from gpu_lol_action.analysis.command_lines.shell_defaults import exported
from gpu_lol_action.analysis.command_lines.shell_words import sourced, with_file_read
from gpu_lol_action.analysis.commands.launch_lines import NOTHING, is_makefile, substitute
from gpu_lol_action.analysis.commands.service_files import keeps_services
from gpu_lol_action.analysis.commands.sourced_scripts import MAX_NESTED, script_read, sourcing
from gpu_lol_action.analysis.files.checkout import Checkout, Source
from gpu_lol_action.analysis.files.effort import remembered
from gpu_lol_action.analysis.formats.paths import Form
from gpu_lol_action.domain.patterns import regex
from gpu_lol_action.domain.records import record

MAX_LINES, MAX_LINE, MAX_FILES = 2000, 1000, 10
_BETWEEN = regex(r"&&|\|\||;")
_LEADS = regex(r"^(?:(?:then|do|else|[$>!%])\s+|[({]\s*)+")
# Also where it stands in the middle of a line, or in quotes.
_ANYWHERE = regex(r"(?<!\w)export\s+([A-Za-z_]\w{0,60})=")
_ALL = regex(r"set\s+([-+])(?:o\s+allexport|[b-z]{0,5}a[a-z]{0,5})(?:\s|$)")
_EXPORTS = regex(r"(?:export|(?:declare|typeset)\s+-\w{0,3}x\w{0,3})(?:\s+(\S.*))?$")
_NAME = regex(r"([A-Za-z_]\w{0,60})(?=$|=)")
_SETS = regex(r"([A-Za-z_]\w{0,60})\s?[:?+]{0,2}=")
# `docker run --env-file run.env`, `uv run --env-file run.env`, `dotenv -f run.env run`.
_NAMED = regex(
    r"(?:^|\s)(?:--env-file[= ]\s{0,4}[\"']?([\w./-]{1,120})|dotenv\s{1,4}(?:-[ef]\s{1,4}([\w./-]{1,120})\s{1,4})?(?:run|--)\s)"
)
_READS = ("source ", ". ./", ". .", "export ", "set -a", "allexport")  # in a document
_OWN = ("source", ". ", "export", "include", "dotenv", "declare", "typeset", "set -")


@record(frozen=True, slots=True)
class _Exports:
    """The variables that a text exports and those that it sets at all, and the files that it reads, each with whether it exports all of it."""

    names: frozenset[str]
    all_set: frozenset[str]
    files: tuple[tuple[str, bool], ...]


def environment_of(
    checkout: Checkout, source: Source, variables: Mapping[str, str], text: str = ""
) -> Mapping[str, str]:
    """Return those of the variables known at a line, ``text``, that the programs started there have as well: an image's are all its own."""
    if source.form is Form.DOCKERFILE or keeps_services(source) or source.name.endswith((".bat", ".cmd")):
        return variables
    found: Mapping[str, str] = NOTHING
    words = {Form.SHELL: _OWN, Form.MARKDOWN: _READS}.get(source.form, ())
    if any(source.mentions(word) for word in words):
        found = exported(_names_of(checkout, source, variables, 0), variables)
    named = _NAMED.search(text[:MAX_LINE]) if "env" in text else None
    return (
        found if named is None else {**found, **sourcing(checkout, source)(named[1] or named[2] or ".env", (), NOTHING)}
    )


def _names_of(checkout: Checkout, source: Source, variables: Mapping[str, str], nested: int) -> frozenset[str]:
    """Return what a script exports itself, and by the files that it reads."""
    if (known := _names_at_any_line(checkout, source, nested)) is not None:
        return known
    own = _exports(source)
    names = own.names
    for name, is_whole in own.files[:MAX_FILES] if nested < MAX_NESTED else ():
        script = script_read(checkout, source, substitute(name, variables))
        if script is not None and script is not source:
            names |= _names_of(checkout, script, variables, nested + 1)
            names |= _exports(script).all_set if is_whole else frozenset()
    return names


@remembered
def _names_at_any_line(checkout: Checkout, source: Source, nested: int) -> frozenset[str] | None:
    """Return the same where no variable stands in a name of these files, so that each line of the script is answered alike; else None."""
    own = _exports(source)
    names = own.names
    for name, is_whole in own.files[:MAX_FILES] if nested < MAX_NESTED else ():
        if "$" in name:
            return None
        script = script_read(checkout, source, name)
        if script is None or script is source:
            continue
        inner = _names_at_any_line(checkout, script, nested + 1)
        if inner is None:
            return None
        names |= inner | (_exports(script).all_set if is_whole else frozenset())
    return names


@remembered
def _exports(source: Source) -> _Exports:
    names = set(_ANYWHERE.findall(source.text)) if source.mentions("export") else set[str]()
    all_set: set[str] = set()
    files: list[tuple[str, bool]] = []
    is_all = False
    for part in _parts(source.text):
        switch, told = _ALL.match(part), _EXPORTS.match(part)
        if switch is not None:
            is_all = switch[1] == "-"
        elif told is not None:
            if not told[1] and is_makefile(source):
                is_all = True
            given = [found[1] for word in (told[1] or "").split()[:40] if (found := _NAME.match(word)) is not None]
            names.update(given)
            all_set.update(given)
        elif (read := sourced(part)) is not None:
            # just hands its recipes what its file of variables says.
            files.append((read[0], is_all))
        elif (found := _SETS.match(part)) is not None:
            all_set.add(found[1])
            names.update([found[1]] if is_all else [])
    if source.name == "justfile" or _reads_whole(source.text):
        files = [(name, True) for name, _ in files]
    # A Makefile may say that all is exported behind what it reads.
    if is_all and is_makefile(source):
        names, files = all_set, [(name, True) for name, _ in files]
    return _Exports(frozenset(names), frozenset(all_set), tuple(files))


def _reads_whole(text: str) -> bool:
    return "export $(" in text


def _parts(text: str) -> Iterator[str]:
    for line in text.split("\n")[:MAX_LINES]:
        for part in _BETWEEN.split(with_file_read(line[:MAX_LINE])):
            yield _LEADS.sub("", part.strip())
