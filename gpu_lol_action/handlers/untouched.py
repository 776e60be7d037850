"""Whether a pull request leaves what its code needs as it is: nobody is told about that."""

from __future__ import annotations

from decimal import Decimal

from gpu_lol_action.domain.change import is_worth_saying
from gpu_lol_action.domain.policy import Policy
from gpu_lol_action.handlers.concluding import Compared, Fetched, Reading


def is_untouched(head: Fetched, base: Fetched | None, compared: Compared, policy: Policy) -> bool:
    """Whether neither the project's file nor what its code needs, nor its price, is another than at the base."""
    change, old = compared.change, compared.base
    if change is None or old is None or base is None:
        return False
    if head.checkout.spec_text != base.checkout.spec_text:
        return False
    is_said = is_worth_saying(
        change.change, least_percent=float(policy.least_change_percent), says_parts=policy.says_environment
    )
    return not is_said and _price(compared.head) == _price(old)


def _price(reading: Reading) -> Decimal | None:
    best = reading.ladder.best
    return best.price_usd_per_hour if best is not None else None
