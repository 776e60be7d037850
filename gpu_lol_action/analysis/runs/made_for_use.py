"""Whether a repository that no document speaks for is made for running its model, though something in it trains as well.

Training asks for more memory, so it comes first where nothing else is known. But whoever publishes a model often adds how to
tune it, in a folder of its own or as one program among several that show the model at work, one of them in a browser; and what
installing a project gives, or fetches the weights that the project has released, is what most people start.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from gpu_lol_action.analysis.commands.console_scripts import console_programs
from gpu_lol_action.analysis.documents.shown_programs import is_shown
from gpu_lol_action.analysis.documents.silent_readme import root_readmes
from gpu_lol_action.analysis.files.checkout import Checkout, Source
from gpu_lol_action.analysis.formats.paths import Form
from gpu_lol_action.analysis.programs.behavior import Behavior
from gpu_lol_action.analysis.programs.import_graph import is_imported, local_imports
from gpu_lol_action.analysis.runs.entry_points import Run, is_started
from gpu_lol_action.analysis.runs.program_behavior import program_behavior
from gpu_lol_action.analysis.runs.run_kinds import is_tuning_folder, is_variant, tunes_aside
from gpu_lol_action.domain.patterns import regex

MANY = 3  # programs that run a model, beside one that trains; or scripts that train
_JUDGING = regex(
    r"(?:^|[_-])(?:eval\w*|benchmarks?|data\w*|pre_?process\w*|metrics?|analysis|util\w*)(?:$|[_-])", re.IGNORECASE
)
_TRAINING = regex(r"train(?:ing|er|ers)?|fine[_-]?tun(?:e|ing|er)", re.IGNORECASE)
_NUMBERED, UNNUMBERED = regex(r"(\d{1,2})[_-]"), 100
_SHELF = regex(r"(?:\w{1,40}_)?(?:inference|predict(?:ion)?|generation)", re.IGNORECASE)
_PAGE = regex(r"(?:^|[_-])(?:app|demo|web|web_?ui|ui|gui|gradio|streamlit)\d{0,2}(?:$|[_-])", re.IGNORECASE)
_PAGES = frozenset({"gradio", "streamlit"})
_SHOWS = regex(
    r"(?:^|[_-])(?:infer|inference|demo|app|predict|generate|chat|web_?ui|gradio|txt2img|sample)(?:$|[_-])",
    re.IGNORECASE,
)
# A heading, a line in bold, or a command that speaks of training.
_ON_TRAINING = regex(
    r"^(?:#{1,6} |\*\*|<h\d).{0,60}(?:train(?!ed)|tun(?:e|ing)\b)|\btrain\w{0,20}\.(?:py|sh)\b|训练|微调",
    re.IGNORECASE | re.MULTILINE,
)
_TUNING_TITLE = regex(r"\s{0,40}#{1,2} [^\n]{0,60}\bfine-?tun(?:e|ing)", re.IGNORECASE)
_OF_TPUS = regex(r"(?:^|[_-])tpus?(?:[_.-]|$)", re.IGNORECASE)
_EXPERIMENTS = frozenset({"experiments", "experiment", "research", "examples"})
_README = regex(r"readme(?:\.\w{2,8})?\.\w{2,4}", re.IGNORECASE)
_LESSON = regex(r"(?:^|[\W_])(?:inference|quick[ _-]?start|demo|usage|how[ _-]to[ _-]use)(?:[\W_]|$)", re.IGNORECASE)
_PROJECTS = ("pyproject.toml", "setup.py", "setup.cfg")
_RELEASED = regex(r"/releases/(?:latest/)?download\b")


def made_for_use(checkout: Checkout, runs: Sequence[Run]) -> tuple[Run, str] | None:
    """Return the run that uses a repository's model, with the reason why it goes before training; None where training does.

    ``runs`` are those near the root, in their order, of which the first trains and is told of in no document but its folder's own.
    """
    trained = [run for run in runs if run.behavior is Behavior.TRAINS]
    used = [run for run in runs if _uses(checkout, run)]
    if not trained or not used:
        return None
    if all(map(_is_for_tpus, trained)):
        return _plainest(used), "what trains here is called by TPUs, which no GPU stands for"
    return _as_it_lies(checkout, trained, used)


def _is_about_tuning(checkout: Checkout) -> bool:
    """Whether the README's title says that tuning is what all of it is for: a folder of that name is then no part beside the work."""
    return any(_TUNING_TITLE.match(readme.text) for readme in root_readmes(checkout))


