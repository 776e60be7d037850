"""The ledger's texts as git commits on refs of their own, written through GitHub's API.

One ref per environment, `refs/gpu-lol/environments/<name>`; each version is a commit whose tree holds
`record.json` and whose parent is the version before. Creating a ref fails where it exists, and moving one
without force fails where it moved meanwhile: that is all the locking there is. Refs are never deleted.
Where a repository refuses custom refs, `refs/heads/gpu-lol/...` takes their place.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from gpu_lol_action.adapters.github import Ask, GitHubClient, LostAnswer, Reply
from gpu_lol_action.errors import OperatorError, TransientError

_CUSTOM, _BRANCHES = "gpu-lol", "heads/gpu-lol"
_FILE, _NOTE_FILE = "record.json", "sweep.json"
_NOTE = "sweep"
_BATCH = 50
_REFUSALS = frozenset({409, 422})


class GitRefStore:
    """The port `Store` (ledger.py) on one repository's refs. `where` is None until refs were seen or made."""

    def __init__(self, client: GitHubClient, folder: str = "environments") -> None:
        """Ask nothing yet; ``folder`` is where below our refs the names stand."""
        self._client = client
        self._folder = folder
        self.where: str | None = None

    # --- reading ------------------------------------------------------------------------------------------
    def tip(self, name: str) -> str | None:
        """Return the commit that the environment's ref points at."""
        if self.where is None:
            return self.tips().get(name)
        return self._ref(f"{self.where}/{self._folder}/{name}")

    def tips(self) -> Mapping[str, str]:
        """Return every environment's commit: one request, two where there is none yet."""
        for where in self._places():
            # The listing matches beginnings of names and is never paged.
            listed = self._client.get("git/matching-refs/{ref}", {"ref": f"{where}/{self._folder[0]}"})
            prefix = f"refs/{where}/{self._folder}/"
            found = {
                entry["ref"].removeprefix(prefix): entry["object"]["sha"]
                for entry in listed
                if entry["ref"].startswith(prefix)
            }
            if found:
                self.where = where
                return found
        return {}

    def texts(self, versions: Iterable[tuple[str, str]]) -> Mapping[tuple[str, str], str | None]:
        """Return the record of each commit: one request for one, one for every fifty where there are more."""
        wanted = list(versions)
        if sum(not self._client.is_known(_content(_FILE, sha)) for _, sha in wanted) > 2:
            try:
                return self._texts_at_once(wanted)
            except OperatorError:
                # A token without GraphQL (or an old server): one by one, as before GraphQL.
                pass
        return {(name, sha): self._text(_FILE, sha) for name, sha in wanted}

    def history(self, name: str) -> Sequence[str]:
        """Return the chain of commits, newest first."""
        tip = self.tip(name)
        if tip is None:
            return ()
        return tuple(entry["sha"] for entry in self._client.pages("commits", sha=tip))

    def _texts_at_once(self, wanted: Sequence[tuple[str, str]]) -> dict[tuple[str, str], str | None]:
        owner, name = self._client.connection.full_name.split("/")
        texts: dict[tuple[str, str], str | None] = {}
        for start in range(0, len(wanted), _BATCH):
            batch = wanted[start : start + _BATCH]
            parts = [
                f'c{place}: object(oid: "{sha}") {{ ... on Commit '
                f'{{ file(path: "{_FILE}") {{ object {{ ... on Blob {{ text isTruncated }} }} }} }} }}'
                for place, (_, sha) in enumerate(batch)
            ]
            query = f'query {{ repository(owner: "{owner}", name: "{name}") {{ {" ".join(parts)} }} }}'
            found = self._client.graphql(query)["repository"]
            for place, key in enumerate(batch):
                texts[key] = _blob_text(found.get(f"c{place}"))
        return texts

    def _text(self, path: str, sha: str) -> str | None:
        reply = self._client.ask(_content(path, sha))
        if reply.status == 404 or not isinstance(reply.body, dict):
            return None
        try:
            return base64.b64decode(str(reply.body.get("content", ""))).decode("utf-8")
        except (binascii.Error, UnicodeDecodeError):
            return None

    def _ref(self, ref: str) -> str | None:
        ask = Ask("GET", "git/ref/{ref}", {"ref": ref}, allow=frozenset({404}))
        reply = self._client.ask(ask)
        return None if reply.status == 404 else str(reply.body["object"]["sha"])

    # --- writing ------------------------------------------------------------------------------------------
    def create(self, name: str, text: str, summary: str) -> str | None:
        """Make the environment's ref; None when it exists."""
        if self.where is None and name in self.tips():
            return None
        commit = self._commit(_FILE, text, summary, ())
        refusal: Reply | None = None
        # One namespace once there is a record: two of them would let two runs claim one name.
        for where in self._places():
            ref = f"{where}/{self._folder}/{name}"
            refusal = self._create_ref(ref, commit)
            # GitHub's word counts for more than a look: a ref made a moment ago may not show yet.
            if refusal is None or "already exists" in refusal.message or self._ref(ref) is not None:
                self.where = where
                return commit if refusal is None else None
        raise _refused(refusal)

    def append(self, name: str, parent: str, text: str, summary: str) -> str | None:
        """Move the ref from `parent` to a new commit; None when it is elsewhere by now."""
        if self.where is None:
            self.tips()
        ref = f"{self.where or _CUSTOM}/{self._folder}/{name}"
        commit = self._commit(_FILE, text, summary, (parent,))
        for _ in range(2):
            refusal = self._move_ref(ref, commit)
            if refusal is None:
                return commit
            standing = self._ref(ref)
            if standing == commit:
                return commit
            if standing != parent or "fast forward" in refusal.message:
                return None
            if refusal.status:
                # It stands where we left it and still may not move: that is a rule, not a race.
                raise _refused(refusal)
        raise _unanswered(name)

    def write_note(self, text: str) -> None:
        """Keep the sweep's note on a ref of its own; the newest wins, so it is moved with force."""
        if self.where is None:
            self.tips()
        commit = self._commit(_NOTE_FILE, text, "Note a successful sweep", ())
        refusal: Reply | None = None
        for where in self._places():
            refusal = self._move_ref(f"{where}/{_NOTE}", commit, is_forced=True)
            if refusal is not None:
                refusal = self._create_ref(f"{where}/{_NOTE}", commit)
            if refusal is None:
                return
        raise _refused(refusal)

    def read_note(self) -> str | None:
        """Return the sweep's note."""
        if self.where is None:
            self.tips()
        for where in self._places():
            commit = self._ref(f"{where}/{_NOTE}")
            if commit is not None:
                return self._text(_NOTE_FILE, commit)
        return None

    def _places(self) -> tuple[str, ...]:
        """Where refs may stand: one place once any was seen or made there."""
        return (self.where,) if self.where else (_CUSTOM, _BRANCHES)

    def _commit(self, path: str, text: str, summary: str, parents: Sequence[str]) -> str:
        """Write blob, tree and commit: objects that nothing points at yet, so asking twice does no harm."""
        entry = {"path": path, "mode": "100644", "type": "blob", "content": text}
        tree = self._client.ask(Ask("POST", "git/trees", body={"tree": [entry]}, is_repeatable=True)).body["sha"]
        body = {"message": summary, "tree": tree, "parents": list(parents)}
        return str(self._client.ask(Ask("POST", "git/commits", body=body, is_repeatable=True)).body["sha"])

    def _create_ref(self, ref: str, commit: str) -> Reply | None:
        """None where the ref was made; GitHub's refusal where not. A lost answer is asked after."""
        ask = Ask("POST", "git/refs", body={"ref": f"refs/{ref}", "sha": commit}, allow=_REFUSALS)
        reply = self._settled(ask)
        if reply is not None and not reply.status:
            standing = self._ref(ref)
            if standing is not None:
                return None if standing == commit else Reply(422, {"message": "Reference already exists"}, {})
            reply = self._settled(ask)
            if reply is not None and not reply.status:
                raise _unanswered(ref)
        return reply

    def _move_ref(self, ref: str, commit: str, *, is_forced: bool = False) -> Reply | None:
        """None where the ref moved; GitHub's refusal where not, or status 0 where the answer was lost."""
        body = {"sha": commit, "force": is_forced}
        return self._settled(
            Ask("PATCH", "git/refs/{ref}", {"ref": ref}, body=body, is_repeatable=is_forced, allow=_REFUSALS)
        )

    def _settled(self, ask: Ask) -> Reply | None:
        try:
            reply = self._client.ask(ask)
        except LostAnswer:
            return Reply(0, None, {})
        return None if reply.status < 400 else reply


def _content(path: str, sha: str) -> Ask:
    return Ask("GET", "contents/{path}", {"path": path}, {"ref": sha}, allow=frozenset({404}))


def _blob_text(found: Any) -> str | None:
    entry = found.get("file") if isinstance(found, dict) else None
    blob = entry.get("object") if isinstance(entry, dict) else None
    if not isinstance(blob, dict) or blob.get("isTruncated"):
        return None
    text = blob.get("text")
    return text if isinstance(text, str) else None


def _refused(reply: Reply | None) -> OperatorError:
    return OperatorError(
        "ledger_refused",
        "this repository refuses the refs in which gpu-lol keeps its records",
        why=reply.message if reply else "",
        fix="A maintainer must let the workflow write `refs/gpu-lol/**` (or `refs/heads/gpu-lol/**`) in the rulesets; "
        "a repository without any commit needs one first.",
    )


def _unanswered(name: str) -> TransientError:
    return TransientError(
        "github_unreachable", f"GitHub did not say whether `{name}` was written", fix="Try again in a few minutes."
    )
