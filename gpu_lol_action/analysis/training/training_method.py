"""What of the model is trained: everything, adapters, or a model that the program builds."""

from __future__ import annotations

import re

from gpu_lol_action.analysis.files.checkout import Checkout
from gpu_lol_action.analysis.files.setting import Setting
from gpu_lol_action.analysis.formats.paths import Form
from gpu_lol_action.analysis.models.frozen_encoders import method_of_head
from gpu_lol_action.analysis.models.frozen_models import frozen_by_switch, frozen_language_model
from gpu_lol_action.analysis.models.frozen_weights import frozen_but_adapters
from gpu_lol_action.analysis.models.weight_widths import BITS, QLORA, four_bit_switch, weight_bits_of, width_of_scheme
from gpu_lol_action.analysis.programs.behavior import Behavior
from gpu_lol_action.analysis.programs.dead_branches import dead_lines
from gpu_lol_action.analysis.runs.entry_points import Run
from gpu_lol_action.analysis.runs.run_calls import called_at
from gpu_lol_action.analysis.runs.settings import Scope, is_on, look_up, look_up_number, values_of
from gpu_lol_action.analysis.runs.torchtune_recipes import recipe_of
from gpu_lol_action.domain.finding import Confidence, Evidence, Finding
from gpu_lol_action.domain.patterns import regex

_ADAPTERS = (
    "use_peft",
    "use_lora",
    "use_peft_lora",
    "apply_lora",
    "with_lora",
    "train_lora",
    "lora",
    "lora_enable",
    "enable_lora",
    "peft_enable",
    "enable_peft",
    "peft",  # AutoTrain's switch
)
# P-tuning and prefix tuning: a few embeddings before the text, of the size of small adapters.
_PREFIX = ("pre_seq_len", "num_virtual_tokens")
# Ways to train few of the weights: adapters, a prefix, the last layers alone.
# LoRA by any name, its kin of like size (orthogonal, vector, basis-sharing adapters), and what trains a few layers or embeddings.
_FEW = regex(
    r"lora|(?:^|[_-])(?:freeze|frozen)|^(?:p[_-]?tuning|prefix|prompt|q?g?oft|boft|vera|ia3|bone|pissa|hra|loha|lokr|(?:lo)?reft|fourierft|(?:llama[_-]?)?adapters?$|llama_?pro|bitfit|ln_?tuning)",
    re.IGNORECASE,
)
_SECTION = regex(r"(?:^|\.)(?:peft(?:_config)?|adapter)\.(?:name|type|method|peft_type|peft_scheme)$")
# A trainer's network beside the model that it is put on (`network: {type: lora}`), where any other network may stand as well.
_NETWORK = regex(r"(?:^|\.)network\.type$")
# The modules of kohya's trainers, and of LyCORIS, that are trained in a model's place.
_MODULES = regex(r"(?:networks|lycoris)\.[a-z_]{2,30}")
_KINDS = ("model_type", "training_method")
_ADAPTED = frozenset({"lora", "lokr", "loha", "dora", "lycoris", "oft", "boft"})
_LEFT_EMPTY = regex(r"^adapter:[ \t]*(?:null|~)?[ \t]*(?:#.*)?$", re.MULTILINE)
_PUTS_ON = (
    "get_peft_model",
    "LoraConfig",
    "get_reft_model",
    "FastLanguageModel.get_peft_model",
    "prepare_model_for_kbit_training",
    "TrainableModel",  # of ART, which trains adapters
)
# ART trains on the machine at hand with Unsloth, which it has load weights at 4 bit unless told otherwise.
_ARTS, _ARTS_MODEL = "LocalBackend", "TrainableModel"
_LOADS = (
    "from_pretrained",
    "from_preset",
    "create_model",
    "get_model",
    "SentenceTransformer",
    "CrossEncoder",
    "SparseEncoder",
)
# They train what is loaded already, and take its name themselves where they are handed no model.
_TRAINS_LOADED = ("SFTTrainer", "DPOTrainer", "GRPOTrainer", "ORPOTrainer", "KTOTrainer", "CPOTrainer", "RewardTrainer", "OnlineDPOTrainer",
                  "GKDTrainer", "BCOTrainer", "PRMTrainer")  # fmt: skip
