"""Judging what a machine said. The machine itself is played over a real sshd in tests/contract/test_probe.py."""

from __future__ import annotations

import ast
import copy
import io
import json
import re
import zipfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpu_lol_action import launch
from gpu_lol_action.domain.environment import Check, CheckStatus
from gpu_lol_action.domain.gpus import find_accelerator
from gpu_lol_action.launch import probe
from gpu_lol_action.launch.probe import ProbeReading, ProbeRequest, build_probe_script, merge_repair, parse_probe_output
from gpu_lol_action.launch.probe_card import has_kernels, is_rented_card
from gpu_lol_action.launch.probe_facts import shown
from gpu_lol_action.launch.probe_gpu import versions

NONCE = "nonce12345"
SHA, TREE = "ab" * 20, "cd" * 20
REQUEST = ProbeRequest("RTX4090", 1, 22, 100, ("torch",), "repo", SHA, TREE, keys=("ssh-ed25519 AAAA",))
RIGHT: dict[str, Any] = {
    "python": {"version": "3.11.9"},
    "gpu": {
        "driver": {
            "exit_code": 0,
            "cuda": "12.8",
            "gpus": [{"name": "NVIDIA GeForce RTX 4090", "memory.total": "24564", "memory.used": "1", "driver_version": "570.1"}],
        },
        "torch": {
            "version": "2.4.0+cu124", "cuda": "12.4", "is_available": True, "arch_list": ["sm_80", "sm_86", "sm_90"],
            "devices": [{"total_bytes": 25e9, "free_bytes": 24.8e9, "capability": [8, 9], "product": {"elements": 16384, "wrong": 0, "worst": 0.0}}],
        },
    },
    "packages": {"found": {"torch": {"version": "2.4.0+cu124", "is_imported": True}}},
    "code": {"head": SHA, "head_tree": TREE, "index_tree": TREE, "marker": SHA, "files": 3, "changed": 0, "examples": []},
    "disk": {"volumes": [{"total_bytes": 100e9, "free_bytes": 60e9}]},
    "shared_memory": {"total_bytes": 2 * 2**30},
    "hub": {"url": "https://huggingface.co", "status": 200, "seconds": 0.2},
    "credentials": {"found": [], "scoped": []},
    "ssh": {"methods": ["publickey"], "missing_keys": []},
}  # fmt: skip


def answer(facts: object) -> str:
    return f"\n::gpu-lol-probe {NONCE} {json.dumps(facts)}\n"


def read(request: ProbeRequest = REQUEST, **changes: Any) -> ProbeReading:
    facts = copy.deepcopy(RIGHT)
    for path, value in changes.items():
        *folders, name = path.split("__")
        place = facts
        for folder in folders:
            place = place[int(folder)] if isinstance(place, list) else place[folder]  # type: ignore[index]
        place[name] = value
    return parse_probe_output(answer(facts), request, NONCE)


def one(reading: ProbeReading, name: str) -> Check:
    (check,) = (check for check in reading.checks if check.name == name)
    return check


def test_parse_probe_output_passes_a_right_machine() -> None:
    assert {check.status for check in read().checks} == {CheckStatus.PASSED}


