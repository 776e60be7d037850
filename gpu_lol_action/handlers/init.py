"""``init``: look at the repository, write the workflows that fit it, and say what to do next."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from gpu_lol_action.domain.installation import FOLDER, CheckoutFacts, Pin, Wish, WorkflowChoice
from gpu_lol_action.domain.request import Deny, Outcome
from gpu_lol_action.errors import UserError
from gpu_lol_action.intake.installation import FilePlan, Verdict, choose_form, plan_files
from gpu_lol_action.render.setup_text import InstallationReport, installation_text
from gpu_lol_action.render.workflow_files import workflow_files

MAX_WORKFLOW_BYTES = 512 * 1024


@dataclass(frozen=True, slots=True)
class Installation:
    """What an ``init`` is given: the checkout's root, its facts as git has them, and who to ask on GitHub."""

    root: Path
    facts: CheckoutFacts
    wish: Wish
    ask_visibility: Callable[[str], tuple[bool | None, bool | None]]
    find_pin: Callable[[], Pin]
    is_dry_run: bool = False


def handle_init(installation: Installation) -> Outcome:
    """Write the workflows (unless it is a dry run) and return what was done and what comes next."""
    facts = replace(installation.facts, workflows=read_workflows(installation.root))
    if installation.wish.is_public is None and facts.host == "github.com":
        is_public, has_forks = installation.ask_visibility(facts.full_name)
        facts = replace(facts, is_public=is_public, has_forks=has_forks)
    # Without a place to write to, nobody is asked which commit to pin.
    choice: WorkflowChoice | Deny = choose_form(facts, installation.wish, Pin(""))
    if isinstance(choice, Deny):
        raise UserError(choice.reason_code, choice.what, why=choice.why, fix=choice.fix)
    choice = replace(choice, pin=installation.find_pin())
    plans = plan_files(facts, workflow_files(choice, installation.wish.level), installation.wish)
    if not installation.is_dry_run:
        for plan in plans:
            if plan.verdict in (Verdict.NEW, Verdict.OVERWRITTEN):
                _write(installation.root, plan)
    text = installation_text(InstallationReport(facts, installation.wish, choice, plans, installation.is_dry_run))
    is_refused = any(plan.verdict is Verdict.KEPT for plan in plans)
    if is_refused:
        return Outcome("denied", "workflow_kept", text=text)
    return Outcome("done", "workflows_planned" if installation.is_dry_run else "workflows_written", text=text)


def read_workflows(root: Path) -> dict[str, str]:
    """Return the text of each workflow; a link counts as a file that is there, and is not followed."""
    found = {}
    for path in sorted((root / FOLDER).glob("*.y*ml")):
        readable = path.is_file() and not path.is_symlink() and path.stat().st_size <= MAX_WORKFLOW_BYTES
        found[f"{FOLDER}/{path.name}"] = path.read_text(encoding="utf-8", errors="replace") if readable else ""
    return found


def _write(root: Path, plan: FilePlan) -> None:
    """Write one file; where it appeared meanwhile, or its folder leads elsewhere, nothing is written."""
    path = root / plan.path
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        if not path.parent.resolve().is_relative_to(root.resolve()) or path.is_symlink():
            raise UserError("workflow_unwritable", f"`{plan.path}` leads outside of this repository.")
        mode = "w" if plan.verdict is Verdict.OVERWRITTEN else "x"
        with path.open(mode, encoding="utf-8", newline="\n") as file:
            file.write(plan.text)
    except OSError as error:
        what = f"{plan.path} cannot be written: {error.strerror or error}."
        raise UserError("workflow_unwritable", what) from error
