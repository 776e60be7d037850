"""Variables that an image, or a service of Docker Compose, gives what it starts: its programs may ask the environment for them."""

from __future__ import annotations

from collections.abc import Mapping

from gpu_lol_action.analysis.files.checkout import Source
from gpu_lol_action.analysis.files.configuration import read_settings
from gpu_lol_action.analysis.files.effort import remembered
from gpu_lol_action.analysis.formats.paths import Form
from gpu_lol_action.domain.patterns import regex

_ENV = regex(r"(?mi)^[ \t]{0,20}ENV[ \t]{1,8}([^\n]{1,2000})")
_GIVEN = regex(r"([A-Za-z_]\w{0,60})=\"?([^\"\s\\]{1,300})")
_BARE = regex(r"([A-Za-z_]\w{0,60})[ \t]{1,8}([^\"\s\\=]{1,300})[ \t]{0,8}")
MAX_VARIABLES, MAX_SETTINGS = 200, 2000


def given_by_container(source: Source, line: int) -> Mapping[str, str]:
    """Return the variables by name that a Dockerfile sets, or the service whose command stands on that line of its file."""
    return _of_image(source) if source.form is Form.DOCKERFILE else _of_services(source).get(line, {})


@remembered
def _of_image(source: Source) -> Mapping[str, str]:
    found: dict[str, str] = {}
    for line in list(_ENV.finditer(source.text))[:MAX_VARIABLES]:
        bare = _BARE.fullmatch(line[1])
        found.update({bare[1]: bare[2]} if bare is not None else dict(_GIVEN.findall(line[1])))
    return found


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
