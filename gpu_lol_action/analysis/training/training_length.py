"""How many tokens one sample has where no option of the run says it: a prompt with its answer, or what its data were cut to before."""

from __future__ import annotations

import re

from gpu_lol_action.analysis.files.checkout import Checkout
from gpu_lol_action.analysis.formats.paths import Form
from gpu_lol_action.analysis.runs.entry_points import Run, import_closure
from gpu_lol_action.analysis.runs.run_calls import called_at
from gpu_lol_action.analysis.runs.settings import Found, Scope, as_number, look_up_number
from gpu_lol_action.domain.finding import Confidence, Evidence, Finding
from gpu_lol_action.domain.patterns import regex

# What is generated in a step, and what it answers: TRL's names, verl's and OpenRLHF's.
_ANSWER = ("max_completion_length", "max_response_length", "response_length", "generate_max_len", "generate_max_length")
_PROMPT = ("max_prompt_length", "prompt_max_len", "prompt_max_length")
# A question and its answer: names of transformers' examples and of QLoRA's script.
_TARGET, _SOURCE = ("max_target_length", "target_max_len"), ("max_source_length", "source_max_len")
_ONE_STACK = regex(r"\b(?:\w{0,40}ForCausalLM|ChatGLM\w{0,40})\b")
_TWO_STACKS = regex(r"\b(?:\w{0,40}Seq2SeqLM|\w{1,40}ForConditionalGeneration|EncoderDecoderModel)\b")
DEFAULT_PROMPT = 512  # TRL's, for its trainers that generate
_MOST = 2_000_000
_PREPARES = regex(r"(?:^|_)(?:tokeni[sz]e|prepare|preprocess|pre_process|prep)(?:_|$)")
_CUT_TO = ("max_seq_length", "max_seq_len", "max_length", "cutoff_len", "block_size", "seq_length", "seq_len")
MAX_PREPARING = 10
MAX_PROGRAMS = 20
_DRAWN = regex(
    r"\btorch\.randint\(\s{0,20}(?:0\s{0,5},\s{0,5})?[\w.]{1,60}\s{0,20},\s{0,20}(?:size\s{0,5}=\s{0,5})?\(\s{0,5}\d{1,4}\s{0,5},\s{0,5}(\d{2,6})\s{0,5}\)"
)
# `max(len(item) + 1 for item in batch)`: what functions that put a batch together begin with.
_LONGEST = regex(
    r"max\((?<!\wmax\()\s{0,20}[(\[]?\s{0,20}len\([^()\n]{1,60}\)[^()\n]{0,12}?\s{1,20}for\s{1,20}\w{1,60}(?:,\s{0,5}\w{1,60})?\s{1,20}in\s{1,20}"
    r"(?:\w{0,20}batch|samples|examples|features|instances|sequences|self\.\w{0,20}(?:texts|tokens|ids|sentences))\b"
)
# An entry of the data that is a caption: `row["caption"]`, `data["captions"]`.
_CAPTION = regex(r"\[\s?['\"](?:raw_|image_)?captions?['\"]\s?\]")
# Entries of which a text may be put together, or that are the text: documents, conversations.
_LONGER = regex(
    r"\[\s?['\"](?:text|prompt|document|article|story|dialog(?:ue)?|conversation|message|instruction|question|answer|input|output|response|content)s?['\"]\s?\]"
)
CAPTION_TOKENS = 128
_TOP = regex(r"(?m)^(?:class|def)[ \t]{1,4}(\w{1,80})")
_PADS = ("BucketIterator", "BucketIterator.splits", "pad_sequence", "rnn.pad_sequence", "padded_batch", "pad_1D", "pad_2D",
         "pad_1D_tensor", "pad_2D_tensor")  # fmt: skip


def answered_length(scope: Scope, whole: Found | None) -> Finding | None:
    """Return the tokens of a prompt with its answer, where the run generates what it learns from.

    ``whole``: the length of a sample that something else says; it stands where it is said nearer to the run.
    """
    answer = look_up_number(scope, _ANSWER, 16, _MOST)
    if answer is None or (whole is not None and whole.confidence > answer.confidence):
        return None
    prompt = look_up_number(scope, _PROMPT, 1, _MOST)
    tokens = (as_number(answer.text) or 0) + (as_number(prompt.text) or 0 if prompt is not None else DEFAULT_PROMPT)
    why = f"`{answer.setting.key}` is {answer.text}, beside a prompt of {prompt.text if prompt else DEFAULT_PROMPT}"
    return Finding("training.sequence_length", str(tokens), why, answer.confidence, answer.evidence)


