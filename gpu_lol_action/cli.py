"""The terminal's door: the same command table, answers on the screen, exit code last."""

from __future__ import annotations

import atexit
import gc
import signal
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING

from gpu_lol_action import __version__
from gpu_lol_action.domain.command_spec import DoorKind
from gpu_lol_action.domain.commands import find_command
from gpu_lol_action.domain.request import Command, ParseProblem
from gpu_lol_action.errors import Door, Ending, GpuLolError, exit_code
from gpu_lol_action.render.terminal_help import explain, filled, overview
from gpu_lol_action.wiring.screen import print_answer, screen, show, write_utf8

if TYPE_CHECKING:
    from gpu_lol_action.domain.request import Outcome
    from gpu_lol_action.handlers.context import Context, Order

_MAX_GUESSES = 3
_STOPPING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
_MANY_OBJECTS = 500_000
"""Between two looks for circles of what is no longer used. Syntax trees are nothing but objects, and hold no circles: at
Python's own 700 a quarter of an analysis goes by with looking, at 50,000 still a tenth, and none of the memory comes back."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return the exit code."""
    gc.set_threshold(_MANY_OBJECTS)
    # Or the interpreter looks for circles once more at its end, through all that the process is about to give back anyway:
    # a fifth of the time of a large analysis, a tenth of a small one.
    atexit.unregister(gc.freeze)
    atexit.register(gc.freeze)
    words = list(sys.argv[1:] if arguments is None else arguments)
    if not words or words[0] in ("--help", "-h"):
        print(overview())
        return 0
    if words[0] in ("--version", "-V"):
        print(f"gpu-lol {__version__}")
        return 0
    ours = words[: words.index("--")] if "--" in words else words  # what stands behind is the machine's
    if "--help" in ours or "-h" in ours:
        words = [word for word in ours if word not in ("--help", "-h")]
        words = words if words[0] == "help" and len(words) > 1 else ["help", *words]
    if words[0] != "help":
        return _run(words)
    spec = find_command(words[1]) if len(words) > 1 else None
    if len(words) > 1 and spec is None:
        return _run(words[1:])  # the parser's own words for what is no command
    print(explain(spec) if spec else overview())
    return 0


def _run(words: Sequence[str]) -> int:
    from gpu_lol_action.intake.parser import parse_words

    command = parse_words(words, DoorKind.TERMINAL)
    if isinstance(command, ParseProblem):
        print(_misread(command), file=sys.stderr)
        return exit_code(Ending.USER_ERROR, Door.TERMINAL)
    for number in _STOPPING:
        signal.signal(number, _stop)
    try:
        ending = _carry_out(command)
    except KeyboardInterrupt:
        print("gpu-lol: stopped. What may still run: gpu-lol status", file=sys.stderr)
        ending = Ending.CANCELLED
    except GpuLolError as error:
        print(_told(error), file=sys.stderr)
        ending = error.ending
    except Exception as error:  # noqa: BLE001  our bug: it has an exit code of its own, and the stack is for a report
        import traceback  # late: it is not for every run

        traceback.print_exception(error)
        print("gpu-lol: failed on a fault of its own. `gpu-lol status` shows what may still run.", file=sys.stderr)
        ending = Ending.INTERNAL_ERROR
    return exit_code(ending, Door.TERMINAL)


def _stop(_number: int, _frame: FrameType | None) -> None:
    """Turn the first signal into an exception; ending a machine takes its time, and a second Ctrl-C must not cut it off."""
    for number in _STOPPING:
        signal.signal(number, signal.SIG_IGN)
    raise KeyboardInterrupt


def _misread(problem: ParseProblem) -> str:
    """Return what is wrong with a command, the nearest words (or all), and where to read on."""
    guesses = problem.did_you_mean
    near = f"Did you mean {' or '.join(guesses)}?" if guesses else ""
    known = f"Known here: {', '.join(guesses)}."
    return "\n".join(
        filter(
            None,
            [
                f"gpu-lol: {_plain(problem.what)}",
                filled(near if len(guesses) <= _MAX_GUESSES else known),
                f"See: gpu-lol help {problem.command}" if problem.command else "See: gpu-lol help",
            ],
        )
    )