_HANDED = regex(r"(?:el)?if\s.{0,60}\bpeft_config\b(?:\s+is\s+not\s+None|\s*:|\s+and\b)")
MAX_LINES_ABOVE = 80
_NAMED = regex(r"(?:^|[_-])q?lora(?:[_-]|\.|$)", re.IGNORECASE)
_NAMED_FOUR = regex(r"(?:^|[^A-Za-z])q_?lora(?:$|[^A-Za-z])", re.IGNORECASE)


def method_of(checkout: Checkout, run: Run, scope: Scope) -> Finding | None:
    """Return what is trained of the model; None for a run that only infers."""
    if run.behavior is Behavior.INFERS:
        return None
    lora = _lora(checkout, run, scope)
    if lora is not None:
        four = four_bit_switch(scope)
        bits = look_up_number(scope, (*BITS, "bits"), 4, 4)
        # A quantizer that the program could use has a width of its own; this run's is said by what is started.
        bits = bits if bits is not None and bits.confidence is Confidence.HIGH else None
        adapter, scheme = look_up(scope, ("adapter",)), width_of_scheme(scope)
        is_four = scheme is not None and scheme.value == "4" and scheme.confidence is Confidence.HIGH
        by_itself = four is None and called_at(checkout, run, _ARTS) is not None and _is_arts(checkout, run, lora)
        if (
            is_on(four)
            or is_four
            or by_itself
            or bits is not None
            or (adapter is not None and adapter.text.lower() == "qlora")
        ):
            return Finding(
                "training.method", "qlora", "adapters are trained on 4-bit weights", lora.confidence, lora.evidence
            )
        return lora
    if (head := method_of_head(run)) is not None:
        return head
    if (loaded := called_at(checkout, run, *_LOADS, *_TRAINS_LOADED)) is not None:
        return _of_quantized(scope) or Finding(
            "training.method", "full", "a loaded model is trained with all its parameters", Confidence.MEDIUM, loaded
        )
    if run.script is None:
        return _of_quantized(scope) or Finding(
            "training.method", "full", "nothing says that only adapters are trained", Confidence.LOW, run.evidence
        )
    where = Evidence(run.script.path)
    return Finding("training.method", "pretrain", "the program builds the model that it trains", Confidence.LOW, where)


def _of_quantized(scope: Scope) -> Finding | None:
    """Return that adapters are trained, because the weights are loaded quantized: these are not trained themselves; None where they are not."""
    width = weight_bits_of(scope)
    if width is None:
        return None
    method, why = "qlora" if width.value == "4" else "lora", "quantized weights are not trained themselves"
    return Finding("training.method", method, why, min(width.confidence, Confidence.MEDIUM), width.evidence)


def _is_arts(checkout: Checkout, run: Run, lora: Finding) -> bool:
    """Whether the adapters are those of ART's model, and of nothing that says more."""
    return called_at(checkout, run, _ARTS_MODEL) == lora.evidence


def _lora(checkout: Checkout, run: Run, scope: Scope) -> Finding | None:
    """Return the finding that adapters are trained; a switch that is off wins over code that could."""
    switch = look_up(scope, _ADAPTERS)
    if switch is not None and switch.text.strip().lower() in {"false", "0", "no"}:
        return _other_adapters(checkout, run) or frozen_by_switch(run, scope)
    kind = look_up(
        scope, ("adapter", "finetuning_type", "train_type", "training_type", "tuning_type", "tuner_type", "peft_type")
    )
    if kind is not None:
        if not _FEW.search(kind.text):
            return None
        method = "qlora" if "qlora" in kind.text.lower() else "lora"
        return Finding("training.method", method, f"`{kind.setting.key}: {kind.text}`", kind.confidence, kind.evidence)
    if (section := _section(scope) or _told_by_a_tool(scope)) is not None:
        return section
    if not is_on(switch) and is_on(four := look_up(scope, QLORA)):
        switch = four
    if is_on(switch) and switch is not None:
        return Finding("training.method", "lora", f"`{switch.setting.key}` is on", switch.confidence, switch.evidence)
    return frozen_by_switch(run, scope) or _named(run, scope) or _configured(checkout, run, scope)


