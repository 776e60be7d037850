"""Values that a run starts with, nearest first: its options, its configuration files, its script, what that imports."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import field, replace

from gpu_lol_action.analysis.files.checkout import Checkout, Source
from gpu_lol_action.analysis.files.configuration import read_settings
from gpu_lol_action.analysis.files.setting import Setting, fold_key
from gpu_lol_action.analysis.files.unfilled_options import without_blanks
from gpu_lol_action.analysis.programs.behavior import Behavior
from gpu_lol_action.analysis.programs.code_settings import (
    borrowed_settings,
    code_settings,
    constants_of,
    given_arguments,
    placed_arguments,
)
from gpu_lol_action.analysis.programs.dead_branches import option_values, reached
from gpu_lol_action.analysis.programs.followed_settings import FollowedSettings
from gpu_lol_action.analysis.programs.followed_values import Follower
from gpu_lol_action.analysis.programs.gin_bindings import bound_by, without_overridden
from gpu_lol_action.analysis.programs.main_guards import started_alone
from gpu_lol_action.analysis.programs.meant_settings import meant
from gpu_lol_action.analysis.programs.unused_definitions import is_unused_at
from gpu_lol_action.analysis.runs.built_modules import built_modules
from gpu_lol_action.analysis.runs.chosen_modules import without_others
from gpu_lol_action.analysis.runs.entry_points import Run, import_closure
from gpu_lol_action.analysis.runs.open_choices import without_open_choices
from gpu_lol_action.analysis.runs.other_places import OtherPlaces
from gpu_lol_action.analysis.runs.run_configs import run_configs, stray_configs
from gpu_lol_action.analysis.runs.run_environment import of_environment
from gpu_lol_action.analysis.runs.run_words import words_of
from gpu_lol_action.analysis.runs.thin_programs import only_hands_on
from gpu_lol_action.analysis.runs.torchtune_recipes import recipe_settings
from gpu_lol_action.analysis.runs.written_configs import written_settings
from gpu_lol_action.domain.finding import Confidence, Evidence
from gpu_lol_action.domain.patterns import regex
from gpu_lol_action.domain.records import record

# Words that say nothing without their section.
_COMMON = frozenset({"name", "path", "id", "type", "base", "version", "size", "checkpoint", "pretrained", "model"})
_PLACE = regex(r"\$\{(?:oc\.env:\w+\s*,\s*([^{}]*)|\.*([\w.]+))\}")
_PAIRS = regex(r"\w{1,60}=[^,=]{1,200}(?:,\w{1,60}=[^,=]{1,200}){0,20}")
_OF_TRAINING = regex(r"(?:.{0,60}\.)?(?:train(?:ing|er)?|solver)\.")
_AMOUNTS = regex(r"world_size|batch|gpus|nodes|devices")
LIGHTNINGS = ("model", "model.init_args")
"""Where a configuration of Lightning's command line says the parameters of its model."""
Settings = tuple[Setting, ...]
_UNSET = frozenset({"", "none", "null", "required", "???"})


def _used(_: Setting) -> bool:
    return False


@record(frozen=True, slots=True)
class Scope:
    """Settings in tiers; the confidence says how near a tier is to what is really started.

    ``is_anothers`` tells of a setting of an imported module whether it is not the run's: it is asked of those that are looked for.
    """

    tiers: tuple[tuple[Confidence, tuple[Setting, ...]], ...]
    is_anothers: Callable[[Setting], bool] = field(default=_used, repr=False, compare=False)
    _keyed: list[dict[str, list[Setting]]] = field(default_factory=list, repr=False, compare=False)

    def under(self, names: Iterable[str]) -> Iterator[Found]:
        """Yield the settings under these keys as they are looked for: tier by tier, in each those of an earlier name first."""
        if not self._keyed:
            for _, settings in self.tiers:
                keyed: dict[str, list[Setting]] = {}
                for setting in settings:
                    keyed.setdefault(setting.key, []).append(setting)
                self._keyed.append(keyed)
        wanted = list(names)
        for (confidence, _), by_key in zip(self.tiers, self._keyed, strict=True):
            for name in wanted:
                for setting in by_key.get(name, ()):
                    if confidence is not Confidence.MEDIUM or not self.is_anothers(setting):
                        yield Found(setting, confidence)


def said_of_lightning(scope: Scope, source: Source) -> frozenset[str]:
    """Return the parameters of Lightning's model that a command or a configuration says to a program which has its command line."""
    if not source.mentions("LightningCLI"):
        return frozenset()
    said = (setting.path.rpartition(".") for _, settings in scope.tiers[:2] for setting in settings)
    return frozenset(name for place, _, name in said if place in LIGHTNINGS)