@pytest.mark.parametrize(
    ("driver", "reach", "cuda", "status"),
    [
        ("525.60.13", "12.0", "12.4", CheckStatus.PASSED),
        ("525.60.12", "11.8", "12.4", CheckStatus.FAILED),
        ("450.80.02", "11.0", "11.8", CheckStatus.PASSED),
        ("450.51.05", "10.2", "11.8", CheckStatus.FAILED),
        ("580.65.06", "13.0", "13.0", CheckStatus.PASSED),
        ("575.51.03", "12.9", "13.0", CheckStatus.FAILED),
        # With NVIDIA's compatibility libraries in the image, an older driver reaches a newer CUDA.
        ("535.183.06", "13.0", "13.0", CheckStatus.PASSED),
        ("600.1", "13.3", "14.0", CheckStatus.NOTED),
        ("700.1", "14.1", "14.0", CheckStatus.PASSED),
        ("600.1", None, "14.0", CheckStatus.NOTED),
        ("", "12.4", "12.4", CheckStatus.FAILED),
    ],
)
def test_driver_is_held_against_the_cuda_that_torch_is_built_for(
    driver: str, reach: str | None, cuda: str, status: CheckStatus
) -> None:
    changes = {"gpu__driver__gpus__0__driver_version": driver, "gpu__driver__cuda": reach, "gpu__torch__cuda": cuda}

    check = one(read(**changes), "driver")

    assert check.status is status
    assert (versions([check])[0] != "") == bool(driver), "the driver is found in our own sentence"


def test_compatibility_libraries_that_torch_has_not_tried_excuse_no_old_driver() -> None:
    changes = {"gpu__driver__gpus__0__driver_version": "535.183.06", "gpu__driver__cuda": "13.0", "gpu__torch__cuda": "13.0"}  # fmt: skip

    assert one(read(**changes, gpu__torch__is_available=False), "driver").status is CheckStatus.FAILED


def test_driver_is_read_from_the_table_where_the_query_does_not_know_that_field() -> None:
    reading = read(gpu__driver__gpus__0__driver_version=None, gpu__driver__version="610.57.04")

    assert one(reading, "driver").sentence.startswith("Driver 610.57.4 serves")


def test_memory_is_read_with_its_unit_and_what_is_not_told_is_not_taken_for_free() -> None:
    bare = {"gpu__torch__devices": [], "gpu__torch__is_available": False}
    for total, used, status in (
        ("24564 MiB", "1 MiB", CheckStatus.PASSED),
        ("24564", "9000", CheckStatus.FAILED),
        ("24564", "[Unknown Error]", CheckStatus.PASSED),  # enough for the need; whether it is free nobody knows
        ("16384", "[N/A]", CheckStatus.FAILED),
        ("[Insufficient Permissions]", "[Insufficient Permissions]", CheckStatus.NOTED),
    ):
        card = {"gpu__driver__gpus__0__memory.total": total, "gpu__driver__gpus__0__memory.used": used}
        assert one(read(**bare, **card), "vram").status is status, (total, used)


def test_versions_are_read_from_our_own_sentences() -> None:
    driver, cuda, torch = versions(read().checks)
    assert re.fullmatch(r"[0-9.]+", driver)
    assert f"torch {torch} (CUDA {cuda})" in one(read(), "torch").sentence
    assert versions(()) == ("", "", "")


def test_old_driver_is_the_one_cause_where_torch_sees_no_gpu() -> None:
    reading = read(gpu__driver__gpus__0__driver_version="470.1", gpu__torch__is_available=False, gpu__torch__devices=[])

    assert [check.name for check in reading.failed] == ["driver"]


