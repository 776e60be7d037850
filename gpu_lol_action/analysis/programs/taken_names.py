"""Where the names of a program come from: which module of the project it takes each from, and what it calls to make it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from gpu_lol_action.analysis.files.checkout import Source
from gpu_lol_action.analysis.files.effort import remembered
from gpu_lol_action.analysis.programs.code_settings import code_settings, registry_entries
from gpu_lol_action.analysis.python.code import Default
from gpu_lol_action.domain.patterns import regex

_MADE = regex(r"(?m)^[ \t]*(\w{1,40})(?:[ \t]?:[ \t]?[\w.\[\]]{1,60})?[ \t]?=[ \t]?([\w.]{1,80})\(")
_RENAMED = regex(r"(?m)^[ \t]*(?:from[ \t]+([\w.]{1,100})[ \t]+)?import[ \t]+([\w.]{1,100})[ \t]+as[ \t]+(\w{1,40})")
_GETS = regex(
    r"(?m)^def[ ](\w{1,60})\(\)[^:\n]{0,60}:[ ]{0,4}\n(?:[ \t]{1,8}\"\"\"[^\"\n]{0,300}\"\"\"[ ]{0,4}\n)?[ \t]{1,8}return[ ]([A-Z]\w{0,60})\("
)
# All that says what a module hands out, and what does so by names alone.
_LISTS = regex(r"(?m)^[ \t]{0,8}__all__\b")
_LISTED = regex(r"(?m)^__all__(?:[ ]?:[^\n=]{1,40})?[ ]{0,4}\+?=[ ]{0,4}[\[(]([^\])(=]{0,8000})[\])]")
_QUOTED = regex(r"[\"'](\w{1,100})[\"']")
_BESIDE_NAMES = regex(r"#[^\n]{0,400}|[\s,]")
UNSET = frozenset({"", "none", "null", "???"})
ALL = "*"
MAX_STARS = 20


@remembered
def origins(source: Source) -> dict[str, tuple[str, str]]:
    """Return the module that each name of a program comes from, and what it is called there; nothing for a module itself.

    Under ``ALL`` is a module of which everything is taken.
    """
    found: dict[str, tuple[str, str]] = {}
    for item in source.code.imports if source.code is not None else ():
        if item.names:
            found.update((name, (item.module, "" if name == ALL else name)) for name in item.names)
        elif item.module.startswith("."):  # what is taken from a relative module is one of its names, or a module
            above, _, last = item.module.rpartition(".")
            found.setdefault(last, (above, last))
        else:
            found.setdefault(item.module.partition(".")[0], (item.module, ""))
    for module, name, called in _RENAMED.findall(source.text):
        found[called] = (module, name) if module else (name, "")
    return found


@remembered
def everything_of(source: Source) -> tuple[str, ...]:
    """Return the modules of which a program takes everything, in their order (``from config import *``)."""
    imports = source.code.imports if source.code is not None else ()
    return tuple(item.module for item in imports if ALL in item.names)[:MAX_STARS]


@remembered
def _offered(source: Source) -> frozenset[str] | None:
    """Return the names that a module says to hand out with everything (``__all__``); None where it says none, or not as a plain list."""
    if not source.mentions("__all__"):
        return None
    lists = _LISTED.findall(source.text)
    whole = "\n".join(lists)
    is_plain = len(lists) == len(_LISTS.findall(source.text)) and not _BESIDE_NAMES.sub("", _QUOTED.sub("", whole))
    return frozenset(_QUOTED.findall(whole)) if is_plain else None


def gives_away(source: Source, name: str) -> bool:
    """Whether a program that takes everything of a module gets that name: what the module lists, else all that begins with no ``_``."""
    offered = _offered(source)
    return not name.startswith("_") if offered is None else name in offered


def whole_name(source: Source, called: str) -> str:
    """Return what a program calls by its name in the module that it comes from (``load_model``, ``w.load_model``: ``whisper.load_model``)."""
    base, _, last = called.rpartition(".")
    module, name = origins(source).get(base or called, ("", ""))
    if not module:
        return called
    return ".".join(word for word in (module, name, last if base else "") if word)


@remembered
def makers(source: Source) -> dict[str, str]:
    """Return what a program calls to make each of its variables, for those that it makes in one way."""
    made: dict[str, set[str]] = {}
    for found in _MADE.finditer(source.text):
        made.setdefault(found[1], set()).add(found[2])
    return {name: called.pop() for name, called in made.items() if len(called) == 1}


@remembered
def starts(source: Source) -> dict[str, list[Default]]:
    """Return what a module starts with by name, but for its functions' parameters and what is one of many of its registries."""
    found: dict[str, list[Default]] = {}
    entries = registry_entries(source)
    of_many = {s.key for s in code_settings(source) if s.owner in entries} if entries else frozenset[str]()
    for default in source.code.defaults if source.code is not None else ():
        is_set = default.text.strip().lower() not in UNSET
        if is_set and not default.is_parameter and default.name.lower() not in of_many:
            found.setdefault(default.name, []).append(default)
    return found


