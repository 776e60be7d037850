"""What a run calls things by, and which functions and entries of its programs these words mean: presets, flavors, builders."""

from __future__ import annotations

import re
from collections.abc import Iterable

from gpu_lol_action.analysis.files.checkout import Checkout, Source
from gpu_lol_action.analysis.files.setting import Setting, fold_key
from gpu_lol_action.analysis.files.unfilled_options import is_unfilled
from gpu_lol_action.analysis.formats.paths import Form
from gpu_lol_action.analysis.programs.code_settings import bare_name, code_settings, registry_entries
from gpu_lol_action.analysis.programs.import_graph import local_imports
from gpu_lol_action.analysis.programs.meant_settings import entry_names, taken_entries
from gpu_lol_action.analysis.programs.others_names import BESIDE
from gpu_lol_action.analysis.runs.entry_points import Run, import_closure
from gpu_lol_action.domain.patterns import regex
from gpu_lol_action.domain.records import record

MAX_WORD = 80
MAX_PRESETS = 3
MAX_PROGRAMS = 4000
MAX_TABLES = 20
# Options by which a run names a function of its own making: `--config llama3_8b`.
_PRESET_KEY = regex(
    r"(?:\w*_)?(?:config|cfg|recipe|preset|experiment|exp|model|arch|flavor|variant|network|task)(?:_name|_type|_id)?"
)
_PRESET = regex(r"[A-Za-z_]\w{3,60}")


@record(frozen=True, slots=True)
class Words:
    """The names that a run says, bare (see ``bare_name``); the programs that define those named as presets; these presets' names.

    ``chosen`` are the names that its command, its configuration, its options' defaults or a subscript says, without what is only called so.
    """

    names: frozenset[str]
    sources: tuple[Source, ...]
    presets: frozenset[str]
    chosen: frozenset[str] = frozenset()


def words_of(checkout: Checkout, run: Run, said: Iterable[Setting]) -> Words:
    """Return what a run calls things by: words of its command and configuration, its program's defaults, what that calls.

    A word may name a function that builds the configuration (``--config llama3_8b``): what this one says counts as well, and
    an entry of a table means the function behind it (``{"8B": _8b}``).
    """
    spoken = list(said)
    words = {setting.text for setting in spoken}
    closure = import_closure(checkout, run.script) if run.script is not None else ()
    if run.script is not None:
        words |= _says(run.script, None, frozenset(setting.key for setting in spoken))
    presets = {s.text for s in spoken if _PRESET_KEY.fullmatch(s.key) and _PRESET.fullmatch(s.text)}
    sources: dict[Source, None] = {}
    for preset in sorted(presets)[:MAX_PRESETS]:
        source = next((s for s in closure if _defines(s, preset)), None) or _definer(checkout, preset)
        if source is not None:
            words |= _says(source, preset)
            sources.update(dict.fromkeys([source, *local_imports(checkout, source)]))
    names = _bare(words)
    defaults = _defaults(run.script)
    given = {setting.key for setting in spoken if not is_unfilled(setting.text)}
    chosen = _bare(setting.text for setting in spoken) | _bare(text for key, text in defaults if key not in given)
    chosen |= _chosen_otherwise(closure, chosen, _bare(text for _, text in defaults))
    names |= chosen
    for source in (*closure, *sources):
        for table in source.code.names().tables.values() if source.code is not None else ():
            names |= {bare_name(v.reference) for key, v in table.items() if v.reference and bare_name(key) in names}
    return Words(
        frozenset(names),
        tuple(source for source in sources if source not in closure),
        frozenset(presets),
        frozenset(chosen),
    )


def _bare(words: Iterable[str]) -> set[str]:
    return {bare_name(word) for word in words if word and len(word) <= MAX_WORD}


def _defaults(script: Source | None) -> list[tuple[str, str]]:
    """Return what a program's options start with, by their folded names."""
    defaults = script.code.defaults if script is not None and script.code is not None else ()
    return [(fold_key(each.name), each.text) for each in defaults if each.is_option]


def _chosen_otherwise(closure: Iterable[Source], chosen: set[str], defaults: set[str]) -> set[str]:
    """Return the entries that programs take by their names, or that options start with, of tables of which nothing else names one.

    What a command says in an option's place may be no entry's name (``--model MODEL``).
    """
    programs = list(closure)
    found: set[str] = set()
    for source in programs:
        entries = {bare_name(word) for word in entry_names(source)}
        if not entries or not entries.isdisjoint(chosen):
            continue
        tables = frozenset(source.code.names().tables) if source.code is not None else frozenset[str]()
        asking = (each for each in programs if any(map(each.mentions, sorted(tables)[:MAX_TABLES])))
        taken = {word for each in asking for table, word in taken_entries(each) if table in tables}
        found |= entries & (_bare(word for word in taken if BESIDE.search(word) is None) or defaults)
    return found


def _says(source: Source, owner: str | None, given: frozenset[str] = frozenset()) -> set[str]:
    """Return the words of a program outside its registries, or of one function of it: defaults, arguments, what it calls.

    ``given``: what the command or its configuration says, in place of what the program would start with.
    """
    if source.code is None:
        return set()
    entries = registry_entries(source)
    mine = [s for s in code_settings(source) if (s.owner == owner if owner else s.owner not in entries)]
    words = {setting.text for setting in mine if setting.key not in given or "." in setting.path}
    for call in source.code.calls:
        if owner is None or call.owner == owner:
            words |= {call.last, *(argument.text for argument in call.arguments if argument.text)}
    return words


def _defines(source: Source, name: str) -> bool:
    return re.search(rf"^def {name}\b", source.text, re.MULTILINE) is not None


def _definer(checkout: Checkout, name: str) -> Source | None:
    """Return the program that defines a function of that name at its top, where only one does."""
    head = f"def {name}("
    found = []
    for source in checkout.of(Form.PYTHON)[:MAX_PROGRAMS]:
        content = source.content
        if (head in content if isinstance(content, str) else head.encode() in content) and _defines(source, name):
            found.append(source)
    return found[0] if len(found) == 1 else None
