"""The network of one's own that a program builds: weights and what its layers keep, from following its classes; nothing is executed.

A small reader follows the program from its top: options at their defaults, constructors with the arguments of their calls, then
``forward`` once with an input of the run's size. It is bounded in steps and depth, and says how many layers it could not size.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial

from gpu_lol_action.analysis.files.checkout import Source
from gpu_lol_action.analysis.files.effort import remembered
from gpu_lol_action.analysis.files.unfilled_options import filled
from gpu_lol_action.analysis.networks.calls import call, reads_off_weights
from gpu_lol_action.analysis.networks.configs import is_plain, mappings_of, nodes_of
from gpu_lol_action.analysis.networks.expressions import evaluate
from gpu_lol_action.analysis.networks.inputs import InputSizes
from gpu_lol_action.analysis.networks.libraries import instantiate
from gpu_lol_action.analysis.networks.machine import Following, Frame, Machine, OutOfStepsError
from gpu_lol_action.analysis.networks.measure import DEFAULT_SIZE, FAULTS, LENGTH, OwnNetwork, measured, together
from gpu_lol_action.analysis.networks.named_shapes import shape_of
from gpu_lol_action.analysis.networks.programs import Program, program_of
from gpu_lol_action.analysis.networks.spread_arguments import said_of
from gpu_lol_action.analysis.networks.statements import assign, execute, run_body
from gpu_lol_action.analysis.networks.values import Class, Function, Instance, Value
from gpu_lol_action.analysis.networks.vocabularies import counts_letters
from gpu_lol_action.domain.finding import Evidence

MAX_TOGETHER = 4 * 2**20
"""What parsing all programs of a run together may cost, in bytes of ordinary code."""
MOST_TOGETHER = 3
STEPS_EACH, MOST_TRIES = 15_000, 12
"""What each function that is tried may take at least, so that one of the first does not take all; and how many."""
_STARTS = frozenset(
    {
        "main",
        "train",
        "run",
        "fit",
        "main_worker",
        "worker",
        "create_model",
        "build_model",
        "get_model",
        "start",
        "launch",
    }
)
_METHODS = _STARTS | {"__call__", "setup_model", "configure_model", "_build_model", "init_model"}
_LATENTS = ("AutoencoderKL", "first_stage", "latent_size", "vae.encode")


def own_network(
    sources: Sequence[Source], sizes: InputSizes, options: Mapping[str, str] | None = None
) -> OwnNetwork | None:
    """Return the largest network that the programs build of their own classes, or of layers in a row; None without one."""
    if not sources:
        return None
    given = filled(options or {})
    if all(is_plain(source) for source in sizes.configs):  # what such a file says is among the options
        sizes = replace(sizes, configs=())
    before = _followed(sources[0], tuple(sources), sizes)
    for network, asked in before:
        if all(_said(given, name) == said for name, said in asked.items()):
            return network
    network, names = _follow_programs(sources, sizes, given)
    before.append((network, {name: _said(given, name) for name in names}))
    return network


@remembered
def _followed(
    first: Source, sources: tuple[Source, ...], sizes: InputSizes
) -> list[tuple[OwnNetwork | None, dict[str, str | None]]]:
    """Return what came of following the same files before, with the options that were asked for: mostly all that an analysis costs."""
    del first, sources, sizes  # by which it is remembered
    return []


def _said(options: Mapping[str, str], name: str) -> str | None:
    return options.get(name, options.get(name.lower()))


def _follow_programs(
    sources: Sequence[Source], sizes: InputSizes, options: Mapping[str, str]
) -> tuple[OwnNetwork | None, tuple[str, ...]]:
    """Return the largest network, and the names of the options that were asked for on the way."""
    programs = _programs(sources)
    if not programs:
        return None, ()
    machine = Machine(
        programs, options, sizes.side or DEFAULT_SIZE, LENGTH, Following(run_body, evaluate, assign, call)
    )
    machine.is_size_open = not sizes.side
    machine.frames, machine.samples, machine.hop = sizes.frames, sizes.samples, sizes.hop
    machine.points, machine.infers, machine.stray = sizes.points, sizes.infers, dict(sizes.stray)
    machine.is_cut, machine.bound = sizes.is_cut, dict(sizes.bound)
    machine.has_latents = any(program.mentions_any(_LATENTS) and not program.is_broken for program in programs[:12])
    machine.counts_letters = any(counts_letters(program.source) for program in programs)
    machine.saved = sizes.saved
    machine.files, machine.mappings = sizes.configs, mappings_of(machine, sizes.configs)
    machine.nodes = nodes_of(machine.mappings)
    found: list[OwnNetwork] = []
    for place, program in enumerate(programs):
        before = len(machine.roots)
        _follow(machine, program, whole=place == 0)
        found = measured(machine) if len(machine.roots) > before else found
        if found and (place == 0 or machine.tries > MOST_TRIES):
            break
    if 1 < len(found) <= MOST_TOGETHER:
        return together(found), tuple(machine.asked)  # a generator and what judges it are there at once
    largest = max(found, key=lambda network: (network.parameters, network.evidence), default=None)
    if largest is not None and machine.known_as:
        largest = replace(largest, known_as=machine.known_as[0])
    if largest is not None and machine.shapes:
        largest = replace(largest, shape=shape_of(machine.shapes[0]))
    return largest, tuple(machine.asked)


def configured_network(
    sources: Sequence[Source], target: str, params: Mapping[str, Value], image_size: int, where: Evidence
) -> OwnNetwork | None:
    """Return the network that a configuration names by its dotted class and arguments; None where it cannot be built."""
    programs = _programs(sources)
    if not programs:
        return None
    machine = Machine(programs, {}, image_size, LENGTH, Following(run_body, evaluate, assign, call))
    machine.program = programs[0]
    _tried(machine, lambda: instantiate(machine, {"target": target, "params": dict(params)}, {}))
    found = measured(machine)
    return replace(found[0], evidence=where) if found else None


def _programs(sources: Sequence[Source]) -> list[Program]:
    left = MAX_TOGETHER
    programs: list[Program] = []
    for source in sources:
        program = program_of(source)
        left -= program.cost if program is not None else 0
        # The first one is followed from its top, so that it has to be whole; the others are parsed as they are needed.
        if program is not None and left >= 0 and (programs or not program.is_broken):
            programs.append(program)
    return programs


def _follow(machine: Machine, program: Program, *, whole: bool) -> None:
    """Run a program's statements, then functions and methods that nothing entered; of imported programs only what starts a run."""
    if whole:
        frame = Frame(program)
        machine.modules[program.source.path] = frame.names
        _tried(machine, lambda: execute(machine, frame, program.body))
    for name, node in program.functions.items() if whole or program.may_define_any(_STARTS) else ():
        is_likely = name in _STARTS or (whole and not machine.roots)  # else factories that nobody asks for
        if id(node) not in machine.called and is_likely and not reads_off_weights(node):
            start = Function(node, program)
            _tried(machine, partial(call, machine, start, (), said_of(machine, start)))
    for home in program.classes.values() if whole and not machine.roots else ():
        owner = Instance(Class(home, program), home.name)
        for item in home.body:
            if isinstance(item, ast.FunctionDef) and item.name in _METHODS and id(item) not in machine.called:
                _tried(machine, partial(call, machine, Function(item, program, {}, owner, owner.home), (), {}))


def _tried(machine: Machine, run: Callable[[], object]) -> None:
    machine.steps = max(machine.steps, STEPS_EACH) if machine.tries < MOST_TRIES else machine.steps
    machine.tries += 1
    try:
        run()
    except (OutOfStepsError, *FAULTS):
        return
    finally:
        machine.depth = machine.building = machine.running = 0
