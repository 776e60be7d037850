"""In which numbers a run computes."""

from __future__ import annotations

import re
from collections.abc import Mapping

from gpu_lol_action.analysis.files.checkout import Checkout
from gpu_lol_action.analysis.files.setting import Setting
from gpu_lol_action.analysis.runs.entry_points import Run
from gpu_lol_action.analysis.runs.run_calls import called_at
from gpu_lol_action.analysis.runs.settings import Scope, is_on, look_up
from gpu_lol_action.analysis.training.keras_policy import keras_policy
from gpu_lol_action.analysis.training.trl_defaults import bf16_by_trl
from gpu_lol_action.domain.finding import Confidence, Evidence, Finding
from gpu_lol_action.domain.patterns import regex

_PRECISION = frozenset({"mixed_precision", "precision", "torch_dtype", "dtype", "compute_dtype", "model_dtype"})
_MIXED = "mixed_precision"
MAX_ABOVE = 2000  # characters above a line, in which what it stands below is looked for
_SWITCHES = ("fp16", "use_fp16", "amp", "use_amp", _MIXED)
# Switches for 16 bit throughout, without 32-bit copies: LLaMA-Factory's and Llama recipes', kohya's.
_PURE = {"pure_bf16": "bf16", "full_bf16": "bf16", "full_fp16": "fp16"}
_TAKES_A_MODELS_DTYPE = regex(r"from_|autocast|LLM|Engine|pipeline|Pipeline|Trainer|Config|Arguments|Fabric|load|Model")


# `weight_dtype = torch.float32`, before the branches for 16 bit: the frozen weights lie so.
_UNLESS_TOLD = regex(r"(?m)^[ \t]{1,12}weight_dtype = torch\.float32[ \t]{0,8}$")
_GIVEN_OUTSIDE = "ACCELERATE_MIXED_PRECISION"
# detectron2's, as programs set it: `cfg.SOLVER.AMP.ENABLED = True`.
_SET_IN_CODE = regex(r"(?m)^([ \t]{0,12})\w{1,30}\.SOLVER\.AMP\.ENABLED[ ]?=[ ]?(True|False)\b")
UNTOLD = "accelerate is told no 16-bit numbers"
TOLD_OFF = "`mixed_precision` is no"
UNTOLD_OF_AXOLOTL = "axolotl loads and computes at 32 bit where `bf16` is off"
_NARROW = ("bfloat16", "fp16", "float16", "load_in_8bit", "load_in_4bit")
_NARROWED = regex(r"\.to\([^()\n]{0,60}\btorch\.(?:bfloat16|float16|half)\b")
_OF_SAMPLES = regex(r"\b\w{0,60}Pipeline\.from_pretrained\(")


def precision_of(checkout: Checkout, run: Run, scope: Scope) -> Finding | None:
    """Return the numbers of the arithmetic: bf16, fp16 or fp32; None where nothing says."""
    if (pure := _pure(scope) or keras_policy(checkout, run, scope)) is not None:
        return pure
    for key, value in (("bf16", "bf16"), ("bfloat16", "bf16"), ("fp16", "fp16")):
        if is_on(found := look_up(scope, (key,))) and found is not None:
            return Finding("training.precision", value, f"`{key}` is on", found.confidence, found.evidence)
    if (engine := _engines(scope) or _axolotls_width(scope)) is not None:
        return engine
    off = _told_off(scope)
    if (said := _named(run, scope, is_off=off is not None)) is not None:
        return said
    if (policy := _fsdps(scope) or _openmmlabs(run, scope) or _of_switch(run, scope)) is not None:
        return policy
    if (
        look_up(scope, ("bf16",)) is None
        and not is_on(look_up(scope, ("fp16",)))
        and (by_trl := bf16_by_trl(checkout, run)) is not None
    ):
        why = "TRL's configurations compute in it by themselves"
        return Finding("training.precision", "bf16", why, Confidence.MEDIUM, by_trl)
    cast = called_at(checkout, run, "model.bfloat16", "module.bfloat16", "net.bfloat16", "m.bfloat16")
    if cast is not None:
        return Finding("training.precision", "bf16", "the model is turned to 16 bit", Confidence.MEDIUM, cast)
    narrowed = called_at(checkout, run, "half", "torch.autocast", "cuda.amp.autocast", "amp.autocast")
    if off is not None and narrowed is None and _hands_it_on(run, scope):
        return off
    if (switch := look_up(scope, _SWITCHES)) is not None and switch.text.strip().lower() in {"false", "0", "no"}:
        return _untold(run)  # what the program could do stands behind the switch
    where = called_at(checkout, run, "half", "autocast", "GradScaler", "to_fp16")
    return (
        Finding("training.precision", "fp16", "16-bit numbers are switched on", Confidence.MEDIUM, where)
        if where
        else _untold(run)
    )


