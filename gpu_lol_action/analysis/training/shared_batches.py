"""Whether a run's batch is one for all cards together: its name says so, or the program divides it by their count."""

from __future__ import annotations

import itertools

from gpu_lol_action.analysis.files.checkout import Checkout, Source
from gpu_lol_action.analysis.files.effort import remembered
from gpu_lol_action.analysis.runs.entry_points import Run, import_closure
from gpu_lol_action.analysis.runs.settings import Found, Scope, as_number, look_up_number
from gpu_lol_action.analysis.training.ultralytics_runs import trained_by_ultralytics
from gpu_lol_action.domain.finding import Confidence, Evidence, Finding
from gpu_lol_action.domain.patterns import regex

PER_CARD = ("ppo_micro_batch_size_per_gpu", "per_device_train_batch_size", "micro_batch_size", "train_micro_batch_size_per_gpu", "micro_batch_size_per_gpu", "train_micro_batch_size", "micro_bsz", "device_batch_size",
            "per_gpu_train_batch_size", "per_device_batch_size", "per_core_batch_size", "per_replica_batch_size", "per_gpu_batch_size", "batch_size_per_gpu", "batch_size_per_device", "samples_per_gpu", "imgs_per_gpu")  # fmt: skip
_OF_ALL = ("global_batch_size", "total_batch_size", "batch_size_total", "overall_batch_size")
TOGETHER = ("ppo_micro_batch_size", *_OF_ALL, "ims_per_batch")
_ONE = ("train_batch_size", "batch_size", "batch", "bs")
_DEVICES = regex(r"\d\s?,\s?(?:cuda:)?\d")
MOST = 65_536
MAX_PROGRAMS = 16
MAX_SHARED = 40
_DIVIDED = regex(
    r"\b(?:batch_?(?:size)?|bsz?)\s*\)?\s*(?://?=?|%)\s*\(?\s*(?:[\w.]{1,60}\s*(?:\*|//?)\s*)?(?:\w{1,30}\.){0,3}(?:n_?gpus?\w{0,12}|num_gpus?\w{0,12}|gpu_count|world_size|n_?devices|num_devices"
    r"|device_count\(|local_device_count\(|get_world_size\(|num_replicas\w{0,12}|num_processes)"
)
# `"batch_size": 128 // args.n_gpu`, whatever the batch is called: the numbers that a program shares out itself.
_NUMBER_SHARED = regex(
    r"(?i:batch\w{0,30}|\bbsz?)['\"]?\s{0,4}(?::\s?int\s{0,4}|,\s?type=int,\s?)?[:=]?\s{0,4}(?:default=)?(?:int\(|max\(1,\s?)?"
    r"(?<![\w.])(\d{1,5})(?:\.0)?\s{0,4}//?\s{0,4}\(?\s{0,4}(?:\w{1,30}\.){0,3}"
    r"(?i:n_?gpus?|ngpus_per_node|num_gpus|gpu_count|(?:get_)?world_size|n_?devices|num_devices|(?:local_)?device_count|num_replicas|num_processes)\b"
)

_STRATEGIES = ("MirroredStrategy", "MultiWorkerMirroredStrategy")
_CUT_BY = (".fit(", "experimental_distribute_dataset")
_EACH_ITS_OWN = ("distribute_datasets_from_function", "experimental_distribute_datasets_from_function")
# `batch * strategy.num_replicas_in_sync`, `size * len(gpus)`, `args.batch_size * n`, or a name for the strategy's number: it is only shown
# otherwise.
_MULTIPLIED = regex(
    r"=\s{0,4}(?:int\(|max\(1,\s?)?(?:\w{1,40}\.){0,4}num_replicas_in_sync|\*=?[ \t]{0,4}(?:max\(1,\s?)?[(\w][\w. (]{0,60}(?:replicas|gpu|GPU|device|card|worker|world_size|WORLD_SIZE)"
    r"|(?:replicas|gpu|GPU|device|card|worker|world_size|WORLD_SIZE)[\w ()]{0,40}\*\s{0,4}[\w(]"
    r"|(?:batch|BATCH|\bbsz?\b)[\w ()]{0,40}\*\s{0,4}[A-Za-z_(]|(?<!\*)\*[ \t]{0,4}(?:\w{1,40}\.){0,4}\w{0,30}(?:batch|BATCH)"
)


