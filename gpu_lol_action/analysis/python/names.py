"""What a name of a program stands for: its default, what it is assigned, the entry of a table; followed until it is a text."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field

from gpu_lol_action.analysis.python.values import MAX_TEXT, Value
from gpu_lol_action.domain.records import record

MAX_STEPS = 6


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
            else self._entry(value, owner, steps) or self._named(value, owner, steps)
        )
        return found if found is not None else self.resolve(value.otherwise, owner, steps + 1)

    def _joined(self, value: Value, owner: str, steps: int) -> str | None:
        texts = [self.resolve(part, owner, steps + 1) for part in value.parts]
        return None if any(text is None for text in texts) else "".join(text or "" for text in texts)[:MAX_TEXT]

    def _row(self, value: Value, owner: str, steps: int) -> str | None:
        texts = [self.resolve(item, owner, steps + 1) for item in value.items]
        return None if any(text is None for text in texts) else ",".join(text or "" for text in texts)[:MAX_TEXT]

    def _entry(self, value: Value, owner: str, steps: int) -> str | None:
        table = self.tables.get(value.table or "")
        key = self.resolve(value.key, owner, steps + 1) if table is not None else None
        return self.resolve(table.get(key), owner, steps + 1) if table is not None and key is not None else None

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
