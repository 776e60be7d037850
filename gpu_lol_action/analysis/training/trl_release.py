"""Which release of TRL runs, for each starts with other settings: what lists leave open is the newest, as pip takes that.

Releases and what they need of libraries beside them are those of TRL's own sources by tag (``trl/trainer/*_config.py``, ``setup.cfg``,
``pyproject.toml``); that 0.29 and later need PyTorch 2.6 without saying so is in ``data/paired_releases.csv``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from types import MappingProxyType

from gpu_lol_action.analysis.dependencies.dependency_lists import declared_packages
from gpu_lol_action.analysis.files.checkout import Checkout, Source
from gpu_lol_action.analysis.package_lists.package_files import package_name
from gpu_lol_action.analysis.programs.gone_names import UNSLOTH, gone_names
from gpu_lol_action.domain.patterns import regex
from gpu_lol_action.estimation.read_requirements import read_requirement

Release = tuple[int, int]
COMPUTES_BF16: Release = (0, 19)
CHECKPOINTS: Release = (0, 22)
COLOCATES: Release = (1, 0)
"""From there on ``vllm_mode`` starts as ``colocate``, before as ``server``."""
CHUNKS: Release = (1, 6)
"""From there on ``SFTConfig.loss_type`` starts as ``chunked_nll``, which never holds all logits."""
_LOWER, _EXACT = frozenset({">=", ">"}), frozenset({"==", "===", "~="})
_NEEDS: Mapping[Release, Mapping[str, Release]] = MappingProxyType(
    {
        (0, 19): {"transformers": (4, 51), "accelerate": (1, 4), "datasets": (3, 0)},
        (0, 22): {"transformers": (4, 55)},
        (0, 29): {"torch": (2, 6)},
        (1, 0): {"transformers": (4, 56), "datasets": (4, 7)},
    }
)
_OF_UNSLOTH = ("<=", (0, 24))
"""What Unsloth needs itself (its ``pyproject.toml``)."""
_IN_TEXT = regex(r"(?<![\w-])trl(?:\[[\w, -]{0,40}\])?\s{0,5}((?:==|~=|<=|<|>=)\s{0,5}v?\d[\w.]{0,20})")
"""A notebook's ``!pip install trl==0.12.1``, a script's own list in its head."""


def is_since(checkout: Checkout, program: Source | None, first: Release) -> bool:
    """Whether the TRL that set-up installs for a program, or for its own command, is of this release or a later one.

    A release that a list names decides. Where the newest may come, it does, unless the program takes or gives what ended before, or
    a list keeps a library beside it below what such a release needs.
    """
    asked = list(_asked(checkout, program))
    if program is not None and program.code is not None and UNSLOTH in program.code.imported():
        asked.append(_OF_UNSLOTH)
    if not _reach(asked, first):
        return False
    if any(operator in _LOWER | _EXACT and release >= first for operator, release in asked):
        return True
    used = gone_names(program) if program is not None else ()
    if any(gone.package == "trl" and gone.until[:2] <= first for gone in used):
        return False
    needs = {name: least for release, each in _NEEDS.items() if release <= first for name, least in each.items()}
    return all(_reach(_listed(checkout, name), least) for name, least in needs.items())


def _asked(checkout: Checkout, program: Source | None) -> Iterator[tuple[str, Release]]:
    """Yield what is asked of TRL, by operator and release: what the program itself says, else lists."""
    said = _IN_TEXT.search(program.text) if program is not None else None
    if said is not None:
        yield from _parts(f"trl{said[1]}")
    else:
        yield from _listed(checkout, "trl")


def _listed(checkout: Checkout, name: str) -> Iterator[tuple[str, Release]]:
    for item in declared_packages(checkout):
        if not item.is_optional and package_name(item.requirement) == name:
            yield from _parts(item.requirement)


def _parts(requirement: str) -> Iterator[tuple[str, Release]]:
    read = read_requirement(requirement)
    for each in read.specifier if read is not None else ():
        numbers = [int(part) for part in each.version.lstrip("v").split(".")[:2] if part.isdigit()]
        if numbers:
            yield each.operator, (numbers[0], numbers[1] if len(numbers) > 1 else 0)


def _reach(asked: Iterable[tuple[str, Release]], first: Release) -> bool:
    """Whether what is asked for allows a release from ``first`` on."""
    return all(
        {"<": release > first, "!=": True}.get(operator, operator in _LOWER or release >= first)
        for operator, release in asked
    )
