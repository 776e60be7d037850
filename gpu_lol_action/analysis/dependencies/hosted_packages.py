"""Packages that a host of models is told to install: Truss's ``config.yaml``, ``cog.yaml``, BentoML's ``bentofile.yaml``.

Formats: Truss's reference of ``config.yaml`` (``requirements``, ``requirements_file``), cog's of ``cog.yaml`` (``build.python_packages``,
``build.python_requirements``), BentoML's of ``bentofile.yaml`` (``python.packages``, ``python.requirements_txt``). They are looked at where no
other list names anything: a project that has one of its own keeps these for its host.
"""

from __future__ import annotations

from collections.abc import Sequence

from gpu_lol_action.analysis.dependencies.install_commands import InstallCommand
from gpu_lol_action.analysis.files.checkout import Checkout, Source
from gpu_lol_action.analysis.files.configuration import read_settings
from gpu_lol_action.analysis.package_lists.package_files import Declared, clean_requirement, package_name

# File beside the model's program or above it: the paths of its list of packages, and of a file that is one.
_LISTS = {
    "config.yaml": ("requirements", "requirements_file"),
    "cog.yaml": ("build.python_packages", "build.python_requirements"),
    "bentofile.yaml": ("python.packages", "python.requirements_txt"),
}
_FRAMEWORKS = frozenset({"torch", "tensorflow", "jax"})
_LEAST_TOLD = 4
_TRUSS_MODEL = "model/model.py"


def hosted_lists(
    checkout: Checkout, folders: Sequence[str], commands: Sequence[InstallCommand]
) -> tuple[list[Declared], list[Source]]:
    """Return what the nearest such file of these folders names, and the lists that it points to; nothing without one.

    Where readers are told a framework and what goes with it, that is the list: a host's has versions of its own.
    """
    told = {package_name(item.requirement) for command in commands for item in command.declared}
    if told & _FRAMEWORKS and len(told) >= _LEAST_TOLD:
        return [], []
    for folder in folders:
        for name, (packages, file) in _LISTS.items():
            source = checkout.find(f"{folder}/{name}".lstrip("/"))
            is_known = name != "config.yaml" or checkout.find(f"{folder}/{_TRUSS_MODEL}".lstrip("/")) is not None
            if source is None or not is_known:
                continue
            declared: list[Declared] = []
            named: list[Source] = []
            for setting in read_settings(source):
                requirement = clean_requirement(setting.text) if setting.path == packages else None
                if requirement is not None:
                    declared.append(Declared(requirement, setting.evidence))
                beside = (
                    checkout.find(f"{folder}/{setting.text.strip().removeprefix('./')}".lstrip("/"))
                    if setting.path == file
                    else None
                )
                if beside is not None:
                    named.append(beside)
            if declared or named:
                return declared, named
    return [], []