def joined_length(checkout: Checkout, run: Run, scope: Scope, whole: Found | None) -> Finding | None:
    """Return the tokens of a question with its answer, where two options say them and one sequence holds both.

    Encoders with decoders read the one and write the other.
    """
    answer, question = look_up_number(scope, _TARGET, 1, _MOST), look_up_number(scope, _SOURCE, 1, _MOST)
    if run.script is None or answer is None or question is None or answer.confidence is not question.confidence:
        return None
    if whole is not None and whole.setting.key not in (*_TARGET, *_SOURCE) and whole.confidence >= answer.confidence:
        return None
    if not any(_ONE_STACK.search(s.text) for s in import_closure(checkout, run.script)[:MAX_PROGRAMS]):
        return None
    if any(_TWO_STACKS.search(s.text) for s in import_closure(checkout, run.script)[:MAX_PROGRAMS]):
        return None
    tokens = (as_number(answer.text) or 0) + (as_number(question.text) or 0)
    why = f"`{question.setting.key}` is {question.text}, and `{answer.setting.key}` {answer.text}"
    return Finding("training.sequence_length", str(tokens), why, answer.confidence, answer.evidence)


def prepared_length(checkout: Checkout, run: Run) -> Finding | None:
    """Return the tokens to which the step beside the program cuts its data, where the program itself says no length."""
    script = run.script
    if script is None:
        return None
    beside = [
        s for s in checkout.of(Form.PYTHON) if s.folder == script.folder and _PREPARES.search(s.name.partition(".")[0])
    ]
    for source in beside[:MAX_PREPARING]:
        for default in source.code.defaults if source.code is not None else ():
            tokens = as_number(default.text) if default.name in _CUT_TO else None
            if tokens is not None and default.is_option and 16 <= tokens <= _MOST:
                why = f"`{default.name}` is {tokens} where the data are prepared"
                where = Evidence(source.path, default.line)
                return Finding("training.sequence_length", str(tokens), why, Confidence.LOW, where)
    return None


def captioned_length(checkout: Checkout, run: Run) -> Finding | None:
    """Return the tokens of a caption where a language model learns to write what its data call so: one sentence or two."""
    programs = import_closure(checkout, run.script)[:MAX_PROGRAMS] if run.script is not None else ()
    if not any(source.mentions("LMHead") or source.mentions("ForCausalLM") for source in programs):
        return None
    if any(_LONGER.search(source.text) for source in programs):
        return None
    for source in programs:
        found = _CAPTION.search(source.text) if "caption" in source.text else None
        if found is not None:
            where = Evidence(source.path, source.text.count("\n", 0, found.start()) + 1)
            why = "its data are captions, of a sentence or two"
            return Finding("training.sequence_length", str(CAPTION_TOKENS), why, Confidence.LOW, where)
    return None


def drawn_length(run: Run) -> Finding | None:
    """Return the tokens of a sample that the program draws by itself, in place of data (``torch.randint(32000, (8, 256))``)."""
    script = run.script
    if script is None or script.code is None or "DataLoader" in script.text:
        return None
    found = _DRAWN.search(script.text)
    if found is None:
        return None
    where = Evidence(script.path, script.text.count("\n", 0, found.start()) + 1)
    why = f"the program draws samples of {found[1]} tokens"
    return Finding("training.sequence_length", found[1], why, Confidence.HIGH, where)


def padding_of(checkout: Checkout, run: Run) -> Finding | None:
    """Return that a batch is as long as the longest of its texts, where the program pads them so itself."""
    where = called_at(checkout, run, *_PADS) or _longest_of_a_batch(checkout, run)
    if where is None:
        return None
    confidence = Confidence.MEDIUM if _is_of_program(checkout, run, where) else Confidence.LOW
    return Finding("training.padding", "longest", "texts are padded to the longest of a batch", confidence, where)


def _is_of_program(checkout: Checkout, run: Run, where: Evidence) -> bool:
    """Whether a line is the program's own, or of a class or function of another module that the program calls by name."""
    source = checkout.find(where.path)
    if run.script is None or source is None:
        return False
    if source is run.script:
        return True
    above = _TOP.findall("\n".join(source.text.split("\n", where.line)[: where.line]))
    return bool(above) and re.search(rf"\b{above[-1]}\(", run.script.text) is not None


def _longest_of_a_batch(checkout: Checkout, run: Run) -> Evidence | None:
    """Return where a function of the program's own takes the length of the longest text of a batch."""
    for source in import_closure(checkout, run.script)[:MAX_PROGRAMS] if run.script is not None else ():
        found = _LONGEST.search(source.text) if "len(" in source.text else None
        if found is not None:
            return Evidence(source.path, source.text.count("\n", 0, found.start()) + 1)
    return None