def detect(checkout: Checkout, run: Run | None, scope: Scope) -> list[Finding]:
    """Return ``training.batch_size`` where only a batch of all cards is said, and ``training.batch_spread`` where it is divided."""
    if run is None:
        return []
    if (each := look_up_number(scope, PER_CARD, 1, 4096)) is not None:
        shared = _shared_out(checkout, run, each)  # `per_device_train_batch_size=128 // n_gpus` says what all have
        return [_spread(each, shared)] if shared is not None else []
    one, together = look_up_number(scope, _ONE, 1, MOST), look_up_number(scope, TOGETHER, 1, MOST)
    if one is not None and together is not None and _is_each_cards(one, together):
        return []
    if together is not None and (one is None or together.confidence >= one.confidence):
        why = f"`{together.setting.key}` is {together.text}, for all cards together"
        found = Finding(
            "training.batch_size", str(as_number(together.text)), why, together.confidence, together.evidence
        )
        return [found, Finding("training.batch_spread", "all", why, together.confidence, together.evidence)]
    if one is not None and trained_by_ultralytics(run) is not None and _lists_devices(scope):
        why = "ultralytics divides its batch among the cards"
        return [Finding("training.batch_spread", "all", why, one.confidence, one.evidence)]
    if one is None or run.script is None:
        return []
    if one.setting.key == "train_batch_size" and run.script.code and "composer" in run.script.code.imported():
        why = "Composer's `train_batch_size` is for all cards together"
        return [Finding("training.batch_spread", "all", why, one.confidence, one.evidence)]
    programs = import_closure(checkout, run.script)[:MAX_PROGRAMS]
    for source in programs:
        where = _division(source) or _scattered(source)
        if where is not None:
            return [_spread(one, where)]
    where = next(filter(None, map(_mirrored, programs)), None)
    if where is not None and not any(map(_is_made_for_each, programs)):
        why, surely = (
            "TensorFlow's strategy cuts each batch into one part per card",
            min(one.confidence, Confidence.MEDIUM),
        )
        return [Finding("training.batch_spread", "all", why, surely, where)]
    shared = _shared_out(checkout, run, one)
    return [_spread(one, shared)] if shared is not None else []


def _lists_devices(scope: Scope) -> bool:
    """Whether several devices are listed: ultralytics trains on one otherwise, and that has the whole batch."""
    return any(_DEVICES.search(found.text) for found in scope.under(("device",)))


def _spread(batch: Found, where: Evidence) -> Finding:
    why = "the program divides its batch by the number of cards"
    return Finding("training.batch_spread", "all", why, batch.confidence, where)


def _shared_out(checkout: Checkout, run: Run, batch: Found) -> Evidence | None:
    """Return where a program divides this very number by the number of cards, which is then what all of them have together."""
    for source in import_closure(checkout, run.script)[:MAX_PROGRAMS] if run.script is not None else ():
        for number, where in _numbers_shared(source):
            if number == as_number(batch.text):
                return where
    return None


@remembered
def _numbers_shared(source: Source) -> tuple[tuple[int, Evidence], ...]:
    """Return the numbers that a program divides by that of its cards, and where."""
    found = _NUMBER_SHARED.finditer(source.text) if source.code is not None else ()
    return tuple(
        (int(each[1]), Evidence(source.path, source.text.count("\n", 0, each.start()) + 1))
        for each in itertools.islice(found, MAX_SHARED)
    )


def _is_each_cards(one: Found, together: Found) -> bool:
    """Whether a batch that is said as surely as the larger one of all cards is that of each: two names tell two things apart.

    Beside pictures that are counted by name the other number is of regions, or of a test.
    """
    mine, whole = as_number(one.text), as_number(together.text)
    is_sure = together.setting.key in _OF_ALL and one.confidence >= together.confidence
    return is_sure and mine is not None and whole is not None and mine < whole


@remembered
def _scattered(source: Source) -> Evidence | None:
    """Return where a program hands a model to PyTorch's ``DataParallel``, which cuts each batch into one part per card."""
    call = next(iter(source.code.calls_named("DataParallel")), None) if source.code is not None else None
    return Evidence(source.path, call.line) if call is not None and "istributed" not in call.name else None


@remembered
def _mirrored(source: Source) -> Evidence | None:
    """Return where a program makes the strategy under which TensorFlow cuts each batch of ``fit`` into one part per card."""
    call = next(iter(source.code.calls_named(*_STRATEGIES)), None) if source.code is not None else None
    return Evidence(source.path, call.line) if call is not None and any(map(source.mentions, _CUT_BY)) else None


@remembered
def _is_made_for_each(source: Source) -> bool:
    """Whether a program may multiply its batch, by the number of cards or by anything, or hands each copy of the model batches of its own."""
    if source.code is None:
        return False
    return any(map(source.mentions, _EACH_ITS_OWN)) or _MULTIPLIED.search(source.text) is not None


@remembered
def _division(source: Source) -> Evidence | None:
    """Return where a program divides a batch by the number of cards."""
    if source.code is None or "batch" not in source.text:
        return None
    found = _DIVIDED.search(source.text)
    return Evidence(source.path, source.text.count("\n", 0, found.start()) + 1) if found is not None else None
