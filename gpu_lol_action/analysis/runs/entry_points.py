"""Everything that can be started: commands, configurations that are runs, and programs, each with what it does."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import field

from gpu_lol_action.analysis.command_lines.launch_tools import INTERFACES
from gpu_lol_action.analysis.commands.command_verbs import (
    SERVING_TARGET,
    TRAINING_TARGET,
    by_library,
    by_name,
    by_verb,
    by_words,
    is_configured_to_train,
    is_named_for_training,
    is_told_to_train,
    is_training_chapter,
    only_asks,
)
from gpu_lol_action.analysis.commands.console_scripts import console_programs, script_source
from gpu_lol_action.analysis.commands.copied_configs import copied_config
from gpu_lol_action.analysis.commands.hydra_names import hydra_named
from gpu_lol_action.analysis.commands.launch_commands import LaunchCommand, launch_commands
from gpu_lol_action.analysis.commands.launcher_configs import family_of
from gpu_lol_action.analysis.commands.linked_configs import linked_config
from gpu_lol_action.analysis.commands.moved_folders import found_there, is_outside
from gpu_lol_action.analysis.commands.placed_words import with_placed
from gpu_lol_action.analysis.commands.placeholder_commands import is_elsewhere, is_fetched
from gpu_lol_action.analysis.commands.plain_scripts import is_plain_script
from gpu_lol_action.analysis.commands.program_configs import own_configs, plain_path
from gpu_lol_action.analysis.commands.remote_models import asks_a_service
from gpu_lol_action.analysis.commands.routed_verbs import behind_verb
from gpu_lol_action.analysis.commands.services import service_of
from gpu_lol_action.analysis.commands.sibling_configs import sibling_config
from gpu_lol_action.analysis.commands.sky_tasks import quotes_task
from gpu_lol_action.analysis.commands.training_configs import ON_ONE_CARD, training_configs
from gpu_lol_action.analysis.documents.shown_programs import is_shown, shown_behavior
from gpu_lol_action.analysis.files.checkout import Checkout, Source
from gpu_lol_action.analysis.files.effort import remembered
from gpu_lol_action.analysis.formats.paths import Form
from gpu_lol_action.analysis.programs.behavior import Behavior, behavior_of
from gpu_lol_action.analysis.programs.early_leaves import leaves_early
from gpu_lol_action.analysis.programs.gradients_only import only_looks_at_gradients
from gpu_lol_action.analysis.programs.import_graph import import_closure, local_imports
from gpu_lol_action.analysis.programs.namesakes import program_named
from gpu_lol_action.analysis.programs.option_aliases import by_long_names
from gpu_lol_action.analysis.runs.program_behavior import program_behavior
from gpu_lol_action.domain.finding import Confidence, Evidence, Finding
from gpu_lol_action.domain.patterns import regex
from gpu_lol_action.domain.records import record

_BARE = regex(r"(?:cli|app|main|__main__|run)\.py")
MAX_PROGRAMS = 300
# Of a program's file that merely assigns; OpenMMLab's configurations, which only call, import every class.
MOST_IMPORTS = 8
_MAKES = regex(r"^(?:def (?!get_config\()|(?:class|for|while) )", re.MULTILINE)
MAX_PLACES = 4  # variables in the name of a configuration
_WORDS = regex(r"(?:[^-_.]|(?<=\d)\.(?=\d))+")


@record(frozen=True, slots=True, eq=False)
class Run:
    """What is started: behavior, where it is said, and what configures it. ``command`` None: the script alone.

    ``reason`` says why it is the run to provision for, or what sets it behind that one; ``name`` is its profile's name.
    """

    behavior: Behavior
    evidence: Evidence
    command: LaunchCommand | None = None
    script: Source | None = None
    configs: tuple[Source, ...] = ()
    options: Mapping[str, str] = field(default_factory=dict)
    reason: str = ""
    name: str = ""

    @property
    def shown(self) -> str:
        """The run in a few words, for a finding."""
        if self.command is not None:
            target = self.command.target.rsplit("/", 1)[-1]
            return target if target.startswith(self.command.tool) else f"{self.command.tool} {target}"
        if is_shown(self.script):
            return f"the code in {self.evidence.path}"
        return self.script.path if self.script else self.evidence.path


def detect(checkout: Checkout, run: Run | None) -> list[Finding]:
    """Return what is started and why it counts, as a finding."""
    del checkout
    if run is None:
        return []
    alone = "configures the run" if run.script is None else "is the program to start"
    said = "is the command to start" if run.command else alone
    confidence = Confidence.HIGH if run.command else Confidence.MEDIUM
    why = f"`{run.shown}` {said}" + (f": {run.reason}" if run.reason else "")
    return [Finding("entry_point", run.shown, why, confidence, run.evidence)]


def documented_runs(checkout: Checkout) -> list[Run]:
    """Return all commands that start something of this checkout, in the order in which a reader meets them.

    What they do is not looked up yet (``looked_up``): to look into every program is most of what a large tree costs.
    """
    found = []
    for command in launch_commands(checkout):
        script = _script(checkout, command)
        if quotes_task(checkout, command.said) or is_outside(checkout, command.evidence.path, command.folder):
            continue
        if script is not None or not is_elsewhere(checkout, command):
            found.append(Run(Behavior.TRAINS, command.evidence, command, script, (), command.options))
    return _without_printed(found)


def _without_printed(runs: list[Run]) -> list[Run]:
    """Return commands without those that a script prints before it runs them (``echo "torchrun train.py"``)."""
    told = [(run, run.command) for run in runs if run.command is not None]
    started = {(c.evidence.path, c.target) for _, c in told if not _PRINTED.match(c.text)}
    return [run for run, c in told if not _PRINTED.match(c.text) or (c.evidence.path, c.target) not in started]


def configured_runs(checkout: Checkout) -> list[Run]:
    """Return the runs of a folder that holds only configuration; those that name a model first, and the plainest names.

    Variants say in their names what is different: `qlora.yaml`, `qlora-fsdp.yaml`.
    """
    configs = sorted(
        training_configs(checkout),
        key=lambda c: (not c.names_model, not c.is_sized, c.source.folder, _words_of(c.source.name)),
    )
    return [Run(config.behavior, config.evidence, None, None, (config.source,)) for config in configs]


def _words_of(name: str) -> int:
    """Return how many words a recipe's name has; that it is for one card makes it no variant."""
    return len(_WORDS.findall(ON_ONE_CARD.sub("", name)))


