"""A machine's lists: what is believed of them, and what a spec becomes by them."""

from __future__ import annotations

import base64
from dataclasses import replace

import pytest

from gpu_lol_action.domain.snapshot import Change, Inventory, MachineState, Package, changed_values, with_values
from gpu_lol_action.domain.spec import Dependencies, EnvironmentSpec, Hardware, Meta, Software
from gpu_lol_action.domain.spec_text import write_spec
from gpu_lol_action.domain.spec_yaml import parse_spec
from gpu_lol_action.launch.snapshot import NO_INVENTORY, build_snapshot_script, parse_snapshot_output
from gpu_lol_action.launch.snapshot_spec import MOST_NEW, Rented, snapshot_spec

NONCE = "0123456789abcdef"
TOLD = "told\tpackages\ntold\tsystem\n"
BASE = "python\t3.11.9\ncuda\t12.4.1\nimage\texample/train:1\npackage\ttorch\t2.4.0+cu124\t\nsystem\tbash\n"
SPEC = EnvironmentSpec(
    hardware=Hardware(gpu_type="RTX4090", gpu_count=1, vram_required_gb=20),
    environment=Software("example/train:1", "3.11", "12.4"),
    dependencies=Dependencies(("transformers[torch]>=4.40; python_version > '3.8'", "peft"), ("ffmpeg",)),
    meta=Meta(created_from="auto"),
)


def output(now: str, setup: str | None = None, image: str = BASE + TOLD) -> str:
    lists = {"image": image, "setup": now if setup is None else setup, "now": now}
    lines = [f"{name} {base64.b64encode(text.encode()).decode()}" for name, text in lists.items()]
    return "".join(f"::gpu-lol-snapshot {NONCE} {line}\n" for line in [*lines, "done ."])


def read(now: str, setup: str | None = None) -> MachineState:
    found = parse_snapshot_output(output(now, setup), NONCE)
    assert isinstance(found, MachineState), found
    return found


def state(now: dict[str, str], setup: dict[str, str], **facts: object) -> MachineState:
    before, after = (
        Inventory("3.11.9", "12.4.1", "example/train:1", {n: Package(n, v, f"{n}=={v}") for n, v in each.items()})
        for each in (setup, now)
    )
    return MachineState(Inventory(), before, replace(after, **facts))  # type: ignore[arg-type]  # keyword bag


def requirements(now: dict[str, str], setup: dict[str, str]) -> tuple[str, ...]:
    return snapshot_spec(SPEC, state(now, setup), Rented("RTX4090", 1), is_new=False).spec.dependencies.requirements


AT_SETUP = {"transformers": "4.44.0", "peft": "0.12.0", "tokenizers": "0.19.1"}


def test_lists_are_read() -> None:
    found = read(BASE + "package\tPyYAML\t6.0.2\t\npackage\ttrl\t0.9\tgit+https://github.com/x/trl@abc\n" + TOLD)
    assert (found.now.python, found.now.cuda, found.now.image) == ("3.11.9", "12.4.1", "example/train:1")
    assert found.now.packages["torch"].line == "torch==2.4.0", "the label of a build is another index's"
    assert found.now.packages["pyyaml"].line == "PyYAML==6.0.2"
    assert found.now.packages["trl"].line == "trl @ git+https://github.com/x/trl@abc"
    assert found.now.system_packages == {"bash"}


@pytest.mark.parametrize(
    ("name", "version", "origin"),
    [
        ("-e", "1", ""),
        ("--index-url=https://evil.example", "1", ""),
        ("a b", "1", ""),
        ("x; import os", "1", ""),
        ("x", "1; python_version>'3'", ""),
        ("x", "$(id)", ""),
        ("x" * 300, "1", ""),
        ("x", "1" * 200, ""),
        ("x\u202e", "1", ""),
        ("x\x1b[31m", "1", ""),
        ("", "1", ""),
    ],
)
def test_what_is_no_package_is_counted_and_never_kept(name: str, version: str, origin: str) -> None:
    found = read(f"{BASE}package\t{name}\t{version}\t{origin}\n{TOLD}")
    assert set(found.now.packages) == {"torch"}
    assert found.now.refused == 1


