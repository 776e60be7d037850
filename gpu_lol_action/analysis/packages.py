"""The packages to install: what dependency lists name, and what the run imports besides."""

from __future__ import annotations

import functools
import re

from gpu_lol_action.analysis.checkout import Checkout, Source
from gpu_lol_action.analysis.import_names import package_of
from gpu_lol_action.analysis.package_files import (
    Declared,
    package_name,
    read_environment,
    read_pip_lines,
    read_project,
    read_requirements,
    read_setup_cfg,
    read_setup_py,
)
from gpu_lol_action.analysis.paths import Form, Role
from gpu_lol_action.analysis.runs import primary_run
from gpu_lol_action.domain.finding import Confidence, Evidence, Finding

_DEVELOPMENT = re.compile(
    r"(?:dev|test|doc|lint|build|ci|mypy|typing|style|example|extra|optional|web|colab|mac|cpu|rocm|npu|xpu)"
)

__all__ = ["declared_packages", "detect", "package_name"]


def detect(checkout: Checkout) -> list[Finding]:
    """Return one finding per package, in the order in which lists name them, then imports by name."""
    declared = _effective(checkout)
    found = [_finding(item, "is named as a dependency", Confidence.HIGH) for item in declared if not item.is_optional]
    names = {package_name(item.requirement) for item in declared if not item.is_optional}
    has_list = any(not item.is_optional for item in declared_packages(checkout))
    found += _imported(checkout, names, is_run_only=has_list)
    python = next((version for source in _environments(checkout) if (version := read_environment(source)[1])), None)
    if python and re.fullmatch(r"3\.\d{1,2}(?:\.\d{1,2})?", python):
        where = Evidence(_environments(checkout)[0].path)
        found.append(Finding("environment.python_version", python, f"Python {python} is named", Confidence.HIGH, where))
    return found


@functools.lru_cache(maxsize=4)
def declared_packages(checkout: Checkout) -> tuple[Declared, ...]:
    """Return every dependency that lists of this checkout name, required ones first within a file."""
    found = list(_from_requirements(checkout))
    for source in checkout.of(Form.TOML, Form.INI, Form.PYTHON, roles=(Role.PACKAGES,)):
        found += _from_project(source)
    for source in _environments(checkout)[:1]:
        found += read_environment(source)[0]
    return _unique(found)


def _effective(checkout: Checkout) -> tuple[Declared, ...]:
    """Return the declared packages, with those of ``pip install`` lines where images or readers are told them."""
    declared = declared_packages(checkout)
    lines = [item for source in checkout.of(Form.DOCKERFILE) for item in read_pip_lines(source)]
    if not any(not item.is_optional for item in declared):
        documents = checkout.of(Form.MARKDOWN, roles=(Role.DOCUMENTATION,))
        near = [source for source in documents if source.depth == 0] or list(documents[:1])
        lines += [item for source in (*near, *checkout.of(Form.SHELL)) for item in read_pip_lines(source)]
    return _unique([*declared, *lines])


def _from_requirements(checkout: Checkout) -> list[Declared]:
    """Return the lines of the shallowest requirements files and of what they include."""
    files = checkout.of(Form.REQUIREMENTS, roles=(Role.PACKAGES,))
    wanted = [source for source in files if "constraint" not in source.name]
    main = [source for source in wanted if not _DEVELOPMENT.search(source.name)]
    if not main:
        return [item for source in wanted for item in read_requirements(source, is_optional=True).own]
    depth = main[0].depth
    level = [source for source in main if source.depth == depth]
    plain = [source for source in level if source.name == "requirements.txt"] or level
    found: list[Declared] = []
    seen: set[str] = set()
    pending = list(plain)
    while pending:
        source = pending.pop(0)
        if source.path in seen:
            continue
        seen.add(source.path)
        read = read_requirements(source, is_optional=False)
        found += read.own
        for include in read.includes:
            named = checkout.find(_joined(source.folder, include))
            if named is not None:
                pending.append(named)
    rest = [source for source in wanted if source.path not in seen]
    found += [item for source in rest for item in read_requirements(source, is_optional=True).own]
    return found


def _joined(folder: str, reference: str) -> str:
    """Return a reference relative to a folder; one that leaves the checkout gives a path that no file has."""
    parts = [part for part in folder.split("/") if part]
    for part in reference.split("/"):
        if part == "..":
            if not parts:
                return ""
            parts.pop()
        elif part not in {"", "."}:
            parts.append(part)
    return "/".join(parts)


def _from_project(source: Source) -> tuple[Declared, ...]:
    if source.depth > 1:
        return ()
    if source.form is Form.TOML:
        return read_project(source)
    if source.form is Form.INI:
        return read_setup_cfg(source)
    return read_setup_py(source) if source.name == "setup.py" else ()


def _environments(checkout: Checkout) -> tuple[Source, ...]:
    return checkout.of(Form.YAML, roles=(Role.PACKAGES,))


def _imported(checkout: Checkout, declared: set[str], *, is_run_only: bool) -> list[Finding]:
    """Return packages that are imported and not declared: of all code where there is no list, else of the run alone."""
    run = primary_run(checkout)
    sources = checkout.of(Form.PYTHON, Form.NOTEBOOK)
    if is_run_only:
        sources = (run.script,) if run is not None and run.script is not None else ()
    local = _local_names(checkout)
    found: dict[str, Finding] = {}
    for source in sources:
        for item in source.code.imports if source.code else ():
            package = package_of(item.module)
            if package is None or item.is_optional or item.module.split(".")[0] in local:
                continue
            name = package_name(package)
            if name not in declared and not _same_project(name, declared):
                where = Evidence(source.path, item.line)
                why = f"`{item.module.split('.')[0]}` is imported and no list names it"
                found.setdefault(name, Finding("dependencies.requirements", package, why, Confidence.MEDIUM, where))
    return [found[name] for name in sorted(found)]


def _same_project(name: str, declared: set[str]) -> bool:
    """Whether a declared package is known to bring this one (headless and contrib builds, renamed projects)."""
    families = ({"opencv-python", "opencv-python-headless", "opencv-contrib-python"}, {"lightning", "pytorch-lightning"},
                {"tensorflow", "tensorflow-gpu", "tensorflow-cpu", "keras"}, {"faiss-cpu", "faiss-gpu"},
                {"gym", "gymnasium"}, {"openai-whisper", "whisper"})  # fmt: skip
    return any(name in family and family & declared for family in families)


def _local_names(checkout: Checkout) -> frozenset[str]:
    """Return the modules and packages of this checkout itself."""
    names: set[str] = set()
    for source in checkout.sources:
        if source.form is Form.PYTHON:
            parts = source.path.removesuffix(".py").split("/")
            names.update(parts)
    return frozenset(names)


def _unique(items: list[Declared]) -> tuple[Declared, ...]:
    """Return one entry per package: a required one before an optional one, a pinned one before a bare one."""
    chosen: dict[str, Declared] = {}
    for item in items:
        name = package_name(item.requirement)
        old = chosen.get(name)
        if old is None or (old.is_optional and not item.is_optional):
            chosen[name] = item
    return tuple(chosen.values())


def _finding(item: Declared, why: str, confidence: Confidence) -> Finding:
    name = package_name(item.requirement)
    return Finding("dependencies.requirements", item.requirement, f"`{name}` {why}", confidence, item.evidence)
