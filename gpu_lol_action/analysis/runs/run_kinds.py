"""Which runs are steps beside the work, and which are variants of another run, told from their names, options and sections."""

from __future__ import annotations

import re
from collections.abc import Sequence

from gpu_lol_action.analysis.command_lines.launch_tools import TOOLS
from gpu_lol_action.analysis.commands.command_verbs import TRAINING_TARGET, only_judges
from gpu_lol_action.analysis.commands.launch_commands import LaunchCommand
from gpu_lol_action.analysis.commands.sky_tasks import sky_tasks_of
from gpu_lol_action.analysis.files.checkout import Source
from gpu_lol_action.analysis.formats.gpu_libraries import GPU_MODULES
from gpu_lol_action.analysis.programs.behavior import Behavior
from gpu_lol_action.analysis.programs.early_leaves import leaves_early
from gpu_lol_action.analysis.runs.entry_points import Run
from gpu_lol_action.domain.patterns import regex

_BESIDE = regex(
    r"(?:^|[/_.\s-])(?:prep(?:are|aration|are_data)?|pre_?process(?:ing)?|pre_?compute|post_?process|download|convert(?:er)?(?:2\w{1,20})?|\w{1,12}2(?:hf|ckpt|onnx|trt|safetensors)|conversion|export|"
    r"evals?|evaluat(?:e|ion|or)|tests?|testing|data(?:set|sets|_gen)?|merger?|upload|push|install|setup|bench(?:mark|marks|marking)?|"
    r"delinearize|quantize|quantization|fetch|tokenize|tokenizer|visuali[sz]e|plot|profile|profiler|stats|split|crawl|metrics?|fid|score|val|valid|validate|validation|"
    r"extract(?:ion|or)?|generate_data|gen_?(?:data|vocab)|vocab|make|build|create|lint|format|check|verify|diagnos(?:e|is|tics?)|init|compare|diff|delta|apply_delta|analy[sz]e|report|requirements|utils?|helpers?|release|play|enjoy|tournament|compute|calculate|filter(?:ing)?|router|monitor|hubconf|docs|show|"
    # What self-supervised networks are judged by.
    r"lin(?:cls|probe|eval)|linear_?prob(?:e|ing)|repro_?issues?|issues?_?\d+)(?=$|[/_.\s-])",
    re.IGNORECASE,
)
# A name that opens with training says behind it on what: `fine-tune_on_hf_dataset.py` makes no data set.
_TRAINED_ON = regex(
    r"(?:^|(?<=/))((?:run[_-])?(?:pre[_-]?|re)?(?:train|fine[_-]?tun)(?:e|er|ing)?(?:[_-]\w{1,20})?)[_-](?:on|with|from|using)[_-][^/]*$",
    re.IGNORECASE,
)
# Folders of what keeps a repository in order.
_BESIDE_FOLDERS = frozenset({"utils", "util", "tests", "test", "ci", "maintenance"})
# What a pipeline does with a model that an earlier stage of it has trained.
_LATER_STAGE = regex(
    r"(?:^|[_.-])(?:dpo|ppo|grpo|orpo|kto|rloo|rlhf|rl|rm|reward|reward_model(?:ing)?|rewards?)(?=$|[_.-])",
    re.IGNORECASE,
)
_BESIDE_OPTIONS = frozenset(
    {
        "eval",
        "evaluate",
        "eval_only",
        "test_only",
        "only_eval",
        "evaluate_only",
        "validate_only",
        "only_test",
        "render_only",
    }
)
# Of options with which a program leaves before it trains.
_JUDGING_OPTION = regex(r"(?:^|_)(?:eval\w*|val|valid\w*|test\w*|bench\w*|measure\w*|convert\w*|export\w*)(?:_|$)")
_INFERS = regex(r"(?:^|[_.-])(?:infer(?:ence)?|demo|predict|sample|generate)(?=$|[_.-])", re.IGNORECASE)
_BESIDE_SECTION = regex(
    r"\b(?:evaluat|benchmark|convert|conversion|download|preprocess|data(?:set)?s?\b|install|test(?:s|ing)\b|export)",
    re.IGNORECASE,
)
_RUN_SECTION = regex(r"train|tun|infer|usage|use|run|start|demo|reproduc|generat|sampl|serv|deploy", re.IGNORECASE)
_VARIANT_NAME = regex(
    r"(?:^|[_.-])(?:debug|toy|dummy|smoke|sanity|cpu|runcpu|mps|mac|mock|minimal|tpu|xla|npu|hpu|rocm|amd|colab|demo_train|single_batch|overfit|multi_?nodes?\d*|(?:run_with_)?submitit|\d+_?nodes)"
    r"(?=$|[_.-])",
    re.IGNORECASE,
)
# Beside a service of the weights as they were published, one of the same weights in fewer bits.
_QUANTIZED_NAME = regex(r"(?:^|[_.-])(?:gptq|awq|gguf|int[48]|[48]bit|fp8|quantized)(?=$|[_.-])", re.IGNORECASE)
# Folders of the same work for cards of other makers.
_OTHER_MAKERS = frozenset(
    {"amd", "rocm", "tpu", "gaudi", "habana", "hpu", "intel", "npu", "ascend", "trainium", "neuron"}
)
_TUNING_FOLDER = regex(r"p[_-]?tuning|fine[_-]?tun(?:e|ing|er)(?:[_-].*)?", re.IGNORECASE)
_TPU_OPTIONS = frozenset({"tpu", "tpu_name", "use_tpu"})
_STRATEGIES = ("strategy_type", "distribution_strategy")
_TRIALS = frozenset({"test", "tests", "testing", "smoke", "debug"})
_VARIANT_SECTION = regex(
    r"\b(?:CPU|[Mm]ac(?:[- ]?OS(?:X)?|[Bb]ooks?|s)?|Apple|M[1-4]|MPS|debug\w*|smoke|sanity|(?<![Cc]at )(?<![Dd]og )toy|Colab|Windows|TPUs?|AMD|ROCm|XLA|HPU|Gaudi|Ascend|NPU)\b"
)

