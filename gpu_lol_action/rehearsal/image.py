"""The loopback cloud's machine image: built once per recipe, kept in a cache folder, shared by every pod as a lower layer.

The folder's name is a hash of the recipe (script, suite, locked requirements), so that a changed recipe never meets an old
image. A build happens beside its place and is renamed into it, under a lock: two builders make one image, and a build that
was killed leaves nothing that looks finished.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import platform
import re
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from gpu_lol_action.errors import OperatorError
from gpu_lol_action.rehearsal.pod_files import pip_configuration

_HERE = Path(__file__).parent
_BUILD_TOOLS = {"mmdebstrap": "mmdebstrap", "chroot": "coreutils"}
_RUN_TOOLS = {
    "ip": "iproute2",
    "iptables": "iptables",
    "unshare": "util-linux",
    "setpriv": "util-linux",
    "nsenter": "util-linux",
}
_CLIENT_TOOLS = {"ssh": "openssh-client", "rsync": "rsync"}
# SkyPilot needs Python before 3.12 on the machine, so the image is the newest release of the host's family that has one.
_RELEASES = {"debian": ("bookworm", "main"), "ubuntu": ("jammy", "main,universe")}


@dataclass(frozen=True, slots=True)
class Recipe:
    """Everything the image depends on. Without a mirror, mmdebstrap takes the family's own."""

    suite: str
    components: str
    mirror: str | None
    requirements: Path
    script: Path = _HERE / "image_build.sh"

    @property
    def digest(self) -> str:
        """Hash that names the image; the mirror is left out, because it must not matter."""
        parts = [
            self.suite,
            self.components,
            platform.machine(),
            self.script.read_text(),
            self.requirements.read_text(),
        ]
        return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:16]


def missing_packages() -> list[str]:
    """Return the system packages that building and running pods lacks, by their Debian and Ubuntu names."""
    search = os.pathsep.join([os.environ.get("PATH", os.defpath), "/usr/sbin", "/sbin"])
    tools = {**_BUILD_TOOLS, **_RUN_TOOLS, **_CLIENT_TOOLS}
    return sorted({package for tool, package in tools.items() if shutil.which(tool, path=search) is None})


def parse_mirror(sources: str, family: str) -> str | None:
    """Return the URI of the family's main archive in apt's sources (one-line or deb822), or None."""
    for line in sources.splitlines():
        match = re.match(r"\s*(?:deb\s+(?:\[[^\]]*\]\s+)?|URIs:\s*)(https?://\S+|file:\S+)", line)
        if match and re.search(rf"/{family}/?$", match.group(1)):
            return match.group(1).rstrip("/")
    return None


def parse_family(os_release: str) -> str:
    """Return ``debian`` or ``ubuntu`` from the text of ``/etc/os-release``; raises OperatorError for another system."""
    fields = dict(line.split("=", 1) for line in os_release.splitlines() if "=" in line)
    words = [fields.get("ID", "").strip('"'), *fields.get("ID_LIKE", "").strip('"').split()]
    for word in words:
        if word in _RELEASES:
            return word
    raise OperatorError(
        "rehearsal_unsupported",
        f"the rehearsal's cloud builds its machines on Debian or Ubuntu, and this is {words[0] or 'an unknown system'}",
        fix="run it on Debian 12 or Ubuntu 22.04 or 24.04",
    )


def default_recipe() -> Recipe:
    """Return the recipe for this host: its family, its own mirror."""
    family = parse_family(Path("/etc/os-release").read_text())
    suite, components = _RELEASES[family]
    files = [Path("/etc/apt/sources.list"), *sorted(Path("/etc/apt/sources.list.d").glob("*"))]
    sources = "\n".join(
        file.read_text(errors="replace") for file in files if file.is_file() and file.suffix in (".list", ".sources")
    )
    return Recipe(suite, components, parse_mirror(sources, family), _requirements_file())


