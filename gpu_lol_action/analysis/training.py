"""How the run trains or infers: method, precision, batch, length, optimizer, checkpointing, sharding."""

from __future__ import annotations

import re

from gpu_lol_action.analysis import shared_batches
from gpu_lol_action.analysis.behavior import Behavior
from gpu_lol_action.analysis.checkout import Checkout
from gpu_lol_action.analysis.configuration import Setting
from gpu_lol_action.analysis.entry_points import Run, import_closure
from gpu_lol_action.analysis.python_code import Call
from gpu_lol_action.analysis.settings import Found, Scope, as_number, is_on, look_up, look_up_number, scope_of
from gpu_lol_action.domain.finding import Confidence, Evidence, Finding

_BATCH = ("per_device_train_batch_size", "micro_batch_size", "train_micro_batch_size_per_gpu", "micro_bsz", "device_batch_size",
          "per_gpu_train_batch_size", "samples_per_gpu", "imgs_per_gpu", "max_batch_size", "train_batch_size", "batch_size", "bs", "batch", "batchsize")  # fmt: skip
_LENGTH = ("max_seq_length", "max_seq_len", "sequence_len", "cutoff_len", "block_size", "ctx_len", "model_max_length", "seq_length",
           "seq_len", "sequence_length", "context_length", "max_model_len", "max_length", "n_ctx", "max_source_length")  # fmt: skip
_CHECKPOINTING = ("gradient_checkpointing", "use_gradient_checkpointing", "activation_checkpointing", "grad_cp",
                  "enable_activation_checkpointing", "gradient_checkpointing_enable")  # fmt: skip
_OPTIMIZER = ("optim", "optimizer", "optimizer_name", "opt", "optimizer_type")
_FOUR_BIT = ("load_in_4bit", "load_4bit", "use_4bit", "load_in_4bits")
_EIGHT_BIT = ("load_in_8bit", "load_8bit", "use_8bit")
_PRECISION = frozenset({"mixed_precision", "precision", "torch_dtype", "dtype", "compute_dtype", "model_dtype"})
# Trainers that switch checkpointing on unless told otherwise; LLaMA-Factory is also known by its `finetuning_type`.
_CHECKPOINTING_TOOLS = frozenset({"swift", "llamafactory-cli", "xtuner"})
_OFFLOADS_PARAMETERS = ("use_cpu_offload", "cpu_offload", "fsdp_offload_params", "offload_params", "fsdp_cpu_offload")
_TAKES_A_MODELS_DTYPE = re.compile(
    r"from_|autocast|LLM|Engine|pipeline|Pipeline|Trainer|Config|Arguments|Fabric|load|Model"
)
_PARALLEL = ("context_parallel_size", "sequence_parallel_degree", "sequence_parallel_size")
_RANK = ("lora_r", "lora_rank", "lora_dim", "network_dim", "rank", "r")


def detect(checkout: Checkout, run: Run | None) -> list[Finding]:
    """Return how the run works, one finding per field that is said anywhere."""
    if run is None:
        return []
    scope = scope_of(checkout, run)
    found = [
        _method(checkout, run, scope),
        _precision(checkout, run, scope),
        _bits(scope),
        _sharding(checkout, run, scope),
        _offload(scope),
    ]
    found += [_number("training.sequence_parallel", scope, _PARALLEL, 2, 64)]
    found += [
        _number("training.batch_size", scope, _BATCH, 1, 4096),
        _number("training.sequence_length", scope, _LENGTH, 16, 2_000_000),
    ]
    if run.behavior is Behavior.TRAINS:
        found += shared_batches.detect(checkout, run, scope)
        found += [_chunked_loss(scope)]
        found += [
            _checkpointing(checkout, run, scope),
            _optimizer(scope),
            _number("training.lora_rank", scope, _RANK, 1, 1024),
        ]
    return [finding for finding in found if finding is not None]


