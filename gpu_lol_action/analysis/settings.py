"""Values that a run starts with, nearest first: its options, its configuration files, its script, what that imports."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from gpu_lol_action.analysis.checkout import Checkout, Source
from gpu_lol_action.analysis.configuration import Setting, fold_key, read_settings
from gpu_lol_action.analysis.effort import remembered
from gpu_lol_action.analysis.entry_points import Run, import_closure
from gpu_lol_action.analysis.paths import Form
from gpu_lol_action.analysis.python_code import PythonCode
from gpu_lol_action.domain.finding import Confidence, Evidence

MAX_CONFIGS = 20
_UNSET = frozenset({"", "none", "null", "required", "???"})


@dataclass(frozen=True, slots=True)
class Scope:
    """Settings in tiers; the confidence says how near a tier is to what is really started."""

    tiers: tuple[tuple[Confidence, tuple[Setting, ...]], ...]


@dataclass(frozen=True, slots=True)
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
    configs = tuple(
        setting
        for source in _configs(checkout, run)
        for setting in (_of_code(source) if source.code is not None else read_settings(source))
    )
    own = _of_code(run.script) if run.script else ()
    imported = import_closure(checkout, run.script)[1:] if run.script else ()
    near = tuple(setting for source in imported for setting in _of_code(source))
    rest: tuple[Setting, ...] = ()
    if not run.configs:
        rest = tuple(s for source in _stray_configs(checkout, run) for s in read_settings(source))
    tiers = ((Confidence.HIGH, options), (Confidence.HIGH, configs), (Confidence.HIGH, own), (Confidence.MEDIUM, near))
    return Scope((*tiers, (Confidence.LOW, rest)))


def look_up(scope: Scope, names: Iterable[str], *, prefix: str = "") -> Found | None:
    """Return the nearest setting with one of these keys that has a value; earlier names win within a tier."""
    wanted = list(names)
    for confidence, settings in scope.tiers:
        for name in wanted:
            for setting in settings:
                if (
                    setting.key == name
                    and setting.text.strip().lower() not in _UNSET
                    and setting.path.startswith(prefix)
                ):
                    return Found(setting, confidence)
    return None


def look_up_number(scope: Scope, names: Iterable[str], low: int, high: int) -> Found | None:
    """Return the nearest setting with one of these keys that is a whole number within bounds."""
    wanted = list(names)
    for confidence, settings in scope.tiers:
        for name in wanted:
            for setting in settings:
                number = as_number(setting.text) if setting.key == name else None
                if number is not None and low <= number <= high:
                    return Found(setting, confidence)
    return None


def as_number(text: str) -> int | None:
    """Return a whole number as settings write it (``4096``, ``4_096``, ``1e3``); None for anything else."""
    bare = text.strip().strip("\"'").replace("_", "")
    if re.fullmatch(r"\d{1,12}", bare):
        return int(bare)
    if re.fullmatch(r"\d{1,9}(?:\.\d{1,6})?(?:[eE]\+?\d{1,2})?", bare) and float(bare).is_integer():
        return int(float(bare))
    return None


def is_on(found: Found | None) -> bool:
    """Whether a switch is set."""
    return found is not None and found.text.strip().strip("\"'").lower() in {"true", "1", "yes", "on", "auto"}


@remembered
def _of_code(source: Source) -> tuple[Setting, ...]:
    """Return a program's settings: arguments of constructors first, then options' defaults, then the rest."""
    code = source.code
    if code is None:
        return ()
    typed = [s for s in _arguments(source, code) if s.path[:1].isupper()]
    other = [s for s in _arguments(source, code) if not s.path[:1].isupper()]
    options = [_default(source, d.name, d.text, d.line) for d in code.defaults if d.is_option]
    plain = [_default(source, d.name, d.text, d.line) for d in code.defaults if not d.is_option]
    return (*typed, *options, *plain, *other)


def _arguments(source: Source, code: PythonCode) -> list[Setting]:
    found: list[Setting] = []
    for call in code.calls:
        for key, value in call.keywords:
            text = code.resolve(value)
            if text is not None and call.last not in {"add_argument", "field", "option"}:
                found.append(
                    Setting(fold_key(key), f"{call.last}.{fold_key(key)}", text, Evidence(source.path, call.line))
                )
    return found


def _default(source: Source, name: str, text: str, line: int) -> Setting:
    return Setting(fold_key(name), fold_key(name), text, Evidence(source.path, line))


def _configs(checkout: Checkout, run: Run) -> list[Source]:
    """Return the run's configuration files and those that they name, the nearest to the command first."""
    found = list(run.configs)
    for source in found:  # grows while it is walked: what is named may name others
        if len(found) >= MAX_CONFIGS:
            break
        found.extend(named for named in _named_by(checkout, run, source) if named not in found)
    return found[:MAX_CONFIGS]


def _named_by(checkout: Checkout, run: Run, source: Source) -> Iterator[Source]:
    """Yield what a configuration names: a DeepSpeed JSON, the groups of a Hydra defaults list, the bases of OpenMMLab."""
    for setting in read_settings(source):
        named: Source | None = None
        if setting.key in {"deepspeed", "deepspeed_config", "deepspeed_config_file"}:
            named = checkout.find_named(setting.text)
        elif setting.path == "defaults":
            named = checkout.find(_beside(source, f"{setting.text}.yaml"))
        elif setting.path.startswith("defaults."):
            # `model=large` on the command line takes another file of the group.
            group = setting.path.removeprefix("defaults.").removeprefix("override_").removeprefix("/")
            name = run.options.get(group, setting.text).removesuffix(".yaml")
            named = checkout.find(_beside(source, f"{group}/{name}.yaml"))
        if named is not None:
            yield named
    base = source.code.default("_base_") if source.code is not None else None
    for path in base.text.split(",")[:10] if base is not None else []:
        named = checkout.find(_beside(source, path.strip())) or checkout.find_named(path.strip())
        if named is not None:
            yield named


def _beside(source: Source, path: str) -> str:
    """Return a path that a file names, seen from the root."""
    parts: list[str] = source.folder.split("/") if source.folder else []
    for part in path.split("/"):
        if part == "..":
            parts = parts[:-1]
        elif part not in {"", "."}:
            parts.append(part)
    return "/".join(parts)


def _stray_configs(checkout: Checkout, run: Run) -> list[Source]:
    """Return configuration files near the script that nothing names; they speak softly."""
    folder = run.script.folder if run.script else ""
    near = [
        s
        for s in checkout.of(Form.YAML)
        if s.folder in {folder, f"{folder}/configs".strip("/"), f"{folder}/config".strip("/")}
    ]
    return near[:5]
