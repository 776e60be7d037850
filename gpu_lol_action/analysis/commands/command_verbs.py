"""What a command says it does: its sub-command, and the words of one whose program is not here."""

from __future__ import annotations

import re
from collections.abc import Sequence

from gpu_lol_action.analysis.command_lines.launch_tools import SERVING_TOOLS
from gpu_lol_action.analysis.command_lines.model_tools import MODEL_TOOLS
from gpu_lol_action.analysis.commands.launch_commands import LaunchCommand
from gpu_lol_action.analysis.files.checkout import Source
from gpu_lol_action.analysis.files.configuration import read_settings
from gpu_lol_action.analysis.formats.paths import Form
from gpu_lol_action.analysis.programs.behavior import Behavior
from gpu_lol_action.domain.patterns import regex

TRAINING_TARGET = regex(
    r"(?:^|[/_.\s-])(?:train(?!ed)|fine[_-]?tun(?:e|ing)|sft|dpo|grpo|pretrain(?!ed)|ppo|lora)", re.IGNORECASE
)
# What BERT's example programs are called, in every library that took them over.
_EXAMPLE_PROGRAM = regex(
    r"run_(?:tf_)?(?:classifier|squad|pre_?train(?!ed)(?:ing)?|glue|ner|mlm|clm|qa|swag|race|language_modeling)\w*\.py"
)
_TRAINING_PROGRAM = regex(r"(?:\w+_)?(?:pre_?)?train(?:er)?(?:_|\.py)")
_MODES = ("exec_mode", "mode", "run_mode", "phase", "action", "job_type", "opr", "op", "operation", "cmd", "command", "func",
          "run_type")  # fmt: skip
"""Options that say which of its works a program is to do."""
_TRAINING_MODE = regex(r"(?:pre)?train(?:ing)?|fit|fine-?tune|train_(?:and|&)_\w+|train-(?:and-)?\w+")
_TRAINING_VERB = regex(
    r"(?:pre)?train(?:[-_](?:sft|dpo|grpo|ppo|lora|qlora|full|model|pt|rm))?|fit|fine[-_]?tune|sft|dpo|grpo"
)
_USING_VERB = regex(
    r"serve|infer|inference|predict|chat|generate|transcribe|separate|enhance|denoise|translate|synthesi[sz]e|segment|detect|upscale|restore|caption|coloriz(?:e|ation)|speak"
)
# Sub-commands that write a configuration, list what there is or fetch files: no model runs for them.
_YOLO_MODES = frozenset({"train", "val", "predict", "export", "track", "benchmark"})
_ASKS = frozenset({"configure", "config", "init", "list", "ls", "download", "version", "login", "recipe", "recipes", "info", "help", "doctor"})  # fmt: skip
# Sub-commands that look at data or make them, before the work: `python -m tool verify_dataset`, `python main.py preprocess`.
_PREPARES = regex(
    r"(?:verify|check|validate|visuali[sz]e|inspect|show|plot|prepare|process|split|build|make|create|convert|collect|filter|clean|index)"
    r"[-_](?:the[-_])?(?:data\w{0,10}|images?|annotations?|labels?|vocab\w{0,10}|splits?|manifests?|metadata|lmdb|csv|records?)"
    r"|pre[-_]?process(?:ing)?|prepare|tokenize",
    re.IGNORECASE,
)
_SERVING_MODE = regex(r"predict\w*|infer(?:ence)?|serve|generat(?:e|ion)|sampl(?:e|ing)|transcribe|chat|demo")
_JUDGES = regex(r"tests?|testing|eval\w*|val|valid\w*|benchmark\w*")
SERVING_TARGET = regex(
    r"(?:^|[_.-])(?:detect|infer|inference|demo|sample|gen|generate|generation|predict|chat|serve|server|app|gradio|webui|web|cli|api"
    r"|txt2img|img2img|interactive|transcribe|synthesize|tts|test|eval)(?:[_.-]|$)"
)

