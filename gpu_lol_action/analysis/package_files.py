"""Dependency lists read as data: requirements files, pyproject.toml, setup.py, setup.cfg, environment.yml, Pipfile, pip lines."""

from __future__ import annotations

import ast
import configparser
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Any

from packaging.requirements import InvalidRequirement, Requirement

from gpu_lol_action.analysis.checkout import Source
from gpu_lol_action.analysis.configuration import MAX_CONFIG_BYTES, read_settings
from gpu_lol_action.analysis.paths import Form
from gpu_lol_action.analysis.python_syntax import parse_program
from gpu_lol_action.domain.finding import Evidence

if sys.version_info >= (3, 11):
    import tomllib
else:  # pragma: no cover - the same library under its older name
    import tomli as tomllib

_CONDA_NAMES = {"pytorch": "torch", "opencv": "opencv-python-headless", "py-opencv": "opencv-python-headless", "pytorch-gpu": "torch",
                "faiss-gpu": "faiss-cpu", "tensorflow-gpu": "tensorflow", "msgpack-python": "msgpack"}  # fmt: skip
_NOT_FROM_PIP = re.compile(r"(?:pip|python|setuptools|wheel|cudatoolkit.*|cudnn|cuda.*|pytorch-cuda|mkl.*|nccl|gcc.*|gxx.*|_.*|ffmpeg|nodejs|git.*|libgcc.*|libstdcxx.*|openssl|zlib|sqlite|readline|tk|xz|ncurses|libffi|ca-certificates|certifi|nvidia.*)")  # fmt: skip
MAX_LENGTH = 300
MAX_DECLARED = 1000
"""Of one file: names of lists repeat what stands there once, so that a short program could name millions."""


@dataclass(frozen=True, slots=True)
class Declared:
    """One dependency as pip takes it. ``is_optional``: an extra, a group, a development list. ``is_library``: its project is installable."""

    requirement: str
    evidence: Evidence
    is_optional: bool = False
    is_library: bool = False


@dataclass(frozen=True, slots=True)
class RequirementsFile:
    """A requirements file: its own lines, and the files that it includes."""

    own: tuple[Declared, ...]
    includes: tuple[str, ...]


def clean_requirement(text: str) -> str | None:
    """Return one requirement as pip takes it, without comment and options; None where it is none."""
    bare = re.split(r"(?:^|\s)#", text.strip()[: MAX_LENGTH * 2], maxsplit=1)[0].strip().rstrip(",\\").strip()
    bare = re.sub(r"^([\"'])(.*)\1$", r"\2", bare)
    bare = re.split(r"\s+--(?:hash|global-option|config-settings)", bare, maxsplit=1)[0].strip()
    bare = re.sub(r"^(?:-e|--editable)[ =]\s*", "", bare)
    if not bare or bare.startswith("-") or len(bare) > MAX_LENGTH or not bare.isprintable():
        return None
    if re.match(r"(?:git\+|hg\+|https?://)", bare):
        return bare if re.fullmatch(r"[\w.+:/@#=&%~?,\[\]-]+", bare) else None
    if re.match(r"[./~]|file:|\w:\\", bare):
        return None
    try:
        Requirement(bare)
    except InvalidRequirement:
        return None
    return bare


def package_name(requirement: str) -> str:
    """Return the normalized name of a requirement; for a URL its repository's name."""
    if re.match(r"(?:git\+|https?://)", requirement):
        egg = re.search(r"[#&]egg=([\w.-]+)", requirement)
        tail = (
            egg[1]
            if egg
            else re.sub(r"(?:\.git)?(?:[@#?].*)?$", "", requirement.split("://", 1)[-1]).rsplit("/", 1)[-1]
        )
        return re.sub(r"[-_.]+", "-", tail).lower()
    found = re.match(r"[A-Za-z0-9][\w.-]*", requirement)
    return re.sub(r"[-_.]+", "-", found[0]).lower() if found else ""


def read_requirements(source: Source, *, is_optional: bool) -> RequirementsFile:
    """Read a requirements file; constraints (`-c`) install nothing and are not followed."""
    own: list[Declared] = []
    includes: list[str] = []
    for number, line in enumerate(source.text.split("\n")[:3000], 1):
        include = re.match(r"\s*(?:-r|--requirement)[ =]?\s*(\S+)", line[:500])
        if include:
            includes.append(include[1])
            continue
        requirement = clean_requirement(line)
        if requirement:
            own.append(Declared(requirement, Evidence(source.path, number), is_optional))
    return RequirementsFile(tuple(own), tuple(includes))


