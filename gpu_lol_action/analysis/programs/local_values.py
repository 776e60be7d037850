"""What a name stands for in one function of a program, and what the calls of a function give it."""

from __future__ import annotations

from collections.abc import Sequence

from gpu_lol_action.analysis.files.checkout import Source
from gpu_lol_action.analysis.files.effort import remembered
from gpu_lol_action.analysis.programs.taken_names import modules_of, origins
from gpu_lol_action.analysis.python.code import Call
from gpu_lol_action.analysis.python.defaults import Given
from gpu_lol_action.analysis.python.tree import Signature
from gpu_lol_action.analysis.python.values import STARRED, Value
from gpu_lol_action.domain.records import record


def means(call: Call, caller: Source, source: Source, function: str, signature: Signature) -> bool:
    """Whether a call of that word means the function of that program."""
    base = call.name.rpartition(".")[0]
    if signature.is_method:
        return caller is source and base == "self"
    if caller is source:
        return not base
    known = origins(caller).get(base or function)
    return known is not None and any(list(modules_of(module, [source])) for module in (known[0], ".".join(known)))


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
    starting = (each for each in givens(source).get(parameter, ()) if each.is_parameter and each.owner == function)
    return next((Argument(each.value, source, each.line, "") for each in starting), None)


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


@remembered
def classes_with(source: Source, word: str) -> frozenset[str]:
    """Return the classes of a program whose objects have something of that name from the start."""
    signatures = source.code.signatures if source.code is not None else {}
    taking = {name for name in signatures if name[:1].isupper() and word in parameters_of(source, name)}
    return frozenset(taking | {each.owner for each in givens(source).get(word, ()) if each.owner[:1].isupper()})


def local_value(source: Source, word: str, owner: str) -> Given | None:
    """Return the one value that a name is set to in a function, or else in the program outside of functions; None for several."""
    mine = [each for each in givens(source).get(word, ()) if not each.is_parameter]
    inside = [each for each in mine if owner and each.owner == owner]
    if word in parameters_of(source, owner):  # a parameter may be made into what it names (`model = load(model)`)
        inside = [each for each in inside if each.value.text is not None or each.value.is_open]
    elif not inside:
        inside = [each for each in mine if not each.owner]
    return inside[0] if inside and all(each.value == inside[0].value for each in inside) else None


def entry_in(source: Source, programs: Sequence[Source], table: str, key: str) -> str | None:
    """Return the entry of a table under that key, of a program itself or of the one of these programs that it takes the table from."""
    module = origins(source).get(table, ("", ""))[0]
    for other in (source, *modules_of(module, programs)):
        names = other.code.names() if other.code is not None else None
        text = names.resolve(names.tables.get(table, {}).get(key)) if names is not None else None
        if text is not None:
            return text
    return None
