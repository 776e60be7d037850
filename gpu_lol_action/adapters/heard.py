"""What a language model was heard to say in this run, so that it is asked about a subject once, and not again after a fault."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from gpu_lol_action.domain.lookup import Question, Unanswered


@dataclass(slots=True)
class Heard:
    """Answers by subject. Head and base of a pull request may be alike, and are told the same then."""

    _answers: dict[Question | str, str | Unanswered] = field(default_factory=dict)
    _fault: Unanswered | None = None

    def answer(self, question: Question, ask: Callable[[Question], str | Unanswered]) -> str | Unanswered:
        """Return what was heard of this subject; else what ``ask`` hears.

        Who gave no answer about the head is not waited for once more about the base: one that is told of one side alone
        would be taken for what the pull request changed.
        """
        subject = question.subject or question
        if subject not in self._answers:
            answer = ask(question) if self._fault is None else self._fault
            if isinstance(answer, Unanswered):
                self._fault = answer
            self._answers[subject] = answer
        return self._answers[subject]
