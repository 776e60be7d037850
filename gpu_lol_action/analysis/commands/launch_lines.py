"""Lines that a person or a scheduler would start: from documents, scripts, Makefiles, images, tasks and notebooks' magics."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from types import MappingProxyType

from gpu_lol_action.analysis.command_lines.container_words import is_secret
from gpu_lol_action.analysis.command_lines.handed_words import with_handed
from gpu_lol_action.analysis.command_lines.just_recipes import just_line
from gpu_lol_action.analysis.command_lines.launch_texts import is_open_text, one_value, with_kept_texts
from gpu_lol_action.analysis.command_lines.notebook_words import notebook_lines
from gpu_lol_action.analysis.command_lines.script_options import told_variables
from gpu_lol_action.analysis.command_lines.shell_arithmetic import computed, counted
from gpu_lol_action.analysis.command_lines.shell_branches import with_taken_branches
from gpu_lol_action.analysis.command_lines.shell_functions import with_called_functions
from gpu_lol_action.analysis.command_lines.shell_words import evaluated, sourced, with_file_read
from gpu_lol_action.analysis.commands.azure_jobs import azure_lines, is_azure_job
from gpu_lol_action.analysis.commands.container_lines import container_lines
from gpu_lol_action.analysis.commands.determined_jobs import determined_lines, is_determined
from gpu_lol_action.analysis.commands.hosted_lines import hosted_lines, is_hosted
from gpu_lol_action.analysis.commands.image_lines import image_lines
from gpu_lol_action.analysis.commands.mosaic_jobs import is_mosaic_job, mosaic_lines
from gpu_lol_action.analysis.commands.moved_folders import moved
from gpu_lol_action.analysis.commands.pipeline_stages import PIPELINES, stage_lines
from gpu_lol_action.analysis.commands.project_tasks import task_lines
from gpu_lol_action.analysis.commands.service_files import TASKFILES, keeps_services, service_lines, taskfile_lines
from gpu_lol_action.analysis.commands.spacy_projects import is_spacy_project, project_lines
from gpu_lol_action.analysis.commands.windows_scripts import windows_lines
from gpu_lol_action.analysis.documents.lost_marks import with_lost_marks
from gpu_lol_action.analysis.documents.shown_lines import shown_lines
from gpu_lol_action.analysis.files.checkout import Source
from gpu_lol_action.analysis.formats.paths import Form
from gpu_lol_action.analysis.formats.texts import without_comment
from gpu_lol_action.domain.patterns import regex
from gpu_lol_action.domain.records import record

MAX_LINE = 8000
MAX_VARIABLES, MAX_VALUE = 300, 4000  # characters: a whole command may be kept in one
MAX_PUT = 100  # variables put into one line
MAX_BLOCK = 60  # lines of one array or quoted text
NOTHING: Mapping[str, str] = MappingProxyType({})
Sourcing = Callable[[str, Sequence[str], Mapping[str, str]], Mapping[str, str]]
"""What a script leaves set that is read into another: asked by its name, the words that it is handed, and what is set before."""

_VARIABLE = regex(
    r"^\s*(?:export\s+|local\s+|ENV\s+|(?:declare|readonly|typeset)\s+(?:-\w+\s+)?)?([A-Za-z_]\w*)\s?[:?+]?=\s?(\"(?:[^\"\\]|\\.)*\"|'[^']*'|\$\(\([^;#]{1,200}\)\)|[^\s;#(]*)\s*(?:;|#.*)?$"
)
# `: ${BATCH_SIZE:=16}` sets what nobody has set.
_FALLBACK = regex(r"^\s*:\s+\"?\$\{([A-Za-z_]\w*):?[=-](\"[^\"]*\"|'[^']*'|[^}]*)\}\"?\s*(?:#.*)?$")
_SETS = r"(?:(?:export|declare|local|readonly|typeset)\s+(?:-\w+\s+)?)?"  # a list of words, which may go on in the next line
_OPEN = regex(rf"^{_SETS}[A-Za-z_]\w*\+?=(?:\((?:[^()]|\$\([^()]*\))*|\"(?:[^\"\\]|\\.)*|'[^']*)$")
_LIST = regex(rf"\s*{_SETS}[A-Za-z_]\w*\+?=\(")
_ARRAY = regex(rf"^\s*{_SETS}([A-Za-z_]\w*)\+?=\((.*)\)\s*(?:#.*)?$")
_ADDS = regex(r"^\s*(?:export\s+|local\s+)?\w+\s?\+=")
_TARGET = regex(r"^([A-Za-z0-9_][\w.-]*)\s*:(?!=)")
_ITEM = regex(r"\$\{(\w+)\[(\d{1,2})\]\}")
_PUT = regex(r"\$(?:\{(\w+)\}|\((\w+)\)|(\w+))")
_POSITION = regex(
    r"\$\{?(\d|OPTARG)(?:#[^}]{0,20})?\}?"
)  # what the caller gives: where nobody does, the script's own fallback stands
# `(env) user@host:~/project$ `, `(env)[project]$ `: what a terminal shows before a command.
_PROMPT = regex(
    r"^(?:\([\w.-]{1,30}\)\s?(?:\[[^\]\n]{1,40}\])?\s?[\w.@:~/-]{0,60}|[\w.-]{1,30}@[\w.-]{1,40}:[\w~/.-]{0,60})[$#]\s+(?=\S)"
)
_PUT_IN = regex(r"(?<![\w$}])\{([A-Za-z_]\w{0,60})\}")
_SHELL = regex(r"(?:/bin/)?(?:ba|z)?sh\s+-c\s+\"([^\"]+)\"")
_PIPED = regex(r"(\$\([\w./-]+)[^()|`]{0,200}(?:\|[^()|`]{1,200})+\)")
_BETWEEN_COMMANDS = regex(
    r"&&|\|\||;|(?<=\s&)(?=\s+\S)|(?<!\|)(?:(?<=\s)\|(?!\|)|\|(?=\s|tee\b))"
)  # not in "task|shots"; an "&" stays with what it sends behind
_CONTROL = regex(r"^(?:do|then|else)\s+")


@record(frozen=True, slots=True)
class CommandLine:
    """One joined line: its text and number, the shell variables known there, its heading or Makefile target, and the folder gone to."""

    text: str
    line: int
    variables: Mapping[str, str]
    section: str = ""
    folder: str = ""


def command_lines(
    source: Source, given: Mapping[str, str] = NOTHING, folder: str = "", sourcing: Sourcing | None = None
) -> Iterator[CommandLine]:
    """Yield what a file starts, in its order. ``given`` are variables and parameters that its caller sets, ``folder`` is where it is started."""
    if source.form is Form.MARKDOWN:
        raw = with_lost_marks(shown_lines(source))
    elif source.form is Form.DOCKERFILE:
        raw = image_lines(source, substitute, given)
    elif source.form is Form.YAML:
        raw = _of_task(source, sourcing)
    elif source.form is Form.NOTEBOOK:
        # The text is the cells' code, whose lines are not the file's: the whole file is the place.
        raw = ((0, _PUT_IN.sub(r"${\1}", line), "") for line in notebook_lines(source.text))
        given = {**_of_cells(source), **given}
    elif source.form is Form.TOML:
        raw = task_lines(source)
    elif source.form is Form.BATCH:
        raw = windows_lines(source)
    elif is_makefile(source):
        raw = _of_makefile(source)
    elif keeps_services(source):
        raw = service_lines(source)
    else:
        raw = with_kept_texts(with_taken_branches(with_called_functions(_numbered(source)), given))
    is_each_alone = source.form in {Form.NOTEBOOK, Form.TOML} or is_makefile(source)
    yield from _joined(raw, given, folder, sourcing, is_each_alone=is_each_alone)


def _of_cells(source: Source) -> Mapping[str, str]:
    """Return the texts and numbers that a notebook's code sets once, which its commands may name (``!vllm serve {MODEL}``)."""
    set_to: dict[str, set[str]] = {}
    for each in source.code.given if source.code is not None and _PUT_IN.search(source.text) else ():
        if not each.owner and each.value.text is not None:
            set_to.setdefault(each.name, set()).add(each.value.text)
    return {name: texts.pop() for name, texts in set_to.items() if len(texts) == 1}


