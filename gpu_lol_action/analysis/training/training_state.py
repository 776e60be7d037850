"""What a training step keeps besides its states: activations or checkpoints of them, logits."""

from __future__ import annotations

from gpu_lol_action.analysis.files.checkout import Checkout
from gpu_lol_action.analysis.models.frozen_encoders import nothing_kept
from gpu_lol_action.analysis.programs.import_graph import import_closure
from gpu_lol_action.analysis.runs.entry_points import Run
from gpu_lol_action.analysis.runs.run_calls import called_at
from gpu_lol_action.analysis.runs.settings import Scope, is_on, look_up
from gpu_lol_action.analysis.training.trl_defaults import chunked_by_trl, switched_on_by_trl
from gpu_lol_action.domain.finding import Confidence, Evidence, Finding
from gpu_lol_action.domain.patterns import regex

_CHECKPOINTING = ("gradient_checkpointing", "use_gradient_checkpointing", "activation_checkpointing", "grad_cp",
                  "enable_activation_checkpointing", "gradient_checkpointing_enable", "enable_gradient_checkpointing")  # fmt: skip
# Words that say how instead of only that: axolotl's, Unsloth's, torchtitan's.
_KINDS_OF_IT = frozenset({"unsloth", "full", "offload", "offload_disk", "whole_layer"})
# Trainers that switch checkpointing on unless told otherwise; LLaMA-Factory is also known by its `finetuning_type`.
_CHECKPOINTING_TOOLS = frozenset({"swift", "llamafactory-cli", "xtuner"})
_OF_LLAMA_FACTORY = regex(r"(?:^|/)(?:llamafactory|llmtuner)/.{1,200}\.py$")
_CHECKPOINTING_PROGRAMS = ("swift/cli/", "swift.cli.")  # what these tools start, started by a launcher

# A class, a score or a vector for each sample instead of a word of the vocabulary for each token: Transformers' classes for
# it, and what ms-swift, LLaMA-Factory and axolotl call such a training.
_SMALL_HEAD = regex(
    r"\w*For(?:Sequence|Token)Classification|\w*ForQuestionAnswering|\w*ForMultipleChoice"
    r"|(?:GPT2|GPTNeoX?|GPTJ|Llama|Mistral|Mixtral|Qwen[23]|Gemma[23]?|Phi3?|OPT|Bloom|Falcon|T5Encoder)Model"  # the layers alone
)
_WORDS_HEAD = regex(
    r"\w*For(?:CausalLM|Seq2SeqLM|ConditionalGeneration|MaskedLM|Vision2Seq|ImageTextToText)\w*|\w*LMHead\w*"
)
_SMALL_TASKS = frozenset({"seq_cls", "embedding", "reranker", "prm"})
_SCORES = ("reward_model", "process_reward_model")
HEAD = "training.head"

_SPEAKS_OF_IT = regex(
    r"(?:gradient|activation)_checkpoint|prepare_model_for_|Trainer\(|unsloth|torch\.utils\.checkpoint|checkpoint_sequential"
)
_UNSLOTH = tuple(f"Fast{kind}Model.get_peft_model" for kind in ("Language", "Vision", ""))


def checkpointing_of(checkout: Checkout, run: Run, scope: Scope) -> Finding | None:
    """Return whether activations are computed again in the backward pass; None where nothing says."""
    if (frozen := nothing_kept(run)) is not None:
        return frozen
    found, kind = look_up(scope, _CHECKPOINTING), look_up(scope, ("finetuning_type",))
    # In its own checkout, too, LLaMA-Factory is what its configurations say, not what some class of its own starts with.
    is_library_s = found is not None and _OF_LLAMA_FACTORY.search(found.evidence.path) is not None
    if found is not None and not (kind is not None and is_library_s):
        on = is_on(found) or found.text.lower() in _KINDS_OF_IT
        state = "on" if on else "off"
        return Finding(
            "training.gradient_checkpointing",
            state,
            f"`{found.setting.key}` is {found.text}",
            found.confidence,
            found.evidence,
        )
    tool = run.command.tool if run.command is not None else ""
    is_of_xtuner = run.script is None and any(s.code is not None and s.mentions("xtuner") for s in run.configs[:1])
    target = run.command.target if run.command is not None else ""
    is_of_tool = tool in _CHECKPOINTING_TOOLS or target.startswith(_CHECKPOINTING_PROGRAMS)
    if is_of_tool or kind is not None or is_of_xtuner:
        where = kind.evidence if kind is not None else run.evidence
        return Finding(
            "training.gradient_checkpointing", "on", "the trainer switches it on by itself", Confidence.MEDIUM, where
        )
    # Unsloth's adapters come with checkpointing of its own unless told otherwise (``use_gradient_checkpointing="unsloth"``).
    by_unsloth = called_at(checkout, run, *_UNSLOTH)
    if by_unsloth is not None:
        why = "Unsloth's `get_peft_model` switches it on by itself"
        return Finding("training.gradient_checkpointing", "on", why, Confidence.MEDIUM, by_unsloth)
    called = called_at(checkout, run, "gradient_checkpointing_enable", "prepare_model_for_kbit_training", "prepare_model_for_int8_training",
                  "enable_gradient_checkpointing", "checkpoint_wrapper", "apply_activation_checkpointing")  # fmt: skip
    if called is None and (by_trl := switched_on_by_trl(checkout, run)) is not None:
        why = "TRL's configurations switch it on by themselves"
        return Finding("training.gradient_checkpointing", "on", why, Confidence.MEDIUM, by_trl)
    if called is None:
        return _own_loop_without(checkout, run)
    return Finding("training.gradient_checkpointing", "on", "it is switched on in code", Confidence.HIGH, called)


