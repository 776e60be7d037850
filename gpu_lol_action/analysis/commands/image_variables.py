"""Variables that an image's own command is given from outside: by Docker Compose, by the line that runs the image, by a pod.

``docker build -t lab .`` and ``docker run -e MODEL=a/b --env-file run.env lab`` start what the image's file says, with these variables.
"""

from __future__ import annotations

import functools
import itertools
import re
from collections.abc import Mapping, Sequence

from gpu_lol_action.analysis.command_lines.container_words import is_secret, words_of_run
from gpu_lol_action.analysis.command_lines.launch_tools import split_words
from gpu_lol_action.analysis.commands.container_lines import given_to_image, given_to_pod
from gpu_lol_action.analysis.commands.image_lines import own_words
from gpu_lol_action.analysis.commands.launch_lines import NOTHING, Sourcing, substitute
from gpu_lol_action.analysis.commands.sourced_scripts import sourcing
from gpu_lol_action.analysis.files.checkout import Checkout, Source
from gpu_lol_action.analysis.files.effort import remembered
from gpu_lol_action.analysis.formats.paths import Form, Role, joined
from gpu_lol_action.domain.patterns import regex

MAX_COMPOSED, _COMPOSES = 5, ("docker-compose", "compose")
MAX_SOURCES, MAX_RUNS, MAX_COMMAND = 40, 20, 2000
_BUILT = regex(r"\b(?:docker|podman) (?:buildx )?build [^\n]{0,300}?(?:-t|--tag)[ =]([\w./:-]{1,120})(?:[^\n]{0,200}[ \t])?[ \t]*([\w./\"'-]{1,120})[ \t]*$", re.MULTILINE)  # fmt: skip
_RUN = regex(
    r"(?m)^[ \t$>]{0,8}(?:sudo )?(?:docker|podman) (?:container )?run (?:[^\n\\]|\\[^\n]){1,600}(?:\\\n(?:[^\n\\]|\\[^\n]){0,300}){0,30}"
)


def composed_variables(checkout: Checkout, image: Source) -> Mapping[str, str]:
    """Return what an image's own command is given from outside; nothing for other files."""
    if image.form is not Form.DOCKERFILE:
        return NOTHING
    composed = [each for each in checkout.of(Form.YAML) if each.name.startswith(_COMPOSES)]
    for source in composed[:MAX_COMPOSED]:
        if source.mentions("services:") and source.mentions("build") and source.mentions("env"):
            read = functools.partial(_read, sourcing(checkout, source))
            if given := given_to_image(source, substitute, read, image, own_words(image)):
                return given
    if len(checkout.of(Form.DOCKERFILE)) > 1:
        return NOTHING  # of several images nobody tells which is meant
    return _given_by_runs(checkout, image) or _given_by_pods(checkout, image)


def _read(left: Sourcing, name: str) -> Mapping[str, str]:
    return left(name, (), NOTHING)


@remembered
def _given_by_runs(checkout: Checkout, image: Source) -> Mapping[str, str]:
    """Return what lines that run an image which lines here build give it, where all that run it say a variable, and the same."""
    sources = checkout.of(Form.MARKDOWN, Form.SHELL, roles=(Role.WORKLOAD, Role.DOCUMENTATION))[:MAX_SOURCES]
    built = _tags(checkout, image)
    runs = [
        dict(given)
        for source in sources
        if built and source.mentions("run ")
        for found in itertools.islice(_RUN.finditer(source.text), MAX_RUNS)
        if (given := _given(checkout, source, found[0][:MAX_COMMAND], built)) is not None
    ]
    return _said_by_all(runs)


def _said_by_all(said: Sequence[Mapping[str, str]]) -> Mapping[str, str]:
    """Return the variables that all give, and give alike."""
    first = said[0] if said else NOTHING
    return {name: value for name, value in first.items() if all(each.get(name) == value for each in said)}


@remembered
def _tags(checkout: Checkout, image: Source) -> frozenset[str]:
    """Return what lines here call the image that they build from the folder of this file."""
    sources = checkout.of(Form.MARKDOWN, Form.SHELL, roles=(Role.WORKLOAD, Role.DOCUMENTATION))[:MAX_SOURCES]
    found = [
        (name, joined(base, context.strip("\"'")))
        for source in sources
        if source.mentions("build ")
        for name, context in _BUILT.findall(source.text)[:MAX_RUNS]
        for base in ("", source.folder)
    ]
    return frozenset(name for name, folder in found if folder == image.folder)


def _given(checkout: Checkout, source: Source, line: str, built: frozenset[str]) -> list[tuple[str, str]] | None:
    """Return the variables of one line, its files' first, where it runs such an image's own command; None where it does not."""
    words = split_words(line.replace("\\\n", " ").strip(" \t$>"))
    run = words_of_run(words)
    if run is None or run.image not in built or run.rest:
        return None
    own = {name for name, _ in run.given}
    read = sourcing(checkout, source)
    of_files = [
        pair for name in run.files[:MAX_COMPOSED] for pair in read(name, (), NOTHING).items() if pair[0] not in own
    ]
    return of_files + [(name, value) for name, value in run.given if not is_secret(name, value) and "$" not in value]


def _given_by_pods(checkout: Checkout, image: Source) -> Mapping[str, str]:
    """Return what pods' containers that start what their images do are given: alike by all, and of images called as this one is, where lines here call it."""
    pods = (s for s in checkout.of(Form.YAML)[:MAX_SOURCES] if s.mentions("containers:") and s.mentions("env:"))
    tags = {name.rpartition("/")[2].partition(":")[0] for name in _tags(checkout, image)}
    return _said_by_all([given for source in pods if (given := given_to_pod(source, tags))])
