"""What a run divides among cards, and what it keeps in main memory."""

from __future__ import annotations

import re

from gpu_lol_action.analysis.files.checkout import Checkout
from gpu_lol_action.analysis.files.setting import Setting
from gpu_lol_action.analysis.formats.paths import Form
from gpu_lol_action.analysis.programs.behavior import Behavior
from gpu_lol_action.analysis.runs.entry_points import Run
from gpu_lol_action.analysis.runs.run_calls import called_at
from gpu_lol_action.analysis.runs.settings import Found, Scope, as_number, is_on, look_up
from gpu_lol_action.analysis.runs.torchtune_recipes import divides_by_recipe
from gpu_lol_action.domain.finding import Confidence, Finding
from gpu_lol_action.domain.patterns import regex

_STAGES = ("zero_stage", "stage", "deepspeed_stage")
MOST_STAGE = 3
_ZERO = regex(r"zero|deepspeed", re.IGNORECASE)
_SPEAKS_OF_ZERO = ("zero_optimization", "zero_stage", "eepSpeed")
_CONFIGURED_BY = ("deepspeed", "deepspeed_config", "deepspeed_config_file", "config_file")
LINES_TO_OTHERWISE = 3
_OFFLOADS_OPTIMIZER = ("optimizer_cpu_offload", "optimizer_offload", "offload_optimizer")
_NAMED_OFFLOAD = regex(r"(?:^|[/_.-])(?:cpu_?)?offload(?:_(params?|optimizer|all))?(?=[_.-]|$)")
_OFFLOADS_PARAMETERS = (
    "use_cpu_offload",
    "cpu_offload",
    "fsdp_offload_params",
    "offload_params",
    "fsdp_cpu_offload",
    "disk_offload",
)

_OFF = frozenset({"", "false", "none", "null", "no", "0", "{}", "[]"})
_HOLDS_SAMPLES = regex(r"buffer|replay|cache", re.IGNORECASE)


def sharding_of(checkout: Checkout, run: Run, scope: Scope) -> Finding | None:
    """Return by which stage weights, gradients and optimizer state are divided; None where nothing divides them."""
    stage = _zero_stage(checkout, scope)
    if stage is not None:
        number, said = stage
        return Finding("training.sharding", f"zero-{number}", f"ZeRO stage {number}", said.confidence, said.evidence)
    named = look_up(
        scope,
        (*_CONFIGURED_BY, "fsdp", "fsdp_config", "fsdp_sharding_strategy", "strategy"),
    )
    text = named.text.strip().lower() if named else ""
    named = None if text in _OFF else named  # `--fsdp` is a switch that nobody has turned on
    if named is not None and (told := regex(r"(?:zero|stage|z)[_-]?([123])").search(text)):
        return Finding("training.sharding", f"zero-{told[1]}", f"`{named.text}`", named.confidence, named.evidence)
    if named is not None and ("full_shard" in text or text == "fsdp" or named.setting.key.startswith("fsdp")):
        return Finding(
            "training.sharding",
            "zero-3",
            "FSDP shards weights, gradients and optimizer",
            named.confidence,
            named.evidence,
        )
    if (section := _fsdp_section(scope)) is not None:
        why = f"`{section.path}` configures FSDP"
        return Finding("training.sharding", "zero-3", why, Confidence.HIGH, section.evidence)
    if divides_by_recipe(run):
        why = "torchtune's recipe divides weights, gradients and optimizer (FSDP)"
        return Finding("training.sharding", "zero-3", why, Confidence.HIGH, run.evidence)
    where = called_at(
        checkout,
        run,
        "FullyShardedDataParallel",
        "fully_shard",
        "FSDP",
        "FSDPStrategy",
        "FullyShardedDataParallelPlugin",
    )
    return Finding("training.sharding", "zero-3", "FSDP is used", Confidence.MEDIUM, where) if where else None


def _zero_stage(checkout: Checkout, scope: Scope) -> tuple[int, Found] | None:
    """Return ZeRO's stage and where it is said: a bare ``stage`` is one of the work (``--stage 03``) or of a network, unless ZeRO is spoken of there."""
    for found in scope.under(_STAGES):
        number = as_number(found.text)
        if number is None or not 1 <= number <= MOST_STAGE:
            continue
        source = checkout.find(found.evidence.path)
        is_settled = source is not None and source.form in {Form.PYTHON, Form.JSON, Form.YAML, Form.TOML}
        is_spoken_of = source is not None and is_settled and any(source.mentions(word) for word in _SPEAKS_OF_ZERO)
        if found.setting.key != "stage" or _ZERO.search(found.setting.path) or is_spoken_of:
            return number, found
    return None


def least_cards_of(scope: Scope) -> Finding | None:
    """Return that the run takes two cards at least, where its own configuration says FSDP: on one it would divide nothing."""
    named = look_up(scope, ("fsdp",))
    said = (
        named.setting if named is not None and "shard" in named.text and named.confidence is Confidence.HIGH else None
    )
    section = said or _fsdp_section(scope)
    if section is None:
        return None
    why = f"`{section.path}` divides the model, which takes two cards at least"
    return Finding("hardware.least_count", "2", why, Confidence.HIGH, section.evidence)