def _named(run: Run, scope: Scope) -> Finding | None:
    """Return that the command or the program's name says LoRA."""
    words = f"{run.command.target} {' '.join(run.command.words)}" if run.command else ""
    words += f" {(recipe_of(run) or {}).get('recipe', '')}"
    if regex(r"lora", re.IGNORECASE).search(words):
        method = "qlora" if _built_on_four_bits(scope) is not None else _named_method(scope, words)
        return Finding("training.method", method, "the command names LoRA", Confidence.MEDIUM, run.evidence)
    if run.command is None and run.script is not None and _NAMED.search(run.script.name):
        method = _named_method(scope, run.script.name)
        return Finding("training.method", method, "the program's name says LoRA", Confidence.MEDIUM, run.evidence)
    return None


def _configured(checkout: Checkout, run: Run, scope: Scope) -> Finding | None:
    """Return what a tool's configuration says without a switch; of a program of the checkout, what its code does."""
    if run.configs and run.script is None:
        if _LEFT_EMPTY.search(run.configs[0].text):
            return None  # axolotl's word for adapters stands there and names none: their rank is left over
        config = run.configs[0]
        if config.code is not None and "LoraConfig(" not in config.text and "LoraConfig" in config.text:
            why = "`LoraConfig` is in the configuration"
            return Finding("training.method", "lora", why, Confidence.HIGH, run.evidence)
        rank = look_up_number(scope, ("lora_r", "lora_rank"), 1, 1024)
        if rank is None:
            return None
        if (built := _built_on_four_bits(scope)) is not None:
            why = f"`{built.path}` builds it on 4-bit weights"
            return Finding("training.method", "qlora", why, rank.confidence, built.evidence)
        return Finding("training.method", "lora", "a rank of adapters is set", rank.confidence, rank.evidence)
    return _in_code(checkout, run, scope)


def _built_on_four_bits(scope: Scope) -> Setting | None:
    """Return the setting by which torchtune builds a model for QLoRA (``torchtune.models.gemma2.qlora_gemma2_9b``)."""
    for _, settings in scope.tiers[:2]:
        for setting in settings:
            if setting.path == "model._component_":
                return setting if ".qlora_" in setting.text else None
            if setting.path == "model.quantize_base":
                return setting if setting.text.strip().lower() == "true" else None
    return None


def _named_method(scope: Scope, words: str) -> str:
    """Return which adapters a name means: QLoRA's lie on 4-bit weights, unless a switch says that these are not."""
    four = four_bit_switch(scope)
    return "qlora" if _NAMED_FOUR.search(words) and (four is None or is_on(four)) else "lora"


def _in_code(checkout: Checkout, run: Run, scope: Scope) -> Finding | None:
    """Return that the program's own code trains few of the weights: what it freezes, a prefix, adapters that it puts on."""
    frozen = frozen_but_adapters(checkout, run) or frozen_language_model(checkout, run, scope)
    if frozen is not None:
        return frozen
    prefix = look_up_number(scope, _PREFIX, 1, 4096)
    if prefix is not None:
        why = f"`{prefix.setting.key}` is {prefix.text}: only a prefix of so many virtual tokens is trained"
        return Finding("training.method", "lora", why, prefix.confidence, prefix.evidence)
    rank = look_up(scope, ("lora_rank", "lora_r"))
    if rank is not None and rank.text.strip() == "0":
        return None  # adapters of no rank are none
    is_of_keras = run.script is not None and run.script.mentions("keras")
    where = called_at(checkout, run, *_PUTS_ON, *(("enable_lora",) if is_of_keras else ()))
    if where is not None and _is_handed_on(checkout, run, where):
        where = called_at(checkout, run, "LoraConfig")
    where = where or _goes_on_with_adapters(checkout, run)
    if where is None:
        return None
    return Finding("training.method", "lora", "adapters are put on the model", Confidence.HIGH, where)


