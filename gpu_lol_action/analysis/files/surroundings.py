"""What a project in a folder takes of the repository around it: libraries, modules above it, and a list where it has none of its own.

All has its path from the folder (``../../libs/core/setup.py``). What a library's programs say counts where something of the project
imports them; nothing of what lies outside is started, and nothing else of it is looked at.
"""

from __future__ import annotations

import posixpath
import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from gpu_lol_action.analysis.files.checkout import Checkout, Source
from gpu_lol_action.analysis.files.effort import remembered
from gpu_lol_action.analysis.files.project_homes import PROJECT_FILES, Home, homes_of, nearest_home
from gpu_lol_action.analysis.formats.gpu_libraries import BROUGHT, GPU_MODULES
from gpu_lol_action.analysis.formats.import_names import is_known, is_standard, package_of
from gpu_lol_action.analysis.formats.paths import Form, Role, folders_above
from gpu_lol_action.analysis.python.code import read_python
from gpu_lol_action.domain.patterns import regex

MAX_TAKEN = 2000
"""Files outside of the folder that are looked at."""
MAX_TEXT = 60_000  # characters of a list that are looked through
_LIBRARIES = GPU_MODULES | {name.partition(".")[0] for name in BROUGHT}
_PROGRAMS = frozenset({Form.PYTHON, Form.NOTEBOOK})
_NAME = regex(r"""(?m)(?:^\s{0,8}|[(,]\s{0,4})name\s{0,4}=\s{0,4}["']([\w.-]{1,80})["']""")
_BARE_NAME = regex(r"(?m)^name\s{0,4}=\s{0,4}([\w.-]{1,80})")
_UP = regex(r"(?<![\w./-])\.\.(?:/[\w.-]{1,80}){0,12}")
_SEPARATORS = re.compile(r"[-_.]+")


def around(checkout: Checkout, folder: str) -> tuple[Source, ...]:
    """Return the files outside of a folder that the project in it is built on, with their paths from there."""
    taken = _taken(checkout, folder)
    every = {
        **{empty: base for source, (empty, base) in taken.empty.items() if source not in taken.found},
        **taken.found,
    }
    return tuple(
        replace(each, path=_path_from(folder, each.path, base), role=_role(each)) for each, base in every.items()
    )


def built_on(checkout: Checkout, folder: str) -> tuple[Source, ...]:
    """Return the same files, those of libraries that everybody knows aside, with the paths that they have in the checkout."""
    return tuple(replace(source, role=_role(source)) for source in _taken(checkout, folder).found)


def _path_from(folder: str, path: str, base: str) -> str:
    """Return a path from a folder by way of the one below which the file is imported: the folder may lie in the package itself."""
    return posixpath.join(posixpath.relpath(base or ".", folder), posixpath.relpath(path, base or "."))


def is_built_on(checkout: Checkout, folder: str, changed: Iterable[str]) -> bool:
    """Whether the project in a folder takes something of files that a change touches outside of it."""
    taken = _taken(checkout, folder)
    places = {*taken.places, *(source.path for source in taken.found)}
    return any(path in places or not places.isdisjoint(folders_above(path)) for path in changed)


@remembered
def _taken(checkout: Checkout, folder: str) -> _Taken:
    taken = _Taken(checkout, folder)
    taken.follow()
    taken.follow_lists()
    return taken


def is_outside(path: str) -> bool:
    """Whether a path leads out of the folder that a checkout is of a larger one."""
    return path == ".." or path.startswith("../")


def _role(source: Source) -> Role:
    """Return what a file outside may speak for: what is to be installed, never what is started."""
    return source.role if source.role is Role.PACKAGES else Role.ASIDE


