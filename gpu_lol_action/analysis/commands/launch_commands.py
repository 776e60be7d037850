"""Commands that start the workload, in the order in which a reader meets them, and the scripts that they lead into."""

from __future__ import annotations

import functools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field, replace

from gpu_lol_action.analysis.command_lines.asked_words import with_answers
from gpu_lol_action.analysis.command_lines.container_words import with_variables_in_front
from gpu_lol_action.analysis.command_lines.handed_words import handed_words
from gpu_lol_action.analysis.command_lines.launch_help import starts_nothing
from gpu_lol_action.analysis.command_lines.launch_hosts import on_hosts
from gpu_lol_action.analysis.command_lines.launch_tools import (
    COUNT_FLAGS,
    NODE_FLAGS,
    SERVERS,
    TOOLS,
    inner_text,
    may_start,
    processes_of,
    split_words,
    starts_several,
    target_of,
    tool_of,
    without_runners,
)
from gpu_lol_action.analysis.command_lines.led_to import followed
from gpu_lol_action.analysis.command_lines.llama_cpp import told_to_llama_cpp
from gpu_lol_action.analysis.command_lines.openmmlab_launchers import openmmlab_launch
from gpu_lol_action.analysis.command_lines.option_words import split_options
from gpu_lol_action.analysis.command_lines.script_options import set_by_options
from gpu_lol_action.analysis.command_lines.server_images import put_entry_points
from gpu_lol_action.analysis.command_lines.server_variables import in_plain_numbers, told_by_variables
from gpu_lol_action.analysis.command_lines.shell_defaults import handed_places, is_left_open
from gpu_lol_action.analysis.command_lines.terminal_sessions import within_session
from gpu_lol_action.analysis.commands.cloned_paths import at_hand
from gpu_lol_action.analysis.commands.console_scripts import scripts_of_its_own
from gpu_lol_action.analysis.commands.estimator_jobs import estimator_lines
from gpu_lol_action.analysis.commands.example_calls import example_call
from gpu_lol_action.analysis.commands.exported_variables import environment_of
from gpu_lol_action.analysis.commands.image_variables import composed_variables
from gpu_lol_action.analysis.commands.installed_tools import is_a_word_alone
from gpu_lol_action.analysis.commands.launch_lines import NOTHING, CommandLine, command_lines, is_makefile, substitute
from gpu_lol_action.analysis.commands.launch_programs import MAX_PROGRAMS, programs_started, started_lines, submits_job
from gpu_lol_action.analysis.commands.linked_scripts import linked_scripts
from gpu_lol_action.analysis.commands.machine_requests import (
    MachineRequest,
    handed_on,
    machine_request,
    request_of_words,
)
from gpu_lol_action.analysis.commands.moved_folders import found_there
from gpu_lol_action.analysis.commands.pipeline_stages import parameters
from gpu_lol_action.analysis.commands.project_tasks import FILES
from gpu_lol_action.analysis.commands.sourced_scripts import sourcing
from gpu_lol_action.analysis.commands.wrapped_commands import working_part, wrapped
from gpu_lol_action.analysis.documents.linked_pages import documents_and_linked_pages
from gpu_lol_action.analysis.documents.reading_order import by_mention, by_name
from gpu_lol_action.analysis.files.checkout import Checkout, Source
from gpu_lol_action.analysis.formats.paths import Form, form_of
from gpu_lol_action.analysis.formats.texts import without_comment
from gpu_lol_action.analysis.formats.told_numbers import as_count
from gpu_lol_action.domain.finding import Evidence
from gpu_lol_action.domain.patterns import regex
from gpu_lol_action.domain.records import record

MAX_COMMANDS, MAX_DOCUMENTS = 400, 60
MAX_FOLLOWED = 3  # scripts that start scripts
MAX_ENTERED = 200  # ways into scripts, each read anew with what it is handed
MAX_SCRIPT = 64 * 1024  # characters
_CONFIG = regex(r"[\w./@{}$-]+\.(?:ya?ml|json|toml|gin)$")
_TESTS = regex(r"\s*(?:(?:if|elif|while)\s+)?(?:!\s*)?(?:\[|test\s+[!-])")
_DATA = regex(
    r"data|input|output|train_file|valid|question|answer|image|prompt|annot|vocab|examples|samples|save|split"
)


