"""A language model whose answers about a proposal are kept: what the proposal was told, `up` is told again, without asking."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from gpu_lol_action.analysis.answer.llm_advice import Refused, read_advice, write_advice
from gpu_lol_action.domain.kept_answers import KeptAnswers, digest_of
from gpu_lol_action.domain.lookup import Question, Unanswered
from gpu_lol_action.errors import GpuLolError

if TYPE_CHECKING:
    from gpu_lol_action.handlers.askable import Lookups
    from gpu_lol_action.handlers.context import Context
    from gpu_lol_action.handlers.ports_lookups import LanguageModel

NONE_THEN = Unanswered("it gave none of use when the proposal was made")
NOT_HERE = Unanswered("none is set up in this job, and the proposal asked something else")


@dataclass(slots=True)
class KeptModel:
    """Fulfils the ``LanguageModel`` port over another. ``heard`` are the answers that this run rests on.

    ``is_proposing``: what got no answer of use is asked once more; else the proposal rests on that, and so does what follows.
    """

    model: LanguageModel
    kept: KeptAnswers
    is_proposing: bool
    heard: dict[str, str | None] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """Which model it is."""
        return self.model.name

    def ask(self, question: Question) -> str | Unanswered:
        """Return the kept answer to this very question, else a fresh one."""
        digest = digest_of(question, self.name)
        kept = self.kept.given.get(digest)
        if kept is not None or (digest in self.kept.given and not self.is_proposing):
            self.heard[digest] = kept
            return kept if kept is not None else NONE_THEN
        answer = self.model.ask(question)
        advice = read_advice(answer) if isinstance(answer, str) else answer
        # Only the values that were understood are kept, not whatever else a server said.
        self.heard[digest] = None if isinstance(advice, (Refused, Unanswered)) else write_advice(advice)
        return answer


@dataclass(frozen=True, slots=True)
class ReadBackModel:
    """Fulfils the ``LanguageModel`` port where none is set up: it says again what the proposal was told, and nothing else.

    So a machine is what was proposed, whichever job launches it.
    """

    kept: KeptAnswers

    @property
    def name(self) -> str:
        """Which model answered then."""
        return self.kept.model

    def ask(self, question: Question) -> str | Unanswered:
        """Return the kept answer to this very question, else why there is none."""
        digest = digest_of(question, self.name)
        if digest not in self.kept.given:
            return NOT_HERE
        answer = self.kept.given[digest]
        return answer if answer is not None else NONE_THEN


def remembering(lookups: Lookups, kept: KeptAnswers, *, is_allowed: bool, is_proposing: bool = False) -> Lookups:
    """Return the same lookups with a language model that is not asked what it has answered already.

    ``is_allowed``: whether a language model may be asked about this code; without that, what one said counts no more.
    """
    if lookups.llm is None:
        is_read_back = is_allowed and kept.model and kept.given
        return replace(lookups, llm=ReadBackModel(kept)) if is_read_back else lookups
    return replace(lookups, llm=KeptModel(lookups.llm, kept, is_proposing))


def keep_answers(context: Context, number: int, head: str, lookups: Lookups, kept: KeptAnswers) -> None:
    """Write down what a proposal rests on, where that is news; where it may not be written, what follows asks anew."""
    if context.surfaces is None or not isinstance(lookups.llm, KeptModel):
        return
    heard = KeptAnswers(head, dict(sorted(lookups.llm.heard.items())), lookups.llm.name)
    if heard == kept or not heard.given:
        return
    try:
        context.surfaces.notes.change(number, lambda note: replace(note, answers=heard))
    except GpuLolError as error:
        context.progress.line(f"the language model's answers are not kept, `up` asks anew: {error.explanation.what}")
