"""The month's spending as a view model, as bars of text, and as JSON; every figure is an estimate."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from decimal import Decimal

from gpu_lol_action.pricing.budget import NOTICE_SHARE, Spending
from gpu_lol_action.pricing.month import MonthReport, Share
from gpu_lol_action.render import formats
from gpu_lol_action.render.markdown import Safe, visible
from gpu_lol_action.render.screen import columns_of, cut, pad
from gpu_lol_action.render.views import BillingView

MOST_SHARES = 10
_BAR = 28
_NAME = 24


@dataclass(frozen=True, slots=True)
class BudgetView:
    """The month: totals as words, and a chart on the scale of the limit (or of what is over it)."""

    marker: Safe
    mark: Safe
    month: Safe
    spent: Safe
    promised: Safe
    limit: Safe
    renews: Safe
    chart: str
    unreadable: Safe | None
    billing: BillingView


def budget_view(month: MonthReport, marker: Safe, billing: BillingView) -> BudgetView:
    """Return the answer to ``budget``."""
    total = month.total
    return BudgetView(
        marker=marker,
        mark=Safe("🔴" if total.share >= 1 else "🟡" if total.share >= NOTICE_SHARE else "🟢"),
        month=Safe(formats.day(month.since.date()).partition(" ")[2]),
        spent=formats.usd(total.month_usd),
        promised=formats.usd(total.committed_usd),
        limit=formats.usd(total.limit_usd),
        renews=formats.day((month.since + timedelta(days=32)).replace(day=1).date()),
        chart=_chart(month),
        unreadable=formats.plural(len(month.unreadable), "record") if month.unreadable else None,
        billing=billing,
    )


def used_words(month: Spending | None) -> Safe | None:
    """Return ``83 % of this month's budget is spent or promised: $41.50 of $50``; nothing where nothing is to be said."""
    if month is None:
        return None
    used = month.month_usd + month.committed_usd
    percent = int(month.share * 100)
    return Safe(
        f"{percent} % of this month's budget is spent or promised: {formats.usd(used)} of {formats.usd(month.limit_usd)}"
    )


def budget_json(month: MonthReport) -> dict[str, object]:
    """Return the month as JSON values: dollars as text with cents, as everywhere, bills that name nobody under ``null``."""
    total = month.total
    return {
        "month": f"{month.since:%Y-%m}",
        "is_estimate": True,
        "limit_usd": _cents(total.limit_usd),
        "spent_usd": _cents(total.month_usd),
        "promised_usd": _cents(total.committed_usd),
        "left_usd": _cents(total.left_usd),
        "people": [{"login": share.key or None, **_amounts(share)} for share in month.people],
        "pull_requests": [
            {"pull_request": int(share.key) if share.key.isdecimal() else None, **_amounts(share)}
            for share in month.pull_requests
        ],
        "unreadable": list(month.unreadable),
    }


def _amounts(share: Share) -> dict[str, object]:
    return {"spent_usd": _cents(share.spent_usd), "promised_usd": _cents(share.promised_usd), "running": share.running}


def _cents(amount: Decimal) -> str:
    return str(amount.quantize(Decimal("0.01")))


def _chart(month: MonthReport) -> str:
    total = month.total
    scale = max(total.limit_usd, total.month_usd + total.committed_usd, Decimal("0.01"))
    whole = Share("", total.month_usd, total.committed_usd, len(month.running))
    groups = [
        [("spent", whole, ""), ("left", Share("", Decimal(0), Decimal(0), 0), str(formats.usd(total.left_usd)))],
        [(visible(share.key, 60) or "not recorded", share, "") for share in _most(month.people)],
        [(_place(share.key), share, "") for share in _most(month.pull_requests)],
    ]
    rows = [row for group in groups for row in group]
    width = min(max((columns_of(name) for name, _, _ in rows), default=0), _NAME)
    blocks = ["\n".join(_line(name, share, amount, width, scale) for name, share, amount in group) for group in groups]
    return "\n\n".join(block for block in blocks if block)


def _line(name: str, share: Share, amount: str, width: int, scale: Decimal) -> str:
    bar = formats.bar(float(share.spent_usd / scale), _BAR)
    if share.promised_usd:
        # From the end of the whole cells on, and one cell at least: what is promised must not vanish beside what is spent.
        end = round(float((share.spent_usd + share.promised_usd) / scale) * _BAR)
        bar = bar[: _BAR - 1] if end >= _BAR and len(bar) >= _BAR else bar
        bar += "▒" * max(end - len(bar), 1)
    promised = f" + {formats.usd(share.promised_usd)}" if share.promised_usd else ""
    figure = amount or formats.usd(share.spent_usd)
    return f"{pad(cut(name, width), width)}  {bar:<{_BAR}}  {figure:>8}{promised}".rstrip()


def _place(key: str) -> str:
    if key.isdecimal():
        return f"PR {key}"
    return key or "not recorded"


def _most(shares: Sequence[Share]) -> list[Share]:
    """Return the largest shares, the others added up in one."""
    if len(shares) <= MOST_SHARES:
        return list(shares)
    rest = shares[MOST_SHARES - 1 :]
    zero = Decimal("0.00")
    others = Share(
        f"{len(rest)} others",
        sum((each.spent_usd for each in rest), zero),
        sum((each.promised_usd for each in rest), zero),
        sum(each.running for each in rest),
    )
    return [*shares[: MOST_SHARES - 1], others]
