"""What a name stands for in one function of a program, and what the calls of a function give it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from gpu_lol_action.analysis.files.checkout import Source
from gpu_lol_action.analysis.files.effort import remembered
from gpu_lol_action.analysis.programs.decorators import decorated_lines
from gpu_lol_action.analysis.programs.others_names import HOLDS_OPTIONS
from gpu_lol_action.analysis.programs.taken_names import modules_of, origins
from gpu_lol_action.analysis.python.code import Call
from gpu_lol_action.analysis.python.defaults import Given
from gpu_lol_action.analysis.python.tree import Signature
from gpu_lol_action.analysis.python.value_parts import named_in
from gpu_lol_action.analysis.python.values import ENVIRONMENT, STARRED, Value
from gpu_lol_action.domain.patterns import regex
from gpu_lol_action.domain.records import record

KEPT_BY_LIGHTNING = "self.hparams."
"""Where an object of Lightning's has what its constructor was given (``save_hyperparameters``)."""
# A module's statement that runs what a file holds among its own variables.
_OVERLAID = regex(r"(?m)^exec\(\s{0,4}open\(|^exec\(\s{0,4}(?:Path|pathlib)")

_MAKES_COMMANDS = ("click.", "typer.", "tyro.", "cyclopts", "app.command")
_HANDED_ON = frozenset({"bind", "remote"})
"""What Ray calls a class or function by that it runs elsewhere: ``Engine.bind("a/b")`` makes an ``Engine("a/b")``."""


def called(call: Call) -> str:
    """Return the function or class that a call calls, also where Ray hands it on."""
    return call.name.partition(".")[0] if call.last in _HANDED_ON else call.last


def calls_of(caller: Source, function: str) -> list[Call]:
    """Return a program's calls of a function or class of that name, as if each was called directly."""
    if caller.code is None:
        return []
    found = list(caller.code.calls_named(function))
    return [*found, *_elsewhere(caller).get(function, ())]


def means(call: Call, caller: Source, source: Source, function: str, signature: Signature) -> bool:
    """Whether a call of that word means the function of that program."""
    base = call.name.rpartition(".")[0]
    if signature.is_method:
        return caller is source and base == "self"
    if caller is source:
        return not base
    known = origins(caller).get(base or function)
    if known is None:
        return False
    if any(list(modules_of(module, [source])) for module in (known[0], ".".join(known))):
        return True
    # A package hands on what its modules define (`from net import build`, where `net/__init__.py` takes it from `net/model.py`).
    place = source.path.removesuffix(".py").replace("/", ".").rpartition(".")[0]
    package = known[0].strip(".")
    return bool(package) and known[1] == function and f".{place}".endswith(f".{package}")


_PARSED = regex(r"(?m)^[ \t]{0,40}(\w{1,40})(?:,[ ]?\w{1,40})?[ ]?=[ ]?[\w.]{1,80}(?:\(\))?\.parse_(?:known_)?args\(")


@record(frozen=True, slots=True)
class Argument:
    """What a call gives for a parameter, or what this starts with; where that is said, and in which function it stands."""

    value: Value
    source: Source
    line: int
    owner: str


def argument_of(call: Call, caller: Source, source: Source, function: str, parameter: str) -> Argument | None:
    """Return what a program's call gives a parameter of another program's function; None where that cannot be told."""
    named = call.keyword(parameter)
    if named is not None or source.code is None:
        return Argument(named, caller, call.line, call.owner) if named is not None else None
    placed = source.code.signatures[function].placed
    place = placed.index(parameter) if parameter in placed else len(call.arguments)
    if STARRED in call.arguments[: place + 1]:
        return None
    if place < len(call.arguments):
        return Argument(call.arguments[place], caller, call.line, call.owner)
    start = starting_with(source, function, parameter)
    if call.spread:
        otherwise = start.value if start is not None else None
        entry = named_in(call.spread[0], parameter, otherwise) if len(call.spread) == 1 else None
        return Argument(entry, caller, call.line, call.owner) if entry is not None else None
    return start


def starting_with(source: Source, function: str, parameter: str) -> Argument | None:
    """Return what a function's parameter is where nobody gives it; None where it must be given."""
    starting = (each for each in givens(source).get(parameter, ()) if each.is_parameter and each.owner == function)
    return next((Argument(each.value, source, each.line, "") for each in starting), None)


def declared_start(source: Source, function: str, parameter: str) -> Argument | None:
    """Return what an option above a function starts with that click fills its parameter from (``@click.option("--size", default=320)``).

    None where the function has a start of its own, or where several do not agree; the options of another command are none of its own.
    """
    if not makes_commands(source) or starting_with(source, function, parameter) is not None:
        return None
    own = decorated_lines(source, function)
    told = [each for each in givens(source).get(parameter, ()) if each.is_option and each.line in own]
    is_one = bool(told) and all(each.value == told[0].value for each in told)
    return Argument(told[0].value, source, told[0].line, "") if is_one else None


def handed_on(call: Call, name: str) -> Value | None:
    """Return what a call hands on under a name with all that something holds (``**given``); None where it hands nothing on, or several."""
    return named_in(call.spread[0], name, None) if len(call.spread) == 1 else None


def parameters_of(source: Source, function: str) -> tuple[str, ...]:
    """Return the parameters of a program's function; none where it has none of that name."""
    signature = source.code.signatures.get(function) if source.code is not None else None
    return (*signature.placed, *signature.named) if signature is not None else ()


