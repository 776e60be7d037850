"""Packages that the workload's code imports and no list names."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import replace

from gpu_lol_action.analysis.dependencies.dependency_lists import lists_of
from gpu_lol_action.analysis.dependencies.install_sources import SERVERS
from gpu_lol_action.analysis.documents.shown_programs import shown_program
from gpu_lol_action.analysis.files.checkout import Checkout, Source
from gpu_lol_action.analysis.formats.import_names import is_known, modules_meant, package_of
from gpu_lol_action.analysis.formats.package_families import comes_with
from gpu_lol_action.analysis.formats.paths import Form
from gpu_lol_action.analysis.package_lists.package_files import Declared, package_name
from gpu_lol_action.analysis.package_lists.project_files import is_development
from gpu_lol_action.analysis.packages.cython_extensions import extension_names
from gpu_lol_action.analysis.packages.instantiated_modules import instantiated_modules
from gpu_lol_action.analysis.packages.served_clients import client_of
from gpu_lol_action.analysis.packages.starting_imports import commanded_modules, starting_imports
from gpu_lol_action.analysis.programs.import_graph import imported_at_once, imported_unguarded
from gpu_lol_action.analysis.programs.loaded_modules import loaded_modules, loaded_of_library
from gpu_lol_action.analysis.programs.local_names import is_local
from gpu_lol_action.analysis.programs.outer_packages import without_outer
from gpu_lol_action.analysis.python.code import Import
from gpu_lol_action.analysis.runs.entry_points import Run, import_closure, is_started
from gpu_lol_action.analysis.runs.node_packs import pack_of
from gpu_lol_action.analysis.runs.switched_on import switched_on
from gpu_lol_action.domain.finding import Confidence, Evidence, Finding
from gpu_lol_action.domain.patterns import regex

# What brings weights from one library to another needs both.
_CONVERTS = regex(r"(?:convert|export)(?:er|ion)?[_-]")
# Folders into which whole projects are copied, with their own demos and tools.
_COPIED = frozenset({"external", "externals", "extern", "3rdparty", "third_parties"})
# `01 - Sums.ipynb`, `3_nets.ipynb`, `00Start.ipynb`: a lesson of a course; no year, and no picture in `3d`.
_LESSON = regex(r"\d{1,3}[ _.-]|0\d(?!\d)")
_COMPUTES = frozenset({"torch", "tensorflow", "jax", "paddle", "mxnet", "chainer", "mindspore"})
_GUARD = regex(r"\nif\s{1,3}\(?__name__\s{0,3}==")
# One build of many, for one card, one Python: not what an import asks for.
_IS_WHEEL = regex(r"@\s?https?://")
_LEAST_COMPLETE = 4
"""Dependencies that a project's own list needs to be taken for complete: many research projects name two and mean twenty."""
# What other packages of nearly every list bring, and authors leave out for that.
_COMES_ALONG = frozenset({
    "numpy", "pillow", "packaging", "typing-extensions", "requests", "tqdm", "pyyaml", "tokenizers", "huggingface-hub", "safetensors", "fsspec",
    "filelock", "psutil", "click", "six", "urllib3", "certifi", "jinja2", "werkzeug", "flask", "lightning-utilities", "azure-core", "protobuf",
    "python-dateutil", "attrs", "absl-py", "setuptools", "networkx", "sympy", "regex", "aiohttp", "httpx", "anyio", "starlette",
})  # fmt: skip
# PyTorch has the module that writes for it, and does not bring it; these do (of Lightning those before 2).
_BRING_TENSORBOARD = frozenset({
    "tensorflow", "tensorflow-gpu", "tensorflow-cpu", "tf-nightly", "lightning", "pytorch-lightning", "detectron2", "nerfstudio", "tianshou",
    "skrl", "rsl-rl-lib", "trainer", "tts", "coqui-tts",
})  # fmt: skip


