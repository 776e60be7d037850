"""Packages of the tools that are called beside the run: a cluster that its script starts, the server that a document hands a model to.

Where lists speak for the run, only the script that starts it is asked; else also the README beside it, which is then all that tells.
"""

from __future__ import annotations

from collections.abc import Iterator
from collections.abc import Set as AbstractSet

from gpu_lol_action.analysis.commands.launch_lines import command_lines
from gpu_lol_action.analysis.dependencies.dependency_lists import near_folders
from gpu_lol_action.analysis.files.checkout import Checkout, Source
from gpu_lol_action.analysis.formats.paths import Form, Role
from gpu_lol_action.analysis.runs.entry_points import Run
from gpu_lol_action.domain.finding import Confidence, Evidence, Finding
from gpu_lol_action.domain.patterns import regex

# TorchServe leaves the framework to its user, and its vLLM handler the engine.
_SERVE = ("torchserve", "torch-model-archiver", "torch")
_TOOLS: tuple[tuple[str, tuple[str, ...]], ...] = (
    (r"torchserve\s{1,3}--(?:start|model-store|ncs|models|foreground)\b", _SERVE),
    (r"torch-model-archiver\s{1,3}--\w", _SERVE),
    (r"torch-model-archiver\s.{1,400}--handler\s{1,3}vllm_handler\b", ("vllm",)),
    (r"ray\s{1,3}(?:start|job\s{1,3}submit|up|submit)\b", ("ray",)),
)
_CALLS = tuple((regex(rf"(?:\$\s)?(?:[\w./-]{{0,80}}/)?{call}"), packages) for call, packages in _TOOLS)
_MAY_CALL = ("torchserve", "torch-model-archiver", "ray ")
MAX_LINES = 2000


def called_packages(
    checkout: Checkout, run: Run | None, known: AbstractSet[str], own: AbstractSet[str], *, has_list: bool
) -> list[Finding]:
    """Return the packages of called tools besides ``known`` ones and the checkout's ``own``."""
    found: dict[str, Finding] = {}
    for source in _asked(checkout, run, has_list=has_list):
        for package, tool, where in _called(source):
            if package not in known and package not in own:
                why = f"`{tool}` is called and no list names it"
                found.setdefault(package, Finding("dependencies.requirements", package, why, Confidence.HIGH, where))
    return list(found.values())


def _asked(checkout: Checkout, run: Run | None, *, has_list: bool) -> Iterator[Source]:
    starter = checkout.find(run.evidence.path) if run is not None else None
    if starter is not None and starter.form is Form.SHELL:
        yield starter
    for folder in near_folders(run) if not has_list else ():
        for page in checkout.of(Form.MARKDOWN, roles=(Role.DOCUMENTATION,)):
            if page.folder == folder and page.name.startswith("readme."):
                yield page
                return


def _called(source: Source) -> Iterator[tuple[str, str, Evidence]]:
    if not any(word in source.text for word in _MAY_CALL):
        return
    for number, line in enumerate(command_lines(source)):
        if number == MAX_LINES:
            return
        for call, packages in _CALLS:
            if (said := call.match(line.text.strip())) is not None:
                tool = said[0].removeprefix("$ ").split()[0].rpartition("/")[2]
                yield from ((package, tool, Evidence(source.path, line.line)) for package in packages)
