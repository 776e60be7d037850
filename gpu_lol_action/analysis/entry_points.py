"""The run that the environment is for: the command a reader is told to start, its script, and its configuration files."""

from __future__ import annotations

import functools
import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from gpu_lol_action.analysis.behavior import GPU_MODULES, Behavior, behavior_of
from gpu_lol_action.analysis.checkout import Checkout, Source
from gpu_lol_action.analysis.configuration import read_settings
from gpu_lol_action.analysis.launch_commands import LaunchCommand, launch_commands
from gpu_lol_action.analysis.paths import Form
from gpu_lol_action.analysis.python_code import Call
from gpu_lol_action.domain.finding import Confidence, Evidence, Finding

# Keys that only a training or serving configuration has; two of them make a YAML file one.
_CONFIG_MARKS = frozenset({
    "base_model", "model_name_or_path", "learning_rate", "num_train_epochs", "num_epochs", "micro_batch_size",
    "per_device_train_batch_size", "gradient_accumulation_steps", "sequence_len", "cutoff_len", "finetuning_type",
    "max_seq_length", "lora_r", "lora_rank", "adapter", "optimizer", "max_steps", "lr_scheduler_type", "_component_",
})  # fmt: skip
_TRAINS = frozenset({"learning_rate", "num_train_epochs", "num_epochs", "micro_batch_size", "per_device_train_batch_size",
                     "gradient_accumulation_steps", "finetuning_type", "lora_r", "lora_rank", "adapter", "optimizer"})  # fmt: skip
_TRAINING_TARGET = re.compile(
    r"(?:^|[/_.\s-])(?:train|finetune|fine_tune|sft|dpo|grpo|pretrain|ppo|lora)", re.IGNORECASE
)
_SERVING_TARGET = re.compile(
    r"(?:^|[_.-])(?:detect|infer|inference|demo|sample|generate|predict|chat|serve|server|app|gradio|webui)(?:[_.-]|$)"
)
_SERVING_TOOLS = ("vllm", "sglang", "text-generation-launcher", "lmdeploy")
# Steps before or after the run itself.
_BESIDE = re.compile(
    r"prepare|preprocess|download|convert|export|eval|test|data|merge|upload|install|benchmark|delinearize|quantize|fetch",
    re.IGNORECASE,
)
_NAMES = (
    "train",
    "main",
    "finetune",
    "run",
    "pretrain",
    "sft",
    "infer",
    "inference",
    "generate",
    "sample",
    "demo",
    "app",
    "serve",
)


@dataclass(frozen=True, slots=True, eq=False)
class Run:
    """What is started: behavior, where it is said, and what configures it. ``command`` None: the script alone."""

    behavior: Behavior
    evidence: Evidence
    command: LaunchCommand | None = None
    script: Source | None = None
    configs: tuple[Source, ...] = ()
    options: Mapping[str, str] = field(default_factory=dict)

    @property
    def shown(self) -> str:
        """The run in a few words, for a finding."""
        if self.command is not None:
            target = self.command.target.rsplit("/", 1)[-1]
            return target if target.startswith(self.command.tool) else f"{self.command.tool} {target}"
        return self.script.path if self.script else self.evidence.path


@functools.lru_cache(maxsize=4)
def primary_run(checkout: Checkout) -> Run | None:
    """Return the run to provision for: a documented or scripted command, else a configuration, else a program."""
    documented = [run for command in launch_commands(checkout) if (run := _documented(checkout, command)) is not None]
    if documented:
        return _first(documented)
    configured = _configured(checkout)
    return configured or _program(checkout)


def detect(checkout: Checkout, run: Run | None) -> list[Finding]:
    """Return what is started, as a finding."""
    del checkout
    if run is None:
        return []
    said = (
        "is the command to start"
        if run.command
        else "configures the run"
        if run.script is None
        else "is the program to start"
    )
    confidence = Confidence.HIGH if run.command else Confidence.MEDIUM
    return [Finding("entry_point", run.shown, f"`{run.shown}` {said}", confidence, run.evidence)]