def imported_packages(
    checkout: Checkout, run: Run | None, declared: Sequence[Declared], own: Collection[str], *, has_list: bool
) -> list[Finding]:
    """Return findings for imports that no list names, by name.

    ``own`` are names of the checkout itself. An optional dependency that is imported gives its version.
    Without a list the whole workload speaks; with one only what the run reaches. A lazy import counts where the run may
    reach it; one in ``try``, ``if`` or for type checkers never.
    """
    required = {package_name(item.requirement) for item in declared if not item.is_optional} | set(own)
    optional = {package_name(item.requirement): item.requirement for item in declared if item.is_optional}
    cloned = {package_name(item.requirement) for item in declared if "://" in item.requirement and not item.is_optional}
    extras = {package_name(item.requirement) for item in declared if item.group and not is_development(item.group)}
    library = [item for item in declared if item.is_library and not item.is_optional]
    is_complete = len(library) >= _LEAST_COMPLETE
    fetched: frozenset[Source] | None = None
    script = run.script if run is not None else None
    found: dict[str, Finding] = {}
    for source, item in _reached(checkout, run, has_list=has_list):
        package = None if is_local(checkout, source, item.module) else package_of(item.module)
        if package is None:
            continue
        name = package_name(package)
        if package_name(item.module.split(".")[0]) in cloned:
            continue  # a list names its repository
        if (
            has_list
            and script is not None
            and _is_adapter(source, item)
            and source not in imported_unguarded(checkout, script)
        ):
            continue  # for those who have the library that it is called after
        # A library's own list is complete: beside its scripts, only its own extras add to it, and what ends the run at its start.
        is_inside = is_complete and has_list and not _is_beside(checkout, run, source)
        if (
            is_inside
            and name not in extras
            and (_comes_along(name, required) or not _ends_without(checkout, run, source, item))
        ):
            continue
        # Keras comes with TensorFlow, and brings none of it, or none of its build for the card.
        brings = required - {"keras", "tf-keras"} if name == "tensorflow" else required
        if name in required or comes_with(name, brings):
            continue
        if has_list and name not in optional and name not in found:
            fetched = _fetched(checkout, run) if fetched is None else fetched
            if source in fetched:
                continue  # with a list, what is needed only when somebody asks for it was left out on purpose
        where = Evidence(source.path, item.line)
        why = f"`{item.module.split('.')[0]}` is imported and no list names it"
        known = optional.get(name, package)
        requirement = package if _IS_WHEEL.search(known) else known
        found.setdefault(name, Finding("dependencies.requirements", requirement, why, Confidence.MEDIUM, where))
    if has_list and run is None:
        others = [d for d in declared if package_name(d.requirement) not in required]
        for finding in _at_start(checkout, others, is_library=bool(library)):
            found.setdefault(package_name(finding.value), finding)
    return [found[name] for name in sorted(found)]


def _comes_along(name: str, required: AbstractSet[str]) -> bool:
    return name in _COMES_ALONG or (name == "tensorboard" and bool(required & _BRING_TENSORBOARD))


def _at_start(checkout: Checkout, declared: Sequence[Declared], *, is_library: bool) -> Iterator[Finding]:
    """Yield the packages of other lists that started programs import whatever happens."""
    # Of an application the lists of its other parts tell as much, but not in which version it is wanted here.
    told = [item for item in declared if item.is_optional and (item.group or not is_library)]
    names = ((package_name(item.requirement), item) for item in told)
    grouped = {name: item.requirement if item.group else name for name, item in names}
    for source, item, requirement in starting_imports(checkout, grouped, is_library=is_library):
        if not is_local(checkout, source, item.module):
            why = f"`{item.module.split('.')[0]}` is imported by what starts, and the list that counts does not name it"
            where = Evidence(source.path, item.line)
            yield Finding("dependencies.requirements", requirement, why, Confidence.MEDIUM, where)


def _fetched(checkout: Checkout, run: Run | None) -> frozenset[Source]:
    """Return the modules that the run's own modules import in their functions alone: a loader of many data sets, each with packages of its own."""
    script = run.script if run is not None else None
    if script is None:
        return frozenset()
    return frozenset(import_closure(checkout, script)) - imported_at_once(checkout, script)