def variables_left(source: Source, given: Mapping[str, str], sourcing: Sourcing | None) -> Mapping[str, str]:
    """Return what is set at a script's end."""
    raw = itertools.chain(with_kept_texts(with_taken_branches(_numbered(source), given)), ((0, "", ""), (0, ":", "")))
    left = given
    for line in _joined(raw, given, "", sourcing, is_each_alone=False):
        left = line.variables
    return left


def is_makefile(source: Source) -> bool:
    """Whether the file is a list of targets with commands: a Makefile or a justfile."""
    return source.name in {"makefile", "justfile"} or source.name.endswith(".mk")


def substitute(text: str, variables: Mapping[str, str]) -> str:
    """Put known shell variables into the text, and sums; ``${X:-fallback}`` gives its fallback, unknown ones stay as they are."""
    text = computed(text[:MAX_LINE], variables)
    text = regex(r"\$\{(\w+):?[-=]\"?([^}\"]{0,300})\"?\}").sub(
        lambda m: variables.get(m[1]) or m[2], text[:MAX_LINE], count=MAX_PUT
    )
    text = regex(r"\"?\$\{(\w+)\[[@*]\]\}\"?").sub(lambda m: variables.get(m[1], ""), text, count=MAX_PUT)[:MAX_LINE]
    if "[" in text:
        text = _ITEM.sub(lambda m: _item(variables.get(m[1], ""), int(m[2])) or m[0], text, count=MAX_PUT)[:MAX_LINE]
    text = _PUT.sub(lambda m: variables.get(m[1] or m[2] or m[3], m[0]), text, count=MAX_PUT)[:MAX_LINE]
    return with_handed(text, variables)[:MAX_LINE]


