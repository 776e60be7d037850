"""The question that lists the ledger in one request: every environment's newest version with its text, and the note.

GraphQL's documentation shows `refs/heads/` and `refs/tags/` as prefixes and says "etc."; that it lists custom refs is
not promised. So an empty list is no answer here: whoever asks looks through REST before believing it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from gpu_lol_action.adapters.ledger_text import from_message

CUSTOM, BRANCHES = "gpu-lol", "heads/gpu-lol"
RECORD_FILE = "record.json"

VERSION_FIELDS = 'message file(path: "record.json") { object { ... on Blob { text isTruncated } } }'
LEDGER_FRAGMENTS = (
    "fragment Note on Ref { target { ... on Commit { message } } } "
    "fragment Listing on RefConnection { pageInfo { hasNextPage endCursor } "
    f"nodes {{ name prefix target {{ oid ... on Commit {{ {VERSION_FIELDS} }} }} }} }}"
)
LEDGER_FIELDS = " ".join(
    f'{place}: refs(refPrefix: "refs/{where}/environments/", first: 100, after: $after) {{ ...Listing }} '
    f'{place}Note: ref(qualifiedName: "refs/{where}/sweep") {{ ...Note }}'
    for place, where in (("custom", CUSTOM), ("branches", BRANCHES))
)
LEDGER_QUERY = (
    "query Ledger($owner: String!, $name: String!, $after: String) "
    f"{{ repository(owner: $owner, name: $name) {{ {LEDGER_FIELDS} }} }} {LEDGER_FRAGMENTS}"
)


@dataclass(slots=True)
class Listing:
    """What one namespace holds: name -> newest version, version -> text, and the note. ``after`` is the next page."""

    where: str
    tips: dict[str, str] = field(default_factory=dict)
    texts: dict[str, str | None] = field(default_factory=dict)
    note: str | None = None
    after: str | None = None


def parse_listing(repository: Mapping[str, Any]) -> Listing:
    """Return a page of the namespace that has records, an empty one where neither has. Raises KeyError or TypeError."""
    empty = Listing(CUSTOM)
    for place, where in (("custom", CUSTOM), ("branches", BRANCHES)):
        page, noted = repository[place], repository[f"{place}Note"]
        note = from_message(str(noted["target"].get("message", ""))) if noted else None
        if page is None or not page["nodes"]:
            empty.note = empty.note or note
            continue
        found = Listing(where, note=note)
        for node in page["nodes"]:
            target, full = node["target"], str(node["prefix"]) + str(node["name"])
            found.tips[full.removeprefix(f"refs/{where}/environments/")] = str(target["oid"])
            found.texts[str(target["oid"])] = version_text(target)
        found.after = str(page["pageInfo"]["endCursor"]) if page["pageInfo"]["hasNextPage"] else None
        return found
    return empty


def version_text(commit: Any) -> str | None:
    """Return the record of a commit as GraphQL shows it: in its message, or in a file where it is long."""
    if not isinstance(commit, dict):
        return None
    text = from_message(str(commit.get("message") or ""))
    if text is not None:
        return text
    entry = commit.get("file")
    blob = entry.get("object") if isinstance(entry, dict) else None
    if not isinstance(blob, dict) or blob.get("isTruncated"):
        return None
    kept = blob.get("text")
    return kept if isinstance(kept, str) else None