def programs(checkout: Checkout) -> tuple[Source, ...]:
    """Return the programs and notebooks that are looked at as runs, shallow ones first."""
    # Without its ending, so that `train.py` comes before `train-large.py`.
    ordered = sorted(checkout.of(Form.PYTHON, Form.NOTEBOOK), key=lambda s: (s.depth, s.path.rpartition(".")[0]))
    return tuple(source for source in ordered[:MAX_PROGRAMS] if source.code is not None)


def program_runs(sources: Iterable[Source]) -> list[Run]:
    """Return programs as runs, in their order; what they do is not looked up yet (``looked_up``)."""
    return [Run(Behavior.TRAINS, Evidence(source.path), None, source) for source in sources if source.code is not None]


_PRINTED = regex(r"(?:echo|printf)\s")
# `$ROOT/tools/train.py`: a folder that the reader knows, most often that of the checkout.
_IN_A_FOLDER = regex(r"(?:\$(?:\w+|\{\w+\}|\([^$]{0,100}\))|`[^`]{1,100}`)/([^$]+)")


@remembered
def looked_up(checkout: Checkout, run: Run) -> Run | None:
    """Return a run with what it does and what configures it; None where it neither trains nor infers."""
    if run.command is not None:
        return _of_command(checkout, run, run.command)
    return _of_program(checkout, run.script) if run.script is not None else run