def _carry_out(command: Command) -> Ending:
    if command.name == "rehearse":
        from gpu_lol_action.rehearsal.rehearse import rehearse

        rehearse(Path(command.path or "."), Path(command.output or "rehearsal.html"))
        return Ending.ANSWERED
    from gpu_lol_action.wiring import terminal

    if command.name == "analyze":
        from gpu_lol_action.domain.kept_patterns import keep

        if command.output_format != "text":
            write_utf8()
        print_answer(terminal.analyze_folder(command, screen()))
        keep()
        return Ending.ANSWERED
    from gpu_lol_action.adapters.progress import TerminalProgress
    from gpu_lol_action.router import ending_of

    if command.name == "estimate":
        return _estimate(command)
    if command.name in ("offers", "templates"):
        return _market(command)
    if command.name == "doctor":
        return _doctor(command)
    if command.name == "ledger":
        return _ledger(command)
    if command.name == "init":
        outcome = terminal.initialize(command, Path.cwd())
        print_answer(outcome.text)
        return ending_of(outcome)
    if command.name == "policy":
        from gpu_lol_action.handlers.policy import describe_policy

        print_answer(describe_policy(command, screen()))
        return Ending.ANSWERED

    from gpu_lol_action.domain.environment import Requester
    from gpu_lol_action.handlers.context import Order

    with terminal.terminal(Path.cwd(), TerminalProgress(), _answer_in(command)) as context:
        policy = terminal.own_policy(context)
        order = Order(
            command=command,
            requester=Requester(terminal.user()),
            repository=context.forge.repository(),
            pull_request=context.forge.pull_request(0),
            policy=policy,
        )
        if command.name == "budget" and command.output_format == "json":
            from gpu_lol_action.handlers.budget import describe_budget

            write_utf8()
            print_answer(describe_budget(context, order))
            return Ending.ANSWERED
        outcome = _obey(context, order)
        if command.name == "sweep":
            show(outcome.text)
        return ending_of(outcome)


def _obey(context: Context, order: Order) -> Outcome:
    """Carry out an order; a spec comes from a file of this computer, or goes into one."""
    from gpu_lol_action.handlers.obey import obey
    from gpu_lol_action.wiring.terminal import about_here

    if order.command.name == "resume":
        from gpu_lol_action.wiring.snapshots import resumed

        order = resumed(context, order)
    order = replace(order, command=about_here(order.command, order.policy, Path.cwd()))
    outcome = obey(context, order, may_use_cloud=True)
    if outcome.reason_code == "snapshot_taken":
        _show_snapshot(outcome, order)
    return outcome


def _show_snapshot(outcome: Outcome, order: Order) -> None:
    """Print the spec alone where no file was asked for, so that it can be piped on; else what is new, and where it is."""
    from gpu_lol_action.wiring.snapshots import keep_snapshot

    written = keep_snapshot(outcome, order)
    if written is None:
        write_utf8()
        print_answer(outcome.details["spec"].removesuffix("\n"))
        print("gpu-lol: gpu-lol resume " + outcome.details["environment"] + " rents the same again.", file=sys.stderr)
        return
    show(outcome.text)
    print_answer(f"Written to {written}.")


def _market(command: Command) -> Ending:
    """Print what can be rented, or the account's templates."""
    from gpu_lol_action.router import ending_of
    from gpu_lol_action.wiring import terminal

    outcome = terminal.offers(command) if command.name == "offers" else terminal.templates(command)
    if command.output_format == "text":
        print_answer(screen().finish(outcome.text))
    else:
        write_utf8()
        print_answer(outcome.text)
    return ending_of(outcome)


def _doctor(command: Command) -> Ending:
    """Print the check-up; what is wrong is for whoever maintains the installation."""
    from gpu_lol_action.intake.diagnosis import is_well
    from gpu_lol_action.render import checkup_text
    from gpu_lol_action.wiring.checkup import check_up

    diagnoses = check_up(Path.cwd())
    if command.output_format == "text":
        print_answer(checkup_text.checkup_text(diagnoses, screen()))
    else:
        write_utf8()
        as_json = command.output_format == "json"
        print_answer(checkup_text.checkup_json(diagnoses) if as_json else checkup_text.checkup_markdown(diagnoses))
    return Ending.ANSWERED if is_well(diagnoses) else Ending.OPERATOR_ERROR


def _ledger(command: Command) -> Ending:
    """Print the records to standard output, and which of the ledgers did not answer to the other stream."""
    from gpu_lol_action.wiring.checkup import show_ledger

    if command.is_csv:
        write_utf8()
    answer = show_ledger(command, Path.cwd(), screen())
    print_answer(answer.text)
    for error in answer.errors:
        print(_told(error), file=sys.stderr)
    return answer.errors[0].ending if answer.errors else Ending.ANSWERED


def _estimate(command: Command) -> Ending:
    """Print one run's estimate, or a table's to standard output and what was wrong in it to the other stream."""
    if command.table is None:
        from gpu_lol_action.wiring.terminal import estimate

        print_answer(estimate(command))
        return Ending.ANSWERED
    from gpu_lol_action.handlers.estimate import describe_table

    found = describe_table(Path(command.table))
    print_answer(found.text.removesuffix("\n"))
    for problem in found.problems:
        print(f"gpu-lol: {_plain(problem)}", file=sys.stderr)
    return Ending.ANSWERED if found.is_complete else Ending.USER_ERROR


def _answer_in(command: Command) -> Callable[[str], None]:
    """Return how an answer is shown: laid out for the screen, or as the Markdown that a comment has."""
    return print_answer if command.output_format == "markdown" else show


def _told(error: GpuLolError) -> str:
    parts = (error.explanation.what, error.explanation.why, error.explanation.fix)
    return "gpu-lol: " + "\n  ".join(_plain(part) for part in parts if part)


def _plain(text: str) -> str:
    """Return a sentence as a terminal shows it: no Markdown marks, commands without a comment's slash."""
    return text.replace("`", "").replace("/gpu-lol ", "gpu-lol ")


if __name__ == "__main__":
    sys.exit(main())
