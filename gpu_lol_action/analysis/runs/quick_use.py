"""Whether a document shows a model at work before it tells how to train it: then running it is what the repository is for.

A README opens with what most of its readers come for. Under ``Quick start`` or ``Demo`` a repository that publishes weights
runs them, and a chapter on training follows for the few; one that is made for training begins with that.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable

from gpu_lol_action.analysis.documents.shown_programs import is_shown
from gpu_lol_action.analysis.files.checkout import Checkout
from gpu_lol_action.analysis.formats.paths import Form
from gpu_lol_action.analysis.formats.texts import is_fence
from gpu_lol_action.analysis.programs.behavior import Behavior
from gpu_lol_action.analysis.runs.entry_points import Run
from gpu_lol_action.analysis.runs.run_kinds import is_beside, is_variant, tunes_aside
from gpu_lol_action.domain.patterns import regex

_SHOWS = regex(
    r"\b(?:quick|demos?|get(?:ting)? started|us(?:e|ing|age)|try|play|inference|infer|web ?ui|gradio|app|generat\w*|how to (?:use|run)|"
    r"run(?:ning)?\b(?! train)|command[- ]line|cli|pre-?trained|weights|checkpoints|model zoo|predict\w*|animat\w*|image|video|audio|speech|text)\b"
    r"|快速|推理|演示|使用|命令行|网页|部署|体验|试用|对话|预测|生成",
    re.IGNORECASE,
)
# A step of a longer way, or what may be left out, is not what a document opens with.
_NOT_THE_OPENING = regex(
    r"train|tun(?:e|ing)\b|\bstep\s*\d|stage\s*\d|optional|可选|训练|微调|数据|评测|data(?:set)?s?\b|eval|annotat|prepar|benchmark|CPU|Colab",
    re.IGNORECASE,
)

_PUBLISHED = regex(r"[\"'][\w.-]{2,60}/[\w.-]{2,90}[\"']")
_WEIGHTS = regex(r"[\"'][\w./-]{2,120}\.(?:pth?|ckpt|safetensors|onnx|gguf)[\"']")
_FOR_INFERENCE = regex(r"(?:(?<=/)|^)infer(?:ence)?/")
_MODULE = regex(r"\w{1,60}(?:\.\w{1,60}){1,8}(?<!\.py)")
_DEMO = regex(r"demo|infer", re.IGNORECASE)
_TUNES = regex(r"fine-?_?tun", re.IGNORECASE)

_TITLE = regex(r"# \S")
_ON_TRAINING = regex(r"\b(?:(?:pre-?)?training|fine-?tun(?:e|ing))\b", re.IGNORECASE)
_ON_USE = regex(r"\b(?:infer\w*|serv\w*|deploy\w*|us(?:e|ing|age)|demo|pre-?trained|generat\w*)\b", re.IGNORECASE)
LINES_TO_TITLE = 40
MANY_WAYS = 5
PASSING_SHARE = 0.25
"""At least five ways to run a model come first, and no more than one in four of all ways trains one."""

_HEADING = regex(r" {0,3}(#{1,6})\s+(.{1,200})")


def opens_with_use(checkout: Checkout, runs: Iterable[Run], level_of: Callable[[str], int]) -> str | None:
    """Return the path of the document whose first command runs a model, where it trains further down; None elsewhere.

    ``runs`` are those of documents of one level, in the order in which a reader meets them. The program that is shown has to
    be the repository's own and to lie (``level_of`` its path) no deeper than the one that trains: else it is a sample.
    """
    told = [run for run in runs if run.command is not None and not is_beside(run)]
    first = next((run for run in told if not is_variant(run)), None)
    if first is None or first.command is None or first.script is None or first.behavior is not Behavior.INFERS:
        return None
    if _is_demo_beside_tuning(first, told) or _is_shown_before_a_folder_for_tuning(first, told) or _is_mostly_use(told):
        return first.command.said.path
    chapters = [first.command.section, *_chapters_above(checkout, first)]
    # A section may carry but the model's name, under a chapter that says what is done with it.
    if not any(_SHOWS.search(chapter) for chapter in chapters[:2]) or any(
        _NOT_THE_OPENING.search(chapter) for chapter in chapters
    ):
        return None
    said = first.command.said
    trained = [
        run for run in told if run.behavior is Behavior.TRAINS and run.command and run.command.said.path == said.path
    ]
    lines = [run.command.said.line for run in trained if run.command is not None]
    levels = [level_of(run.script.path) for run in trained if run.script is not None]
    # As a folder `train` makes nothing less important, none of this name does; a module of a package is started from the root.
    is_module = _MODULE.fullmatch(first.command.target) is not None
    own = 0 if is_module else level_of(_FOR_INFERENCE.sub("", first.script.path))
    if not lines or min(lines) < said.line or any(level < own for level in levels):
        return None
    return said.path


def is_told_of_training(checkout: Checkout, run: Run) -> bool:
    """Whether a command runs a model in a document whose title is training: then it only shows what came out of it."""
    command = run.command
    document = checkout.find(command.said.path) if command is not None and run.behavior is Behavior.INFERS else None
    if document is None or document.form is not Form.MARKDOWN:
        return False
    title = next((line for line in document.text.split("\n")[:LINES_TO_TITLE] if _TITLE.match(line)), "")
    # `Name: efficient fine-tuning of ...` is the title of a paper.
    return ":" not in title and _ON_TRAINING.search(title) is not None and _ON_USE.search(title) is None


def shows_before_tuning(runs: Iterable[Run]) -> Run | None:
    """Return the README's own code where it runs published weights, and tells how to tune them only further down; else None.

    Whoever publishes a model shows it at work in a few lines; a chapter on tuning it for one's own data is for the few. What a
    repository trains from nothing is another matter: its README may open with the result.
    """
    told = list(runs)
    shown = _shown_use(told)
    if shown is None or shown.script is None:
        return None
    said = [run for run in told if run.command is not None and run.command.said.path == shown.script.path]
    lines = {run: run.command.said.line for run in said if run.command is not None and not is_beside(run)}
    if not lines or any(line < shown.evidence.line for line in lines.values()):
        return None
    trained = [run for run in lines if run.behavior is Behavior.TRAINS]
    is_tuning = all(run.script is not None and _TUNES.search(run.script.path) for run in trained)
    return shown if trained and is_tuning else None


def shows_alone(runs: Iterable[Run]) -> Run | None:
    """Return the README's own code where it runs published weights and what trains lies in folders with pages of their own; else None.

    Asked where no document of the first level starts anything.
    """
    told = list(runs)
    shown = _shown_use(told)
    is_at_root = any(run.script is not None and run.script.depth == 0 for run in told if run is not shown)
    return None if is_at_root else shown


def _shown_use(runs: Iterable[Run]) -> Run | None:
    """Return the README's own code where it runs published weights; None elsewhere."""
    shown = next((run for run in runs if run.command is None and is_shown(run.script)), None)
    if shown is None or shown.script is None or shown.behavior is not Behavior.INFERS:
        return None
    return shown if _PUBLISHED.search(shown.script.text) or _WEIGHTS.search(shown.script.text) else None


