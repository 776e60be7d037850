"""Folders that hold only configuration: which file is the run (axolotl, LLaMA-Factory, torchtune, recipes, OpenMMLab, NeMo, Truss)."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence

from gpu_lol_action.analysis.commands.hosted_lines import hosted_lines, is_hosted
from gpu_lol_action.analysis.commands.hosting_files import TRUSS, truss_wish
from gpu_lol_action.analysis.commands.monai_bundles import bundle_configs
from gpu_lol_action.analysis.files.checkout import Checkout, Source
from gpu_lol_action.analysis.files.configuration import read_settings
from gpu_lol_action.analysis.files.setting import fold_key
from gpu_lol_action.analysis.formats.gpu_libraries import GPU_MODULES
from gpu_lol_action.analysis.formats.paths import Form, Role, sets_variables
from gpu_lol_action.analysis.programs.behavior import Behavior
from gpu_lol_action.domain.finding import Evidence
from gpu_lol_action.domain.patterns import regex
from gpu_lol_action.domain.records import record
from gpu_lol_action.estimation.model_facts import find_model

MAX_CONFIGS = 40
# Keys that only a training or serving configuration has; two of them make a file one.
_MARKS = frozenset({
    "base_model", "model_name_or_path", "learning_rate", "num_train_epochs", "num_epochs", "micro_batch_size",
    "per_device_train_batch_size", "gradient_accumulation_steps", "sequence_len", "cutoff_len", "finetuning_type",
    "max_seq_length", "lora_r", "lora_rank", "adapter", "optimizer", "max_steps", "lr_scheduler_type", "_component_",
    "base_lr", "ims_per_batch", "meta_architecture", "train_micro_batch_size_per_gpu", "global_batch_size", "optim_wrapper",
    "train_cfg", "train_dataloader", "samples_per_gpu", "lr_config", "max_epochs", "lr", "_base_", "max_length", "train_iters",
    "infer_backend", "adapter_name_or_path", "vllm_maxlen", "gpu_memory_utilization", "max_model_len", "model_source",
    "pretrained_model_name_or_path", "network_module", "imgsz",
})  # fmt: skip
_TRAINS = _MARKS - {"base_model", "model_name_or_path", "sequence_len", "cutoff_len", "max_seq_length", "max_length", "_component_",
                    "_base_", "meta_architecture", "infer_backend", "adapter_name_or_path", "vllm_maxlen", "gpu_memory_utilization",
                    "max_model_len", "model_source", "pretrained_model_name_or_path", "imgsz"}  # fmt: skip

# Beside a learning rate one of these makes a file one as well: by itself each may be of anything that is repeated.
_RATE = regex(r"(?:base_|init_|max_|peak_)?(?:lr|learning_rate)(?:_\w{1,20})?")
_REPEATS = frozenset({
    "batch_size", "train_batch_size", "batch_size_per_gpu", "per_device_batch_size", "epochs", "n_epochs", "number_of_epochs",
    "num_train_steps", "train_steps", "total_steps", "num_steps", "max_update", "max_updates", "total_num_update",
    "update_freq", "warmup_updates", "warmup_steps", "weight_decay", "grad_accumulation_factor", "max_grad_norm",
})  # fmt: skip
# JAX's projects write theirs as a function: `def get_config(): config = ml_collections.ConfigDict()`, or another's with changes.
_CONFIG_DICT = regex(r"^def get_config\(\):[^\0]{0,800}?=\s?\w{1,40}\.(?:ConfigDict|get_config)\(", re.MULTILINE)
_SET = regex(r"^[ \t]+\w{1,40}(?:\.\w{1,40}){0,3}\.(\w{1,60})[ \t]*=(?!=)", re.MULTILINE)

_MODELS = frozenset(
    {
        "pretrained_model_name_or_path",
        "base_model",
        "model_name_or_path",
        "_component_",
        "meta_architecture",
        "model",
        "_base_",
        "model_name",
    }
)
# The command says more than the file that holds it.
_SERVERS = regex(r"\b(?:vllm|sglang|lmdeploy|text-generation-launcher)\b")
_WHOLE_TRUSS = regex(r"^(?:trt_llm|docker_server):", re.MULTILINE)
# What OpenMMLab's configurations assign, also where they import the classes that they name (XTuner, MMEngine's newer ones).
_PARTS = frozenset(
    {"model", "train_cfg", "optim_wrapper", "train_dataloader", "param_scheduler", "default_hooks", "custom_hooks"}
)
_LEAST_PARTS = 4
# MMEngine's and MMCV's way to inherit from other configurations, in one that says what is trained or on what.
_INHERITS = regex(
    r"\A(?=[\s\S]*?^(?:model|data|train_dataloader|data_root|optimizer)[ \t]*=)[\s\S]*?^_base_[ \t]*=\s*[\[('\"]",
    re.MULTILINE,
)
_DEFINES = regex(r"^(?:def|class|async def) ", re.MULTILINE)
_JUDGES = frozenset({"do_predict", "do_eval"})
_STEPS = frozenset({"do_train", "learning_rate", "num_train_epochs", "max_steps"})
_NAMES = frozenset({"base_model", "model_name_or_path"})
# What is tuned, as trainers of any model are told it.
_BATCHES = frozenset({"train_batch_size", "per_device_train_batch_size", "micro_batch_size", "batch_size"})
_TUNED = frozenset({"base_model", "model_name_or_path", "pretrained_model_name_or_path", "name_or_path"})
_SAYS_MODEL = ("base_model", "name_or_path", "MODEL_NAME")
MAX_HELPERS = 6
# Who is handed such a file may be a service: a fine-tuning that is ordered, an agent that is told its model and its steps.
_ASKS_OTHERS = frozenset({
    "openai", "anthropic", "together", "fireworks", "mistralai", "cohere", "groq", "litellm", "replicate", "google", "vertexai", "boto3",
    "sagemaker", "azure", "requests", "httpx", "aiohttp", "urllib3", "langchain", "langchain_openai", "llama_index", "predibase", "modal",
})  # fmt: skip
_LOADS = {
    Form.YAML: ("yaml.", "YAML(", "OmegaConf.load", "hydra"),
    Form.JSON: ("json.load(", "read_json_file"),
    Form.TOML: ("toml.", "tomllib", "tomli"),
}
_LAUNCHER = frozenset({"distributed_type", "num_processes", "mixed_precision"})
_DIVIDED = frozenset({"FSDP", "DEEPSPEED", "MULTI_GPU", "MEGATRON_LM"})
# What a recipe's name says of its model's size: `7B_lora`, `qwen2_5_0.5b`, `mixtral-8x7b`, `gemma-270m`.
_SIZE = regex(r"(?<![a-z\d.])(?:(\d{1,2})x)?((?:0_)?\d{1,3}(?:\.\d{1,2})?)(b|m)(?![a-z\d])", re.IGNORECASE)
USUAL_SIZE_B = 8
"""Of recipes for models of many sizes one near this many billions of parameters is meant by most readers."""
ON_ONE_CARD = regex(r"[-_.]single[-_](?:device|gpu|card|[ahv]\d{2,3})(?![a-z\d])", re.IGNORECASE)
"""What a recipe's name says that is made for a single card."""