def _named(run: Run, scope: Scope, *, is_off: bool) -> Finding | None:
    """Return the numbers that a setting names for the model."""
    for confidence, settings in scope.tiers:
        for setting in settings:
            if is_off and setting.path == _MIXED:
                continue  # what it would be without the command or the configuration that says no; a call's own argument stays
            # `dtype` is also what arrays of tokens are given: only a float says how the model computes.
            kind = (
                _kind_of_number(setting.text) if setting.key in _PRECISION and _is_models(setting, confidence) else None
            )
            # `autocast(dtype=torch.float32)` keeps a few steps exact amid a model of 16 bit.
            if kind is None or (kind == "fp32" and setting.path.startswith("autocast.")):
                continue
            if not _is_for_samples(run, setting):
                why = f"`{setting.key}` is {setting.text}"
                return Finding("training.precision", kind, why, confidence, setting.evidence)
    return None


def _openmmlabs(run: Run, scope: Scope) -> Finding | None:
    """Return the 16-bit numbers of a configuration of OpenMMLab: its wrapper of the optimizer, or before that a section of its own; so of detectron2's."""
    is_of_detectron = run.script is not None and run.script.mentions("detectron2")
    for confidence, settings in scope.tiers[:3]:
        for setting in settings:
            is_wrapper = setting.key == "type" and setting.text == "AmpOptimWrapper"
            is_on_there = setting.path.endswith("amp.enabled") and setting.text.strip().lower() == "true"
            is_told = is_of_detectron and is_on_there
            if is_wrapper or is_told or (setting.key == "loss_scale" and setting.owner == "fp16"):
                same = (s for s in settings if s.key == "dtype" and s.evidence.path == setting.evidence.path)
                width = next((kind for s in same if (kind := _kind_of_number(s.text)) in {"bf16", "fp16"}), "fp16")
                why = f"`{setting.text if is_wrapper else setting.path if is_told else 'fp16'}` computes in it"
                return Finding("training.precision", width, why, confidence, setting.evidence)
    script = run.script if is_of_detectron else None
    set_here = _SET_IN_CODE.search(script.text) if script is not None else None
    if script is None or set_here is None or set_here[2] != "True" or _is_asked_above(script.text, set_here):
        return None
    where = Evidence(script.path, script.text.count("\n", 0, set_here.start(2)) + 1)
    return Finding("training.precision", "fp16", "`SOLVER.AMP.ENABLED` computes in it", Confidence.HIGH, where)


def _is_asked_above(text: str, line: re.Match[str]) -> bool:
    """Whether a line stands in a branch: the nearest line above it that is set in less asks something."""
    above = text[max(0, line.start() - MAX_ABOVE) : line.start()].split("\n")
    heads = (each for each in reversed(above) if each.strip() and len(each) - len(each.lstrip()) < len(line[1]))
    return regex(r"(?:if|elif|else|for|while|try|except)\b").match(next(heads, "").lstrip()) is not None


def _of_switch(run: Run, scope: Scope) -> Finding | None:
    """Return the 16-bit numbers of a switch (``--amp``) that a program is told which is not here: what it does with it is known by its name."""
    found = look_up(scope, ("amp", "use_amp")) if run.script is None else None
    if found is None or not is_on(found):
        return None
    named = look_up(scope, ("amp_dtype",))
    width = (_kind_of_number(named.text) if named is not None else None) or "fp16"
    return Finding("training.precision", width, f"`{found.setting.key}` is on", found.confidence, found.evidence)


