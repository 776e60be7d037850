from __future__ import annotations

import importlib
import stat
import sys
from pathlib import Path

import pytest

from gpu_lol_action.adapters.skypilot_home import SkyPilotSettings, forget_secrets, prepare_home, worker_environment

KEYS = {"runpod": 'rpa_"quoted"\\key', "lambda": "lambda_key"}


@pytest.fixture
def settings(tmp_path):
    return SkyPilotSettings(
        home=tmp_path / "home",
        user_hash="c1c1c1c1",
        cloud_keys=KEYS,
        private_key_pem=b"PRIVATE\n",
        public_key_line="ssh-ed25519 AAAA us",
        environment={"RUNPOD_API_BASE_URL": "http://127.0.0.1:1"},
    )


def files(home: Path) -> list[Path]:
    return [path for path in home.rglob("*") if path.is_file()]


def test_every_file_is_for_its_owner_only(settings):
    prepare_home(settings)
    assert files(settings.home)
    assert all(stat.S_IMODE(path.stat().st_mode) == 0o600 for path in files(settings.home))
    assert stat.S_IMODE(settings.home.stat().st_mode) == 0o700


def test_runpods_key_survives_as_toml(settings):
    prepare_home(settings)
    # Imported, never skipped: one of the two is in every install.
    tomllib = importlib.import_module("tomllib" if sys.version_info >= (3, 11) else "tomli")
    text = (settings.home / ".runpod/config.toml").read_text()
    assert tomllib.loads(text)["default"]["api_key"] == KEYS["runpod"]


def test_key_with_a_line_break_is_refused_without_naming_it(settings):
    bad = SkyPilotSettings(settings.home, "c1c1c1c1", {"lambda": "a\nb"}, b"", "")
    with pytest.raises(ValueError, match="lambda holds a line break"):
        prepare_home(bad)


def test_tokens_of_the_job_do_not_reach_skypilot(settings):
    environ = {
        "PATH": "/bin",
        "GITHUB_TOKEN": "t",
        "RUNPOD_API_KEY": "k",
        "INPUT_KEY": "i",
        "HTTPS_PROXY": "http://p",
        "HOME": "/me",
    }
    environment = worker_environment(settings, 4711, environ)
    assert not {"GITHUB_TOKEN", "RUNPOD_API_KEY", "INPUT_KEY"} & set(environment)
    assert not set(KEYS.values()) & set(environment.values())
    assert environment["HOME"] == str(settings.home)
    assert environment["HTTPS_PROXY"] == "http://p"
    assert environment["RUNPOD_API_BASE_URL"] == "http://127.0.0.1:1"
    assert environment["SKYPILOT_DISABLE_USAGE_COLLECTION"] == "1"


def test_nothing_secret_stays_behind(settings):
    prepare_home(settings)
    (settings.home / ".sky/state.db").write_text("PRIVATE")
    forget_secrets(settings)
    left = b"".join(path.read_bytes() for path in files(settings.home))
    assert not any(secret in left for secret in (b"PRIVATE", b"rpa_", b"lambda_key"))


def test_settings_do_not_show_secrets(settings):
    assert "rpa_" not in repr(settings)
    assert "PRIVATE" not in repr(settings)