def _requirements_file() -> Path:
    """Return the locked requirements: beside this module in a wheel, at the top of a checkout else."""
    packed = _HERE / "pod_requirements.txt"
    return packed if packed.is_file() else _HERE.parent.parent / "requirements" / "pod.txt"


def default_cache() -> Path:
    """Return the folder for images below the user's cache directory."""
    base = os.environ.get("XDG_CACHE_HOME") or Path("~/.cache").expanduser()
    return Path(base) / "gpu-lol" / "rehearsal"


def ensure_image(cache: Path | None = None, on_progress: Callable[[str], None] = lambda _: None) -> Path:
    """Return the root folder of the image for this host, building it when the cache lacks it (about a minute and a half).

    Raises OperatorError when root or a system package is missing, or when the build fails (with the log's path).
    """
    cache = (cache or default_cache()).resolve()
    recipe = default_recipe()
    place = cache / f"image-{recipe.digest}"
    if place.is_dir():
        return place
    _check_host()
    cache.mkdir(parents=True, exist_ok=True)
    with _locked(cache / "image.lock", on_progress):
        if not place.is_dir():
            on_progress(f"building the rehearsal's machine image ({recipe.suite}) in {cache}, once")
            _build(recipe, place)
    return place


def _check_host() -> None:
    if os.geteuid() != 0:
        raise OperatorError(
            "rehearsal_needs_root",
            "the rehearsal's cloud makes namespaces and mounts, which needs root",
            fix="run it with sudo",
        )
    missing = missing_packages()
    if missing:
        raise OperatorError(
            "rehearsal_needs_packages",
            f"missing on this machine: {', '.join(missing)}",
            fix=f"apt-get install --no-install-recommends {' '.join(missing)}",
        )


@contextmanager
def _locked(path: Path, on_progress: Callable[[str], None]) -> Iterator[None]:
    with path.open("w") as handle:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            on_progress("another rehearsal is building the machine image; waiting for it")
            fcntl.flock(handle, fcntl.LOCK_EX)
        yield


def _build(recipe: Recipe, place: Path) -> None:
    for stale in place.parent.glob("building-*"):  # we hold the lock: nobody is building in there
        shutil.rmtree(stale, ignore_errors=True)
    work = Path(tempfile.mkdtemp(prefix="building-", dir=place.parent))
    work.chmod(0o755)
    log = place.parent / f"{place.name}.log"
    try:
        (work / "pip.conf").write_text(pip_configuration())
        command = [
            "bash",
            str(recipe.script),
            str(work / "root"),
            recipe.suite,
            recipe.components,
            str(recipe.requirements),
            *([recipe.mirror] if recipe.mirror else []),
        ]
        with log.open("wb") as output:
            done = subprocess.run(
                command,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                env=_build_environment(os.environ),
                check=False,
            )
        if done.returncode != 0:
            tail = log.read_text(errors="replace").splitlines()[-3:]
            raise OperatorError(
                "rehearsal_image_failed",
                "the rehearsal's machine image could not be built",
                why=" / ".join(tail),
                fix=f"less {log}",
            )
        (work / "root").rename(place)
    finally:
        shutil.rmtree(work, ignore_errors=True)


def _build_environment(environ: Mapping[str, str]) -> dict[str, str]:
    """Keep what package tools need to reach their registries, and nothing else of the caller's environment."""
    keep = ("PATH", "LANG", "TMPDIR")
    return {
        name: value
        for name, value in environ.items()
        if name in keep
        or name.lower().endswith("_proxy")
        or name.startswith(
            (
                "PIP_INDEX",
                "PIP_EXTRA_INDEX",
                "PIP_TRUSTED",
                "PIP_TIMEOUT",
                "PIP_DEFAULT_TIMEOUT",
                "UV_INDEX",
                "UV_DEFAULT_INDEX",
                "UV_EXTRA_INDEX",
                "UV_HTTP",
            )
        )
    } | {"PATH": os.pathsep.join([environ.get("PATH", os.defpath), "/usr/sbin", "/sbin"])}