def _is_demo_beside_tuning(first: Run, told: Iterable[Run]) -> bool:
    """Whether folders side by side, each with a document of its own, show a model and tune it (``basic_demo``, ``finetune_demo``)."""
    folder = _folder(first)
    trained = [_folder(run) for run in told if run.behavior is Behavior.TRAINS]
    is_shown = "/" not in folder and _DEMO.search(folder) is not None and _TUNES.search(folder) is None
    return is_shown and bool(trained) and all("/" not in each and _TUNES.search(each) for each in trained)


def _is_shown_before_a_folder_for_tuning(first: Run, told: Iterable[Run]) -> bool:
    """Whether all that is told of training further down lies in folders for fine-tuning, and what is shown first does not."""
    trained = [run for run in told if run.behavior is Behavior.TRAINS]
    return bool(trained) and all(map(tunes_aside, trained)) and not tunes_aside(first)


def _is_mostly_use(told: Iterable[Run]) -> bool:
    """Whether a model is run in many ways before anything is trained, and training is told of in passing."""
    trains = [run.behavior is Behavior.TRAINS for run in told]
    return 0 < sum(trains) <= len(trains) * PASSING_SHARE and trains.index(True) >= MANY_WAYS


def _folder(run: Run) -> str:
    return run.command.said.path.rpartition("/")[0] if run.command is not None else ""


def _chapters_above(checkout: Checkout, run: Run) -> list[str]:
    """Return the headings above that of a command's own section, the nearest first; the document's title is none.

    Of what a script starts that the document names, they are those above that name.
    """
    command = run.command
    document = checkout.find(command.said.path) if command is not None else None
    if command is None or document is None:
        return []
    found: list[tuple[int, str]] = []
    is_fenced = False
    for line in document.text.split("\n")[: command.said.line]:
        if is_fence(line, is_code=is_fenced):
            is_fenced = not is_fenced
        elif not is_fenced and (heading := _HEADING.match(line)):
            depth = len(heading[1])
            found = [each for each in found if each[0] < depth] + [(depth, heading[2])]
    return [text for depth, text in reversed(found[:-1]) if depth > 1]
