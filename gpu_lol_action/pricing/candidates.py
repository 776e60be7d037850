"""Requirement and offers to a ladder: what fits, cheapest first, and why each other offer does not."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from decimal import Decimal

from gpu_lol_action.domain.card_sizes import LEAST_SHARE, size_class_gb
from gpu_lol_action.domain.costs import cost_usd
from gpu_lol_action.domain.gpus import (
    Accelerator,
    AcceleratorRequest,
    UnknownAccelerator,
    find_accelerator,
    is_launchable,
    names_on,
    parse_accelerator,
)
from gpu_lol_action.domain.offer import Candidate, Lack, Ladder, Offer, OfferTable, PriceSource, Rejected, Requirement
from gpu_lol_action.domain.policy import Policy
from gpu_lol_action.domain.records import record
from gpu_lol_action.domain.request import Command
from gpu_lol_action.domain.spec import EnvironmentSpec
from gpu_lol_action.estimation.image_contents import image_refusal
from gpu_lol_action.estimation.older_images import runs_on_older_cards_only
from gpu_lol_action.pricing.throughput import Work, throughput

# Clouds whose machines SkyPilot 0.14.1 can rent as spot (facts: Cloud._unsupported_features_for_resources).
CLOUDS_WITH_SPOT = frozenset({"runpod", "vast", "aws", "gcp", "azure", "nebius", "verda"})
# Of these the catalog shows no spot price that is one (RunPod repeats the price, Vast writes 0.00), though they rent spot
# machines. On the others a machine without a spot price is not rented so.
CLOUDS_WITHOUT_SPOT_PRICE = frozenset({"runpod", "vast"})

# Clouds on which SkyPilot 0.14.1 runs no container image (facts: its feature table); where an image is asked for, no offer.
CLOUDS_WITHOUT_IMAGES = frozenset({"shadeform", "primeintellect", "verda", "hyperbolic", "yotta"})

# Clouds whose machines come with the disk they have: SkyPilot asks for no size there.
CLOUDS_WITH_FIXED_DISK = frozenset({"lambda"})

# Below compute capability 8.0 there is no bf16 and no FlashAttention 2: such cards are taken only when named, or for images of their day.
MIN_CAPABILITY = (8, 0)

# Memory asked of a card when neither file nor code says any: the smallest card that is rented today has 16 GB.
UNKNOWN_MEMORY_GIB = 12.0


@record(frozen=True, slots=True)
class RankRequest:
    """All that ranking looks at. ``max_price_usd_per_hour`` None means no cap; ``work`` is what speeds are compared by."""

    requirement: Requirement
    offers: OfferTable
    source: PriceSource
    lease: timedelta
    max_price_usd_per_hour: Decimal | None = None
    work: Work = Work.BF16


def requirement_from(
    spec: EnvironmentSpec, policy: Policy, command: Command | None = None
) -> Requirement | UnknownAccelerator:
    """Return what is asked of a machine: the spec, with the command's options over it, on the policy's clouds.

    A card named in the command is taken as ordered: its memory is not compared with the estimate.
    """
    hardware = spec.hardware
    wanted = Requirement(
        memory_gib_per_gpu=float(hardware.vram_required_gb or UNKNOWN_MEMORY_GIB) if spec.needs_gpu else 0.0,
        is_memory_as_sold=spec.needs_gpu,
        least_usable_gib=float(hardware.needed_gib or 0) if spec.needs_gpu and not hardware.gpu_type else 0.0,
        gpu_count=hardware.gpu_count if spec.needs_gpu else 0,
        accelerator=hardware.gpu_type if spec.needs_gpu else None,
        clouds=policy.clouds,
        use_spot=hardware.use_spot,
        min_disk_gb=hardware.disk_gb,
        cpus=hardware.cpus,
        memory_gib=float(hardware.memory_gb) if hardware.memory_gb else None,
        base_image=spec.environment.base_image,
        alternatives=hardware.alternatives if spec.needs_gpu else (),
    )
    return wanted if command is None else with_options(wanted, command)


def rank_candidates(request: RankRequest) -> Ladder:
    """Return the ladder: fitting offers by price for the lease, equal prices by memory and name; each other with a reason.

    Without a GPU asked for the ladder is empty.
    """
    candidates: list[Candidate] = []
    rejected: list[Rejected] = []
    clouds = dict.fromkeys(request.requirement.clouds) if request.requirement.gpu_count else {}
    for cloud in clouds:
        for offer in request.offers.get(cloud, ()):
            refused = _refusal(offer, request)
            if refused is not None:
                rejected.append(refused)
            else:
                candidates.append(_candidate(offer, request))
    candidates.sort(key=_rank)
    candidates, larger = _without_needless_cards(candidates)
    rejected += larger
    rejected.sort(key=lambda item: (item.offer.price_usd_per_hour, item.offer.cloud, item.offer.instance_type))
    candidates = _with_speeds(candidates, request)
    return Ladder(request.requirement, tuple(candidates), tuple(rejected), request.source, request.work.words)


def with_options(wanted: Requirement, command: Command) -> Requirement | UnknownAccelerator:
    """Return the requirement with a command's options over it."""
    if command.gpu is not None:
        found = parse_accelerator(command.gpu)
        if not isinstance(found, AcceleratorRequest):
            return found
        count = command.gpu_count or found.count or max(wanted.gpu_count, 1)
        wanted = replace(
            wanted, accelerator=found.accelerator.name, gpu_count=count, memory_gib_per_gpu=0.0, least_usable_gib=0.0,
            alternatives=(),
        )  # fmt: skip
    elif command.gpu_count is not None:
        wanted = replace(wanted, gpu_count=command.gpu_count)
    if command.cloud is not None:
        wanted = replace(wanted, clouds=tuple(cloud for cloud in wanted.clouds if cloud == command.cloud))
    return replace(
        wanted,
        region=command.region or wanted.region,
        use_spot=command.use_spot or wanted.use_spot,
        base_image=command.image or wanted.base_image,
    )


