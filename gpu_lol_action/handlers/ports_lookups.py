"""The hands that look something up elsewhere, each in a time box: an answer that does not come stops nothing."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Protocol

from gpu_lol_action.domain.lookup import Catalog, HubFields, HubPage, Question, Unanswered
from gpu_lol_action.domain.market import StockAnswers, Template
from gpu_lol_action.domain.offer import Offer


class ModelHub(Protocol):
    """The Hugging Face Hub, as far as it tells how large a model is."""

    def read(self, model_id: str, page: HubPage) -> HubFields | Unanswered:
        """Return the JSON object of a page about a model, or why there is none; never waits past its time box."""
        ...

    def anonymous(self) -> ModelHub:
        """Return the same Hub, asked without anybody's token."""
        ...


class Catalogs(Protocol):
    """The price catalogs that SkyPilot's makers publish."""

    def begin(self, clouds: Iterable[str]) -> None:
        """Start asking for these clouds' catalogs in the background."""
        ...

    def read(self, clouds: Iterable[str]) -> Mapping[str, Catalog | Unanswered]:
        """Return each cloud's catalog, or why there is none; never waits past the time box that began with the first."""
        ...


class Market(Protocol):
    """What clouds say of themselves beyond their lists of prices; every question in a box of seconds."""

    def stock(self, offers: Iterable[Offer]) -> StockAnswers:
        """Return what the clouds of these offers have at this moment; clouds that cannot say it are left out."""
        ...

    def templates(self) -> tuple[Template, ...] | Unanswered:
        """Return the templates of the RunPod account, or why they cannot be told."""
        ...


class LanguageModel(Protocol):
    """A language model behind an endpoint."""

    @property
    def name(self) -> str:
        """Which model it is."""
        ...

    def ask(self, question: Question) -> str | Unanswered:
        """Return the text of its answer, or why there is none; never waits past its time box."""
        ...
