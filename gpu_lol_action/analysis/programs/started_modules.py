"""Modules that a program starts as processes of their own, named in lists of words: ``["torchrun", "-m", "lab.trainers.clm", ...]``.

The command of such a project imports nothing of what trains: it puts a command line together, and hands it to the system.
"""

from __future__ import annotations

import itertools

from gpu_lol_action.analysis.files.checkout import Checkout, Source
from gpu_lol_action.analysis.files.effort import remembered
from gpu_lol_action.analysis.formats.paths import Form, Role
from gpu_lol_action.analysis.programs.import_graph import import_closure, module_source
from gpu_lol_action.domain.patterns import regex

_STARTED = regex(r"[\"']-m[\"']\s{0,3},\s{0,60}[\"']([A-Za-z_]\w{0,40}(?:\.\w{1,60}){1,8})[\"']")
_HANDS_OVER = ("subprocess", "Popen", "os.execv", "create_subprocess")
MAX_MODULES = 4


def started_modules(checkout: Checkout, program: Source) -> tuple[Source, ...]:
    """Return the first modules of the checkout that a program, or what it imports, starts, in the order in which they are named."""
    loaded = dict.fromkeys((program, *import_closure(checkout, program)))
    naming = [source for source in loaded if _may_name(source)]
    if not naming or not any(source.mentions(word) for source in loaded for word in _HANDS_OVER):
        return ()
    named = (found[1] for source in naming for found in _STARTED.finditer(source.text))
    found = (module_source(checkout, name) for name in dict.fromkeys(named))
    return tuple(
        itertools.islice((source for source in found if source is not None and source not in loaded), MAX_MODULES)
    )


@remembered
def _may_name(source: Source) -> bool:
    """Whether a program may name a module to start: two plain words, for the expression stops at every quotation mark."""
    is_program = source.form is Form.PYTHON and source.role is Role.WORKLOAD
    return is_program and (source.mentions('"-m"') or source.mentions("'-m'"))