@pytest.mark.parametrize(
    ("name", "mib", "accelerator", "is_rented"),
    [
        ("NVIDIA A100-SXM4-80GB", 81920, "A100-80GB-SXM", True),
        ("NVIDIA A100-SXM4-80GB", 81920, "A100-80GB", True),
        ("NVIDIA A100-SXM4-80GB", 81920, "A100", True),
        ("NVIDIA A100 80GB PCIe", 81920, "A100-80GB", True),
        ("NVIDIA A100-SXM4-40GB", 40960, "A100-80GB", False),
        ("NVIDIA H100 80GB HBM3", 81559, "H100", True),
        ("NVIDIA H100 80GB HBM3", 81559, "H100-SXM", True),
        ("NVIDIA H100 NVL", 95830, "H100", True),
        ("NVIDIA RTX A6000", 49140, "RTXA6000", True),
        ("NVIDIA RTX A6000", 49140, "A6000", True),
        ("NVIDIA L40S", 46068, "L40", False),
        ("NVIDIA L40", 46068, "L40S", False),
        ("NVIDIA GeForce RTX 3090", 24576, "RTX4090", False),
        ("NVIDIA GeForce RTX 4090", 24564, "RTX4090", True),
        ("NVIDIA GeForce RTX 4090 D", 24564, "RTX4090", False),
        ("Tesla T4", 15360, "T4", True),
        ("Tesla V100-SXM2-16GB", 16384, "V100-32GB", False),
        ("NVIDIA RTX 6000 Ada Generation", 49140, "RTX6000-Ada", True),
        ("NVIDIA RTX 6000 Ada Generation", 49140, "A6000", False),
        ("NVIDIA H200", 143771, "H200-SXM", True),
        ("", None, "H100", False),
    ],
)
def test_card_is_the_rented_one_under_any_of_its_names(
    name: str, mib: float | None, accelerator: str, is_rented: bool
) -> None:
    assert is_rented_card(name, mib, accelerator, find_accelerator(accelerator)) is is_rented


@pytest.mark.parametrize(
    ("arch_list", "capability", "serves"),
    [
        (["sm_80", "sm_86"], (8, 9), True),
        (["sm_90"], (8, 9), False),
        (["sm_50", "sm_90"], (10, 0), False),
        (["sm_90", "compute_90"], (10, 0), True),
        (["sm_100"], (10, 3), True),
        (["sm_90a"], (9, 0), True),
        (["sm_100a"], (10, 3), False),
        (["sm_120"], (12, 1), True),
        (["gfx90a", "nonsense"], (8, 0), False),
    ],
)
def test_kernels_serve_their_own_major_and_ptx_all_that_is_newer(
    arch_list: list[str], capability: tuple[int, int], serves: bool
) -> None:
    assert has_kernels(arch_list, capability) is serves


def test_missing_torch_is_a_note_where_nobody_asked_for_it() -> None:
    error = "ModuleNotFoundError: No module named 'torch'"
    request = ProbeRequest("RTX4090", 1, 22, 100, ("jax[cuda12]",), "repo", SHA, TREE)
    reading = read(request, gpu__torch={"import_error": error}, packages={"found": {"jax": {"version": "0.4.30"}}})

    assert reading.failed == ()
    assert one(reading, "torch").status is CheckStatus.NOTED
    assert "24.0 GiB" in one(reading, "vram").sentence
    assert [check.name for check in read(gpu__torch={"import_error": error}).failed] == ["torch"]


def test_machine_without_gpu_is_not_asked_for_one() -> None:
    reading = read(ProbeRequest("", 0, None, None, (), "repo", SHA, TREE), gpu={})

    assert [check.name for check in reading.checks][:2] == ["packages", "code"]
    assert reading.failed == ()


def test_scoped_key_of_the_platform_is_named_and_allowed() -> None:
    check = one(read(credentials={"found": [], "scoped": ["RUNPOD_API_KEY"]}), "credentials")

    assert check.status is CheckStatus.PASSED
    assert "RUNPOD_API_KEY" in check.sentence


def test_packages_are_compared_by_version_and_marker() -> None:
    requirements = ("torch>=2.3", "a==1.*", "b<2", "c; python_version < '3.9'", "d", "git+https://example.org/x")
    found = {"torch": {"version": "2.4.0"}, "a": {"version": "1.5"}, "b": {"version": "2.0"}}
    reading = read(ProbeRequest("RTX4090", 1, 22, 100, requirements, "repo", SHA, TREE), packages={"found": found})

    assert reading.missing == ("d", "b<2")
    assert "b is 2.0, asked for was b<2" in one(reading, "packages").sentence
    assert reading.packages == ("torch 2.4.0", "a 1.5", "b 2.0")