@record(frozen=True, slots=True)
class LaunchCommand:
    """One command: the tool that starts it, what it starts, how many processes per machine, and its options.

    ``evidence`` is where the command stands, ``said`` where a reader is led to it: the document that names its script.
    ``is_divided``: it starts several processes, whether or not it says how many. ``is_background``: the next command is
    started while it works (``&``). ``folder``: where the lines above it went (``cd``). ``environment``: what its script exports before it.
    """

    tool: str
    target: str
    processes: int | None
    nodes: int
    options: Mapping[str, str]
    configs: tuple[str, ...]
    evidence: Evidence
    source: Source
    words: tuple[str, ...]
    text: str
    said: Evidence
    section: str = ""
    is_divided: bool = False
    is_background: bool = False
    folder: str = ""
    environment: Mapping[str, str] = field(default_factory=dict)

    @property
    def is_launcher(self) -> bool:
        """Whether the tool itself starts one process per GPU."""
        return self.tool in COUNT_FLAGS

    @property
    def is_tool(self) -> bool:
        """Whether the tool is a training or serving program of its own."""
        return self.tool in TOOLS or self.target.startswith(SERVERS)

    @property
    def is_documented(self) -> bool:
        """Whether a document tells the reader to start it, or to start the script that it stands in."""
        return form_of(self.said.path) is Form.MARKDOWN


_LED_TO = (Form.SHELL, Form.YAML)  # `bash run.sh`, `sky launch task.yaml`


@functools.lru_cache(maxsize=4)
def launch_commands(checkout: Checkout) -> tuple[LaunchCommand, ...]:
    """Return all commands: documentation first, each with what it leads into, then scripts, shallow files first."""
    found: list[LaunchCommand] = []
    seen: set[str] = set()
    documents, linked = documents_and_linked_pages(checkout)
    for source in [*by_name(documents)[:MAX_DOCUMENTS], *linked]:
        for command in _of_document(checkout, source, seen):
            found.append(command)
            if len(found) >= MAX_COMMANDS:
                return tuple(found)
    scripts = checkout.of(Form.SHELL, Form.DOCKERFILE, Form.YAML, Form.NOTEBOOK)
    tasks = [source for source in (checkout.find(name) for name in sorted(FILES)) if source is not None]
    for source in (*by_mention(scripts, documents), *tasks):
        if source.path in seen:
            continue
        given = parameters(checkout, source) or example_call(source) or composed_variables(checkout, source)
        for command in (*_of_source(checkout, source, seen, given), *_of_jobs(checkout, source)):
            found.append(command)
            if len(found) >= MAX_COMMANDS:
                return tuple(found)
    for source in checkout.of(Form.BATCH)[:MAX_DOCUMENTS] if not found else ():  # beside others they say the same again
        found += _of_source(checkout, source, seen)
    # A script that another one starts is read with what it is handed there, and not also as if it were handed nothing.
    led = {command.evidence for command in found if command.said != command.evidence}
    found = [command for command in found if command.said != command.evidence or command.evidence not in led]
    is_told = bool(found)
    for source in checkout.of(Form.PYTHON, Form.NOTEBOOK)[:MAX_PROGRAMS]:
        place, told = _submitter(checkout, found, source)
        lines = [*started_lines(checkout, source), *(() if is_told else programs_started(checkout, source))]
        started = [*_of_program(checkout, source, lines), *_of_jobs(checkout, source)]
        if told is not None:
            started = [replace(each, said=told.said, section=told.section) for each in started]
        found[place:place] = started
    return tuple(found[:MAX_COMMANDS])


def _of_document(checkout: Checkout, source: Source, seen: set[str]) -> Iterator[LaunchCommand]:
    """Yield a document's commands, then those of scripts that its sentences name where a section shows no command itself."""
    shown: set[str] = set()
    for command in _of_source(checkout, source, seen):
        shown.add(command.section)
        yield command
    for line in linked_scripts(source):
        script = checkout.find_named(line.text.partition(" ")[2])
        if line.section not in shown and script is not None and script.path not in seen:
            yield from _led_to(checkout, source, line, seen, 0)


