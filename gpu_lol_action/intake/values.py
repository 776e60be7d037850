"""What the value of an option may look like: a reader for each kind, None where it is not one."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from decimal import Decimal

from gpu_lol_action.domain.command_spec import OptionKind
from gpu_lol_action.domain.durations import parse_duration
from gpu_lol_action.domain.folders import FOLDER_PATTERN, read_folder_name
from gpu_lol_action.domain.lookup import COPILOT

CLOUDS = ("runpod", "lambda", "vast", "aws", "gcp", "azure", "nebius")
OUTPUT_FORMATS = ("text", "json", "yaml", "markdown")
LEVELS = ("1", "2")
CHOICES: Mapping[OptionKind, tuple[str, ...]] = {
    OptionKind.CLOUD: CLOUDS,
    OptionKind.FORMAT: OUTPUT_FORMATS,
    OptionKind.LEVEL: LEVELS,
}

PROFILE = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,39}")
# What a machine is called, where it is one of a project: `research/llm`, `research/llm:large`, `llm:large`.
LABEL = re.compile(rf"{PROFILE.pattern}|{FOLDER_PATTERN}(?::{PROFILE.pattern})?")
ENVIRONMENT = re.compile(r"[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?")
_SHA = re.compile(r"[0-9a-f]{7,40}")
# GitHub's rule for logins: letters, digits and single inner hyphens, at most 39 characters.
_LOGIN = re.compile(r"(?=.{1,39}$)[A-Za-z0-9]+(?:-[A-Za-z0-9]+)*")
_REGION = re.compile(r"[A-Za-z0-9][A-Za-z0-9-]{0,39}")
_PRICE = re.compile(r"\$?[0-9]{1,4}(?:\.[0-9]{1,4})?")
_REF = re.compile(r"(?!-)[A-Za-z0-9._/@^~+-]{1,200}")
# What stands behind the @ of a workflow: it is written into a file, so nothing that YAML could read otherwise.
_PIN = re.compile(r"[A-Za-z0-9][A-Za-z0-9._/-]{0,99}")
# Written into a workflow as well, beside the secret that is sent there: so over https, and to no address with a name or a query in it.
_ENDPOINT = re.compile(
    COPILOT + r"|https://[A-Za-z0-9](?:[A-Za-z0-9.-]{0,200}[A-Za-z0-9])?(?::[0-9]{1,5})?(?:/[A-Za-z0-9._~/-]{0,200})?"
)
_MODEL_NAME = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9._:@/+-]{0,98}[A-Za-z0-9])?")
# The distribution project's grammar of an image reference: [host[:port]/]path[:tag][@digest].
_IMAGE = re.compile(
    r"(?:docker:)?[A-Za-z0-9][A-Za-z0-9._-]*(?::[0-9]{1,5}(?=/))?(?:/[a-z0-9][a-z0-9._-]*)*"
    r"(?::[A-Za-z0-9_][A-Za-z0-9._-]{0,127})?(?:@sha256:[0-9a-f]{64})?"
)
MAX_IMAGE_CHARACTERS = 255


def read_login(value: str) -> str | None:
    """Return a GitHub login, with or without its @."""
    login = value.removeprefix("@")
    return login if _LOGIN.fullmatch(login) else None


def read_image(value: str) -> str | None:
    """Return a container image reference without SkyPilot's ``docker:`` in front."""
    if len(value) > MAX_IMAGE_CHARACTERS or not _IMAGE.fullmatch(value):
        return None
    return value.removeprefix("docker:")


def _matching(pattern: re.Pattern[str]) -> Callable[[str], str | None]:
    return lambda value: value if pattern.fullmatch(value) else None


def _one_of(choices: tuple[str, ...]) -> Callable[[str], str | None]:
    return lambda value: value.lower() if value.lower() in choices else None


SWITCHES: Mapping[str, str] = {
    "--spot": "use_spot",
    "--all": "is_all",
    "--restore": "is_restoring",
    "--wait": "is_waiting",
    "--dry-run": "is_dry_run",
    "--hub": "use_hub",
    "--verbose": "is_verbose",
    "--llm": "use_llm",
    "--public": "is_public",
    "--private": "is_private",
    "--forks": "has_forks",
    "--force": "is_forced",
    "--explain": "is_explained",
    "--csv": "is_csv",
    "--availability": "asks_availability",
}
"""The field of Command that an option without a value sets."""

VALUES: Mapping[OptionKind, tuple[str, Callable[[str], object | None]]] = {
    OptionKind.DURATION: ("lease", parse_duration),
    OptionKind.PROFILE: ("profile", lambda value: value if LABEL.fullmatch(value) else None),
    OptionKind.CLOUD: ("cloud", _one_of(CLOUDS)),
    OptionKind.REGION: ("region", _matching(_REGION)),
    OptionKind.IMAGE: ("image", read_image),
    OptionKind.SHA: ("sha", lambda value: value.lower() if _SHA.fullmatch(value.lower()) else None),
    OptionKind.FORMAT: ("output_format", _one_of(OUTPUT_FORMATS)),
    OptionKind.REF: ("base", _matching(_REF)),
    OptionKind.FILE: ("output", lambda value: value or None),
    OptionKind.PRICE: (
        "price_usd_per_hour",
        lambda value: Decimal(value.removeprefix("$")) if _PRICE.fullmatch(value) else None,
    ),
    OptionKind.TABLE: ("table", lambda value: value or None),
    OptionKind.LEVEL: ("level", lambda value: int(value) if value in LEVELS else None),
    OptionKind.PIN: ("pin", _matching(_PIN)),
    OptionKind.ENDPOINT: ("llm_url", _matching(_ENDPOINT)),
    OptionKind.MODEL_NAME: ("llm_model", _matching(_MODEL_NAME)),
    OptionKind.PROJECT: ("project", read_folder_name),
    OptionKind.PATTERN: ("pattern", lambda value: value if len(value) <= 100 and value.isprintable() else None),
}
"""The field of Command that a kind fills, and its reader. Accelerators and users have ways of their own."""
