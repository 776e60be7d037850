"""How the machine is set up besides names of packages: projects of the checkout that are installed from their folders."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence

from gpu_lol_action.analysis.dependencies.dependency_lists import lists_of
from gpu_lol_action.analysis.dependencies.own_extras import extras_of
from gpu_lol_action.analysis.dependencies.project_choice import every_project, read_any_project
from gpu_lol_action.analysis.dependencies.used_projects import dependencies_first
from gpu_lol_action.analysis.files.checkout import Checkout, Source
from gpu_lol_action.analysis.files.surroundings import is_outside
from gpu_lol_action.analysis.formats.paths import Form, Role, joined
from gpu_lol_action.analysis.package_lists.package_files import Option
from gpu_lol_action.analysis.package_lists.setup_py import read_setup_py
from gpu_lol_action.analysis.packages.cython_extensions import extension_homes
from gpu_lol_action.analysis.programs.loaded_modules import loaded_modules
from gpu_lol_action.analysis.runs.entry_points import Run
from gpu_lol_action.domain.finding import Confidence, Evidence, Finding
from gpu_lol_action.domain.patterns import regex

MAX_LOCAL = 8
MAX_DEPTH = 3  # folders below the root, from which on what is compiled is other people's
_AT_BUILD = frozenset({"torch", "numpy", "Cython", "pybind11"})


def setup_findings(checkout: Checkout, run: Run | None) -> list[Finding]:
    """Return the commands that install projects of the checkout: those that lists or readers are told, or the run needs."""
    lists = lists_of(checkout)
    wanted: dict[str, tuple[str, Evidence, str]] = {}
    named = [(option, option.evidence.path.rpartition("/")[0]) for option in lists.options if option.kind == "local"]
    folders = {id(option): command.folder for command in lists.commands for option in command.options}
    for option, folder in named:
        place = _project_folder(checkout, option, (joined(folder, folders.get(id(option), "")), folder, ""))
        if place is not None:
            extras = extras_of(option.value)
            old = wanted.get(place)
            if old is None or (extras and not old[0]):
                why = f"`{option.evidence.path}` installs it"
                wanted[place] = (f"[{','.join(extras)}]" if extras else "", option.evidence, why)
    needed = _needed(checkout, run)
    used = [(each.folder, each.where, each.why) for each in lists.used if _is_project(checkout, each.folder)]
    for place, where, why in [*([needed] if needed is not None else []), *used, *_compiled(checkout, run)]:
        wanted.setdefault(place, ("", where, why))
    places = dependencies_first(every_project(checkout), list(wanted)[:MAX_LOCAL]) if used else list(wanted)[:MAX_LOCAL]
    return [_setup(checkout, place, *wanted[place]) for place in places]


def _setup(checkout: Checkout, folder: str, extras: str, where: Evidence, why: str) -> Finding:
    path = folder if is_outside(folder) else f"./{folder}" if folder else "."
    isolation = " --no-build-isolation" if _builds_with_installed(checkout, folder) else ""
    # A folder may be called anything.
    command = f"python3 -m pip install{isolation} -e {shlex.quote(path + extras)}"
    place = "around this folder" if set(folder.split("/")) == {".."} else f"in `{folder or '.'}`"
    said = f"the project {place} is installed: {why}"
    return Finding("dependencies.setup_commands", command, said, Confidence.HIGH, where)


def _builds_with_installed(checkout: Checkout, folder: str) -> bool:
    """Whether a build must see what is installed, which an isolated one does not: PyTorch, or what its script imports and no file asks for."""
    if compiled_extension(checkout, folder) is not None:
        return True
    prefix = f"{folder}/" if folder else ""
    setup, project = checkout.find(f"{prefix}setup.py"), checkout.find(f"{prefix}pyproject.toml")
    if setup is None or setup.code is None or (project is not None and "build-system" in project.text):
        return False
    return any(item.module.partition(".")[0] in _AT_BUILD and not item.is_optional for item in setup.code.imports)


def _project_folder(checkout: Checkout, option: Option, bases: Sequence[str]) -> str | None:
    """Return the folder of the project that a local path means; None for one outside of the checkout."""
    path = regex(r"\[[\w,.-]+\]$").sub("", option.value)
    for base in dict.fromkeys(bases):
        folder = joined(base, path)
        if ".." not in path and not regex(r"[\w./-]*").fullmatch(folder):
            continue
        if (folder or path in {".", "./"}) and _is_project(checkout, folder):
            return folder
        if path == ".." and folder == ".." and _is_project(checkout, ""):
            return ""
    return None


def _is_project(checkout: Checkout, folder: str) -> bool:
    prefix = f"{folder}/" if folder else ""
    for name in ("pyproject.toml", "setup.py", "setup.cfg"):
        source = checkout.find(prefix + name)
        project = read_any_project(source) if source is not None else None
        if project is not None and project.is_installable:
            return True
    return False


def _needed(checkout: Checkout, run: Run | None) -> tuple[str, Evidence, str] | None:
    """Return the project that what is started imports from where Python does not look by itself, or whose command it is."""
    if run is None:
        return None
    if run.command is not None and run.script is None:
        for source, project in lists_of(checkout).projects:
            if run.command.tool in project.scripts:
                return source.folder, run.evidence, f"`{run.command.tool}` is its command"
    script = run.script
    if script is None or script.code is None:
        return None
    is_module = run.command is not None and not run.command.target.endswith(".py")
    for item in script.code.imports:
        top = item.module.split(".")[0]
        if not top or item.module.startswith("."):
            continue
        home = _home(checkout, script, top)
        if home is None:
            continue
        project_folder = home.removesuffix("/src") if home != "src" else ""
        # `python -m` starts from the root, so what lies there is found.
        if home != script.folder and not (is_module and not home) and _is_project(checkout, project_folder):
            return project_folder, Evidence(script.path, item.line), f"`{top}` is imported from outside of its folder"
    return None


def _compiled(checkout: Checkout, run: Run | None) -> Iterator[tuple[str, Evidence, str]]:
    """Yield the projects that compile a module which is loaded as the run starts (``models/ops``): nothing else brings it."""
    homes = extension_homes(checkout) if run is not None and run.script is not None else {}
    tops = {name.partition(".")[0] for name in homes}
    for source in loaded_modules(checkout, run.script) if homes and run is not None and run.script is not None else ():
        for item in source.code.imports if source.code is not None else ():
            if item.is_optional or item.module.partition(".")[0] not in tops:
                continue
            names = (item.module, *(f"{item.module}.{name}" for name in item.names))
            home = next((homes[name] for name in names if name in homes), None)
            if home is not None and _is_project(checkout, home):
                yield home, Evidence(source.path, item.line), f"`{item.module}` is compiled there, and imported"


def _home(checkout: Checkout, script: Source, top: str) -> str | None:
    """Return the folder above or beside the script that holds the package, the nearest first; None where none does."""
    folders = [script.folder]
    while folders[-1]:
        folders.append(folders[-1].rpartition("/")[0])
    for folder in folders:
        for base in (folder, f"{folder}/src".lstrip("/")):
            prefix = f"{base}/" if base else ""
            if checkout.find(f"{prefix}{top}/__init__.py") or (
                base == script.folder and checkout.find(f"{prefix}{top}.py")
            ):
                return base
    return None


def compiled_extension(checkout: Checkout, folder: str | None = None) -> Evidence | None:
    """Return where a setup.py compiles with PyTorch's tools (of that folder, or of any that counts); None where none does."""
    for source in checkout.of(Form.PYTHON, roles=(Role.PACKAGES,)):
        if source.folder != folder if folder is not None else source.depth > MAX_DEPTH:
            continue
        line = read_setup_py(source).compiles_cuda if "Extension" in source.text else 0
        if line:
            return Evidence(source.path, line)
    return None
