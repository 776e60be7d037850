"""How the run trains or infers: method, precision, batch, length, optimizer, checkpointing, sharding."""

from __future__ import annotations

from gpu_lol_action.analysis.files.checkout import Checkout
from gpu_lol_action.analysis.files.setting import Setting, leaves_out
from gpu_lol_action.analysis.models.weight_widths import weight_bits_of
from gpu_lol_action.analysis.programs.behavior import Behavior
from gpu_lol_action.analysis.runs import layouts_alone, litgpt_defaults, serving_engine, xtuner_recipes
from gpu_lol_action.analysis.runs.entry_points import Run
from gpu_lol_action.analysis.runs.settings import Found, Scope, as_number, look_up, look_up_number, scope_of
from gpu_lol_action.analysis.runs.shown_inputs import shown_batch
from gpu_lol_action.analysis.training import attention_kind, shared_batches, token_batches
from gpu_lol_action.analysis.training.cut_samples import cut_samples
from gpu_lol_action.analysis.training.rl_training import with_rl_words
from gpu_lol_action.analysis.training.serving import detect_serving
from gpu_lol_action.analysis.training.started_batches import started_with
from gpu_lol_action.analysis.training.training_length import (
    answered_length,
    captioned_length,
    drawn_length,
    joined_length,
    padding_of,
    prepared_length,
)
from gpu_lol_action.analysis.training.training_method import method_of
from gpu_lol_action.analysis.training.training_optimizer import freed_gradients_of, optimizer_of, rank_of
from gpu_lol_action.analysis.training.training_precision import precision_of, weights_of
from gpu_lol_action.analysis.training.training_preference import preference_of
from gpu_lol_action.analysis.training.training_sharding import least_cards_of, offload_of, sharding_of
from gpu_lol_action.analysis.training.training_state import checkpointing_of, chunked_loss_of, head_of
from gpu_lol_action.domain.finding import Confidence, Finding
from gpu_lol_action.domain.patterns import regex

_BATCH = ("ppo_micro_batch_size_per_gpu", "micro_train_batch_size", "per_device_train_batch_size", "device_train_microbatch_size", "micro_batch_size", "train_micro_batch_size_per_gpu", "micro_batch_size_per_gpu", "train_micro_batch_size", "micro_bsz", "device_batch_size",
          "per_gpu_train_batch_size", "train_batch_size_per_device", "train_batch_size_per_gpu", "per_device_batch_size", "per_core_batch_size", "per_replica_batch_size", "per_gpu_batch_size", "batch_size_per_device", "batch_size_per_gpu", "local_batch_size",
          "samples_per_gpu", "imgs_per_gpu", "train_batch_size", "batch_size", "bs", "bsz", "batch", "batchsize", "dataloader_batch_size", "max_batch_size")  # fmt: skip
_PICTURES, _OF_REGIONS = ("ims_per_batch", "images_per_batch"), frozenset({"batch_size", "train_batch_size"})
_FITTED = frozenset({"device_train_microbatch_size"})  # Composer looks for the largest that its card holds
_LENGTH = ("max_encoder_length", "max_enc_steps", "train_max_seq_len", "train_seq_len", "max_seq_length", "max_seq_len", "sequence_len", "cutoff_len", "block_size", "ctx_len", "model_max_length", "seq_length",
           "seq_len", "sequence_length", "context_length", "max_context_length", "context_len", "max_context_width", "max_model_len", "lm_max_length", "total_sequence_length", "max_length", "n_ctx", "max_source_length", "max_target_length", "bptt", "tgt_len", "max_len", "maxlen",
           "max_token_seq_len", "max_src_len", "src_max_len", "max_sent_len", "maxlen1")  # fmt: skip