def _with_speeds(candidates: list[Candidate], request: RankRequest) -> list[Candidate]:
    """Say of each how much faster than the cheapest it is; of none where that one's speed is not published.

    Cards that a machine has beyond those asked for do no work.
    """
    count = max(request.requirement.gpu_count, 1)
    speeds = [throughput(each.offer.accelerator, count, request.work) for each in candidates]
    base = speeds[0] if speeds else None
    if not base:
        return candidates
    return [replace(c, relative_speed=s / base if s else None) for c, s in zip(candidates, speeds, strict=True)]


def _without_needless_cards(candidates: list[Candidate]) -> tuple[list[Candidate], list[Rejected]]:
    """Leave, of a card on a cloud, the fewest that fit; more of them only where they cost less. ``candidates`` are ranked."""
    alike: dict[tuple[str, str], list[tuple[int, Decimal]]] = {}
    for candidate in candidates:
        offer, price = candidate.offer, candidate.price_usd_per_hour
        alike.setdefault((offer.cloud, offer.accelerator), []).append((offer.accelerator_count, price))
    kept: list[Candidate] = []
    needless: list[Rejected] = []
    for candidate in candidates:
        offer, most = candidate.offer, candidate.price_usd_per_hour
        same = alike[offer.cloud, offer.accelerator]
        fewer = [count for count, price in same if count < offer.accelerator_count and price <= most]
        if fewer:
            count = min(fewer)
            needless.append(Rejected(offer, "1 card is enough" if count == 1 else f"{count} cards are enough"))
        else:
            kept.append(candidate)
    return kept, needless


def _refusal(offer: Offer, request: RankRequest) -> Rejected | None:
    """Return why the offer is not taken, in one clause; None when it fits."""
    for kind, check in _CHECKS:
        if reason := check(offer, request.requirement):
            return Rejected(offer, reason, kind)
    reason = _price_refusal(offer, request)
    return Rejected(offer, reason, Lack.PRICE) if reason else None


def _name_refusal(offer: Offer, wanted: Requirement) -> str:
    if not is_launchable(offer.cloud, offer.accelerator):
        return f"SkyPilot 0.14.1 lists {offer.accelerator} on {offer.cloud} but cannot launch it"
    if wanted.accelerator is None:
        return ""
    if not _is_named(offer, wanted):
        return f"{wanted.accelerator} was asked for"
    return ""


def _is_named(offer: Offer, wanted: Requirement) -> bool:
    named = [wanted.accelerator, *wanted.alternatives] if wanted.accelerator else []
    return any(offer.accelerator in names_on(offer.cloud, name) for name in named if name)


def _card_refusal(offer: Offer, wanted: Requirement) -> str:
    card = find_accelerator(offer.accelerator)
    if card is None:
        return "this card is not in our table"
    if card.is_arm:
        return "its host is ARM: x86 images do not run there"
    if wanted.base_image and card.is_nvidia and (refusal := image_refusal(wanted.base_image, card)):
        return refusal
    return "" if _is_named(offer, wanted) else _unnamed_refusal(card, wanted)


def _unnamed_refusal(card: Accelerator, wanted: Requirement) -> str:
    if not card.is_nvidia:
        return "no NVIDIA card: CUDA images and packages do not run there"
    if wanted.precision.startswith("fp8") and not card.has_fp8:
        return f"{card.architecture} has no fp8, in which the code computes"
    is_older = (card.compute_capability or (0, 0)) < MIN_CAPABILITY
    if is_older and not runs_on_older_cards_only(wanted.base_image or "", MIN_CAPABILITY):
        return f"{card.architecture} has no bf16 and no FlashAttention 2; name the card to take it"
    return ""


