"""Scripted hands behind the surfaces' ports: what was shown, in order; refusals where a permission is missing."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from gpu_lol_action.domain.environment import EnvironmentRecord
from gpu_lol_action.domain.proposal_note import ProposalNote
from gpu_lol_action.domain.request import Posted
from gpu_lol_action.domain.surfaces import CheckReport, DeploymentState, FileCommit, Standing, Suggestion
from gpu_lol_action.errors import OperatorError
from gpu_lol_action.handlers.ports_surfaces import LastChange, Surfaces


@dataclass
class Shown:
    """Everything beside the comments. ``missing`` holds the permissions that the token lacks."""

    log: list[str] = field(default_factory=list)
    missing: set[str] = field(default_factory=set)
    notes: dict[int, ProposalNote] = field(default_factory=dict)
    reports: list[CheckReport] = field(default_factory=list)

    def need(self, permission: str) -> None:
        if permission in self.missing:
            raise OperatorError("github_permission_missing", "the workflow's token may not do this")

    def surfaces(self) -> Surfaces:
        return Surfaces(
            ScriptedConversation(self),
            ScriptedChecks(self),
            ScriptedDeployments(self),
            ScriptedSuggestions(),
            ScriptedCommits(),
            ScriptedNotes(self),
        )


@dataclass
class ScriptedConversation:
    shown: Shown

    def standing(self, number: int, marker_prefix: str, *, is_final: bool) -> Standing | None:
        return None

    def hide(self, node_id: str) -> None:
        self.shown.log.append(f"hide {node_id}")


@dataclass
class ScriptedChecks:
    shown: Shown

    def report(self, report: CheckReport) -> bool:
        self.shown.need("checks")
        self.shown.reports.append(report)
        return True


@dataclass
class ScriptedDeployments:
    shown: Shown

    def begin(self, record: EnvironmentRecord) -> None:
        self.shown.need("deployments")
        self.shown.log.append(f"begin {record.state.value}")

    def move(
        self, record: EnvironmentRecord, state: DeploymentState, log_url: str | None, environment_url: str | None
    ) -> None:
        self.shown.need("deployments")
        self.shown.log.append(f"{state.value} {environment_url or ''}".strip())


class ScriptedSuggestions:
    def patch_of(self, number: int, path: str) -> str | None:
        return None

    def standing(self, number: int, marker_prefix: str, author: str) -> Sequence[Posted]:
        return ()

    def suggest(self, number: int, suggestion: Suggestion) -> None:
        raise AssertionError("nothing is in the diff")

    def edit(self, comment_id: int, body: str) -> None:
        raise AssertionError("there is none")


class ScriptedCommits:
    def last_change(self, repository: str, sha: str, path: str | None = None) -> LastChange | None:
        return None

    def commit(self, change: FileCommit) -> str | None:
        return "c" * 40


@dataclass
class ScriptedNotes:
    shown: Shown

    def read(self, number: int) -> ProposalNote:
        return self.shown.notes.get(number, ProposalNote())

    def change(self, number: int, edit: Callable[[ProposalNote], ProposalNote]) -> ProposalNote:
        self.shown.notes[number] = edit(self.read(number))
        return self.shown.notes[number]
