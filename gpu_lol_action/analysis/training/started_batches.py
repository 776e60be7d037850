"""The batch that a library starts with where a program gives none: Hugging Face's arguments, fastai's loaders, Keras's ``fit``.

Source: the signatures of transformers' ``TrainingArguments``, fastai's ``DataLoaders``, and Keras's ``Model.fit`` and its loaders.
"""

from __future__ import annotations

from gpu_lol_action.analysis.files.checkout import Source
from gpu_lol_action.analysis.programs.behavior import Behavior
from gpu_lol_action.analysis.python.code import Call
from gpu_lol_action.analysis.runs.entry_points import Run
from gpu_lol_action.domain.finding import Confidence, Evidence, Finding

_ARGUMENTS = ("TrainingArguments", "Seq2SeqTrainingArguments", "SentenceTransformerTrainingArguments", "SFTConfig", "DPOConfig", "GRPOConfig",
              "KTOConfig", "RewardConfig", "RLOOConfig", "ORPOConfig", "CPOConfig")  # fmt: skip
_GIVEN = ("per_device_train_batch_size", "per_gpu_train_batch_size", "auto_find_batch_size")
BATCH = "8"
OF_FASTAI, OF_KERAS = "64", "32"
_FASTAIS = ("dataloaders", "from_folder", "from_path_func", "from_path_re", "from_name_func", "from_name_re", "from_df", "from_csv", "from_lists",
            "from_label_func", "from_dblock")  # fmt: skip
_KERAS = frozenset({"tensorflow", "keras", "tf_keras"})
_KERAS_LOADERS = ("image_dataset_from_directory", "text_dataset_from_directory", "audio_dataset_from_directory", "flow_from_directory",
                  "flow_from_dataframe", "flow")  # fmt: skip
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
    loaders = code.calls_named(*(_FASTAIS if is_fastais else _KERAS_LOADERS))
    if not loaders and not is_fastais:
        loaders = tuple(call for call in code.calls_named("fit") if _is_of_arrays(call))
    if not loaders or any(call.spread or _is_given(call) for call in loaders):
        return None
    return _found(script, loaders[0], OF_FASTAI if is_fastais else OF_KERAS)


def _is_of_arrays(call: Call) -> bool:
    """Whether ``fit`` is given samples and their answers, and cuts batches itself; estimators of classical learning know no epochs."""
    has_answers = len(call.arguments) > 1 or call.keyword("y") is not None
    return has_answers and call.keyword("epochs", "nb_epoch") is not None


def _is_given(call: Call) -> bool:
    """Whether a loader is given its batch, by name or in the third place."""
    is_placed = call.last in {"fit", "flow"} and len(call.arguments) > 2
    return is_placed or call.keyword(*_BATCHES) is not None


def _found(script: Source, call: Call, batch: str) -> Finding:
    why = f"`{call.last}` starts with {batch} samples at a time"
    return Finding("training.batch_size", batch, why, Confidence.MEDIUM, Evidence(script.path, call.line))
