"""Values of the policy file: a reader for each kind. What a reader takes, docs/gpu-lol-policy.schema.json takes too."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from datetime import timedelta
from decimal import Decimal

import yaml

from gpu_lol_action.domain import yaml_nodes
from gpu_lol_action.domain.durations import parse_duration
from gpu_lol_action.domain.folders import FOLDER_PATTERN
from gpu_lol_action.domain.policy import PROPOSAL_MODES, SSH_DETAILS
from gpu_lol_action.domain.policy_keys import (
    CLOUDS,
    MAX_COUNT,
    MAX_FOLDERS,
    MAX_HOURS,
    MAX_NAMES,
    MAX_TEAMS,
    MAX_USD,
    MIN_HOURS,
    ROLES,
    Key,
    Kind,
)
from gpu_lol_action.domain.yaml_nodes import Place

USD_PATTERN = r"\$?[0-9]{1,6}(?:\.[0-9]{1,4})?"
COUNT_PATTERN = r"[0-9]{1,4}"
# GitHub's rule for logins: letters, digits and single inner hyphens, at most 39 characters.
LOGIN_PATTERN = r"(?=.{1,39}$)[A-Za-z0-9]+(?:-[A-Za-z0-9]+)*"
TEAM_PATTERN = r"[a-z0-9_][a-z0-9_-]{0,99}"
# Of what GitHub takes (50 characters) what needs no escape in YAML, and cannot be mistaken for anything else in a sentence.
LABEL_PATTERN = r"[A-Za-z0-9](?:[A-Za-z0-9 ._:/+-]{0,48}[A-Za-z0-9])?"
IMAGE_PATTERN = r"[A-Za-z0-9*][A-Za-z0-9._:/@*-]{0,254}"

_NUMBER_TAGS = {"tag:yaml.org,2002:int", "tag:yaml.org,2002:float"}
_PLAIN_NUMBER = re.compile(r"[0-9]{1,9}(?:\.[0-9]{1,9})?")


def read_value(key: Key, node: yaml.Node, place: Place) -> object:
    """Return the value of a key. Raises SpecError with the line of what it cannot be."""
    return _READERS[key.kind](node, key.name, place)


def _switch(node: yaml.Node, what: str, place: Place) -> bool:
    if isinstance(node, yaml.ScalarNode) and node.tag == "tag:yaml.org,2002:bool":
        return str(node.value).lower() in ("true", "yes", "on")
    raise place.error(node, f"`{what}` must be true or false.")


def _number(node: yaml.Node) -> Decimal | None:
    """Return the number that YAML sees in a plain scalar, None where it sees none."""
    if not isinstance(node, yaml.ScalarNode) or node.tag not in _NUMBER_TAGS:
        return None
    if _PLAIN_NUMBER.fullmatch(node.value):
        return Decimal(node.value)
    loader = yaml.SafeLoader("")
    try:
        value = loader.construct_object(node)
    except ValueError:
        return None
    finally:
        loader.dispose()
    return Decimal(repr(value)) if isinstance(value, int | float) and math.isfinite(value) else None


def _usd(node: yaml.Node, what: str, place: Place) -> Decimal:
    amount = _number(node)
    text = "" if amount is not None else yaml_nodes.text_of(node, what, place)
    if re.fullmatch(USD_PATTERN, text, re.ASCII):
        amount = Decimal(text.removeprefix("$"))
    if amount is None or not 0 <= amount <= MAX_USD:
        shown = yaml_nodes.text_of(node, what, place)
        raise place.error(node, f"`{what}: {shown[:40]}` is no amount of dollars.", fix=f"Write it as `{what}: 3.50`.")
    return amount


def _duration(node: yaml.Node, what: str, place: Place) -> timedelta:
    hours = _number(node)
    if hours is not None:
        duration = timedelta(hours=float(hours)) if Decimal(str(MIN_HOURS)) <= hours <= MAX_HOURS else None
    else:
        duration = parse_duration(yaml_nodes.text_of(node, what, place))
    if duration is None or duration > timedelta(hours=MAX_HOURS):
        shown = yaml_nodes.text_of(node, what, place)
        raise place.error(
            node, f"`{what}: {shown[:40]}` is no duration up to 30 days.", fix="Write it as `2h` or `90m`."
        )
    return duration


def _count(node: yaml.Node, what: str, place: Place) -> int:
    number = _number(node)
    text = "" if number is not None else yaml_nodes.text_of(node, what, place)
    if re.fullmatch(COUNT_PATTERN, text, re.ASCII):
        number = Decimal(text)
    if number is None or number != int(number) or not 0 <= number <= MAX_COUNT:
        shown = yaml_nodes.text_of(node, what, place)
        raise place.error(node, f"`{what}: {shown[:40]}` is no number from 0 to {MAX_COUNT}.")
    return int(number)


def _texts(node: yaml.Node, what: str, place: Place, most: int) -> list[tuple[yaml.Node, str]]:
    found = yaml_nodes.items(node, what, place)
    if len(found) > most:
        raise place.error(node, f"`{what}` names more than {most}.")
    return [(item, _text(item, what, place)) for item in found]


def _text(node: yaml.Node, what: str, place: Place) -> str:
    """Return a text that YAML reads as one: a login of digits, or one that looks like a day, needs its quotes."""
    value = yaml_nodes.text_of(node, what, place)
    if node.tag != "tag:yaml.org,2002:str":
        raise place.error(
            node, f"`{what}` holds `{value[:40]}`, which YAML reads as no text.", fix=f'Write "{value[:40]}".'
        )
    return value


def _words(valid: tuple[str, ...]) -> Callable[[yaml.Node, str, Place], tuple[str, ...]]:
    def read(node: yaml.Node, what: str, place: Place) -> tuple[str, ...]:
        names = _texts(node, what, place, MAX_NAMES)
        for item, name in names:
            if name not in valid:
                guess = yaml_nodes.nearest(name, valid)
                fix = f"Did you mean `{guess}`?" if guess else f"Known: {', '.join(valid)}."
                raise place.error(item, f"`{what}` knows no `{name[:40]}`.", fix=fix)
        return tuple(dict.fromkeys(name for _, name in names))

    return read


def _matching(pattern: str, form: str, most: int) -> Callable[[yaml.Node, str, Place], tuple[str, ...]]:
    def read(node: yaml.Node, what: str, place: Place) -> tuple[str, ...]:
        names = _texts(node, what, place, most)
        for item, name in names:
            if not re.fullmatch(pattern, name, re.ASCII):
                raise place.error(item, f"`{what}` cannot hold `{name[:40]}`.", fix=f"Write {form}.")
        return tuple(dict.fromkeys(name for _, name in names))

    return read


def _one_of(valid: tuple[str, ...]) -> Callable[[yaml.Node, str, Place], str]:
    def read(node: yaml.Node, what: str, place: Place) -> str:
        word = _text(node, what, place)
        if word not in valid:
            guess = yaml_nodes.nearest(word, valid)
            fix = f"Did you mean `{guess}`?" if guess else f"Known: {', '.join(valid)}."
            raise place.error(node, f"`{what}` knows no `{word[:40]}`.", fix=fix)
        return word

    return read


def _spelled(pattern: str, fix: str) -> Callable[[yaml.Node, str, Place], str]:
    """Return a reader of one text of that pattern, which may be empty: then nothing is named."""

    def read(node: yaml.Node, what: str, place: Place) -> str:
        text = _text(node, what, place)
        if text and not re.fullmatch(pattern, text, re.ASCII):
            raise place.error(node, f"`{what}` cannot be `{text[:40]}`.", fix=fix)
        return text

    return read


_READERS: Mapping[Kind, Callable[[yaml.Node, str, Place], object]] = {
    Kind.SWITCH: _switch,
    Kind.USD: _usd,
    Kind.DURATION: _duration,
    Kind.COUNT: _count,
    Kind.ROLES: _words(ROLES),
    Kind.CLOUDS: _words(CLOUDS),
    Kind.USERS: _matching(LOGIN_PATTERN, "a login without `@`", MAX_NAMES),
    Kind.TEAMS: _matching(TEAM_PATTERN, "the team's slug, without the organization", MAX_TEAMS),
    Kind.IMAGES: _matching(IMAGE_PATTERN, "an image, with `*` for any part of a name", MAX_NAMES),
    Kind.MODE: _one_of(PROPOSAL_MODES),
    Kind.DETAILS: _one_of(SSH_DETAILS),
    Kind.LABEL: _spelled(LABEL_PATTERN, "Write letters, digits and `. _ : / + -` between them, 50 at most."),
    Kind.FOLDERS: _matching(
        FOLDER_PATTERN, "its path from the root, without a slash at its ends, as `research/llm`", MAX_FOLDERS
    ),
}
