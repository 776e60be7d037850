"""Saved work on a ref of the stand-in's repository: encrypted, found again, replaced by newer work."""

from __future__ import annotations

import base64
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from gpu_lol_action.adapters.vault_refs import RefVault
from gpu_lol_action.errors import OperatorError, UserError
from gpu_lol_action.launch.keys import derive_key_pair
from tests.contract.github_setup import Place, started_place
from tests.fixtures.machines.machine import make_key

PAIR = derive_key_pair("x" * 40, 5, 1)


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Place]:
    with started_place(tmp_path) as started:
        yield started


def vault_of(place: Place, secret: str = "x" * 40) -> RefVault:
    pair = derive_key_pair(secret, 5, 1)
    return RefVault(place.forge().client, pair.private_pem, pair.public_line)


def test_saved_work_is_found_again_and_opens_for_its_owner(place: Place, tmp_path: Path) -> None:
    vault = vault_of(place)
    key = make_key(tmp_path)
    older = vault.keep("gl-au-12", b"older", [])
    kept = vault.keep("gl-au-12", b"work" * 1000, [key.with_suffix(".pub").read_text()])

    assert (older.recipients, kept.recipients) == (0, 1)
    assert vault_of(place).fetch(kept.locator) == b"work" * 1000
    assert kept.locator in kept.command
    client = place.forge().client
    blob = base64.b64decode(client.get("git/blobs/{sha}", {"sha": kept.locator})["content"])
    assert b"work" not in blob
    opened = subprocess.run(["age", "-d", "-i", str(key)], input=blob, capture_output=True, check=True)
    assert opened.stdout == b"work" * 1000
    ref = client.get("git/ref/{ref}", {"ref": "gpu-lol/rescues/gl-au-12"})
    commit = client.get("git/commits/{sha}", {"sha": ref["object"]["sha"]})
    tree = client.get("git/trees/{sha}", {"sha": commit["tree"]["sha"]})
    assert [entry["sha"] for entry in tree["tree"]] == [kept.locator]


def test_another_cloud_key_does_not_open_it(place: Place) -> None:
    kept = vault_of(place).keep("gl-au-12", b"work", [])
    with pytest.raises(UserError) as caught:
        vault_of(place, "y" * 40).fetch(kept.locator)
    assert caught.value.reason_code == "rescue_unreadable"


def test_a_token_that_may_not_write_says_so(place: Place) -> None:
    client = place.forge(place.hub.add_token("ada", {"contents": "read"})).client
    with pytest.raises(OperatorError):
        RefVault(client, PAIR.private_pem, PAIR.public_line).keep("gl-au-12", b"work", [])
