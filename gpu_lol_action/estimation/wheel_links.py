"""One build of many where another is needed: links to wheels, and names for one CUDA.

A link (``https://…/flash_attn-2.5.7+cu122torch2.1-cp39-cp39-linux_x86_64.whl``) says for which
Python its file was built (PEP 427). On any other pip refuses it, and the whole installation ends there: the same version by its name
leaves pip to find a build that fits, or to make one. Builds for one CUDA under a name of their own (``dgl-cu110``) ended with it.
"""

from __future__ import annotations

from collections.abc import Iterable

from gpu_lol_action.domain.patterns import regex
from gpu_lol_action.estimation.wheel_ranges import Replaced, has_none, wheel_range

_LINK = regex(
    r"(?:[\w.-]{1,100}\s{0,4}@\s{0,4})?https?://\S{1,400}/([A-Za-z0-9][\w.]{0,99})-(\d[\w.!+%]{0,99})-(?:\d\w{0,20}-)?cp3(\d{1,2})-([\w.]{1,40})-([\w.]{1,80})\.whl(?:#\S{0,200})?"
)


def fitting_link(requirement: str, python: str, published: Iterable[str]) -> Replaced | None:
    """Return the same version by its name for a link to a build for another Python; None where the link fits, or only the link has it.

    ``published`` are the names that an index is known to have.
    """
    found = _LINK.fullmatch(requirement) if ".whl" in requirement else None
    # What is built for the stable interface (`abi3`) runs on later Pythons as well.
    if found is None or f"3.{found[3]}" == python or "abi3" in found[4]:
        return None
    from packaging.version import InvalidVersion, Version

    name = regex(r"[-_.]+").sub("-", found[1]).lower()
    try:
        version = Version(found[2].replace("%2B", "+").replace("%2b", "+"))
    except InvalidVersion:
        return None
    if name not in published or version.is_devrelease:
        return None
    file = requirement.partition("#")[0].rpartition("/")[2]
    return Replaced(file, f"{name}=={version.public}", version.public, is_older=False)


_OF_ONE_CUDA = regex(r"([A-Za-z][\w.-]{0,60}?)-cu(?:1\d{1,2}|9\d)(?:\s{0,4}[=<>!~][^;@]{0,60})?")


def of_any_cuda(requirement: str, python: str, published: Iterable[str]) -> Replaced | None:
    """Return a package itself for its builds for one CUDA that ended before this Python (``dgl-cu110``); None where there are some.

    The newest of those names are on an index of their own and in no table: what is not known stays as it is.
    """
    found = _OF_ONE_CUDA.fullmatch(requirement)
    name = regex(r"[-_.]+").sub("-", found[1]).lower() if found is not None else ""
    if not name or not has_none(requirement, python) or name not in published or wheel_range(name, python) is None:
        return None
    return Replaced(requirement, name, name, is_older=False)


def names_by_link(requirements: Iterable[str], python: str) -> frozenset[str]:
    """Return the names of what is linked for another Python than this one, which pip may have to build."""
    found = (_LINK.fullmatch(text) for text in requirements if ".whl" in text)
    return frozenset(regex(r"[-_.]+").sub("-", m[1]).lower() for m in found if m is not None and f"3.{m[3]}" != python)
