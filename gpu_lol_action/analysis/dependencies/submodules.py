"""Projects that are installed from a submodule: its files are not in the checkout, but ``.gitmodules`` says where they come from.

``pip install submodules/rasterizer`` means another repository, which pip fetches by its address as well.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType

from gpu_lol_action.analysis.dependencies.cloned_projects import named_address
from gpu_lol_action.analysis.dependencies.install_commands import InstallCommand
from gpu_lol_action.analysis.files.checkout import Checkout
from gpu_lol_action.analysis.files.effort import remembered
from gpu_lol_action.analysis.formats.paths import joined
from gpu_lol_action.analysis.package_lists.package_files import Declared, Option
from gpu_lol_action.domain.patterns import regex

MAX_SUBMODULES = 40
MAX_TEXT = 20_000
_SECTION = regex(r"(?m)^\[submodule [^\]\n]{1,200}\][ \t]*$")
_KEY = regex(r"(?m)^[ \t]*(path|url|branch)[ \t]*=[ \t]*(\S{1,300})[ \t]*$")
_BY_KEY = regex(r"(?:ssh://)?git@([\w.-]{1,80})[:/]")
_ADDRESS = regex(r"https://[\w.-]{1,80}(?:/[\w.-]{1,80}){2,6}")


def submodule_requirements(
    checkout: Checkout, options: Sequence[Option], commands: Sequence[InstallCommand]
) -> Iterator[Declared]:
    """Yield the repositories of submodules that lists and commands install from their folders."""
    known = _addresses(checkout)
    folders = {id(option): command.folder for command in commands for option in command.options}
    for option in options if known else ():
        if option.kind != "local":
            continue
        beside = option.evidence.path.rpartition("/")[0]
        path = regex(r"\[[\w,.-]+\]$").sub("", option.value)
        bases = dict.fromkeys((joined(beside, folders.get(id(option), "")), folders.get(id(option), ""), beside, ""))
        address = next((known[place] for base in bases if (place := joined(base, path)) in known), None)
        if address is not None:
            yield Declared(named_address(address), option.evidence)


@remembered
def _addresses(checkout: Checkout) -> Mapping[str, str]:
    """Return the folders of submodules, each with what pip fetches instead: their files are in no archive of the checkout."""
    source = checkout.find(".gitmodules")
    found: dict[str, str] = {}
    for section in _SECTION.split(source.text[:MAX_TEXT])[1 : MAX_SUBMODULES + 1] if source is not None else ():
        keys = dict(_KEY.findall(section))
        path = keys.get("path", "").strip('"').strip("/")
        address = _BY_KEY.sub(r"https://\1/", keys.get("url", "").strip('"')).removesuffix("/")
        if path and _ADDRESS.fullmatch(address):
            branch = keys.get("branch", "")
            end = f"@{branch}" if regex(r"[\w.-][\w./-]{0,60}").fullmatch(branch) and branch != "." else ""
            found[path] = f"git+{address}{end}"
    return MappingProxyType(found)
