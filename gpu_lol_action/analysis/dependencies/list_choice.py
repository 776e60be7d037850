"""Which of the requirements files in one folder count for the run: the plain one, what commands name, what bears the program's name."""

from __future__ import annotations

from collections.abc import Sequence

from gpu_lol_action.analysis.dependencies.install_commands import InstallCommand
from gpu_lol_action.analysis.dependencies.told_lists import find_list
from gpu_lol_action.analysis.files.checkout import Checkout, Source
from gpu_lol_action.analysis.formats.paths import Form
from gpu_lol_action.analysis.runs.entry_points import Run
from gpu_lol_action.domain.patterns import regex

_BASE = frozenset({"base", "main", "core", "common", "runtime", "prod", "production", "default", "app", "train", "training",
                   "gpu", "cuda", "full", "all", "pip", "torch", "min", "minimal"})  # fmt: skip
# What OpenMMLab's installer takes beside the list that pip takes: the library with the operators in CUDA.
_OF_MIM = "mminstall.txt"


def of_level(
    checkout: Checkout, level: Sequence[Source], run: Run | None, commands: Sequence[InstallCommand]
) -> list[Source]:
    """Return the files of one folder: the plain one with what is installed beside it, else what a command names first."""
    plain = [source for source in level if stem_of(source) == "" and source.name.endswith(".txt")] or [
        source for source in level if stem_of(source) == ""
    ]
    blocks: dict[tuple[str, int], list[Source]] = {}
    for command in commands:
        for value in command.values("include"):
            named = find_list(checkout, command, value)
            if named in level and named is not None:
                blocks.setdefault((command.evidence.path, command.block), []).append(named)
    beside = [files for files in blocks.values() if set(plain) & set(files)] if plain else list(blocks.values())
    words = _words(run.script) if run and run.script else set()
    own = [source for source in level if stem_of(source) and set(stem_of(source).split("-")) <= words]
    own += [source for source in level if source.name == _OF_MIM]
    if plain or beside:
        return list(dict.fromkeys([*plain[:1], *(beside[0] if beside else ()), *own]))
    base = own or [source for source in level if set(stem_of(source).split("-")) & _BASE]
    return base or list(level)


def stem_of(source: Source) -> str:
    """Return what sets a list apart from its neighbors: ``requirements-gpu.txt`` gives ``gpu``."""
    bare = source.name.rpartition(".")[0]
    return "-".join(part for part in regex(r"[^a-z0-9]+").split(bare) if part and not part.startswith("requirement"))


def are_of_others(checkout: Checkout, files: Sequence[Source], run: Run | None) -> bool:
    """Whether lists bear the names of other programs beside them (``requirements_qlora.txt`` beside ``train_with_qlora.py``)."""
    own = _words(run.script) if run and run.script else set()
    return bool(own) and all(_is_of_another(checkout, source, own) for source in files)


def _is_of_another(checkout: Checkout, source: Source, own: set[str]) -> bool:
    stem = set(stem_of(source).split("-"))
    if stem <= own or stem & _BASE or stem == {""}:
        return False
    beside = (program for program in checkout.of(Form.PYTHON) if program.folder == source.folder)
    return any(stem <= _words(program) for program in beside)


def _words(program: Source) -> set[str]:
    return set(regex(r"[^a-z0-9]+").split(program.name.removesuffix(".py")))