def _is_adapter(source: Source, item: Import) -> bool:
    """Whether a module is called after the library that it imports (``mine/xgboost.py``), or its folder is."""
    return item.module.partition(".")[0] in source.path.removesuffix(".py").split("/")


def _ends_without(checkout: Checkout, run: Run | None, source: Source, item: Import) -> bool:
    """Whether the run ends as it starts without an import: its modules take it whatever happens, and a list that forgot it is no witness."""
    if item.is_lazy or item.is_optional:
        return False
    script = run.script if run is not None else None
    if source in _loaded(checkout, run):
        return True
    return script is not None and source in imported_unguarded(checkout, script)


def _loaded(checkout: Checkout, run: Run | None) -> Sequence[Source]:
    """Return what is loaded as the run starts, or where nothing is started, with the library that the checkout installs."""
    if run is None:
        projects = lists_of(checkout).projects
        names = frozenset(project.name for _, project in projects if project.name)
        return loaded_of_library(checkout, names) if any(p.is_installable for _, p in projects) else ()
    if run.script is None:
        return ()
    # What nobody starts is imported, and Python loads the packages around it first.
    is_imported = run.command is None and run.script.code is not None and not run.script.code.has_main
    return loaded_modules(checkout, run.script, is_imported=is_imported)


def _is_beside(checkout: Checkout, run: Run | None, source: Source) -> bool:
    """Whether a program is the run's script, or stands beside it in a folder of scripts that is no package."""
    script = run.script if run is not None else None
    if script is None or source is script:
        return script is not None
    folder = script.folder
    return bool(folder) and source.folder == folder and checkout.find(f"{folder}/__init__.py") is None


def unknown_imports(checkout: Checkout, run: Run | None, declared: Mapping[str, str]) -> list[tuple[str, Evidence]]:
    """Return what the run imports without a guard and nobody knows: no list, no file of the checkout, no table."""
    found: dict[str, Evidence] = {}
    for source, item in _reached(checkout, run, has_list=True):
        top = item.module.split(".")[0]
        if item.is_optional or not top or is_known(item.module) or is_local(checkout, source, item.module):
            continue
        if without_outer(checkout, item.module) is not None or top in extension_names(checkout):
            continue  # what it compiles itself, or the folder itself, by its place in a larger tree
        name = package_name(top)
        if name not in declared and not any(name in other.replace("-", "") or name in other for other in declared):
            found.setdefault(top, Evidence(source.path, item.line))
    return sorted(found.items())


def _reached(checkout: Checkout, run: Run | None, *, has_list: bool) -> Iterator[tuple[Source, Import]]:
    """Yield the imports that count, with their file."""
    script = run.script if run is not None else None
    if run is not None and script is None and run.command is not None and run.command.source.code is not None:
        script = run.command.source  # it starts another project's program, and needs what it imports itself
    if run is not None and script is None:
        script = client_of(checkout, run)
    closure = import_closure(checkout, script) if script is not None else ()
    if script is not None and run is not None and run.command is None and (pack := pack_of(checkout)) is not None:
        closure = tuple(dict.fromkeys((*closure, *import_closure(checkout, pack))))
    closure = tuple(dict.fromkeys((*closure, *instantiated_modules(checkout, run))))
    rest = _rest(checkout, run, script, has_list=has_list)
    own = frozenset().union(*(s.code.imported() for s in closure if s.code is not None)) & _COMPUTES
    for source in dict.fromkeys([*closure, *rest]):
        if source not in closure and source is not script and _is_of_others(source):
            continue
        imports = [i for i in source.code.imports if not i.module.startswith(".")] if source.code is not None else []
        if source not in closure and _is_shown_elsewhere(source, script):
            imports = [i for i in imports if i.module.partition(".")[0] in _COMPUTES]
        if own and source not in closure and script is not None and source.folder != script.folder:
            # What computes elsewhere by another framework than the run is another program's (a dumper of PyTorch's checkpoints).
            imports = [i for i in imports if i.module.partition(".")[0] not in _COMPUTES - own]
        is_open = source in closure and any(item.is_optional for item in imports)
        on = switched_on(checkout, run, source) if is_open else ()
        guarded = _own_test(source) if source in closure and source is not script else 0
        for item in imports:
            if guarded and item.line > guarded:
                continue  # a module's own try-out below its main guard
            # With a list, what is needed only now and then and is not on it was left out on purpose.
            may_be_lazy = source is script or (source in closure and not has_list)
            is_on = any(item.line in block for block in on)
            if not item.is_optional or is_on or (item.is_lazy and may_be_lazy):
                yield from _meant(source, item)
    yield from _at_once(_loaded(checkout, run), {*closure, *rest})