def _of_program(checkout: Checkout, source: Source) -> Run | None:
    if source.code is None:
        return None
    is_entry = source.form is Form.PYTHON and is_started(checkout, source) and not is_shown(source)
    behavior, call = shown_behavior(checkout, source) if is_shown(source) else behavior_of(source.code)
    if is_entry or (behavior is Behavior.NEITHER and source.depth == 0):
        behavior = program_behavior(checkout, source)
    elif behavior is Behavior.TRAINS and only_looks_at_gradients(import_closure(checkout, source)):
        behavior = Behavior.INFERS
    if behavior is Behavior.NEITHER:
        return None
    where = Evidence(source.path, call.line if call else 0)
    return Run(behavior, where, None, source, own_configs(checkout, source))


def is_started(checkout: Checkout, source: Source) -> bool:
    """Whether a program is made to be started: a main guard, a service, a console script, a notebook, or a script that works as it is read."""
    return (
        source.form is Form.NOTEBOOK
        or bool(source.code and source.code.has_main)
        or source.name == "__main__.py"
        or is_plain_script(checkout, source)
        or service_of(checkout, source) is not None
        or source in console_programs(checkout)
    )


def _of_command(checkout: Checkout, run: Run, command: LaunchCommand) -> Run | None:
    """Return the run of a command that trains or infers; None for everything else (data preparation, other people's files)."""
    if asks_a_service(command):
        return None
    script = run.script
    word = script.name.rpartition(".")[0] if script is not None else ""
    names = (*command.configs, *_without_ending(checkout, command))
    found = hydra_named(checkout, command.options, script)
    found += [source for name in names if (source := _config(checkout, command, name, word)) is not None]
    configs = tuple(source for source in dict.fromkeys(found) if source is not script)
    behavior = Behavior.NEITHER
    if script is not None and script.code is not None:
        behavior = program_behavior(checkout, script)
        behavior = Behavior.NEITHER if only_asks(command) else behavior
        behavior = behavior if behavior is Behavior.NEITHER else by_verb(command) or behavior
        if behavior is Behavior.INFERS and is_told_to_train(command) and not SERVING_TARGET.search(script.name):
            behavior = Behavior.TRAINS  # what takes the steps lies in a library that is not here
        # A page in a browser shows a model, whatever the modules that it imports could do.
        is_page = command.tool in INTERFACES and behavior is Behavior.TRAINS
        if is_page or (
            behavior is Behavior.TRAINS and leaves_early(script, by_long_names(checkout, script, command.options))
        ):
            behavior = Behavior.INFERS
        if behavior is Behavior.NEITHER and is_training_chapter(command):
            behavior = Behavior.TRAINS  # by programs that it starts in its turn
        is_open = behavior is Behavior.INFERS and _BARE.fullmatch(script.name) is not None
        if is_open and (
            is_named_for_training(command) or (script.mentions("train") and is_configured_to_train(command, configs))
        ):
            behavior = Behavior.TRAINS  # one program for all: the script around it or its configuration says what for
    elif command.is_tool or command.is_launcher or (script is None and is_fetched(command)):
        behavior = by_words(command, configs)
    elif script is None and command.tool == "python" and command.target.endswith(".py"):
        behavior = by_name(command)
    else:
        behavior = by_library(command)
    # MPI starts simulations as well; the other launchers start one process per GPU.
    if behavior is Behavior.NEITHER and command.tool != "mpirun" and (command.is_launcher or command.is_tool):
        trains = script is None or TRAINING_TARGET.search(script.path)
        behavior = by_words(command, configs) if trains else Behavior.INFERS
    if behavior is Behavior.NEITHER:
        return None
    configs = (
        configs
        or linked_config(checkout, command)
        or copied_config(checkout, command)
        or sibling_config(checkout, command)
        or own_configs(checkout, script)
    )
    behind = command.words[command.words.index(command.target) + 1 :] if command.target in command.words else ()
    options = with_placed(by_long_names(checkout, script, command.options), script, behind)
    return Run(behavior, command.evidence, command, script, configs, options)


