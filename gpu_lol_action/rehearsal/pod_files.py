"""What is laid over the image in every pod: names, DNS, the host's package configuration, and the stand-ins.

A pod reaches apt, pip and uv as this machine does, so the host's settings travel with it. Settings that name files of the
host do not: they would mean nothing in the pod.
"""

from __future__ import annotations

import configparser
import json
import shutil
import subprocess
from collections.abc import Iterable, Mapping
from pathlib import Path

_HERE = Path(__file__).parent
STAND_IN_FILE = "etc/gpu-lol-stand-in.json"
_CA_BUNDLE = Path("/etc/ssl/certs/ca-certificates.crt")
_PIP_KEYS = ("index-url", "extra-index-url", "trusted-host", "proxy", "timeout", "retries")
_ENV_PREFIXES = (
    "PIP_INDEX",
    "PIP_EXTRA_INDEX",
    "PIP_TRUSTED",
    "PIP_TIMEOUT",
    "PIP_DEFAULT_TIMEOUT",
    "UV_INDEX",
    "UV_DEFAULT_INDEX",
    "UV_EXTRA_INDEX",
    "UV_HTTP_TIMEOUT",
)
_CA_VARIABLES = ("SSL_CERT_FILE", "PIP_CERT", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE")


def pip_configuration() -> str:
    """Return a pip.conf with the host's registries and certificate bundle, without anything that names a host file."""
    out = configparser.ConfigParser(interpolation=None)
    out["global"] = {"disable-pip-version-check": "true", "root-user-action": "ignore"}
    for file in (
        Path("/etc/pip.conf"),
        Path("/etc/xdg/pip/pip.conf"),
        Path.home() / ".pip/pip.conf",
        Path.home() / ".config/pip/pip.conf",
    ):
        host = configparser.ConfigParser(interpolation=None)
        try:
            host.read(file)
        except configparser.Error:
            continue
        for key in _PIP_KEYS:
            value = host.get("global", key, fallback="")
            words = [word for word in value.split() if not word.startswith(("/", "file:"))]
            if words:
                out["global"][key] = " ".join(words)
    if _CA_BUNDLE.is_file():
        out["global"]["cert"] = str(_CA_BUNDLE)
    lines = ["[global]", *(f"{key} = {value}" for key, value in out["global"].items())]
    return "\n".join(lines) + "\n"


def network_environment(environ: Mapping[str, str]) -> dict[str, str]:
    """Return the variables by which programs in a pod reach the network as programs on this host do."""
    kept = {
        name: value
        for name, value in environ.items()
        if name.startswith(_ENV_PREFIXES) or name.lower().endswith("_proxy")
    }
    if _CA_BUNDLE.is_file():
        kept |= dict.fromkeys(_CA_VARIABLES, str(_CA_BUNDLE))
    return kept


def resolv_conf(
    candidates: Iterable[Path] = (Path("/etc/resolv.conf"), Path("/run/systemd/resolve/resolv.conf")),
) -> str:
    """Return the first resolver file that names a server a pod can reach (not the host's own loopback)."""
    text = ""
    for file in candidates:
        if not file.is_file():
            continue
        text = file.read_text()
        servers = [
            line.split()[1] for line in text.splitlines() if line.startswith("nameserver") and len(line.split()) > 1
        ]
        if any(not server.startswith("127.") and server != "::1" for server in servers):
            return text
    return text


def apt_options() -> str:
    """Return the host's apt settings for proxies and clocks, as a file for ``apt.conf.d``; empty without apt."""
    try:
        dump = subprocess.run(["apt-config", "dump"], capture_output=True, text=True, check=False).stdout
    except OSError:
        return ""
    wanted = ("Acquire::http::", "Acquire::https::", "Acquire::Check-", "Acquire::ForceIPv")
    return "".join(line + "\n" for line in dump.splitlines() if line.startswith(wanted))


def write_pod_files(upper: Path, image: Path, pod_id: str, stand_in: Mapping[str, object]) -> None:
    """Write into ``upper``, the folder whose files lie over ``image``, what makes it this pod.

    ``stand_in`` is what the stand-ins for driver and torch answer (see ``stand_ins/``); a file in the pod, so that a test
    can make one machine lie.
    """
    _write(upper, "etc/hostname", f"{pod_id}\n")
    _write(upper, "etc/hosts", f"127.0.0.1 localhost\n::1 localhost\n127.0.1.1 {pod_id}\n")
    _write(upper, "etc/resolv.conf", resolv_conf())
    _write(upper, "etc/pip.conf", pip_configuration())
    _write(upper, "etc/apt/apt.conf.d/99host", apt_options())
    if _CA_BUNDLE.is_file():
        _write(upper, str(_CA_BUNDLE).lstrip("/"), _CA_BUNDLE.read_text())
    _write(upper, STAND_IN_FILE, json.dumps(dict(stand_in), indent=1) + "\n")
    smi = _write(upper, "usr/bin/nvidia-smi", (_HERE / "stand_ins/nvidia_smi.py").read_text())
    smi.chmod(0o755)
    packages = upper / "usr/local/lib" / _python_of(image) / "dist-packages"
    shutil.copytree(_HERE / "stand_ins/torch", packages / "torch", ignore=shutil.ignore_patterns("__pycache__"))
    _write_distribution(packages, str(stand_in.get("torch_version", "0")))


def _python_of(image: Path) -> str:
    """Return the name of the image's own Python, such as ``python3.11``."""
    names = [path.name for path in (image / "usr/bin").glob("python3.*") if path.name[8:].isdigit()]
    return max(names, key=lambda name: int(name[8:]))


def _write_distribution(packages: Path, version: str) -> None:
    """Tell pip that torch is there: requirements which it satisfies do not download the real one, others may replace it."""
    info = packages / f"torch-{version}.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text(
        f"Metadata-Version: 2.1\nName: torch\nVersion: {version}\nSummary: stand-in: computes on the CPU, there is no GPU here\n"
    )
    (info / "INSTALLER").write_text("gpu-lol-rehearsal\n")
    files = [path for folder in (info, packages / "torch") for path in sorted(folder.rglob("*")) if path.is_file()]
    names = [str(path.relative_to(packages)) for path in files] + [f"{info.name}/RECORD"]
    (info / "RECORD").write_text("".join(f"{name},,\n" for name in names))


def _write(upper: Path, name: str, text: str) -> Path:
    path = upper / name
    path.parent.mkdir(parents=True, exist_ok=True)
    if path.is_symlink():
        path.unlink()
    path.write_text(text)
    path.chmod(0o644)
    return path
