"""Programs that only start what another module defines: a package's ``__main__.py``, a script of two lines."""

from __future__ import annotations

from gpu_lol_action.analysis.files.checkout import Checkout, Source
from gpu_lol_action.analysis.programs.import_graph import local_imports
from gpu_lol_action.analysis.programs.taken_names import origins
from gpu_lol_action.domain.patterns import regex

LONGEST_HANDLE = 600
"""Characters of a program that only starts another one."""
_BESIDE_A_START = frozenset({"sys", "os", "__future__", "warnings", "logging"})
_ENDS = frozenset({"sys.exit", "SystemExit", "exit"})
_SEVERAL = ("add_subparsers", "add_parser(", ".command(", ".group(")
_DEFINES = regex(r"(?m)^\s{0,8}(?:class|def|for|while)\s|ArgumentParser")


def only_hands_on(checkout: Checkout, closure: tuple[Source, ...]) -> bool:
    """Whether a program only starts what the one module defines that it imports (``__main__.py``): that module's values are its own."""
    if len(closure) < 2 or len(closure[0].text) > LONGEST_HANDLE or _DEFINES.search(closure[0].text) is not None:
        return False
    code = closure[0].code
    if code is None or len([each for each in code.imports if each.module not in _BESIDE_A_START]) != 1:
        return False
    taken = origins(closure[0])
    starts = [call for call in code.calls if call.name not in _ENDS]
    is_start = len(starts) == 1 and starts[0].name.partition(".")[0] in taken and not starts[0].arguments
    has_several = any(map(closure[1].mentions, _SEVERAL))  # commands, of which the run is one
    return is_start and not has_several and local_imports(checkout, closure[0]) == (closure[1],)
