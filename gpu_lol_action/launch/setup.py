"""What is installed on a machine, in which order, and how its output is read.

Order: environment, system packages, asset links, requirements, set-up commands. The first step that fails ends it.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from gpu_lol_action.domain.environment import Check, PhaseTime
from gpu_lol_action.domain.redaction import redact
from gpu_lol_action.domain.request import Deny
from gpu_lol_action.domain.spec import Dependencies
from gpu_lol_action.launch.build_order import order_builds
from gpu_lol_action.launch.remote_scripts import build_script, check_nonce, marked_lines, quote
from gpu_lol_action.launch.requirements import check_requirement, check_system_package
from gpu_lol_action.launch.setup_notes import read_notes

_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,99}")
# Shells and loaders act on these before any program runs: a login could be locked out by them.
_RESERVED = frozenset({"BASH_ENV", "ENV", "HOME", "IFS", "LD_LIBRARY_PATH", "LD_PRELOAD", "PATH", "SHELLOPTS", "USER"})
_LINK_END = re.compile(r"(?:/|~/)[^\x00-\x1f\x7f:]{1,300}")
_TAIL_LINES = 25
_STEP_LABELS = {
    "environment": "environment variables",
    "system_packages": "system packages",
    "asset_links": "asset links",
    "requirements": "requirements",
}


@dataclass(frozen=True, slots=True)
class SetupRequest:
    """What to install. ``env`` is the spec's ``env:``; ``facts`` become ``GPU_LOL_*`` variables; ``folder`` holds the code."""

    dependencies: Dependencies
    folder: str
    env: Mapping[str, str]
    facts: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class SetupStep:
    """One step: ``exit_code`` None when it did not end; ``tail`` is the end of what it said, redacted."""

    name: str
    seconds: float
    exit_code: int | None
    tail: tuple[str, ...]

    @property
    def label(self) -> str:
        """Return the step's name for people."""
        return _STEP_LABELS.get(self.name, self.name.replace("_", " "))


@dataclass(frozen=True, slots=True)
class SetupReading:
    """How set-up went. ``failed`` is the step that ended it, with ``fix`` for it; None when all is done.

    ``notes`` tell of the requirements that were installed in another way than they are asked for.
    """

    steps: tuple[SetupStep, ...]
    failed: SetupStep | None = None
    fix: str = ""
    what: str = ""
    notes: tuple[Check, ...] = ()

    @property
    def phases(self) -> tuple[PhaseTime, ...]:
        """Return the time of each step."""
        return tuple(PhaseTime(step.name, step.seconds) for step in self.steps)


def check_setup(request: SetupRequest) -> Deny | None:
    """Return a denial for the first value that may not reach the machine, naming its key, or None."""
    dependencies = request.dependencies
    for key, values, check in (
        ("dependencies.requirements", dependencies.requirements, check_requirement),
        ("dependencies.system_packages", dependencies.system_packages, check_system_package),
        ("dependencies.asset_links", dependencies.asset_links, _check_link),
        ("dependencies.setup_commands", dependencies.setup_commands, _check_command),
        ("env", tuple(request.env), _check_variable),
    ):
        for value in values:
            why = check(value)
            if why is not None:
                fix = f"Correct `{key}` in `.gpu-lol.yaml`; what needs an option of an installer goes into `dependencies.setup_commands`."
                return Deny(
                    "dependency_invalid", f"`{key}` holds `{redact(value)[:80]}`.", f"It is refused: {why}.", fix
                )
    return None


def _check_link(value: str) -> str | None:
    source, colon, target = value.partition(":")
    if not colon or not _LINK_END.fullmatch(source) or not _LINK_END.fullmatch(target):
        return "a link is `/from:/to`, both absolute or under `~/`"
    if ".." in [*source.split("/"), *target.split("/")]:
        return "`..` does not belong into a link"
    if target.rstrip("/").count("/") < 2:
        return "it would replace a folder of the system"
    return None


def _check_command(value: str) -> str | None:
    return (
        "it is empty, longer than 8000 characters, or holds NUL"
        if not 0 < len(value.strip()) <= 8000 or "\0" in value
        else None
    )


def _check_variable(name: str) -> str | None:
    if not _VARIABLE.fullmatch(name):
        return "it is no name of an environment variable"
    if name in _RESERVED or name.startswith("GPU_LOL_"):
        return "that variable belongs to the machine"
    return None


def build_setup_script(request: SetupRequest, nonce: str) -> str:
    """Return the set-up script; raises ValueError for a request that :func:`check_setup` denies."""
    _refuse_unchecked(request)
    dependencies = request.dependencies
    return _build(
        nonce,
        mode="setup",
        folder=request.folder,
        environment_file=build_environment_file(request),
        system_packages=" ".join(dependencies.system_packages),
        **_requirement_lists(dependencies.requirements),
        asset_links="\n".join(link.replace(":", "\t", 1) for link in dependencies.asset_links),
        setup_commands="\n".join(
            base64.b64encode(c.encode("utf-8", "replace")).decode() for c in dependencies.setup_commands
        ),
    )


def build_repair_script(requirements: Sequence[str], nonce: str) -> str:
    """Return the script that installs missing packages once, before the validator looks again."""
    _refuse_unchecked(SetupRequest(Dependencies(requirements=tuple(requirements)), "", {}, {}))
    return _build(nonce, mode="repair", **_requirement_lists(requirements))


