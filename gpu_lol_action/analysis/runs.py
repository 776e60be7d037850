"""Which of the things that can be started is the run to provision for, and which others are worth a profile.

The rules, in this order (docs/analysis.md tells them with their reasons):

1. steps beside the run (data preparation, evaluation, conversion, tests, benchmarks) come last;
2. what lies nearer to the root comes first: the document that names a command, else the script or program itself;
3. on one level a documented command wins over a launch script, that over a configuration, that over a program;
4. variants for trying out or for other machines (CPU, Mac, TPU, debug, toy, several machines) come behind the others;
5. training wins over inference;
6. a section on pre-training or on reproducing results names the main run; else the one that is named first.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from gpu_lol_action.analysis.behavior import Behavior
from gpu_lol_action.analysis.checkout import Checkout, Source
from gpu_lol_action.analysis.entry_points import Run, configured_runs, documented_runs, is_started, program_runs
from gpu_lol_action.analysis.import_graph import local_imports
from gpu_lol_action.analysis.paths import Form
from gpu_lol_action.analysis.run_names import run_names

MAX_RUNS = 8
MAX_PER_PROGRAM = 3
MAX_DEEPER = 1  # levels below the first run's at which another is worth a profile

# Folders that only say of what kind their files are: being in them makes nothing less important.
_NEUTRAL = frozenset({"src", "scripts", "script", "tools", "tool", "bin", "train", "training", "trainer", "trainers", "runs", "run",
                      "recipes", "jobs", "job", "slurm", "launch", "launcher", "launchers", "cmd", "shell", "sh", "bash", "code",
                      "pretrain", "finetune", "configs", "config", "conf", "experiments", "pipelines", "cli", "apps"})  # fmt: skip
_BESIDE = re.compile(
    r"(?:^|[/_.\s-])(?:prep(?:are|aration|are_data)?|pre_?process(?:ing)?|post_?process|download|convert(?:er)?|conversion|export|"
    r"evals?|evaluat(?:e|ion|or)|tests?|testing|data(?:set|sets|_gen)?|merge|upload|push|install|setup|bench(?:mark|marks|marking)?|"
    r"delinearize|quantize|quantization|fetch|tokenize|tokenizer|visuali[sz]e|plot|profile|profiler|stats|split|crawl|metrics?|fid|score|val|validate|validation|"
    r"extract|generate_data|make|build|create|lint|format|check|verify|compare|analy[sz]e|report|requirements|utils?|release|compute|calculate|filter(?:ing)?|router|monitor|hubconf|docs|show)(?=$|[/_.\s-])",
    re.IGNORECASE,
)
_BESIDE_OPTIONS = frozenset(
    {"eval", "evaluate", "eval_only", "test_only", "only_eval", "evaluate_only", "validate_only", "only_test"}
)
_BESIDE_SECTION = re.compile(
    r"\b(?:evaluat|benchmark|convert|conversion|download|preprocess|data(?:set)?s?\b|install|test(?:s|ing)\b|export)",
    re.IGNORECASE,
)
_RUN_SECTION = re.compile(r"train|tun|infer|usage|use|run|start|demo|reproduc|generat|sampl|serv|deploy", re.IGNORECASE)
_VARIANT_NAME = re.compile(
    r"(?:^|[_.-])(?:debug|toy|dummy|smoke|sanity|cpu|runcpu|mps|mac|mock|minimal|tpu|xla|npu|hpu|rocm|amd|colab|demo_train|single_batch|overfit|multi_?nodes?|\d+_?nodes)"
    r"(?=$|[_.-])",
    re.IGNORECASE,
)
_VARIANT_SECTION = re.compile(
    r"\b(?:CPU|Mac\w*|Apple|M1|M2|MPS|debug\w*|smoke|sanity|toy|Colab|Windows|TPUs?|AMD|ROCm|XLA|HPU|Gaudi|Ascend|NPU)\b"
)
_MAIN_SECTION = re.compile(r"reproduc|replicat|pre-?train|main (?:run|experiment|result)|full training", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class _Rank:
    """A run with what the rules see of it."""

    run: Run
    is_beside: bool
    level: int
    kind: int
    is_deeper: bool
    is_variant: bool
    is_main_section: bool
    order: int
    is_inner: bool

    @property
    def key(self) -> tuple[bool, int, int, bool, bool, bool, bool, int]:
        trains = self.run.behavior is Behavior.TRAINS
        return (
            self.is_beside,
            self.level,
            self.kind,
            self.is_deeper,
            self.is_variant,
            not trains,
            not self.is_main_section,
            self.order,
        )


_README, _DOCUMENT, _SCRIPT, _CONFIGURATION, _PROGRAM = range(5)


def primary_run(checkout: Checkout) -> Run | None:
    """Return the run to provision for; None where nothing was found that trains or infers."""
    runs = all_runs(checkout)
    return runs[0] if runs else None


@functools.lru_cache(maxsize=4)
def all_runs(checkout: Checkout) -> tuple[Run, ...]:
    """Return the runs worth an estimate, the one to provision for first, each with its name and reason; at most eight."""
    ranked = sorted(_ranked(checkout), key=lambda rank: rank.key)
    if not ranked:
        return ()
    chosen = _distinct(ranked)
    names = run_names(rank.run for rank in chosen)
    first = chosen[0]
    return tuple(
        replace(rank.run, name=name, reason=_reason(rank, len(chosen)) if rank is first else _place(rank))
        for rank, name in zip(chosen, names, strict=True)
    )


def _ranked(checkout: Checkout) -> list[_Rank]:
    runs = [*documented_runs(checkout), *configured_runs(checkout)]
    started = {run.script for run in runs if run.script is not None}
    runs += [run for run in program_runs(checkout) if run.script not in started]
    levels = _levels(checkout)
    ranks = [_rank(checkout, levels, run, order) for order, run in enumerate(runs)]
    return _with_depth(ranks, levels)


def _rank(checkout: Checkout, levels: _Levels, run: Run, order: int) -> _Rank:
    kind = _DOCUMENT if run.command else _CONFIGURATION
    level = levels.of(run.evidence.path)
    if run.command is not None and run.command.is_documented:
        kind = _README if run.command.said.path.rsplit("/", 1)[-1].lower().startswith("readme") else _DOCUMENT
        level = run.command.said.path.count("/")
    elif run.command is not None:
        kind = _SCRIPT
        level = min(level, levels.of(run.script.path)) if run.script else level
        if run.command.source.form is not Form.SHELL:
            kind = _PROGRAM  # an image or a service says what it serves, not what the repository is for
    elif run.script is not None:
        kind = _PROGRAM
        # What is only imported by others is no program, wherever it lies.
        level += 0 if is_started(checkout, run.script) or (not level and not levels.is_imported(run.script)) else 10
        order = -1 if _submits(run.script) else order + _fame(run.script)
    is_inner = kind == _PROGRAM and run.script is not None and levels.is_imported(run.script)
    section = run.command.section if run.command else ""
    is_main = bool(_MAIN_SECTION.search(section)) and run.behavior is Behavior.TRAINS
    return _Rank(run, _is_beside(run), level, kind, False, _is_variant(run), is_main, order, is_inner)


def _with_depth(ranks: list[_Rank], levels: _Levels) -> list[_Rank]:
    """Mark documented runs whose program lies deeper than that of the first one: a document's asides on sub-projects."""
    near = [rank for rank in ranks if rank.kind <= _DOCUMENT and not rank.is_beside]
    if not near:
        return ranks
    least = min(rank.level for rank in near)
    first = next(rank for rank in near if rank.level == least)
    limit = levels.of(first.run.script.path) if first.run.script else 0
    return [
        replace(
            rank, is_deeper=bool(rank.kind <= _DOCUMENT and rank.run.script and levels.of(rank.run.script.path) > limit)
        )
        for rank in ranks
    ]


