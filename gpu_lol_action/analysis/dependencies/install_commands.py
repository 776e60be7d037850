"""Commands that install packages, where images, scripts, notebooks and documentation say them: pip, uv, conda."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from gpu_lol_action.analysis.command_lines.clones import Clones
from gpu_lol_action.analysis.command_lines.command_words import (
    command_of,
    ends_names,
    is_file,
    joined_switch,
    split_words,
)
from gpu_lol_action.analysis.command_lines.install_options import KINDS, WITH_VALUE, option_of
from gpu_lol_action.analysis.commands.moved_folders import moved
from gpu_lol_action.analysis.dependencies.install_prose import (
    command_of_item,
    grown_paragraph,
    is_introduced_as_optional,
    listed_versions,
    without_struck,
)
from gpu_lol_action.analysis.dependencies.listed_blocks import listed_blocks
from gpu_lol_action.analysis.files.checkout import Source
from gpu_lol_action.analysis.formats.paths import Form
from gpu_lol_action.analysis.formats.texts import is_fence
from gpu_lol_action.analysis.package_lists.conda_files import conda_parts, conda_requirement
from gpu_lol_action.analysis.package_lists.glued_names import is_published
from gpu_lol_action.analysis.package_lists.package_files import Declared, Option, clean_requirement, joined_lines
from gpu_lol_action.analysis.package_lists.synced_extras import told_extras
from gpu_lol_action.domain.finding import Evidence
from gpu_lol_action.domain.patterns import regex
from gpu_lol_action.domain.records import record

MAX_COMMANDS = 200
LEAST_OF_A_MENU = 3
_PIP = regex(
    r"(?:pip3?(?:\.\d+)?(?:\s+--?[a-z][\w-]*(?:=\S+)?)*\s+install|mim\s+install|uv\s+(?:pip\s+install|add)|pipenv\s+install|(?:poetry|pdm|rye)\s+add|pixi\s+add\s+--pypi)\s+(.+)"
)
# The project at hand, by the program that pip runs for it.
_SETUP = regex(
    r"(?:python[\d.]*\s+)?setup\.py(?:\s+[\w=-]{1,60}){0,4}?\s+(?:install|develop)(?=\s|$)(?!.{0,80}--(?:help|no_cuda_ext))"
)
# Tools that install the project at hand, with the extras and groups that they are told.
_SYNC = regex(r"(?:poetry\s+install|uv\s+sync|pdm\s+(?:install|sync))((?:\s+[^\s#]{1,200}){1,40})")
_CONDA = regex(r"(?:(?:conda|mamba|micromamba)\s+(?:install|create)|pixi\s+add(?!\s+--pypi))\s+(.+)")
# A `;` also stands before the marker of a requirement, and within quotes: one ends a command only where another begins.
_PARTS = regex(r"&&|\|\||\s\|\s|;(?=\s*(?:(?:pip3?|python[\d.]*|conda|uv|mamba|cd|git|apt|apt-get|then|fi|do|done|else|sudo|exec|if|export|source|echo|"
               r"mkdir|pushd|popd|rm|cp|mv|ln|curl|wget|tar|unzip|chmod|sed|cat|touch|ls|bash|sh|make|cmake|set|unset|eval|for|while|"
               r"torchrun|accelerate|deepspeed)(?:\s|;|$)))")  # fmt: skip
# A command in a command (`--prefix "$(python -c 'import sys; print(sys.prefix)')"`), whose signs end none.
_INNER = regex(r"\$\((?:[^()]|\([^()]{0,200}\)){1,300}\)")
_HEADING = regex(r"^#{1,6}\s+(.{1,200})")
_INLINE = regex(r"`([^`\n]{6,400})`")
_QUOTED = regex(r" {0,3}(?:> ?){1,3}")
# The reader of notebooks writes `#` before a magic, Databricks `# MAGIC `; one that its author commented out has a space after `#`.
_GOES_ON = regex(r"\\[ \t]*\n#!\s*")  # a notebook's command over several lines, each of them a remark (``notebooks``)
_MAGIC = regex(r"#(?:\s{2,}| MAGIC )?[!%]\s*(.+)")
# `-e name>=1.1`: no folder is called so.
_VERSIONED = regex(r"[A-Za-z][\w.-]{0,60}[<>=!~]=\d[\w.]{0,20}")
_LOCAL = regex(r"\.{1,2}(?:/[\w./-]*)?(?:\[[\w,.-]+\])?|(?:[\w-]+/)+[\w.-]*(?:\[[\w,.-]+\])?")
_REQUIREMENT = regex(r"(?:git\+|https?://)\S+|[A-Za-z0-9][\w.-]*(?:\[[\w,. -]+\])?(?:\s*[<>=!~]=?=?\s*[\w.*,<>=!+~ ]+)?"
                          r"(?:\s*;.{1,100})?|[\w.-]+(?:\[[\w,.-]+\])?\s*@\s*\S+")  # fmt: skip


@record(frozen=True, slots=True)
class InstallCommand:
    """One command: what it installs, its options, and where it stands.

    ``heading`` is the one above it, ``block`` the number of its block in the document, ``folder`` where a ``cd`` before it leads;
    ``is_synced`` where it installs the project at hand with extras, by a tool that manages it; ``is_conda`` where conda does; ``cloned`` is what pip fetches instead
    where the text has cloned the repository whose folder it installs from.
    """

    declared: tuple[Declared, ...]
    options: tuple[Option, ...]
    evidence: Evidence
    heading: str = ""
    block: int = 0
    python: str = ""
    cuda: str = ""
    folder: str = ""
    is_synced: bool = False
    is_conda: bool = False
    cloned: str = ""

    def values(self, kind: str) -> tuple[str, ...]:
        """Return the values of one kind of option, in their order."""
        return tuple(option.value for option in self.options if option.kind == kind)


def read_install_commands(source: Source) -> tuple[InstallCommand, ...]:
    """Return the commands of a Dockerfile, a script, a notebook's magics or documentation, in their order."""
    found: list[InstallCommand] = []
    folder, place, clones, at = "", (0, ""), Clones(), 0
    for number, text, heading, block in _shown(source):
        if place != (block, heading) or (source.form is Form.DOCKERFILE and number != at):
            clones.turn(is_new_shell=source.form is Form.DOCKERFILE)
        if place != (block, heading):
            folder, place = "", (block, heading)
        at = number
        for part in _PARTS.split(_INNER.sub("$_", text)):
            folder = moved(folder, part.strip())
            clones.read(part)
            where = Evidence(source.path, 0 if source.form is Form.NOTEBOOK else number)
            command = _command(part, where, heading, block)
            if command is not None:
                local = command.values("local")
                cloned = clones.found(local[0]) if local else clones.found_here() if command.options else ""
                found.append(replace(command, folder=folder, cloned=cloned) if folder or cloned else command)
        if len(found) >= MAX_COMMANDS:
            break
    return tuple(_without_menus(found))


