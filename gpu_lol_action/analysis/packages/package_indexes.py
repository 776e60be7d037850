"""Other places of packages that a repository names: well-known pages of wheels are used, every other one is only said.

A place from a repository's text takes part in every installation: whoever owns it can offer any package under any name with a
higher version. So only places of a short list that comes with this program (``data/wheel_hosts.csv``) are ever set.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from urllib.parse import SplitResult, urlsplit

from gpu_lol_action.analysis.dependencies.dependency_lists import lists_of
from gpu_lol_action.analysis.files.checkout import Checkout
from gpu_lol_action.domain.finding import Confidence, Evidence, Finding
from gpu_lol_action.domain.patterns import regex
from gpu_lol_action.domain.records import record
from gpu_lol_action.domain.tables import table_rows
from gpu_lol_action.estimation.package_pairs import is_on_jax_page, is_on_old_jax_page

_VARIABLES = {"index": "PIP_EXTRA_INDEX_URL", "links": "PIP_FIND_LINKS"}
_MAX_PLACES = 6
_MAX_SAID = 3
_OF_JAX = "https://storage.googleapis.com/jax-releases/jax_cuda_releases.html"
_OF_OLD_JAX = "https://storage.googleapis.com/jax-releases/jax_releases.html"
_FRAMEWORK_HOST = "download.pytorch.org"


@record(frozen=True, slots=True)
class _Place:
    kind: str
    url: str
    evidence: Evidence


def index_findings(checkout: Checkout, required: Sequence[Finding] = ()) -> list[Finding]:
    """Return well-known pages of wheels that lists and commands name, as the variables that pip reads, and what is left out.

    The index of one PyTorch build is neither: the image that is chosen holds that build. JAX of before 0.4.30 has its builds for a
    GPU on a page of its own, whether or not the repository says so, and that of before 0.4.13 all of its builds.
    """
    lists = lists_of(checkout)
    places = [_Place(o.kind, o.value, o.evidence) for o in lists.options if o.kind in _VARIABLES]
    places += [_Place("links", _OF_JAX, item.evidence) for item in required if is_on_jax_page(item.value)]
    places += [_Place("links", _OF_OLD_JAX, item.evidence) for item in required if is_on_old_jax_page(item.value)]
    places += [
        _Place("index", url, Evidence(source.path)) for source, project in lists.projects for url in project.indexes
    ]
    found: list[Finding] = []
    for kind, variable in _VARIABLES.items():
        known = [place for place in places if place.kind == kind and _is_used(place.url)][:_MAX_PLACES]
        if known:
            urls = list(dict.fromkeys(place.url for place in known))
            why = f"packages are looked for at {', '.join(urls[:_MAX_SAID])} too"
            found.append(Finding(f"env.{variable}", " ".join(urls), why, Confidence.MEDIUM, known[0].evidence))
    return found + _left_out(places)


def _left_out(places: Sequence[_Place]) -> list[Finding]:
    """Return one sentence on the hosts that are not used; a person may set them."""
    hosts: dict[str, _Place] = {}
    for place in places:
        host = _strange_host(place.url)
        if host:
            hosts.setdefault(host, place)
    if not hosts:
        return []
    (first, *_) = hosts.values()
    shown = ", ".join(list(hosts)[:_MAX_SAID]) + (
        f" and {len(hosts) - _MAX_SAID} more" if len(hosts) > _MAX_SAID else ""
    )
    variable = _VARIABLES[first.kind]
    why = (
        f"`{first.evidence.path}` asks for packages from {shown}; places that are not well known are not used, because they could "
        f"replace any package: add it to `.gpu-lol.yaml` by hand (`env.{variable}`) if you trust it"
    )
    return [Finding("not_understood", "package index", why, Confidence.MEDIUM, first.evidence)]


def _is_used(url: str) -> bool:
    """Whether an address is a well-known page of wheels beside the framework's own index."""
    parts = _split(url)
    return parts is not None and is_well_known(url) and not _is_framework(parts)


def is_well_known(url: str) -> bool:
    """Whether an address lies in a folder of the list: by https, without password, port, detour, or a sign of a shell."""
    parts = _split(url)
    if parts is None or len(url) > 300 or not regex(r"https://[A-Za-z0-9_.:/+~-]+").fullmatch(url.replace("%2B", "+")):
        return False
    if "@" in parts.netloc or ":" in parts.netloc:
        return False
    folders = parts.path.removeprefix("/").rstrip("/").split("/")
    # `..` would leave the folder on a host that many share.
    if any(folder in {"", ".", ".."} for folder in folders[1:]) or folders[0] in {".", ".."}:
        return False
    return (parts.netloc.lower(), folders[0]) in _well_known() or (parts.netloc.lower(), "") in _well_known()


@functools.lru_cache(maxsize=1)
def _well_known() -> frozenset[tuple[str, str]]:
    """Return hosts with the folder that is meant; no folder: the whole host."""
    return frozenset((row["host"], row["folder"]) for row in table_rows("wheel_hosts.csv"))


def _is_framework(parts: SplitResult) -> bool:
    is_build = regex(r"(?:^|/)whl(?:/[\w.]+)*/?$|/torch_stable\.html$").search(parts.path)
    return parts.hostname == _FRAMEWORK_HOST and is_build is not None


def _strange_host(url: str) -> str:
    """Return the host of an address that is not used although it is one; empty for pip's usual index, folders and variables."""
    parts = _split(url)
    if parts is None or is_well_known(url) or parts.scheme not in {"http", "https", "ftp"}:
        return ""
    host = parts.hostname or ""
    if not regex(r"[a-z0-9.-]{1,253}").fullmatch(host):
        return "an address that cannot be shown"
    # pip looks at its usual index anyway: that is nothing to say. Nothing is trusted by this name.
    return "" if regex(r"pypi\.[a-z]+").fullmatch(host) else host


def _split(url: str) -> SplitResult | None:
    try:
        return urlsplit(url)
    except ValueError:
        return None
