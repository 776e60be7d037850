"""``set``, ``mute`` and ``unmute``: what a person says about a proposal, remembered for its pull request.

The proposal itself shows it, edited in place, and a reaction says that it was heard: no further comment is needed.
"""

from __future__ import annotations

from dataclasses import replace

from gpu_lol_action.domain.corrections import Correction
from gpu_lol_action.domain.proposal_note import NOTHING_CORRECTED, ProposalNote
from gpu_lol_action.domain.request import Outcome
from gpu_lol_action.handlers.chosen_project import Choice
from gpu_lol_action.handlers.context import Context, Order
from gpu_lol_action.handlers.ports_surfaces import Notes
from gpu_lol_action.handlers.propose import Occasion, handle_propose


def asked_for(order: Order) -> Occasion:
    """Return the occasion of a proposal that a person asked for."""
    return Occasion(order.repository, order.pull_request, lambda: order.policy, is_asked=True)


def handle_correction(context: Context, order: Order) -> Outcome:
    """Carry out ``set``, ``mute`` or ``unmute``."""
    return handle_set(context, order) if order.command.name == "set" else handle_mute(context, order)


def handle_set(context: Context, order: Order) -> Outcome:
    """Correct the proposal, for this commit and for later ones. Raises GpuLolError where it cannot be told for which project, and changes nothing."""
    login = order.requester.login
    choice = Choice(context, order.pull_request, order.policy, is_sure=True)
    corrections = tuple(_found(choice, change) for change in order.command.corrections)

    def edit(note: ProposalNote) -> ProposalNote:
        if all(change.value is None for change in corrections):
            return note.corrected(corrections, login)  # to take something back nothing has to be told
        named = [change for change in corrections if change.key == "project"]
        which = replace(NOTHING_CORRECTED, project=note.corrections.project).with_changes(named)
        folder = choice.subject(ProposalNote(which)).policy.project_folder
        return choice.noted(note, folder).corrected(corrections, login)

    _notes(context).change(order.pull_request.number, edit)
    return _shown(handle_propose(context, asked_for(order)), "corrected")


def handle_mute(context: Context, order: Order) -> Outcome:
    """Leave the proposal as it is from now on, or keep it up to date again."""
    muted_by = order.requester.login if order.command.name == "mute" else ""

    def edit(note: ProposalNote) -> ProposalNote:
        return note if bool(note.muted_by) == bool(muted_by) else replace(note, muted_by=muted_by)

    _notes(context).change(order.pull_request.number, edit)
    # Who wants quiet gets no comment for it; whoever wants to hear again gets one.
    occasion = replace(asked_for(order), is_edit=bool(muted_by))
    return _shown(handle_propose(context, occasion), "muted" if muted_by else "unmuted")


def _found(choice: Choice, change: Correction) -> Correction:
    """Return a change whose project is the path of a folder that the head has."""
    if change.key != "project" or change.value is None:
        return change
    subject = choice.subject(ProposalNote(), str(change.value))
    return replace(change, value=subject.policy.project_folder)


def _notes(context: Context) -> Notes:
    if context.surfaces is None:
        # The table gives these commands to comments alone.
        raise LookupError("set")
    return context.surfaces.notes


def _shown(outcome: Outcome, reason_code: str) -> Outcome:
    """Return the proposal's outcome under the command's own reason, unless it could not be shown."""
    return replace(outcome, reason_code=reason_code) if outcome.decision == "done" else outcome