def _told_off(scope: Scope) -> Finding | None:
    """Return 32 bit where the run's own command or configuration says so; a program's own is what it starts with until it is told."""
    said = look_up(scope, (_MIXED,))
    if (
        said is None
        or said.text.strip().lower() not in {"no", "false"}
        or said.evidence.path.endswith((".py", ".ipynb"))
    ):
        return None
    if said.confidence is not Confidence.HIGH:
        return None
    return Finding("training.precision", "fp32", TOLD_OFF, said.confidence, said.evidence)


def _hands_it_on(run: Run, scope: Scope) -> bool:
    """Whether the program is one of accelerate's, which computes as that is told; what is quantized is 16 bit beside it."""
    is_quantized = any(is_on(look_up(scope, (key,))) for key in ("load_in_8bit", "load_in_4bit"))
    if run.script is None or is_quantized or not run.script.mentions("Accelerator("):
        return False
    return _NARROWED.search(run.script.text) is None


def _is_for_samples(run: Run, setting: Setting) -> bool:
    """Whether a format is that of a pipeline which draws pictures beside a training: accelerate is told what the training computes with."""
    script = run.script
    if script is None or setting.evidence.path != script.path or "accelerator.mixed_precision" not in script.text:
        return False
    if setting.path == "dtype":  # what the pipeline is then given
        return True
    place = script.code.line_of_text(setting.evidence.line) if script.code is not None else None
    if place is None:
        return False
    lines = script.text.split("\n", place)
    return _OF_SAMPLES.search(lines[place - 1][:400]) is not None


def _untold(run: Run) -> Finding | None:
    """Return 32 bit where a program computes so unless accelerate is told otherwise, and nothing tells it."""
    script = run.script
    found = (
        _UNLESS_TOLD.search(script.text)
        if script is not None and "accelerator.mixed_precision" in script.text
        else None
    )
    if script is None or found is None or (run.command is not None and run.command.source.mentions(_GIVEN_OUTSIDE)):
        return None
    where = Evidence(script.path, script.text.count("\n", 0, found.start()) + 1)
    return Finding("training.precision", "fp32", UNTOLD, Confidence.LOW, where)


def _pure(scope: Scope) -> Finding | None:
    """Return the numbers of a switch for 16 bit throughout that is on; one that is off in a program may yet be told."""
    for key, value in _PURE.items():
        if is_on(found := look_up(scope, (key,))) and found is not None:
            return Finding("training.precision", value, f"`{key}` is on", found.confidence, found.evidence)
    told = look_up(scope, ("dtype",))
    if told is not None and told.text.strip().lower() == "bf16" and _is_of_torchtune(scope):
        return Finding(
            "training.precision", "bf16", "torchtune trains in its `dtype` alone", told.confidence, told.evidence
        )
    return None


def _is_of_torchtune(scope: Scope) -> bool:
    """Whether a configuration builds what torchtune has; it keeps weights, gradients and states in one type."""
    settings = scope.tiers[1][1] if len(scope.tiers) > 1 else ()
    return any(s.key == "_component_" and s.text.startswith("torchtune.") for s in settings)


def _engines(scope: Scope) -> Finding | None:
    """Return the numbers that a DeepSpeed configuration switches on (``"fp16": {"enabled": true}``); ``auto`` leaves it to the trainer."""
    for confidence, settings in scope.tiers[:2]:
        for setting in settings:
            section, _, key = setting.path.rpartition(".")
            kind = section.rpartition(".")[2]
            if key == "enabled" and kind in {"bf16", "fp16"} and setting.text.strip().lower() == "true":
                return Finding("training.precision", kind, f"`{setting.path}` is on", confidence, setting.evidence)
    return None