def _as_it_lies(checkout: Checkout, trained: Sequence[Run], used: Sequence[Run]) -> tuple[Run, str] | None:
    """Return the run that goes before training by where both lie, and by what is said of them."""
    is_aside = not _are_many(trained) and not _is_about_tuning(checkout)
    if is_aside and all(map(tunes_aside, trained)) and (outside := [run for run in used if not tunes_aside(run)]):
        return _plainest(outside), "a folder for fine-tuning alone trains here"
    programs = [run for run in used if run.script is not None and run.script.form is Form.PYTHON]
    if (
        is_aside
        and all(_is_in_training(run) for run in trained)
        and (plain := [run for run in programs if _is_at_root(run)])
    ):
        return _plainest(plain), "what trains lies in a folder of its own, and a program at the root runs a model"
    is_one = len({run.script or run.evidence.path for run in trained}) == 1
    if is_one and len({run.script for run in programs}) >= MANY and any(map(_is_page, programs)):
        return _plainest(programs), "one program trains, and many run a model, one of them for a browser"
    shelf = [run for run in programs if _is_on_shelf(run)]
    if is_one and all(map(_is_in_training, trained)) and len({run.script for run in shelf}) >= MANY:
        return shelf[0], "a folder shows each of many models at work, and one program in another trains any of them"
    if (opening := _opening_lesson(used, trained)) is not None:
        return opening, "the first of the numbered programs shows how the model is run, and later ones train"
    started = [run for run in programs if run.script is not None and is_started(checkout, run.script)]
    if len({run.script for run in started}) >= MANY and not any(_is_made_to_train(checkout, run) for run in trained):
        return _plainest(started), "what trains is a module that nothing starts, beside programs that run a model"
    # A README that shows how to train with what is installed has said what most people start.
    installed = _installed(checkout) if not any(is_shown(run.script) for run in trained) else frozenset[Source]()
    if installed and (given := [run for run in used if run.script in installed]):
        return given[0], "what installing the project gives runs a model, and trains none"
    shown = next((run for run in used if is_shown(run.script)), None)
    if shown is not None and _only_tells_of_use(checkout, shown):
        return shown, "the README shows the project's own package at work, and tells of no training"
    if shown is not None and all(map(is_of_an_experiment, trained)) and _is_of_own_package(checkout, shown):
        return shown, "the README shows the project's own package at work, and what trains is an experiment with it"
    lesson = next((run for run in used if _is_lesson_on_use(checkout, run)), None)
    if lesson is not None and not any(map(_is_told_at_root, trained)):
        return (
            lesson,
            "a notebook at the root shows how the project's own package is used, and no document there tells of training",
        )
    fetching = [run for run in programs if run.script is not None and _RELEASED.search(run.script.text)]
    return (fetching[0], "it fetches weights that were released") if fetching else None


def _is_for_tpus(run: Run) -> bool:
    """Whether a program is called by TPUs (``train_tpu.py``)."""
    return run.script is not None and _OF_TPUS.search(run.script.name) is not None


def _is_made_to_train(checkout: Checkout, run: Run) -> bool:
    """Whether a training is started: by a command or a configuration, or as a program of its own."""
    return run.command is not None or run.script is None or is_started(checkout, run.script)


def _are_many(trained: Sequence[Run]) -> bool:
    """Whether many launch scripts train: who has one for each size and language has not added it for the few."""
    scripts = (run.command for run in trained if run.command is not None and not run.command.is_documented)
    return len({command.evidence.path for command in scripts}) >= MANY


def is_of_an_experiment(run: Run) -> bool:
    """Whether a run's program lies in a folder of experiments, and no README at the root tells of it."""
    top = (run.script.path if run.script is not None else run.evidence.path).partition("/")[0]
    said = run.command.said.path if run.command is not None else ""
    return top.lower() in _EXPERIMENTS and not _README.fullmatch(said)