def _method(checkout: Checkout, run: Run, scope: Scope) -> Finding | None:
    if run.behavior is Behavior.INFERS:
        return None
    lora = _lora(checkout, run, scope)
    if lora is not None:
        four = look_up(scope, _FOUR_BIT)
        bits = look_up_number(scope, ("quantization_bit", "bits"), 4, 4)
        adapter = look_up(scope, ("adapter",))
        if is_on(four) or bits is not None or (adapter is not None and adapter.text.lower() == "qlora"):
            return Finding(
                "training.method", "qlora", "adapters are trained on 4-bit weights", lora.confidence, lora.evidence
            )
        return lora
    if (loaded := _call(checkout, run, "from_pretrained", "create_model", "get_model")) is not None:
        return Finding(
            "training.method", "full", "a loaded model is trained with all its parameters", Confidence.MEDIUM, loaded
        )
    if run.script is None:
        return Finding(
            "training.method", "full", "nothing says that only adapters are trained", Confidence.LOW, run.evidence
        )
    where = Evidence(run.script.path)
    return Finding("training.method", "pretrain", "the program builds the model that it trains", Confidence.LOW, where)


def _lora(checkout: Checkout, run: Run, scope: Scope) -> Finding | None:
    """Return the finding that adapters are trained; a switch that is off wins over code that could."""
    switch = look_up(scope, ("use_peft", "use_lora", "use_peft_lora", "lora", "use_qlora"))
    if switch is not None and switch.text.strip().lower() in {"false", "0", "no"}:
        return None
    kind = look_up(scope, ("adapter", "finetuning_type", "train_type", "tuner_type", "peft_type"))
    if kind is not None:
        if "lora" not in kind.text.lower():
            return None
        method = "qlora" if "qlora" in kind.text.lower() else "lora"
        return Finding("training.method", method, f"`{kind.setting.key}: {kind.text}`", kind.confidence, kind.evidence)
    if is_on(switch) and switch is not None:
        return Finding("training.method", "lora", f"`{switch.setting.key}` is on", switch.confidence, switch.evidence)
    words = f"{run.command.target} {' '.join(run.command.words)}" if run.command else ""
    words += f" {run.options.get('network_module', '')}"  # kohya's scripts
    if re.search(r"lora", words, re.IGNORECASE):
        return Finding("training.method", "lora", "the command names LoRA", Confidence.MEDIUM, run.evidence)
    if run.configs and run.script is None:
        rank = look_up_number(scope, ("lora_r", "lora_rank"), 1, 1024)
        return (
            Finding("training.method", "lora", "a rank of adapters is set", rank.confidence, rank.evidence)
            if rank
            else None
        )
    where = _call(
        checkout,
        run,
        "get_peft_model",
        "LoraConfig",
        "FastLanguageModel.get_peft_model",
        "prepare_model_for_kbit_training",
    )
    if where is None:
        return None
    return Finding("training.method", "lora", "adapters are put on the model", Confidence.HIGH, where)


def _precision(checkout: Checkout, run: Run, scope: Scope) -> Finding | None:
    for key, value in (("bf16", "bf16"), ("bfloat16", "bf16"), ("fp16", "fp16")):
        if is_on(found := look_up(scope, (key,))) and found is not None:
            return Finding("training.precision", value, f"`{key}` is on", found.confidence, found.evidence)
    for confidence, settings in scope.tiers:
        for setting in settings:
            # `dtype` is also what arrays of tokens are given: only a float says how the model computes.
            kind = (
                _kind_of_number(setting.text) if setting.key in _PRECISION and _is_models(setting, confidence) else None
            )
            if kind is not None:
                why = f"`{setting.key}` is {setting.text}"
                return Finding("training.precision", kind, why, confidence, setting.evidence)
    where = _call(checkout, run, "half", "autocast", "GradScaler")
    return (
        Finding("training.precision", "fp16", "16-bit numbers are switched on", Confidence.MEDIUM, where)
        if where
        else None
    )


def _is_models(setting: Setting, confidence: Confidence) -> bool:
    """Whether a number format is the model's: an option, or an argument of what loads or runs one, not of any array."""
    owner = setting.path.rpartition(".")[0]
    if setting.key != "dtype":
        return True
    return bool(_TAKES_A_MODELS_DTYPE.search(owner)) if owner else confidence is Confidence.HIGH


