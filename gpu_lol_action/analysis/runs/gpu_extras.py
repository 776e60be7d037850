"""A GPU that only an extra of a project needs: what its README starts does without, and so does who installs it as it is.

Such a project (an evaluation that may also ask a model of one's own, a client that can embed on the spot) tells of its GPU program
in a document further down, and lists what that one needs as an extra. To rent a GPU for the rest would be waste.
"""

from __future__ import annotations

import itertools
import re

from gpu_lol_action.analysis.files.checkout import Checkout, Source
from gpu_lol_action.analysis.formats.gpu_libraries import GPU_PACKAGES
from gpu_lol_action.analysis.formats.paths import Form, Role
from gpu_lol_action.analysis.package_lists.package_files import Declared, package_name, read_requirements
from gpu_lol_action.analysis.package_lists.project_files import read_project, read_setup_cfg
from gpu_lol_action.analysis.package_lists.setup_py import read_setup_py
from gpu_lol_action.analysis.programs.behavior import top_level_gpu_import
from gpu_lol_action.analysis.programs.import_graph import imported_unguarded
from gpu_lol_action.analysis.runs.entry_points import Run, documented_runs, import_closure, is_started
from gpu_lol_action.domain.patterns import regex

FEW_GUARDED = 3  # modules of a checkout that compute on a GPU, beyond which they are its work
_EXAMPLES = regex(r"(?:^|/)(?:examples?|demos?|notebooks?|tutorials?|samples?)/", re.IGNORECASE)
_README = regex(r"readme\.\w{2,4}", re.IGNORECASE)


def is_for_an_extra(checkout: Checkout, run: Run) -> bool:
    """Whether a run needs an extra's packages, and the project is used without.

    So it is with an example that no command starts, with what is told of below the root alone where the root's README starts something
    else, and with a module that nothing starts beside that.
    """
    if run.command is None and run.script is not None:
        return (_is_example(run) and (_only_an_extra_computes(checkout) or _only_examples_compute(checkout))) or (
            run.script.depth > 0 and not is_started(checkout, run.script) and _is_started_on_cores(checkout)
        )
    if run.command is None or not run.command.is_documented or "/" not in run.command.said.path:
        return False
    return _only_an_extra_computes(checkout) and _is_started_on_cores(checkout)


def why_aside(run: Run) -> str:
    """Return why a project does without the GPU that such a run needs."""
    if _is_example(run):
        return f"only examples need a GPU (`{run.shown}`); the project that they are of does without"
    return f"only an extra needs a GPU, for `{run.shown}`; what the README starts does without"


def _is_example(run: Run) -> bool:
    """Whether a run is a program in a folder of examples, which a library works without."""
    return run.command is None and run.script is not None and _EXAMPLES.search(run.script.path) is not None


def _is_started_on_cores(checkout: Checkout) -> bool:
    """Whether the root's README starts programs of the checkout, none of which computes on a GPU."""
    started = [each.script for each in documented_runs(checkout) if _is_of_the_readme(each)]
    own = [script for script in started if script is not None and script.code is not None]
    return bool(own) and not any(_computes(checkout, script) for script in own)


def takes_along(checkout: Checkout, run: Run) -> bool:
    """Whether a run computes on no GPU by itself: only an extra of the project does, in a module or two that it takes along where they can be had."""
    is_launched = run.command is not None and (run.command.is_launcher or run.command.is_tool)
    if run.script is None or is_launched or not _only_an_extra_computes(checkout):
        return False
    found = (source for source in checkout.of(Form.PYTHON) if top_level_gpu_import(source))
    computing = frozenset(itertools.islice(found, FEW_GUARDED + 1))  # one more says enough
    return 0 < len(computing) <= FEW_GUARDED and not imported_unguarded(checkout, run.script) & computing


def _is_of_the_readme(run: Run) -> bool:
    return run.command is not None and _README.fullmatch(run.command.said.path) is not None


def _computes(checkout: Checkout, script: Source) -> bool:
    return any(top_level_gpu_import(source) for source in (script, *import_closure(checkout, script)))


def _only_an_extra_computes(checkout: Checkout) -> bool:
    """Whether the project at the root requires packages, none of which computes on a GPU, and an extra brings one that does."""
    declared = declared_at_root(checkout)
    on_gpu = [item for item in declared if package_name(item.requirement) in GPU_PACKAGES]
    requires = any(not item.is_optional for item in declared)
    return requires and bool(on_gpu) and all(item.is_optional for item in on_gpu)


def _only_examples_compute(checkout: Checkout) -> bool:
    """Whether the project at the root requires and offers packages, none of which computes on a GPU, and no module of its own imports one that does."""
    declared, setup = declared_at_root(checkout), checkout.find("setup.py")
    if setup is not None and setup.mentions("cpp_extension"):
        return False  # an extension of PyTorch, which nobody needs to list
    lists = [checkout.find("requirements.txt")] if declared or setup is not None else []
    listed = [
        item for source in lists if source is not None for item in read_requirements(source, is_optional=False).own
    ]
    named = {package_name(item.requirement) for item in (*declared, *listed)}
    if not named or named & GPU_PACKAGES:
        return False
    own = (source for source in checkout.of(Form.PYTHON, roles=(Role.WORKLOAD,)) if not _EXAMPLES.search(source.path))
    return not any(top_level_gpu_import(source) for source in own)


def declared_at_root(checkout: Checkout) -> list[Declared]:
    """Return what the project files at the root require and offer, in the order of their kinds."""
    project, config, program = (checkout.find(name) for name in ("pyproject.toml", "setup.cfg", "setup.py"))
    return [
        *(read_project(project).declared if project is not None else ()),
        *(read_setup_cfg(config).declared if config is not None else ()),
        *(read_setup_py(program).declared if program is not None else ()),
    ]