def _returned(source: Source, function: str) -> tuple[str, ...]:
    """Return the class of the object that a function makes and returns, and does nothing else (``def get_settings(): return Settings()``)."""
    return (_returns(source)[function],) if function in _returns(source) else ()


@remembered
def _returns(source: Source) -> dict[str, str]:
    return {found[1]: found[2] for found in _GETS.finditer(source.text)} if source.mentions("return") else {}


def started_with(source: Source, name: str) -> Sequence[Default]:
    """Return what a module starts with under a name; it is not parsed where its text has no such word."""
    return starts(source).get(name, ()) if source.mentions(max(name.split("_"), key=len)) else ()


def modules_of(module: str, sources: Iterable[Source]) -> Iterator[Source]:
    """Yield those of these files that an import of that name may mean."""
    wanted = module.strip(".")
    for source in sources:
        path = source.path.removesuffix(".py").removesuffix("/__init__").replace("/", ".")
        if wanted and f".{path}".endswith(f".{wanted}"):
            yield source


def taken(source: Source, words: Sequence[str], sources: Sequence[Source]) -> Iterator[tuple[Source, Default]]:
    """Yield what modules of the project start with under a name that a program takes from them (``WINDOW``, ``settings.WINDOW``, ``cfg.window``)."""
    known = origins(source)
    base, last = words[0], words[-1]
    if len(words) == 1:
        module, name = known.get(base, ("", ""))
        stars = (module,) if base in known else everything_of(source)
        for star in reversed(stars):  # of several modules of which everything is taken the last one that has it
            others = (o for o in modules_of(star, sources) if base in known or gives_away(o, last))
            found = [(o, each) for o in others for each in started_with(o, name or last) if not each.owner]
            yield from found
            if found:
                return
        return
    if base in known:
        module, name = known[base]
        for other in modules_of(f"{module}.{name}" if name else module, sources):
            yield from ((other, each) for each in started_with(other, last) if not each.owner)
        for other in modules_of(module, sources) if name else ():
            made = makers(other).get(name, "")
            owners = {name, made, *_returned(other, made)} - {""}
            yield from ((other, each) for each in _of(other, last, owners))
    called = makers(source).get(base, "")
    maker, _, tail = called.partition(".")
    if maker in known:
        module, name = known[maker]
        wanted = tail.rpartition(".")[2] or name
        for other in modules_of(module, sources):
            owners = {wanted, name, *_returned(other, wanted)}
            yield from ((other, each) for each in _of(other, last, owners, words[-2] if len(words) > 2 else ""))


def _of(source: Source, name: str, owners: set[str], section: str = "") -> Iterator[Default]:
    """Yield the values of that name which these functions, classes and objects set, and those of the module's parser.

    ``section``: of an object of the module that its function returns (yacs' ``_C.TRAIN.WINDOW = 512``).
    """
    # A function sets what it returns (`config.window = 512`); its own variables are nobody else's.
    is_returned = source.mentions(f".{name} =") or source.mentions(f'"{name}"') or source.mentions(f"'{name}'")
    is_of_section = bool(section) and source.mentions(f".{section}.{name} =")
    for default in started_with(source, name):
        is_set = default.owner in owners and (default.owner[:1].isupper() or is_returned)
        if is_set or (not default.owner and (default.is_option or is_of_section)):
            yield default
