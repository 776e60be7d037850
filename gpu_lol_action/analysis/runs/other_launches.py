"""What the other commands that start a run's program say of how many cards it takes, and which of them say nothing of the run."""

from __future__ import annotations

from gpu_lol_action.analysis.commands.launch_commands import LaunchCommand, launch_commands
from gpu_lol_action.analysis.files.checkout import Checkout
from gpu_lol_action.analysis.runs.entry_points import Run


def is_left_to_ask(checkout: Checkout, told: LaunchCommand) -> bool:
    """Whether a launcher takes what its user once answered or what the machine has, and all other launches of the program are on several cards of one."""
    if told.tool not in {"accelerate", "composer"}:
        return False
    others = [c for c in launch_commands(checkout) if c.target == told.target and c.is_launcher and c.processes]
    # A document that shows a second way with a number shows the first for one card.
    return bool(others) and all((c.processes or 0) > 1 and c.nodes == 1 and not c.is_documented for c in others)


def is_of_another_configuration(command: LaunchCommand, run: Run) -> bool:
    """Whether a command of a run's program names a configuration where the run's is another: another training."""
    own = {source.path for source in run.configs}
    named = [word.removeprefix("./") for word in command.words if word.endswith((".yaml", ".yml", ".json"))]
    named = [word for word in named if not word.startswith("/")]  # where a platform mounts what its own file says
    return bool(own and named) and not any(path.endswith(word) for word in named for path in own)