def _item(words: str, place: int) -> str:
    """Return a list's word at a place, from 0; empty where it has none there."""
    return next(itertools.islice(words.split(), place, None), "").strip("\"'")


def _numbered(source: Source) -> Iterator[tuple[int, str]]:
    return enumerate(source.text.split("\n"), 1)


def _joined(
    raw: Iterator[tuple[int, str, str]],
    given: Mapping[str, str],
    outer: str,
    sourcing: Sourcing | None,
    *,
    is_each_alone: bool,
) -> Iterator[CommandLine]:
    """Yield lines with their continuations put together, their variables and folder kept; ``is_each_alone``: no line moves the next."""
    variables, told = given, told_variables(given)
    pending, start, folder, place = "", 0, outer, ""
    # What is still open where the file ends ends there, too: a last line may end with a backslash.
    for number, line, section in itertools.chain(raw, ((0, "", ""),)):
        if not pending:
            start = number
            if line.lstrip().startswith("#"):
                continue  # a remark goes no further, though it may end with a backslash
        if pending and not _LIST.match(pending) and line.lstrip().startswith("# "):
            continue  # a remark between a command's options: a shell would stop there, who wrote it did not mean that
        # In a list over several lines a remark ends with its line; the words behind it would be lost.
        said = without_comment(line) if _LIST.match(pending or line) else line
        pending = f"{pending} {said.strip()}".strip()
        is_open = number - start < MAX_BLOCK and (bool(_OPEN.match(pending)) or is_open_text(pending))
        if is_open or line.rstrip().endswith("\\"):
            pending = pending.rstrip("\\ ")[:MAX_LINE]
            continue
        joined, pending = pending.lstrip("$>@! ") if pending.startswith(("$ ", ">", "@", "!", "%")) else pending, ""
        joined = with_file_read(counted(one_value(_PROMPT.sub("", joined)), variables))
        if found := _VARIABLE.match(joined) or _ARRAY.match(joined) or _FALLBACK.match(joined):
            # What the caller sets stands where the script only has a fallback for it (`N=${N:-8}`, `N ?= 8`).
            is_fallback = found[1] in given and (found[1] in found[2] or "?=" in joined or joined[0] == ":")
            # What is empty is set later, by the script's own options: it stays a name.
            position = _POSITION.fullmatch(found[2].strip("\"'"))
            is_open = position is not None and position[1] not in given
            is_said = is_fallback or found[1] in told
            if found[2].strip("\"'") and not is_open and not is_said and len(variables) < MAX_VARIABLES:
                before = f"{variables.get(found[1], '')} " if _ADDS.match(joined) else ""
                put = before + substitute(found[2].strip("\"'").replace('\\"', '"'), variables).strip()
                if not is_secret(found[1], put):  # it says nothing of a run, and is put into none that is shown
                    variables = {**variables, found[1]: put.strip()[:MAX_VALUE]}
            continue
        inner = _SHELL.fullmatch(joined)
        whole = _PIPED.sub(r"\1)", inner[1] if inner else joined)  # a pipe in what is asked for parts no commands
        # Nobody who went out of the tree is told to come back: the next block of a document does.
        if is_each_alone or section != place or (folder.startswith("..") and not whole):
            folder, place = outer, section
        is_set = True  # as long as all that stands before on the line sets something
        for part in _parts(whole, variables):
            is_set = is_set and _VARIABLE.match(part) is not None
            variables = _set_in_front(part, variables, given) if is_set else variables
            if sourcing is not None and (read := sourced(part)) is not None:
                variables = {**variables, **sourcing(substitute(read[0], variables), read[1], variables)}
            yield CommandLine(part, start, variables, section, folder)
            folder = moved(folder, substitute(part, variables) if "$" in part else part)
        folder = outer if whole.startswith("(") else folder