@record(frozen=True, slots=True)
class Found:
    """A setting that was looked for, with how sure its tier makes it."""

    setting: Setting
    confidence: Confidence

    @property
    def text(self) -> str:
        """The value as text."""
        return self.setting.text

    @property
    def evidence(self) -> Evidence:
        """Where it stands."""
        return self.setting.evidence


@functools.lru_cache(maxsize=16)
def scope_of(checkout: Checkout, run: Run | None) -> Scope:
    """Return the settings of a run, nearest tier first."""
    if run is None:
        return Scope(())
    # Hydra and Lightning write `trainer.devices=4`: the last word is the key, as in their files.
    options = tuple(
        Setting(fold_key(key.rpartition(".")[2]), fold_key(key), value, run.evidence)
        for key, value in run.options.items()
    )
    options = (*bound_by(options), *options, *_packed(options), *of_environment(checkout, run))
    closure = import_closure(checkout, run.script) if run.script else ()
    options = without_blanks(options, closure)
    configs = without_overridden(
        [
            setting
            for source in run_configs(checkout, run)
            for setting in (code_settings(source) if source.code is not None else read_settings(source))
        ]
    )
    # What the command overrides is no longer the configuration's, also where its value is left open (`model.path=$MODEL`); a number is
    # still what such a run usually has.
    overridden = {option.path for option in options if "." in option.path}
    kept_configs = (
        s
        for s in (*configs, *recipe_settings(run), *written_settings(checkout, run))
        if s.path not in overridden or _is_number(s.text)
    )
    configs, aside = _not_of_training(_filled(tuple(kept_configs), options), run)
    closure = without_others(checkout, closure, (*options, *configs)) if closure else closure
    words = words_of(checkout, run, (*options, *configs))
    built = tuple(source for source in built_modules(checkout, run) if source not in words.sources)
    others = (*words.sources, *built)
    constants = constants_of((*closure[1:], *others))
    given = {setting.key for setting in options}
    values = option_values((*options, *configs), (*closure, *others))
    followed = FollowedSettings(Follower(options, configs, (*closure, *others), aside))
    own: list[Setting] = []
    first = 2 if only_hands_on(checkout, closure) else 1
    for source in closure[:first]:
        said = followed.added(
            source, [*meant(source, words.names, words.chosen), *borrowed_settings(source, constants)]
        )
        said = [
            s for s in said if not is_unused_at(source, s.evidence.line, closure)
        ]  # of the program itself all is used
        own += without_open_choices(source, reached(source, said, values), values, closure)
    near: list[Setting] = []
    for source in (*words.sources, *closure[first:], *built):
        said = followed.added(
            source, [*meant(source, words.names, words.chosen), *borrowed_settings(source, constants)]
        )
        alone = started_alone(source)
        said = reached(source, [s for s in said if s.evidence.line not in alone] if alone else said, values)
        near += without_open_choices(source, said, values, closure)
    configs = (*configs, *(setting for setting in near if setting.owner in words.presets))
    rest: tuple[Setting, ...] = ()
    if not run.configs:
        rest = tuple(s for source in stray_configs(checkout, run) for s in read_settings(source))
    # What an option gives is no longer what the program would start with, also where it is given as nothing.
    kept = tuple(setting for setting in own if "." in setting.path or setting.key not in given)
    programs = (*closure, *others)
    passed = placed_arguments(programs).union(*(given_arguments(source) for source in programs))
    tiers = (
        (Confidence.HIGH, options),
        (Confidence.HIGH, configs),
        (Confidence.HIGH, tuple(setting for setting in kept if not _is_overridden(setting, passed))),
        (Confidence.MEDIUM, tuple(setting for setting in near if not _is_overridden(setting, passed))),
        (Confidence.LOW, tuple(setting for setting in (*kept, *near) if _is_overridden(setting, passed))),
    )
    placed = ((confidence, followed.placed(settings)) for confidence, settings in tiers)
    return Scope((*placed, (Confidence.LOW, rest)), OtherPlaces(checkout, run, closure).hold if closure else _used)


def _not_of_training(configs: Settings, run: Run) -> tuple[Settings, Settings]:
    """Return a configuration without the cards and batches of its ``TRAIN`` section, where the run is not one that trains, and these."""
    if run.behavior is not Behavior.INFERS:
        return configs, ()
    aside = tuple(s for s in configs if _OF_TRAINING.match(s.path) is not None and _AMOUNTS.search(s.key) is not None)
    left = frozenset(aside)
    return tuple(s for s in configs if s not in left), aside