def test_merge_repair_tells_what_was_installed_late() -> None:
    first = ProbeReading((Check("packages", CheckStatus.FAILED, "x"),), missing=("einops",))
    second = ProbeReading((Check("packages", CheckStatus.PASSED, "y"),), packages=("einops 0.8",))

    merged = merge_repair(first, second)

    assert merged.failed == ()
    assert "einops" in one(merged, "repair").sentence
    assert merge_repair(first, first) == first


json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=20)
    | st.sampled_from(["1e999", "nan", "\x1b[31m", "9" * 5000]),
    lambda children: st.lists(children, max_size=4) | st.dictionaries(st.text(max_size=8), children, max_size=4),
    max_leaves=8,
)


def _paths(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    children = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [path, *(inner for key, child in children for inner in _paths(child, (*path, key)))]


PATHS = [path for path in _paths(RIGHT) if path]


def test_nothing_unprintable_hides_a_secret_or_reaches_a_sentence() -> None:
    secret = "hf_" + "a1B2" * 9
    assert secret not in shown(f"{secret[:9]}\U00018d09{secret[9:]}")
    assert shown("A\U00018d0940") == "A40"


@given(st.lists(st.tuples(st.sampled_from(PATHS), json_values), max_size=4), st.sampled_from([1, 2, 8]))
def test_parse_probe_output_never_raises_and_speaks_cleanly_whatever_a_machine_says(
    changes: list[tuple[Any, Any]], count: int
) -> None:
    facts = copy.deepcopy(RIGHT)
    for path, value in changes:
        place: Any = facts
        try:
            for key in path[:-1]:
                place = place[key]
            place[path[-1]] = value
        except (KeyError, IndexError, TypeError):
            continue
    request = ProbeRequest("RTX4090", count, 22, 100, ("torch", "a>=1; python_version > '3'"), "repo", SHA, TREE)

    for check in parse_probe_output(answer(facts), request, NONCE).checks:
        assert check.sentence
        assert len(check.sentence) < 2000
        assert all(character.isprintable() for character in check.sentence)


@given(st.text(max_size=200))
def test_parse_probe_output_fails_in_one_sentence_for_any_other_text(text: str) -> None:
    for output in (text, f"::gpu-lol-probe {NONCE} {text}"):
        assert len(parse_probe_output(output, REQUEST, NONCE).failed) >= 1


def test_build_probe_script_gives_the_same_bytes_each_time_and_is_small() -> None:
    script = build_probe_script(REQUEST, NONCE)

    assert script == build_probe_script(REQUEST, NONCE)
    assert len(script) < 64_000


def test_build_probe_script_refuses_a_key_that_is_none() -> None:
    with pytest.raises(ValueError, match="key"):
        build_probe_script(ProbeRequest("", 0, None, None, (), "repo", SHA, TREE, keys=("x\ny",)), NONCE)


def test_program_for_the_machine_is_python_3_7_and_needs_nothing_installed() -> None:
    allowed = {
        "__future__", "base64", "concurrent", "contextlib", "functools", "getpass", "glob", "hashlib", "importlib", "importlib_metadata", "json", "math", "os",
        "platform", "re", "shutil", "signal", "ssl", "subprocess", "sys", "tempfile", "threading", "time", "typing", "urllib",
    }  # fmt: skip
    folder = Path(launch.__file__).parent / "remote/gpu_lol_probe"
    with zipfile.ZipFile(io.BytesIO(probe._archive())) as archive:
        assert sorted(archive.namelist()) == sorted(
            ["__main__.py", *(f"gpu_lol_probe/{file.name}" for file in folder.glob("*.py"))]
        )
    for file in folder.glob("*.py"):
        for node in ast.walk(ast.parse(file.read_text(), feature_version=(3, 7))):
            if isinstance(node, ast.Import):
                assert {alias.name.split(".")[0] for alias in node.names} <= allowed, file
            if isinstance(node, ast.ImportFrom) and node.level == 0:
                assert str(node.module).split(".")[0] in allowed, file
