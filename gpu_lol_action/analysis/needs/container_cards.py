"""What containers are given a card, where no program of the checkout tells of any: by Docker Compose's file, or as a document starts them."""

from __future__ import annotations

import re

from gpu_lol_action.analysis.commands.cluster_orders import tells_of_training
from gpu_lol_action.analysis.dependencies.dependency_lists import declared_packages
from gpu_lol_action.analysis.files.checkout import Checkout
from gpu_lol_action.analysis.formats.paths import Form, Role
from gpu_lol_action.analysis.runs.entry_points import Run
from gpu_lol_action.domain.finding import Confidence, Evidence, Finding
from gpu_lol_action.domain.patterns import regex

# A variant beside them (`docker-compose.gpu.yml`) is for those who have one.
_FILES = frozenset({"docker-compose.yml", "docker-compose.yaml", "compose.yml", "compose.yaml"})
_RESERVES = regex(
    r"^[ \t-]{0,80}(?:driver:[ \t]{0,9}[\"']?nvidia|runtime:[ \t]{0,9}[\"']?nvidia|capabilities:[ \t]{0,9}\[[^\]\n]{0,60}\bgpu\b|-[ \t]{1,9}gpu[ \t]{0,9}$)",
    re.MULTILINE,
)
_GIVEN = regex(r"(?<![\w-])--gpus[ =](?:all\b|[\"']?device=|[1-9])|--runtime[ =]nvidia\b|\bnvidia-docker run\b")
_DOCKER = regex(r"\b(?:docker|podman) (?:container )?run\b|\bnvidia-docker run\b")
_ALONE = regex(r"(?:sudo |exec )?(?:docker|podman|nvidia-docker) ")
_STARTS = "starts a container with a GPU"
MAX_DOCUMENTS, MAX_HELPERS, MAX_BEFORE = 20, 3, 400


def container_need(checkout: Checkout) -> Finding | None:
    """Return that a checkout of containers alone, without a list of packages of its own, has them given a GPU; else None."""
    return _compose_need(checkout) or _started_with_a_card(checkout)


def served_on_a_card(checkout: Checkout, run: Run | None) -> Finding | None:
    """Return that the services' file at the root reserves a GPU and has a server of models started, where that is the run; else None."""
    if run is None or run.script is not None or run.command is None or not run.command.is_tool:
        return None
    source = checkout.by_path.get(run.evidence.path)
    if source is None or source.depth > 0 or source.name not in _FILES or not _RESERVES.search(source.text):
        return None
    why = f"`{source.name}` reserves a GPU and has `{run.shown}` started"
    return Finding("gpu.use", "yes", why, Confidence.MEDIUM, run.evidence)


def container_workload(checkout: Checkout, need: Finding) -> Finding | None:
    """Return what a document has containers with a card do, told by what it speaks of more; None where they were not started by one."""
    source = checkout.by_path.get(need.evidence.path)
    if source is None or (source.form is not Form.MARKDOWN and not need.why.endswith(_STARTS)):
        return None
    kind = "training" if tells_of_training(source.text) else "inference"
    return Finding("workload", kind, f"{need.why}, and tells mostly of {kind}", Confidence.LOW, need.evidence)


def _started_with_a_card(checkout: Checkout) -> Finding | None:
    """Return where a document or a script starts a container with a card, beside at most a few helpers that import nothing for one."""
    if declared_packages(checkout) or len(checkout.of(Form.PYTHON, Form.NOTEBOOK)) > MAX_HELPERS:
        return None
    documents = checkout.of(Form.MARKDOWN, roles=(Role.DOCUMENTATION,))[:MAX_DOCUMENTS]
    for source in (*documents, *checkout.of(Form.SHELL)[:MAX_DOCUMENTS]):
        for found in _GIVEN.finditer(source.text) if _DOCKER.search(source.text) is not None else ():
            # Over as many lines as the command goes on.
            before = source.text[max(0, found.start() - MAX_BEFORE) : found.end()].replace("\\\n", " ").split("\n")[-1]
            is_started = source.form is Form.MARKDOWN or _is_started(source.text, found.start())
            if _DOCKER.search(before) is not None and is_started:
                where = Evidence(source.path, source.text.count("\n", 0, found.start()) + 1)
                why = f"`{source.name}` {_STARTS}"
                return Finding("gpu.use", "yes", why, Confidence.MEDIUM, where)
    return None


def _is_started(text: str, at: int) -> bool:
    """Whether a script starts a container whenever it is run, at a place of its text: no remark, no echo, no branch, and not to look for a card alone."""
    start = text.rfind("\n", 0, at) + 1
    while start > 1 and text[:start].rstrip("\n").endswith("\\"):
        start = text.rfind("\n", 0, start - 1) + 1
    end = at
    while (end := text.find("\n", end)) != -1 and text[end - 1] == "\\":
        end += 1
    command = text[start : end if end != -1 else len(text)]
    return _ALONE.match(command) is not None and "nvidia-smi" not in command


def _compose_need(checkout: Checkout) -> Finding | None:
    """Return that the services' file at the root reserves a GPU, where there is no program that is started; else None."""
    source = next((s for s in checkout.of(Form.YAML) if s.depth == 0 and s.name in _FILES), None)
    found = _RESERVES.search(source.text) if source is not None else None
    if source is None or found is None or declared_packages(checkout):
        return None
    if any(program.code is not None and program.code.has_main for program in checkout.of(Form.PYTHON)):
        return None
    where = Evidence(source.path, source.text.count("\n", 0, found.start()) + 1)
    return Finding("gpu.use", "yes", f"`{source.name}` reserves a GPU for its containers", Confidence.MEDIUM, where)