def _without_menus(commands: list[InstallCommand]) -> list[InstallCommand]:
    """Return commands without those of a section that shows one extra after another: a choice, of which nobody takes all."""
    shown: dict[str, set[str]] = {}
    for command in commands:
        if command.is_synced:
            shown.setdefault(command.heading, set()).update(command.values("local"))
    menus = {heading for heading, extras in shown.items() if len(extras) >= LEAST_OF_A_MENU}
    return [command for command in commands if not (command.is_synced and command.heading in menus)]


def _command(text: str, where: Evidence, heading: str, block: int) -> InstallCommand | None:
    text = command_of(text).rstrip().removesuffix(";")
    pip = _PIP.match(text)
    if pip is not None:
        declared, options = _pip_words(pip[1], where)
        return InstallCommand(declared, options, where, heading, block) if declared or options else None
    if _SETUP.match(text) is not None:
        return InstallCommand((), (Option("local", ".", where),), where, heading, block)
    synced = _SYNC.match(text)
    if synced is not None:
        extras = told_extras(synced[1])
        option = Option("local", f".[{','.join(extras)}]", where)
        return InstallCommand((), (option,), where, heading, block, is_synced=True) if extras else None
    conda = _CONDA.match(text)
    if conda is None:
        return None
    return _conda_command(conda[1], where, heading, block)


def _shown(source: Source) -> Iterator[tuple[int, str, str, int]]:
    """Yield line number, command text, heading above it, and number of the block, of what stands there to be run."""
    if source.form is Form.MARKDOWN:
        yield from _documented(source)
        for number, told, heading in listed_blocks(source):
            yield number, f"pip install '{told}'", heading, number
        return
    variables: dict[str, str] = {}
    for number, line in joined_lines(_GOES_ON.sub(" ", source.text) if source.form is Form.NOTEBOOK else source.text):
        if source.form in {Form.NOTEBOOK, Form.PYTHON}:
            if (magic := _MAGIC.match(line)) is not None:
                yield number, magic[1].strip(), "", 0
            continue
        bare = line.strip()
        for name, value in regex(r"^(?:ARG|ENV|export)?\s*(\w+)[= ][\"']?([\w.+:/-]+)").findall(bare)[:1]:
            variables.setdefault(name, value)
        if not bare.startswith("#"):
            yield number, _filled(bare.removeprefix("RUN ").strip(), variables), "", 0


