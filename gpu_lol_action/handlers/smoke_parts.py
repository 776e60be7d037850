"""What a run of smoke tests is about: the test of each project, and the machines that it is run on."""

from __future__ import annotations

import posixpath
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import timedelta

from gpu_lol_action.analysis.answer.smoke_matrix import matrix
from gpu_lol_action.analysis.answer.smoke_test import BESIDES, smoke_test
from gpu_lol_action.analysis.files.project_folder import project_folder
from gpu_lol_action.domain.proposal_note import ProposalNote
from gpu_lol_action.domain.smoke import SmokeCell, SmokeTest
from gpu_lol_action.domain.spec import EnvironmentSpec
from gpu_lol_action.errors import Door, GpuLolError
from gpu_lol_action.handlers.chosen_project import fetch, settled
from gpu_lol_action.handlers.context import Context, Order
from gpu_lol_action.handlers.measured import Scene
from gpu_lol_action.handlers.reading import read_change
from gpu_lol_action.handlers.smoke_cell import CellEnd, refused, verdict_of
from gpu_lol_action.pricing.smoke_cost import smoke_lease


@dataclass(frozen=True, slots=True)
class Part:
    """One project's test at the commit: ``order`` is about that project, ``lease`` is each machine's, ``scene`` is the code."""

    order: Order
    test: SmokeTest
    cells: tuple[SmokeCell, ...]
    lease: timedelta
    scene: Scene


@dataclass(frozen=True, slots=True)
class Smoke:
    """One run: its parts, who asked for it, and the ends of those whose file says nothing that can be run."""

    order: Order
    parts: tuple[Part, ...]
    unread: tuple[CellEnd, ...] = ()

    @property
    def cells(self) -> tuple[SmokeCell, ...]:
        """The machines of all parts, in their order."""
        return tuple(cell for part in self.parts for cell in part.cells)

    @property
    def lease(self) -> timedelta:
        """The longest that a machine is leased for."""
        return max((part.lease for part in self.parts), default=timedelta(0))

    @property
    def tests(self) -> tuple[tuple[str, SmokeTest], ...]:
        """What is run, by project; that is empty where the repository leaves no choice."""
        return tuple((part.order.project, part.test) for part in self.parts)

    def part_of(self, cell: str) -> Part:
        """Return the part that a machine is of."""
        return next(part for part in self.parts if cell in {each.name for each in part.cells})


def smoke_of(context: Context, order: Order) -> Smoke:
    """Return what an order for smoke tests is about: one project, or on a schedule's run all that the policy names.

    Raises SpecError where the file of the only one is invalid; one of several that cannot be told keeps no other from being run.
    """
    folders = order.policy.project_folders
    is_scheduled = not order.pull_request.number and context.settings.door is Door.JOB and not order.command.project
    if not is_scheduled or len(folders) < 2:
        return Smoke(order, (_part(context, order),))
    parts: list[Part] = []
    unread: list[CellEnd] = []
    for folder in folders:
        try:
            part = _part(context, replace(order, command=replace(order.command, project=folder)))
        except GpuLolError as error:
            now, cell = context.clock.now(), SmokeCell(project=folder)
            unread.append(CellEnd(refused(cell, order.pull_request.head_sha, now, verdict_of(error)), None))
            continue
        parts.append(part)
    # What needs no GPU is not rented one for every night; where nothing does, the first is tried as the only one would be.
    needing = [part for part in parts if _needs_machine(part)]
    return Smoke(order, tuple(needing or parts[: 0 if unread else 1]), tuple(unread))


def cells_of(spec: EnvironmentSpec, order: Order) -> tuple[SmokeCell, ...]:
    """Return the matrix: what the command names, else every card of the spec in every image of it, in its order."""
    command, smoke = order.command, spec.smoke
    is_named = command.gpu is not None or command.image is not None
    cells: Sequence[SmokeCell] = (
        (SmokeCell(command.gpu, command.gpu_count, command.image),) if is_named else matrix(smoke)
    )
    return tuple(replace(cell, project=order.project) for cell in cells)


def _part(context: Context, order: Order) -> Part:
    order = settled(context, order)
    is_fork = order.pull_request.is_fork(order.repository.full_name)
    note = order.note or ProposalNote()
    reading = read_change(context, order.pull_request, order.policy, is_fork=is_fork, note=note)
    checkout = fetch(context, order.pull_request.head_sha, order.policy)
    test = smoke_test(checkout, reading.asked, _besides(context, order, reading.asked, project_folder(checkout)))
    scene = Scene(checkout, reading.analysis, is_kept=not is_fork)
    return Part(order, test, cells_of(reading.asked, order), smoke_lease(test.time_box, order.policy), scene)


def _needs_machine(part: Part) -> bool:
    spec = part.scene.analysis.spec
    return spec.needs_gpu or spec.smoke is not None


def _besides(context: Context, order: Order, spec: EnvironmentSpec, folder: str) -> dict[str, str]:
    """Return pytest's own files of the project in that folder, where the spec does not say what to run."""
    if spec.smoke is not None and spec.smoke.command:
        return {}
    sha = order.pull_request.head_sha
    texts = {name: context.forge.read_file(posixpath.join(folder, name), sha) for name in BESIDES}
    return {path: text for path, text in texts.items() if text}