def _without_ending(checkout: Checkout, command: LaunchCommand) -> list[str]:
    """Return the configurations that a command names as modules are named, without their ending (``train.py configs/small``)."""
    bare = [word.removeprefix("./") for word in (*command.words[1:], *command.options.values())[:20]]
    paths = [word for word in bare if regex(r"(?:[\w-]+/)+[\w.-]+").fullmatch(word) and checkout.find(word) is None]
    found = [word + end for word in paths for end in (".py", ".yaml", ".yml", ".json") if checkout.find(word + end)]
    # Tools that bring configurations know each by its name, wherever it lies (`xtuner train internlm_7b_qlora_alpaca_e3`).
    names = [word for word in bare if command.is_tool and regex(r"\w{1,100}").fullmatch(word) and word.count("_") > 1]
    return [*found, *(word + ".py" for word in names if checkout.find_named(word + ".py"))]


def _script(checkout: Checkout, command: LaunchCommand) -> Source | None:
    if not command.target.endswith((".py", ".ipynb")):
        module = script_source(checkout, command.target) if regex(r"[\w.]+").fullmatch(command.target) else None
        return (behind_verb(checkout, module, command) or module) if module is not None else None
    first = _named_program(checkout, command)
    if first is None or first.code is None:
        return first
    # A small launcher of the repository's own is told which program to start (`python run.py train.py -c x.yml`).
    inner = [s for word in command.words if word.endswith(".py") and (s := checkout.find_named(word)) is not None]
    started = [s for s in inner if s is not first and s.code is not None and s.code.has_main]
    return started[0] if started and behavior_of(first.code)[0] is Behavior.NEITHER else first


def _named_program(checkout: Checkout, command: LaunchCommand) -> Source | None:
    """Return the file that a command's target means, seen from the root, from the command's own folder, or anywhere."""
    target = command.target.removeprefix("./")
    if target.count("$") > 2:
        return None
    if "$" in target:
        # `src/$TASK.py`: a family of programs; the one that trains stands for it.
        pattern = re.compile(regex(r"\\\$(?:\\\{)?\w+(?:\\\})?").sub(r"[\\w-]+", re.escape(target)))
        family = [source for source in checkout.of(Form.PYTHON) if pattern.fullmatch(source.path)]
        if not family and (inner := _IN_A_FOLDER.fullmatch(target)):
            return checkout.find_named(inner[1])
        trains = [source for source in family if program_behavior(checkout, source) is Behavior.TRAINS]
        return next(iter(trains or family), None)
    if command.folder and (there := found_there(checkout, command.evidence.path, command.folder, target)) is not None:
        return there
    own = command.evidence.path.rpartition("/")[0]
    beside = checkout.find(plain_path(f"{own}/{target}")) if own else None
    return checkout.find(plain_path(target)) or beside or program_named(checkout, target, command.options)


def _config(checkout: Checkout, command: LaunchCommand, name: str, word: str) -> Source | None:
    """Return the configuration that a word names; a program counts only where it merely assigns."""
    if 0 < name.count("$") <= MAX_PLACES and "/" in name:
        return family_of(checkout, name, word)
    path = name.partition(":")[0]
    there = found_there(checkout, command.evidence.path, command.folder, path) if command.folder else None
    source = there or checkout.find_named(path)
    if source is None or source.code is None:
        return source
    if source.code.has_main or (len(source.code.imports) > MOST_IMPORTS and _MAKES.search(source.text)):
        return None
    return source


__all__ = ["Run", "configured_runs", "detect", "documented_runs", "import_closure", "is_started", "local_imports", "looked_up",
           "program_runs", "programs"]  # fmt: skip
