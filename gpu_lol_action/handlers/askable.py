"""What a run may ask from outside; apart from who asks it, so that a first reaction does not wait for the analyzer."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from gpu_lol_action.domain.records import record

if TYPE_CHECKING:
    from gpu_lol_action.domain.policy import Policy
    from gpu_lol_action.handlers.ports_lookups import LanguageModel, ModelHub
    from gpu_lol_action.handlers.prices import LivePrices


@record(frozen=True, slots=True)
class Lookups:
    """What may be asked from outside. ``is_hub_asked``: by this run's input; the policy may ask for it as well.

    ``prices`` gives those of this run, and are asked for whoever wrote the code: nothing of it is in the question. None: the
    bundled snapshot serves.
    """

    hub: ModelHub | None = None
    llm: LanguageModel | None = None
    is_hub_asked: bool = False
    prices: Callable[[], LivePrices] | None = None

    def allowed(self, policy: Policy, *, is_fork: bool) -> Lookups:
        """Return what may be asked about this code.

        A stranger who picks a model's name must not see what only our token may, nor spend our money on a model that
        reads what he wrote.
        """
        hub = self.hub if self.is_hub_asked or policy.asks_hub else None
        if not is_fork:
            return Lookups(hub, self.llm, self.is_hub_asked, self.prices)
        llm = self.llm if may_ask_llm(policy, is_fork=is_fork) else None
        return Lookups(hub.anonymous() if hub is not None else None, llm, self.is_hub_asked, self.prices)


NO_LOOKUPS = Lookups()


def may_ask_llm(policy: Policy, *, is_fork: bool) -> bool:
    """Return whether a language model may be asked about this code, if one is set up."""
    return policy.may_forks_ask_llm or not is_fork
