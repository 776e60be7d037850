"""YAML as nodes with lines, within bounds: what a stranger writes must neither hang nor surprise us."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import yaml

from gpu_lol_action.domain import suggest
from gpu_lol_action.domain.records import record
from gpu_lol_action.errors import SpecError

MAX_BYTES = 256 * 1024
MAX_DEPTH = 12
MAX_NODES = 5000
MAX_TEXT = 8 * 1024

_PLAIN_TAGS = {
    f"tag:yaml.org,2002:{name}"
    for name in ("null", "bool", "int", "float", "str", "timestamp", "map", "seq", "value", "merge")
}


@record(frozen=True, slots=True)
class Place:
    """The file a node comes from, so that an error can name it."""

    path: str

    def error(self, node: yaml.Node | int, what: str, *, why: str = "", fix: str = "") -> SpecError:
        """Return the error for that node (or 1-based line), to be raised."""
        line = node if isinstance(node, int) else node.start_mark.line + 1
        shown = f"{self.path}, line {line}: {printable(what)}"
        return SpecError("spec_invalid", shown, path=self.path, line=line, why=why, fix=printable(fix))


def read_document(text: str, place: Place) -> yaml.Node | None:
    """Return the root node of the one document in ``text``; None when it is empty. Raises SpecError."""
    size = len(text.encode("utf-8", "surrogatepass"))
    if size > MAX_BYTES:
        raise place.error(1, f"the file has {size // 1024} KiB; {MAX_BYTES // 1024} KiB is the most that is read.")
    try:
        _check_events(text, place)
        return yaml.compose(text, Loader=yaml.SafeLoader)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line = mark.line + 1 if mark else 1
        raise place.error(line, f"this is not valid YAML: {_explain(error, text, line)}.") from None
    except yaml.reader.ReaderError as error:
        line = text.count("\n", 0, error.position) + 1
        code = ord(error.character) if isinstance(error.character, str) else int(error.character)
        raise place.error(line, f"the character U+{code:04X} is not allowed in YAML.", fix="Remove it.") from None
    except (yaml.YAMLError, ValueError, OverflowError):
        # PyYAML lets Python's own errors out: an escape that is no character, a version of thousands of digits.
        raise place.error(1, "this is not valid YAML.", fix="Is each escape (`\\U...`) a character?") from None


def entries(node: yaml.Node, what: str, place: Place) -> Iterator[tuple[str, yaml.Node, yaml.Node]]:
    """Yield key, key node and value node of a mapping; an empty value counts as an empty mapping. Raises SpecError."""
    if is_null(node):
        return
    if not isinstance(node, yaml.MappingNode):
        raise place.error(node, f"`{what}` must hold keys and values, not {kind_of(node)}.")
    seen: dict[str, int] = {}
    for key, value in node.value:
        if not isinstance(key, yaml.ScalarNode):
            raise place.error(key, f"a key of `{what}` must be a plain word.")
        if key.tag == "tag:yaml.org,2002:merge":
            raise place.error(key, "merge keys (`<<`) are not used here.", fix="Write the keys out.")
        if key.value in seen:
            raise place.error(key, f"`{key.value[:60]}` is written twice; it stands in line {seen[key.value]} already.")
        seen[key.value] = key.start_mark.line + 1
        yield key.value, key, value


def items(node: yaml.Node, what: str, place: Place) -> list[yaml.Node]:
    """Return the items of a list; an empty value counts as an empty list. Raises SpecError."""
    if is_null(node):
        return []
    if not isinstance(node, yaml.SequenceNode):
        fix = f"Write `{what}: [...]`, also for a single one." if isinstance(node, yaml.ScalarNode) else ""
        raise place.error(node, f"`{what}` must be a list, not {kind_of(node)}.", fix=fix)
    return list(node.value)


def text_of(node: yaml.Node, what: str, place: Place, *, is_multiline: bool = False) -> str:
    """Return a text; a number written plainly counts as its text (`3.10` stays `3.10`). Raises SpecError."""
    if not isinstance(node, yaml.ScalarNode):
        raise place.error(node, f"`{what}` must be a text, not {kind_of(node)}.")
    if node.tag == "tag:yaml.org,2002:bool":
        fix = f'Put it in quotes: "{node.value}".'
        raise place.error(node, f"`{what}: {node.value}` is true or false in YAML, not a text.", fix=fix)
    if is_null(node):
        raise place.error(node, f"`{what}` is empty.")
    value = str(node.value)
    if len(value) > MAX_TEXT:
        raise place.error(node, f"`{what}` has {len(value)} characters; {MAX_TEXT} is the most.")
    allowed = "\n\t" if is_multiline else ""
    bad = next((character for character in value if not (character.isprintable() or character in allowed)), None)
    if bad is not None:
        raise place.error(
            node, f"`{what}` holds the character U+{ord(bad):04X}, which does not print.", fix="Remove it."
        )
    return value


def is_null(node: yaml.Node) -> bool:
    """Whether the value is missing, `~` or `null`."""
    return isinstance(node, yaml.ScalarNode) and node.tag == "tag:yaml.org,2002:null"


def kind_of(node: yaml.Node) -> str:
    """Return in words what a node is."""
    if isinstance(node, yaml.MappingNode):
        return "a mapping"
    if isinstance(node, yaml.SequenceNode):
        return "a list"
    return f"`{str(node.value)[:40]}`"


def nearest(word: str, choices: Iterable[str]) -> str:
    """Return the choice that looks most like ``word``, or an empty text."""
    return next(iter(suggest.nearest(word, choices, 1)), "")


def printable(text: str) -> str:
    """Return ``text`` with what does not print (control, bidirectional marks) written as U+ numbers."""
    return "".join(character if character.isprintable() else f"U+{ord(character):04X}" for character in text)


def _check_events(text: str, place: Place) -> None:
    """Refuse what would expand, nest or repeat without end, before any tree is built."""
    depth = nodes = documents = 0
    for event in yaml.parse(text, Loader=yaml.SafeLoader):
        line = event.start_mark.line + 1 if event.start_mark else 1
        if isinstance(event, yaml.AliasEvent):
            raise place.error(
                line, f"aliases (`*{str(event.anchor)[:30]}`) are not used here.", fix="Write the value out."
            )
        if isinstance(event, (yaml.MappingStartEvent, yaml.SequenceStartEvent)):
            depth += 1
        elif isinstance(event, (yaml.MappingEndEvent, yaml.SequenceEndEvent)):
            depth -= 1
        elif isinstance(event, yaml.DocumentStartEvent):
            documents += 1
        nodes += isinstance(event, yaml.NodeEvent)
        tag = getattr(event, "tag", None)
        if tag and tag not in {*_PLAIN_TAGS, "!"}:
            raise place.error(line, f"the tag `{str(tag)[:60]}` is not used here.", fix="Remove it.")
        if depth > MAX_DEPTH:
            raise place.error(line, f"this nests more than {MAX_DEPTH} levels deep.")
        if nodes > MAX_NODES:
            raise place.error(line, f"the file holds more than {MAX_NODES} values.")
        if documents > 1:
            raise place.error(line, "the file holds more than one document.", fix="Remove the `---`.")


def _explain(error: yaml.MarkedYAMLError, text: str, line: int) -> str:
    lines = text.splitlines()
    shown = lines[line - 1] if line <= len(lines) else ""
    if "\t" in shown[: len(shown) - len(shown.lstrip())] or "'\\t'" in str(error.problem):
        return "a tab stands where spaces must; YAML indents with spaces"
    return str(error.problem or error.context or "it cannot be read")[:200]