# "Validating installation", "Verify the setup": what is started there only shows that all is there.
_TRIES_INSTALLATION = regex(
    r"\b(?:validat|verif|check|test)(?:e|y|ing|ying)?\s+(?:(?:the|your|that)\s+)?(?:install|set-?up\b)", re.IGNORECASE
)
# Options by which Hydra and others are told which experiment, by its name.
_NAMES_EXPERIMENT = ("experiment", "experiments", "exp")


_EVALUATORS = frozenset({"lm_eval", "lm-eval", "lighteval", "evalplus"})  # tools that measure models


def is_beside(run: Run) -> bool:
    """Whether a run is a step beside the work: by what it starts, its script's name, its options, or its section."""
    command = run.command
    if run.script is not None and _trains_tokenizer(run.script):
        return True
    if command is None:
        return bool(run.script and _names_step(_stem(run.script.path)))
    if _is_told_to_judge(run, command) or command.tool.partition(".")[0] in _EVALUATORS:
        return True
    if "do_train" not in command.options and {"do_eval", "do_predict"} & command.options.keys():
        return (
            TRAINING_TARGET.search("/" + command.target.rsplit("/", 1)[-1]) is None
        )  # else it trains, and evaluates as well
    if run.script is not None and not command.is_launcher and _is_in(run.script.path, _BESIDE_FOLDERS):
        return True
    target = command.target if not command.target.endswith(".py") else _stem(command.target)
    # A module's last words name the step; its package's may mean anything.
    named = ".".join(target.split(".")[-2:]) if "/" not in target else target
    if command.tool in TOOLS and ("/" in target or command.tool.startswith("fairseq-")):
        named = command.tool  # behind a tool's name a path says where its data lie, and no step
    # What starts the project's own package is its work, whatever that is called: an evaluation's is to evaluate.
    is_own_package = "." not in target and run.script is not None and run.script.name == "__main__.py"
    if (_names_step(named) or _SIDE_SERVICE.search(named)) and not is_own_package:
        return True
    if _BEFORE_WORKERS.search(target) and command.source.mentions("model_worker"):
        return True
    if not command.evidence.path.lower().endswith((".md", ".rst", "makefile")) and _names_step(
        _stem(command.evidence.path)
    ):
        return True
    if run.behavior is Behavior.TRAINS or is_own_package or _INFERS.search(_stem(target)):
        return False  # papers' code has what others use it for under "Testing"
    return bool(_BESIDE_SECTION.search(command.section) and not _RUN_SECTION.search(command.section))