# The positions that a network has: what its texts are cut to, where nothing says shorter.
_HOLDS = ("max_sequence_length",)
_ANY_TEXT = ("max_len", "maxlen")  # of any text that a function cuts, or of a table of positions
_SAMPLE = "max_length"
_OF_FUNCTIONS = ("max_seq_length", "seq_length", "seq_len", "sequence_length")
_POSITIONS = regex(r"`(?:context_length|context_len|max_context_length|ctx_len|n_ctx|block_size)`")
# Runtimes that keep room for as many tokens as they are told, and servers that take requests of so many.
_OF_LLAMA_CPP, _OF_SERVERS = ("n_gpu_layers", "gpu_layers"), ("max_total_tokens",)
LONGEST = 2_000_000
MOST_READ = 8192  # tokens of a prompt and its answer where nothing says them
MOST_ANSWERS = 64  # that anybody has a language model write at a time without saying so
_BLOCK = "block_size"  # GPT's positions; elsewhere bytes of a file
_READS = regex(r"corpus|read|loader|stream|shard|download|file|io\b|hash|crypt")
# Where a batch is counted in tokens, it is that of a whole step, over all cards.
_TOKENS = ("batch_size", "train_batch_size", "total_batch_size", "global_batch_size", "batch_size_tokens", "tokens_per_batch",
           "total_batch_size_tokens", "tokens_per_step")  # fmt: skip
_LEAST_TOKENS, _MOST_TOKENS = 8192, 16_777_216
_PARALLEL = (
    "context_parallel_size",
    "sequence_parallel_degree",
    "sequence_parallel_size",
    "ulysses_sequence_parallel_size",
)
# What adapters are told to train whole beside them: peft's `modules_to_save`, by whatever name a tool hands it on.
_SAVED = ("modules_to_save", "lora_modules_to_save", "additional_target")
_EMBEDDINGS = regex(r"embed_tokens|lm_head|\bwte\b|embed_in|embed_out|word_embeddings|tok_embeddings")
_RANK = ("lora_r", "lora_rank", "lora_dim", "network_dim", "rank", "r")


def detect(checkout: Checkout, run: Run | None) -> list[Finding]:
    """Return how the run works, one finding per field that is said anywhere."""
    if run is None:
        return []
    scope = scope_of(checkout, run)
    precision = precision_of(checkout, run, scope)
    found = [
        method_of(checkout, run, scope),
        precision,
        None if _exports(run) else weight_bits_of(scope),
        sharding_of(checkout, run, scope),
        offload_of(checkout, run, scope),
    ]
    found += [_number("training.sequence_parallel", scope, _PARALLEL, 2, 64)]
    batch, length = _batch(run, scope), _length(checkout, run, scope)
    if run.behavior is Behavior.TRAINS and not (_is_sure(batch) and _is_sure(length)):
        cut, together = cut_samples(checkout, run, scope)
        batch, length = _surer(batch, together), _surer(length, cut)
    found += [batch, length]
    if run.behavior is Behavior.TRAINS:
        found += [_tokens(scope), token_batches.detect(checkout, run, scope)]
        found += shared_batches.detect(checkout, run, scope)
        optimizer = optimizer_of(checkout, run, scope)
        found += [least_cards_of(scope), optimizer, rank_of(scope, optimizer), freed_gradients_of(scope)]
        found += [
            weights_of(checkout, run, scope, precision),
            chunked_loss_of(checkout, run, scope),
            head_of(checkout, run, scope),
            *preference_of(checkout, run, scope),
        ]
        found += [
            attention_kind.detect(checkout, run),
            padding_of(checkout, run),
            checkpointing_of(checkout, run, scope),
            _number("training.lora_rank", scope, _RANK, 1, 1024) if _has_adapters(found[0]) else None,
            _saved_embeddings(scope),
        ]
        said = frozenset(each.field for each in found if each is not None)
        found += [*litgpt_defaults.detect(run, said), *xtuner_recipes.detect(run, said), *layouts_alone.detect(run)]
    else:
        found += detect_serving(checkout, run, scope)
    return with_rl_words(checkout, run, found)