# A module of a library that is not here (`torchrun -m lcm.evaluation`); a program of that name may be anybody's.
_EVALUATES = regex(r"(?:run_)?evaluat(?:e|ion|or)")
# Sub-commands of tools that train whatever else their words say: what is learnt from preferences is written first, too.
_TRAINING_VERBS = frozenset({"sft", "pt", "rlhf", "dpo", "kto", "orpo", "cpo", "grpo", "gkd", "reward", "train", "pretrain", "finetune", "experiment"})  # fmt: skip
_TRAINS_UNTOLD = frozenset({"mmf_run", "catalyst-dl"})  # unless it is told to measure or to predict
_OF_VERBS = frozenset({"swift", "megatron", "trl", "llamafactory-cli", "axolotl", "litgpt", "xtuner", "ludwig"})
# What a library's module does, by its last word, where the library is not here.
_MODULE_TRAINS = regex(
    r"(?:^|_)(?:train|trainer|pre_?train|fine_?tune|finetuning|sft|dpo|kto|orpo|grpo|ppo|dapo|rloo|rm|reward|distill)(?:_|$)"
)
_STARTS = regex(r"(?:run|main|cli)(?:_\w{1,40})?")  # `skyrl.train.entrypoints.main_base`
_MODULE_INFERS = regex(r"(?:^|_)(?:generat(?:e|ion|or)|infer(?:ence)?|serve|server|rollout|chat|predict)(?:_|$)")
# `python -m monai.bundle run --config_file configs/train.json`: one module for all, and its configuration says what for.
_TRAINING_CONFIG = regex(r"(?:^|[/_-])(?:pre_?)?train(?:ing)?(?:_[a-z]\w{0,40})?\.(?:json|ya?ml|toml)$")
_USING_CONFIG = regex(r"(?:^|[/_-])(?:infer|inference|predict)(?:_[a-z]\w{0,40})?\.(?:json|ya?ml|toml)$")
_MODULE_BESIDE = regex(
    r"(?:^|_)(?:eval\w*|test|merge\w*|convert\w*|data\w*|prepare\w*|preprocess\w*|export\w*|tokeni\w+)(?:_|$)"
)
_NAMES_MODEL = regex(r"(?:^|[._])(?:model|llm|actor|pretrain|partial_pretrain|checkpoint|hf_ckpt|init)(?:$|[._])")
_NAMES_STEP = regex(
    r"(?:^|[._])(?:lr|learning_rate|batch_size|max_len|max_epochs|total_epochs|train_iters|config|config_path|train_set)$|batch_size"
)

_TRAINING_OPTION = regex(
    r"(?:^|\.)(?:lr|learning_rate|base_lr|(?:per_device_)?train_batch_size|num_train_epochs|total_epochs|max_train_steps|warmup_steps"
    r"|(?:num_|max_|n_|nb_|train_)?epochs|weight_decay|gradient_accumulation_steps|ppo_mini_batch_size)$"
)

# Options of Hugging Face's trainer, which nothing else is told.
_TRAINERS_OPTION = regex(r"per_(?:device|gpu)_train_batch_size|num_train_epochs|gradient_accumulation_steps")
# What evaluation harnesses are told to measure.
_BENCHMARK = regex(
    r"(?:humaneval|mbpp|gsm8k|hellaswag|mmlu|arc_|truthfulqa|winogrande|apps|ds1000|multiple-|leaderboard|lambada|boolq|piqa)"
)

# A pipeline warms up as well (`--num_inference_steps 20 --warmup_steps 1`).
_OF_SAMPLING = regex(r"(?:^|\.)(?:num_)?(?:inference|sampling|denoising)_steps$")

_ASKS_TO_USE = regex(
    r"(?:^|[._])(?:test|eval|evaluate|validate|predict|infer\w*|sample|demo|generate|prompt|inputs?|images?|video|audio|text|query|checkpoint|ckpt|weights|outputs?|port|share)(?:$|[._])"
)
# A program for all of its project's works, under a heading that begins with training.
_FOR_ALL = regex(r"(?:main|run|launch|cli|start)\.py")
_CHAPTER_ON_TRAINING = regex(
    r"[\W\d]{0,12}(?:(?:pre|fine)-?)?(?:train(?:ing)?|tun(?:e|ing))\b(?!\s(?:data\w*|sets?|logs?|curves?|results?)\b)",
    re.IGNORECASE,
)
# Folders of what a model is run with, or made.
_USING_FOLDER = regex(r"(?:^|/)(?:inference|infer|demos?|serving|serve|generation|sampling)/", re.IGNORECASE)
_HAS_OPTIMIZER = regex(r"^optim(?:izer)?\s?:", re.MULTILINE)
_HAS_DATA = regex(r"^(?:train\w{0,20}|data(?:set|sets|loader|module)?)\s?:", re.MULTILINE)