def _documented(checkout: Checkout, command: LaunchCommand) -> Run | None:
    """Return the run of a command that trains or infers; None for everything else (data preparation, tests)."""
    script = (
        checkout.find_named(command.target) if command.target.endswith(".py") else _module(checkout, command.target)
    )
    configs = tuple(source for name in command.configs if (source := checkout.find_named(name)) is not None)
    behavior = Behavior.NEITHER
    if script is not None and script.code is not None:
        behavior = _with_imports(checkout, script)
    elif command.is_tool or command.is_launcher:
        behavior = _by_words(command)
    if behavior is Behavior.NEITHER and (command.is_launcher or command.is_tool):
        trains = script is None or _TRAINING_TARGET.search(script.path)
        behavior = _by_words(command) if trains else Behavior.INFERS
    if behavior is Behavior.NEITHER:
        return None
    if command.options.get("device") == "cpu":
        return None
    return Run(behavior, command.evidence, command, script, configs or _own_configs(checkout, script), command.options)


def _own_configs(checkout: Checkout, script: Source | None) -> tuple[Source, ...]:
    """Return the configuration files that a program's options name as their default."""
    if script is None or script.code is None:
        return ()
    named = [default.text for default in script.code.defaults if re.search(r"\.(?:ya?ml|json)$", default.text)]
    found = [source for name in named if (source := checkout.find_named(name)) is not None and read_settings(source)]
    return tuple(dict.fromkeys(found))[:3]


def _module(checkout: Checkout, target: str) -> Source | None:
    if not re.fullmatch(r"[\w.]+", target):
        return None
    return checkout.find(f"{target.replace('.', '/')}.py") or checkout.find(f"src/{target.replace('.', '/')}.py")


def _with_imports(checkout: Checkout, script: Source) -> Behavior:
    """Return what a script does, itself or through the modules of this checkout that it imports, three steps deep."""
    if script.code is None:
        return Behavior.NEITHER
    closure = import_closure(checkout, script)
    uses_gpu = any(source.code and source.code.imported() & GPU_MODULES for source in closure)
    own = behavior_of(script.code, uses_gpu=uses_gpu)[0]
    if own is Behavior.TRAINS:
        return own
    if uses_gpu and _SERVING_TARGET.search(script.name):
        return Behavior.INFERS
    inner = [behavior_of(source.code)[0] for source in closure[1:] if source.code]
    if Behavior.TRAINS in inner and (own is Behavior.NEITHER or _TRAINING_TARGET.search(script.path)):
        return Behavior.TRAINS
    if own is Behavior.NEITHER and Behavior.INFERS in inner:
        return Behavior.INFERS
    return own


def import_closure(checkout: Checkout, script: Source) -> tuple[Source, ...]:
    """Return the script and the files of this checkout that it imports, directly or over two others; at most 60."""
    found = [script]
    level = [script]
    for _ in range(3):
        level = [inner for source in level for inner in local_imports(checkout, source) if inner not in found]
        found.extend(dict.fromkeys(level))
    return tuple(dict.fromkeys(found))[:60]


def local_imports(checkout: Checkout, script: Source) -> tuple[Source, ...]:
    """Return the files of this checkout that a script imports directly."""
    known = _known_imports(checkout)
    if script not in known:
        known[script] = _local_imports(checkout, script)
    return known[script]


@functools.lru_cache(maxsize=2)
def _known_imports(_checkout: Checkout) -> dict[Source, tuple[Source, ...]]:
    """Return what was found so far of one checkout: closures of many commands pass the same files."""
    return {}


def _local_imports(checkout: Checkout, script: Source) -> tuple[Source, ...]:
    if script.code is None:
        return ()
    found: list[Source] = []
    for item in script.code.imports:
        tail = item.module.lstrip(".").replace(".", "/")
        # A relative import starts at the script's own folder, one dot further up per dot.
        bases = (
            [f"{script.folder}/" if script.folder else ""]
            if item.module.startswith(".")
            else ["", "src/", f"{script.folder}/"]
        )
        paths = [f"{base}{tail}{end}" for base in dict.fromkeys(bases) for end in (".py", "/__init__.py")]
        found.extend(source for path in paths if (source := checkout.find(path)) is not None)
    return tuple(dict.fromkeys(found))


