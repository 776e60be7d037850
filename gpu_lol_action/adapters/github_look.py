"""One look at a pull request: its head, our comments on it, the policy and the records, in two requests.

A proposal has to know all of these right before it writes. Asked one by one they would be eight requests; GraphQL
gives them at once. What the look has learned of policy and records answers the later questions of this run
(`GitHubClient.know`), so it is for runs that write neither. Where GraphQL is refused, the caller asks one by one.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Iterable, Sequence
from typing import Any

from gpu_lol_action.adapters.github import Ask, GitHubClient, Reply
from gpu_lol_action.domain.policy import POLICY_PATH
from gpu_lol_action.domain.request import Posted
from gpu_lol_action.domain.surfaces import Standing
from gpu_lol_action.errors import OperatorError, TransientError

_OURS, _BRANCHES = "gpu-lol", "heads/gpu-lol"
# Of each: the listing that the ledger's stores ask for, below which their names stand.
_LISTINGS = ("environments", "proposals")
_FILES = {"environments": "record.json", "proposals": "record.json", "sweep": "sweep.json"}
_MAX_TEXTS = 40
MAX_PAGES = 20
"""Of 100 comments each: a conversation that long has its proposal near the top."""


class GitHubLook:
    """How a conversation stands, and tidying it up."""

    def __init__(self, client: GitHubClient, default_branch: str) -> None:
        """Ask nothing yet."""
        self._client = client
        self._default_branch = default_branch

    def standing(self, number: int, marker_prefix: str, *, is_final: bool) -> Standing | None:
        """Return how the pull request stands, with our own comments that start with the marker, oldest first.

        None where this token has no GraphQL. ``is_final``: this run writes neither policy nor records, so that what is
        seen of them here need not be asked again.
        """
        refs = self._our_refs() if is_final else None
        try:
            found = self._ask(number, self._parts(refs) if refs is not None else ())
        except OperatorError:
            return None
        if refs is not None:
            self._remember(refs, found)
        pull = found.get("pullRequest")
        if not isinstance(pull, dict):
            raise TransientError("github_answer_not_understood", f"GitHub's answer about #{number} lacks it")
        nodes = list(self._nodes(number, pull["comments"]))
        ours = [node for node in nodes if node["viewerDidAuthor"] and str(node["body"]).startswith(marker_prefix)]
        return Standing(
            head_sha=str(pull["headRefOid"]),
            is_draft=bool(pull["isDraft"]),
            is_open=pull["state"] == "OPEN",
            may_modify=bool(pull["maintainerCanModify"]),
            me=str(found["me"]),
            comments=tuple(_posted(node) for node in ours),
        )

    def hide(self, node_id: str) -> None:
        """Fold a comment away as outdated; doing it twice is the same."""
        mutation = f"minimizeComment(input: {{subjectId: {_quoted(node_id)}, classifier: OUTDATED}})"
        self._client.graphql(f"mutation {{ {mutation} {{ minimizedComment {{ isMinimized }} }} }}")

    # --- underneath ---------------------------------------------------------------------------------------
    def _our_refs(self) -> dict[str, str]:
        listed = self._client.get("git/matching-refs/{ref}", {"ref": _OURS})
        start = f"refs/{_OURS}/"
        return {each["ref"]: each["object"]["sha"] for each in listed if each["ref"].startswith(start)}

    def _parts(self, refs: dict[str, str]) -> list[str]:
        expression = _quoted(f"{self._default_branch}:{POLICY_PATH}")
        parts = [
            f"policy: object(expression: {expression}) {{ ... on Blob {{ text isTruncated byteSize }} }}",
            f'branches: refs(refPrefix: "refs/{_BRANCHES}/", first: 100) {{ nodes {{ name target {{ oid }} }} }}',
        ]
        for place, (sha, path) in enumerate(_texts(refs)):
            blob = "{ object { ... on Blob { text isTruncated byteSize } } }"
            parts.append(f't{place}: object(oid: "{sha}") {{ ... on Commit {{ file(path: "{path}") {blob} }} }}')
        return parts

    def _ask(self, number: int, parts: Iterable[str], after: str = "") -> dict[str, Any]:
        owner, name = self._client.connection.full_name.split("/")
        page = f"first: 100, after: {_quoted(after)}" if after else "first: 100"
        comments = (
            f"comments({page}) {{ pageInfo {{ hasNextPage endCursor }} "
            "nodes { id databaseId body url viewerDidAuthor author { login } } }"
        )
        pull = f"pullRequest(number: {number}) {{ headRefOid isDraft state maintainerCanModify {comments} }}"
        inside = " ".join([pull, *parts])
        query = (
            f"query {{ viewer {{ login }} repository(owner: {_quoted(owner)}, name: {_quoted(name)}) {{ {inside} }} }}"
        )
        answer = self._client.graphql(query)
        found = answer["repository"]
        if not isinstance(found, dict):
            raise OperatorError("github_refused", "GitHub shows this token no repository in GraphQL")
        return {**found, "me": answer["viewer"]["login"]}

    def _nodes(self, number: int, comments: Any) -> Iterable[Any]:
        for _ in range(MAX_PAGES):
            yield from comments["nodes"]
            if not comments["pageInfo"]["hasNextPage"]:
                return
            comments = self._ask(number, (), comments["pageInfo"]["endCursor"])["pullRequest"]["comments"]

    def _remember(self, refs: dict[str, str], found: dict[str, Any]) -> None:
        """Keep what was seen as the answers to the REST questions of policy and ledger."""
        self._remember_text(POLICY_PATH, self._default_branch, found.get("policy"))
        branches = {
            f"refs/{_BRANCHES}/{each['name']}": each["target"]["oid"] for each in (found.get("branches") or {})["nodes"]
        }
        for where, seen in ((_OURS, refs), (_BRANCHES, branches)):
            for folder in _LISTINGS:
                start = f"refs/{where}/{folder[0]}"
                listed = [_ref(name, sha) for name, sha in sorted(seen.items()) if name.startswith(start)]
                ask = Ask("GET", "git/matching-refs/{ref}", {"ref": f"{where}/{folder[0]}"})
                self._client.know(ask, Reply(200, listed, {}))
            sweep = f"refs/{where}/sweep"
            known = Reply(200, _ref(sweep, seen[sweep]), {}) if sweep in seen else Reply(404, {}, {})
            self._client.know(Ask("GET", "git/ref/{ref}", {"ref": f"{where}/sweep"}), known)
            for name, sha in seen.items():
                ask = Ask("GET", "git/ref/{ref}", {"ref": name.removeprefix("refs/")})
                self._client.know(ask, Reply(200, _ref(name, sha), {}))
        for place, (sha, path) in enumerate(_texts(refs)):
            entry = found.get(f"t{place}")
            entry = entry.get("file") if isinstance(entry, dict) else None
            self._remember_text(path, sha, entry.get("object") if isinstance(entry, dict) else None)

    def _remember_text(self, path: str, ref: str, blob: Any) -> None:
        ask = Ask("GET", "contents/{path}", {"path": path}, {"ref": ref})
        if blob is None:
            self._client.know(ask, Reply(404, {}, {}))
        elif isinstance(blob.get("text"), str) and not blob.get("isTruncated"):
            content = base64.b64encode(blob["text"].encode()).decode()
            body = {"type": "file", "encoding": "base64", "content": content, "size": blob.get("byteSize", 0)}
            self._client.know(ask, Reply(200, body, {}))


def _texts(refs: dict[str, str]) -> Sequence[tuple[str, str]]:
    """Return commit and path of each text behind our refs."""
    found = []
    for name, sha in sorted(refs.items()):
        path = _FILES.get(name.removeprefix(f"refs/{_OURS}/").partition("/")[0])
        if path is not None:
            found.append((sha, path))
    return found[:_MAX_TEXTS]


def _ref(name: str, sha: str) -> dict[str, Any]:
    return {"ref": name, "object": {"sha": sha, "type": "commit"}}


def _posted(node: Any) -> Posted:
    author = node.get("author")
    login = str(author["login"]) if isinstance(author, dict) else ""
    return Posted(int(node["databaseId"]), str(node["body"]), login, str(node["url"]), str(node["id"]))


def _quoted(text: str) -> str:
    """Return a GraphQL string; JSON's escapes are among its own."""
    return json.dumps(text)
