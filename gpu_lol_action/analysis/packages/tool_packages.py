"""Packages behind the program that starts the run where no list names them: ``swift sft`` needs ms-swift, and no import says so."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from collections.abc import Set as AbstractSet

from gpu_lol_action.analysis.command_lines.model_tools import MODEL_TOOLS
from gpu_lol_action.analysis.command_lines.research_tools import RESEARCH_TOOLS
from gpu_lol_action.analysis.commands.launch_commands import LaunchCommand
from gpu_lol_action.analysis.files.checkout import Source
from gpu_lol_action.analysis.files.configuration import read_settings
from gpu_lol_action.analysis.formats.import_names import package_of
from gpu_lol_action.analysis.package_lists.package_files import package_name
from gpu_lol_action.analysis.runs.entry_points import Run
from gpu_lol_action.analysis.runs.spacy_training import spacy_packages
from gpu_lol_action.analysis.runs.trainer_parts import configured_parts, is_brought, trainer_parts
from gpu_lol_action.domain.finding import Confidence, Evidence, Finding
from gpu_lol_action.domain.patterns import regex

# The tool's command, and the name under which pip finds it.
_TOOLS = {
    "swift": "ms-swift", "tune": "torchtune", "axolotl": "axolotl", "llamafactory-cli": "llamafactory", "litgpt": "litgpt",
    "xtuner": "xtuner", "trl": "trl", "vllm": "vllm", "sglang": "sglang", "lmdeploy": "lmdeploy", "yolo": "ultralytics",
    "deepspeed": "deepspeed", "accelerate": "accelerate", "streamlit": "streamlit", "gradio": "gradio", "chainlit": "chainlit",
    "autotrain": "autotrain-advanced", "composer": "mosaicml", "colossalai": "colossalai", "horovodrun": "horovod",
    "fairseq-train": "fairseq", "fairseq-hydra-train": "fairseq", "fairseq-generate": "fairseq", "fairseq-interactive": "fairseq", "ns-train": "nerfstudio", "oumi": "oumi",
    "megatron": "ms-swift", "openrlhf": "openrlhf", "unsloth": "unsloth", "mim": "openmim", "parlai": "parlai", "lm_eval": "lm-eval", "lm-eval": "lm-eval", "lerobot-train": "lerobot", "nequip-train": "nequip", "trtllm-serve": "tensorrt-llm", "spacy": "spacy", "mistral-chat": "mistral-inference",
    **RESEARCH_TOOLS, **MODEL_TOOLS,
}  # fmt: skip
# What a tool needs and leaves to its user: ms-swift's Megatron.
_BESIDE = {"megatron": ("megatron-core",)}
# Words that only one trainer's configuration has, all of them together.
_OF_TRL = (
    "model_name_or_path:",
    "per_device_train_batch_size:",
    "dataset_",
)  # a program of one's own may read such, too
_OF_EXPORT = ("\nexport_dir:", "\ntemplate:", "model_name_or_path:")
_CONFIGURATIONS = (
    (("torchtune.",), "torchtune"),
    (("finetuning_type:",), "llamafactory"),
    (_OF_EXPORT, "llamafactory"),
    (("cutoff_len:", "micro_batch_size:", "train_dataset:"), "llamafactory"),  # its next version's
    (("litgpt.data.",), "litgpt"),
    (("base_model:", "micro_batch_size:", "datasets:"), "axolotl"),
    (("ddp_bucket_cap_mb:", "pp_engine:"), "nanotron"),
    (("trainer:", "exp_manager:"), "nemo-toolkit"),
    (("!new:speechbrain.",), "speechbrain"),
    (("distributed_world_size:", "max_update:", "_name:"), "fairseq"),
    (("compute_environment:", "distributed_type:", "num_processes:"), "accelerate"),
    (("trainer_type:", "model_max_length:", "model_name:"), "oumi"),
    (_OF_TRL, "trl"),
)
# DeepSpeed's own configuration is handed on by whatever trainer: `deepspeed: examples/deepspeed/ds_z3_config.json`.
_HANDED_TO_DEEPSPEED = regex(r"(?m)^deepspeed:[ \t]{0,4}[\"']?[\w./-]{1,200}\.json\b")
# timm's programs take NVIDIA's mixed precision where they are told to, and import it only if it is there.
_OPTIONS = {
    "deepspeed": "deepspeed",
    "use_deepspeed": "deepspeed",
    "deepspeed_config_file": "deepspeed",
    "apex_amp": "apex",
}
# What accelerate, and what Oumi, is told to start its processes by.
_BY_DEEPSPEED = regex(r"(?m)^distributed_type:\s{0,4}[\"']?DEEPSPEED\b|^\s{1,8}enable_deepspeed:\s{0,4}[Tt]rue\b")
# The engine that samples answers in reinforcement learning is named by an option, and imported by its library alone.
_ENGINE = ("rollout.name", "policy.generation.backend")
_SERVED = regex(r"^[^#\n]{0,200}\btrl vllm-serve\b", re.MULTILINE)
_ENGINES = {"vllm": "vllm", "sglang": "sglang[all]"}


def tool_packages(run: Run | None, known: AbstractSet[str], own: AbstractSet[str]) -> list[Finding]:
    """Return the packages that the run's command and configuration need besides ``known`` ones and the checkout's ``own``."""
    found: dict[str, Finding] = {}
    for package, why, where in _needed(run) if run is not None else ():
        if package_name(package) not in known and package not in own and not is_brought(package, known):
            finding = Finding("dependencies.requirements", package, why, Confidence.MEDIUM, where)
            found.setdefault(package, finding)
    return list(found.values())


def starting_packages(
    runs: Iterable[Run], known: AbstractSet[str], own: AbstractSet[str], listed: AbstractSet[str]
) -> list[Finding]:
    """Return what starts the runs beside the first, and what their trainers are told to use: whoever starts one finds it installed.

    ``listed`` are those of the ``known`` packages that are not the first run's alone.
    """
    found: dict[str, Finding] = {}
    for package, why, where in (item for run in runs for item in _starting(run)):
        if package_name(package) not in known and package not in own and not is_brought(package, listed):
            finding = Finding("dependencies.requirements", package, why, Confidence.MEDIUM, where)
            found.setdefault(package_name(package), finding)
    return list(found.values())


def _starting(run: Run) -> Iterator[tuple[str, str, Evidence]]:
    if run.command is not None and run.command.is_launcher and run.command.tool in _TOOLS:
        yield _TOOLS[run.command.tool], f"`{run.command.tool}` starts another run and no list names it", run.evidence
    if _of_lightning(run):
        yield (
            "deepspeed",
            f"`--strategy {run.options['strategy']}` starts another run and no list names it",
            run.evidence,
        )
    for source in run.configs if run.script is None else ():
        trainer = next((trainer for marks, trainer in _CONFIGURATIONS if all(m in source.text for m in marks)), "")
        yield from _asked(configured_parts(trainer, source))


def _of_lightning(run: Run) -> bool:
    """Whether Lightning is told to divide its work by DeepSpeed, which it imports by itself."""
    return run.options.get("strategy", "").strip("\"'").startswith("deepspeed")


# Hugging Face's own programs, started where their library is cloned, and what their list of packages adds to it.
_EXAMPLE = regex(
    r"run_(?:clm|mlm|plm|glue|ner|qa|swag|squad|summarization|translation|seq2seq_qa|image_classification|mae|mim)\w{0,20}\.py"
)
_OF_EXAMPLES = ("transformers", "datasets", "accelerate", "evaluate")
# An option of its trainer's own, and what that needs.
_OF_A_TRAINER = "per_device_train_batch_size"
_BEHIND_A_TRAINER = ("transformers", "accelerate")


def _of_a_missing_program(run: Run) -> Iterator[tuple[str, str]]:
    """Yield what a program needs that is started from a clone of another project, with the words that say so."""
    command = run.command
    if command is None or run.script is not None or not command.target.endswith(".py"):
        return
    if command.tool == "torchrun":
        yield "torch", "torchrun"
    if "/cli/" in command.target and (package := package_of(command.target.removeprefix("src/").replace("/", "."))):
        yield package, command.target  # a library's own command line, started where it is cloned
    name = command.target.rsplit("/", 1)[-1]
    if _EXAMPLE.fullmatch(name) and "model_name_or_path" in run.options:
        yield from ((package, name) for package in _OF_EXAMPLES)
    elif _OF_A_TRAINER in run.options:
        yield from ((package, f"--{_OF_A_TRAINER}") for package in _BEHIND_A_TRAINER)


def _takes_modules(command: LaunchCommand) -> bool:
    return command.tool == "python" or command.is_launcher


def _is_module(command: LaunchCommand) -> bool:
    """Whether a module is started, and no program of one word: `-m` stands before that."""
    return "." in command.target or f"-m {command.target} " in f"{command.source.text} ".replace("\n", " ")


def _needed(run: Run) -> Iterator[tuple[str, str, Evidence]]:
    if run.command is not None and run.command.tool in _TOOLS:
        for package in (_TOOLS[run.command.tool], *_BESIDE.get(run.command.tool, ())):
            yield package, f"`{run.command.tool}` starts the run and no list names it", run.evidence
        options = ((key, value, run.evidence) for key, value in run.options.items())
        yield from _asked(trainer_parts(_TOOLS[run.command.tool], options, run.evidence))
    # A launcher starts it in processes of its own: `torchrun $(which unicore-train)`.
    launched = run.command.target if run.command is not None and run.script is None else ""
    if launched in RESEARCH_TOOLS and run.command is not None and run.command.tool != launched:
        yield RESEARCH_TOOLS[launched], f"`{launched}` is started and no list names it", run.evidence
    if run.command is not None and run.script is None and _takes_modules(run.command) and _is_module(run.command):
        package = None if run.command.target.endswith(".py") else package_of(run.command.target)
        if package is not None:
            yield (
                package,
                f"`{run.command.tool} -m {run.command.target}` starts the run and no list names it",
                run.evidence,
            )
    for package, why in spacy_packages(run):
        yield package, why, run.evidence
    for package, word in _of_a_missing_program(run):
        yield package, f"`{word}` starts the run and no list names it", run.evidence
    for option, package in _OPTIONS.items():
        if option in run.options:
            requirement = package_of(package) or package
            yield requirement, f"`--{option}` is given and no list names it", run.evidence
    if _of_lightning(run):
        yield "deepspeed", f"`--strategy {run.options['strategy']}` is given and no list names it", run.evidence
    yield from _engines(run)
    for source in run.configs:
        yield from _configured(source, is_alone=run.script is None)


def _engines(run: Run) -> Iterator[tuple[str, str, Evidence]]:
    """Yield the engines that options and configurations say answers are sampled with."""
    said = [(option, value, run.evidence) for option, value in run.options.items()]
    said += [(each.path, each.text, each.evidence) for source in run.configs for each in read_settings(source)]
    for name, value, where in said:
        engine = _ENGINES.get(value.strip("\"'")) if name.endswith(_ENGINE) else None
        if engine is not None:
            yield engine, f"`{name}={value[:80]}` samples with it and no list names it", where
    if run.command is not None and (served := _SERVED.search(run.command.source.text)) is not None:
        line = run.command.source.text.count("\n", 0, served.start()) + 1
        yield "vllm", "`trl vllm-serve` starts it and no list names it", Evidence(run.command.source.path, line)


def _configured(source: Source, *, is_alone: bool) -> Iterator[tuple[str, str, Evidence]]:
    """Yield what a configuration's own words name: one trainer's, or what it starts or divides its processes by.

    ``is_alone``: the program that reads it is not here.
    """
    for pattern, by in ((_BY_DEEPSPEED, "accelerate is told to use"), (_HANDED_TO_DEEPSPEED, "the trainer is told of")):
        if (told := pattern.search(source.text)) is not None:
            place = Evidence(source.path, source.text.count("\n", 0, told.start()) + 1)
            yield "deepspeed", f"{by} `DEEPSPEED` and no list names it", place
            break
    for marks, package in _CONFIGURATIONS:
        if (is_alone or marks not in (_OF_TRL, _OF_EXPORT)) and all(mark in source.text for mark in marks):
            shown = marks[0].strip(".:\n")
            yield package, f"`{shown}` is configured and no list names it", Evidence(source.path)
            if is_alone:
                yield from _asked(configured_parts(package, source))
            break


def _asked(parts: Iterable[tuple[str, str, Evidence]]) -> Iterator[tuple[str, str, Evidence]]:
    yield from ((part, f"`{word}` asks for it and no list names it", where) for part, word, where in parts)
