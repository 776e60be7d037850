"""The validator: one script over one SSH round trip; facts come back as JSON and are judged here.

``docs/validation.md`` has a row for each check.
"""

from __future__ import annotations

import base64
import io
import json
import re
import zipfile
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import resources

from gpu_lol_action.domain.environment import Check, CheckStatus
from gpu_lol_action.launch import probe_gpu, probe_machine, probe_packages
from gpu_lol_action.launch.probe_facts import Version, mapping, shown, version_of
from gpu_lol_action.launch.remote_scripts import build_script, check_nonce, marked_lines

_PACKAGE = "gpu_lol_probe"
_ZIP_TIME = (1980, 1, 1, 0, 0, 0)
MAX_ANSWER_CHARACTERS = 1 << 20
_KEY = re.compile(r"[a-z0-9@.-]{1,60} [A-Za-z0-9+/=]{1,8000}")


@dataclass(frozen=True, slots=True)
class ProbeRequest:
    """What the machine is held to.

    ``accelerator`` is the name under which it was rented; ``vram_required_gib`` usable GiB per GPU; ``requirements``
    the spec's, of which the packages are looked for; ``tree_id`` the commit's tree; ``keys`` the requester's public
    keys (``type base64``); ``allowed_variables`` credentials that policy sends on purpose. ``seconds`` is the time box
    of the whole program, under the policy's for the phase.
    """

    accelerator: str
    gpu_count: int
    vram_required_gib: float | None
    disk_gb: int | None
    requirements: tuple[str, ...]
    folder: str
    sha: str
    tree_id: str
    keys: tuple[str, ...] = ()
    has_setup_commands: bool = False
    allowed_variables: tuple[str, ...] = ()
    hub_url: str = "https://huggingface.co"
    is_rehearsal: bool = False
    seconds: int = 240


@dataclass(frozen=True, slots=True)
class ProbeReading:
    """Checks in the order of the table; ``packages`` with versions; ``missing`` requirements worth one repair."""

    checks: tuple[Check, ...]
    packages: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()

    @property
    def failed(self) -> tuple[Check, ...]:
        """The checks that failed."""
        return tuple(check for check in self.checks if check.status is CheckStatus.FAILED)


def build_probe_script(request: ProbeRequest, nonce: str) -> str:
    """Return the script to run on the machine; its answer is one marked line of JSON."""
    for key in request.keys:
        if not _KEY.fullmatch(key):
            raise ValueError("a key is `type base64`")
    asked = {
        "nonce": check_nonce(nonce),
        "gpu_count": request.gpu_count,
        "folder": request.folder,
        "keys": list(request.keys),
        "hub_url": request.hub_url,
        "packages": probe_packages.wanted(request.requirements),
        "allowed_variables": list(request.allowed_variables),
        "seconds": request.seconds,
        "torch_seconds": request.seconds * 0.6,
        "all_reduce_seconds": request.seconds * 0.35,
        "import_seconds": request.seconds * 0.5,
    }
    values = {
        "nonce": nonce,
        "request": base64.b64encode(json.dumps(asked).encode()).decode("ascii"),
        "archive": base64.b64encode(_archive()).decode("ascii"),
    }
    return build_script("machine_python", "probe", values=values)


def _archive() -> bytes:
    """Return the program as a zip archive that Python runs as it is; same files, same bytes."""
    out = io.BytesIO()
    folder = resources.files("gpu_lol_action").joinpath(f"launch/remote/{_PACKAGE}")
    files = {f"{_PACKAGE}/{file.name}": file.read_bytes() for file in folder.iterdir() if file.name.endswith(".py")}
    files["__main__.py"] = f"from {_PACKAGE}.run import main\n\nmain()\n".encode()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name in sorted(files):
            archive.writestr(zipfile.ZipInfo(name, _ZIP_TIME), files[name], zipfile.ZIP_DEFLATED)
    return out.getvalue()


def parse_probe_output(output: str, request: ProbeRequest, nonce: str) -> ProbeReading:
    """Judge what the machine said. No answer, or one that is no JSON, is a failed check of its own."""
    answers = marked_lines(output, "probe", nonce)
    if not answers:
        said = shown(output[-400:]) or "nothing"
        return _unreadable(f"The validator did not finish; the machine said: {said}")
    try:
        facts = mapping(json.loads(answers[0][:MAX_ANSWER_CHARACTERS]))
    except (ValueError, RecursionError):
        return _unreadable("The validator's answer is not JSON.")
    if "error" in facts or not facts:
        return _unreadable(f"The validator could not run: {shown(facts.get('error')) or 'empty answer'}.")
    return _judge(facts, request)


def _unreadable(sentence: str) -> ProbeReading:
    fix = "Run `/gpu-lol validate` again; if it stays so, take another image."
    return ProbeReading((Check("validator", CheckStatus.FAILED, sentence, fix),))


def _judge(facts: dict[str, object] | object, request: ProbeRequest) -> ProbeReading:
    said = mapping(facts)
    python: Version = version_of(mapping(said.get("python")).get("version"))
    checks: list[Check] = []
    if request.gpu_count > 0:
        expected = probe_gpu.ExpectedGpus(
            request.accelerator,
            request.gpu_count,
            request.vram_required_gib,
            is_torch_required=probe_packages.needs(request.requirements, "torch"),
        )
        checks += probe_gpu.judge(mapping(said.get("gpu")), expected)
    is_torch_broken = any(check.name == "torch" and check.status is CheckStatus.FAILED for check in checks)
    packages = probe_packages.judge(
        mapping(said.get("packages")),
        request.requirements,
        python,
        is_torch_broken=is_torch_broken,
        # Only a rehearsal may say that its torch is none: a rented machine's word on that counts for nothing.
        is_torch_stand_in=request.is_rehearsal and any(c.name == "torch" and c.is_stand_in for c in checks),
    )
    code = probe_machine.ExpectedCode(request.folder, request.sha, request.tree_id, request.has_setup_commands)
    checks += [
        *packages.checks,
        probe_machine.judge_code(mapping(said.get("code")), code),
        probe_machine.judge_disk(mapping(said.get("disk")), request.disk_gb),
        probe_machine.judge_shared_memory(mapping(said.get("shared_memory")), request.gpu_count),
        probe_machine.judge_hub(mapping(said.get("hub")), is_rehearsal=request.is_rehearsal),
        probe_machine.judge_credentials(mapping(said.get("credentials"))),
        probe_machine.judge_passwords(mapping(said.get("ssh"))),
        probe_machine.judge_keys(mapping(said.get("ssh")), len(request.keys)),
    ]
    return ProbeReading(tuple(checks), packages.installed, packages.missing)


def merge_repair(first: ProbeReading, second: ProbeReading) -> ProbeReading:
    """Return the reading after the repair, saying of the packages that were missing before that they were installed."""
    if not first.missing or second.missing:
        return second
    sentence = f"Missing at first and installed by the validator: {_names(first.missing)}."
    note = Check("repair", CheckStatus.NOTED, sentence, "Add them to the image or to `dependencies.requirements`.")
    return ProbeReading((*second.checks, note), second.packages)


def _names(requirements: Sequence[str]) -> str:
    return ", ".join(shown(requirement, 60) for requirement in requirements[:10])
