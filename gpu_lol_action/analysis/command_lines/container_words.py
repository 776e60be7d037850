"""What a container is given on its command line: the variables behind ``docker run -e`` are its program's own."""

from __future__ import annotations

import re

from gpu_lol_action.domain.patterns import regex
from gpu_lol_action.domain.records import record

_ENGINES = frozenset({"docker", "podman", "nvidia-docker", "nerdctl"})
_ASSIGNED = regex(r"([A-Za-z_]\w{0,60})=([\w./:@+-]{1,200})")
# Options of a container's engine that no value follows; all others take one.
_SWITCHES = frozenset(
    {"--rm", "-it", "-ti", "-i", "-t", "-d", "-dit", "-itd", "--detach", "--interactive", "--tty", "--privileged", "--init",
     "--read-only", "--no-healthcheck", "-P", "--publish-all", "--oom-kill-disable"}
)  # fmt: skip
_MOST_BEFORE, _MOST_WORDS = 6, 80
# What opens something, and is nothing of a run's size: `MAX_TOKENS` is, `HF_TOKEN` is not.
_SECRET = regex(
    r"(?:KEY|TOKEN|SECRET|PASS|PASSWORD|PASSWD|PWD|CREDENTIALS?|DSN|WEBHOOK|AUTH)(?:_|$)|(?:^|_)WEBHOOK",
    re.IGNORECASE,
)
_OPENING = regex(r"(?:sk|hf|ghp|gho|pat|xox[a-z]|glpat)[-_]\w{8,}|AKIA\w{8,}")


# `postgresql://user:password@host`, `https://token@host`: as far as the host, which may be shown.
_IN_ADDRESS = regex(r"://[^/\s@\"']{1,200}@")
_HANDED = regex(
    r"(?i)(--?[\w-]{0,40}(?:key|token|secret|password|passwd|pass|auth|credentials?|dsn|webhook)(?:=|\s{1,4}))(?![-$])(\"[^\"\n]{0,400}\"|'[^'\n]{0,400}'|[^\s\"']{1,400})"
)
_SET = regex(r"(?<![\w-])([A-Za-z_]\w{0,60})=(\"[^\"\n]{0,400}\"|'[^'\n]{0,400}'|[^\s\"']{1,400})")
# Addresses of databases and services hold what opens them in many ways.
_ADDRESS = regex(r"(?i)(?:^|_)(?:URL|URI|DSN)$")
HIDDEN = "***"


def is_secret(name: str, value: str) -> bool:
    """Whether a variable is for opening something: it says nothing of a run, and is never shown."""
    return (
        _SECRET.search(name) is not None or _OPENING.match(value) is not None or _IN_ADDRESS.search(value) is not None
    )


def _shown(found: re.Match[str]) -> str:
    is_hidden = is_secret(found[1], found[2].strip("\"'")) or _ADDRESS.search(found[1]) is not None
    return f"{found[1]}={HIDDEN}" if is_hidden else found[0]


def without_secrets(command: str) -> str:
    """Return a command as it may be shown: what opens something is hidden, wherever it stands and whatever it is called."""
    shown = _HANDED.sub(lambda found: f"{found[1]}{HIDDEN}", command)
    shown = _SET.sub(_shown, shown)
    return _OPENING.sub(HIDDEN, _IN_ADDRESS.sub(f"://{HIDDEN}@", shown))


@record(frozen=True, slots=True)
class ContainerRun:
    """The words of ``docker run``: variables and files of variables that it gives, its image, and the command behind that."""

    given: tuple[tuple[str, str], ...]
    files: tuple[str, ...]
    image: str
    rest: tuple[str, ...]


def words_of_run(words: list[str]) -> ContainerRun | None:
    """Return what a line runs as a container; None for other lines."""
    place = next((at for at, word in enumerate(words[:_MOST_BEFORE]) if word in _ENGINES), None)
    if place is None or "run" not in words[place + 1 : place + 3]:
        return None
    at = words.index("run", place) + 1
    given, files = list[tuple[str, str]](), list[str]()
    while at < min(len(words), place + _MOST_WORDS) and words[at].startswith("-"):
        name, equals, value = words[at].partition("=")
        value = value if equals else next(iter(words[at + 1 : at + 2]), "")
        if name in {"-e", "--env"} and "=" in value:
            variable, _, said = value.partition("=")
            given.append((variable, said))
        elif name == "--env-file":
            files.append(value)
        elif name == "--entrypoint":
            return None  # another program of the image
        at += 1 if equals or name in _SWITCHES else 2
    return ContainerRun(tuple(given), tuple(files), next(iter(words[at : at + 1]), ""), tuple(words[at + 1 :]))


def with_variables_in_front(words: list[str]) -> list[str]:
    """Return a command's words with what its container is given as variables in front of them (``docker run -e MODEL=a/b image serve``)."""
    place = next((at for at, word in enumerate(words[:_MOST_BEFORE]) if word in _ENGINES), None)
    if place is None or "run" not in words[place + 1 : place + 3]:
        return words
    at = words.index("run", place) + 1
    given, kept = list[str](), words[:at]
    while at < min(len(words), place + _MOST_WORDS) and words[at].startswith("-"):
        name, equals, value = words[at].partition("=")
        taken = 1 if equals or name in _SWITCHES else 2
        if name not in {"-e", "--env"}:
            kept += words[at : at + taken]
        else:
            found = _ASSIGNED.fullmatch(value if equals else next(iter(words[at + 1 : at + 2]), ""))
            if found is not None and not is_secret(found[1], found[2]):
                given.append(found[0])
        at += taken
    return [*given, *kept, *words[at:]]
