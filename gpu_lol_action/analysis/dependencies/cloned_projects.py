"""Projects of others that a document or an image clones and installs from their folder: ``git clone X; cd X; pip install .``.

pip fetches the same by its address. Which clone is the checkout itself no text says: what is installed for its own sake is what programs
here import and no file here holds.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from gpu_lol_action.analysis.dependencies.install_commands import InstallCommand
from gpu_lol_action.analysis.files.checkout import Checkout, Source
from gpu_lol_action.analysis.files.effort import remembered
from gpu_lol_action.analysis.formats.paths import Form
from gpu_lol_action.analysis.package_lists.package_files import Declared, package_name
from gpu_lol_action.domain.patterns import regex

_IMPORTED = regex(r"(?m)^[ \t]{0,40}(?:from|import)[ \t]{1,4}([A-Za-z]\w{0,60})")
# What a copy that somebody changed is called behind the project's own name.
_CHANGED = regex(r"(?<=\w)[-_.](?:bug-?fix|fix(?:ed)?|fork|mod(?:ified)?|patched|custom|dev|main|master)$")
# Repositories that are not named as the module that they bring, or not as pip knows them: that module, and the name for pip.
_PROJECTS: Mapping[str, tuple[str, str]] = {
    "lmevaluationharness": ("lm_eval", "lm-eval"),
    "flashattention": ("flash_attn", "flash-attn"),
    "tinycudann": ("tinycudann", "tinycudann"),
    "pytorchimagemodels": ("timm", "timm"),
    "mamba": ("mamba_ssm", "mamba-ssm"),
    "autoawq": ("awq", "autoawq"),
    "autogptq": ("auto_gptq", "auto-gptq"),
    "fastchat": ("fastchat", "fschat"),
    "llamafactory": ("llamafactory", "llamafactory"),
    "openclip": ("open_clip", "open-clip-torch"),
    "lavis": ("lavis", "salesforce-lavis"),
    "whisper": ("whisper", "openai-whisper"),
    "nemo": ("nemo", "nemo-toolkit"),
    "spinningup": ("spinup", "spinup"),
    "mmaction2": ("mmaction", "mmaction2"),
    "mmdetection": ("mmdet", "mmdet"),
    "mmdetection3d": ("mmdet3d", "mmdet3d"),
    "mmsegmentation": ("mmseg", "mmsegmentation"),
    "pytorchscatter": ("torch_scatter", "torch-scatter"),
    "pytorchsparse": ("torch_sparse", "torch-sparse"),
    "pytorchcluster": ("torch_cluster", "torch-cluster"),
    "pytorchgeometric": ("torch_geometric", "torch-geometric"),
    "tamingtransformers": ("taming", ""),
    "latentdiffusion": ("ldm", ""),
    "habitatlab": ("habitat", ""),
    "warpctc": ("warpctc_pytorch", ""),
    "pointnet2pytorch": ("pointnet2_ops", ""),
}

# Where in its repository such a project lies.
_FOLDERS: Mapping[str, str] = {"tinycudann": "#subdirectory=bindings/torch"}


def _project(address: str) -> tuple[str, str]:
    """Return the module that a repository brings, without the signs between its words, and its name for pip where that is known."""
    name = _folded(_CHANGED.sub("", package_name(address.partition("#")[0])))
    module, package = _PROJECTS.get(name, (name, ""))
    return _folded(module), package


def named_address(address: str) -> str:
    """Return a repository's address under the name that pip knows its project by, where that is not the repository's.

    What is in one of its folders may be another project, but for one that has its Python there.
    """
    _, name = _project(address)
    is_there = "#" not in address or address.endswith(_FOLDERS.get(name, "#"))
    return f"{name} @ {address}" if name and is_there and address.startswith("git+") else address


def of_others(checkout: Checkout, command: InstallCommand) -> InstallCommand:
    """Return a command that is started in a clone of another project as one that fetches that project; others as they are."""
    if not command.cloned or not _is_of_another(checkout, command.cloned):
        return command
    is_installed = bool(command.values("local"))
    own = (Declared(named_address(command.cloned), command.evidence),) if is_installed else ()
    # Its lists, and folders in it, are no files of the checkout's.
    kept = tuple(option for option in command.options if option.kind in {"index", "links"})
    return replace(command, declared=(*command.declared, *own), options=kept, cloned="")


def _is_of_another(checkout: Checkout, address: str) -> bool:
    module, name = _project(address)
    folder = address.partition("#subdirectory=")[2]
    if folder and (any(f"{source.folder}/".startswith(f"{folder}/") for source in checkout.sources)):
        return False
    # A folder of a project with another name than its repository's is one of its extensions.
    is_part = bool(folder and name) and not address.endswith(_FOLDERS.get(name, "#"))
    imported, held = _names(checkout)
    return module in imported and module not in held and not is_part


def unused_frameworks(checkout: Checkout) -> frozenset[str]:
    """Return the names of TensorFlow where programs here import PyTorch and none imports it: a document on installing tells of both."""
    imported, _ = _names(checkout)
    is_used = "torch" not in imported or not imported.isdisjoint({"tensorflow", "keras", "tfkeras"})
    return frozenset() if is_used else frozenset({"tensorflow", "tensorflow-gpu", "tensorflow-cpu"})


@remembered
def _names(checkout: Checkout) -> tuple[frozenset[str], frozenset[str]]:
    """Return what programs here import, and what files and folders here are called, without the signs between their words."""
    programs = checkout.of(Form.PYTHON, Form.NOTEBOOK)
    imported = {name for source in programs for name in _IMPORTED.findall(_importing(source))}
    held = {part for source in programs for part in source.path.removesuffix(".py").split("/")}
    return frozenset(map(_folded, imported)), frozenset(map(_folded, held))


def _importing(source: Source) -> str:
    return source.code.lines_of_imports() if source.code is not None else source.text


def _folded(name: str) -> str:
    return regex(r"[-_.]").sub("", name).lower()