def _other_adapters(checkout: Checkout, run: Run) -> Finding | None:
    """Return that the program puts adapters of another kind on where LoRA is switched off (``RandLoraConfig``)."""
    script = run.script
    imports = script.code.imports if script is not None and script.code is not None and "peft" in script.text else ()
    kinds = [name for item in imports if item.module.partition(".")[0] == "peft" for name in item.names]
    kinds = [name for name in kinds if name.endswith("Config") and name not in {"LoraConfig", "PeftConfig"}]
    where = called_at(checkout, run, *kinds) if kinds and called_at(checkout, run, "get_peft_model") else None
    why = "adapters of another kind than LoRA are put on the model"
    return Finding("training.method", "lora", why, Confidence.HIGH, where) if where is not None else None


def _goes_on_with_adapters(checkout: Checkout, run: Run) -> Evidence | None:
    """Return where the program loads adapters that lie beside the weights to train them (``PeftModel.from_pretrained(…, is_trainable=True)``)."""
    script = run.script
    if script is None or script.code is None or not script.mentions("is_trainable"):
        return None
    dead = dead_lines(script, values_of(checkout, run))
    for call in script.code.calls_named("from_pretrained"):
        value = call.keyword("is_trainable") if call.name.startswith("Peft") else None
        if value is not None and value.text == "True" and not any(call.line in block for block in dead):
            return Evidence(script.path, call.line)
    return None


def _is_handed_on(checkout: Checkout, run: Run, where: Evidence) -> bool:
    """Whether a trainer that the program imports puts on adapters only where it is handed some (``if peft_config is not None:``)."""
    source = checkout.find(where.path)
    if source is None or source is run.script or source.form is not Form.PYTHON:
        return False
    lines = source.text.split("\n")[max(0, where.line - 1 - MAX_LINES_ABOVE) : where.line]
    depth = _depth(lines[-1])
    for line in reversed(lines[:-1]):
        if not line.strip() or _depth(line) >= depth:
            continue
        depth = _depth(line)
        if _HANDED.match(line.strip()):
            return True
        if line.lstrip().startswith("def "):
            return False
    return False


def _depth(line: str) -> int:
    return len(line) - len(line.lstrip())


def _section(scope: Scope) -> Finding | None:
    """Return the finding that a section on adapters names a kind of them (``peft_config: {name: lora}``)."""
    for confidence, settings in scope.tiers[:2]:
        for setting in settings:
            is_network = setting.key == "type" and _NETWORK.search(setting.path) and _FEW.search(setting.text)
            is_kind = setting.key in {"name", "type", "method", "peft_type", "peft_scheme"}
            if is_network or (is_kind and _SECTION.search(setting.path)):
                if not _FEW.search(setting.text):
                    return None
                method = "qlora" if "qlora" in setting.text.lower() else "lora"
                why = f"`{setting.path}` is {setting.text}"
                return Finding("training.method", method, why, confidence, setting.evidence)
    return None


def _told_by_a_tool(scope: Scope) -> Finding | None:
    """Return what trainers of pictures' models are told: a module that is trained in the model's place, or the word for adapters itself."""
    for confidence, settings in scope.tiers[:2]:
        for setting in settings:
            text = setting.text.strip().lower()
            is_module = setting.key == "network_module" and _MODULES.fullmatch(text) is not None
            if is_module or (setting.key in _KINDS and text in _ADAPTED):
                why = f"`{setting.path}` is {text}"
                return Finding("training.method", "lora", why, confidence, setting.evidence)
    return None
