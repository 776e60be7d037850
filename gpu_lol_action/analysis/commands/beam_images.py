"""Packages that Beam's programs name for their images: ``Image(python_packages=[...])``, ``Image().add_python_packages([...])``.

Forms: Beam's reference of ``Image``. The list is of what runs there; the program that hands it over needs Beam's own client besides.
"""

from __future__ import annotations

from gpu_lol_action.analysis.files.checkout import Source
from gpu_lol_action.analysis.package_lists.package_files import Declared, clean_requirement
from gpu_lol_action.domain.finding import Evidence

_ADDS = "add_python_packages"
_GIVEN = "python_packages"
MAX_NAMED = 100


def beam_packages(source: Source) -> tuple[Declared, ...]:
    """Return what a program's images install by name, and Beam's client; nothing for other programs and for a list in a file."""
    code = source.code
    if code is None or not source.mentions(_GIVEN) or "beam" not in code.imported():
        return ()
    found: list[Declared] = []
    for call in code.calls:
        given = call.keyword(_GIVEN) if call.last == "Image" else None
        if call.last == _ADDS:
            given = next(iter(call.arguments), None)
        for value in (given.items or ())[:MAX_NAMED] if given is not None else ():
            requirement = clean_requirement(code.resolve(value, call.owner) or "")
            if requirement:
                found.append(Declared(requirement, Evidence(source.path, call.line)))
    return (*found, Declared("beam-client", found[0].evidence)) if found else ()
