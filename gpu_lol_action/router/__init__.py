"""A request to its handler, and what became of it."""

from gpu_lol_action.router.events import route
from gpu_lol_action.router.results import Result, Run, Step, ending_of

__all__ = ["Result", "Run", "Step", "ending_of", "route"]