def _own_loop_without(checkout: Checkout, run: Run) -> Finding | None:
    """Return that a loop of the program's own keeps all activations: it loads weights at 4 bit and nowhere speaks of computing any again."""
    where = called_at(checkout, run, "BitsAndBytesConfig")
    if where is None or run.script is None or called_at(checkout, run, "backward") is None:
        return None
    if any(_SPEAKS_OF_IT.search(s.text) for s in import_closure(checkout, run.script)):
        return None
    why = "the program's own loop nowhere switches it on"
    return Finding("training.gradient_checkpointing", "off", why, Confidence.MEDIUM, where)


def head_of(checkout: Checkout, run: Run, scope: Scope) -> Finding | None:
    """Return that no logits over a vocabulary are computed: what is trained classifies, scores or embeds whole samples."""
    task = look_up(scope, ("task_type",))
    if task is not None and task.text.lower() in _SMALL_TASKS:
        return Finding(HEAD, "small", f"`{task.setting.key}` is {task.text}", task.confidence, task.evidence)
    stage = look_up(scope, ("rlhf_type", "stage"))
    if stage is not None and stage.text.lower() == "rm":
        return Finding(HEAD, "small", f"`{stage.setting.key}` is {stage.text}", stage.confidence, stage.evidence)
    scores = look_up(scope, _SCORES)
    if run.script is None and is_on(scores) and scores is not None:
        return Finding(HEAD, "small", f"`{scores.setting.key}` is on", scores.confidence, scores.evidence)
    return _loaded_head(checkout, run)


def _loaded_head(checkout: Checkout, run: Run) -> Finding | None:
    """Return that all the models which the program loads by a class for one task have no head of words."""
    found: Finding | None = None
    for source in import_closure(checkout, run.script) if run.script is not None else ():
        if source.code is None or not source.mentions("from_pretrained"):
            continue
        for call in source.code.calls_named("from_pretrained"):
            kind = call.name.rpartition(".")[0].rpartition(".")[2]
            if _WORDS_HEAD.fullmatch(kind):
                return None
            if found is None and _SMALL_HEAD.fullmatch(kind):
                where = Evidence(source.path, call.line)
                found = Finding(HEAD, "small", f"`{kind}` has no head of words", Confidence.MEDIUM, where)
    return found


def chunked_loss_of(checkout: Checkout, run: Run, scope: Scope) -> Finding | None:
    """Return that logits are never held whole, where a fused or chunked loss is switched on, or TRL's own is one."""
    found = look_up(scope, ("use_liger_kernel", "use_liger", "enable_liger_kernel", "liger_kernel", "cut_cross_entropy",
                            "liger_fused_linear_cross_entropy"))  # fmt: skip
    plugin = next(
        (s for _, tier in scope.tiers for s in tier if s.key == "plugins" and "cut_cross_entropy" in s.text), None
    )
    if plugin is not None:
        return Finding("training.chunked_loss", "on", "the plugin for it is named", Confidence.HIGH, plugin.evidence)
    if is_on(found) and found is not None:
        return Finding("training.chunked_loss", "on", f"`{found.setting.key}` is on", found.confidence, found.evidence)
    loss = look_up(scope, ("loss_type",))
    return chunked_by_trl(checkout, run) if loss is None or loss.text == "chunked_nll" else None
