"""The ledger's texts as git commits on refs of their own, written through GitHub's API.

One ref per environment, `refs/gpu-lol/environments/<name>`; each version is a commit whose message holds the record
and whose parent is the version before. Creating a ref fails where it exists, and moving one without force fails where
it moved meanwhile: that is all the locking there is. Refs are never deleted.
Where a repository refuses custom refs, `refs/heads/gpu-lol/...` takes their place.
"""

from __future__ import annotations

import base64
import binascii
import contextlib
from collections.abc import Iterable, Mapping, Sequence

from gpu_lol_action.adapters.github import Ask, GitHubClient, LostAnswer, Reply
from gpu_lol_action.adapters.ledger_text import from_message, to_message
from gpu_lol_action.adapters.our_refs import CUSTOM, PLACES, RECORD_FILE, VERSION_FIELDS, OurRefs, version_text
from gpu_lol_action.errors import OperatorError, TransientError

EMPTY_TREE = "4b825dc642cb6eb9a060e54bf8d69288fbee4904"
"""The tree without entries, which git knows everywhere."""

_NOTE = "sweep"
_BATCH = 50
_REFUSALS = frozenset({409, 422})


class GitRefStore:
    """The port `Store` (ledger.py) on one repository's refs. `where` is None until refs were seen or made.

    ``folder`` is where below our refs the names stand; ``refs`` may be shared by the stores of a run.
    """

    def __init__(self, client: GitHubClient, folder: str = "environments", refs: OurRefs | None = None) -> None:
        """Ask nothing yet."""
        self._client = client
        self._folder = folder
        self._refs = refs or OurRefs(client)
        self._texts: dict[str, str | None] = {}
        self._tree = EMPTY_TREE
        self._is_known_empty = False
        self.where: str | None = None

    # --- reading ------------------------------------------------------------------------------------------
    def tip(self, name: str) -> str | None:
        """Return the commit that a name's ref points at."""
        if self.where is None:
            return self.tips().get(name)
        return self._ref(f"{self.where}/{self._folder}/{name}")

    def tips(self) -> Mapping[str, str]:
        """Return every name's commit: one request, two where there is none yet."""
        listing = self._refs.listing(self._folder)
        where, found = listing.below(self._folder)
        self.where = where or self.where
        self._is_known_empty = not found
        self._texts |= listing.texts
        return found

    def survey(self) -> tuple[Mapping[str, str], str | None]:
        """Return every name's commit, and the sweep's note, in one listing."""
        tips, refs = self.tips(), self._refs.last
        noted = next((refs[f"{where}/{_NOTE}"] for where in self._places() if f"{where}/{_NOTE}" in refs), None)
        return tips, self._text(noted) if noted else None

    def texts(self, versions: Iterable[tuple[str, str]]) -> Mapping[tuple[str, str], str | None]:
        """Return the record of each commit: one request for one, one for every fifty where there are more."""
        wanted = list(versions)
        unread = [sha for _, sha in wanted if sha not in self._texts]
        if len(unread) > 2:
            # A token without GraphQL (or an old server): one by one, as before GraphQL.
            with contextlib.suppress(OperatorError):
                self._read_at_once(unread)
        return {(name, sha): self._text(sha) for name, sha in wanted}

    def history(self, name: str) -> Sequence[str]:
        """Return the chain of commits, newest first."""
        tip = self.tip(name)
        if tip is None:
            return ()
        versions = []
        for entry in self._client.pages("commits", sha=tip):
            versions.append(str(entry["sha"]))
            text = from_message(str(entry["commit"]["message"]))
            if text is not None:
                self._texts[str(entry["sha"])] = text
        return tuple(versions)

    def _read_at_once(self, wanted: Sequence[str]) -> None:
        owner, name = self._client.connection.full_name.split("/")
        for start in range(0, len(wanted), _BATCH):
            batch = wanted[start : start + _BATCH]
            parts = [
                f'c{place}: object(oid: "{sha}") {{ ... on Commit {{ {VERSION_FIELDS} }} }}'
                for place, sha in enumerate(batch)
            ]
            query = (
                "query Versions($owner: String!, $name: String!) "
                f"{{ repository(owner: $owner, name: $name) {{ {' '.join(parts)} }} }}"
            )
            found = self._client.graphql(query, {"owner": owner, "name": name})["repository"]
            for place, sha in enumerate(batch):
                self._texts[sha] = version_text(found.get(f"c{place}"))

    def _text(self, sha: str) -> str | None:
        if sha not in self._texts:
            reply = self._client.ask(Ask("GET", "git/commits/{sha}", {"sha": sha}, allow=frozenset({404})))
            if reply.status == 404:
                return None
            text = from_message(str(reply.body.get("message", "")))
            self._texts[sha] = self._file(sha) if text is None else text
        return self._texts[sha]

    def _file(self, sha: str) -> str | None:
        ask = Ask("GET", "contents/{path}", {"path": RECORD_FILE}, {"ref": sha}, allow=frozenset({404}))
        reply = self._client.ask(ask)
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
        if self.where is None and not self._is_known_empty and name in self.tips():
            return None
        commit = self._commit(text, summary, ())
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
        ref = f"{self.where or CUSTOM}/{self._folder}/{name}"
        commit = self._commit(text, summary, (parent,))
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
        if self.where is None and not self._is_known_empty:
            self.tips()
        commit = self._commit(text, "Note a successful sweep", ())
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
        return self.survey()[1]

    def _places(self) -> tuple[str, ...]:
        """Where refs may stand: one place once any was seen or made there."""
        return (self.where,) if self.where else PLACES

    def _commit(self, text: str, summary: str, parents: Sequence[str]) -> str:
        """Write a commit, at which nothing points yet: asking twice does no harm."""
        message = to_message(summary, text)
        tree = self._tree
        if message is None:
            message, tree = summary, self._write_tree(RECORD_FILE, text)
        body = {"message": message, "tree": tree, "parents": list(parents)}
        ask = Ask("POST", "git/commits", body=body, is_repeatable=True, allow=frozenset({404, 409, 422}))
        reply = self._client.ask(ask)
        if reply.status >= 400:
            # That the tree without entries may be named though nobody has written it is not documented.
            self._tree = self._write_tree("README", "The ledger of gpu-lol: the records are in the messages.\n")
            body["tree"] = self._tree if tree == EMPTY_TREE else tree
            reply = self._client.ask(Ask("POST", "git/commits", body=body, is_repeatable=True))
        return str(reply.body["sha"])

    def _write_tree(self, path: str, text: str) -> str:
        entry = {"path": path, "mode": "100644", "type": "blob", "content": text}
        return str(self._client.ask(Ask("POST", "git/trees", body={"tree": [entry]}, is_repeatable=True)).body["sha"])

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
