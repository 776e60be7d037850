"""What configurations give the classes and functions that they have a library build: Hydra, Lightning, OpenMMLab, many projects' own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field

from gpu_lol_action.analysis.files.setting import Setting, fold_key
from gpu_lol_action.domain.finding import Evidence
from gpu_lol_action.domain.records import record

# What names a class to be built, and where its arguments lie beside that.
_TARGETS = frozenset({"_target_", "class_path", "target", "type"})
_ARGUMENTS = ("", "init_args.", "params.", "args.", "kwargs.")
MAX_SECTIONS = 12


@record(slots=True)
class BuiltArguments:
    """The arguments in one run's configurations. Remembers where they lie; private to who follows that run's values."""

    configs: Sequence[Setting]
    _sections: dict[str, list[Setting]] = field(default_factory=dict, repr=False, compare=False)
    _placed: dict[tuple[str, str], Setting] = field(default_factory=dict, repr=False, compare=False)

    def given(self, name: str, parameter: str) -> list[tuple[str, Evidence]]:
        """Return what a class or function of that name is given for a parameter, each time it is built with one, and where that is said."""
        if not self._placed:
            for setting in self.configs:
                self._placed.setdefault((setting.evidence.path, setting.path), setting)
                if setting.key in _TARGETS:
                    self._sections.setdefault(setting.text.rpartition(".")[2], []).append(setting)
        found: list[tuple[str, Evidence]] = []
        for target in self._sections.get(name, ())[:MAX_SECTIONS]:
            section = target.path.removesuffix(target.key)
            places = (f"{section}{inner}{fold_key(parameter)}" for inner in _ARGUMENTS)
            said = (self._placed.get((target.evidence.path, place)) for place in places)
            found += [(each.text, each.evidence) for each in said if each is not None]
        return found