@pytest.mark.parametrize(
    "origin",
    [
        "editable",
        "local",
        "private",
        "file:///root/x.whl",
        "https://ada:secret@example.org/x.whl",
        "git+https://token@github.com/a/b@c",
        "git+ssh://git@github.com/a/b",
        "http://example.org/x.whl",
        "https://example.org/x.whl --global-option=y",
    ],
)
def test_what_no_other_machine_could_install_is_there_but_has_no_line(origin: str) -> None:
    package = read(f"{BASE}package\tmine\t1.0\t{origin}\n{TOLD}").now.packages["mine"]
    assert package.line is None
    assert package.why
    taken = snapshot_spec(
        SPEC, read(f"{BASE}package\tmine\t1.0\t{origin}\n{TOLD}", BASE + TOLD), Rented(None, 0), is_new=False
    )
    assert "mine" not in write_spec(taken.spec)
    assert "secret" not in "".join(taken.left_out)
    assert len(taken.left_out) == 1


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "the script ended"),
        (f"::gpu-lol-snapshot {NONCE} failed no_inventory\n", NO_INVENTORY),
        ("::gpu-lol-snapshot ffffffffffff done .\n", "the script ended"),
        (output(BASE), NO_INVENTORY),
        (output(BASE, BASE + TOLD), "its packages"),
        (f"::gpu-lol-snapshot {NONCE} image %%%\n::gpu-lol-snapshot {NONCE} done .\n", NO_INVENTORY),
    ],
)
def test_lists_that_are_not_whole_are_none(text: str, why: str) -> None:
    found = parse_snapshot_output(text, NONCE)
    assert isinstance(found, str)
    assert found.startswith(why)


def test_the_first_word_of_a_machine_counts() -> None:
    twice = output(BASE + TOLD) + f"::gpu-lol-snapshot {NONCE} now {base64.b64encode(b'package').decode()}\n"
    assert isinstance(parse_snapshot_output(twice, NONCE), MachineState)


def test_script_asks_for_a_nonce_of_ours() -> None:
    assert "gpu_lol_inventory" in build_snapshot_script(NONCE)
    with pytest.raises(ValueError, match="nonce"):
        build_snapshot_script("x; id")


def test_nothing_is_new_after_setup_alone() -> None:
    taken = snapshot_spec(SPEC, state(AT_SETUP, AT_SETUP), Rented("RTX4090", 1), is_new=False)
    assert taken.spec == SPEC
    assert taken.changes == ()


@pytest.mark.parametrize(
    ("now", "expected"),
    [
        ({"wandb": "0.17.0"}, (*SPEC.dependencies.requirements, "wandb==0.17.0")),
        ({"tokenizers": "0.20.0"}, (*SPEC.dependencies.requirements, "tokenizers==0.20.0")),
        ({"transformers": "4.45.0"}, ('transformers[torch]==4.45.0; python_version > "3.8"', "peft")),
        ({"peft": ""}, SPEC.dependencies.requirements[:1]),
        ({"pip": "25.0", "setuptools": "75.0"}, SPEC.dependencies.requirements),
    ],
)
def test_what_changed_since_setup_is_pinned(now: dict[str, str], expected: tuple[str, ...]) -> None:
    installed = {name: version for name, version in {**AT_SETUP, **now}.items() if version}
    assert requirements(installed, AT_SETUP) == expected


def test_a_line_that_the_spec_got_later_stays() -> None:
    before = {name: version for name, version in AT_SETUP.items() if name != "peft"}
    assert requirements(before, before) == SPEC.dependencies.requirements, "set-up knew nothing of it yet"
    assert requirements(AT_SETUP, before) == SPEC.dependencies.requirements, "and it fits what is there"