def _kind_of_number(text: str) -> str | None:
    small = text.lower()
    if small.startswith("np."):
        return None  # an array's numbers, not the model's
    for kind, words in (
        ("bf16", ("bf16", "bfloat16")),
        ("fp16", ("fp16", "float16", "half", "16-mixed")),
        ("fp32", ("fp32", "float32")),
    ):
        if any(word in small for word in words):
            return kind
    return {"16": "fp16", "32": "fp32", "amp": "fp16", "amp_bf16": "bf16", "amp_bfloat16": "bf16"}.get(small)


def _bits(scope: Scope) -> Finding | None:
    """Return how many bits the weights have, where they are quantized at load."""
    for names, width in ((_FOUR_BIT, "4"), (_EIGHT_BIT, "8")):
        if is_on(found := look_up(scope, names)) and found is not None:
            return Finding("model.weight_bits", width, f"`{found.setting.key}` is on", found.confidence, found.evidence)
    number = look_up_number(scope, ("quantization_bit",), 4, 8)
    if number is not None and number.text in {"4", "8"}:
        return Finding(
            "model.weight_bits", number.text, "`quantization_bit` is set", number.confidence, number.evidence
        )
    named = look_up(scope, ("quantization",))
    bits_of = {"awq": "4", "gptq": "4", "bitsandbytes": "4", "fp8": "8"}
    if named is not None and (bits := bits_of.get(named.text.lower())):
        return Finding("model.weight_bits", bits, f"`quantization` is {named.text}", named.confidence, named.evidence)
    return None


def _sharding(checkout: Checkout, run: Run, scope: Scope) -> Finding | None:
    stage = look_up_number(scope, ("zero_stage", "stage", "deepspeed_stage"), 1, 3)
    if stage is not None:
        return Finding(
            "training.sharding", f"zero-{stage.text}", f"ZeRO stage {stage.text}", stage.confidence, stage.evidence
        )
    named = look_up(
        scope,
        ("deepspeed", "deepspeed_config", "config_file", "fsdp", "fsdp_config", "fsdp_sharding_strategy", "strategy"),
    )
    text = named.text.lower() if named else ""
    if named is not None and (found := re.search(r"(?:zero|stage|z)[_-]?([123])", text)):
        return Finding("training.sharding", f"zero-{found[1]}", f"`{named.text}`", named.confidence, named.evidence)
    if named is not None and ("full_shard" in text or text == "fsdp" or named.setting.key.startswith("fsdp")):
        return Finding(
            "training.sharding",
            "zero-3",
            "FSDP shards weights, gradients and optimizer",
            named.confidence,
            named.evidence,
        )
    where = _call(checkout, run, "FullyShardedDataParallel", "fully_shard", "FSDP")
    return Finding("training.sharding", "zero-3", "FSDP is used", Confidence.MEDIUM, where) if where else None


def _offload(scope: Scope) -> Finding | None:
    """Return what is kept in main memory: FSDP's and DeepSpeed's parameters, or DeepSpeed's optimizer state alone."""
    switch = look_up(scope, _OFFLOADS_PARAMETERS)
    if is_on(switch) and switch is not None:
        why = f"`{switch.setting.key}` is on"
        return Finding("training.offload", "parameters", why, switch.confidence, switch.evidence)
    kept: dict[str, Finding] = {}
    for confidence, settings in scope.tiers:
        for setting in settings:
            found = re.search(r"offload_(param|optimizer)(?:\.|_)device$", setting.path)
            if found is not None and setting.text.strip("\"'").lower() in {"cpu", "nvme"}:
                what = "parameters" if found[1] == "param" else "optimizer"
                why = f"`{setting.path[-60:]}` is {setting.text}"
                kept.setdefault(what, Finding("training.offload", what, why, confidence, setting.evidence))
    return kept.get("parameters") or kept.get("optimizer")


