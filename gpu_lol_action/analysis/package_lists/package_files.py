"""One dependency as pip takes it, and requirements files: includes, constraints, options, markers, hashes, line continuations."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import field, replace

from gpu_lol_action.analysis.files.checkout import Source
from gpu_lol_action.analysis.formats.import_names import is_part_of_python
from gpu_lol_action.domain.finding import Evidence
from gpu_lol_action.domain.patterns import regex
from gpu_lol_action.domain.records import record
from gpu_lol_action.estimation.read_requirements import read_requirement

MAX_LENGTH = 300
MAX_LINES = 3000
MAX_DECLARED = 1000
"""Of one file: names of lists repeat what stands there once, so that a short program could name millions."""

_OPTION = regex(r"\s*(-r|--requirement|-c|--constraint|-i|--index-url|--extra-index-url|-f|--find-links|-e|--editable)"
                     r"(?:[ =]\s*|(?=[^\s-]))(\S+)")  # fmt: skip
_GOES_ON = regex(r"[\w-]")
_BUILT_BY_CONDA = regex(r"^([\w.-]+)\s*@\s*file:\S+$")
# A template's place for a version (`kedro~={{ cookiecutter.kedro_version }}`): the package is meant in any.
_TEMPLATED = regex(r"\s*(?:[=~<>!]=|[<>])=?\s*\{\{[^{}]{0,80}\}\}")
# The package index takes no local versions (PEP 440): only a page of wheels, or a machine, has that very build.
_PINNED_BUILD = regex(r"(==\s*[\w.]+)\+(?!rocm|xpu)[\w.]+")
# A build for another machine than Linux (x86-64), or for Python 2.
_FOREIGN_WHEEL = regex(
    r"-(?:win32|win_(?:amd64|arm64)|macosx_\w{1,40}|(?:many|musl)?linux[\w.]{0,60}_(?:armv\w{1,4}|aarch64|ppc64le|s390x))\.whl(?:[#?\[]|$)"
    r"|-cp2\d-[\w.]{1,60}-[\w.]{1,60}\.whl(?:[#?\[]|$)"
)
# A wheel that was copied beside, which nobody else has: the version that it holds is meant.
_WHEEL_FILE = regex(
    r"([A-Za-z0-9][\w.]{0,80})-(\d[\w.]{0,30})(?:\+[\w.]{1,40})?-[\w.]{1,20}-[\w.]{1,20}-[\w.]{1,60}\.whl(\[[\w,-]{1,80}\])?"
)
# GitHub ended its unencrypted protocol in 2022; its login by a key is nobody else's, and a mirror's name before it may be gone.
_ENDED = regex(
    r"^((?:[\w.\[\],-]{1,80}\s*@\s*)?)git\+(?:git://|ssh://git@|https://[\w.-]{1,60}/https://)(github\.com/)"
)
# `git+https://host/owner/name[extra]`, which pip takes for a part of the name.
_EXTRAS_BEHIND = regex(r"(git\+https://[^\s\[\]]{1,200}/([\w.-]{1,80}?)(?:\.git)?)\[([\w,.-]{1,100})\]")
# What is only built for macOS, Windows, or other makers' cards: pip finds none for Linux, or one that is of no use.
_FOR_OTHERS = regex(
    r"tensorflow-(?:macos|metal|deps|intel|directml(?:-plugin)?)|jax-metal|torch-(?:npu|directml)|pywin32|pypiwin32|pywinpty|pyobjc(?:-[\w-]{1,60})?|wmi"
)
# Options behind a requirement, also those that pip takes on its command line only (`flash-attn --no-build-isolation`).
# A framework's build for one Python, of which the index has that version for all.
_FRAMEWORK_WHEEL = regex(r"(?:[\w.-]{1,40}\s{0,3}@\s{0,3}(?=https?://download\.pytorch\.org/))?https?://(?![^\s#]{1,200}/nightly/)[^\s#]{1,300}/(torch(?:vision|audio|text)?)-(\d[\d.]{0,20})(?:(?:\+|%2B)[\w.]{1,40})?-cp\d[\w.-]{1,90}\.whl", re.IGNORECASE)  # fmt: skip
_SWITCHES = regex(r"\s+(?:--[a-z][a-z-]{2,40}(?![\w-])|-[fi]\s).*")


@record(frozen=True, slots=True)
class Declared:
    """One dependency as pip takes it.

    ``is_optional``: an extra, a group, a development list. ``is_library``: its project is installable. ``group`` names the
    extra or group it stands in.
    """

    requirement: str
    evidence: Evidence
    is_optional: bool = False
    is_library: bool = False
    group: str = ""


@record(frozen=True, slots=True)
class Option:
    """An option of pip in a list, or a local project it installs: ``kind`` is index, links, constraint, include or local."""

    kind: str
    value: str
    evidence: Evidence


@record(frozen=True, slots=True)
class RequirementsFile:
    """A requirements file: its own lines, and what its options say."""

    own: tuple[Declared, ...]
    options: tuple[Option, ...] = field(default=())

    def values(self, kind: str) -> tuple[str, ...]:
        """Return the values of one kind of option, in their order."""
        return tuple(option.value for option in self.options if option.kind == kind)


def clean_requirement(text: str) -> str | None:
    """Return one requirement as pip takes it, without comment and options; None where it is none.

    A pinned build (``2.1.0+cu118``) loses its local part: only the framework's own index has it, and the image holds that
    build already (PEP 440: ``==2.1.0`` accepts it).
    """
    bare = regex(r"(?:^|\s)#").split(text.strip()[: MAX_LENGTH * 2], maxsplit=1)[0].strip().rstrip(",\\").strip()
    bare = regex(r"^([\"'])(.*)\1$").sub(r"\2", bare)
    bare = _TEMPLATED.sub("", _SWITCHES.sub("", bare)).strip()
    bare = _ENDED.sub(r"\1git+https://\2", regex(r"^(?:-e|--editable)[ =]\s*").sub("", bare))
    if not bare or bare.startswith("-") or len(bare) > MAX_LENGTH or not bare.isprintable():
        return None
    if (wheel := _FRAMEWORK_WHEEL.fullmatch(bare.partition("#")[0])) is not None and not _FOREIGN_WHEEL.search(bare):
        return f"{wheel[1].lower()}=={wheel[2]}"
    if regex(r"(?:git\+|hg\+|https?://)").match(bare):
        # A bare address is an archive; any other is a page, an index, or something else to read.
        if _FOREIGN_WHEEL.search(bare):
            return None
        bare = _EXTRAS_BEHIND.sub(r"\2[\3] @ \1", bare) if bare.endswith("]") else bare
        if " @ " in bare:
            return bare
        is_code = bare.startswith(("git+", "hg+")) or regex(r"\.(?:whl|zip|tar\.\w+|tgz)(?:[#?]|$)|/archive/").search(
            bare
        )
        return _named_directly(bare) if is_code and regex(r"[\w.+:/@#=&%~?,\[\]-]+").fullmatch(bare) else None
    # `pip freeze` in a conda environment writes where the package was built: nobody else has that folder.
    bare = _BUILT_BY_CONDA.sub(r"\1", bare)
    if regex(r"[./~]|file:|\w:\\").match(bare):
        return None
    if found := _WHEEL_FILE.fullmatch(bare):
        bare = "" if _FOREIGN_WHEEL.search(bare) else f"{found[1]}{found[3] or ''}=={found[2]}"
    bare = _PINNED_BUILD.sub(r"\1", bare)
    read = read_requirement(bare)
    if read is None:
        return None
    if is_part_of_python(bare):
        return None  # `pickle` in a list of imports: no index has it
    if _FOR_OTHERS.fullmatch(package_name(bare)):
        return None
    return None if read.url and not regex(r"(?:git\+)?https?://").match(read.url) else bare


def _named_directly(address: str) -> str:
    """Return an address with its name as PEP 508 writes it (``name @ address``), so that the same package elsewhere is no second one.

    The name is that of its ``#egg=``, which pip gives up, or of a wheel (PEP 427: what stands before the version).
    """
    bare, _, fragment = address.partition("#")
    parts = dict(part.partition("=")[::2] for part in fragment.split("&"))
    name = parts.pop("egg", "") or _name_of_wheel(bare)
    if not regex(r"[A-Za-z0-9][\w.-]*(?:\[[\w,.-]+\])?").fullmatch(name):
        return address
    rest = "&".join(f"{key}={value}" for key, value in parts.items() if value)
    return f"{name} @ {bare}{'#' if rest else ''}{rest}"


def _name_of_wheel(address: str) -> str:
    name, dash, rest = address.partition("?")[0].rpartition("/")[2].partition("-")
    return name if dash and rest.endswith(".whl") and rest.count("-") in (3, 4) else ""


def package_name(requirement: str) -> str:
    """Return the normalized name of a requirement; for a URL its repository's name."""
    if regex(r"(?:git\+|hg\+|https?://)").match(requirement):
        egg = regex(r"[#&]egg=([\w.-]+)").search(requirement)
        wheel = regex(r"/([A-Za-z0-9_.]+)-\d[^/]*\.(?:whl|tar\.gz|zip)").search(requirement)
        named = egg or wheel or regex(r"/([\w.-]+)/(?:archive|tarball|zipball)/").search(requirement)
        tail = (
            named[1]
            if named
            else regex(r"(?:\.git)?(?:[@#?].*)?$").sub("", requirement.split("://", 1)[-1]).rsplit("/", 1)[-1]
        )
        return regex(r"[-_.]+").sub("-", tail).lower()
    found = regex(r"[A-Za-z0-9][\w.-]*").match(requirement)
    return regex(r"[-_.]+").sub("-", found[0]).lower() if found else ""


