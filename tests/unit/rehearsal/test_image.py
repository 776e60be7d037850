from __future__ import annotations

import dataclasses

import pytest

from gpu_lol_action.errors import OperatorError
from gpu_lol_action.rehearsal.image import Recipe, parse_family, parse_mirror

ONE_LINE = "# comment\ndeb [signed-by=/k.gpg] http://mirror.example/debian bookworm main\ndeb http://mirror.example/debian-security x main\n"
DEB822 = "Types: deb\n# http://old.example/debian\nURIs: https://mirror.example/ubuntu/\nSuites: noble\n"


@pytest.mark.parametrize(
    ("sources", "family", "mirror"),
    [
        (ONE_LINE, "debian", "http://mirror.example/debian"),
        (DEB822, "ubuntu", "https://mirror.example/ubuntu"),
        (ONE_LINE, "ubuntu", None),
        ("URIs: mirror+file:/etc/apt/mirrors.txt\n", "ubuntu", None),
        ("", "debian", None),
    ],
)
def test_mirror_is_the_hosts_own(sources, family, mirror):
    assert parse_mirror(sources, family) == mirror


@pytest.mark.parametrize(
    ("text", "family"),
    [
        ('ID=debian\nVERSION_ID="12"\n', "debian"),
        ('ID=ubuntu\nID_LIKE=debian\nVERSION_ID="24.04"\n', "ubuntu"),
        ('ID=linuxmint\nID_LIKE="ubuntu debian"\n', "ubuntu"),
    ],
)
def test_family_is_read_from_os_release(text, family):
    assert parse_family(text) == family


def test_another_system_is_told_what_is_supported():
    with pytest.raises(OperatorError, match="fedora"):
        parse_family("ID=fedora\n")


def test_image_is_named_by_its_recipe_and_not_by_its_mirror(tmp_path):
    requirements, script = tmp_path / "r.txt", tmp_path / "s.sh"
    requirements.write_text("ray==2.9.3\n")
    script.write_text("true\n")
    recipe = Recipe("bookworm", "main", "http://a", requirements, script)
    assert dataclasses.replace(recipe, mirror=None).digest == recipe.digest
    assert dataclasses.replace(recipe, suite="jammy").digest != recipe.digest
    before = recipe.digest
    requirements.write_text("ray==2.9.4\n")
    assert recipe.digest != before