def _set_in_front(part: str, variables: Mapping[str, str], given: Mapping[str, str]) -> Mapping[str, str]:
    """Return what is known behind the first parts of a line: ``NUM_GPUS=8; torchrun --nproc_per_node=$NUM_GPUS train.py``."""
    found = _VARIABLE.match(part)
    if found is None or found[1] in given or not found[2] or len(variables) >= MAX_VARIABLES:
        return variables
    value = substitute(found[2].strip("\"'"), variables)[:MAX_VALUE]
    return {**variables, found[1]: value} if not is_secret(found[1], value) else variables


def _parts(text: str, variables: Mapping[str, str]) -> Iterator[str]:
    """Yield the commands of a line, what ``eval`` is handed as the commands that its words are together."""
    for each in _BETWEEN_COMMANDS.split(text):
        part = _CONTROL.sub("", each.strip())
        if part.startswith("eval ") and "$" in part:
            yield from evaluated(part[5:], lambda words: substitute(words, variables))
        elif part:
            yield part


def _of_task(source: Source, sourcing: Sourcing | None) -> Iterator[tuple[int, str, str]]:
    """Yield what a task file starts: SkyPilot's ``run`` block, a container's ``command`` with its ``args``."""
    if regex(r"^run:", re.MULTILINE).search(source.text) and regex(r"^(?:resources|setup):", re.MULTILINE).search(
        source.text
    ):
        is_run = False
        for number, line in _numbered(source):
            if regex(r"[A-Za-z_]").match(line):
                is_run = line.startswith("run:")
            elif found := regex(r"\s+([A-Z][A-Z0-9_]*):\s*(\S.*)$").match(line):
                yield number, f"{found[1]}={found[2].strip()}", ""  # the task's `envs`
                continue
            if is_run:
                yield number, regex(r"^run:\s*[|>]?[-+]?\s*").sub("", line), ""
        return
    kinds = (
        (source.name in PIPELINES, stage_lines),
        (is_spacy_project(source), project_lines),
        (is_hosted(source), hosted_lines),
        (is_azure_job(source.text), azure_lines),
        (is_determined(source.text), determined_lines),
        (source.name in TASKFILES, taskfile_lines),
        (is_mosaic_job(source.text), mosaic_lines),
    )
    if (lines := next((read for is_one, read in kinds if is_one), None)) is not None:
        yield from lines(source)
        return
    if regex(r"^(?:services|kind|spec):", re.MULTILINE).search(source.text):

        def read(name: str) -> Mapping[str, str]:
            return sourcing(name, (), NOTHING) if sourcing is not None else NOTHING

        yield from container_lines(source, substitute, read)


def _of_makefile(source: Source) -> Iterator[tuple[int, str, str]]:
    target, is_open = "", False
    for number, text in _numbered(source):
        goes_on, is_open = is_open, text.endswith("\\")
        line = text
        if source.name == "justfile":
            line, starting = just_line(text)
            yield from ((number, each, "") for each in starting)
        if line[:1] in {"\t", " "} and target:
            bare = line.replace("$$", "$").lstrip()
            yield number, bare if goes_on else bare.lstrip("@-"), target
        elif found := _TARGET.match(line):
            target = found[1]
            yield number, "", target
        else:
            yield number, line, ""
