"""A ledger page <-> JSON text: the record of an environment and the bills of its earlier lives.

The text is written by one version of this program and read by others, for months. So: keys that a reader
does not know are passed over, keys that a writer did not know take their default, and anything else that
does not fit is an error with its place (`lease.expires_at: ...`), never a guess.
"""

from __future__ import annotations

import dataclasses
import enum
import functools
import json
import types
import typing
from collections.abc import Mapping
from datetime import datetime, timezone
from decimal import Decimal, InvalidOperation

from gpu_lol_action.domain.environment import EnvironmentRecord
from gpu_lol_action.domain.records import record

SCHEMA = 1
"""Raised when an old reader would misunderstand a new page; readers refuse pages above theirs."""
MAX_CHARACTERS = 1024 * 1024


class UnreadableRecord(ValueError):
    """The text is no page of the ledger; the message says where and why."""


@record(frozen=True, slots=True)
class ClosedBill:
    """What one finished life of an environment cost, and for whom; `claimed_at` tells the lives apart.

    `login` is empty in bills that an older version has written.
    """

    claimed_at: datetime
    closed_at: datetime
    usd: Decimal
    login: str = ""


@record(frozen=True, slots=True)
class Page:
    """The newest record of an environment, with the bills of every life that has ended, oldest first."""

    record: EnvironmentRecord
    bills: tuple[ClosedBill, ...] = ()

    def followed_by(self, record: EnvironmentRecord) -> Page:
        """The page that the next record makes: bills are carried along, so that the newest page knows them all."""
        return Page(record, _with_bill(self.bills, record))


def first_page(record: EnvironmentRecord) -> Page:
    """The page of an environment that was never there before."""
    return Page(record, _with_bill((), record))


def _with_bill(bills: tuple[ClosedBill, ...], record: EnvironmentRecord) -> tuple[ClosedBill, ...]:
    if record.bill is None or record.closed_at is None:
        return bills
    others = tuple(bill for bill in bills if bill.claimed_at != record.claimed_at)
    return (*others, ClosedBill(record.claimed_at, record.closed_at, record.bill.usd, record.requester.login))


def page_to_json(page: Page) -> str:
    """The page as text: keys in a fixed order, the same page gives the same bytes."""
    return json.dumps({"schema": SCHEMA, **_plain_fields(page)}, indent=1, ensure_ascii=False) + "\n"


def page_from_json(text: str) -> Page:
    """The page behind a text; UnreadableRecord where it is none."""
    if len(text) > MAX_CHARACTERS:
        raise UnreadableRecord(f"{len(text)} characters are more than a record has")
    try:
        raw = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise UnreadableRecord(f"not JSON: {error}") from None
    if not isinstance(raw, dict):
        raise UnreadableRecord("not a JSON object")
    schema = raw.get("schema")
    if not isinstance(schema, int) or isinstance(schema, bool) or schema < 1:
        raise UnreadableRecord(f"schema: {schema!r} is no version")
    if schema > SCHEMA:
        raise UnreadableRecord(f"schema: written by a newer gpu-lol (version {schema}; this one reads up to {SCHEMA})")
    page = _build(Page, raw, "")
    if not isinstance(page, Page):
        raise UnreadableRecord("not a page")
    return page


# --- objects -> JSON ---------------------------------------------------------------------------------------
def _plain_fields(value: object) -> dict[str, object]:
    if not dataclasses.is_dataclass(value):
        raise TypeError(type(value).__name__)
    return {field.name: _plain(getattr(value, field.name)) for field in dataclasses.fields(value)}


def _plain(value: object) -> object:
    if isinstance(value, enum.Enum):
        return value.value
    if isinstance(value, datetime):
        return value.astimezone(timezone.utc).isoformat().replace("+00:00", "Z")
    if isinstance(value, Decimal):
        return str(value)
    if isinstance(value, tuple):
        return [_plain(item) for item in value]
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in sorted(value.items())}
    if dataclasses.is_dataclass(value):
        return _plain_fields(value)
    return value


# --- JSON -> objects ---------------------------------------------------------------------------------------
@functools.cache
def _hints(kind: type) -> dict[str, typing.Any]:
    return typing.get_type_hints(kind)


def _build(kind: type, raw: object, place: str) -> object:
    if not isinstance(raw, dict):
        raise UnreadableRecord(f"{place or 'page'}: not an object")
    values = {}
    for field in dataclasses.fields(kind):
        where = f"{place}.{field.name}" if place else field.name
        if field.name in raw:
            values[field.name] = _value(_hints(kind)[field.name], raw[field.name], where)
        elif field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING:
            raise UnreadableRecord(f"{where}: missing")
    return kind(**values)


def _value(hint: typing.Any, raw: object, place: str) -> object:
    origin, arguments = typing.get_origin(hint), typing.get_args(hint)
    if origin in (types.UnionType, typing.Union):
        if raw is None and types.NoneType in arguments:
            return None
        return _value(next(each for each in arguments if each is not types.NoneType), raw, place)
    if origin is tuple:
        if not isinstance(raw, list):
            raise UnreadableRecord(f"{place}: not a list")
        return tuple(_value(arguments[0], item, f"{place}[{number}]") for number, item in enumerate(raw))
    if origin is not None and issubclass(origin, Mapping):
        if not isinstance(raw, dict):
            raise UnreadableRecord(f"{place}: not an object")
        return {key: _value(arguments[1], item, f"{place}.{key}") for key, item in raw.items()}
    if dataclasses.is_dataclass(hint):
        return _build(typing.cast(type, hint), raw, place)
    return _scalar(hint, raw, place)


def _scalar(hint: typing.Any, raw: object, place: str) -> object:
    try:
        if hint is datetime and isinstance(raw, str):
            moment = datetime.fromisoformat(raw.replace("Z", "+00:00"))
            if moment.tzinfo is not None:
                return moment
        elif hint is Decimal and isinstance(raw, str):
            amount = Decimal(raw)
            if amount.is_finite():
                return amount
        elif isinstance(hint, type) and issubclass(hint, enum.Enum):
            return hint(raw)
        elif hint is float and isinstance(raw, int | float) and not isinstance(raw, bool):
            return float(raw)
        elif isinstance(hint, type) and type(raw) is hint:
            return raw
    except (ValueError, InvalidOperation):
        pass
    name = getattr(hint, "__name__", str(hint))
    raise UnreadableRecord(f"{place}: {str(raw)[:60]!r} is no {name}")