class _Taken:
    """The files that are taken so far, each once, and the programs whose imports are still to be looked at."""

    def __init__(self, checkout: Checkout, folder: str) -> None:
        self.checkout, self.folder, self.start = checkout, folder, f"{folder}/"
        self.found: dict[Source, str] = {}
        """Each file with the folder below which it is imported, or its own where it is a list."""
        self.empty: dict[Source, tuple[Source, str]] = {}
        self.places: set[str] = set()
        self.homes = homes_of(checkout, with_root=True)
        self.lists: dict[str, list[Source]] = {}
        for source in checkout.sources:
            if source.role is Role.PACKAGES:
                self.lists.setdefault(source.folder, []).append(source)
        self.programs = {source.path: source for source in checkout.sources if source.form in _PROGRAMS}
        self.paths = sorted(self.programs)
        self.above = self._modules_above()
        self.names = frozenset({*self.homes, *self.above}) - self._own_names()
        self.waiting = [s for s in checkout.sources if s.path.startswith(self.start) and s.form in _PROGRAMS]

    def follow(self) -> None:
        """Take what the programs import, and what that imports in turn."""
        for source in self.waiting:
            if source.code is None or not source.code.may_import_any(self.names):
                continue
            for item in source.code.imports:
                top = item.module.partition(".")[0]
                if top in self.names and not is_standard(top):
                    self._take_module(source, top)

    def follow_lists(self) -> None:
        """Take the projects that lists ask for, by a path or by their names, and the list above where there is none."""
        lists = [s for folder, inside in self.lists.items() if f"{folder}/".startswith(self.start) for s in inside]
        if not lists:
            lists = self._list_above()
            self._take(lists)
        named = {_plain(name): folder for folder, name in self._named_projects()}
        for source in lists:
            if len(self.found) >= MAX_TAKEN:
                break
            text = source.text[:MAX_TEXT]
            words = {_plain(word) for word in regex(r"[\w.-]{2,80}").findall(text)}
            folders = {named[name] for name in words & named.keys()}
            folders |= {posixpath.normpath(posixpath.join(source.folder, path)) for path in _UP.findall(text)}
            for place in sorted(folders):
                new = self._project("" if place == "." else place)
                lists += [each for each in new if each not in lists and each.role is Role.PACKAGES]
                self._take(new)

    def _take(self, sources: Sequence[Source], base: str | None = None) -> list[Source]:
        new = [source for source in sources if source not in self.found][: max(0, MAX_TAKEN - len(self.found))]
        self.found.update({source: source.folder if base is None else base for source in new})
        return new

    def _take_module(self, source: Source, top: str) -> None:
        home = self._home(source, top)
        place = f"{home.base}/{top}".lstrip("/") if home is not None else self.above.get(top, "")
        if home is not None:
            self._take(self._project(home.project))
        if place and (home is not None or not _is_known_by_name(top)):
            self.places.add(place)
        if not _is_known_by_name(top):
            self.waiting += self._take(self._programs(place), place.rpartition("/")[0]) if place else ()
        elif home is not None and (package := self.checkout.find(f"{place}/__init__.py")) is not None:
            # A library that everybody knows is known by its name: that it lies here is all that counts.
            self.empty.setdefault(package, (replace(package, content=b"", code=read_python("")), home.base))

    def _home(self, source: Source, top: str) -> Home | None:
        """Return the project outside that brings a package: one around the folder before any other."""
        outside = [home for home in self.homes.get(top, ()) if not f"{home.project}/".startswith(self.start)]
        above = [home for home in outside if not home.project or self.start.startswith(f"{home.project}/")]
        if _is_known_by_name(top):
            # One that is called as everybody's is that one where it is the project's own.
            above = [home for home in above if home.base != home.project or self._is_called(home.project, top)]
            return max(above, key=lambda home: len(home.project), default=None)
        return max(above, key=lambda home: len(home.project), default=None) or nearest_home(outside, source.folder)

    def _modules_above(self) -> Mapping[str, str]:
        """Return the modules and packages that lie beside the folder or above it by name, of several the nearest."""
        parts = self.folder.split("/")
        above = {"/".join(parts[:count]) for count in range(len(parts))}
        found: dict[str, str] = {}
        for source in self.checkout.sources:
            if source.form is not Form.PYTHON or source.code is None or source.path.startswith(self.start):
                continue
            base, _, name = source.path.rpartition("/")
            outer, _, inner = base.rpartition("/")
            is_package = bool(base) and outer in above and base not in above
            word, place = (inner, base) if is_package else (name.removesuffix(".py"), source.path)
            is_here = is_package or (base in above and name != "__init__.py")
            if is_here and place.count("/") >= found.get(word, "").count("/"):
                found[word] = place
        return found

    def _own_names(self) -> frozenset[str]:
        paths = [s.path.removeprefix(self.start) for s in self.checkout.sources if s.path.startswith(self.start)]
        return frozenset(word for path in paths if path.endswith(".py") for word in path.removesuffix(".py").split("/"))

    def _programs(self, place: str) -> list[Source]:
        inside = f"{place}/"
        found = [self.programs[path] for path in (place,) if path in self.programs]
        for path in self.paths[bisect_left(self.paths, inside) :]:
            if not path.startswith(inside):
                break
            found.append(self.programs[path])
        return found

    def _project(self, folder: str) -> list[Source]:
        """Return the lists of packages of a project outside: its own, and those that it may read them from."""
        if f"{folder}/".startswith(self.start) or not any(self._file(folder, name) for name in PROJECT_FILES):
            return []
        return self._lists_in(folder)

    def _lists_in(self, folder: str) -> list[Source]:
        return [*self.lists.get(folder, ()), *self.lists.get(f"{folder}/requirements".lstrip("/"), ())]

    def _file(self, folder: str, name: str) -> Source | None:
        return self.checkout.find(f"{folder}/{name}".lstrip("/"))

    def _is_called(self, folder: str, top: str) -> bool:
        """Whether a project is called after a package, or after what brings it; one that puts its name together may be."""
        files = (self._file(folder, name) for name in sorted(PROJECT_FILES))
        called = {_plain(name) for file in files if file is not None for name in _names_in(file)}
        return not called or not called.isdisjoint({_plain(top), _plain(package_of(top) or top)})

    def _named_projects(self) -> Iterator[tuple[str, str]]:
        for source in (each for inside in self.lists.values() for each in inside):
            if source.name in PROJECT_FILES and not source.path.startswith(self.start):
                yield from ((source.folder, name) for name in _names_in(source)[:1])

    def _list_above(self) -> list[Source]:
        """Return the lists of packages in the nearest folder above that has any."""
        parts = self.folder.split("/")
        for count in range(len(parts) - 1, -1, -1):
            if found := self._lists_in("/".join(parts[:count])):
                return found
        return []


def _is_known_by_name(top: str) -> bool:
    """Whether what a package needs is told by its name, or everybody's package has that name: its own code is not followed."""
    return is_known(top) or top in _LIBRARIES


def _names_in(source: Source) -> list[str]:
    return (_NAME if source.form is not Form.INI else _BARE_NAME).findall(source.text[:MAX_TEXT])


def _plain(name: str) -> str:
    return _SEPARATORS.sub("-", name).lower()