@record(frozen=True, slots=True)
class TrainingConfig:
    """A configuration that is a run of its own, what it does, and the line that shows it.

    ``is_sized`` is false where it names a model of whose size nothing is known: of several recipes, one that is understood stands
    for the folder.
    """

    source: Source
    behavior: Behavior
    evidence: Evidence
    names_model: bool
    is_sized: bool = True


def training_configs(checkout: Checkout) -> tuple[TrainingConfig, ...]:
    """Return the configurations of a folder without programs, shallow ones first; none where there is a program."""
    programs = checkout.of(Form.PYTHON, Form.NOTEBOOK)
    if bundled := bundle_configs(checkout):
        return tuple(_bundle_config(source) for source in bundled)
    served = tuple(
        config
        for source in checkout.of(Form.YAML)
        if (config := _served_config(source, is_alone=not programs)) is not None
    )
    if served or any(source.code and source.code.imports and not is_configuration(source) for source in programs):
        return served[:MAX_CONFIGS] or _beside_helpers(checkout, programs)
    if tuned := tuple(config for source in checkout.of(Form.YAML) if (config := _tuned_config(source)) is not None):
        return tuned[:MAX_CONFIGS]
    found: list[TrainingConfig] = []
    files = (*checkout.of(Form.YAML, Form.JSON, Form.TOML), *_variables(checkout))
    for source in sorted((*files, *programs), key=_order):
        config = _training_config(source)
        if config is not None:
            found.append(config)
        if len(found) >= MAX_CONFIGS:
            break
    if not found and not checkout.of(Form.SHELL):
        found = [config for source in checkout.of(Form.YAML) if (config := _launcher_config(source)) is not None]
    return tuple(found[:MAX_CONFIGS])