def _is_told_at_root(run: Run) -> bool:
    return run.command is not None and run.command.is_documented and "/" not in run.command.said.path


def _is_lesson_on_use(checkout: Checkout, run: Run) -> bool:
    """Whether a run is a notebook at the root that is named for use, of a project that is installed."""
    script = run.script
    if script is None or script.form is not Form.NOTEBOOK or script.depth or not any(map(checkout.find, _PROJECTS)):
        return False
    return _LESSON.search(script.name) is not None and _TRAINING.search(script.name) is None


def is_page_on_tuning(run: Run) -> bool:
    """Whether a command stands in a document of a folder for fine-tuning: it tells of that alone."""
    return run.command is not None and is_tuning_folder(run.command.said.path)


def _uses(checkout: Checkout, run: Run) -> bool:
    """Whether a run is a program that is started to run a model: no module that tries itself out, and no judge of what was trained."""
    if run.behavior is not Behavior.INFERS or run.script is None or is_variant(run):
        return False
    if any(_JUDGING.search(folder) for folder in run.script.path.split("/")[:-1]):
        return False
    return run.script in console_programs(checkout) or not is_imported(checkout, run.script)


def _is_in_training(run: Run) -> bool:
    """Whether a run's program lies in a folder at the root that is for training."""
    top, _, rest = (run.script.path if run.script is not None else run.evidence.path).partition("/")
    return bool(rest) and any(map(_TRAINING.fullmatch, (top, top.rpartition("_")[2])))


def _opening_lesson(used: Sequence[Run], trained: Sequence[Run]) -> Run | None:
    """Return what shows a model at work under the least of the numbers by which all are called (``01_inference.py`` … ``05_tune.py``)."""
    first = min(used, key=_number)
    stem = first.script.name.rpartition(".")[0] if first.script is not None else ""
    beside = [
        run for run in trained if run.script is not None and first.script and run.script.depth <= first.script.depth
    ]
    is_opening = all(_number(first) < _number(run) < UNNUMBERED for run in beside)
    return first if beside and is_opening and _SHOWS.search(stem) else None


def _number(run: Run) -> int:
    found = _NUMBERED.match(run.script.name) if run.script is not None else None
    return int(found[1]) if found is not None else UNNUMBERED


def _is_on_shelf(run: Run) -> bool:
    """Whether a run's program lies in a folder at the root that is for running models."""
    top, _, rest = (run.script.path if run.script is not None else "").partition("/")
    return bool(rest) and _SHELF.fullmatch(top) is not None


def _only_tells_of_use(checkout: Checkout, shown: Run) -> bool:
    """Whether what a README shows comes from the checkout's own package, which one installs, and no heading speaks of training."""
    readme = checkout.find(shown.script.path) if shown.script is not None else None
    return readme is not None and _is_of_own_package(checkout, shown) and _ON_TRAINING.search(readme.text) is None


def _is_of_own_package(checkout: Checkout, shown: Run) -> bool:
    """Whether what a README shows comes from the checkout's own package, which one installs."""
    if shown.script is None or not any(map(checkout.find, _PROJECTS)):
        return False
    return bool(local_imports(checkout, shown.script))


def _is_at_root(run: Run) -> bool:
    return run.script is not None and run.script.depth == 0


def _is_page(run: Run) -> bool:
    """Whether a program shows a model in a browser, and is named for nothing else."""
    script = run.script
    if script is None or script.code is None or not _PAGE.search(script.name.rpartition(".")[0]):
        return False
    return bool(script.code.imported() & _PAGES)


def _plainest(runs: Sequence[Run]) -> Run:
    """Return the first whose name says that it shows something, else the first."""
    named = (run for run in runs if run.script is not None and _SHOWS.search(run.script.name.rpartition(".")[0]))
    return next(named, runs[0])


def _installed(checkout: Checkout) -> frozenset[Source]:
    """Return the programs behind the project's commands, where some run a model and none trains or starts one that does."""
    given = console_programs(checkout)
    reached = {source for program in given for source in (program, *local_imports(checkout, program))}
    starts = [source for source in reached if source in given or (source.code is not None and source.code.has_main)]
    if any(program_behavior(checkout, source) is Behavior.TRAINS for source in starts):
        return frozenset()
    return given
