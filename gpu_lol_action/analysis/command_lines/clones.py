"""In which clone of another repository a command is started: a text clones it, goes there, and takes one of its versions.

Folders are only followed by name: where a text begins is not known, and neither is what a variable before them stands for.
"""

from __future__ import annotations

import posixpath
from dataclasses import field

from gpu_lol_action.analysis.command_lines.command_words import command_of, split_words
from gpu_lol_action.domain.patterns import regex
from gpu_lol_action.domain.records import record

MAX_CLONES = 40
MAX_PATH = 300
_CLONE = regex(r"git\s{1,3}clone\s{1,3}(.{1,400})")
_CHECKOUT = regex(
    r"git\s{1,3}(?:checkout|switch|reset\s{1,3}--hard)\s{1,3}(?:--detach\s{1,3})?(?:tags/|origin/)?(\S{1,80})\s*$"
)
_MOVES = regex(r"(?:builtin\s{1,3})?(?:cd|pushd|WORKDIR)\s{1,3}(?:--\s{1,3})?[\"']?([\w./+${}~<>-]{1,200})[\"']?\s*$")
_ADDRESS = regex(r"(?:https?|git)://([\w.-]{1,80}(?:/[\w.-]{1,80}){2,4}?)(?:\.git)?/?")
_BY_KEY = regex(r"(?:ssh://)?git@([\w.-]{1,80})[:/]([\w./-]{1,200}?)(?:\.git)?/?")
_REF = regex(r"[A-Za-z0-9][\w.-]{0,60}(?:/[\w.-]{1,60}){0,3}")
_WITH_VALUE = frozenset(
    {"--depth", "-j", "--jobs", "-c", "--config", "-o", "--origin", "--filter", "--reference", "-u"}
)
_BRANCH = ("-b", "--branch")


@record(slots=True)
class Clones:
    """What a text has cloned so far, where it is, and which clones it has installed."""

    addresses: dict[str, str] = field(default_factory=dict)
    versions: dict[str, str] = field(default_factory=dict)
    installed: set[str] = field(default_factory=set)
    latest: str = ""
    folder: str = ""
    home: str = ""

    def read(self, text: str) -> None:
        """Follow one part of a line: a clone, a step into a folder, or a version that is taken there."""
        text = command_of(text)
        if "cd" in text or "WORKDIR" in text or "pushd" in text:
            if (found := _MOVES.match(text)) is not None:
                self.folder = posixpath.normpath(posixpath.join(self.folder, found[1]))[:MAX_PATH]
                self.latest = ""
                self.home = self.folder if text.startswith("WORKDIR") else self.home
        elif text in {"popd", "cd"}:
            self.folder = ""
        elif "git" in text and (told := _CLONE.match(text)) is not None and len(self.addresses) < MAX_CLONES:
            self._clone(split_words(told[1]))
        elif "git" in text and (taken := _CHECKOUT.match(text)) is not None:
            name, _ = self._place("")
            if name and _REF.fullmatch(taken[1]):
                self.versions[name] = taken[1]

    def _clone(self, words: list[str]) -> None:
        places: list[str] = []
        version, index = "", 0
        while index < len(words) and len(places) < 2:
            word, _, value = words[index].partition("=") if words[index].startswith("--") else (words[index], "", "")
            if word in _BRANCH:
                version = value or (words[index + 1] if index + 1 < len(words) else "")
            index += 2 if word in {*_WITH_VALUE, *_BRANCH} and not value else 1
            if word.startswith("#"):
                break
            places += [word] if not word.startswith("-") else []
        address = _address(places[0]) if places else ""
        name = posixpath.basename((places[1] if len(places) > 1 else address).rstrip("/")).removesuffix(".git")
        if address and name not in {"", ".", ".."}:
            self.addresses[name] = address
            self.installed.discard(name)
            self.latest = name
            if _REF.fullmatch(version):
                self.versions[name] = version

    def _place(self, path: str) -> tuple[str, str]:
        """Return the clone that a path from here leads into, and the folder in it; two empty texts for none."""
        parts = posixpath.normpath(posixpath.join(self.folder, path)).split("/") if self.addresses else []
        for place in range(len(parts) - 1, -1, -1):
            if parts[place] in self.addresses:
                return parts[place], "/".join(parts[place + 1 :])
        return "", ""

    def found(self, path: str) -> str:
        """Return what pip fetches instead of what lies at a path, which is installed now; empty where that is in no clone.

        What is installed right behind a clone is that, though the step into its folder was forgotten.
        """
        path = posixpath.normpath(regex(r"\[[\w,.-]+\]$").sub("", path))
        if self.latest and path == "." and not self._place("")[0]:
            self.folder = posixpath.join(self.folder, self.latest)
        self.installed.add(self._place(path)[0])
        return self.found_here(path)

    def found_here(self, path: str = "") -> str:
        """Return what pip fetches instead of the folder at hand; empty outside of a clone."""
        name, inside = self._place(path)
        if not name:
            return ""
        version = f"@{self.versions[name]}" if name in self.versions else ""
        return f"git+{self.addresses[name]}{version}" + (f"#subdirectory={inside}" if inside else "")

    def turn(self, *, is_new_shell: bool) -> None:
        """Begin another block: an image's steps start where they always do, and a reader is done with a clone that is installed."""
        name, _ = self._place("")
        self.latest = ""
        if is_new_shell:
            self.folder = self.home
        elif name in self.installed or not name:
            self.folder = ""


def _address(text: str) -> str:
    """Return a repository's address as pip takes it; empty for any other place."""
    if (found := _ADDRESS.fullmatch(text)) is not None:
        return f"https://{found[1].removesuffix('.git')}.git"
    keyed = _BY_KEY.fullmatch(text)
    return f"https://{keyed[1]}/{keyed[2].removesuffix('.git')}.git" if keyed is not None and "/" in keyed[2] else ""
