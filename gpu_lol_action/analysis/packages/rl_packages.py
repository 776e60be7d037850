"""Packages of reinforcement learning that the run's configuration asks for and no import of the folder says.

Its words tell the library (slime's programs are started where it is cloned), the engine that samples answers (``rollout.name=vllm``,
``rollout.backend: sglang:d4``), and that its workers are Ray's, of whose cluster it is a job.
"""

from __future__ import annotations

from collections.abc import Iterator
from collections.abc import Set as AbstractSet

from gpu_lol_action.analysis.files.checkout import Checkout
from gpu_lol_action.analysis.package_lists.package_files import package_name
from gpu_lol_action.analysis.runs.entry_points import Run
from gpu_lol_action.analysis.training.rl_engine import is_slime, is_verl
from gpu_lol_action.analysis.training.said_settings import Said, said_of
from gpu_lol_action.domain.finding import Confidence, Evidence, Finding
from gpu_lol_action.domain.patterns import regex

_SLIME = "git+https://github.com/THUDM/slime.git"
_ENGINES = {"vllm": "vllm", "sglang": "sglang[all]"}
# verl's and AReaL's names of it, SkyRL's two, AReaL's earlier one.
_NAMES_ENGINE = ("rollout_name", "rollout_backend", "engine_backend", "generator_backend", "allocation_mode")
_ENGINE = regex(r"[\"']?(vllm|sglang)(?![\w-])")
# OpenRLHF says how many of its only engine; TRL's and ms-swift's trainers are told to use theirs.
_COUNTS_ENGINES, _USES_ENGINE = "vllm_num_engines", "use_vllm"
_OF_RAY = regex(r"openrlhf\.cli\.\w{0,40}_ray|(?:skyrl|skyrl_train)\.[\w.]{1,80}")


def rl_packages(checkout: Checkout, run: Run | None, known: AbstractSet[str], own: AbstractSet[str]) -> list[Finding]:
    """Return what the run needs of these besides ``known`` packages and the checkout's ``own``."""
    if run is None:
        return []
    found = dict(_needed(run, said_of(checkout, run)))
    return [
        _finding(package, f"`{word}` needs it and no list names it", run.evidence)
        for package, word in found.items()
        if package_name(package) not in known and package_name(package) not in own
    ]


def _needed(run: Run, said: Said) -> Iterator[tuple[str, str]]:
    """Yield packages with the word that asks for each."""
    if is_slime(said):
        yield _SLIME, "actor_num_gpus_per_node"
        yield "megatron-core", "slime's trainer"
        yield "ray", "slime's workers"
        yield "sglang[all]", "slime's engine"  # imported as it starts, also to train without answers
    if is_verl(said):
        yield "ray", "verl's workers"
        yield from ((package, "verl's trainer") for package in ("torch", "transformers", "hydra-core", "tensordict"))
    if run.command is not None and _OF_RAY.fullmatch(run.command.target):
        yield "ray", run.command.target
    for name, setting in said.texts.items():
        engine = _ENGINE.match(setting.text.strip()) if name.endswith(_NAMES_ENGINE) else None
        if engine is not None:
            yield _ENGINES[engine[1]], f"{setting.path}: {engine[0]}"
    if said.text(_COUNTS_ENGINES, default="0") != "0":
        yield "vllm", _COUNTS_ENGINES
    if said.is_on(_USES_ENGINE):
        yield "vllm", _USES_ENGINE


def _finding(package: str, why: str, where: Evidence) -> Finding:
    return Finding("dependencies.requirements", package, why, Confidence.MEDIUM, where)