def read_project(source: Source) -> tuple[Declared, ...]:
    """Read pyproject.toml (project, groups, poetry, pdm, uv) or a Pipfile."""
    if len(source.text) > MAX_CONFIG_BYTES:
        return ()
    try:
        document = tomllib.loads(source.text)
    except (ValueError, RecursionError):  # the first: no TOML, or an integer of thousands of digits
        return ()
    project, tool = _table(document, "project"), _table(document, "tool")
    poetry = _table(tool, "poetry")
    is_library = bool(document.get("build-system")) or bool(poetry.get("name"))
    found: list[tuple[str, bool]] = [(item, False) for item in _texts(project.get("dependencies"))]
    for table in (_table(project, "optional-dependencies"), _table(document, "dependency-groups")):
        found += [(item, True) for group in table.values() for item in _texts(group)]
    found += [(item, False) for item in _poetry(_table(poetry, "dependencies"))]
    for group in _table(poetry, "group").values():
        found += [(item, True) for item in _poetry(_table(group if isinstance(group, dict) else {}, "dependencies"))]
    found += [(item, False) for item in _poetry(_table(document, "packages"))]  # Pipfile
    found += [(item, True) for item in _poetry(_table(document, "dev-packages"))]
    clean = ((item, is_optional) for item, is_optional in found if clean_requirement(item))
    return tuple(_placed(source, item, optional, is_library) for item, optional in islice(clean, MAX_DECLARED))


def read_setup_cfg(source: Source) -> tuple[Declared, ...]:
    """Read ``install_requires`` and extras of setup.cfg."""
    parser = configparser.ConfigParser(interpolation=None, strict=False)
    try:
        parser.read_string(source.text)
    except (configparser.Error, ValueError):
        return ()
    lines = [(line, False) for line in parser.get("options", "install_requires", fallback="").split("\n")]
    if parser.has_section("options.extras_require"):
        lines += [(line, True) for _, value in parser.items("options.extras_require") for line in value.split("\n")]
    clean = ((line, optional) for line, optional in lines if clean_requirement(line))
    return tuple(_placed(source, line, optional, True) for line, optional in islice(clean, MAX_DECLARED))


def read_setup_py(source: Source) -> tuple[Declared, ...]:
    """Read ``install_requires`` of a setup.py: lists, lists by name, and tables of lists, without running it."""
    tree = parse_program(source.text)
    if isinstance(tree, str):
        return ()
    lists: dict[str, list[str]] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign) and isinstance(node.value, (ast.List, ast.Tuple)):
            texts = [
                item.value for item in node.value.elts if isinstance(item, ast.Constant) and isinstance(item.value, str)
            ]
            for target in node.targets:
                if isinstance(target, (ast.Name, ast.Attribute)):
                    lists[target.id if isinstance(target, ast.Name) else target.attr] = texts
    table = {package_name(text): text for texts in lists.values() for text in texts}
    found = dict.fromkeys(islice(_install_requires(tree, lists, table), MAX_DECLARED))
    return tuple(_placed(source, text, False, True) for text in found if clean_requirement(text))


def _install_requires(tree: ast.AST, lists: dict[str, list[str]], table: dict[str, str]) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, (ast.Assign, ast.keyword)):
            names = (
                [node.arg] if isinstance(node, ast.keyword) else [t.id for t in node.targets if isinstance(t, ast.Name)]
            )
            if "install_requires" in names:
                yield from _listed(node.value, lists, table)


def read_environment(source: Source) -> tuple[tuple[Declared, ...], str | None]:
    """Read a conda environment file: packages under pip's names, and the Python version."""
    found: list[Declared] = []
    python = None
    for setting in read_settings(source):
        if setting.path == "dependencies.pip":
            requirement = clean_requirement(setting.text)
        elif setting.path == "dependencies":
            name, _, version = re.sub(r"^.*::", "", setting.text.strip()).partition("=")
            name = re.split(r"[<>=! ]", name)[0].lower()
            version = version.strip("=").split("=")[0]
            if name == "python":
                python = re.sub(r"\.\*$", "", version) or None
            if _NOT_FROM_PIP.fullmatch(name):
                continue
            pinned = (
                f"{_CONDA_NAMES.get(name, name)}=={version}"
                if re.fullmatch(r"[\d.]+", version)
                else _CONDA_NAMES.get(name, name)
            )
            requirement = clean_requirement(pinned)
        else:
            continue
        if requirement:
            found.append(Declared(requirement, setting.evidence))
    return tuple(found), python