def _checkpointing(checkout: Checkout, run: Run, scope: Scope) -> Finding | None:
    found = look_up(scope, _CHECKPOINTING)
    if found is not None:
        on = is_on(found) or found.text.lower() in {"unsloth", "full"}
        state = "on" if on else "off"
        return Finding(
            "training.gradient_checkpointing",
            state,
            f"`{found.setting.key}` is {found.text}",
            found.confidence,
            found.evidence,
        )
    tool = run.command.tool if run.command is not None else ""
    kind = look_up(scope, ("finetuning_type",))
    if tool in _CHECKPOINTING_TOOLS or kind is not None:
        where = kind.evidence if kind is not None else run.evidence
        return Finding(
            "training.gradient_checkpointing", "on", "the trainer switches it on by itself", Confidence.MEDIUM, where
        )
    called = _call(checkout, run, "gradient_checkpointing_enable", "prepare_model_for_kbit_training", "prepare_model_for_int8_training",
                  "enable_gradient_checkpointing")  # fmt: skip
    if called is None:
        return None
    return Finding("training.gradient_checkpointing", "on", "it is switched on in code", Confidence.HIGH, called)


def _chunked_loss(scope: Scope) -> Finding | None:
    """Return that logits are never held whole, where a fused or chunked loss is switched on."""
    found = look_up(scope, ("use_liger_kernel", "use_liger", "enable_liger_kernel", "liger_kernel", "cut_cross_entropy",
                            "liger_fused_linear_cross_entropy"))  # fmt: skip
    plugin = next(
        (s for _, tier in scope.tiers for s in tier if s.key == "plugins" and "cut_cross_entropy" in s.text), None
    )
    if plugin is not None:
        return Finding("training.chunked_loss", "on", "the plugin for it is named", Confidence.HIGH, plugin.evidence)
    if not is_on(found) or found is None:
        return None
    return Finding("training.chunked_loss", "on", f"`{found.setting.key}` is on", found.confidence, found.evidence)


def _optimizer(scope: Scope) -> Finding | None:
    found = look_up(scope, _OPTIMIZER)
    if is_on(eight := look_up(scope, ("use_8bit_adam",))) and eight is not None:
        return Finding("training.optimizer", "adamw_8bit", "`use_8bit_adam` is on", eight.confidence, eight.evidence)
    if found is None or not re.fullmatch(r"[A-Za-z][\w.+-]{1,40}", found.text):
        return None
    return Finding(
        "training.optimizer", found.text, f"`{found.setting.key}` is {found.text}", found.confidence, found.evidence
    )


def _number(field: str, scope: Scope, names: tuple[str, ...], low: int, high: int) -> Finding | None:
    found = _best_number(scope, names, low, high)
    if found is None:
        return None
    number = as_number(found.text)
    return Finding(field, str(number), f"`{found.setting.key}` is {found.text}", found.confidence, found.evidence)


def _best_number(scope: Scope, names: tuple[str, ...], low: int, high: int) -> Found | None:
    """Return the nearest number; a trainer's own argument wins over the same word in any other call of its tier."""
    found = look_up_number(scope, names, low, high)
    if found is None:
        return None
    for confidence, settings in scope.tiers:
        for setting in settings:
            if setting.key == found.setting.key and _is_trainers(setting) and confidence >= found.confidence:
                number = as_number(setting.text)
                if number is not None and low <= number <= high:
                    return Found(setting, confidence)
    return found


def _is_trainers(setting: Setting) -> bool:
    owner = setting.path.rpartition(".")[0].lower()
    return "argument" in owner or owner.endswith("config")


def _call(checkout: Checkout, run: Run, *names: str) -> Evidence | None:
    """Return where the run's program, or what it imports, calls one of these."""
    if run.script is None:
        return None
    for source in import_closure(checkout, run.script):
        for call in source.code.calls_named(*(name.rpartition(".")[2] for name in names)) if source.code else ():
            if _is_named(call, names):
                return Evidence(source.path, call.line)
    return None


def _is_named(call: Call, names: tuple[str, ...]) -> bool:
    if call.last == "from_pretrained" and "from_pretrained" in names:
        return not re.search(r"okeniz|rocessor|onfig|xtractor|vae|text_enc", call.name, re.IGNORECASE)
    return call.last in names or call.name in names
