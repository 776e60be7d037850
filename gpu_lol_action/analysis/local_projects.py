"""How the machine is set up besides names of packages: projects of the checkout, system libraries."""

from __future__ import annotations

import re
from collections.abc import Sequence

from gpu_lol_action.analysis.checkout import Checkout, Source
from gpu_lol_action.analysis.dependency_lists import lists_of
from gpu_lol_action.analysis.entry_points import Run
from gpu_lol_action.analysis.own_extras import extras_of
from gpu_lol_action.analysis.package_files import Option, package_name
from gpu_lol_action.analysis.paths import Form, Role
from gpu_lol_action.analysis.project_choice import joined, read_any_project
from gpu_lol_action.analysis.setup_py import read_setup_py
from gpu_lol_action.domain.finding import Confidence, Evidence, Finding

# Libraries of the system that a wheel loads and slim images lack.
_SYSTEM = {
    "opencv-python": ("libgl1", "libglib2.0-0"), "opencv-contrib-python": ("libgl1", "libglib2.0-0"),
    "open3d": ("libgl1", "libgomp1"), "openai-whisper": ("ffmpeg",), "pydub": ("ffmpeg",), "ffmpeg-python": ("ffmpeg",),
    "whisperx": ("ffmpeg",), "mpi4py": ("libopenmpi-dev", "openmpi-bin"), "pyaudio": ("portaudio19-dev",),
    "sounddevice": ("libportaudio2",), "pytesseract": ("tesseract-ocr",), "pdf2image": ("poppler-utils",),
    "pyrender": ("libgl1", "libegl1"), "mujoco": ("libgl1", "libegl1"), "phonemizer": ("espeak-ng",),
    "box2d-py": ("swig", "build-essential"), "pygraphviz": ("libgraphviz-dev", "build-essential"),
    "python-magic": ("libmagic1",), "pyzbar": ("libzbar0",), "graphviz": ("graphviz",), "demucs": ("ffmpeg",),
}  # fmt: skip
MAX_LOCAL = 8


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
    if needed is not None and needed[0] not in wanted:
        wanted[needed[0]] = ("", needed[1], needed[2])
    return [_setup(checkout, place, *told) for place, told in list(wanted.items())[:MAX_LOCAL]]


def _setup(checkout: Checkout, folder: str, extras: str, where: Evidence, why: str) -> Finding:
    path = f"./{folder}" if folder else "."
    # An extension that PyTorch's tools compile must see the installed PyTorch, which an isolated build does not.
    isolation = " --no-build-isolation" if compiled_extension(checkout, folder) is not None else ""
    target = f"'{path}{extras}'" if extras else path
    command = f"python3 -m pip install{isolation} -e {target}"
    said = f"the project in `{folder or '.'}` is installed: {why}"
    return Finding("dependencies.setup_commands", command, said, Confidence.HIGH, where)


def _project_folder(checkout: Checkout, option: Option, bases: Sequence[str]) -> str | None:
    """Return the folder of the project that a local path means; None for one outside of the checkout."""
    path = re.sub(r"\[[\w,.-]+\]$", "", option.value)
    for base in dict.fromkeys(bases):
        folder = joined(base, path)
        if ".." not in path and not re.fullmatch(r"[\w./-]*", folder):
            continue
        if (folder or path in {".", "./"}) and _is_project(checkout, folder):
            return folder
        if path == ".." and not folder and _is_project(checkout, ""):
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
        if folder is not None and source.folder != folder:
            continue
        line = read_setup_py(source).compiles_cuda if "Extension" in source.text else 0
        if line:
            return Evidence(source.path, line)
    return None


def system_findings(found: Sequence[Finding]) -> list[Finding]:
    """Return system packages that requirements need to be installed (git) or to be loaded (libraries)."""
    wanted: dict[str, Finding] = {}
    for finding in found:
        if finding.field != "dependencies.requirements":
            continue
        names = _SYSTEM.get(package_name(finding.value), ())
        if "git+" in finding.value:
            names = ("git", *names)
        for name in names:
            why = f"`{package_name(finding.value)}` needs it"
            wanted.setdefault(
                name, Finding("dependencies.system_packages", name, why, Confidence.MEDIUM, finding.evidence)
            )
    return [wanted[name] for name in sorted(wanted)]