def _count_refusal(offer: Offer, wanted: Requirement) -> str:
    need = max(wanted.gpu_count, 1)
    return f"{offer.accelerator_count} of {need} cards" if offer.accelerator_count < need else ""


def _memory_refusal(offer: Offer, wanted: Requirement) -> str:
    has, need = offer.memory_gib_per_gpu, wanted.memory_gib_per_gpu
    if wanted.is_memory_as_sold and not wanted.least_usable_gib:
        return f"{_sold_gb(offer):g} GB, {need:g} needed" if _sold_gb(offer) < need else ""
    least = wanted.least_usable_gib or need
    return f"{has:.1f} GiB usable, {least:.0f} needed" if has < least else ""


def _sold_gb(offer: Offer) -> float:
    """Return the size that the offered card is sold with; of cards that a cloud merges under a name, the offer's own size tells it."""
    has, card = offer.memory_gib_per_gpu, find_accelerator(offer.accelerator)
    likely = size_class_gb(has)
    if card is not None and LEAST_SHARE * card.marketed_gb <= has <= card.marketed_gb:
        return card.marketed_gb
    return likely if has >= LEAST_SHARE * likely else has


def _host_refusal(offer: Offer, wanted: Requirement) -> str:
    if wanted.region and offer.regions and wanted.region not in offer.regions:
        return f"not rented in {wanted.region}"
    if wanted.cpus and offer.vcpus is not None and offer.vcpus < wanted.cpus:
        return f"{offer.vcpus:g} virtual CPUs, {wanted.cpus} needed"
    if wanted.memory_gib and offer.memory_gib is not None and offer.memory_gib < wanted.memory_gib:
        return f"{offer.memory_gib:g} GiB of main memory, {wanted.memory_gib:g} needed"
    if wanted.base_image and offer.cloud in CLOUDS_WITHOUT_IMAGES:
        return f"{offer.cloud} runs no container images"
    if wanted.use_spot and offer.cloud not in CLOUDS_WITH_SPOT:
        return f"{offer.cloud} has no spot machines"
    if wanted.use_spot and not _has_spot(offer) and offer.cloud not in CLOUDS_WITHOUT_SPOT_PRICE:
        return f"{offer.cloud} rents this one on demand only"
    return ""


_CHECKS: tuple[tuple[Lack, Callable[[Offer, Requirement], str]], ...] = (
    (Lack.CARD, _name_refusal), (Lack.CARD, _card_refusal), (Lack.COUNT, _count_refusal), (Lack.HOST, _host_refusal), (Lack.MEMORY, _memory_refusal),
)  # fmt: skip


def _price_refusal(offer: Offer, request: RankRequest) -> str:
    cap = request.max_price_usd_per_hour
    price = _price(offer, request.requirement)
    if price <= 0:
        return "the catalog shows no price for it"
    return f"${price}/h is over the limit of ${cap}/h" if cap is not None and price > cap else ""


def _price(offer: Offer, wanted: Requirement) -> Decimal:
    """Return what an hour costs: the spot price only where the cloud's catalog really has one."""
    spot = offer.spot_price_usd_per_hour
    return spot if wanted.use_spot and spot is not None and _has_spot(offer) else offer.price_usd_per_hour


def _has_spot(offer: Offer) -> bool:
    """Whether the spot price is one: less than on demand, and more than nothing."""
    spot = offer.spot_price_usd_per_hour
    return spot is not None and 0 < spot < offer.price_usd_per_hour


def _candidate(offer: Offer, request: RankRequest) -> Candidate:
    wanted = request.requirement
    price = _price(offer, wanted)
    asked, least = wanted.memory_gib_per_gpu, wanted.least_usable_gib
    words = f"{asked:g} GB asked for" if wanted.is_memory_as_sold and not least else f"{least or asked:.0f} needed"
    why = f"{offer.memory_gib_per_gpu:.1f} GiB usable, {words}" if asked else "as asked for"
    card = find_accelerator(offer.accelerator)
    if card is not None and wanted.precision.startswith("bf16") and not card.has_bf16:
        why += f"; {card.architecture} has no bf16, in which the code computes"
    if wanted.use_spot and price == offer.price_usd_per_hour:
        why += "; priced as on demand, because the catalog shows no spot price"
    if offer.accelerator_count > max(wanted.gpu_count, 1):
        why += f"; {offer.accelerator_count} cards, the fewest it is rented with"
    if wanted.min_disk_gb and offer.cloud in CLOUDS_WITH_FIXED_DISK:
        why += f"; its disk is what the machine has, {wanted.min_disk_gb} GB cannot be asked for"
    return Candidate(offer, price, cost_usd(price, request.lease), why)


def _rank(candidate: Candidate) -> tuple[Decimal, float, str, str, str]:
    offer = candidate.offer
    return (
        candidate.price_usd_per_hour,
        -offer.memory_gib_per_gpu,
        offer.cloud,
        offer.accelerator,
        offer.instance_type,
    )
