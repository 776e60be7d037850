"""What ``gpu-lol init`` says: what was written, what it means, and what to do next."""

from __future__ import annotations

from dataclasses import dataclass

from gpu_lol_action.domain.installation import (
    MODEL_KEY,
    SECRETS,
    CheckoutFacts,
    ModelEndpoint,
    Wish,
    WorkflowChoice,
)
from gpu_lol_action.intake.installation import FilePlan, Verdict

_ADDED_AT = "settings/secrets/actions/new"
_COPILOT_ALLOWED = (
    'No secret is needed for Copilot: in an organization an owner allows "Copilot CLI billed to the organization"'
    " (its settings, Copilot, Policies); else the repository owner's own plan pays."
)
_WORDS = {
    Verdict.NEW: ("written", "would write"),
    Verdict.OVERWRITTEN: ("overwritten", "would overwrite"),
    Verdict.SAME: ("unchanged", "unchanged"),
    Verdict.KEPT: ("kept", "kept"),
}


@dataclass(frozen=True, slots=True)
class InstallationReport:
    """Everything that the text is made of."""

    facts: CheckoutFacts
    wish: Wish
    choice: WorkflowChoice
    plans: tuple[FilePlan, ...]
    is_dry_run: bool


def installation_text(report: InstallationReport) -> str:
    """Return the whole answer; a dry run shows the files themselves."""
    lines = []
    for plan in report.plans:
        word = _WORDS[plan.verdict][report.is_dry_run]
        lines.append(f"{word:<14} {plan.path}" + (f": {plan.why}" if plan.why else ""))
    lines += ["", *_reasons(report)]
    if report.is_dry_run:
        for plan in report.plans:
            lines += ["", f"--- {plan.path}", plan.text.rstrip("\n")]
    if any(plan.verdict is not Verdict.KEPT for plan in report.plans):
        lines += ["", "Next:", *(f"{number}. {step}" for number, step in enumerate(_steps(report), 1))]
    return "\n".join(lines)


def _reasons(report: InstallationReport) -> list[str]:
    choice = report.choice
    form = (
        "by pull_request_target, so that forks get them too; nothing of a pull request is executed"
        if choice.takes_forks
        else "by pull_request: this repository's own branches; --forks covers forks as well"
    )
    lines = [f"Proposals      {form}"]
    if choice.model is not None:
        lines.append(f"Model          {_model(choice.model)} may correct them, but for forks")
    if report.wish.level > 1:
        lines.append(f"Sweep          each hour at :{choice.minute:02}, a minute that few others ask for")
    pin = choice.pin
    if pin.is_commit:
        pinned = f"the commit of {pin.version}" if pin.version else "the commit that was named"
    else:
        pinned = f"{pin.ref}, a name that can be moved; --pin COMMIT fixes it"
    return [*lines, f"Pinned to      {pinned}"]


def _model(model: ModelEndpoint) -> str:
    if not model.is_copilot:
        return f"{model.model} at {model.url}"
    return f"GitHub Copilot ({model.model})" if model.model else "GitHub Copilot"


def _steps(report: InstallationReport) -> list[str]:
    facts = report.facts
    web = f"https://{facts.host}/{facts.full_name}"
    paths = " ".join(plan.path for plan in report.plans if plan.verdict is not Verdict.KEPT)
    branch = facts.default_branch or "the default branch"
    steps = [f"git add {paths} && git commit -m 'Add gpu-lol', and open a pull request."]
    if report.choice.model is not None and report.choice.model.is_copilot:
        steps.insert(0, _COPILOT_ALLOWED)
    elif report.choice.model is not None:
        steps.insert(0, f"Add the secret {MODEL_KEY}, the model's key (none where it wants none): {web}/{_ADDED_AT}")
    if report.wish.level > 1:
        secret = SECRETS[report.choice.cloud]
        steps.append(f"Add the secret {secret}, of a prepaid account of its own: {web}/{_ADDED_AT}")
        steps.append(
            f"Merge into {branch}: comments and the sweep run that branch's workflow, so commands work from then."
        )
        steps.append("Comment `/gpu-lol help` on a pull request; `gpu-lol doctor` checks the whole installation.")
    elif report.choice.takes_forks:
        steps.append(
            f"Merge into {branch}: pull_request_target runs that branch's workflow, so proposals come from then."
        )
        steps.append("Machines on /gpu-lol up, with one secret: gpu-lol init --level 2")
    else:
        steps.append("That very pull request gets the first proposal.")
        steps.append("Machines on /gpu-lol up, with one secret: gpu-lol init --level 2")
    return steps