def _is_number(text: str) -> bool:
    return text.strip()[:1].isdigit() and text.strip().replace(".", "", 1).isdigit()


def _is_overridden(setting: Setting, passed: frozenset[tuple[str, str]]) -> bool:
    """Whether it is the default of a function's parameter that a call of that function gives by name."""
    return setting.is_parameter and (setting.owner, setting.key) in passed


@functools.lru_cache(maxsize=16)
def values_of(checkout: Checkout, run: Run) -> Mapping[str, str]:
    """Return what a run's options are, for the branches that they decide: said by its command or configuration, else their defaults."""
    said = (setting for _, settings in scope_of(checkout, run).tiers[:2] for setting in settings)
    return option_values(said, import_closure(checkout, run.script) if run.script else ())


def _packed(options: tuple[Setting, ...]) -> Iterator[Setting]:
    """Yield what an option holds as pairs of its own: ``--model_args pretrained=a/b,dtype=float16``."""
    for option in options:
        if option.key.endswith(("_args", "_kwargs")) and _PAIRS.fullmatch(option.text):
            for key, _, value in (pair.partition("=") for pair in option.text.split(",")):
                yield Setting(fold_key(key), f"{option.path}.{fold_key(key)}", value, option.evidence)


def _filled(configs: tuple[Setting, ...], options: tuple[Setting, ...]) -> tuple[Setting, ...]:
    """Return settings with what OmegaConf puts into them: ``${model.name}``, ``${oc.env:MODEL,gpt2}``."""
    if not any("${" in setting.text for setting in configs):
        return configs
    texts: dict[str, str] = {}
    for setting in (*options, *configs):
        if "${" not in setting.text:
            texts.setdefault(setting.path, setting.text)

    def put(found: re.Match[str]) -> str:
        fallback = (found[1] or "").strip("\"' ")
        known = texts.get(fold_key(found[2])) if found[2] else fallback
        known = known or next(
            (text for path, text in texts.items() if found[2] and path.endswith(f".{fold_key(found[2])}")), None
        )
        return known or found[0]

    return tuple(replace(s, text=_PLACE.sub(put, s.text)[:300]) if "${" in s.text else s for s in configs)


def look_up(scope: Scope, names: Iterable[str], *, prefix: str = "") -> Found | None:
    """Return the nearest setting with one of these keys that has a value; earlier names win within a tier."""
    for found in scope.under(names):
        if found.text.strip().lower() not in _UNSET and found.setting.path.startswith(prefix):
            return found
    return None


def look_up_number(scope: Scope, names: Iterable[str], low: int, high: int) -> Found | None:
    """Return the nearest setting with one of these keys that is a whole number within bounds."""
    for found in scope.under(names):
        number = as_number(found.text)
        if number is not None and low <= number <= high:
            return found
    return None


def as_number(text: str) -> int | None:
    """Return a whole number as settings write it (``4096``, ``4_096``, ``1e3``); None for anything else."""
    bare = text.strip().strip("\"'").replace("_", "")
    if regex(r"\d{1,12}").fullmatch(bare):
        return int(bare)
    if regex(r"\d{1,9}(?:\.\d{1,6})?(?:[eE]\+?\d{1,2})?").fullmatch(bare) and float(bare).is_integer():
        return int(float(bare))
    return None


def find_path(scope: Scope, path: str) -> Setting | None:
    """Return the setting that a program means by a dotted name (``cfg.model.name``), from the run's options or configuration.

    The first word is the program's own name for all of it; a section may be a file of its own (``model/large.yaml``).
    """
    words = [fold_key(word) for word in path.split(".")[1:]]
    said = [
        setting for _, settings in scope.tiers[:2] for setting in settings if setting.text.strip().lower() not in _UNSET
    ]
    for start in range(len(words)):
        suffix = ".".join(words[start:])
        for setting in said:
            if setting.path == suffix or setting.path.endswith(f".{suffix}"):
                if len(words) - start > 1 or start == 0 or setting.key not in _COMMON:
                    return setting
                folders = setting.evidence.path.lower().split("/")[:-1]
                if words[start - 1] in folders or words[start - 1] in setting.path.split("."):
                    return setting
    return None


def is_on(found: Found | None) -> bool:
    """Whether a switch is set."""
    return found is not None and found.text.strip().strip("\"'").lower() in {"true", "1", "yes", "on", "auto"}