def _beside_helpers(checkout: Checkout, programs: Sequence[Source]) -> tuple[TrainingConfig, ...]:
    """Return what a trainer elsewhere is told, where the few programs here only prepare for it: none has a library for a card, or reads it.

    A model that is known by name tells such a file from one of any other work that goes on in steps.
    """
    codes = [source.code for source in programs if source.code is not None]
    if len(programs) > MAX_HELPERS or any(code.imported() & (GPU_MODULES | _ASKS_OTHERS) for code in codes):
        return ()
    files = (*checkout.of(Form.YAML, Form.JSON, Form.TOML), *_variables(checkout))
    found: list[TrainingConfig] = []
    for source in sorted((s for s in files if any(s.mentions(word) for word in _SAYS_MODEL)), key=_order)[:MAX_CONFIGS]:
        words = (source.name, *_LOADS.get(source.form, ()))  # what a program loads it may name anywhere
        is_read = any(program.mentions(word) for program in programs for word in words)
        config = _training_config(source) if not is_read and _names_known_model(source) else None
        if config is not None and config.behavior is Behavior.TRAINS:
            found.append(config)
    return tuple(found)


def _names_known_model(source: Source) -> bool:
    return any(find_model(setting.text) is not None for setting in read_settings(source) if setting.key in _TUNED)


def _variables(checkout: Checkout) -> list[Source]:
    """Return the files of variables that a trainer elsewhere may be configured by (SimpleTuner's ``config/config.env``)."""
    given = checkout.of(Form.SHELL, roles=(Role.WORKLOAD, Role.ASIDE))
    named = [source for source in given if sets_variables(source.path)][:MAX_CONFIGS]
    return [source for source in named if _is_of_trainer(source)]


def _is_of_trainer(source: Source) -> bool:
    """Whether a file of variables tells a training its model, rate and batch: `MAX_STEPS` and `MAX_LENGTH` are of agents and forms as well."""
    keys = {setting.key for setting in read_settings(source)}
    return bool(keys & _MODELS) and bool(keys & _BATCHES) and any(map(_RATE.fullmatch, keys))


def _bundle_config(source: Source) -> TrainingConfig:
    does = Behavior.TRAINS if source.name.startswith("train") else Behavior.INFERS
    return TrainingConfig(source, does, Evidence(source.path, 1), names_model=True)


def _served_config(source: Source, *, is_alone: bool) -> TrainingConfig | None:
    """Return a Truss that says all of what is served: an engine to build of published weights, or the server of an image.

    ``is_alone``: no program lies here, so that what it builds by its commands is served.
    """
    wish = truss_wish(source) if source.name == TRUSS else None
    if wish is None:
        return None
    if _WHOLE_TRUSS.search(source.text) is None and not (is_alone and wish.count is not None):
        return None
    if is_hosted(source) and any(_SERVERS.search(line) for _, line, _ in hosted_lines(source)):
        return None
    return TrainingConfig(source, Behavior.INFERS, wish.evidence, names_model=True)


def _tuned_config(source: Source) -> TrainingConfig | None:
    """Return an experiment of Ray's RLlib that asks for a GPU: a name with ``run``, ``env`` and ``config`` under it."""
    said = {setting.path.partition(".")[2]: setting for setting in read_settings(source)}
    gpus = said.get("config.num_gpus") or said.get("config.num_gpus_per_learner")
    is_experiment = "run" in said and any(path.partition(".")[0] == "env" for path in said)
    if gpus is None or not is_experiment or not regex(r"0?\.\d*[1-9]\d*|[1-9][\d.]*").fullmatch(gpus.text):
        return None
    return TrainingConfig(source, Behavior.TRAINS, gpus.evidence, names_model=False)