def applies(requirement: str, python: str, extra: str = "") -> bool:
    """Whether a requirement's marker holds on Linux (x86-64) with that Python; true where it has none."""
    if ";" not in requirement:
        return True
    read = read_requirement(requirement)
    if read is None:
        return True
    marker = read.marker
    minor = ".".join(python.split(".")[:2])
    full = python if python.count(".") > 1 else f"{python}.0"
    machine = {
        "os_name": "posix", "sys_platform": "linux", "platform_system": "Linux", "platform_machine": "x86_64",
        "implementation_name": "cpython", "platform_python_implementation": "CPython", "platform_release": "",
        "platform_version": "", "implementation_version": full, "python_version": minor, "python_full_version": full,
        "extra": extra,
    }  # fmt: skip
    try:
        return marker is None or marker.evaluate(machine)
    except (ValueError, KeyError):  # a name that no standard knows: pip would stop at it, its other lines still count
        return True


def read_requirements(source: Source, *, is_optional: bool) -> RequirementsFile:
    """Read a requirements file: its lines in order, its options beside them."""
    own: list[Declared] = []
    options: list[Option] = []
    for number, line in joined_lines(source.text):
        where = Evidence(source.path, number)
        option = _option(line, where)
        if option is not None:
            options.append(option)
            continue
        requirement = clean_requirement(line)
        if requirement and len(own) < MAX_DECLARED:
            own.append(Declared(requirement, where, is_optional))
    return RequirementsFile(tuple(own), tuple(options))


