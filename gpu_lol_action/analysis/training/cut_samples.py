"""How long the samples of a language model are, and how many come at a time, where a program cuts them out of its tokens itself."""

from __future__ import annotations

from collections.abc import Iterator

from gpu_lol_action.analysis.files.checkout import Checkout, Source
from gpu_lol_action.analysis.files.effort import remembered
from gpu_lol_action.analysis.programs.followed_values import Follower
from gpu_lol_action.analysis.programs.others_names import JUDGES
from gpu_lol_action.analysis.programs.unused_definitions import is_unused_at
from gpu_lol_action.analysis.python.values import Value
from gpu_lol_action.analysis.runs.entry_points import Run, import_closure
from gpu_lol_action.analysis.runs.settings import Scope, as_number
from gpu_lol_action.analysis.training.token_windows import Window, token_windows
from gpu_lol_action.domain.finding import Confidence, Evidence, Finding
from gpu_lol_action.domain.patterns import regex

MAX_PROGRAMS = 20
LEAST, LONGEST, MOST = 16, 2_000_000, 4096
"""Positions of a sample, and samples of a batch, that are believed."""
# What programs say that read texts, rows of other signs, or steps of time.
_OF_ROWS = regex(
    r"(?i)vocab|token|ForCausalLM|LMHead|\bstoi\b|nn\.Embedding\(|uint16|nn\.(?:LSTM|GRU|RNN|Transformer\w{0,20}|MultiheadAttention)\("
)
# Rows of another kind that samples are cut out of: sounds, clips, pictures.
_OF_OTHERS = regex(
    r"(?i)torchaudio|librosa|soundfile|waveform|\bwavs?\b|spectrogram|\bvideos?\b|\bframes?\b|\bimages?\b|cv2"
)
_JUDGED = regex(
    r"(?i)_?(?:val|valid|validation|validate|tests?|eval|evaluate|evaluation|generate|sample|estimate)(?:_.{0,60})?"
)


def cut_samples(checkout: Checkout, run: Run, scope: Scope) -> tuple[Finding | None, Finding | None]:
    """Return the length of a sample and the samples of a batch; None for what is not told, or told in several ways."""
    closure = import_closure(checkout, run.script)[:MAX_PROGRAMS] if run.script is not None else ()
    if not any(_is_of_rows(source) for source in closure):
        return None, None
    follower = Follower(scope.tiers[0][1], scope.tiers[1][1], closure)
    lengths: dict[int, Finding] = {}
    batches: dict[int, Finding] = {}
    for source, window in _used_windows(closure):
        # What a module cuts may be another of its data sets.
        sure = Confidence.HIGH if source is closure[0] else Confidence.MEDIUM
        length, at = _number(follower, source, window, window.length)
        if length is not None and not LEAST <= length <= LONGEST:
            continue
        if length is not None:
            lengths.setdefault(
                length,
                _finding("training.sequence_length", length, f"samples of {length} positions are cut out", at, sure),
            )
        samples, at = _number(follower, source, window, window.samples) if window.samples is not None else (None, at)
        if samples is not None and 1 <= samples <= MOST:
            batches.setdefault(
                samples, _finding("training.batch_size", samples, f"{samples} samples are cut out at a time", at, sure)
            )
    return _only(lengths), _only(batches)


def _used_windows(closure: tuple[Source, ...]) -> Iterator[tuple[Source, Window]]:
    for source in closure:
        if JUDGES.fullmatch(source.name) or _OF_OTHERS.search(source.text) is not None:
            continue
        for window in token_windows(source):
            if _JUDGED.fullmatch(window.owner) is None and not is_unused_at(source, window.line, closure):
                yield source, window


@remembered
def _is_of_rows(source: Source) -> bool:
    return _OF_ROWS.search(source.text) is not None


def _number(follower: Follower, source: Source, window: Window, value: Value) -> tuple[int | None, Evidence]:
    """Return what an expression is and where that is written; None where it is not told in one way."""
    told = follower.value(source, value, window.owner)
    text = told[0] if told is not None else None
    at = told[1] if told is not None and told[1] is not None else Evidence(source.path, window.line)
    return as_number(text) if text is not None else None, at


def _finding(field: str, number: int, why: str, where: Evidence, sure: Confidence) -> Finding:
    return Finding(field, str(number), why, sure, where)


def _only(found: dict[int, Finding]) -> Finding | None:
    return next(iter(found.values())) if len(found) == 1 else None
