"""What a run's command and its configurations say under a name that a program asks them by."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field

from gpu_lol_action.analysis.files.setting import Setting, fold_key
from gpu_lol_action.analysis.files.unfilled_options import is_unfilled
from gpu_lol_action.analysis.programs.taken_names import UNSET
from gpu_lol_action.domain.finding import Evidence
from gpu_lol_action.domain.records import record

MAX_WORDS, MAX_ALIKE = 6, 200
Told = tuple[str, "Evidence | None"]
"""A value's text, and where that is written if it is not where it is asked for."""


@record(slots=True)
class SaidNames:
    """Options of a command, and settings of the configurations, by the ends of their dotted names. Private to who follows values."""

    options: Sequence[Setting]
    configs: Sequence[Setting]
    aside: Sequence[Setting] = ()
    """Of a section that the run does not go by (``training`` of one that infers): said to who asks that section itself."""
    _by_name: dict[str, list[Setting]] = field(default_factory=dict, repr=False, compare=False)
    _said: dict[str, Told | None] = field(default_factory=dict, repr=False, compare=False)

    def named_so(self, name: str) -> list[Setting]:
        """Return what is said under this name, or under one that ends in it, behind a section."""
        if not self._by_name:
            for setting in (*self.options, *self.configs):
                if setting.text.strip().lower() not in UNSET and not is_unfilled(setting.text):
                    words = setting.path.split(".")
                    for start in range(max(0, len(words) - MAX_WORDS), len(words)):
                        self._by_name.setdefault(".".join(words[start:]), []).append(setting)
            for setting in self.aside:
                self._by_name.setdefault(setting.path, []).append(setting)
        return self._by_name.get(name, [])

    def whole(self, name: str) -> Told | None:
        """Return what is said under exactly that name, by the command first."""
        said = [each for each in self.named_so(fold_key(name)) if each.path == fold_key(name)]
        return (said[0].text, said[0].evidence) if said else None

    def ordered(self, name: str) -> Told | None:
        """Return what the command says under exactly that name."""
        said = [each for each in self.options if each.path == fold_key(name) and not is_unfilled(each.text)]
        return (said[0].text, said[0].evidence) if said else None

    def under(self, words: list[str]) -> Told | None:
        """Return what the command, or else the configurations, say under a name behind what holds them all."""
        folded = [fold_key(word) for word in words]
        name = ".".join(folded)
        if name not in self._said:
            self._said[name] = self.ordered(name) or self._look_under(folded, name)
        return self._said[name]

    def _look_under(self, words: list[str], name: str) -> Told | None:
        below = self.named_so(name)
        near = [each for each in below if each.path == name] or below
        if not near and len(words) > 1:
            # A section may be a folder, or a file, of its own: `model/large.yaml` has `cfg.model.name` as `name`.
            near = [each for each in self.named_so(words[-1])[:MAX_ALIKE] if set(words[:-1]) <= _places(each)]
        return (near[0].text, near[0].evidence) if len({each.text for each in near}) == 1 else None


def _places(setting: Setting) -> set[str]:
    return {*setting.evidence.path.lower().replace(".", "/").split("/"), *setting.path.split(".")}
