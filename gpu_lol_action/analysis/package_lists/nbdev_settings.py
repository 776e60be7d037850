"""What the settings.ini of an nbdev project asks for: its setup.py is the same in all of them, and takes its lists from there."""

from __future__ import annotations

from itertools import islice

from gpu_lol_action.analysis.files.checkout import Source
from gpu_lol_action.analysis.files.configuration import MAX_CONFIG_BYTES
from gpu_lol_action.analysis.package_lists.package_files import (
    MAX_DECLARED,
    clean_requirement,
    package_name,
    placed,
)
from gpu_lol_action.analysis.package_lists.project_files import Project
from gpu_lol_action.analysis.package_lists.project_sources import Named

SETTINGS = "settings.ini"
_REQUIRED = ("requirements", "pip_requirements")
_FOR_DEVELOPMENT = "dev_requirements"


def read_nbdev_settings(source: Source) -> Project:
    """Read ``requirements``, ``pip_requirements`` and ``min_python``; an empty project where it is no settings file of nbdev.

    Requirements stand between spaces and may be quoted, as a shell's words. ``conda_requirements`` name the same once more. Source:
    nbdev's settings as its documentation lists them (``lib_name`` is the one that every project has).
    """
    import configparser

    if len(source.text) > MAX_CONFIG_BYTES:
        return Project()
    parser = configparser.ConfigParser(delimiters=["="], interpolation=None, strict=False)
    try:
        parser.read_string(source.text)
    except (configparser.Error, ValueError):
        return Project()
    said = parser.defaults()
    if "lib_name" not in said:
        return Project()
    found: list[Named] = [(word, "") for key in _REQUIRED for word in _words(said.get(key, ""))]
    found += [(word, "dev") for word in _words(said.get(_FOR_DEVELOPMENT, ""))]
    clean = ((text, group) for text, group in found if clean_requirement(text))
    declared = tuple(placed(source, text, group, is_library=True) for text, group in islice(clean, MAX_DECLARED))
    python = said.get("min_python", "").strip()[:20]
    return Project(
        declared, (), package_name(said["lib_name"]), f">={python}" if python else "", is_installable=bool(declared)
    )


def _words(value: str) -> list[str]:
    """Return a setting's words as a shell takes them apart; those between spaces where a quote stays open."""
    import shlex

    text = value.replace("\\\n", " ").replace("\n", " ")
    try:
        return shlex.split(text)
    except ValueError:
        return text.split()
