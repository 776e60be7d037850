"""Extensions of a checkout's own, and what its ``setup.py`` has translate or bind them (Cython, pybind11): that must be there first."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from types import MappingProxyType

from gpu_lol_action.analysis.files.checkout import Checkout, Source
from gpu_lol_action.analysis.files.effort import remembered
from gpu_lol_action.analysis.formats.paths import Form, Role
from gpu_lol_action.analysis.python.code import Import
from gpu_lol_action.analysis.runs.entry_points import Run
from gpu_lol_action.domain.finding import Confidence, Evidence, Finding
from gpu_lol_action.domain.patterns import regex

_BUILDS = "setup.py"
MAX_DEPTH = 3  # folders below the root: deeper ones are other people's
_TOOLS = {"Cython": "cython", "pybind11": "pybind11"}
# PyTorch compiles one file after the other without ninja: hours instead of minutes for kernels.
_OF_TORCH, _COMPILES, _KERNELS = "torch.utils.cpp_extension", "BuildExtension", "CUDAExtension"
_EXTENSION = regex(r"\w{0,20}[Ee]xtension\(\s{0,200}(?:name\s{0,8}=\s{0,8})?[\"']([A-Za-z_][\w.]{0,100})[\"']")


def build_findings(checkout: Checkout, run: Run | None, known: Collection[str]) -> list[Finding]:
    """Return Cython, pybind11 and ninja where something is started, a build script imports them, and no list names them."""
    if run is None:
        return []
    found: dict[str, Finding] = {}
    for source in _build_scripts(checkout):
        for item in source.code.imports if source.code is not None else ():
            package = "ninja" if _compiles_kernels(source, item) else _TOOLS.get(item.module.partition(".")[0])
            if package is None or package in known or item.is_optional or _is_brought(checkout, source, package):
                continue
            why = f"an extension of the checkout is {'translated' if package == 'cython' else 'built'} with it, and no list names it"
            where = Evidence(source.path, item.line)
            found.setdefault(package, Finding("dependencies.requirements", package, why, Confidence.MEDIUM, where))
    return [found[name] for name in sorted(found)]


def _compiles_kernels(source: Source, item: Import) -> bool:
    return item.module == _OF_TORCH and _COMPILES in item.names and source.mentions(_KERNELS)


@remembered
def extension_names(checkout: Checkout) -> frozenset[str]:
    """Return the first words under which modules are imported that build scripts of this checkout compile."""
    names = (name for source in _build_scripts(checkout) for name in _EXTENSION.findall(source.text))
    return frozenset(name.partition(".")[0] for name in names)


@remembered
def extension_homes(checkout: Checkout) -> Mapping[str, str]:
    """Return the folder of the build script for each module, by its whole name, that build scripts of this checkout compile."""
    homes: dict[str, str] = {}
    for source in _build_scripts(checkout):
        for name in _EXTENSION.findall(source.text):
            homes.setdefault(name, source.folder)
    return MappingProxyType(homes)


def _build_scripts(checkout: Checkout) -> Iterator[Source]:
    for source in checkout.of(Form.PYTHON, roles=(Role.WORKLOAD, Role.PACKAGES)):
        if source.name == _BUILDS and source.depth <= MAX_DEPTH and source.code is not None:
            yield source


def _is_brought(checkout: Checkout, source: Source, package: str) -> bool:
    """Whether the project's own build requirements name it, which pip installs for the build alone."""
    project = checkout.find(f"{source.folder}/pyproject.toml".lstrip("/"))
    return package != "cython" and project is not None and package in project.text
