"""What is to be written where gpu-lol is set up: which form of the workflows, and which files may be touched."""

from __future__ import annotations

import enum
from collections.abc import Mapping
from dataclasses import dataclass

from gpu_lol_action.domain.installation import (
    SECRETS,
    CheckoutFacts,
    ModelEndpoint,
    Pin,
    Wish,
    WorkflowChoice,
    sweep_minute,
)
from gpu_lol_action.domain.lookup import is_copilot
from gpu_lol_action.domain.request import Deny
from gpu_lol_action.intake.callers import find_callers


class Verdict(enum.Enum):
    """What happens to one file."""

    NEW = "new"
    SAME = "unchanged"
    OVERWRITTEN = "overwritten"
    KEPT = "kept"


@dataclass(frozen=True, slots=True)
class FilePlan:
    """One file: what is to become of it, and why it is kept where it is."""

    path: str
    text: str
    verdict: Verdict
    why: str = ""


def choose_form(facts: CheckoutFacts, wish: Wish, pin: Pin) -> WorkflowChoice | Deny:
    """Return how the workflows are to be written, or what has to be said first."""
    if facts.full_name.startswith("local/"):
        return Deny(
            "remote_missing",
            "This checkout has no remote `origin` on GitHub.",
            "The workflows belong into a repository there.",
            "git remote add origin https://github.com/OWNER/NAME.git",
        )
    if facts.host != "github.com":
        return Deny(
            "server_not_supported",
            f"`origin` is on {facts.host}, whose runners do not fetch workflows from github.com.",
            "There the action runs in a job of your own: README.md, GitHub Enterprise Server.",
        )
    if wish.cloud not in SECRETS:
        return Deny(
            "cloud_not_supported",
            f"The bot has no way to log in to {wish.cloud} yet.",
            "It takes a key of RunPod or of Lambda.",
            "gpu-lol init --level 2 --cloud runpod",
        )
    if not is_copilot(wish.llm_url) and (wish.llm_url is None) is not (wish.llm_model is None):
        return Deny(
            "model_incomplete",
            "A language model needs both its address and its name.",
            fix="gpu-lol init --llm-url https://api.example/v1 --llm-model NAME",
        )
    is_public = wish.is_public if wish.is_public is not None else facts.is_public
    if is_public is None:
        return Deny(
            "visibility_unknown",
            f"Whether {facts.full_name} is public cannot be told from here.",
            "Pull requests from forks need another trigger than a private repository's own.",
            "gpu-lol init --public   (or --private)",
        )
    takes_forks = is_public or wish.has_forks or bool(facts.has_forks)
    model = ModelEndpoint(wish.llm_url, wish.llm_model or "") if wish.llm_url else None
    return WorkflowChoice(pin, takes_forks, wish.cloud, sweep_minute(facts.full_name), model)


def plan_files(facts: CheckoutFacts, wanted: Mapping[str, str], wish: Wish) -> tuple[FilePlan, ...]:
    """Return what becomes of each wanted file; a person's own is never touched without being asked to."""
    return tuple(_plan_file(facts, path, text, wish) for path, text in wanted.items())


def _plan_file(facts: CheckoutFacts, path: str, text: str, wish: Wish) -> FilePlan:
    present = facts.workflows.get(path)
    if present == text:
        return FilePlan(path, text, Verdict.SAME)
    if present is not None:
        if wish.may_overwrite:
            return FilePlan(path, text, Verdict.OVERWRITTEN)
        return FilePlan(path, text, Verdict.KEPT, "it is there already, and differs; --force writes over it")
    called = {caller.callee for caller in find_callers({path: text})}
    for caller in find_callers(facts.workflows):
        if caller.callee in called:
            # Two workflows that call the same would answer each pull request twice: no force helps with that.
            return FilePlan(path, text, Verdict.KEPT, f"{caller.path} does the same already")
    return FilePlan(path, text, Verdict.NEW)