def _requirement_lists(requirements: Sequence[str]) -> dict[str, str]:
    order = order_builds(requirements)
    return {
        "requirements": "\n".join(order.first),
        "last_requirements": "\n".join(order.last),
        "constraints": "\n".join(order.constraints),
    }


def _refuse_unchecked(request: SetupRequest) -> None:
    denial = check_setup(request)
    if denial is not None:
        raise ValueError(f"{denial.what} {denial.why}")


def _build(nonce: str, **values: str) -> str:
    names = ("folder", "environment_file", "system_packages", "requirements", "last_requirements", "constraints", "asset_links",
             "setup_commands")  # fmt: skip
    return build_script(
        "apt",
        "machine_python",
        "machine_inventory",
        "held",
        "installer",
        "setup",
        values={**dict.fromkeys(names, ""), **values, "nonce": check_nonce(nonce)},
    )


def build_environment_file(request: SetupRequest) -> str:
    """Return the shell file with the spec's variables, ours, and where models are cached.

    The cache goes to the large volume where the platform mounts one (RunPod: /workspace), unless the spec says otherwise.
    """
    lines = [f"export {name}={quote(value)}" for name, value in sorted(request.env.items())]
    lines += [f"export GPU_LOL_{name.upper()}={quote(value)}" for name, value in sorted(request.facts.items())]
    lines.append("export GPU_LOL=1")
    lines.append(
        'if [ -z "${HF_HOME:-}" ]; then '
        "if mountpoint -q /workspace 2>/dev/null; then export HF_HOME=/workspace/huggingface; "
        'else export HF_HOME="$HOME/.cache/huggingface"; fi; fi'
    )
    return "\n".join(lines)


def parse_setup_output(output: str, nonce: str, commands: Sequence[str] = ()) -> SetupReading:
    """Read the script's output; ``commands`` are the spec's set-up commands, so that a failing one can be named."""
    marker = f"::gpu-lol-setup {nonce} "
    steps: list[SetupStep] = []
    name, tail = "", list[str]()
    for line in output.splitlines():
        if not line.startswith(marker):
            tail.append(line)
            continue
        words = line[len(marker) :].split()
        if words[:1] == ["start"] and len(words) == 2:
            name, tail = words[1], []
        elif (
            words[:1] == ["end"] and len(words) == 4 and words[1] == name and words[2].isdigit() and words[3].isdigit()
        ):
            steps.append(SetupStep(name, float(words[3]), int(words[2]), _clean_tail(tail)))
            name = ""
    if name:
        steps.append(SetupStep(name, 0.0, None, _clean_tail(tail)))
    failed = next((step for step in steps if step.exit_code != 0), None)
    marked = marked_lines(output, "setup", nonce)
    if failed is None and "done" in marked:
        return SetupReading(tuple(steps), notes=read_notes(marked))
    if failed is None:
        failed = SetupStep("setup", 0.0, None, _clean_tail(tail))
    return SetupReading(tuple(steps), failed, _fix(failed), _what(failed, commands))


def parse_setup_progress(line: str, nonce: str) -> str | None:
    """Return the name of the step that a line of output begins, or None for any other line."""
    found = marked_lines(line, "setup", nonce)
    return found[0].removeprefix("start ") if found and found[0].startswith("start ") else None


def _clean_tail(lines: Sequence[str]) -> tuple[str, ...]:
    kept = [line for line in redact("\n".join(lines[-4 * _TAIL_LINES :])).splitlines() if line.strip()]
    return tuple(line[:400] for line in kept[-_TAIL_LINES:])


def _what(step: SetupStep, commands: Sequence[str]) -> str:
    number = step.name.removeprefix("command_")
    ended = "did not end" if step.exit_code is None else f"ended with exit code {step.exit_code}"
    if number.isdigit() and 0 < int(number) <= len(commands):
        return f"The set-up command `{redact(commands[int(number) - 1])[:120]}` {ended}."
    return f"The set-up step {step.label} {ended}."


_FIXES = (
    (r"\(from versions: none\)|not found in the package registry", "The index has nothing of that name for this image's Python: correct the name, or install it from its repository (`name @ git+https://...`)."),
    (r"No matching distribution found|Could not find a version|no version of", "That version exists for no Python of this image; ask for another version, or another image."),
    (r"No space left on device", "Ask for more disk: `hardware.disk_gb` in `.gpu-lol.yaml`."),
    (r"Unable to locate package", "apt does not know that name in this image; correct `dependencies.system_packages`."),
    (r"ResolutionImpossible|conflicting dependencies|No solution found", "The requirements contradict each other; the lines above name them."),
    (r"Temporary failure in name resolution|Network is unreachable|Read timed out|Max retries", "The machine could not reach the package index; try again."),
    (r"command not found", "That program is not in the image; add its package to `dependencies.system_packages`."),
    (r"nvcc|CUDA_HOME", "Building it needs the CUDA toolkit: take an image whose tag says `devel`."),
)  # fmt: skip


def _fix(step: SetupStep) -> str:
    text = "\n".join(step.tail)
    for pattern, fix in _FIXES:
        if re.search(pattern, text):
            return fix
    if step.exit_code is None:
        return "Set-up took longer than it may: bake long steps into an image, or start them yourself on the machine."
    return "Run the step in the image on your own machine, or correct `dependencies` in `.gpu-lol.yaml`."