def joined_lines(text: str) -> Iterator[tuple[int, str]]:
    """Yield lines with what a backslash continues, under the number of the first; a comment ends none, and is no part of one."""
    pending, start = "", 0
    for number, line in enumerate(text.split("\n")[:MAX_LINES], 1):
        if pending and line.lstrip().startswith("#"):
            continue  # between the lines of a step of an image
        start = start if pending else number
        whole = f"{pending} {line.strip()}" if pending else line
        if line.rstrip().endswith("\\") and not line.lstrip().startswith("#"):
            pending = whole.rstrip()[:-1].rstrip()[: MAX_LENGTH * 4] or " "
            continue
        pending = ""
        yield start, whole[: MAX_LENGTH * 4]
    if pending.strip():
        yield start, pending


def placed(source: Source, text: str, group: str, *, is_library: bool) -> Declared:
    """Return a dependency with the line of its file that names it first; a group makes it optional."""
    requirement = clean_requirement(text) or text
    needle = regex(r"[\[<>=!~; ]").split(requirement)[0]
    return Declared(requirement, Evidence(source.path, _line_of(source.text, needle)), bool(group), is_library, group)


def _line_of(text: str, name: str) -> int:
    """Return the first line on which a name stands by itself, 0 for none: it also stands in comments, addresses and other names."""
    place = text.find(name)
    start = seen = 0
    is_comment = False
    while place >= 0:
        line_feed = text.rfind("\n", seen, place)
        if line_feed >= 0:
            start = seen = line_feed + 1
            is_comment = False
        is_comment = is_comment or text.find("#", seen, place) >= 0
        seen = place
        is_begun = place == start or text[place - 1] in "\"'" or text[place - 1].isspace()
        if is_begun and not is_comment and _GOES_ON.match(text, place + len(name)) is None:
            return text.count("\n", 0, place) + 1
        place = text.find(name, place + 1)
    return 0


def unique(items: Iterable[Declared]) -> tuple[Declared, ...]:
    """Return one entry per package: a required one before an optional one, one with a version before a bare one."""
    chosen: dict[str, Declared] = {}
    for item in items:
        name = package_name(item.requirement)
        old = chosen.get(name)
        if old is None or (old.is_optional and not item.is_optional):
            chosen[name] = item
        elif (
            old.is_optional == item.is_optional
            and _is_bare(old.requirement)
            and not _is_bare(item.requirement)
            and (not item.is_optional or "://" not in item.requirement)
        ):
            chosen[name] = replace(item, is_library=old.is_library)
    return tuple(chosen.values())


def _is_bare(requirement: str) -> bool:
    return regex(r"[\w.-]+").fullmatch(requirement) is not None


def _option(line: str, where: Evidence) -> Option | None:
    """Return what an option line says; a local path counts as one. None for a requirement."""
    found = _OPTION.match(line[:500])
    if found is None:
        bare = regex(r"\s+#.*").sub("", line).strip().strip("\"'")
        is_path = regex(
            r"(?:\.{1,2}|\.{1,2}/[\w./-]*|file:\.{0,2}[\w./-]*|(?:[\w-]+/)+[\w-]+)(?:\[[\w,.-]+\])?"
        ).fullmatch(bare)
        return Option("local", bare.removeprefix("file:"), where) if is_path else None
    name, value = found[1].lstrip("-"), found[2].strip("\"'")
    if name in {"e", "editable"}:
        is_url = regex(r"(?:git|hg)\+|https?://").match(value)
        return None if is_url else Option("local", value.removeprefix("file:"), where)
    kinds = {"r": "include", "requirement": "include", "c": "constraint", "constraint": "constraint", "f": "links",
             "find-links": "links"}  # fmt: skip
    return Option(kinds.get(name, "index"), value, where)