def test_more_than_anybody_installs_by_hand_is_cut_and_said() -> None:
    many = {f"pack{number}": "1" for number in range(MOST_NEW + 7)}
    taken = snapshot_spec(SPEC, state(many | AT_SETUP, AT_SETUP), Rented(None, 0), is_new=False)
    assert len(taken.spec.dependencies.requirements) == MOST_NEW + 2
    assert any(sentence.startswith("7 more") for sentence in taken.left_out)


def test_system_packages_come_and_go_and_count_only_where_both_lists_are_told() -> None:
    found = state(AT_SETUP, AT_SETUP, system_packages=frozenset({"bash", "tmux"}))
    untold = snapshot_spec(SPEC, found, Rented(None, 0), is_new=False)
    assert untold.spec.dependencies.system_packages == ("ffmpeg",)
    told = replace(found, setup=replace(found.setup, system_packages=frozenset({"bash", "ffmpeg"})))
    assert snapshot_spec(SPEC, told, Rented(None, 0), is_new=False).spec.dependencies.system_packages == ("tmux",)


@pytest.mark.parametrize(
    ("hardware", "rented", "expected"),
    [
        (Hardware("RTX4090", 1), ("RTX4090", 1), ("RTX4090", 1)),
        (Hardware("RTX4090", 1), ("A100-80GB", 2), ("A100-80GB", 2)),
        (Hardware("RTX4090", 1, alternatives=("L40S",)), ("L40S", 1), ("RTX4090", 1)),
        (Hardware(None, 1), ("RTX4090", 1), (None, 1)),
        (Hardware(None, 1), ("RTX4090", 2), (None, 2)),
        (Hardware(None, 0), (None, 0), (None, 0)),
    ],
)
def test_the_card_is_the_one_that_was_rented(
    hardware: Hardware, rented: tuple[str | None, int], expected: tuple[str | None, int]
) -> None:
    spec = replace(SPEC, hardware=hardware)
    taken = snapshot_spec(spec, state(AT_SETUP, AT_SETUP), Rented(*rented), is_new=False)
    assert (taken.spec.hardware.gpu_type, taken.spec.hardware.gpu_count) == expected
    assert bool(taken.changes) is (taken.spec != spec)


def test_a_new_file_says_all_of_it() -> None:
    spec = replace(SPEC, hardware=Hardware(), environment=Software("example/other:2"))
    taken = snapshot_spec(spec, state(AT_SETUP, AT_SETUP), Rented("RTX4090", 1), is_new=True).spec
    assert taken.hardware.gpu_type == "RTX4090"
    assert taken.environment == Software("example/train:1", "3.11", "12.4")
    assert taken.meta.created_from == "snapshot"


def test_versions_of_python_and_cuda_follow_what_changed() -> None:
    found = state(AT_SETUP, AT_SETUP, python="3.12.1", cuda="12.4.9")
    taken = snapshot_spec(SPEC, found, Rented("RTX4090", 1), is_new=False)
    assert taken.spec.environment == Software("example/train:1", "3.12", "12.4")
    assert taken.changes == (Change("environment.python_version", "3.11", "3.12"),)


def test_profiles_follow_the_values_that_they_share() -> None:
    text = (
        "dependencies: {requirements: [peft], system_packages: [ffmpeg]}\n"
        "profiles: {eval: {dependencies: {requirements: [peft, lm-eval]}}}\n"
    )
    spec = parse_spec(text)
    values = {"dependencies.requirements": ("peft", "wandb==1"), "dependencies.system_packages": ("ffmpeg", "tmux")}
    changed = with_values(spec, values)
    assert changed.profiles["eval"].dependencies.requirements == ("peft", "lm-eval")
    assert changed.profiles["eval"].dependencies.system_packages == ("ffmpeg", "tmux")
    assert changed_values(spec, changed) == values