def _is_told_to_judge(run: Run, command: LaunchCommand) -> bool:
    """Whether a command has its program measure what was trained: by an option of that name, one that ends it early, or its mode."""
    if _BESIDE_OPTIONS & {key.lower() for key, value in command.options.items() if value.lower() not in {"false", "0"}}:
        return True
    if run.script is not None and _JUDGING_OPTION.search(leaves_early(run.script, run.options)):
        return True
    return only_judges(command)


def _trains_tokenizer(script: Source) -> bool:
    """Whether what a program trains is a tokenizer: it takes the trainers of one, and no library that computes on a GPU but for texts."""
    imported = script.code.imported() if script.code is not None else frozenset()
    if not imported & {"tokenizers", "sentencepiece"} or imported & (
        GPU_MODULES - {"transformers", "tokenizers", "sentencepiece"}
    ):
        return False
    imports = script.code.imports if script.code is not None else ()
    taken = [item for item in imports if item.module.partition(".")[0] == "transformers"]
    return all(item.names and all("oken" in name for name in item.names) for item in taken)


# Services that an agent or a training asks for what it does not know: its search engine, its sandbox, its judge.
_SIDE_SERVICE = regex(
    r"(?:^|[_.-])(?:retriev\w{1,4}|search|sandbox|rag|embedding|judge|verifier|mcp)_?(?:serv(?:er|e|ice|ing)|api|launch)(?=$|[_.-])"
    r"|\.controller$"  # it only tells a page which worker has the model
    r"|(?:^|[_.-])(?:build_?)?index(?:er|_builder)?(?=$|[_.-])",
    re.IGNORECASE,
)
# What stands before the workers that hold the model, in services after FastChat's: it hands on questions.
_BEFORE_WORKERS = regex(
    r"(?:^|[./])(?:gradio_web_server\w{0,20}|register_worker|openai_api_server|test_message)(?:\.py)?$"
)
_SERVER = regex(r"serv(?:er|e|ice)|worker|api", re.IGNORECASE)


def is_variant(run: Run) -> bool:
    """Whether a run is made for trying out, or for a machine without a GPU."""
    if (
        run.options.get("device", "").lower() in {"cpu", "mps"}
        or {"use_cpu", "no_cuda", "cpu", "dry_run"} & run.options.keys()
    ):
        return True
    if _TPU_OPTIONS & run.options.keys() and not is_refused(run.options.get("use_tpu", "true")):
        return True
    if any(run.options.get(name, "").lower() == "tpu" for name in _STRATEGIES):
        return True
    if run.command is not None and run.command.nodes > 1 and not sky_tasks_of(run.command.source):
        return True  # a task of SkyPilot's asks for as many machines as its author could rent
    if any(_is_in(source.path, _TRIALS) for source in run.configs[:1]):
        return True
    if _is_in(run.evidence.path, _OTHER_MAKERS):
        return True
    if run.command is not None and _is_in(run.command.evidence.path, _TRIALS):
        return True
    names = [_stem(run.script.path) if run.script else "", *(_stem(source.path) for source in run.configs[:1])]
    if run.command is not None:
        section = run.command.section
        if (_VARIANT_SECTION.search(section) and "GPU" not in section) or _TRIES_INSTALLATION.search(section):
            return True
        names += [value for key, value in run.options.items() if key in _NAMES_EXPERIMENT]
        if run.command.evidence.path != run.command.said.path or not run.command.is_documented:
            names.append(_stem(run.command.evidence.path))
            if run.behavior is Behavior.INFERS and _QUANTIZED_NAME.search(names[-1]):
                return True
    return any(_VARIANT_NAME.search(name) for name in names)


