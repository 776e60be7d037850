"""Bundles of MONAI: a folder whose ``configs/metadata.json`` lists what the network needs, and whose other files there are started.

Format: MONAI's bundle specification. ``monai_version``, ``pytorch_version`` and ``numpy_version`` say what the bundle was made
with, and later ones are expected to work; ``required_packages_version`` and ``optional_packages_version`` name packages with
the least version. Bundles from before there was the former list under the latter what their readers and engines need.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any

from gpu_lol_action.analysis.files.checkout import Checkout, Source
from gpu_lol_action.analysis.files.configuration import MAX_CONFIG_BYTES
from gpu_lol_action.analysis.formats.json_text import parse_json
from gpu_lol_action.analysis.formats.paths import Form, Role
from gpu_lol_action.analysis.package_lists.package_files import Declared, clean_requirement
from gpu_lol_action.domain.finding import Evidence
from gpu_lol_action.domain.patterns import regex

_METADATA = "metadata.json"
_FOLDER = "configs"
_BASE = {"monai_version": "monai", "pytorch_version": "torch", "numpy_version": "numpy"}
_LISTS = ("required_packages_version", "optional_packages_version")
_VERSION = regex(r"\d{1,6}(?:\.\d{1,6}){0,3}")
_STARTED = regex(r"(?:train(?:ing)?|inference|infer)(?:_[a-z]\w{0,40})?\.(?:json|ya?ml)")
_TOLD = "monai.bundle"
MAX_LISTED = 100
"""Packages of one bundle: the longest list that was met has twenty."""


def bundle_packages(checkout: Checkout, configs: Sequence[Source]) -> list[Declared]:
    """Return what the bundle lists of which these are started, or that the checkout itself is; nothing elsewhere."""
    for folder in dict.fromkeys((*(source.folder for source in configs[:1]), _FOLDER)):
        source = checkout.find(f"{folder}/{_METADATA}" if folder else _METADATA)
        if source is not None and (said := _metadata(source)) is not None:
            return list(islice(_declared(source, said), MAX_LISTED))
    return []


def bundle_configs(checkout: Checkout) -> list[Source]:
    """Return what a bundle starts whose documents do not say how, the training first; empty where they do."""
    source = checkout.find(f"{_FOLDER}/{_METADATA}")
    if source is None or _metadata(source) is None:
        return []
    if any(_TOLD in page.text for page in checkout.of(Form.MARKDOWN, roles=(Role.DOCUMENTATION,))):
        return []
    beside = [each for each in checkout.of(Form.JSON, Form.YAML) if each.folder == _FOLDER]
    started = [each for each in beside if _STARTED.fullmatch(each.name)]
    return sorted(started, key=lambda each: (not each.name.startswith("train"), len(each.name), each.path))


def _metadata(source: Source) -> dict[str, Any] | None:
    """Return what a bundle says of itself; None for other people's metadata."""
    if len(source.text) > MAX_CONFIG_BYTES or "monai_version" not in source.text:
        return None
    try:
        said = parse_json(source.text)
    except (ValueError, RecursionError):
        return None
    return said if isinstance(said, dict) and isinstance(said.get("monai_version"), str) else None


def _declared(source: Source, said: dict[str, Any]) -> Iterator[Declared]:
    named = [(key, package, said.get(key)) for key, package in _BASE.items() if key in said]
    for key in _LISTS:
        listed = said.get(key)
        named += [(name, name, version) for name, version in listed.items()] if isinstance(listed, dict) else []
    for key, name, version in named:
        found = _VERSION.match(version) if isinstance(version, str) else None
        text = clean_requirement(f"{name}>={found[0]}" if found else name)
        if text is not None:
            line = source.text[: max(0, source.text.find(f'"{key}"'))].count("\n") + 1
            yield Declared(text, Evidence(source.path, line))
