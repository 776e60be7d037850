"""Which command proves that a repository works on a GPU: the one of its spec, its tests marked for GPUs, or its imports."""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping
from datetime import timedelta

from gpu_lol_action.analysis.files.checkout import Checkout
from gpu_lol_action.analysis.files.project_folder import project_folder, project_of
from gpu_lol_action.domain.patterns import regex
from gpu_lol_action.domain.smoke import SmokeTest
from gpu_lol_action.domain.spec import EnvironmentSpec

DEFAULT_BOX = timedelta(minutes=15)
MAX_PACKAGES = 8
MAX_TEXT = 100_000
BESIDES = ("pytest.ini", "tox.ini")

# pytest's configuration, in the order in which pytest itself looks (docs.pytest.org, "Initialization: determining rootdir").
_CONFIGURATIONS = ("pytest.toml", "pytest.ini", ".pytest.ini", "pyproject.toml", "tox.ini", "setup.cfg")
_MARKERS = regex(r"^[ \t]*markers[ \t]*=(.*?)(?=^[ \t]*[\w.-]+[ \t]*=|^\[|\Z)", re.MULTILINE | re.DOTALL)
_WORD = regex(r"(?:^|[\[,])[ \t]*[\"']?([A-Za-z_]\w*)[\"']?[ \t]*(?:\([^)\n]*\))?[ \t]*(?=[:\"',\]]|$)", re.MULTILINE)
# A marker is for GPUs where one of its words is; `cpu_only` and `no_gpu` are for the others.
_GPU = regex(r"(?:^|_)(?:gpus?|cuda|multigpu)(?:_|\d|$)")
_NOT = regex(r"(?:^|_)(?:no|non|not|without|skip|cpu)(?:_|$)")
# Packages of this name are no product of a repository.
_ASIDE = frozenset({"tests", "test", "docs", "doc", "examples", "example", "scripts", "benchmarks", "benchmark", "tools", "tutorials", "notebooks"})  # fmt: skip


def smoke_test(checkout: Checkout, spec: EnvironmentSpec, besides: Mapping[str, str]) -> SmokeTest:
    """Return what is run, and why it is this: without any test the machine's own checks are all there is to prove.

    A project in a folder is tested there. ``besides``: path in the project and text of those of pytest's files that a checkout is
    not read for (``BESIDES``).
    """
    box = timedelta(minutes=spec.smoke.timeout_minutes) if spec.smoke is not None else DEFAULT_BOX
    if spec.smoke is not None and spec.smoke.command:
        return SmokeTest(spec.smoke.command, box, "the spec's own command")
    folder, checkout = project_folder(checkout), project_of(checkout)
    there = f"cd {shlex.quote(folder)} && " if folder else ""
    markers = gpu_markers(checkout, besides)
    if markers:
        expression = " or ".join(markers)
        command = f"{there}python -m pytest -m {shlex.quote(expression)}"
        return SmokeTest(command, box, f"the tests marked {', '.join(f'`{name}`' for name in markers)}", folder)
    packages = own_packages(checkout)
    if packages:
        named = ", ".join(f"`{name}`" for name in packages)
        places = "import sys; sys.path[:0] = ['src', '.']; " if _is_source_folder(checkout) else ""
        command = f"{there}python -c {shlex.quote(places + 'import ' + ', '.join(packages))}"
        return SmokeTest(command, box, f"no test is marked for GPUs: an import of {named}", folder)
    return SmokeTest(
        "true", box, "no test is marked for GPUs and there is no package to import: the machine's checks alone"
    )


def gpu_markers(checkout: Checkout, besides: Mapping[str, str]) -> tuple[str, ...]:
    """Return the markers for GPUs that the project registers with pytest, in the order of its configuration."""
    found: dict[str, None] = {}
    for path in _CONFIGURATIONS:
        source = checkout.find(path)
        text = source.text if source is not None else besides.get(path, "")[:MAX_TEXT]
        if path in ("pyproject.toml", "tox.ini", "setup.cfg") and "pytest" not in text:
            continue
        for listed in _MARKERS.findall(text):
            found |= dict.fromkeys(filter(_is_for_gpus, _WORD.findall(listed)))
    return tuple(found)


def own_packages(checkout: Checkout) -> tuple[str, ...]:
    """Return the packages of the repository itself, those of the top or of ``src``, by name."""
    found = []
    for path in checkout.by_path:
        parts = path.split("/")
        inner = parts[1:] if parts[0] == "src" else parts
        if len(inner) == 2 and inner[1] == "__init__.py" and inner[0].isidentifier() and inner[0] not in _ASIDE:
            found.append(inner[0])
    return tuple(sorted(dict.fromkeys(found)))[:MAX_PACKAGES]


def _is_source_folder(checkout: Checkout) -> bool:
    return any(path.startswith("src/") and path.endswith("/__init__.py") for path in checkout.by_path)


def _is_for_gpus(marker: str) -> bool:
    return bool(_GPU.search(marker.lower())) and not _NOT.search(marker.lower())
