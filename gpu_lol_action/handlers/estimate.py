"""``estimate``: how much GPU memory a run needs that is described in words, and which cards have it; nothing is read or spent."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path

from gpu_lol_action.domain.command_spec import Option
from gpu_lol_action.domain.commands import find_command
from gpu_lol_action.domain.gpus import accelerators
from gpu_lol_action.domain.memory import MemoryBreakdown
from gpu_lol_action.domain.offer import Ladder, Requirement
from gpu_lol_action.domain.policy import Policy
from gpu_lol_action.domain.request import Command, Outcome
from gpu_lol_action.domain.spec import EnvironmentSpec, Hardware, Meta, WorkloadType
from gpu_lol_action.domain.what_if import Alternative, WhatIf
from gpu_lol_action.errors import UserError
from gpu_lol_action.estimation.levers import tried
from gpu_lol_action.estimation.vram import GB, GIB, VramQuestion, estimate_vram, least_cards, sharded
from gpu_lol_action.handlers import answers
from gpu_lol_action.handlers.context import Context, Order
from gpu_lol_action.intake.estimate_cells import CellProblem, question_from_cells
from gpu_lol_action.intake.estimate_table import TableAnswer, estimate_table
from gpu_lol_action.pricing.candidates import RankRequest, rank_candidates
from gpu_lol_action.pricing.snapshot import SNAPSHOT, bundled_offers
from gpu_lol_action.pricing.throughput import Work
from gpu_lol_action.pricing.what_ifs import select_what_ifs
from gpu_lol_action.render import comments
from gpu_lol_action.render.terminal import render_text
from gpu_lol_action.render.views_estimate import EstimateCase, estimate_json

MAX_TABLE_BYTES = 32 * 1024 * 1024
LARGE_CARD = "A100-80GB"
COUNTS = (2, 4, 8, 16, 32, 64)


def describe_estimate(command: Command, now: datetime) -> str:
    """Return what ``gpu-lol estimate`` prints of one run. Raises UserError where its model has no known size."""
    case = replace(estimate_case(command, Policy(), now), shows_all=True)
    if command.output_format == "json":
        return json.dumps(estimate_json(case), indent=2, ensure_ascii=False)
    report = comments.estimate(case)
    return report if command.output_format == "markdown" else render_text(report)


def describe_table(path: Path) -> TableAnswer:
    """Return the estimates of a CSV file's rows. Raises UserError where it cannot be read or is no such table."""
    try:
        with path.open("rb") as file:
            content = file.read(MAX_TABLE_BYTES + 1)
    except OSError as error:
        raise UserError("table_unreadable", f"`{path}` cannot be read: {error.strerror or error}.",
                        fix="gpu-lol estimate --csv FILE") from error  # fmt: skip
    if len(content) > MAX_TABLE_BYTES:
        raise UserError("table_unreadable", f"`{path}` is over {MAX_TABLE_BYTES // 1024**2} MiB.", fix="Split it.")
    found = estimate_table(content.decode("utf-8", errors="replace"))
    if isinstance(found, str):
        raise UserError("table_unreadable", f"`{path}`, {found}.", fix="gpu-lol help estimate")
    return found


def handle_estimate(context: Context, order: Order) -> Outcome:
    """Answer ``/gpu-lol estimate`` in a pull request. Raises UserError where its model has no known size."""
    case = estimate_case(order.command, order.policy, context.clock.now())
    running = [each for each in answers.open_records(context) if each.pull_request == order.pull_request_number]
    body = comments.estimate(case, open_records=running, reply_to=order.reply_to)
    answers.reply(context, order.pull_request.number, body)
    return Outcome("done", "estimate_shown", text=body)


def estimate_case(command: Command, policy: Policy, now: datetime) -> EstimateCase:
    """Return the question with its answer and the cards that have the memory. Raises UserError where it cannot be asked."""
    cells = dict(command.cells)
    found = question_from_cells(cells)
    if isinstance(found, CellProblem):
        raise _unknown(found)
    if found.problems:  # one option by itself was fine; with the others it is not
        problem = found.problems[0]
        raise UserError("estimate_invalid", f"`{_option(problem.column).name}` cannot be `{problem.text}`.",
                        why=f"It takes {problem.what}.", fix="gpu-lol help estimate")  # fmt: skip
    question, breakdown = found.question, _with_card(found.question, estimate_vram(found.question))
    work = Work.BF16 if question.method.trains else Work.BANDWIDTH
    ladder = _ladder(breakdown.required_gib, question.gpu_count, policy, work)
    spread = None
    if not ladder.candidates and question.gpu_count == 1:
        count = least_cards(question, accelerators()[LARGE_CARD].memory_gib, COUNTS)
        if count is not None:
            spread = sharded(question, count)
            ladder = _ladder(estimate_vram(spread).required_gib, count, policy, work)
    return EstimateCase(
        what_ifs=_what_ifs(question, ladder, policy),
        question=question,
        breakdown=breakdown,
        assumed=found.assumed,
        ladder=ladder,
        lease=policy.lease,
        now=now,
        spread=spread,
        spread_breakdown=estimate_vram(spread) if spread is not None else None,
    )


def _what_ifs(question: VramQuestion, ladder: Ladder, policy: Policy) -> tuple[WhatIf, ...]:
    """Return what would do with a cheaper machine, through the same memory model."""
    alternatives = []
    for levers, variant in tried(question):
        found = estimate_vram(variant.question)
        need, count = math.ceil(found.required_gib), variant.question.gpu_count
        words = (variant.words, variant.setting, variant.costs)
        alternatives.append(Alternative(levers, *words, found.expected_gib, need, count))
    spec = EnvironmentSpec(Hardware(gpu_count=question.gpu_count), meta=Meta(workload_type=WorkloadType.TRAINING))
    return select_what_ifs(alternatives, spec, policy, ladder, bundled_offers())


def _with_card(question: VramQuestion, breakdown: MemoryBreakdown) -> MemoryBreakdown:
    """Return the answer with what the model's own card says it needs for inference, where it says more."""
    published = question.model.published_gb
    if published is None or question.method.trains or published * GB / GIB <= breakdown.required_gib:
        return breakdown
    required = float(math.ceil(published * GB / GIB))
    note = f"the model's own card says about {published:g} GB"
    return replace(
        breakdown,
        high_gib=max(breakdown.high_gib, required),
        required_gib=required,
        notes=(*breakdown.notes, note),
    )


def _ladder(memory_gib: float, count: int, policy: Policy, work: Work) -> Ladder:
    """Return the cards that have the memory by the bundled prices, so that the same question gives the same answer."""
    wanted = Requirement(memory_gib_per_gpu=memory_gib, gpu_count=count, clouds=policy.clouds)
    lease = policy.lease or timedelta(hours=1)
    return rank_candidates(RankRequest(wanted, bundled_offers(), SNAPSHOT, lease, work=work))


def _unknown(problem: CellProblem) -> UserError:
    if problem.column != "model" or not problem.text:
        what = "Neither a model nor its size is given."
    else:
        what = f"`{problem.text}` is not in our table, and its name says no size."
    return UserError("model_unknown", what, why="Memory is computed from parameters and shape.",
                     fix="gpu-lol estimate --params-b 7 --hidden 4096 --layers 32 --heads 32 --vocab 32000")  # fmt: skip


def _option(column: str) -> Option:
    spec = find_command("estimate")
    options = spec.options if spec is not None else ()
    return next(option for option in options if option.column == column)