def _of_program(checkout: Checkout, source: Source, lines: Sequence[tuple[int, str]]) -> Iterator[LaunchCommand]:
    """Yield the servers, and the programs of this checkout, that a program starts with these lines."""
    for line, text in lines:
        command = parse_command(text, NOTHING, source, line)
        if command is None:
            continue
        is_here = command.is_tool or checkout.find_named(command.target) not in {None, source}
        # Another project's program that is started under a launcher is what this one is for.
        if is_here or (command.is_launcher and command.target.endswith(".py")):
            yield command


def _submitter(checkout: Checkout, told: Sequence[LaunchCommand], source: Source) -> tuple[int, LaunchCommand | None]:
    """Return where what a program starts stands among the commands: behind a document's that has it hand a job to a cluster, else last."""
    for place, each in enumerate(told if submits_job(source) else (), 1):
        if each.is_documented and each.tool == "python" and checkout.find_named(each.target) is source:
            return place, each
    return len(told), None


def _of_jobs(checkout: Checkout, source: Source) -> Iterator[LaunchCommand]:
    """Yield the programs of this checkout that a notebook, or a program, has a service train with."""
    for line, text in estimator_lines(source) if source.code is not None else ():
        command = parse_command(text, NOTHING, source, line)
        # A program that the service fetches from elsewhere is still what is trained with, where it is said to be divided.
        if command is not None and (command.is_launcher or checkout.find_named(command.target) is not None):
            yield command


def parse_command(
    text: str, variables: Mapping[str, str], source: Source, line: int, scripts: Mapping[str, str] = NOTHING
) -> LaunchCommand | None:
    """Read one command line; None where it starts nothing that we know. ``scripts``: modules behind the project's own commands."""
    if _TESTS.match(text):
        return None  # whether a file is there
    put = substitute(with_answers(text, source.folder), variables)
    started = put_entry_points(within_session(split_words(put), split_words))
    own, runner, words = without_runners(with_variables_in_front(started), scripts)
    if (inner := inner_text(words)) is not None:
        before, _, words = without_runners(split_words(inner))
        own |= before
    if not words or starts_nothing(words):
        return None
    asked, words = wrapped(words) or (None, working_part(words, scripts))
    module = scripts.get(words[0]) if len(words) > 1 or runner else None  # a name alone may be but a word
    tool, rest = ("python", [module, *words[1:]]) if module else tool_of(words)
    if tool is None:
        return None
    options, places = split_options(rest)
    options = {**told_by_variables(tool, {**variables, **own}), **options}
    options |= {**told_to_llama_cpp(tool, options), **in_plain_numbers(tool, options)}
    target = module or target_of(tool, options, places)
    if target is None and tool in COUNT_FLAGS:
        target = next((scripts[place] for place in places if place in scripts), None)  # `torchrun $(which ours)`
    is_named = list(places) == ["serve"] and not options and source.form is Form.MARKDOWN
    if target is None or is_named:  # a tool's name with its verb, in a sentence: a server is told what to serve
        return None
    request = asked or request_of_words(runner)
    hosts, processes = on_hosts(tool, options, processes_of(tool, target, options, {**variables, **own}))
    processes = processes or request.gpus
    nodes = next((as_count(options.get(name)) for name in NODE_FLAGS if name in options), 0) or request.nodes or hosts
    configs = tuple(
        word
        for name, word in [*(("", place) for place in places), *options.items()]
        if word != target and (_is_config(name, word) or (tool == "spacy" and word.endswith(".cfg")))
    )
    is_divided, where = (processes or 0) > 1 or starts_several(tool, options), Evidence(source.path, line)
    return LaunchCommand(
        tool, target, processes, nodes, options, configs, where, source, tuple(places), " ".join(put.split())[:300],
        where, "", is_divided, without_comment(text).rstrip().endswith("&"), environment=own,
    )  # fmt: skip


