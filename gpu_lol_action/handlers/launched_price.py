"""Hold a machine that was launched to the price that was shown, where SkyPilot does not do it before the launch."""

from __future__ import annotations

from decimal import Decimal

from gpu_lol_action.domain.machine import Launched, NotLaunched
from gpu_lol_action.domain.offer import Candidate
from gpu_lol_action.errors import GpuLolError
from gpu_lol_action.handlers.context import Context
from gpu_lol_action.launch.task import CLOUDS_WITHOUT_LIMIT, price_limit

TOO_DEAR = "too_dear"


def hold_to_limit(context: Context, candidate: Candidate, launched: Launched) -> Launched | NotLaunched:
    """Return the machine, or a refusal where its price is over the limit; the caller ends what is refused.

    The provider's own list counts, else what SkyPilot's catalog of this moment says of the machine that it took. Where
    neither tells a price, the machine is kept and the log says so: its lease bounds what it may cost.
    """
    cloud = candidate.offer.cloud
    if cloud not in CLOUDS_WITHOUT_LIMIT:
        return launched
    listed = _listed_usd_per_hour(context, cloud, launched.name_on_cloud)
    price = listed or launched.price_usd_per_hour
    if not price:
        context.progress.line(f"{cloud} does not say what this machine costs; it was asked for by its list price")
        return launched
    limit = price_limit(candidate)
    if price <= limit:
        return launched
    # SkyPilot still knows the machine under this name, and would hold the next offer's to its resources.
    context.cloud().close()
    whose = cloud if listed else "SkyPilot's catalog"
    return NotLaunched(TOO_DEAR, f"${price:.2f}/h by {whose}, over ${limit:.2f}/h; it was ended", is_certain=False)


def _listed_usd_per_hour(context: Context, cloud: str, name_on_cloud: str) -> Decimal | None:
    """Return what the provider's list says of all machines of this name; None where it lists none, or not each with a price."""
    try:
        listed = [
            each for each in context.cloud().machines(cloud, name_on_cloud) if each.name_on_cloud == name_on_cloud
        ]
    except GpuLolError as error:
        context.progress.line(f"could not read what the machine costs: {error.explanation.what}")
        return None
    prices = [each.price_usd_per_hour for each in listed]
    known = [price for price in prices if price]
    return max(known) if known and len(known) == len(prices) else None