def _by_words(command: LaunchCommand) -> Behavior:
    words = f"{command.target} {' '.join(command.words[:2])}"
    if _SERVING_TARGET.search(command.target.rsplit("/", 1)[-1]) and not _TRAINING_TARGET.search(words):
        return Behavior.INFERS
    if (
        command.target.startswith(_SERVING_TOOLS)
        or command.tool in _SERVING_TOOLS
        or "serve" in words
        or "chat" in words
    ):
        return Behavior.INFERS
    return Behavior.TRAINS if _TRAINING_TARGET.search(words) or command.is_launcher else Behavior.INFERS


def _first(runs: list[Run]) -> Run:
    """Return the run that counts: of the shallowest document, training before inference where both stand at one depth."""
    depth = min(run.evidence.path.count("/") for run in runs)
    near = [run for run in runs if run.evidence.path.count("/") == depth]
    place = near[0].script.depth if near[0].script else 0
    level = [run for run in near if (run.script.depth if run.script else 0) <= place]
    main = [run for run in level if not _is_beside(run)]
    level = main or level
    return next((run for run in level if run.behavior is Behavior.TRAINS), near[0])


def _is_beside(run: Run) -> bool:
    """Whether the file that says it, or what it starts, is a step beside the run (preparation, evaluation)."""
    said = run.evidence.path.rsplit("/", 1)[-1] if not run.evidence.path.lower().endswith((".md", ".rst")) else ""
    started = run.command.target.rsplit("/", 1)[-1] if run.command else ""
    return bool(_BESIDE.search(said) or _BESIDE.search(started))


def _configured(checkout: Checkout) -> Run | None:
    """Return the run of a folder that holds only configuration: the shallowest file that looks like one."""
    if any(source.code and source.code.imports for source in checkout.of(Form.PYTHON, Form.NOTEBOOK)):
        return None
    for source in checkout.of(Form.YAML, Form.JSON):
        settings = read_settings(source)
        keys = {setting.key for setting in settings}
        if len(keys & _CONFIG_MARKS) < 2:
            continue
        line = next(s.evidence.line for s in settings if s.key in _CONFIG_MARKS)
        behavior = Behavior.TRAINS if keys & _TRAINS else Behavior.INFERS
        return Run(behavior, Evidence(source.path, line), None, None, (source,))
    return None


def _program(checkout: Checkout) -> Run | None:
    """Return the program that most looks like the one to start, where nothing says which."""
    programs = [source for source in checkout.of(Form.PYTHON, Form.NOTEBOOK) if source.code is not None]
    levels: dict[tuple[bool, int], list[Source]] = {}
    for source in programs:
        is_started = source.form is Form.NOTEBOOK or source.depth == 0 or (source.code and source.code.has_main)
        levels.setdefault((not is_started, source.depth), []).append(source)
    # What is started, and how deep it lies, ranks first: further levels are looked into only where nothing was found.
    ranked = next((found for level in sorted(levels) if (found := _ranked(checkout, levels[level]))), None)
    if not ranked:
        return None
    _, source, behavior, call = min(ranked, key=lambda item: item[0])
    where = Evidence(source.path, call.line if call else 0)
    return Run(behavior, where, None, source, _own_configs(checkout, source))


def _ranked(
    checkout: Checkout, programs: list[Source]
) -> list[tuple[tuple[bool, int, str], Source, Behavior, Call | None]]:
    """Return those of the programs that train or infer, each with its rank among them: training first, then telling names."""
    ranked: list[tuple[tuple[bool, int, str], Source, Behavior, Call | None]] = []
    for source in programs:
        if source.code is None:
            continue
        behavior, call = behavior_of(source.code)
        if behavior is Behavior.NEITHER:
            behavior = _with_imports(checkout, source) if source.code.has_main else behavior
        if behavior is Behavior.NEITHER:
            continue
        stem = source.name.rpartition(".")[0]
        named = next((index for index, name in enumerate(_NAMES) if name in stem), len(_NAMES))
        ranked.append(((behavior is not Behavior.TRAINS, named, source.path), source, behavior, call))
    return ranked