def only_judges(command: LaunchCommand) -> bool:
    """Whether a command tells its program to do nothing but measure what was trained (``main.py --mode eval``)."""
    return any(_JUDGES.fullmatch(command.options.get(name, "").lower()) for name in _MODES)


def only_asks(command: LaunchCommand) -> bool:
    """Whether the sub-command of a program with several starts none of its work (``tool configure``, ``tool download``)."""
    verb = command.words[1] if command.tool == "python" and len(command.words) > 1 else ""
    is_asked = verb in _ASKS or _PREPARES.fullmatch(verb) is not None
    # A program that takes a file behind such a word is told what to work with: `python train.py config a.yaml`.
    return is_asked and not any("." in word or "/" in word for word in command.words[2:3])


def by_verb(command: LaunchCommand) -> Behavior | None:
    """Return what the sub-command of a program with several says (``tool train``, ``--mode train``); None where there is none."""
    said = next((command.options[name].lower() for name in _MODES if name in command.options), "")
    verb = command.words[1] if command.tool == "python" and len(command.words) > 1 else ""
    if _TRAINING_MODE.fullmatch(said):
        return Behavior.TRAINS
    if _SERVING_MODE.fullmatch(said):
        return Behavior.INFERS
    if _TRAINING_VERB.fullmatch(verb):
        return Behavior.TRAINS
    return Behavior.INFERS if _USING_VERB.fullmatch(verb) else None


def is_told_to_train(command: LaunchCommand) -> bool:
    """Whether a command gives its program what only a training takes (``trainer.optim.lr=1e-6``), and does not ask it for something else."""
    if by_verb(command) is Behavior.INFERS or any(_OF_SAMPLING.search(key) for key in command.options):
        return False
    return any(_TRAINING_OPTION.search(key) for key in command.options)


def by_name(command: LaunchCommand) -> Behavior:
    """Return what the name of a program says that is not here; NEITHER where it says nothing."""
    name = command.target.rsplit("/", 1)[-1]
    if (
        TRAINING_TARGET.search(name)
        or "_train" in name
        or "do_train" in command.options
        or _is_switched_to_train(command)
        or any(_TRAINERS_OPTION.fullmatch(key) for key in command.options)
    ):
        return Behavior.TRAINS
    if SERVING_TARGET.search(name.removesuffix(".py")):
        return Behavior.INFERS
    if is_training_chapter(command):
        return Behavior.TRAINS
    if _USING_FOLDER.search(command.target):
        return Behavior.INFERS
    # A starter is told which program to start (GPT-NeoX's `deepy.py train.py small.yml`).
    inner = next((word for word in command.words[:3] if word.endswith(".py") and word != command.target), "")
    return Behavior.TRAINS if TRAINING_TARGET.search(inner) else Behavior.NEITHER


def _is_switched_to_train(command: LaunchCommand) -> bool:
    """Whether a bare ``--train`` stands among the options (``launch.py --config x.yaml --train``): with a word behind it, that is data."""
    return command.options.get("train", "no").lower() in {"", "true"}


def is_known_to_train(script: Source) -> bool:
    """Whether a program that nothing is seen of is told by its name: BERT's example programs, and training in Python 2."""
    if _EXAMPLE_PROGRAM.fullmatch(script.name):
        return True
    return script.code is not None and script.code.is_broken and bool(_TRAINING_PROGRAM.match(script.name))


def is_training_chapter(command: LaunchCommand) -> bool:
    """Whether a program for all of its project's works is started, with options, under a heading on training."""
    name = command.target.rsplit("/", 1)[-1]
    return bool(_FOR_ALL.fullmatch(name) and command.options and _CHAPTER_ON_TRAINING.match(command.section))


