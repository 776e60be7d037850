"""Which lines of a program only an option of the run's command lets it reach: ``--use_8bit_adam`` and what stands below ``if args.use_8bit_adam:``."""

from __future__ import annotations

from gpu_lol_action.analysis.files.checkout import Checkout, Source
from gpu_lol_action.analysis.programs.dead_branches import dead_lines, option_values
from gpu_lol_action.analysis.runs.entry_points import Run, import_closure
from gpu_lol_action.analysis.runs.settings import values_of


def switched_on(checkout: Checkout, run: Run | None, source: Source) -> tuple[range, ...]:
    """Return the blocks of a program that its options' defaults leave out and what the run says lets in."""
    if run is None or run.script is None or not (run.options or run.configs):
        return ()
    defaults = option_values((), import_closure(checkout, run.script))
    left_out = dead_lines(source, defaults) if defaults else ()
    dead = dead_lines(source, values_of(checkout, run)) if left_out else ()
    return tuple(block for block in left_out if not any(block.start in other for other in dead))
