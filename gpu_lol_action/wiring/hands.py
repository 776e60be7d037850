"""The hands of both doors: cloud and shell by the derived key, and the few facts that they are built from."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from gpu_lol_action.adapters.clock import SystemClock
from gpu_lol_action.domain.names import user_hash
from gpu_lol_action.errors import OperatorError

if TYPE_CHECKING:
    from gpu_lol_action.handlers.ports import Cloud, Shell
    from gpu_lol_action.handlers.ports_lookups import Market

KEY_VERSION = 1

# Variables that only a rehearsal sets: where its stand-ins live.
REHEARSAL_VARIABLES = ("RUNPOD_API_BASE_URL",)


def market_of(keys: Mapping[str, str], environ: Mapping[str, str]) -> Callable[[], Market]:
    """Return what asks the clouds themselves; nothing is loaded before it is asked to."""

    def market() -> Market:
        from gpu_lol_action.adapters.cloud_market import CloudMarket

        home = environ.get("RUNPOD_API_BASE_URL", "")
        return CloudMarket(SystemClock().now, keys, {"runpod": home} if home else {})

    return market


@dataclass(slots=True)
class Hands:
    """Builds the heavy adapters on first use and ends them with the run."""

    repository_id: int
    cloud_keys: Mapping[str, str]
    environ: Mapping[str, str]
    home: Path
    closing: ExitStack = field(default_factory=ExitStack)
    _cloud: Cloud | None = None
    _shell: Shell | None = None
    _beside: int = 0

    def cloud(self) -> Cloud:
        """Return SkyPilot in its child process; nothing is started before it is asked to."""
        if self._cloud is None:
            self._cloud = self._cloud_in(self.home)
        return self._cloud

    def another_cloud(self) -> Callable[[], Cloud]:
        """Return a SkyPilot beside the others, in a home of its own, for a launch at the same time; made on first use."""
        self._beside += 1
        home = self.home / f"beside-{self._beside}"
        catalogs = Path(".sky", "catalogs")
        if (self.home / catalogs).is_dir():
            # What lies there already is not fetched once more for each.
            shutil.copytree(self.home / catalogs, home / catalogs, dirs_exist_ok=True)
        made: list[Cloud] = []

        def cloud() -> Cloud:
            if not made:
                made.append(self._cloud_in(home))
            return made[0]

        return cloud

    def _cloud_in(self, home: Path) -> Cloud:
        from gpu_lol_action.adapters.skypilot import SkyPilotCloud
        from gpu_lol_action.adapters.skypilot_home import SkyPilotSettings

        pair = self.key_pair()
        settings = SkyPilotSettings(
            home=home,
            user_hash=user_hash(self.repository_id),
            cloud_keys=self.cloud_keys,
            private_key_pem=pair[0],
            public_key_line=pair[1],
            environment={name: self.environ[name] for name in REHEARSAL_VARIABLES if name in self.environ},
        )
        cloud = SkyPilotCloud(settings, self.environ, SystemClock().now)
        self.closing.callback(cloud.close)
        return cloud

    def shell(self) -> Shell:
        """Return SSH with the derived key."""
        if self._shell is None:
            from gpu_lol_action.adapters.ssh import OpenSsh

            shell = OpenSsh(self.key_pair()[0])
            self.closing.callback(shell.close)
            self._shell = shell
        return self._shell

    def key_pair(self) -> tuple[bytes, str]:
        """Return the private (PEM) and the public key of this repository's machines."""
        from gpu_lol_action.launch.keys import derive_key_pair

        # GPU_LOL_SECRET serves cloud logins that have no key of their own (OIDC).
        secret = self.environ.get("GPU_LOL_SECRET") or next(iter(self.cloud_keys.values()), "")
        if not secret:
            raise OperatorError(
                "cloud_secret_missing",
                "No cloud account is connected to this repository.",
                fix="A maintainer adds the repository secret `RUNPOD_API_KEY` and passes it to the gpu-lol workflow.",
            )
        try:
            pair = derive_key_pair(secret, self.repository_id, KEY_VERSION)
        except ValueError as error:
            raise OperatorError(
                "cloud_secret_malformed",
                "The cloud's key is too short to be one.",
                fix="A maintainer checks the value of the secret; nothing but the key itself may stand in it.",
            ) from error
        return pair.private_pem, pair.public_line


def cloud_keys_of(inputs: Mapping[str, str]) -> dict[str, str]:
    """Return the cloud keys among a door's inputs; an empty one is none."""
    keys = {"runpod": inputs.get("runpod-api-key", ""), "lambda": inputs.get("lambda-api-key", "")}
    return {cloud: key for cloud, key in keys.items() if key}


def redactor(secrets: list[str]) -> Callable[[str], str]:
    """Return what takes these secrets, and what looks like one, out of a text."""
    from gpu_lol_action.domain.redaction import redact

    return lambda text: redact(text, secrets)


@contextmanager
def private_home(parent: str) -> Iterator[Path]:
    """Yield SkyPilot's private home: one that is named (its catalogs are kept), else an empty one that goes away."""
    named = os.environ.get("GPU_LOL_SKYPILOT_HOME")
    if named:
        yield Path(named)
        return
    with tempfile.TemporaryDirectory(prefix="gpu-lol-", dir=parent or None, ignore_cleanup_errors=True) as name:
        yield Path(name) / "home"


def state_folder(kind: str, repository: str) -> Path:
    """Return where this terminal keeps something of a repository (XDG base directory specification)."""
    state = Path(os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state") / "gpu-lol"
    return state / kind / repository.replace("/", "+")


def terminal_api_url(host: str = "github.com") -> str:
    """Return where the API of a remote's host is: what the environment says, else by GitHub's own rule."""
    said = os.environ.get("GITHUB_API_URL", "").strip()
    return said or ("https://api.github.com" if host == "github.com" else f"https://{host}/api/v3")


def terminal_token() -> str:
    """Return the token that GitHub's own tools would take from here."""
    return (os.environ.get("GH_TOKEN") or os.environ.get("GITHUB_TOKEN") or "").strip()
