"""Which release of TRL runs, for each starts with other settings: what lists leave open is the newest, as pip takes that.

Releases and what they need of libraries beside them are those of TRL's own sources by tag (``trl/trainer/*_config.py``, ``setup.cfg``,
``pyproject.toml``); that 0.29 and later need PyTorch 2.6 without saying so is in ``data/paired_releases.csv``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType

from gpu_lol_action.analysis.dependencies.dependency_lists import declared_packages, lists_of
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
CHUNKS: Release = (1, 7)
"""From there on ``SFTConfig.loss_type`` starts as ``chunked_nll``, which never holds all logits."""
_NEEDS: Mapping[Release, Mapping[str, Release]] = MappingProxyType(
    {
        (0, 19): {"transformers": (4, 51), "accelerate": (1, 4), "datasets": (3, 0)},
        (0, 22): {"transformers": (4, 55)},
        (0, 29): {"torch": (2, 6)},
        (1, 0): {"transformers": (4, 56), "datasets": (4, 7)},
    }
)
_IN_TEXT = regex(
    r"[\"']trl(?:\[[\w, -]{0,40}\])?\s{0,5}((?:(?:==|~=|<=|<|>=)\s{0,5}v?\d[\w.*]{0,20}\s{0,2},?\s{0,2}){1,4})[\"';]"
)
"""A script's own list in its head."""
_TAGGED = regex(r"@v?(\d{1,2})\.(\d{1,3})")
Bounds = tuple[Release, Release]
"""The least release that is asked for, and the first that is not."""
_ANY: Bounds = ((0, 0), (1000, 0))
_OF_UNSLOTH: Bounds = ((0, 18), (0, 25))
"""What Unsloth needs itself (its ``pyproject.toml``)."""


def is_since(checkout: Checkout, program: Source | None, first: Release) -> bool:
    """Whether the TRL that set-up installs for a program, or for its own command, is of this release or a later one.

    A release that a list names decides. Where the newest may come, it does, unless the program takes or gives what ended before, or
    a list keeps a library beside it below what such a release needs.
    """
    asked = _bounds_of(checkout, program)
    if not _reach(asked, first):
        return False
    if _names(asked, first):
        return True
    used = gone_names(program) if program is not None else ()
    if any(gone.package == "trl" and gone.until[:2] <= first for gone in used):
        return False
    needs = {name: least for release, each in _NEEDS.items() if release <= first for name, least in each.items()}
    return all(_reach(_listed(checkout, name), least) for name, least in needs.items())


def is_named(checkout: Checkout, program: Source | None, first: Release) -> bool:
    """Whether a list asks for no older release than this: else it is the newest that may be installed, which pip can go back from."""
    return _names(_bounds_of(checkout, program), first)


def _bounds_of(checkout: Checkout, program: Source | None) -> list[Bounds]:
    is_unsloths = program is not None and program.code is not None and UNSLOTH in program.code.imported()
    return [*_asked(checkout, program), *((_OF_UNSLOTH,) if is_unsloths else ())]


def _names(asked: Iterable[Bounds], first: Release) -> bool:
    return any(least >= first for least, _ in asked)


def _asked(checkout: Checkout, program: Source | None) -> Iterator[Bounds]:
    """Yield what is asked of TRL: by lists, also of an extra, else by what the program itself installs."""
    listed = [*_listed(checkout, "trl")] or [*_installed(checkout)] or [*_listed(checkout, "trl", is_optional=True)]
    said = _IN_TEXT.search(program.text) if program is not None and not listed else None
    yield from _bounds(f"trl{said[1].strip().rstrip(',')}") if said is not None else listed


def _listed(checkout: Checkout, name: str, *, is_optional: bool = False) -> Iterator[Bounds]:
    for item in declared_packages(checkout):
        if item.is_optional is is_optional and package_name(item.requirement) == name:
            yield from _bounds(item.requirement)


def _installed(checkout: Checkout) -> Iterator[Bounds]:
    """Yield what commands that install say of it: a notebook's, a document's."""
    for command in lists_of(checkout).commands:
        for item in command.declared:
            if package_name(item.requirement) == "trl":
                yield from _bounds(item.requirement)


def _bounds(requirement: str) -> Iterator[Bounds]:
    """Yield each bound of a requirement; of an address the release that its tag names."""
    tagged = _TAGGED.search(requirement)
    if tagged is not None and "://" in requirement:
        release = int(tagged[1]), int(tagged[2])
        yield release, (release[0], release[1] + 1)
        return
    read = read_requirement(requirement)
    for each in read.specifier if read is not None else ():
        numbers = [int(part) for part in each.version.lstrip("v").split(".") if part.isdigit()]
        if numbers:
            yield _bound(each.operator, numbers, is_open=each.version.endswith(".*") or each.operator == "~=")


def _bound(operator: str, numbers: Sequence[int], *, is_open: bool) -> Bounds:
    """Return what an operator means, in whole releases of two numbers (``~=0.15`` is 0.15 to 0.99, ``==1.*`` all of 1)."""
    release = (numbers[0], numbers[1] if len(numbers) > 1 else 0)
    following = (release[0], release[1] + 1)
    if operator in {">=", ">"}:
        return release, _ANY[1]
    if operator == "<":
        return _ANY[0], following if any(numbers[2:]) else release
    if operator == "<=":
        return _ANY[0], following
    if operator == "!=":
        return _ANY
    is_of_major = is_open and len(numbers) <= (2 if operator == "~=" else 1)
    return release, (release[0] + 1, 0) if is_of_major else following


def _reach(asked: Iterable[Bounds], first: Release) -> bool:
    """Whether what is asked for allows a release from ``first`` on."""
    return all(end > first for _, end in asked)
