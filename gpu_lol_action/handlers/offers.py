"""``offers``: what can be rented, cheapest first, for this code, a card or a size; nothing is launched or spent."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from datetime import datetime
from pathlib import Path

from gpu_lol_action.analysis.files.located import named_folders, project_asked, read_in_folder
from gpu_lol_action.domain.gpus import UnknownAccelerator
from gpu_lol_action.domain.market import StockAnswers
from gpu_lol_action.domain.offer import Ladder, Requirement
from gpu_lol_action.domain.policy import Policy
from gpu_lol_action.domain.proposal_note import ProposalNote
from gpu_lol_action.domain.request import Command, Outcome
from gpu_lol_action.errors import UserError
from gpu_lol_action.handlers import answers
from gpu_lol_action.handlers.askable import Lookups
from gpu_lol_action.handlers.chosen_project import settled
from gpu_lol_action.handlers.concluding import Fetched, Reading, conclude, precision_of, price, prices_of
from gpu_lol_action.handlers.context import Context, Order
from gpu_lol_action.handlers.ports_lookups import Market
from gpu_lol_action.handlers.reading import read_change
from gpu_lol_action.pricing.candidates import RankRequest, rank_candidates, with_options
from gpu_lol_action.render import comments
from gpu_lol_action.render.offers_json import offers_json
from gpu_lol_action.render.terminal import render_text
from gpu_lol_action.render.views_offers import OffersCase

MAX_ASKED_IN_STOCK = 40
"""So many offers are asked about, the cheapest: what is dearer than these nobody takes for want of them."""


def handle_offers(context: Context, order: Order) -> Outcome:
    """Answer ``/gpu-lol offers``. Raises UserError where what is asked for is rented nowhere."""
    case = _case(context, order)
    running = [each for each in answers.open_records(context) if each.pull_request == order.pull_request_number]
    body = comments.offers(case, open_records=running, reply_to=order.reply_to)
    answers.reply(context, order.pull_request.number, body)
    return _outcome(case, body)


def describe_offers(
    command: Command, folder: Path, lookups: Lookups, market: Callable[[], Market] | None, now: Callable[[], datetime]
) -> Outcome:
    """Return what ``gpu-lol offers`` prints; without a requirement it is about the code of the folder."""
    root, project = project_asked(folder, command.project, is_inside=True)
    folder = root if project else folder
    named = named_folders(folder)[0]
    policy = Policy(project_folders=(project,) if project else named)
    if lookups.prices is not None:
        lookups.prices().begin(policy.clouds)

    def read() -> Reading:
        return conclude(Fetched("", read_in_folder(folder, policy.project_folder)), policy, lookups)

    subject, ladder = _asked(command, policy, lookups, read)
    about = project if named != (project,) else ""
    case = OffersCase(subject, ladder, _stock(command, ladder, market), policy, command, now(), about)
    if command.output_format == "json":
        return _outcome(case, json.dumps(offers_json(case), indent=2, ensure_ascii=False))
    body = comments.offers(case)
    return _outcome(case, body if command.output_format == "markdown" else render_text(body))


def _case(context: Context, order: Order) -> OffersCase:
    is_of_code = not _is_named(order.command)
    about = settled(context, order) if is_of_code else order

    def read() -> Reading:
        is_fork = about.pull_request.is_fork(about.repository.full_name)
        return read_change(
            context, about.pull_request, about.policy, is_fork=is_fork, note=about.note or ProposalNote()
        )

    subject, ladder = _asked(order.command, order.policy, context.lookups, read)
    stock = _stock(order.command, ladder, context.market)
    return OffersCase(subject, ladder, stock, order.policy, order.command, context.clock.now(), about.project)


def _is_named(command: Command) -> bool:
    """Whether a card, a size or all cards are asked for, and not what code needs."""
    return command.topic is not None or command.gpu is not None or command.memory_gib is not None


def _asked(command: Command, policy: Policy, lookups: Lookups, read: Callable[[], Reading]) -> tuple[str, Ladder]:
    """Return what is asked for in words, and the ladder; the code is read only where nothing else is asked for."""
    if not _is_named(command):
        reading = read()
        ladder = price(reading.asked, policy, command, lookups, precision_of(reading.analysis))
        return "this code", ladder
    wanted = with_options(
        Requirement(
            memory_gib_per_gpu=command.memory_gib or 0.0,
            gpu_count=command.gpu_count or 1,
            clouds=policy.clouds,
            is_memory_as_sold=command.is_memory_as_sold,
        ),
        replace(command, gpu_count=None) if command.gpu is None else command,
    )
    if isinstance(wanted, UnknownAccelerator):  # the parser has looked it up before
        raise UserError("unknown_accelerator", wanted.what, fix="gpu-lol help offers")
    prices = prices_of(lookups, wanted.clouds)
    ladder = rank_candidates(RankRequest(wanted, prices.offers, prices.source, command.lease or policy.lease))
    return "", ladder


def _stock(command: Command, ladder: Ladder, market: Callable[[], Market] | None) -> StockAnswers | None:
    """Return what the clouds have at this moment; None where nobody asked, and an empty answer where nobody can."""
    if not command.asks_availability:
        return None
    offers = [candidate.offer for candidate in ladder.candidates[:MAX_ASKED_IN_STOCK]]
    return market().stock(offers) if market is not None and offers else {}


def _outcome(case: OffersCase, text: str) -> Outcome:
    if case.ladder.candidates:
        return Outcome("done", "offers_shown", text=text)
    return Outcome("denied", "nothing_fits", text=text)