def _documented(source: Source) -> Iterator[tuple[int, str, str, int]]:
    heading, block, inside, previous, is_optional = "", 0, False, 0, False
    in_quote, paragraph = False, ""
    for number, line in joined_lines(without_struck(source.text)):
        quote = _QUOTED.match(line) if ">" in line[:4] and (in_quote or not inside) else None
        shown = line[quote.end() :] if quote is not None else line
        if is_fence(shown, is_code=inside):
            in_quote = quote is not None
            inside = not inside
            block += inside
            continue
        title = None if inside else _HEADING.match(shown)
        if title is not None:
            heading, is_optional = title[1].strip(), False
            continue
        is_code = inside or _is_shown(shown, is_rst=source.name.endswith(".rst"))
        paragraph = "" if is_code else grown_paragraph(paragraph, shown)
        is_optional = is_introduced_as_optional(paragraph) if paragraph else is_optional
        if is_optional:
            continue
        if is_code:
            block += not inside and number > previous + 2
            previous = number
            bare = shown.strip().lstrip("$>%! ")
            if not bare.startswith("#"):
                yield number, bare, heading, block
            continue
        if told := listed_versions(shown, heading):
            block += number > previous + 1
            previous = number
            yield number, f"pip install {told}", heading, block
            continue
        if item := command_of_item(shown):
            block += number > previous + 1
            previous = number
            yield number, item, heading, block
            continue
        for text in _INLINE.findall(shown[:4000]):
            block += 1
            yield number, text.strip().lstrip("$>!% "), heading, block


def _is_shown(line: str, *, is_rst: bool) -> bool:
    """Whether a line outside of a fence is code: behind a prompt, or indented and not a list's text with spans of code."""
    if regex(r"\s*\$\s+\S").match(line):
        return True
    return line.startswith(("  " if is_rst else "    ", "\t")) and "`" not in line


def _filled(text: str, variables: Mapping[str, str]) -> str:
    return regex(r"\$\{?(\w+)\}?").sub(lambda found: variables.get(found[1], found[0]), text)


def _pip_words(text: str, where: Evidence) -> tuple[tuple[Declared, ...], tuple[Option, ...]]:
    """Return what a command names until it stops being one (a placeholder, prose)."""
    declared: list[Declared] = []
    options: list[Option] = []
    words = split_words(text)
    index = 0
    while index < len(words):
        word = _plain_wheel(words[index]) if _is_wheel(words[index]) else words[index]
        index += 1
        name, value = option_of(word)
        if name in WITH_VALUE:
            if not value:
                value = words[index] if index < len(words) else ""
                index += 1
            kind = KINDS.get(name)
            is_url = regex(r"git\+|https?://").match(value) is not None
            if kind == "local" and ends_names(value) and not is_url:
                break
            if kind == "include" and "<" in value:
                break  # `-r <the file of the table below>`
            if kind == "local" and (is_url or _VERSIONED.fullmatch(value)):
                _take(value, where, declared)
            elif kind and value and "$" not in value and "<" not in value:
                options.append(Option(kind, value.removeprefix("file:"), where))
        elif word.startswith("-") or (is_file(word) and not _is_wheel(word)):
            continue
        elif _LOCAL.fullmatch(word):
            options.append(Option("local", word, where))
        elif word in {">", ">>", "2>&1", "|"} or not _REQUIREMENT.fullmatch(word) or ends_names(word):
            break
        else:
            _take(word, where, declared)
    return tuple(declared), tuple(options)


def _is_wheel(word: str) -> bool:
    """Whether a word is a file that readers fetch first, of a package that has a known name."""
    return word.endswith(".whl") and "://" not in word and is_published(word.rpartition("/")[2].partition("-")[0])


def _plain_wheel(word: str) -> str:
    """Return such a file without its folder, and without what says for which CUDA it was built."""
    return regex(r"\+[\w.]{1,80}").sub("", word.rpartition("/")[2])


def _take(word: str, where: Evidence, declared: list[Declared]) -> None:
    requirement = clean_requirement(word)
    if requirement:
        declared.append(Declared(requirement, where))


def _conda_command(text: str, where: Evidence, heading: str, block: int) -> InstallCommand | None:
    declared: list[Declared] = []
    python = cuda = ""
    words = split_words(text)
    index = 0
    while index < len(words):
        word = words[index]
        index += 1
        switch, value = joined_switch(word, "ncpf")
        if word in WITH_VALUE or word == "-c" or switch:
            index += not value
            continue
        if ends_names(word):
            break
        if word.startswith("-") or not regex(
            r"(?=[\d.]{0,20}[A-Za-z_])[\w.:/-]+(?:\[[^\]]*\])?(?:[<>=!]{1,2}[\w.*,<>=]+)?"
        ).fullmatch(word):
            continue
        name, version = conda_parts(word)
        if name == "python":
            python = python or version
        elif name in {"cudatoolkit", "pytorch-cuda", "cuda-toolkit", "cuda", "cuda-version"}:
            cuda = cuda or version
        else:
            requirement = conda_requirement(word)
            if requirement:
                declared.append(Declared(requirement, where))
    if not declared and not python and not cuda:
        return None
    return InstallCommand(tuple(declared), (), where, heading, block, python, cuda, is_conda=True)
