"""The terminal's door: the same command table, answers on the screen, exit code last."""

from __future__ import annotations

import shutil
import signal
import sys
from collections.abc import Sequence
from pathlib import Path

from gpu_lol_action import __version__
from gpu_lol_action.domain.commands import COMMANDS, DoorKind, find_command
from gpu_lol_action.domain.request import Command, ParseProblem
from gpu_lol_action.errors import Door, Ending, GpuLolError, exit_code


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return the exit code."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    if not words or words[0] in ("--help", "-h"):
        print(overview())
        return 0
    if words[0] in ("--version", "-V"):
        print(f"gpu-lol {__version__}")
        return 0
    if "--help" in words or "-h" in words:
        words = ["help", words[0]]
    if words[0] == "help":
        print(explain(words[1]) if len(words) > 1 else overview())
        return 0
    return _run(words)


def overview() -> str:
    """Return what ``gpu-lol --help`` prints."""
    rows = [
        (spec.usage(DoorKind.TERMINAL).split(" [")[0], spec.summary)
        for spec in COMMANDS
        if spec.doors is not DoorKind.COMMENT
    ]
    width = max(len(name) for name, _ in rows)
    lines = [f"  {name:<{width}}  {summary}" for name, summary in rows]
    return "\n".join(
        [
            "gpu-lol: GPUs for your ML code, from the pull request or from here.",
            "",
            "Usage: gpu-lol COMMAND [OPTIONS]",
            "",
            *lines,
            "",
            "gpu-lol help COMMAND explains one. The same commands work in a pull request: /gpu-lol COMMAND.",
        ]
    )


def explain(word: str) -> str:
    """Return what ``gpu-lol help COMMAND`` prints."""
    spec = find_command(word)
    if spec is None:
        from gpu_lol_action.domain.commands import command_words
        from gpu_lol_action.intake.suggest import nearest

        valid = command_words(DoorKind.TERMINAL)
        return f"There is no command {word!r}. Did you mean {' or '.join(nearest(word, valid) or valid)}?"
    options = spec.options_at(DoorKind.TERMINAL)
    width = max((len(f"{o.name} {o.metavar}") for o in options), default=0)
    lines = [f"  {f'{o.name} {o.metavar}':<{width}}  {o.summary}" for o in options]
    examples = [f"  gpu-lol {example}" for example in spec.examples]
    return "\n".join(
        [
            f"Usage: gpu-lol {spec.usage(DoorKind.TERMINAL)}",
            "",
            f"{spec.summary}.",
            *(["", *lines] if lines else []),
            *(["", "Examples:", *examples] if examples else []),
        ]
    )


def _run(words: Sequence[str]) -> int:
    from gpu_lol_action.intake.parser import parse_words

    command = parse_words(words, DoorKind.TERMINAL)
    if isinstance(command, ParseProblem):
        print(f"gpu-lol: {command.what}".replace("`", ""), file=sys.stderr)
        if command.did_you_mean:
            print(f"Did you mean {' or '.join(command.did_you_mean)}?", file=sys.stderr)
        return exit_code(Ending.USER_ERROR, Door.TERMINAL)
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        ending = _carry_out(command)
    except KeyboardInterrupt:
        print("gpu-lol: stopped. `gpu-lol status` shows what may still run.", file=sys.stderr)
        ending = Ending.CANCELLED
    except GpuLolError as error:
        print(_told(error), file=sys.stderr)
        ending = error.ending
    return exit_code(ending, Door.TERMINAL)


def _carry_out(command: Command) -> Ending:
    if command.name == "rehearse":
        from gpu_lol_action.rehearsal.rehearse import rehearse

        rehearse(Path(command.path or "."), Path(command.output or "rehearsal.html"))
        return Ending.ANSWERED
    from gpu_lol_action import wiring
    from gpu_lol_action.adapters.progress import TerminalProgress
    from gpu_lol_action.router import ending_of

    if command.name == "analyze":
        print(wiring.analyze_folder(command))
        return Ending.ANSWERED

    from gpu_lol_action.domain.environment import Requester
    from gpu_lol_action.domain.policy import Policy
    from gpu_lol_action.handlers.context import Order
    from gpu_lol_action.handlers.obey import obey

    with wiring.terminal(Path.cwd(), TerminalProgress(), _show) as context:
        order = Order(
            command=command,
            requester=Requester(wiring.user()),
            repository=context.forge.repository(),
            pull_request=context.forge.pull_request(0),
            policy=Policy(requires_recent_sweep=False),
        )
        outcome = obey(context, order, may_use_cloud=True)
        if command.name == "sweep":
            _show(outcome.text)
        return ending_of(outcome)


def _show(markdown: str) -> None:
    """Show an answer as plain text."""
    from gpu_lol_action.render.terminal import render_text

    print(render_text(markdown, shutil.get_terminal_size((100, 24)).columns))


def _told(error: GpuLolError) -> str:
    parts = (error.explanation.what, error.explanation.why, error.explanation.fix)
    return "gpu-lol: " + "\n  ".join(part for part in parts if part)


if __name__ == "__main__":
    sys.exit(main())
