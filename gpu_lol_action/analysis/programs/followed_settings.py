"""Settings that a program's calls give a library, with the values that something else tells: the command, a configuration, a caller."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import field, replace

from gpu_lol_action.analysis.files.checkout import Source
from gpu_lol_action.analysis.files.setting import Setting, fold_key
from gpu_lol_action.analysis.programs.code_settings import given_by_name, registry_entries
from gpu_lol_action.analysis.programs.followed_values import MAX_FOLLOWED, Follower
from gpu_lol_action.analysis.programs.local_values import (
    holds_options,
    is_chosen,
    is_handed_on,
    is_of_environment,
    is_overlaid,
    makes_items,
    option_names,
)
from gpu_lol_action.analysis.programs.others_names import BESIDE, SPLITS
from gpu_lol_action.analysis.programs.said_names import Told
from gpu_lol_action.analysis.python.values import Value
from gpu_lol_action.analysis.python.walk import LEAST_ENTRIES
from gpu_lol_action.domain.finding import Evidence
from gpu_lol_action.domain.records import record


@record(slots=True)
class FollowedSettings:
    """The settings of one run's programs, told by what follows their values. Private to the making of a run's scope."""

    follower: Follower
    _written: dict[Setting, Evidence] = field(default_factory=dict, repr=False, compare=False)

    def added(self, source: Source, settings: list[Setting]) -> list[Setting]:
        """Return a program's settings with those that its calls give and something else tells: constructors' behind what these say themselves.

        As in the program's own settings other calls' come last.
        """
        found = list(self._arguments(source))
        told = {(each.path, each.evidence) for each in found}
        kept = [each for each in settings if (each.path, each.evidence) not in told]
        first = next((at for at, each in enumerate(kept) if not each.path[:1].isupper()), len(kept))
        typed = [each for each in found if each.path[:1].isupper()]
        return [*kept[:first], *typed, *kept[first:], *(each for each in found if not each.path[:1].isupper())]

    def placed(self, settings: Iterable[Setting]) -> tuple[Setting, ...]:
        """Return settings where they are written; until then they stand where the call is, which decides whether it is reached."""
        return tuple(
            replace(s, evidence=self._written[s], called=s.evidence) if s in self._written else s for s in settings
        )

    def _arguments(self, source: Source) -> Iterator[Setting]:
        self.follower.left = MAX_FOLLOWED
        entries = registry_entries(source)
        found: dict[str, list[tuple[Setting, Evidence]]] = {}
        for setting, value in given_by_name(source):
            is_beside = BESIDE.search(setting.owner) or BESIDE.search(value.path or "")
            # A text beside the model's is cut there; items of a data set are its own.
            is_cut = source is not self.follower.closure[0] and SPLITS.search(setting.path) and not makes_items(source)
            is_written = value.text is not None and value.path is None
            if is_written or setting.owner in entries or is_cut or (is_beside and not setting.text):
                continue
            told = self._told(source, setting, value)
            if told is not None and told[0] != setting.text:
                known = Setting(setting.key, setting.path, told[0], setting.evidence, setting.owner)
                found.setdefault(setting.key, []).append((known, told[1] or setting.evidence))
        for pairs in found.values():
            if len({known.text for known, _ in pairs}) >= LEAST_ENTRIES:
                continue  # presets, of which the run takes one
            for known, written in pairs:
                self._written[known] = written
                yield known

    def _told(self, source: Source, setting: Setting, value: Value) -> Told | None:
        if not setting.text or self._is_open(source, setting.owner, value):
            return self.follower.value(source, value, setting.owner)
        if value.path is not None and value.path == value.reference and is_overlaid(source):
            return self.follower.laid_over(value.path, setting.owner, source)
        # What an option starts with is not what the configuration says (`r=model_args.lora_rank`).
        base, _, rest = (value.path or "").removeprefix("self.").partition(".")
        if not rest or not holds_options(source, base) or value.reference not in option_names(source):
            return None
        return self.follower.said.under(rest.split(".")) if self.follower.said.whole(rest) is not None else None

    def _is_open(self, source: Source, owner: str, value: Value) -> bool:
        """Whether something else may tell a value than the program's own lines, which it starts with."""
        names = source.code.names().keys_of(value) if source.code is not None else set[str]()
        is_chosen_by = is_chosen(value) or any(self.follower.said.named_so(fold_key(name)) for name in names)
        # `cfg.get("window", 512)` starts with what nobody says.
        is_start = bool(value.items) or value.otherwise is not None or is_of_environment(source, owner, value)
        word = value.reference if value.path == value.reference else None
        is_option = word is not None and word in option_names(source) and self.follower.said.ordered(word) is not None
        return is_chosen_by or is_start or is_option or is_handed_on(source, owner, value)
