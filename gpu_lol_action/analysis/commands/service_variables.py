"""Variables that a service of Docker Compose gives what it starts: its programs may ask the environment for them."""

from __future__ import annotations

from collections.abc import Mapping

from gpu_lol_action.analysis.files.checkout import Source
from gpu_lol_action.analysis.files.configuration import read_settings
from gpu_lol_action.analysis.files.effort import remembered
from gpu_lol_action.analysis.formats.paths import Form
from gpu_lol_action.domain.patterns import regex

_GIVEN = regex(r"([A-Za-z_]\w{0,60})=\"?([^\"\s\\]{1,300})")
MAX_SETTINGS = 2000


def given_by_service(source: Source, line: int) -> Mapping[str, str]:
    """Return the variables by name of the service whose command stands on that line of its file."""
    return _of_services(source).get(line, {})


@remembered
def _of_services(source: Source) -> Mapping[int, Mapping[str, str]]:
    """Return the variables of each service of Docker Compose, by the lines on which its command begins."""
    if source.form is not Form.YAML or not source.mentions("environment"):
        return {}
    services: dict[str, dict[str, str]] = {}
    lines: dict[int, str] = {}
    for setting in read_settings(source)[:MAX_SETTINGS]:
        owner, _, key = setting.path.rpartition(".")
        if key in {"command", "args", "entrypoint", "image"}:
            lines.setdefault(setting.evidence.line, owner)
        elif key == "environment" and (given := _GIVEN.fullmatch(setting.text)) is not None:
            services.setdefault(owner, {})[given[1]] = given[2]
        elif owner.endswith(".environment"):
            services.setdefault(owner.removesuffix(".environment"), {})[key.upper()] = setting.text
    return {line: services[owner] for line, owner in lines.items() if owner in services}
