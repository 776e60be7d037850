"""What a name stands for that a body does not bind itself: its module's values, classes and imports, or what another module hands on."""

from __future__ import annotations

from gpu_lol_action.analysis.networks.machine import Frame, Machine
from gpu_lol_action.analysis.networks.programs import Program
from gpu_lol_action.analysis.networks.values import UNKNOWN, Named, Value


def global_value(machine: Machine, frame: Frame, name: str, hops: int = 3) -> Value:
    """Return a module's value of that name, computed when it is first asked, else what ``Machine.find`` knows."""
    program = frame.program
    path = program.source.path
    ran = machine.modules.get(path)
    if ran is not None and ran.get(name, UNKNOWN) is not UNKNOWN:
        return ran[name]
    if (path, name) in machine.settled:
        return machine.settled[path, name]
    if name in program.values and name not in program.classes and name not in program.functions:
        value = _assigned(machine, program, name)
        if value is not UNKNOWN or name not in program.imports:  # else `net = net.Net()`: first it is a module
            return value
    found = machine.find(name, program)
    for other in machine.meant_by(found.name) if isinstance(found, Named) and name in program.imports else ():
        # A package hands on what its modules hold (`from .tables import table`).
        is_handed = other is not program and hops and other.imports.get(found.last, found.name) != found.name
        if other is not program and (found.last in other.values or is_handed):
            return global_value(machine, Frame(other), found.last, hops - 1)
    if isinstance(found, Named) and name not in program.imports and program.stars:
        return _of_starred(machine, frame, name, found)
    if hops and name not in program.values:
        machine.settled[path, name] = found
    return found


def _assigned(machine: Machine, program: Program, name: str) -> Value:
    """Return what a module assigns to a name; an option of that name where only running the program would tell."""
    key = (program.source.path, f"={name}")
    if key not in machine.known:
        machine.known[key] = UNKNOWN  # what refers to itself
        machine.known[key] = machine.evaluate(Frame(program), program.values[name])
    value = machine.known[key]
    return value if value is not UNKNOWN else machine.option(name)


def _of_starred(machine: Machine, frame: Frame, name: str, found: Value) -> Value:
    """Return a value out of a module of which every name is imported; what was found where none has it."""
    key = (frame.program.source.path, f"*{name}")
    if key in machine.known:
        return machine.known[key]
    machine.known[key] = found  # modules may import each other
    for other in (other for origin in frame.program.stars for other in machine.meant_by(origin)):
        value = global_value(machine, Frame(other), name) if other is not frame.program else found
        if not isinstance(value, Named):
            machine.known[key] = value
            break
    return machine.known[key]
