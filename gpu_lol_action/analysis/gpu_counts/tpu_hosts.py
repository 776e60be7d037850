"""JAX trainings that their README tells of on a TPU: a machine of those has eight cores, over which such a program shares its work.

``v3-8`` is one machine of the second or third generation, ``v3-32`` are four. What was laid out for eight devices is on eight cards.
"""

from __future__ import annotations

import itertools
import re

from gpu_lol_action.analysis.dependencies.dependency_lists import declared_packages
from gpu_lol_action.analysis.documents.silent_readme import root_readmes
from gpu_lol_action.analysis.files.checkout import Checkout, Source
from gpu_lol_action.analysis.formats.paths import Form
from gpu_lol_action.analysis.package_lists.package_files import package_name
from gpu_lol_action.analysis.programs.behavior import Behavior
from gpu_lol_action.analysis.programs.import_graph import import_closure
from gpu_lol_action.analysis.runs.entry_points import Run
from gpu_lol_action.analysis.stated.documented_counts import speaks_of_training
from gpu_lol_action.domain.finding import Confidence, Evidence, Finding
from gpu_lol_action.domain.patterns import regex

_CORES, MOST_NAMED = 8, 10
_SLICE = regex(r"(?<![\w./-])v[23]-(?:8|16|32|64|128|256|512|1024|2048)(?!\w|\.\d)")
_OF_TPUS = regex(r"tpu|accelerator", re.IGNORECASE)
# JAX computes on the first device alone unless a program says how the work is shared.
_SHARES = ("pmap", "pjit", "shard", "Mesh", "replicate", "xmap", "device_count", "devices()")
_JAX = frozenset({"jax", "flax", "haiku", "t5x", "optax"})


def tpu_host(checkout: Checkout, run: Run) -> list[Finding]:
    """Return the devices of such a machine for a training with JAX; none where no README names one."""
    if run.behavior is not Behavior.TRAINS:
        return []
    said = checkout.find(run.command.said.path) if run.command is not None else None
    for source in dict.fromkeys((*((said,) if said is not None else ()), *root_readmes(checkout))):
        if not source.mentions("TPU") or not _is_of_jax(checkout, run.script):
            continue
        for found in itertools.islice(_SLICE.finditer(source.text), MOST_NAMED):
            where = Evidence(source.path, source.text.count("\n", 0, found.start()) + 1)
            line = source.text.split("\n")[(where.line or 1) - 1]
            if "|" in line and not speaks_of_training(checkout, where):
                continue  # a table of something else that was measured
            if "|" not in line and not _OF_TPUS.search(line):
                continue  # releases of something are numbered so as well
            why = f"`{source.path}` tells of a TPU `{found[0]}`, whose machines have {_CORES} devices"
            return [Finding("hardware.gpu_count", str(_CORES), why, Confidence.LOW, where)]
    return []


def _is_of_jax(checkout: Checkout, script: Source | None) -> bool:
    """Whether the run's program computes with JAX on several devices; of one that a library has installed, whether a list asks for it."""
    if script is not None:
        if not _shares(checkout):
            return False
        return any(s.code is not None and s.code.imported() & _JAX for s in import_closure(checkout, script))
    return any(package_name(item.requirement) in _JAX for item in declared_packages(checkout) if not item.is_optional)


def _shares(checkout: Checkout) -> bool:
    """Whether a program shares work among devices, or a library does that has the whole training in it; parts are often loaded by name."""
    programs = checkout.of(Form.PYTHON, Form.NOTEBOOK)
    if any(source.mentions(word) for source in programs for word in _SHARES):
        return True
    return any(source.code is not None and "t5x" in source.code.imported() for source in programs)