def _axolotls_width(scope: Scope) -> Finding | None:
    """Return that axolotl loads a model at 32 bit: its `bf16` is off, which is on unless said, and nothing else asks for 16."""
    said = _of_axolotl(scope)
    off = said.get("bf16")
    if off is None or off.text.strip().lower() not in {"false", "no", "off"}:
        return None
    if any(key in said and said[key].text.strip().lower() not in _OFF for key in _NARROW):
        return None
    return Finding("training.precision", "fp32", UNTOLD_OF_AXOLOTL, Confidence.HIGH, off.evidence)


def _of_axolotl(scope: Scope) -> Mapping[str, Setting]:
    """Return the settings of a configuration of axolotl by key, the first of each; none where it is another's."""
    said = {setting.key: setting for setting in reversed(scope.tiers[1][1])} if len(scope.tiers) > 1 else {}
    return said if {"base_model", "micro_batch_size"} <= said.keys() else {}


def _fsdps(scope: Scope) -> Finding | None:
    """Return the 16-bit numbers of FSDP's policy; in JAX `param_dtype` is how a layer's weights lie, not what it computes with."""
    for found in scope.under(("param_dtype",)):
        kind = _kind_of_number(found.text) if "MixedPrecision" in found.setting.path else None
        if kind in {"bf16", "fp16"}:
            why = f"`param_dtype` is {found.text}"
            return Finding("training.precision", kind, why, found.confidence, found.evidence)
    return None


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


_WHOLLY = frozenset({"true", "auto", "full"})


def weights_of(checkout: Checkout, run: Run, scope: Scope, precision: Finding | None) -> Finding | None:
    """Return how wide the trained weights lie in a loop of the program's own: turned to 32 bit by hand, or 16 bit throughout.

    A trainer and mixed precision keep 32-bit copies; a model that is loaded at 16 bit and stepped by hand has none, and no
    trainer keeps any that is told so.
    """
    if (pure := _pure(scope)) is not None:
        return Finding("training.weights", pure.value, pure.why, pure.confidence, pure.evidence)
    widened = called_at(checkout, run, "model.float")
    if widened is not None:
        why = "`model.float()` keeps the trained weights at 32 bit"
        return Finding("training.weights", "fp32", why, Confidence.HIGH, widened)
    if run.script is None and (kept := _axolotls(scope)) is not None:
        return kept
    if precision is None or precision.value == "fp32" or not _LOADED_AS.match(precision.why):
        return None
    if called_at(checkout, run, *_KEEPERS) is not None or called_at(checkout, run, "backward") is None:
        return None
    why = f"the weights are loaded as {precision.value}, and the program's own loop keeps no 32-bit copies"
    return Finding("training.weights", precision.value, why, Confidence.MEDIUM, precision.evidence)


def _axolotls(scope: Scope) -> Finding | None:
    """Return that axolotl loads a model at 16 bit and trains it so; DeepSpeed and FSDP keep 32-bit copies of their own."""
    said = _of_axolotl(scope)
    # `float16` and `bfloat16` are 16 bit without mixed precision.
    kinds = (("bf16", "bf16"), ("bfloat16", "bf16"), ("float16", "fp16"))
    wide = next((each for each in kinds if each[0] in said and said[each[0]].text.strip().lower() in _WHOLLY), None)
    if wide is None:
        return None
    adapter = said.get("adapter")
    has_adapter = adapter is not None and adapter.text.strip().lower() not in _OFF
    if has_adapter:
        return None
    divided = [
        key for key in said if key.startswith(("fsdp", "deepspeed")) and said[key].text.strip().lower() not in _OFF
    ]
    if divided or any(setting.path.startswith("fsdp_config.") for setting in scope.tiers[1][1]):
        return None
    why = "axolotl loads the weights at 16 bit and keeps no 32-bit copies"
    return Finding("training.weights", wide[1], why, Confidence.MEDIUM, said[wide[0]].evidence)


_OFF = frozenset({"", "none", "null", "false", "no", "off"})
_LOADED_AS = regex(r"`(?:torch_dtype|dtype)` is torch\.")
_KEEPERS = ("autocast", "GradScaler", "Accelerator", "Trainer", "SFTTrainer", "Seq2SeqTrainer", "Fabric", "FSDP",
            "FullyShardedDataParallel", "initialize", "MixedPrecision")  # fmt: skip