def by_words(command: LaunchCommand, configs: Sequence[Source] = ()) -> Behavior:
    """Return what a command does whose program is not here, told from its words, or from the configuration that it names."""
    if command.tool in _TRAINS_UNTOLD and by_verb(command) is not Behavior.INFERS and not only_judges(command):
        return Behavior.TRAINS
    if command.tool in MODEL_TOOLS:
        return Behavior.INFERS
    if command.tool in _OF_VERBS and set(command.words[:1]) & _TRAINING_VERBS:
        return Behavior.TRAINS
    if command.tool == "yolo" and (mode := _mode_of_yolo(command, configs)) is not None:
        return Behavior.TRAINS if mode == "train" else Behavior.INFERS
    if command.tool == "autotrain" and _is_switched_to_train(command):
        return Behavior.TRAINS
    words = f"{command.target} {' '.join(command.words[:2])}"
    name = command.target.rsplit("/", 1)[-1]
    name = (
        name if name.endswith(".py") or " " in name else name.rpartition(".")[2]
    )  # a package's name may mean anything
    if "do_train" in command.options:
        return Behavior.TRAINS  # as Hugging Face's example programs are told
    if TRAINING_TARGET.search(words) and not SERVING_TARGET.search(name):
        return Behavior.TRAINS
    if (
        SERVING_TARGET.search(name)
        or _EVALUATES.fullmatch(name)
        or command.target.startswith(SERVING_TOOLS)
        or command.tool in SERVING_TOOLS
    ):
        return Behavior.INFERS
    if "serve" in words or "chat" in words or _USING_FOLDER.search(command.target):
        return Behavior.INFERS
    if command.source.form is Form.SHELL and SERVING_TARGET.search(command.source.name):
        return Behavior.INFERS  # the script around it says what for
    if _BENCHMARK.match(command.options.get("tasks", "")) and not is_told_to_train(command):
        return Behavior.INFERS  # evaluation harnesses are launched on several cards as well
    return Behavior.TRAINS if command.is_launcher or "_train" in name else Behavior.INFERS


def _mode_of_yolo(command: LaunchCommand, configs: Sequence[Source]) -> str | None:
    """Return the mode of Ultralytics' command, said by its words or in the file that stands for them (``yolo cfg=args.yaml``)."""
    said = command.options.get("mode") or next((word for word in command.words[:3] if word in _YOLO_MODES), None)
    if said is not None or "cfg" not in command.options:
        return said
    told = (setting for source in configs for setting in read_settings(source) if setting.path == "mode")
    return next((setting.text.lower() for setting in told), None)


def is_configured_to_train(command: LaunchCommand, configs: Sequence[Source]) -> bool:
    """Whether a command gives one program for all a configuration with an optimizer and data, and no option for something else."""
    if by_verb(command) is Behavior.INFERS or any(_ASKS_TO_USE.search(key) for key in command.options):
        return False
    files = (source for source in configs if source.form is Form.YAML and source.mentions("optim"))
    return any(_HAS_OPTIMIZER.search(source.text) and _HAS_DATA.search(source.text) for source in files)


def is_named_for_training(command: LaunchCommand) -> bool:
    """Whether a command stands in a script that is named for training."""
    return command.source.form is Form.SHELL and bool(TRAINING_TARGET.search(command.source.path))


def by_library(command: LaunchCommand) -> Behavior:
    """Return what a program or module does that is not here (``python -m verl.trainer.main_ppo``), told from its last word.

    It has to be told a model, a step's size or a configuration: a sentence that names a module starts nothing.
    """
    package, _, last = command.target.removesuffix(".py").replace("/", ".").rpartition(".")
    is_told = any(_NAMES_MODEL.search(key) or _NAMES_STEP.search(key) for key in command.options) or bool(
        command.configs
    )
    verb = command.words[1] if len(command.words) > 1 and "/" not in command.words[1] else ""
    if not package or not is_told or _MODULE_BESIDE.search(last) or _MODULE_BESIDE.search(verb):
        return Behavior.NEITHER
    if _MODULE_INFERS.search(last) and not _MODULE_TRAINS.search(last):
        return Behavior.INFERS
    if any(_TRAINING_CONFIG.search(name) for name in command.configs):
        return Behavior.TRAINS
    if any(_USING_CONFIG.search(name) for name in command.configs):
        return Behavior.INFERS
    return (
        Behavior.TRAINS
        if _MODULE_TRAINS.search(last) or (_STARTS.fullmatch(last) and "train" in package)
        else Behavior.NEITHER
    )