def tunes_aside(run: Run) -> bool:
    """Whether a run's program lies in a folder that is for fine-tuning alone (``finetune/``, ``finetune_demo/``)."""
    return is_tuning_folder(run.script.path if run.script is not None else run.evidence.path)


def is_tuning_folder(path: str) -> bool:
    """Whether a file lies in a folder that is for fine-tuning."""
    return any(_TUNING_FOLDER.fullmatch(folder) for folder in path.split("/")[:-1])


def is_refused(text: str) -> bool:
    """Whether an option's value switches it off."""
    return text.strip().lower() in {"false", "0", "no", "none"}


def is_later_stage(run: Run) -> bool:
    """Whether a run goes on with what another stage of the same pipeline has trained: preferences, rewards."""
    names = [_stem(run.script.path)] if run.script is not None else []
    names += [_stem(run.command.evidence.path)] if run.command is not None else []
    return any(_LATER_STAGE.search(name) for name in names)


def _is_in(path: str, folders: frozenset[str]) -> bool:
    return any(part.lower() in folders for part in path.split("/")[:-1])


def helpers_of(runs: Sequence[Run]) -> frozenset[Run]:
    """Return the runs that serve another: started in the background of one block, which then starts another program.

    What trains in the background is one of several runs of a kind, not a service. A server is one, too, whose module the
    program that trains imports: it is started in another window. So is what one documented line runs beside a training:
    it writes what is learned from, or tries what was; and a server that a section starts before its training.
    """
    inferring = [run for run in runs if run.behavior is not Behavior.TRAINS]
    training = [run for run in runs if run.behavior is Behavior.TRAINS]
    found = {run for run in inferring if _is_asked_by(run, runs)}
    found |= {run for run in inferring if any(_is_step_of(run, other) for other in training)}
    for run in runs:
        command = run.command
        if command is None or not command.is_background or run.behavior is Behavior.TRAINS:
            continue
        for other in runs:
            then = other.command
            if then is None or then.is_background or other.script is run.script:
                continue
            is_same_block = (then.evidence.path, then.section) == (command.evidence.path, command.section)
            if is_same_block and then.evidence.line > command.evidence.line:
                found.add(run)
    return frozenset(found)


def _is_step_of(run: Run, training: Run) -> bool:
    """Whether one line of a document starts both, or one section a server first and then what trains with its answers."""
    first, then = run.command, training.command
    if first is None or then is None or first.said.path != then.said.path:
        return False
    if first.said == then.said:
        return first.evidence.path != first.said.path
    is_server = _SERVER.search(first.target.rsplit("/", 1)[-1]) is not None
    is_before = bool(first.section) and first.section == then.section and first.said.line < then.said.line
    return is_server and is_before


def _is_asked_by(run: Run, runs: Sequence[Run]) -> bool:
    """Whether another program of the same folder, which trains, imports this one, that is a server by its name."""
    if run.script is None or not _SERVER.search(stem := _stem(run.script.path)):
        return False
    return any(
        other.behavior is Behavior.TRAINS
        and other.script is not None
        and other.script.folder == run.script.folder
        and other.script.code is not None
        and stem in other.script.code.imported()
        for other in runs
    )


def _names_step(name: str) -> bool:
    """Whether a name tells of a step beside the work."""
    return _BESIDE.search(_TRAINED_ON.sub(r"\1", name)) is not None


def _stem(path: str) -> str:
    return regex(r"\.\w+$").sub("", path.rsplit("/", 1)[-1])


def submits(script: Source) -> bool:
    """Whether a program hands another one of the checkout to a cluster: then it is the one that is started."""
    return script.code is not None and script.mentions("submitit") and "submitit" in script.code.imported()


_FAMOUS = ("train", "main", "finetune", "run", "pretrain", "sft", "infer", "inference", "generate", "sample", "demo", "app", "serve")  # fmt: skip


def fame_of(script: Source) -> int:
    """Return where a program's name stands among those that mean the main one, as a distance in the order."""
    stem = script.name.rpartition(".")[0].replace("trained", "")  # what tries a pretrained model trains none
    place = next((index for index, name in enumerate(_FAMOUS) if name in stem), len(_FAMOUS))
    return 1000 * place
