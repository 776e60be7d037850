"""What a run's options and configurations say, under one kind of name for all libraries of reinforcement learning."""

from __future__ import annotations

from collections.abc import Mapping

from gpu_lol_action.analysis.files.checkout import Checkout
from gpu_lol_action.analysis.files.setting import Setting
from gpu_lol_action.analysis.runs.entry_points import Run
from gpu_lol_action.analysis.runs.settings import scope_of
from gpu_lol_action.domain.finding import Confidence
from gpu_lol_action.domain.patterns import regex
from gpu_lol_action.domain.records import record

_ON = frozenset({"true", "1", "yes", "on"})


@record(frozen=True, slots=True)
class Said:
    """What a run's options and configurations say, by dotted names with underscores (``actor_rollout_ref_rollout_n``); ``surely``: how far to trust it."""

    texts: Mapping[str, Setting]
    surely: Confidence = Confidence.HIGH

    def text(self, *names: str, default: str = "") -> str:
        """Return the value under the first of these names that is said."""
        found = next((self.texts[name] for name in names if name in self.texts), None)
        return found.text.strip().strip("\"'") if found is not None else default

    def is_on(self, *names: str, default: str = "") -> bool:
        """Whether a switch is set; a flag without a value is."""
        is_bare = any(name in self.texts and not self.texts[name].text.strip() for name in names)
        return is_bare or self.text(*names, default=default).lower() in _ON

    def has(self, prefix: str) -> bool:
        """Whether anything is said whose name begins so."""
        return any(name.startswith(prefix) for name in self.texts)


def said_of(checkout: Checkout, run: Run) -> Said:
    """Return what the run's own options and configurations say; the program's defaults are not among it."""
    texts: dict[str, Setting] = {}
    tiers = scope_of(checkout, run).tiers
    is_whole_program = run.script is not None and not run.options
    for _, settings in tiers[: 3 if is_whole_program else 2]:
        for setting in settings:
            texts.setdefault(regex(r"[^a-z0-9]+").sub("_", setting.path.lower()).strip("_"), setting)
    return Said(texts)