def is_configuration(source: Source) -> bool:
    """Whether a Python file only assigns the parts of a training, which another program reads."""
    if source.code is None or source.code.has_main or source.form is not Form.PYTHON:
        return False
    if _is_config_dict(source):
        return True
    if _DEFINES.search(source.text):
        return False
    if _inherits(source):
        return True
    return len(_PARTS & set(regex(r"^(\w+)[ \t]*=", re.MULTILINE).findall(source.text))) >= _LEAST_PARTS


def _inherits(source: Source) -> bool:
    """Whether a configuration of OpenMMLab's changes what it inherits: what it leaves out stands in files of the library."""
    return source.mentions("_base_") and _INHERITS.search(source.text) is not None


def _is_config_dict(source: Source) -> bool:
    return source.mentions("get_config") and _CONFIG_DICT.search(source.text) is not None


def _launcher_config(source: Source) -> TrainingConfig | None:
    """Return a file of Accelerate's, which says on how many cards any program is trained; the last resort."""
    said = {setting.key: setting for setting in read_settings(source)}
    if not said.keys() >= _LAUNCHER or said["distributed_type"].text.upper() not in _DIVIDED:
        return None
    return TrainingConfig(source, Behavior.TRAINS, said["num_processes"].evidence, names_model=False)


def _order(source: Source) -> tuple[int, str, int, bool, float, str]:
    """Return a file's place: shallow first; of variants of one recipe in a folder LoRA's and one card's, which most readers can run.

    Of those for several models the one of a usual size stands for the folder, and not the first of the alphabet.
    """
    stem = source.name.rpartition(".")[0]
    # XTuner's authors advise 4-bit adapters for every model, and call them so.
    is_lora = bool(re.search(r"(?:^|[^a-z])lora(?:[^a-z]|$)" if source.code is None else r"q?lora", stem))
    is_single = ON_ONE_CARD.search(stem) is not None
    return source.depth, source.folder, 0 if is_lora else 1, not is_single, _from_usual(stem), source.path


def _from_usual(stem: str) -> float:
    """Return how far from the usual one the size of a model is that a recipe's name gives: in doublings, those of larger ones twice."""
    said = _SIZE.search(stem)
    if said is None:
        return 0.0
    size = float(said[2].replace("_", ".")) * int(said[1] or 1) / (1000 if said[3] in "mM" else 1)
    doublings = math.log2(size / USUAL_SIZE_B) if size else 0.0
    return max(2 * doublings, -doublings)


def _training_config(source: Source) -> TrainingConfig | None:
    is_sized = True
    if source.code is not None:
        # OpenMMLab writes configurations as programs that only assign.
        pairs = [(fold_key(default.name), default.line) for default in source.code.defaults]
        names = regex(r"^(\w+)[ \t]*=", re.MULTILINE).findall(source.text)
        pairs += [(fold_key(name), 0) for name in names]
        if _is_config_dict(source):
            set_here = _SET.finditer(source.text)
            pairs += [(fold_key(each[1]), source.text.count("\n", 0, each.start()) + 1) for each in set_here]
    else:
        settings = read_settings(source)
        pairs = [(setting.key, setting.evidence.line) for setting in settings]
        named = [setting.text for setting in settings if setting.key in _NAMES]
        is_sized = not named or any(find_model(name) is not None for name in named)
    keys = {key for key, _ in pairs}
    is_repeated = bool(keys & _REPEATS) and any(_RATE.fullmatch(key) for key in keys)
    is_repeated = is_repeated or (_inherits(source) and is_configuration(source))
    if len(keys & _MARKS) < 2 and not is_repeated:
        return None
    line = next((line for key, line in pairs if key in _MARKS or _RATE.fullmatch(key)), 0)
    # Transformers' switches: a trained model is only tried.
    is_judged = bool(keys & _JUDGES) and not keys & _STEPS
    behavior = Behavior.TRAINS if is_repeated or (keys & _TRAINS and not is_judged) else Behavior.INFERS
    return TrainingConfig(source, behavior, Evidence(source.path, line), bool(keys & _MODELS), is_sized)
