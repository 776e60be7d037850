"""The image: the repository's own Dockerfile where it has a GPU image, else what versions and packages ask for."""

from __future__ import annotations

import re
from collections.abc import Mapping

from gpu_lol_action.analysis.checkout import Checkout
from gpu_lol_action.analysis.packages import declared_packages, package_name
from gpu_lol_action.analysis.paths import Form, Role
from gpu_lol_action.domain.finding import Confidence, Evidence, Finding
from gpu_lol_action.estimation.compatibility import is_gpu_image

_FROM = re.compile(r"^\s*FROM\s+(?:--platform=\S+\s+)?(\S+)", re.IGNORECASE)
_IMAGE = re.compile(r"[a-z0-9][\w./:@-]{1,200}", re.IGNORECASE)
_PYTHON = re.compile(r"(?:>=|==|~=|\^)?\s*(3\.\d{1,2})")


def detect(checkout: Checkout) -> list[Finding]:
    """Return the image that a Dockerfile starts from, pinned versions of frameworks, and the Python that is asked for."""
    return [*_dockerfiles(checkout), *_versions(checkout), *_python(checkout)]


def _dockerfiles(checkout: Checkout) -> list[Finding]:
    """Return the last GPU image among the stages of the shallowest Dockerfile; variables are filled from its own ARGs."""
    for source in checkout.of(Form.DOCKERFILE):
        arguments = dict(re.findall(r"^[ \t]*ARG[ \t]+(\w+)=[\"']?([^\s\"']+)", source.text, re.MULTILINE))
        for number, line in reversed(list(enumerate(source.text.split("\n"), 1))):
            match = _FROM.match(line)
            if not match:
                continue
            image = _filled(match[1], arguments)
            if is_gpu_image(image) and _IMAGE.fullmatch(image) and ":" in image:
                where = Evidence(source.path, number)
                return [
                    Finding("environment.base_image", image, "the Dockerfile starts from it", Confidence.HIGH, where)
                ]
    return []


def _filled(text: str, arguments: Mapping[str, str]) -> str:
    return re.sub(r"\$\{?(\w+)\}?", lambda found: arguments.get(found[1], found[0]), text)


def _versions(checkout: Checkout) -> list[Finding]:
    found = []
    for item in declared_packages(checkout):
        name = package_name(item.requirement)
        if item.is_optional or name not in {"torch", "tensorflow", "tensorflow-gpu", "vllm"}:
            continue
        version = re.search(r"(==|~=|>=)\s*(\d+(?:\.\d+)*)", item.requirement)
        field = f"framework.{name.removesuffix('-gpu')}"
        value = f"{'==' if version[1] == '==' else '>='}{version[2]}" if version else ""
        found.append(Finding(field, value, f"`{item.requirement}` is asked for", Confidence.HIGH, item.evidence))
    return found


def _python(checkout: Checkout) -> list[Finding]:
    """Return the least Python that pyproject.toml or .python-version asks for."""
    for source in checkout.of(Form.TOML, roles=(Role.PACKAGES,)):
        for number, line in enumerate(source.text.split("\n"), 1):
            if re.match(r"\s*(?:requires-python|python)\s*=", line) and (found := _PYTHON.search(line)):
                where = Evidence(source.path, number)
                return [
                    Finding(
                        "environment.least_python", found[1], f"Python {found[1]} is the least", Confidence.HIGH, where
                    )
                ]
    return []