def read_pip_lines(source: Source) -> Iterator[Declared]:
    """Yield what ``pip install`` lines name in a Dockerfile, a script, a notebook's magics or documentation."""
    text = re.sub(r"\\\n\s*", " ", source.text) if source.form is Form.DOCKERFILE else source.text
    for number, line in enumerate(text.split("\n"), 1):
        for match in re.finditer(r"\bpip3?\s+install\s+([^|;&`\n]{1,600})", line[:4000]):
            for word in _pip_words(match[1]):
                requirement = clean_requirement(word)
                if requirement:
                    yield Declared(requirement, Evidence(source.path, number))


def _pip_words(text: str) -> Iterator[str]:
    skip_next = False
    for word in re.sub(r"\s#.*", "", text).split():
        if skip_next:
            skip_next = False
        elif word.startswith("-"):
            skip_next = word in {"-r", "--requirement", "-c", "--index-url", "--extra-index-url", "-i", "-f", "--find-links",
                                 "--target", "-t", "-e", "--editable", "--prefix", "--src"}  # fmt: skip
        elif re.fullmatch(
            r"['\"]?(?:git\+\S+|[A-Za-z0-9][\w.-]*(?:\[[\w,.-]+\])?(?:[<>=!~]=?[\w.*,<>=!]+)?)['\"]?", word
        ):
            yield word.strip("'\"")
        else:
            return


def _placed(source: Source, text: str, is_optional: bool, is_library: bool) -> Declared:  # noqa: FBT001 - two facts of one record
    requirement = clean_requirement(text) or text
    needle = re.split(r"[\[<>=!~; ]", requirement)[0]
    found = source.text.find(needle) if needle else -1
    line = source.text.count("\n", 0, found) + 1 if found >= 0 else 0
    return Declared(requirement, Evidence(source.path, line), is_optional, is_library)


def _listed(node: ast.AST, lists: dict[str, list[str]], table: dict[str, str]) -> Iterator[str]:
    """Yield the texts of a list expression: constants, names of lists, entries of a table."""
    found: list[tuple[int, int, list[str]]] = []
    for inner in ast.walk(node):
        if isinstance(inner, ast.Name) and inner.id in lists:
            found.append((inner.lineno, inner.col_offset, lists[inner.id]))
        elif isinstance(inner, ast.Constant) and isinstance(inner.value, str):
            found.append((inner.lineno, inner.col_offset, [table.get(package_name(inner.value), inner.value)]))
    for _, _, texts in sorted(found, key=lambda item: item[:2]):
        yield from texts


def _poetry(table: dict[str, Any]) -> list[str]:
    """Return poetry's and Pipfile's name-to-version tables as requirements."""
    found: list[str] = []
    for name, value in table.items():
        if name.lower() in {"python", "python_version"} or (isinstance(value, dict) and value.get("optional")):
            continue
        if isinstance(value, dict) and isinstance(value.get("git"), str):
            found.append(f"git+{value['git']}")
            continue
        version = value if isinstance(value, str) else value.get("version", "") if isinstance(value, dict) else ""
        found.append(f"{name}{_poetry_version(str(version))}")
    return found


def _poetry_version(version: str) -> str:
    bare = version.strip()
    if bare in {"", "*"}:
        return ""
    if re.fullmatch(r"\d+(?:\.\d+)*", bare):
        return f"=={bare}"
    if found := re.fullmatch(r"\^(\d{1,9})(\.\d+)*", bare):
        return f">={bare[1:]},<{int(found[1]) + 1}" if found[1] != "0" else f">={bare[1:]}"
    return bare if re.match(r"[<>=!~]=", bare) or re.match(r"[<>]", bare) else ""


def _table(node: dict[str, Any], key: str) -> dict[str, Any]:
    value = node.get(key)
    return value if isinstance(value, dict) else {}


def _texts(value: object) -> list[str]:
    return [item for item in value if isinstance(item, str)] if isinstance(value, list) else []