def _rest(checkout: Checkout, run: Run | None, script: Source | None, *, has_list: bool) -> Sequence[Source]:
    """Return the programs whose imports count besides what the run reaches."""
    if not has_list:
        return checkout.of(Form.PYTHON, Form.NOTEBOOK) or _shown(checkout)
    if run is None:  # no GPU is needed: each of them counts
        return (*_at_the_root(checkout), *commanded_modules(checkout))
    if script is None or script.form is not Form.NOTEBOOK or not _LESSON.match(script.name):
        return ()
    # A course: its list forgets what one lesson of it imports.
    return [s for s in checkout.of(Form.NOTEBOOK) if s.folder == script.folder and _LESSON.match(s.name)]


def _is_of_others(source: Source) -> bool:
    """Whether a program brings weights from one library to another, or was copied in with another project's sources."""
    return _CONVERTS.match(source.name) is not None or not _COPIED.isdisjoint(source.folder.split("/"))


def _is_shown_elsewhere(source: Source, script: Source | None) -> bool:
    """Whether a notebook lies neither beside the program that is started nor above it: it shows another part."""
    if script is None or script.form is not Form.PYTHON or source.form is not Form.NOTEBOOK:
        return False
    return bool(source.folder) and not f"{script.folder}/".startswith(f"{source.folder}/")


def _at_the_root(checkout: Checkout) -> Sequence[Source]:
    """Return the programs at the root that are started; a lone program is, though nothing in it says so."""
    programs = [source for source in checkout.of(Form.PYTHON) if source.depth == 0]
    is_lone = len(checkout.of(Form.PYTHON, Form.NOTEBOOK)) == 1 and not lists_of(checkout).projects
    return programs if is_lone else [source for source in programs if is_started(checkout, source)]


def _at_once(loaded: Sequence[Source], seen: Collection[Source]) -> Iterator[tuple[Source, Import]]:
    """Yield what the other modules that are loaded as the run starts import at once."""
    for source in loaded:
        imports = source.code.imports if source.code is not None and source not in seen else ()
        needed = [i for i in imports if not (i.is_optional or i.is_lazy or i.module.startswith("."))]
        guarded = _own_test(source) if needed else 0
        for item in needed:
            if not guarded or item.line <= guarded:
                yield from _meant(source, item)


def _meant(source: Source, item: Import) -> Iterator[tuple[Source, Import]]:
    for each in modules_meant(item.module, item.names):
        yield source, item if each == item.module else replace(item, module=each)


def _own_test(source: Source) -> int:
    """Return the line of a program's main guard; 0 for a notebook, or without one."""
    if source.form is not Form.PYTHON or source.code is None or not source.code.has_main:
        return 0
    found = _GUARD.search(source.text)
    return source.text.count("\n", 0, found.start()) + 2 if found is not None else 0


def _shown(checkout: Checkout) -> Sequence[Source]:
    """Return the program that the README shows, where the checkout has no other; one for a server is an alternative to what is started."""
    program = shown_program(checkout)
    is_served = program is not None and program.code is not None and bool(program.code.imported() & SERVERS)
    return () if program is None or is_served else (program,)
