"""The batch that a library starts with where a program gives none: Hugging Face's arguments, fastai's loaders, Keras's ``fit``.

Source: the signatures of transformers' ``TrainingArguments``, fastai's ``DataLoaders``, and Keras's ``Model.fit`` and its loaders.
"""

from __future__ import annotations

from collections.abc import Sequence

from gpu_lol_action.analysis.files.checkout import Source
from gpu_lol_action.analysis.programs.behavior import Behavior
from gpu_lol_action.analysis.python.code import Call, PythonCode
from gpu_lol_action.analysis.python.values import STARRED
from gpu_lol_action.analysis.runs.entry_points import Run
from gpu_lol_action.domain.finding import Confidence, Evidence, Finding
from gpu_lol_action.domain.patterns import regex

_ARGUMENTS = ("TrainingArguments", "Seq2SeqTrainingArguments", "SentenceTransformerTrainingArguments", "SFTConfig", "DPOConfig", "GRPOConfig",
              "KTOConfig", "RewardConfig", "RLOOConfig", "ORPOConfig", "CPOConfig")  # fmt: skip
_GIVEN = ("per_device_train_batch_size", "per_gpu_train_batch_size", "auto_find_batch_size")
BATCH = "8"
OF_FASTAI, OF_KERAS = "64", "32"
_FASTAIS = ("dataloaders", "from_folder", "from_path_func", "from_path_re", "from_name_func", "from_name_re", "from_df", "from_csv", "from_lists",
            "from_label_func", "from_dblock")  # fmt: skip
_KERAS = frozenset({"tensorflow", "keras", "tf_keras"})
# By the loader: the place of its batch among what it is given.
_KERAS_LOADERS = {"image_dataset_from_directory": 5, "text_dataset_from_directory": 4, "audio_dataset_from_directory": 4, "flow_from_directory": 5,
                  "flow_from_dataframe": 9, "flow": 2}  # fmt: skip
_PLACES = {**_KERAS_LOADERS, "fit": 2}
_ASSIGNED = regex(r"[ \t]{0,40}(\w{1,60})[ \t]?=[ \t]?")
# What has batches, or a loop, of the program's own.
_OWN_BATCHES = ("GradientTape", ".batch(", "unbatch(", "train_on_batch")
_BATCHES = frozenset({"batch_size", "bs"})


def started_with(run: Run) -> Finding | None:
    """Return those samples, at the call; None where the program hands on words that may say otherwise."""
    script = run.script
    if script is None or script.code is None or run.behavior is not Behavior.TRAINS:
        return None
    calls = script.code.calls_named(*_ARGUMENTS)
    if not calls:
        return _by_loaders(script)
    if len(calls) != 1 or calls[0].keyword(*_GIVEN) is not None or "**" in script.text:
        return None
    return _found(script, calls[0], BATCH)


def _by_loaders(script: Source) -> Finding | None:
    """Return what fastai's or Keras's loaders start with, or ``fit`` that is given samples and their answers, where each is given no batch."""
    code = script.code
    imported = code.imported() if code is not None else frozenset[str]()
    if code is None or not imported & (_KERAS | {"fastai"}):
        return None
    is_fastais = "fastai" in imported
    loaders = code.calls_named(*_FASTAIS) if is_fastais else _of_keras(script, code)
    if not loaders or any(call.spread or _is_given(call) for call in loaders):
        return None
    return _found(script, loaders[0], OF_FASTAI if is_fastais else OF_KERAS)


def _of_keras(script: Source, code: PythonCode) -> Sequence[Call]:
    """Return the loaders whose samples Keras's own ``fit`` trains on, or else such a ``fit`` that cuts them itself; none where a program's own loop may."""
    if any(map(script.mentions, _OWN_BATCHES)):
        return ()
    compiled = {_base(call) for call in code.calls_named("compile")}
    fits = [call for call in code.calls_named("fit", "fit_generator") if _base(call) in compiled]
    loaders = code.calls_named(*_KERAS_LOADERS)
    if not loaders:
        return [call for call in fits if _is_of_arrays(call)]
    given = [call.arguments[0] if call.arguments else call.keyword("x", "generator") for call in fits]
    names = {each.path for each in given if each is not None}
    lines = script.text.split("\n")
    used = []
    for call in loaders:
        place = code.line_of_text(call.line)
        assigned = _ASSIGNED.match(lines[place - 1]) if place is not None else None
        if assigned is not None and assigned[1] in names:
            used.append(call)
    return used


def _base(call: Call) -> str:
    return call.name.rpartition(".")[0]


def _is_of_arrays(call: Call) -> bool:
    """Whether ``fit`` is given samples and their answers, and cuts batches itself; estimators of classical learning know no epochs."""
    has_answers = len(call.arguments) > 1 or call.keyword("y") is not None
    return has_answers and call.keyword("epochs", "nb_epoch") is not None


def _is_given(call: Call) -> bool:
    """Whether a loader is given its batch, by name or in its place, or may be."""
    is_placed = STARRED in call.arguments or len(call.arguments) > _PLACES.get(call.last, len(call.arguments))
    return is_placed or call.keyword(*_BATCHES) is not None


def _found(script: Source, call: Call, batch: str) -> Finding:
    why = f"`{call.last}` starts with {batch} samples at a time"
    return Finding("training.batch_size", batch, why, Confidence.MEDIUM, Evidence(script.path, call.line))
