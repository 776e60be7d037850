"""What a name of a program stands for: its default, what it is assigned, the entry of a table; followed until it is a text."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field, replace

from gpu_lol_action.analysis.python.values import MAX_TEXT, Value, entry_of, longest_of
from gpu_lol_action.domain.patterns import regex
from gpu_lol_action.domain.records import record

MAX_STEPS = 6
ENUMERATED = 3  # words of `Model.SDXL.value`
_NUMBERS = regex(r"\d{1,9}(?:\.\d{1,9})?(?:,\d{1,9}(?:\.\d{1,9})?){1,11}")


@record(frozen=True, slots=True)
class Names:
    """Names of one program: texts that it starts with, values made of other names, and dictionaries.

    ``own`` are the texts that functions set for themselves, by function and name: they come first inside.
    """

    texts: Mapping[str, str]
    values: Mapping[str, Value]
    tables: Mapping[str, Mapping[str, Value]]
    own: Mapping[tuple[str, str], str]
    followed: dict[tuple[str, str], str | None] = field(default_factory=dict, repr=False, compare=False)
    """Names that were followed already: each once, or parts made of parts would take time without end."""

    def resolve(self, value: Value | None, owner: str = "", steps: int = 0) -> str | None:
        """Return a value's text, following names as far as this program tells them; None where it does not."""
        if value is None or value.text is not None or steps > MAX_STEPS:
            return value.text if value else None
        found = (
            self._joined(value, owner, steps)
            if value.parts
            else self._row(value, owner, steps)
            if value.items
            else self._entry(value, owner, steps)
            or (None if self._is_of_row(value) else self._named(value, owner, steps))
        )
        return found if found is not None else self.resolve(value.otherwise, owner, steps + 1)

    def _joined(self, value: Value, owner: str, steps: int) -> str | None:
        texts = [self.resolve(part, owner, steps + 1) for part in value.parts]
        whole = "".join(text or "" for text in texts)
        return None if any(text is None for text in texts) else whole[: longest_of(whole)]

    def _row(self, value: Value, owner: str, steps: int) -> str | None:
        texts = [self.resolve(item, owner, steps + 1) for item in value.items]
        return None if any(text is None for text in texts) else ",".join(text or "" for text in texts)[:MAX_TEXT]

    def _entry(self, value: Value, owner: str, steps: int) -> str | None:
        value = self.row_of(value)
        table = self.tables.get(value.table or "")
        key = self.resolve(value.key, owner, steps + 1) if table is not None else None
        if table is not None and key is not None:
            return self.resolve(table.get(key), owner, steps + 1)
        if table is None and value.key is not None and value.reference is None and (value.key.text or "").isdecimal():
            return self._part(value, owner)
        # `CONFIG["model"]["name"]`, or an entry of a class of choices (`Model.SDXL.value`).
        base, _, rest = (value.path or "").partition(".")
        entry = self.tables[base].get(rest) if base in self.tables and rest else None
        return self.resolve(entry, owner, steps + 1) if entry is not None else self._member(value)

    def row_of(self, value: Value) -> Value:
        """Return an entry of a row that a name stands for (``preset["height"]``) as the table's own, under both keys."""
        row = self.values.get(value.table or "") if value.table not in self.tables else None
        if row is None or value.key is None or row.table not in self.tables:
            return value
        return replace(entry_of(row, value.key), otherwise=value.otherwise)

    def _is_of_row(self, value: Value) -> bool:
        """Whether a value is an entry of one of several rows, each of which has it under the same last word."""
        row = self.row_of(value)
        return row.table in self.tables and row.key is not None and bool(row.key.parts)

    def keys_of(self, value: Value | None, steps: int = 0) -> set[str]:
        """Return the names that choose which entry of a table a value is (``MODELS[args.size]``: ``size``)."""
        if value is None or steps > MAX_STEPS:
            return set()
        if value.table is None and value.reference is not None:
            return self.keys_of(self.values.get(value.reference), steps + 1)
        key = self.row_of(value).key
        parts = (key, *key.parts) if key is not None else ()
        return {part.reference for part in parts if part.text is None and part.reference is not None}

    def _part(self, value: Value, owner: str) -> str | None:
        """Return a number of a list of numbers by its place."""
        name = value.table or ""
        listed = self.own.get((owner, name)) or self.texts.get(name) or ""
        parts = listed.split(",") if _NUMBERS.fullmatch(listed) else []
        place = int(value.key.text or 0) if value.key is not None else len(parts)
        return parts[place] if place < len(parts) else None

    def _member(self, value: Value) -> str | None:
        words = (value.path or "").split(".")
        is_member = len(words) == ENUMERATED and words[-1] == "value" and words[0][:1].isupper()
        return self.own.get((words[0], words[1])) if is_member else None

    def _named(self, value: Value, owner: str, steps: int) -> str | None:
        if value.reference is None:
            return None
        text = self.own.get((owner, value.reference)) or self.texts.get(value.reference)
        if text is not None:
            return text
        place = (owner, value.reference)
        if place not in self.followed:
            self.followed[place] = None  # where a name leads back to itself
            inner = self.values.get(value.reference)
            self.followed[place] = self.resolve(inner, owner, steps + 1) if inner is not value else None
        return self.followed[place]

    def path_of(self, value: Value | None, steps: int = 0) -> str | None:
        """Return the dotted name that a value is taken from (``cfg.model.name``), followed to the longest that is written."""
        if value is None or steps > MAX_STEPS:
            return None
        if value.path is not None and "." in value.path and not value.path.startswith("self."):
            return value.path
        inner = self.values.get(value.reference or "")
        return self.path_of(inner, steps + 1) if inner is not None and inner is not value else None