def _surer(said: Finding | None, cut: Finding | None) -> Finding | None:
    return cut if cut is not None and (said is None or cut.confidence > said.confidence) else said


def _is_sure(found: Finding | None) -> bool:
    return found is not None and found.confidence is Confidence.HIGH


def _has_adapters(method: Finding | None) -> bool:
    """Whether adapters are trained, so that a rank is theirs: elsewhere ``r`` is whatever somebody called so."""
    return method is not None and "lora" in method.value


def _exports(run: Run) -> bool:
    """Whether the run writes a model down: the bits that it is told are those of what it writes, not of what it loads."""
    return run.command is not None and run.command.words[:1] == ("export",)


def _batch(run: Run, scope: Scope) -> Finding | None:
    """Return the samples at a time: what the run says, the input that a document shows, then what a module starts with."""
    # Where pictures of a batch are counted by a name of their own, as detectors do, the other number is of regions in each.
    of_regions = _OF_REGIONS if look_up_number(scope, _PICTURES, 1, 4096) is not None else frozenset()
    said = _number("training.batch_size", scope, tuple(name for name in _BATCH if name not in of_regions), 1, 4096)
    if run.behavior is not Behavior.TRAINS and said is not None and _is_of_a_helper(scope):
        said = None
    return (
        said
        if said is not None and said.confidence is Confidence.HIGH
        else shown_batch(run) or said or started_with(run)
    )


def _is_of_a_helper(scope: Scope) -> bool:
    """Whether the batch is some imported module's: of lists that it works through, or of what it could hold, not of what the run answers."""
    found = look_up_number(scope, _BATCH, 1, 4096)
    if found is None or not found.evidence.path.endswith(".py"):
        return False
    # What a class starts with and cuts its list of questions by (`def __init__(self, data, batch_size=512)`).
    is_of_a_list = found.setting.is_parameter and (as_number(found.text) or 0) > MOST_ANSWERS
    return found.confidence is not Confidence.HIGH or is_of_a_list


def _length(checkout: Checkout, run: Run, scope: Scope) -> Finding | None:
    """Return the tokens of a sample: of a prompt and its answer where the run learns from what it generates."""
    names = tuple(name for name in _LENGTH if not _is_something_else(checkout, scope, name))
    whole = _best_number(scope, names, 16, LONGEST)
    said = _number("training.sequence_length", scope, names, 16, LONGEST)
    if run.behavior is not Behavior.TRAINS:
        said = said or _number("training.sequence_length", scope, _OF_SERVERS, 16, LONGEST)
        is_kept = look_up(scope, _OF_LLAMA_CPP) is not None or bool(serving_engine.detect(checkout, run))
        return None if said is not None and not is_kept and _is_all_it_could(said) else said
    drawn = drawn_length(run) if said is None or said.confidence is not Confidence.HIGH else None
    said = answered_length(scope, whole) or joined_length(checkout, run, scope, whole) or drawn or said
    said = said or _number("training.sequence_length", scope, _HOLDS, 16, LONGEST) or prepared_length(checkout, run)
    return said or captioned_length(checkout, run)


def _is_all_it_could(said: Finding) -> bool:
    """Whether a program's own table says how long a text its network could read: an answer takes what is asked and written."""
    is_code = said.evidence.path.endswith((".py", ".ipynb"))
    return is_code and _POSITIONS.match(said.why) is not None and int(said.value) > MOST_READ


