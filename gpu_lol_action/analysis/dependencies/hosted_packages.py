"""Packages that a host of models is told to install: Truss's ``config.yaml``, ``cog.yaml``, BentoML's ``bentofile.yaml``, ``cerebrium.toml``.

Formats: Truss's reference of ``config.yaml`` (``requirements``, ``requirements_file``), cog's of ``cog.yaml`` (``build.python_packages``,
``build.python_requirements``), BentoML's of ``bentofile.yaml`` (``python.packages``, ``python.requirements_txt``), Cerebrium's of
``cerebrium.toml`` (``cerebrium.dependencies.pip``, a table of names and versions, and ``cerebrium.dependencies.paths.pip``). They are looked at where no
other list names anything: a project that has one of its own keeps these for its host.
"""

from __future__ import annotations

from collections.abc import Sequence

from gpu_lol_action.analysis.dependencies.install_commands import InstallCommand
from gpu_lol_action.analysis.files.checkout import Checkout, Source
from gpu_lol_action.analysis.files.configuration import read_settings
from gpu_lol_action.analysis.files.setting import Setting
from gpu_lol_action.analysis.package_lists.package_files import Declared, clean_requirement, package_name

# File beside the model's program or above it: the paths of its list of packages, and of a file that is one.
_LISTS = {
    "config.yaml": ("requirements", "requirements_file"),
    "cog.yaml": ("build.python_packages", "build.python_requirements"),
    "bentofile.yaml": ("python.packages", "python.requirements_txt"),
    "cerebrium.toml": ("", "cerebrium.dependencies.paths.pip"),
}
# A table whose keys are the packages: ``"sglang[all]" = "latest"``, ``torch = ">=2.4"``.
_TABLE = "cerebrium.dependencies.pip."
_FRAMEWORKS = frozenset({"torch", "tensorflow", "jax"})
_LEAST_TOLD = 4
_TRUSS_MODEL = "model/model.py"


def _of_table(setting: Setting) -> str | None:
    """Return the requirement of a table's entry; None of every other setting."""
    if not setting.path.startswith(_TABLE):
        return None
    name, version = setting.path.removeprefix(_TABLE).replace("_", "-"), setting.text.strip()
    bound = version if version[:1] in {"=", ">", "<", "~", "!"} else f"=={version}" if version[:1].isdigit() else ""
    return clean_requirement(f"{name}{bound}")


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
                requirement = clean_requirement(setting.text) if setting.path == packages else _of_table(setting)
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
