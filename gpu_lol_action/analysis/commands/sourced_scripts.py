"""What a script of the checkout leaves set in the shell that reads it: ``source base_args.sh``, ``. ./env.sh``.

Its own fallbacks (``N=${N:-8}``) and branches see what is set before, as they would in that shell.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from gpu_lol_action.analysis.command_lines.container_words import is_secret
from gpu_lol_action.analysis.command_lines.shell_defaults import handed_places, is_left_open
from gpu_lol_action.analysis.commands.launch_lines import Sourcing, variables_left
from gpu_lol_action.analysis.commands.program_configs import plain_path
from gpu_lol_action.analysis.files.checkout import Checkout, Source
from gpu_lol_action.analysis.files.effort import remembered
from gpu_lol_action.analysis.formats.paths import Form, Role, sets_variables
from gpu_lol_action.domain.finding import Evidence
from gpu_lol_action.domain.patterns import regex

MAX_TEXT = 32 * 1024  # characters of a script that others read
MAX_READINGS = 100  # of one checkout: each with other variables before it
MAX_PER_SCRIPT = 10
MAX_NESTED = 2
MAX_NAMED = 5  # files of variables that one program reads
COPIED = ("example", "sample", "template", "dist", "default", "defaults")
"""What a file of variables that is to be copied is called behind its name."""
MAX_KEY = 4000
_READ = frozenset({Form.SHELL, Form.INI})  # a file of variables may be called `train.cfg`
# Up to the last sign of what tells where the script lies: `"$(dirname "$0")/env.sh"`, `${ROOT}/scripts/env.sh`.
_TAIL = regex(r"(?:^|[\s\"')}]|\$\w{1,60}/)/?((?:\.{0,2}/){0,20}\.?[\w-][\w./-]{0,200})[\"']?$")


def sourcing(checkout: Checkout, source: Source, nested: int = 0) -> Sourcing:
    """Return what answers, for this script, what another one leaves set that it reads with these variables set before."""

    def left(name: str, words: Iterable[str], variables: Mapping[str, str]) -> Mapping[str, str]:
        script = script_read(checkout, source, name)
        if script is None or script is source or len(script.text) > MAX_TEXT or nested >= MAX_NESTED:
            return {}
        given = {**variables, **handed_places(list(words)[:20])}
        known = tuple(sorted((name, value) for name, value in given.items() if name in script.text))
        if sum(len(value) for _, value in known) > MAX_KEY:
            known = ()
        return dict(_left(checkout, script.path, known, nested))

    return left


def script_read(checkout: Checkout, source: Source, name: str) -> Source | None:
    """Return the script that a line reads, or the file of variables: beside the one that reads it, at that path, or, with its folder named, where a path ends so."""
    tail = _TAIL.search(name.strip()[:400])
    if tail is None:
        return None
    beside = _read_beside(checkout, source.folder, tail[1])
    found = beside or checkout.find(plain_path(tail[1]))
    if found is None and "/" in (named := plain_path(tail[1])):
        found = checkout.find_named(named)
        found = found if found is not None and found.path.endswith("/".join(named.split("/")[-2:])) else None
    return found if found is not None and found.form in _READ else None


def _read_beside(checkout: Checkout, folder: str, name: str) -> Source | None:
    """Return the script of that name in a folder; of variables that nobody commits, what they are copied from (``.env.example``)."""
    path = plain_path(f"{folder}/{name}")
    if (found := checkout.find(path)) is not None or not sets_variables(path):
        return found
    above, _, last = path.rpartition("/")
    names = [f"{last}.{word}" for word in COPIED]
    if last == ".env":
        names += [each for word in COPIED for each in (f"env.{word}", f"{word}.env")]
    tried = (checkout.find(f"{above}/{each}".lstrip("/")) for each in names)
    return next((each for each in tried if each is not None), None)


def variables_beside(checkout: Checkout, source: Source, names: Iterable[str] = ()) -> dict[str, tuple[str, Evidence]]:
    """Return what the file of variables that a program reads sets, each with its line: what ``load_dotenv()`` puts into the environment.

    ``names``: the files that the program names; where it names none that is here, the one beside it. What several say otherwise is not told.
    """
    named = dict.fromkeys(script for name in names if (script := script_read(checkout, source, name)) is not None)
    found: dict[str, tuple[str, Evidence]] = {}
    differ: set[str] = set()
    beside = script_read(checkout, source, ".env") if not named else None
    for script in [*named][:MAX_NAMED] if beside is None else [beside]:
        for name, (value, where) in _lines_of(checkout, script).items():
            if found.setdefault(name, (value, where))[0] != value:
                differ.add(name)
    return {name: told for name, told in found.items() if name not in differ}


def _lines_of(checkout: Checkout, script: Source) -> dict[str, tuple[str, Evidence]]:
    if len(script.text) > MAX_TEXT:
        return {}
    lines: dict[str, int] = {}
    for number, line in enumerate(script.text.split("\n"), 1):
        name = line.partition("=")[0].removeprefix("export ").strip()
        lines.setdefault(name, number)
    left = _left(checkout, script.path, (), 0)
    return {name: (value, Evidence(script.path, lines.get(name, 0))) for name, value in left}


@remembered
def _left(
    checkout: Checkout, path: str, given: tuple[tuple[str, str], ...], nested: int
) -> tuple[tuple[str, str], ...]:
    script, budget = checkout.find(path), _budget(checkout)
    if script is None or not budget:
        return ()
    budget.pop()
    before = dict(given)
    after = variables_left(script, before, sourcing(checkout, script, nested + 1))
    left = {name: value for name, value in after.items() if not name.isdigit() and before.get(name) != value}
    if sets_variables(path) or script.form is Form.INI:
        left = {n: value for n, value in left.items() if not is_secret(n, value) and not is_left_open(value)}
    return tuple(left.items())


@remembered
def _budget(checkout: Checkout) -> list[None]:
    """Return what is used up by one with each reading."""
    of_variables = [s for s in checkout.of(Form.SHELL, roles=(Role.ASIDE,)) if sets_variables(s.path)]
    return [None] * min(MAX_READINGS, MAX_PER_SCRIPT * (len(checkout.of(Form.SHELL)) + len(of_variables)))