@dataclass(frozen=True, slots=True)
class _Levels:
    """How far from the root a file counts: folders that only name a kind, and the package's own, are not counted."""

    packages: frozenset[str]
    imported: frozenset[Source]

    def of(self, path: str) -> int:
        """Return the number of folders above a file that count."""
        folders = path.split("/")[:-1]
        return sum(folder.lower() not in _NEUTRAL and folder not in self.packages for folder in folders)

    def is_imported(self, source: Source) -> bool:
        """Whether another file of the checkout imports it."""
        return source in self.imported


def _levels(checkout: Checkout) -> _Levels:
    """Return how files count; a package is the project's own where it is the only one."""
    programs = checkout.of(Form.PYTHON)
    tops = {source.path.removeprefix("src/").split("/")[0] for source in programs if "/" in source.path}
    own = {top for top in tops if checkout.find(f"{top}/__init__.py") or checkout.find(f"src/{top}/__init__.py")}
    imported = {inner for source in programs for inner in local_imports(checkout, source) if inner is not source}
    return _Levels(frozenset(own) if len(own) == 1 else frozenset(), frozenset(imported))


_FAMOUS = (
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


def _fame(script: Source) -> int:
    """Return where a program's name stands among those that mean the main one, as a distance in the order."""
    stem = script.name.rpartition(".")[0]
    place = next((index for index, name in enumerate(_FAMOUS) if name in stem), len(_FAMOUS))
    return 1000 * place


def _submits(script: Source) -> bool:
    """Whether a program hands another one of the checkout to a cluster: then it is the one that is started."""
    return script.code is not None and "submitit" in script.code.imported()


def _is_beside(run: Run) -> bool:
    """Whether a run is a step beside the work: by what it starts, its script's name, its options, or its section."""
    command = run.command
    if command is None:
        return bool(run.script and _BESIDE.search(_stem(run.script.path)))
    if _BESIDE_OPTIONS & {key for key, value in command.options.items() if value.lower() not in {"false", "0"}}:
        return True
    if "do_train" not in command.options and {"do_eval", "do_predict"} & command.options.keys():
        return True
    target = command.target if not command.target.endswith(".py") else _stem(command.target)
    # A module's last words name the step; its package's may mean anything.
    named = ".".join(target.split(".")[-2:]) if "/" not in target else target
    if _BESIDE.search(named):
        return True
    if not command.evidence.path.lower().endswith((".md", ".rst", "makefile")) and _BESIDE.search(
        _stem(command.evidence.path)
    ):
        return True
    return bool(_BESIDE_SECTION.search(command.section) and not _RUN_SECTION.search(command.section)) and (
        run.behavior is not Behavior.TRAINS
    )


def _is_variant(run: Run) -> bool:
    """Whether a run is made for trying out, or for a machine without a GPU."""
    if run.options.get("device", "").lower() in {"cpu", "mps"} or {"use_cpu", "no_cuda", "cpu"} & run.options.keys():
        return True
    if run.command is not None and run.command.nodes > 1:
        return True
    names = [_stem(run.script.path) if run.script else "", *(_stem(source.path) for source in run.configs[:1])]
    if run.command is not None:
        section = run.command.section
        if _VARIANT_SECTION.search(section) and "GPU" not in section:
            return True
        if run.command.evidence.path != run.command.said.path or not run.command.is_documented:
            names.append(_stem(run.command.evidence.path))
    return any(_VARIANT_NAME.search(name) for name in names)


def _stem(path: str) -> str:
    return re.sub(r"\.\w+$", "", path.rsplit("/", 1)[-1])


def _distinct(ranks: Sequence[_Rank]) -> list[_Rank]:
    """Return the first run of each program and configuration; what prepares, tests or is only imported stays out."""
    found: list[_Rank] = []
    seen: set[object] = set()
    programs: dict[object, int] = {}
    for rank in ranks:
        run = rank.run
        if found and (rank.is_beside or rank.is_variant or rank.is_inner or rank.level > found[0].level + MAX_DEEPER):
            continue
        program = run.script or (run.command.target if run.command else run.evidence.path)
        processes = run.command.processes if run.command else None
        kind = (program, run.configs[:1], (processes or 1) > 1)
        if kind in seen or programs.get(program, 0) >= MAX_PER_PROGRAM:
            continue
        seen.add(kind)
        programs[program] = programs.get(program, 0) + 1
        found.append(rank)
        if len(found) >= MAX_RUNS:
            break
    return found


def _place(rank: _Rank) -> str:
    """Return, in words, where a run was found."""
    does = "trains" if rank.run.behavior is Behavior.TRAINS else "runs a model"
    if rank.kind <= _DOCUMENT:
        return f"a documented command that {does}"
    if rank.kind == _SCRIPT:
        return f"a launch script that {does}"
    if rank.kind == _CONFIGURATION:
        return "a configuration of a folder without programs"
    return f"a program that {does}"


def _reason(rank: _Rank, runs: int) -> str:
    """Return why this run is the first."""
    if runs == 1:
        return "nothing else here trains or runs a model"
    place = _place(rank)
    if rank.is_main_section and rank.kind <= _DOCUMENT and rank.run.command:
        place += f" in the section `{rank.run.command.section[:60]}`"
    return f"{place}; of {runs} runs it is first by nearness to the root, documentation, and training before inference"
