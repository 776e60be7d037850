"""Projects of spaCy: what their ``project.yml`` starts, by its workflows and variables (Weasel's files are the same).

Format: spaCy's documentation of projects. ``vars`` are put in as ``${vars.gpu_id}``; ``commands`` have a name and a ``script``, and
``workflows`` say which of them belong together, in their order. A reader is told to run the workflow ``all``, where there is one.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from gpu_lol_action.analysis.files.checkout import Source
from gpu_lol_action.analysis.files.configuration import MAX_CONFIG_BYTES
from gpu_lol_action.analysis.files.setting import Setting, fold_key
from gpu_lol_action.domain.patterns import regex

PROJECTS = frozenset({"project.yml", "project.yaml"})
_MARKS = (regex(r"(?m)^commands:"), regex(r"(?m)^[ \t]+script:"))
_PUT = regex(r"\$\{vars\.([\w.-]{1,80})\}")
_ALL = "workflows.all"
MAX_LINE, MAX_COMMANDS, MAX_PUT = 2000, 100, 20


def is_spacy_project(source: Source) -> bool:
    """Whether a file is a project's list of commands; other tools call theirs by the same name."""
    return source.name in PROJECTS and all(mark.search(source.text) for mark in _MARKS)


def project_lines(source: Source) -> Iterator[tuple[int, str, str]]:
    """Yield what a project starts with its line and the command's name: the whole workflow first, then what stands in none."""
    # Late: the reader's library takes long to load, and hardly a repository has such a file.
    from gpu_lol_action.analysis.files.yaml_reading import yaml_settings

    said = list(yaml_settings(source, MAX_LINE)) if len(source.text) <= MAX_CONFIG_BYTES else []
    variables = {
        setting.path.removeprefix("vars."): setting.text for setting in said if setting.path.startswith("vars.")
    }
    commands = _commands(said)
    for name in [*(name for name in _order(said) if name in commands), *commands]:
        for setting in commands.pop(name, ()):
            yield setting.evidence.line, _put(setting.text, variables), name


def _commands(said: Sequence[Setting]) -> dict[str, list[Setting]]:
    """Return each command's lines by its name, in the order of the file."""
    found: dict[str, list[Setting]] = {}
    name = ""
    for setting in said:
        if setting.path == "commands.name":
            name = setting.text
        elif setting.path == "commands.script" and len(found) < MAX_COMMANDS:
            found.setdefault(name, []).append(setting)
    return found


def _order(said: Sequence[Setting]) -> list[str]:
    """Return the names of the workflow that stands for the project: ``all``, else the first."""
    flows = [setting for setting in said if setting.path.startswith("workflows.")]
    first = _ALL if any(setting.path == _ALL for setting in flows) else next((s.path for s in flows), "")
    return [setting.text for setting in flows if setting.path == first]


def _put(text: str, variables: Mapping[str, str]) -> str:
    """Return a line with the project's variables put in, of which one may name another."""
    for _ in range(2):
        text = _PUT.sub(lambda found: variables.get(fold_key(found[1]), found[0]), text, count=MAX_PUT)[:MAX_LINE]
    return " ".join(text.split())