def _fsdp_section(scope: Scope) -> Setting | None:
    """Return what the run itself says of FSDP alone: its version, a section of its options (axolotl, accelerate)."""
    for confidence, settings in scope.tiers[:2]:
        for setting in settings:
            is_on = setting.text.strip().lower() not in {"", "none", "null", "false", "{}"}
            is_fsdps = setting.key == "fsdp_version" or setting.path.startswith("fsdp_config.")
            if confidence is Confidence.HIGH and is_on and is_fsdps:
                return setting
    return None


def offload_of(checkout: Checkout, run: Run, scope: Scope) -> Finding | None:
    """Return what is kept in main memory: FSDP's and DeepSpeed's parameters, or DeepSpeed's optimizer state alone.

    A run that infers heeds what it is told itself; a training's configuration that it is handed, or that lies beside it, only where
    DeepSpeed loads its model, too.
    """
    found = _offload_of(checkout, scope)
    if found is None or run.behavior is Behavior.TRAINS:
        return found
    loads = run.script is not None and run.script.mentions("eepspeed")
    is_of_training = found.confidence is Confidence.LOW or found.evidence.path.endswith((".json", ".yaml", ".yml"))
    return found if loads or not is_of_training else None


def _offload_of(checkout: Checkout, scope: Scope) -> Finding | None:
    switch = _parameters_switch(scope)
    fsdp = look_up(scope, ("fsdp",))
    # Transformers' `--fsdp "full_shard auto_wrap"` says itself whether it offloads; its trainer only could.
    is_told = fsdp is not None and "shard" in fsdp.text and "offload" not in fsdp.text
    is_told = is_told and switch is not None and fsdp is not None and fsdp.confidence > switch.confidence
    if is_on(switch) and switch is not None and not is_told:
        why = f"`{switch.setting.key}` is on"
        return Finding("training.offload", "parameters", why, switch.confidence, switch.evidence)
    kept: dict[str, Finding] = {}
    named = look_up(scope, _CONFIGURED_BY)
    # Where the run names its configuration, what a module of the program would put together otherwise is none of it.
    is_configured = named is not None and named.confidence is Confidence.HIGH
    for confidence, settings in scope.tiers:
        if confidence is Confidence.LOW:
            continue  # of configurations that only lie beside the program, one may offload and the next not
        for setting in settings:
            if is_configured and confidence is not Confidence.HIGH and setting.evidence.path.endswith(".py"):
                continue
            found = regex(r"offload_(param|optimizer)(?:\.|_)device$").search(setting.path)
            if found is not None and setting.text.strip("\"'").lower() in {"cpu", "nvme"}:
                what = "parameters" if found[1] == "param" else "optimizer"
                why = f"`{setting.path[-60:]}` is {setting.text}"
                kept.setdefault(what, Finding("training.offload", what, why, confidence, setting.evidence))
    for what, finding in _named_offload(scope):
        kept.setdefault(what, finding)
    # DeepSpeed heeds `offload_param` in stage 3 alone: below it every card keeps the weights.
    stage = _zero_stage(checkout, scope)
    if stage is not None and stage[0] < MOST_STAGE:
        kept.pop("parameters", None)
    return kept.get("parameters") or kept.get("optimizer")


def _parameters_switch(scope: Scope) -> Found | None:
    """Return the switch for parameters in main memory; what keeps a buffer of samples there (a replay buffer) is none.

    Nor is what a program sets both ways a few lines apart, on a condition of its own: Transformers' trainer, which many have
    copied, offloads where ``FSDPOption.OFFLOAD in self.args.fsdp``.
    """
    switches = list(scope.under(_OFFLOADS_PARAMETERS))
    for found in switches:
        owner = f"{found.setting.path.rpartition('.')[0]} {found.evidence.path.rpartition('/')[2]}"
        is_said = found.text.strip().lower() not in {"", "none", "null"} and not _HOLDS_SAMPLES.search(owner)
        if is_said and not any(_is_other_branch(found, other) for other in switches):
            return found
    return None


def _is_other_branch(one: Found, other: Found) -> bool:
    places = (one.evidence, other.evidence)
    is_near = (
        places[0].path == places[1].path and abs((places[0].line or 0) - (places[1].line or 0)) <= LINES_TO_OTHERWISE
    )
    return is_near and places[0].path.endswith(".py") and is_on(one) is not is_on(other)


def _named_offload(scope: Scope) -> list[tuple[str, Finding]]:
    """Return what a switch keeps in main memory of the optimizer, and what the name of a DeepSpeed file says (``zero3_offload.json``)."""
    found: list[tuple[str, Finding]] = []
    switch = look_up(scope, _OFFLOADS_OPTIMIZER)
    if is_on(switch) and switch is not None and switch.confidence is Confidence.HIGH:
        why = f"`{switch.setting.key}` is on"
        found.append(("optimizer", Finding("training.offload", "optimizer", why, switch.confidence, switch.evidence)))
    named = look_up(scope, _CONFIGURED_BY)
    said = _NAMED_OFFLOAD.search(named.text.lower()) if named is not None and len(named.text) < 200 else None
    if named is not None and said is not None and said[1] not in {"param", "params"}:
        # A name says less than the file: with only the optimizer in main memory nothing is asked for too little.
        why = f"`{named.text}` says it in its name"
        found.append(("optimizer", Finding("training.offload", "optimizer", why, Confidence.MEDIUM, named.evidence)))
    return found
