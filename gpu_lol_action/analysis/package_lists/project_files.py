"""pyproject.toml (PEP 621, PEP 735, poetry, pdm, uv, hatch, flit, pixi), Pipfile and setup.cfg as dependencies in pip's words."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import Any

from gpu_lol_action.analysis.files.checkout import Source
from gpu_lol_action.analysis.files.configuration import MAX_CONFIG_BYTES
from gpu_lol_action.analysis.files.effort import remembered
from gpu_lol_action.analysis.formats.poetry_versions import pip_version
from gpu_lol_action.analysis.formats.toml_reading import read_toml
from gpu_lol_action.analysis.package_lists.conda_files import conda_requirement
from gpu_lol_action.analysis.package_lists.package_files import (
    MAX_DECLARED,
    Declared,
    clean_requirement,
    package_name,
    placed,
)
from gpu_lol_action.analysis.package_lists.project_sources import (
    Named,
    from_repository,
    local_paths,
    neighbors_of,
    with_source,
    workspace_names,
)
from gpu_lol_action.domain.patterns import regex
from gpu_lol_action.domain.records import record

MAX_GROUPS = 200


@record(frozen=True, slots=True)
class Project:
    """What a project file says: dependencies, requirements files that it reads them from, its name, Python, indexes."""

    declared: tuple[Declared, ...] = ()
    files: tuple[str, ...] = ()
    name: str = ""
    python: str = ""
    is_installable: bool = False
    indexes: tuple[str, ...] = ()
    local: tuple[str, ...] = ()
    scripts: tuple[str, ...] = ()
    members: tuple[str, ...] = ()
    """Folders of the packages of a workspace, as patterns (``packages/*``): the project itself may be none."""
    neighbors: tuple[Declared, ...] = ()
    """What it requires by name of the same checkout (uv's ``{workspace = true}``, a path): no index is asked for these."""
    workspace: tuple[str, ...] = ()
    """Names that mean packages of the workspace for all its members."""


@remembered
def read_project(source: Source) -> Project:
    """Read pyproject.toml or a Pipfile; an empty project where it is broken."""
    if len(source.text) > MAX_CONFIG_BYTES:
        return Project()
    document = read_toml(source.text)
    if document is None:
        return Project()
    project, tool = _table(document, "project"), _table(document, "tool")
    poetry, uv = _table(tool, "poetry"), _table(tool, "uv")
    # Without a build system pip takes setuptools (PEP 517); its own table says that this is meant.
    is_built = bool(document.get("build-system") or poetry.get("name") or (project and tool.get("setuptools")))
    # Poetry's own switch: a list of dependencies that is never built into a package.
    is_installable = is_built and poetry.get("package-mode") is not False
    is_installable = is_installable and uv.get("package") is not False and not _is_empty(_table(tool, "setuptools"))
    sources = {package_name(name): entry for name, entry in _table(uv, "sources").items()}
    named = list(_named(document, project, tool))
    found = [(with_source(text, sources), group) for text, group in named]
    clean = ((text, group) for text, group in found if clean_requirement(text))
    declared = tuple(
        placed(source, text, group, is_library=is_installable) for text, group in islice(clean, MAX_DECLARED)
    )
    name = project.get("name") or poetry.get("name")
    asked = project.get("requires-python") or _version(_table(poetry, "dependencies").get("python"))
    asked = asked or _table(document, "requires").get("python_version")
    return Project(
        declared,
        tuple(_dynamic_files(project, tool)),
        package_name(str(name)) if name else "",
        str(asked)[:100] if isinstance(asked, str) else "",
        is_installable,
        tuple(_indexes(document, tool)),
        tuple(local_paths((*_tables_of_paths(document, tool), sources), named)),
        tuple(sorted({*_table(project, "scripts"), *_table(poetry, "scripts")})),
        tuple(_texts(_table(uv, "workspace").get("members"))),
        tuple(neighbors_of(source, named, sources)),
        workspace_names(sources),
    )


def _is_empty(setuptools: dict[str, Any]) -> bool:
    """Whether setuptools is told that there is nothing to install: what lies there is notebooks and scripts, with a list for their desk."""
    return setuptools.get("packages") == [] and not setuptools.get("py-modules")


def _named(document: dict[str, Any], project: dict[str, Any], tool: dict[str, Any]) -> Iterator[Named]:
    """Yield each dependency with its group, in the order: required, extras, groups."""
    poetry, pdm, uv, pixi = (_table(tool, name) for name in ("poetry", "pdm", "uv", "pixi"))
    flit = _table(_table(tool, "flit"), "metadata")
    yield from ((item, "") for item in (*_texts(project.get("dependencies")), *_texts(flit.get("requires"))))
    yield from ((item, "") for item in _requirements(_table(poetry, "dependencies")))
    yield from ((item, "") for item in _requirements(_table(document, "packages")))  # Pipfile
    pixi = pixi or (document if "workspace" in document or "channels" in project else {})
    targets = _table(pixi, "target")
    for tables in (pixi, *(_table(targets, name) for name in ("unix", "linux", "linux-64"))):
        yield from ((item, "") for item in _requirements(_table(tables, "pypi-dependencies")))
        yield from ((item, "") for item in _conda(_table(tables, "dependencies")))
    # `uv sync` takes these; a run does without those for the desk, as without poetry's.
    defaults = {name for name in map(str, _texts(uv.get("default-groups"))) if not is_desk_work(name)}
    for group, value in _table(project, "optional-dependencies").items():
        yield from ((item, group) for item in _texts(value))
    groups = _table(document, "dependency-groups")
    for group in list(groups)[:MAX_GROUPS]:
        yield from ((item, "" if group in defaults else group) for item in _group(groups, group, ()))
    for group, value in _table(poetry, "group").items():
        table = value if isinstance(value, dict) else {}
        # `poetry install` takes groups that are not optional; those for development are sorted out by their name.
        is_taken = not table.get("optional") and not is_development(group)
        yield from ((item, "" if is_taken else group) for item in _requirements(_table(table, "dependencies")))
    yield from _poetry_extras(poetry)
    for table in (_table(poetry, "dev-dependencies"), _table(document, "dev-packages")):
        yield from ((item, "dev") for item in _requirements(table))
    for group, value in _table(pdm, "dev-dependencies").items():
        yield from ((item, f"{group}-dev") for item in _texts(value))


def _poetry_extras(poetry: dict[str, Any]) -> Iterator[Named]:
    """Yield poetry's optional dependencies, under each extra that names them."""
    dependencies = {package_name(name): (name, entry) for name, entry in _table(poetry, "dependencies").items()}
    for group, names in list(_table(poetry, "extras").items())[:MAX_GROUPS]:
        for name in map(str, _texts(names)):
            written, entry = dependencies.get(package_name(name), (name, None))
            if isinstance(entry, dict) and entry.get("optional") is True:
                yield from ((item, group) for item in _requirements({written: {**entry, "optional": False}}))


def _group(groups: dict[str, Any], name: str, above: tuple[str, ...]) -> list[str]:
    """Return a group's requirements with those of the groups that it includes; a circle ends where it closes."""
    value = groups.get(name)
    found: list[str] = []
    for item in value[:MAX_DECLARED] if isinstance(value, list) else []:
        if isinstance(item, str):
            found.append(item)
        elif isinstance(item, dict) and isinstance(item.get("include-group"), str) and len(above) < 8:
            inner = item["include-group"]
            if inner not in {*above, name}:
                found += _group(groups, inner, (*above, name))
        if len(found) > MAX_DECLARED:
            break
    return found


_DEVELOPMENT = frozenset({
    "dev", "devel", "develop", "development", "test", "tests", "testing", "doc", "docs", "documentation", "lint", "linting",
    "linter", "linters", "build", "ci", "mypy", "typing", "types", "style", "format", "formatting", "quality", "example",
    "examples", "extra", "extras", "optional", "web", "colab", "mac", "macos", "mlx", "windows", "win", "cpu", "rocm", "amd", "npu",
    "xpu", "hpu", "tpu", "mps", "metal", "notebook", "notebooks", "release", "benchmark", "benchmarks", "debug", "precommit",
    "tools", "editor", "profiling", "jupyter", "sphinx", "mkdocs", "pytest", "coverage", "check", "checks", "lock",
})  # fmt: skip


_DESK = frozenset({"dev", "devel", "develop", "development", "test", "tests", "testing", "doc", "docs", "documentation", "lint",
                   "linting", "quality", "style", "format", "typing", "mypy", "release", "pytest", "sphinx", "mkdocs",
                   "export", "exporting"})  # fmt: skip


def is_desk_work(name: str) -> bool:
    """Whether an extra is for those who work on the project, or bring a model to other formats: even where it is named, a run does without it."""
    return bool(set(regex(r"[-_. ]+").split(name.lower())) & _DESK)


def is_development(name: str) -> bool:
    """Whether the name of a group or of a list says that a run does not need it (tests, docs, lint, other hardware)."""
    return bool(set(regex(r"[-_. /]+").split(name.lower())) & _DEVELOPMENT)


def read_setup_cfg(source: Source) -> Project:
    """Read ``install_requires``, extras and ``python_requires`` of setup.cfg, and the file that ``file:`` names."""
    import configparser

    parser = configparser.ConfigParser(interpolation=None, strict=False)
    try:
        parser.read_string(source.text)
    except (configparser.Error, ValueError):
        return Project()
    required = parser.get("options", "install_requires", fallback="")
    lines: list[Named] = [(line, "") for line in required.split("\n")]
    if parser.has_section("options.extras_require"):
        for group, value in parser.items("options.extras_require"):
            lines += [(line, group) for line in value.split("\n")]
    clean = ((line, group) for line, group in lines if clean_requirement(line))
    declared = tuple(placed(source, line, group, is_library=True) for line, group in islice(clean, MAX_DECLARED))
    files = tuple(regex(r"[\w./-]+\.(?:txt|in)").findall(required)) if required.strip().startswith("file:") else ()
    name = parser.get("metadata", "name", fallback="")
    python = parser.get("options", "python_requires", fallback="")
    return Project(
        declared, files, package_name(name), python.strip()[:100], is_installable=parser.has_section("options")
    )


def _tables_of_paths(document: dict[str, Any], tool: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield the tables by name in which an entry may be a folder: poetry's, Pipfile's, pixi's."""
    yield _table(_table(tool, "poetry"), "dependencies")
    yield _table(document, "packages")
    yield _table(_table(tool, "pixi") or document, "pypi-dependencies")


def _dynamic_files(project: dict[str, Any], tool: dict[str, Any]) -> Iterator[str]:
    """Yield the requirements files that setuptools or a hatch hook fills the dependencies from."""
    if "dependencies" not in _texts(project.get("dynamic")):
        return
    told = _table(_table(_table(tool, "setuptools"), "dynamic"), "dependencies").get("file")
    yield from [told] if isinstance(told, str) else _texts(told)
    hooks = _table(_table(_table(tool, "hatch"), "metadata"), "hooks")
    yield from _texts(_table(hooks, "requirements_txt").get("files")) or _texts(
        _table(hooks, "requirements_txt").get("filename")
    )


def _requirements(table: dict[str, Any]) -> list[str]:
    """Return poetry's, Pipfile's and pixi's name-to-version tables as requirements."""
    found: list[str] = []
    for name, value in table.items():
        if name.lower() in {"python", "python_version"}:
            continue
        # Poetry takes several versions under markers: the ones that hold here are told by the markers.
        entries = value if isinstance(value, list) else [value]
        found += [text for entry in entries[:20] if (text := _requirement(name, entry))]
    return found


def _requirement(name: str, entry: object) -> str:
    if isinstance(entry, str):
        return f"{name}{pip_version(entry)}"
    if not isinstance(entry, dict) or entry.get("optional") or isinstance(entry.get("path"), str):
        return ""
    extras = ",".join(_texts(entry.get("extras")))
    full = f"{name}[{extras}]" if extras else name
    repository = from_repository(full, entry)
    if repository:
        return repository
    marks = [str(entry[key]) for key in ("markers",) if isinstance(entry.get(key), str)]
    if isinstance(entry.get("python"), str):
        marks += [f"python_version {part[:2].rstrip('0123456789.')} '{part.lstrip('<>=!~')}'"
                  for part in pip_version(entry["python"]).split(",") if part]  # fmt: skip
    if isinstance(entry.get("platform"), str):
        marks.append(f"sys_platform == '{entry['platform']}'")
    return f"{full}{pip_version(_version(entry))}" + (f"; {' and '.join(marks)}" if marks else "")


def _conda(table: dict[str, Any]) -> list[str]:
    found = [conda_requirement(f"{name}{_conda_version(_version(value))}") for name, value in table.items()]
    return [text for text in found if text]


def _conda_version(text: str) -> str:
    return "" if text in {"", "*"} else text if text[0] in "<>=!~" else f"={text}"


def _version(value: object) -> str:
    if isinstance(value, dict):
        value = value.get("version", "")
    return value if isinstance(value, str) else ""


def _indexes(document: dict[str, Any], tool: dict[str, Any]) -> Iterator[str]:
    """Yield the addresses of other indexes: uv, poetry, pdm, Pipfile."""
    tables = (_table(tool, "uv").get("index"), _table(tool, "poetry").get("source"), _table(tool, "pdm").get("source"),
              document.get("source"))  # fmt: skip
    for table in tables:
        for entry in table[:20] if isinstance(table, list) else []:
            if isinstance(entry, dict) and isinstance(entry.get("url"), str):
                yield entry["url"]
    for key in ("extra-index-url", "find-links"):
        yield from _texts(_table(tool, "uv").get(key))


def _table(node: dict[str, Any], key: str) -> dict[str, Any]:
    value = node.get(key)
    return value if isinstance(value, dict) else {}


def _texts(value: object) -> list[str]:
    return [item for item in value if isinstance(item, str)] if isinstance(value, list) else []
