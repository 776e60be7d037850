"""All refs that are ours with what they hold, in one request: environments, notes about proposals, the sweep's note.

GraphQL's documentation shows `refs/heads/` and `refs/tags/` as prefixes and says "etc."; that it lists custom refs is
not promised. So where it shows none, REST is asked before that is believed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from gpu_lol_action.adapters.github import GitHubClient
from gpu_lol_action.adapters.ledger_text import from_message
from gpu_lol_action.errors import GpuLolError, TransientError

CUSTOM, BRANCHES = "gpu-lol", "heads/gpu-lol"
PLACES = (CUSTOM, BRANCHES)
RECORD_FILE = "record.json"
_MAX_PAGES = 100

VERSION_FIELDS = f'message file(path: "{RECORD_FILE}") {{ object {{ ... on Blob {{ text isTruncated }} }} }}'
FIELDS = " ".join(
    f'{alias}: refs(refPrefix: "refs/{where}/", first: 100, after: ${alias}) {{ ...OurRefs }}'
    for alias, where in (("custom", CUSTOM), ("branches", BRANCHES))
)
VARIABLES = "$custom: String, $branches: String"
FRAGMENT = (
    "fragment OurRefs on RefConnection { pageInfo { hasNextPage endCursor } "
    f"nodes {{ name prefix target {{ oid ... on Commit {{ {VERSION_FIELDS} }} }} }} }}"
)
QUERY = (
    f"query OurRefs($owner: String!, $name: String!, {VARIABLES}) "
    f"{{ repository(owner: $owner, name: $name) {{ {FIELDS} }} }} {FRAGMENT}"
)


@dataclass(slots=True)
class Listing:
    """Ref (without ``refs/``) -> commit, and commit -> text. ``cursors`` of further pages, by alias."""

    refs: dict[str, str] = field(default_factory=dict)
    texts: dict[str, str | None] = field(default_factory=dict)
    cursors: dict[str, str] = field(default_factory=dict)

    @property
    def is_custom_seen(self) -> bool:
        """Whether any ref outside of the branches was shown."""
        return any(name.startswith(f"{CUSTOM}/") for name in self.refs)

    def below(self, folder: str) -> tuple[str | None, dict[str, str]]:
        """Return where a folder's refs stand, and name -> commit; the first place that has any counts."""
        for where in PLACES:
            start = f"{where}/{folder}/"
            found = {name.removeprefix(start): sha for name, sha in self.refs.items() if name.startswith(start)}
            if found:
                return where, found
        return None, {}

    def add(self, other: Listing) -> None:
        """Take in another page."""
        self.refs |= other.refs
        self.texts |= other.texts
        self.cursors = other.cursors


class OurRefs:
    """What the refs held when they were last listed; each folder gets a listing once, then a new one is made."""

    def __init__(self, client: GitHubClient) -> None:
        """Ask nothing yet."""
        self._client = client
        self._is_graphql_blind = False
        self._last = Listing()
        self._taken: set[str] | None = None
        self._handed_over: Listing | None = None

    def hand_over(self, repository: Mapping[str, Any]) -> None:
        """Take the listing that stood in the answer to a larger question. Raises KeyError or TypeError for none."""
        listing = parse_listing(repository)
        if not listing.cursors:
            self._handed_over = listing

    def listing(self, folder: str) -> Listing:
        """Return all refs with what they hold, as a run that asks for this folder has not seen them yet."""
        if self._handed_over is not None or self._taken is None or folder in self._taken:
            seen, self._handed_over = self._handed_over, None
            self._last, self._taken = self._completed(seen or self._listed()), set()
        self._taken.add(folder)
        return self._last

    @property
    def last(self) -> Mapping[str, str]:
        """The refs of the newest listing, without asking."""
        return self._last.refs

    def _completed(self, listing: Listing | None) -> Listing:
        """Add through REST what GraphQL may not show."""
        if listing is not None and listing.is_custom_seen:
            return listing
        places = PLACES if listing is None else (CUSTOM,)
        seen = self._listed_by_rest(places)
        # What REST shows and GraphQL does not is not asked of GraphQL again.
        self._is_graphql_blind = listing is None or bool(seen.refs)
        if listing is not None:
            seen.add(listing)
        return seen

    def _listed(self) -> Listing | None:
        """What GraphQL lists; None where it cannot be asked."""
        if self._is_graphql_blind:
            return None
        owner, name = self._client.connection.full_name.split("/")
        whole, unfinished = Listing(), {"custom", "branches"}
        for _ in range(_MAX_PAGES):
            variables = {"owner": owner, "name": name, "custom": None, "branches": None, **whole.cursors}
            try:
                whole.add(parse_listing(self._client.graphql(QUERY, variables)["repository"]))
            except (GpuLolError, KeyError, TypeError, AttributeError):
                return None
            # One that has come to its end starts anew beside the other's next page.
            unfinished &= set(whole.cursors)
            whole.cursors = {alias: cursor for alias, cursor in whole.cursors.items() if alias in unfinished}
            if not unfinished:
                return whole
        raise TransientError("github_list_too_long", f"there are more than {_MAX_PAGES * 100} refs of gpu-lol")

    def _listed_by_rest(self, places: Sequence[str]) -> Listing:
        found = Listing()
        for where in places:
            # The listing matches beginnings of names and is never paged.
            listed = self._client.get("git/matching-refs/{ref}", {"ref": where})
            refs = {str(entry["ref"]).removeprefix("refs/"): str(entry["object"]["sha"]) for entry in listed}
            found.refs |= {name: sha for name, sha in refs.items() if name.startswith(f"{where}/")}
        return found


def parse_listing(repository: Mapping[str, Any]) -> Listing:
    """Return one page of what GraphQL shows. Raises KeyError or TypeError where the shape is not GitHub's."""
    found = Listing()
    for alias in ("custom", "branches"):
        page = repository[alias]
        if page is None:
            continue
        for node in page["nodes"]:
            target = node["target"]
            name = (str(node["prefix"]) + str(node["name"])).removeprefix("refs/")
            found.refs[name] = str(target["oid"])
            found.texts[str(target["oid"])] = version_text(target)
        if page["pageInfo"]["hasNextPage"]:
            found.cursors[alias] = str(page["pageInfo"]["endCursor"])
    return found


def version_text(commit: Any) -> str | None:
    """Return what a commit holds as GraphQL shows it: in its message, or in a file where it is long."""
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