def _is_something_else(checkout: Checkout, scope: Scope, name: str) -> bool:
    """Whether a word that mostly means a sample's tokens stands for something else in a module that the run itself does not speak through.

    `max_length` in a filter's section is what longer samples are left out by, of speech in milliseconds or frames;
    `block_size` is how much a module reads at a time that reads files; `max_len` the length of any text, or of what a
    function of the program itself is made for (``def __init__(self, width, max_len=5000)``).
    """
    if name not in {_BLOCK, _SAMPLE, *_ANY_TEXT, *_OF_FUNCTIONS}:
        return False
    found = look_up_number(scope, (name,), 16, LONGEST)
    if name in _OF_FUNCTIONS or name == _SAMPLE:
        is_handed = found is not None and found.confidence is not Confidence.HIGH and _is_of_a_function(found.setting)
        return is_handed or (found is not None and leaves_out(found.setting))
    if found is None or found.confidence is Confidence.HIGH:
        return found is not None and name == "max_len" and (found.setting.is_parameter or bool(found.setting.owner))
    source = checkout.find(found.evidence.path)
    is_code = source is not None and source.code is not None
    return is_code and (name in _ANY_TEXT or _READS.search(found.evidence.path.rpartition("/")[2]) is not None)


def _is_of_a_function(setting: Setting) -> bool:
    """Whether it is what a function of an imported module is made for, which is handed any text."""
    return setting.is_parameter and setting.owner.rpartition(".")[2][:1].islower()


def _saved_embeddings(scope: Scope) -> Finding | None:
    """Return how many of the two matrices of the vocabulary are trained whole beside adapters; None where none is."""
    found = look_up(scope, _SAVED)
    if found is None or found.confidence is not Confidence.HIGH:
        return None
    said = [
        s.text
        for _, settings in scope.tiers
        for s in settings
        if s.key == found.setting.key and s.evidence.path == found.evidence.path
    ]
    matrices = {name for text in said for name in _EMBEDDINGS.findall(text)}
    if not matrices:
        return None
    why = f"`{found.setting.key}` trains {' and '.join(sorted(matrices))} beside the adapters"
    return Finding("training.saved_embeddings", str(min(len(matrices), 2)), why, found.confidence, found.evidence)


def _tokens(scope: Scope) -> Finding | None:
    """Return a step's tokens where a batch is larger than any number of samples: the most that a schedule comes to."""
    for confidence, settings in scope.tiers:
        sizes = [
            (number, setting)
            for setting in settings
            if setting.key in _TOKENS
            and (number := as_number(setting.text)) is not None
            and _LEAST_TOKENS <= number <= _MOST_TOKENS
        ]
        if sizes:
            number, setting = max(sizes, key=lambda each: each[0])
            why = f"`{setting.key}` is {setting.text}, tokens of all cards"
            return Finding("training.batch_tokens", str(number), why, confidence, setting.evidence)
    return None


def _number(field: str, scope: Scope, names: tuple[str, ...], low: int, high: int) -> Finding | None:
    found = _best_number(scope, names, low, high)
    if found is None:
        return None
    number = as_number(found.text)
    return Finding(field, str(number), f"`{found.setting.key}` is {found.text}", found.confidence, found.evidence)


def _best_number(scope: Scope, names: tuple[str, ...], low: int, high: int) -> Found | None:
    """Return the nearest number; a trainer's own argument wins over the same word in any other call of its tier."""
    found = look_up_number(scope, names, low, high)
    if found is None or (found.confidence is not Confidence.HIGH and _is_fitted(scope, names)):
        return None
    for confidence, settings in scope.tiers:
        for setting in settings:
            if setting.key == found.setting.key and _is_trainers(setting) and confidence >= found.confidence:
                number = as_number(setting.text)
                if number is not None and low <= number <= high:
                    return Found(setting, confidence)
    return found


def _is_fitted(scope: Scope, names: tuple[str, ...]) -> bool:
    """Whether the run leaves a number to its trainer (``device_train_microbatch_size: auto``): what some module says is none."""
    fitted = look_up(scope, [name for name in names if name in _FITTED])
    return fitted is not None and fitted.confidence is Confidence.HIGH and fitted.text.strip("\"'").lower() == "auto"


def _is_trainers(setting: Setting) -> bool:
    owner = setting.path.rpartition(".")[0].lower()
    return "argument" in owner or owner.endswith("config")
