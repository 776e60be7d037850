"""Variables that an image's own command is given from outside: by Docker Compose, by the line that runs the image, by a pod.

``docker build -t lab .`` and ``docker run -e MODEL=a/b --env-file run.env lab`` start what the image's file says, with these variables.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Iterator, Mapping

from gpu_lol_action.analysis.command_lines.container_words import is_secret, words_of_run
from gpu_lol_action.analysis.command_lines.launch_tools import split_words
from gpu_lol_action.analysis.commands.container_lines import given_to_image, given_to_pod
from gpu_lol_action.analysis.commands.launch_lines import NOTHING, Sourcing, substitute
from gpu_lol_action.analysis.commands.sourced_scripts import sourcing
from gpu_lol_action.analysis.files.checkout import Checkout, Source
from gpu_lol_action.analysis.files.effort import remembered
from gpu_lol_action.analysis.formats.paths import Form, Role
from gpu_lol_action.domain.patterns import regex

MAX_COMPOSED, _COMPOSES = 5, ("docker-compose", "compose")
MAX_SOURCES, MAX_RUNS, MAX_COMMAND = 40, 20, 2000
_BUILT = regex(r"\b(?:docker|podman) (?:buildx )?build [^\n]{0,300}?(?:-t|--tag)[ =]([\w./:-]{1,120})")
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
            if given := given_to_image(source, substitute, read, image):
                return given
    if len(checkout.of(Form.DOCKERFILE)) > 1:
        return NOTHING  # of several images nobody tells which is meant
    return _given_by_runs(checkout) or _given_by_pods(checkout)


def _read(left: Sourcing, name: str) -> Mapping[str, str]:
    return left(name, (), NOTHING)


@remembered
def _given_by_runs(checkout: Checkout) -> Mapping[str, str]:
    """Return what lines that run an image which lines here build give it, where all that say a variable say the same."""
    sources = checkout.of(Form.MARKDOWN, Form.SHELL, roles=(Role.WORKLOAD, Role.DOCUMENTATION))[:MAX_SOURCES]
    sources = tuple(source for source in sources if source.mentions("run ") and source.mentions("build "))
    built = {name for source in sources for name in _BUILT.findall(source.text)[:MAX_RUNS]}
    told: dict[str, set[str]] = {}
    for source in sources if built else ():
        for found in itertools.islice(_RUN.finditer(source.text), MAX_RUNS):
            for name, value in _given(checkout, source, found[0][:MAX_COMMAND], built):
                told.setdefault(name, set()).add(value)
    return {name: values.pop() for name, values in told.items() if len(values) == 1}


def _given(checkout: Checkout, source: Source, line: str, built: set[str]) -> Iterator[tuple[str, str]]:
    """Yield the variables of one line, its files' first, where it runs such an image's own command."""
    words = split_words(line.replace("\\\n", " ").strip(" \t$>"))
    run = words_of_run(words)
    if run is None or run.image not in built or run.rest:
        return
    own = {name for name, _ in run.given}
    for name in run.files[:MAX_COMPOSED]:
        yield from (pair for pair in sourcing(checkout, source)(name, (), NOTHING).items() if pair[0] not in own)
    yield from ((name, value) for name, value in run.given if not is_secret(name, value) and "$" not in value)


def _given_by_pods(checkout: Checkout) -> Mapping[str, str]:
    """Return what a pod's only container that starts what its image does is given."""
    pods = (s for s in checkout.of(Form.YAML)[:MAX_SOURCES] if s.mentions("containers:") and s.mentions("env:"))
    return next((given for source in pods if (given := given_to_pod(source))), NOTHING)
