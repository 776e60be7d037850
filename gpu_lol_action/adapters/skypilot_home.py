"""SkyPilot's private home: a folder of ours in which it finds its settings, our plugin, the key pair and one cloud key.

Nothing here is in the user's own home, and everything secret is readable by its owner only.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

_PASSED_ON = (
    "PATH",
    "LANG",
    "LC_ALL",
    "TMPDIR",
    "TZ",
    "SSL_CERT_FILE",
    "SSL_CERT_DIR",
    "REQUESTS_CA_BUNDLE",
    "CURL_CA_BUNDLE",
)

# Where SkyPilot looks for a cloud's key, and what is written there (sky/clouds/*.py, get_credential_file_mounts).
_KEY_FILES: Mapping[str, tuple[str, str]] = {
    "runpod": (".runpod/config.toml", "[default]\napi_key = {quoted}\n"),
    "lambda": (".lambda_cloud/lambda_keys", "api_key = {plain}\n"),
    "vast": (".config/vastai/vast_api_key", "{plain}\n"),
}


@dataclass(frozen=True, slots=True)
class SkyPilotSettings:
    """What the adapter is given; ``home`` is a folder of ours alone and may be empty.

    ``cloud_keys`` are API keys by cloud; ``environment`` are further variables that SkyPilot and its clouds' SDKs read.
    """

    home: Path
    user_hash: str
    cloud_keys: Mapping[str, str] = field(repr=False)
    private_key_pem: bytes = field(repr=False)
    public_key_line: str
    environment: Mapping[str, str] = field(default_factory=dict, repr=False)
    clouds: tuple[str, ...] = ()

    @property
    def allowed_clouds(self) -> tuple[str, ...]:
        """Clouds that SkyPilot may look at: those named, else those with a key."""
        return self.clouds or tuple(self.cloud_keys)


def prepare_home(settings: SkyPilotSettings) -> None:
    """Write the home's files; what SkyPilot keeps there itself (its catalogs, say) stays."""
    home = settings.home
    home.mkdir(parents=True, exist_ok=True)
    home.chmod(0o700)
    for cloud, key in settings.cloud_keys.items():
        if cloud in _KEY_FILES:
            name, template = _KEY_FILES[cloud]
            if any(character in key for character in "\r\n\0"):
                raise ValueError(f"the key for {cloud} holds a line break")
            _write(home / name, template.format(quoted=json.dumps(key), plain=key).encode())
    ssh = home / ".sky" / "clients" / settings.user_hash / "ssh"
    _write(ssh / "sky-key", settings.private_key_pem)
    _write(ssh / "sky-key.pub", settings.public_key_line.encode() + b"\n")
    config = {"allowed_clouds": list(settings.allowed_clouds)}
    _write(home / ".sky" / "config.yaml", json.dumps(config).encode())  # JSON is YAML
    _write(
        home / ".sky" / "plugins.yaml",
        json.dumps({"plugins": [{"class": "gpu_lol_action.adapters.sky_plugin.GpuLolPlugin"}]}).encode(),
    )


def worker_environment(settings: SkyPilotSettings, port: int, environ: Mapping[str, str]) -> dict[str, str]:
    """Return the whole environment of SkyPilot's processes: a few of ours passed on, so that no token of the job gets there."""
    package_root = str(Path(__file__).parent.parent.parent)
    kept = {name: value for name, value in environ.items() if name in _PASSED_ON or name.lower().endswith("_proxy")}
    return {
        "PATH": os.defpath,
        **kept,
        **settings.environment,
        "HOME": str(settings.home),
        "PYTHONPATH": package_root,
        "PYTHONUNBUFFERED": "1",
        "SKYPILOT_API_SERVER_LOCAL_PORT": str(port),
        "SKYPILOT_USER_ID": settings.user_hash,
        "SKYPILOT_DISABLE_USAGE_COLLECTION": "1",
        "SKYPILOT_SERVER_PLUGINS_CONFIG": str(settings.home / ".sky" / "plugins.yaml"),
        "NO_COLOR": "1",
    }


def forget_secrets(settings: SkyPilotSettings) -> None:
    """Remove keys and SkyPilot's state (its database holds the private key) when the work is done."""
    for name in [name for name, _ in _KEY_FILES.values()] + [".sky/state.db", ".sky/state.db-wal", ".sky/state.db-shm"]:
        (settings.home / name).unlink(missing_ok=True)
    for name in (".sky/clients", ".sky/generated"):
        shutil.rmtree(settings.home / name, ignore_errors=True)


def _write(path: Path, content: bytes) -> None:
    """Write a file that only its owner can read, from its first moment on."""
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, "wb") as file:
        os.fchmod(file.fileno(), 0o600)
        file.write(content)
