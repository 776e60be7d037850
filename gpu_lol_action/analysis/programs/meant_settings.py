"""Which entries of a program's tables a run means by the names that it says: the settings of those, and not of the others."""

from __future__ import annotations

from collections.abc import Iterable

from gpu_lol_action.analysis.files.checkout import Source
from gpu_lol_action.analysis.files.effort import remembered
from gpu_lol_action.analysis.files.setting import Setting
from gpu_lol_action.analysis.programs.code_settings import TELLING, bare_name, code_settings, registry_entries
from gpu_lol_action.analysis.python.walk import ENTRY, PAIR
from gpu_lol_action.domain.patterns import regex

# Halves of data: neither is chosen by what is said of judging.
_JUDGES = regex(r"(?:train(?:ing)?|val|valid|validation|tests?|testing|eval|evaluation|dev)")


def meant(source: Source, names: frozenset[str], chosen: frozenset[str] = frozenset()) -> tuple[Setting, ...]:
    """Return a program's settings for a run that says these names: those of entries that it names first, others' left out.

    ``chosen`` are those that an option, a configuration or a subscript says: of two alike entries the one that they name comes
    first, and the other behind all else, for both may be parts of one whole.
    """
    entries = registry_entries(source)
    kept = code_settings(source)
    if pairs := _chosen_pairs(source, chosen):
        first = [setting for setting in kept if pairs.get(setting.owner)]
        last = [setting for setting in kept if pairs.get(setting.owner) is False]
        rest = [setting for setting in kept if setting.owner not in pairs and setting.owner not in entries]
        return (*first, *rest, *last)
    if not entries:
        return _called_first(source, names)
    named = {entry for entry in entries if bare_name(_word_of(entry)) in names}
    first = [setting for setting in code_settings(source) if setting.owner in named]
    first += _agreed(setting for setting in code_settings(source) if setting.owner in entries and not named)
    return (*first, *(setting for setting in code_settings(source) if setting.owner not in entries))


@remembered
def entry_names(source: Source) -> frozenset[str]:
    """Return the names of the entries of a program's dictionaries of like things, as they are written."""
    owners = {setting.owner for setting in code_settings(source) if setting.owner.startswith(ENTRY)}
    return frozenset(map(_word_of, owners))


def _word_of(owner: str) -> str:
    """Return an entry's own name; others' as it is."""
    return owner.split(PAIR)[1] if owner.startswith(PAIR) else owner.removeprefix(ENTRY)


@remembered
def _pairs(source: Source) -> tuple[tuple[str, str, str], ...]:
    """Return a program's entries of pairs: the owner, its own name and the other's, bare."""
    owners = dict.fromkeys(s.owner for s in code_settings(source) if s.owner.startswith(PAIR))
    words = ((owner, owner.split(PAIR)) for owner in owners)
    return tuple((owner, bare_name(own), bare_name(other)) for owner, (_, own, other, *_) in words)


def _chosen_pairs(source: Source, chosen: frozenset[str]) -> dict[str, bool]:
    """Return the entries of pairs of which one is chosen and the other is not, each with whether it is the one."""
    pairs = (
        (owner, own, other) for owner, own, other in _pairs(source) if not any(map(_JUDGES.fullmatch, (own, other)))
    )
    return {owner: own in chosen for owner, own, other in pairs if (own in chosen) != (other in chosen)}


@remembered
def taken_entries(source: Source) -> frozenset[tuple[str, str]]:
    """Return the tables of which a program takes an entry by its name (``PRESETS["large"]``), each with that name."""
    code = source.code
    if code is None:
        return frozenset()
    values = [value for call in code.calls for value in (*call.arguments, *call.spread, *(v for _, v in call.keywords))]
    found: set[tuple[str, str]] = set()
    for value in (*values, *(each.value for each in code.given)):
        words = (value.path or "").split(".")
        if value.table is not None and value.key is not None and value.key.text is not None:
            found.add((value.table, value.key.text.partition(".")[0]))
        elif len(words) > 1:
            found.add((words[0], words[1]))
    return frozenset(found)


def _called_first(source: Source, names: frozenset[str]) -> tuple[Setting, ...]:
    """Return a program's settings, first those of functions that the run names where another says otherwise of the model."""
    told: dict[str, dict[str, str]] = {}
    settings = code_settings(source)
    for setting in settings:
        if setting.owner and setting.key in TELLING:
            told.setdefault(setting.key, {}).setdefault(setting.owner, setting.text)
    rivals = {owner for by_owner in told.values() if len(set(by_owner.values())) > 1 for owner in by_owner}
    called = {owner for owner in rivals if bare_name(owner) in names}
    if not called or called == rivals:
        return settings
    return (*(s for s in settings if s.owner in called), *(s for s in settings if s.owner not in called))


def _agreed(settings: Iterable[Setting]) -> list[Setting]:
    """Return what all entries of a registry that say it say alike, once: it holds whichever is taken."""
    by_key: dict[str, list[Setting]] = {}
    for setting in settings:
        by_key.setdefault(setting.key, []).append(setting)
    return [found[0] for found in by_key.values() if len(found) > 1 and len({each.text for each in found}) == 1]
