"""A Policy written as `.github/gpu-lol.yml`, and explained: each value with the line that says it, or as a default."""

from __future__ import annotations

from datetime import timedelta
from decimal import Decimal

from gpu_lol_action.domain import policy_keys
from gpu_lol_action.domain.policy import Policy
from gpu_lol_action.domain.policy_yaml import PolicyReading
from gpu_lol_action.domain.records import record


@record(frozen=True, slots=True)
class Explained:
    """One key of a policy: its value as one would write it, and its line in the file; None: the default."""

    name: str
    value: str
    line: int | None
    meaning: str


def explain(reading: PolicyReading) -> tuple[Explained, ...]:
    """Return every key with its value and where it comes from, in the table's order."""
    return tuple(
        Explained(key.name, policy_text(key.value(reading.policy)), reading.lines.get(key.name), key.meaning)
        for key in policy_keys.KEYS
    )


def notes(policy: Policy) -> tuple[str, ...]:
    """Return what follows from values together and is easily overlooked, a sentence each."""
    found = []
    if not policy.is_enabled:
        found.append("gpu-lol is switched off: only down and help work, and what runs is still ended.")
    if not (policy.roles or policy.users or policy.teams):
        found.append("Nobody may command: roles, users and teams are all empty.")
    if policy.max_price_usd_per_hour <= policy.confirm_above_usd_per_hour:
        found.append(
            f"No machine above ${policy.max_price_usd_per_hour}/h can be rented, so nothing is ever confirmed "
            f"(above ${policy.confirm_above_usd_per_hour}/h): raise the first, or lower the second."
        )
    if "vast" in policy.clouds:
        found.append("Vast writes its API key into each machine: whoever logs in can read it.")
    if policy.may_forks_launch:
        found.append("Code of forks may run on your machines, where the command names its commit in full.")
    if policy.smoke_label and not policy.may_forks_smoke:
        found.append(f"The label {policy.smoke_label} starts nothing: smoke.forks is false.")
    if not policy.requires_recent_sweep:
        found.append("Machines may start although nothing sweeps: a forgotten one is noticed by nobody.")
    return tuple(found)


def plain_value(value: object) -> object:
    """Return a value as JSON has it: numbers as numbers, durations as they are written."""
    if isinstance(value, bool | int | str):
        return value
    if isinstance(value, tuple):
        return list(value)
    if isinstance(value, Decimal):
        return int(value) if value == int(value) else float(value)
    return policy_text(value)


def write_policy(policy: Policy) -> str:
    """Return a whole file that says what holds; reading it again gives the same policy."""
    lines: list[str] = []
    for name in policy_keys.TOP:
        keys = policy_keys.section(name)
        lines += [f"{name}:"] if keys else []
        lines += [f"  {key.name.partition('.')[2]}: {policy_text(key.value(policy))}" for key in keys]
        lines += [f"{key.name}: {policy_text(key.value(policy))}" for key in policy_keys.KEYS if key.name == name]
    return "\n".join(lines) + "\n"


def policy_text(value: object) -> str:
    """Return a value as one would write it in the file."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, tuple):
        return f"[{', '.join(map(_item, value))}]"
    if isinstance(value, timedelta):
        return _duration(value)
    if isinstance(value, Decimal):
        return str(int(value)) if value == int(value) else f"{value.normalize():f}"
    return _item(value) if isinstance(value, str) else str(value)


def _item(value: object) -> str:
    text = str(value)
    # A pattern may begin with what YAML reads as an alias, and a login may look like a number or a switch.
    is_plain = text.isascii() and text.replace("-", "").isalpha() and text.lower() not in _SWITCHES
    return text if is_plain else f'"{text}"'


_SWITCHES = frozenset({"y", "n", "yes", "no", "on", "off", "true", "false", "null"})


def _duration(value: timedelta) -> str:
    """Return hours, hours and minutes, or minutes to three decimals: what the reader takes, not less precise than it."""
    minutes = Decimal(value // timedelta(microseconds=1)) / Decimal(60_000_000)
    if minutes == int(minutes):
        hours, rest = divmod(int(minutes), 60)
        return (f"{hours}h" if hours else "") + (f"{rest}m" if rest or not hours else "")
    return f"{minutes.quantize(Decimal('0.001')):f}m"