@remembered
def givens(source: Source) -> dict[str, list[Given]]:
    """Return what a program sets, by name, but for what is handed on under its own name (``self.window = window``)."""
    found: dict[str, list[Given]] = {}
    for each in source.code.given if source.code is not None else ():
        if each.value.path != each.name:
            found.setdefault(each.name, []).append(each)
    return found


@remembered
def option_names(source: Source) -> frozenset[str]:
    """Return the names of what a program starts with and may be told otherwise: options, fields."""
    return (
        frozenset(each.name for each in source.code.defaults if each.is_option)
        if source.code is not None
        else frozenset()
    )


def holds_options(source: Source, word: str) -> bool:
    """Whether a name holds a program's options: it is one that such things have, or is what a parser returns (``a = parser.parse_args()``)."""
    return HOLDS_OPTIONS.fullmatch(word) is not None or word in parsed_names(source)


@remembered
def parsed_names(source: Source) -> frozenset[str]:
    """Return what a program calls what its parser returns."""
    return frozenset(_PARSED.findall(source.text)) if source.mentions("parse_") else frozenset()


@remembered
def classes_with(source: Source, word: str) -> frozenset[str]:
    """Return the classes of a program whose objects have something of that name from the start."""
    signatures = source.code.signatures if source.code is not None else {}
    taking = {name for name in signatures if name[:1].isupper() and word in parameters_of(source, name)}
    return frozenset(taking | {each.owner for each in givens(source).get(word, ()) if each.owner[:1].isupper()})


def is_handed_on(source: Source, function: str, value: Value) -> bool:
    """Whether a value is a parameter of the function, or what an object got as one (``self.batch_size``): callers may say otherwise than it starts with."""
    word = value.reference or ""
    if value.path in {f"self.{word}", f"{KEPT_BY_LIGHTNING}{word}"}:
        return any(word in parameters_of(source, name) for name in classes_with(source, word))
    return value.path == word and word in parameters_of(source, function)


def local_value(source: Source, word: str, owner: str) -> Given | None:
    """Return the one value that a name is set to in a function, or else in the program outside of functions; None for several."""
    mine = [each for each in givens(source).get(word, ()) if not each.is_parameter]
    inside = [each for each in mine if owner and each.owner == owner]
    if word in parameters_of(source, owner):  # a parameter may be made into what it names (`model = load(model)`)
        inside = [each for each in inside if each.value.text is not None or each.value.is_open]
    elif not inside:
        inside = [each for each in mine if not each.owner]
    return inside[0] if inside and all(each.value == inside[0].value for each in inside) else None


@remembered
def is_overlaid(source: Source) -> bool:
    """Whether a program lets a file or its command's words set its variables anew as it begins, as nanoGPT does."""
    return source.mentions("exec(") and _OVERLAID.search(source.text) is not None


@remembered
def makes_items(source: Source) -> bool:
    """Whether a module makes the samples of a data set, or puts them together."""
    return source.mentions("__getitem__") or source.mentions("ollate")


@remembered
def handed_over(source: Source) -> frozenset[str]:
    """Return the names of what a program hands to a call in the first place: a function that a library makes a command of (``Fire(main)``)."""
    calls = source.code.calls if source.code is not None else ()
    return frozenset(call.arguments[0].path for call in calls if call.arguments and call.arguments[0].path is not None)


@remembered
def _elsewhere(source: Source) -> dict[str, list[Call]]:
    """Return the calls by which Ray runs something elsewhere, by what it is."""
    found: dict[str, list[Call]] = {}
    for call in (
        source.code.calls_named(*sorted(_HANDED_ON)) if source.code is not None and source.mentions("ray") else ()
    ):
        found.setdefault(called(call), []).append(replace(call, name=called(call)))
    return found


@remembered
def makes_commands(source: Source) -> bool:
    """Whether a module has a library make commands of its functions: click, Typer, tyro, cyclopts."""
    return any(map(source.mentions, _MAKES_COMMANDS))


@remembered
def called_in(source: Source) -> dict[str, None]:
    """Return the last words of what a program calls, also by ``partial``."""
    calls = source.code.calls if source.code is not None else ()
    partly = (c.arguments[0].path for c in calls if c.last == "partial" and c.arguments)
    return dict.fromkeys([*map(called, calls), *(path for path in partly if path is not None)])


def is_of_environment(source: Source, owner: str, value: Value) -> bool:
    """Whether a value, or the name that it is, is one that the environment may say otherwise than the program starts with."""
    is_name = value.path is not None and value.path == value.reference
    local = local_value(source, value.path, owner) if is_name and value.path is not None else None
    path = local.value.path if local is not None else value.path
    return (path or "").startswith(f"{ENVIRONMENT}.")


def is_chosen(value: Value) -> bool:
    """Whether a value is an entry of a table under a name that the run may choose (``MODELS[args.size]``)."""
    return value.path is None and value.key is not None and value.key.text is None


def entry_in(source: Source, programs: Sequence[Source], table: str, key: str) -> str | None:
    """Return the entry of a table under that key, of a program itself or of the one of these programs that it takes the table from."""
    module = origins(source).get(table, ("", ""))[0]
    for other in (source, *modules_of(module, programs)):
        names = other.code.names() if other.code is not None else None
        text = names.resolve(names.tables.get(table, {}).get(key)) if names is not None else None
        if text is not None:
            return text
    return None