def _is_config(option: str, word: str) -> bool:
    """Whether a word names a configuration: a YAML, JSON, TOML or Python file that is not the run's data."""
    is_data = _DATA.search(option) and word.endswith(".json")
    return not is_data and bool(_CONFIG.fullmatch(word) or regex(r"[\w./-]+\.py").fullmatch(word.partition(":")[0]))


def _of_source(
    checkout: Checkout,
    source: Source,
    seen: set[str],
    given: Mapping[str, str] = NOTHING,
    depth: int = 0,
    folder: str = "",
) -> Iterator[LaunchCommand]:
    """Yield a file's commands, each script that it starts in its place. ``seen`` collects the scripts that were entered."""
    request = machine_request(source)
    scripts = scripts_of_its_own(checkout)
    for line in command_lines(source, given, folder, sourcing(checkout, source)):
        if not may_start(line.text, scripts):
            continue
        command = parse_command(at_hand(checkout, line), line.variables, source, line.line, scripts)
        if command is not None and not is_a_word_alone(checkout, source, command.tool, command.options):
            known = {**environment_of(checkout, source, line.variables, line.text), **command.environment}
            command = replace(command, section=line.section, folder=line.folder, environment=known)
            yield _requested(command, request)
        elif depth < MAX_FOLLOWED:
            yield from _led_to(checkout, source, line, seen, depth)


def _led_to(
    checkout: Checkout, source: Source, line: CommandLine, seen: set[str], depth: int
) -> Iterator[LaunchCommand]:
    """Yield the commands of the script that a line starts, with the line's variables and parameters put into them."""
    known = {name: value for name, value in line.variables.items() if not is_left_open(value)}
    own, runner, words = without_runners(with_variables_in_front(split_words(substitute(line.text, known))))
    lead = followed(words) if words else None
    if lead is None:
        return
    name, parameters = lead
    if name.startswith("make:"):
        script, target = next((s for s in checkout.of(Form.SHELL) if is_makefile(s)), None), name[5:]
    else:
        there = found_there(checkout, source.path, line.folder, name) if line.folder else None
        script, target = there or checkout.find_named(name), ""
    if script is None and (text := openmmlab_launch(name, parameters, own)) is not None:
        command = parse_command(text, NOTHING, source, line.line)
        yield from [] if command is None else [replace(command, section=line.section, folder=line.folder)]
    if script is None or script is source or script.form not in _LED_TO or is_makefile(script) != bool(target):
        return
    taken = set_by_options(script.text, parameters)
    passed = {**handed_places(parameters[:20]), **handed_words(script.text, parameters)} if taken is None else taken
    passed = passed or (example_call(script) if not parameters else {})
    above = {**environment_of(checkout, source, line.variables), **own}  # a shell's children have it, and theirs
    request = request_of_words(runner + words)
    said = Evidence(source.path, line.line)
    way = " ".join([script.path, target, *parameters, *own])
    if way in seen or len(seen) > MAX_ENTERED or len(script.text) > MAX_SCRIPT:
        return
    seen |= {script.path, way}
    for command in _of_source(checkout, script, seen, {**above, **passed}, depth + 1, line.folder):
        if not target or command.section == target or command.evidence.path != script.path:
            known = {**above, **command.environment}
            section = line.section or command.section
            yield _requested(replace(command, said=said, section=section, environment=known), request)
    handed = handed_on(own, parameters) if request.gpus is None else request
    for inner in dict.fromkeys(checkout.find_named(word) for word in parameters if word.endswith(".sh")):
        if inner is not None and inner.form is Form.SHELL and inner.path not in seen:
            seen.add(inner.path)
            for command in _of_source(checkout, inner, seen, own, depth + 1):
                yield _requested(replace(command, said=said, section=line.section or command.section), handed)


def _requested(command: LaunchCommand, request: MachineRequest) -> LaunchCommand:
    """Return the command with the GPUs that its file asks a scheduler for, where it does not say a number itself."""
    gpus = command.processes or request.gpus
    nodes = command.nodes if command.nodes > 1 else request.nodes or 1
    return replace(command, processes=gpus, nodes=nodes, is_divided=command.is_divided or (gpus or 0) > 1)
