"""What logs say of a failure: on messages from public threads, and where a line only sounds alike."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest

from gpu_lol_action.launch.failure_rules import RULES
from gpu_lol_action.launch.failures import MAX_LOG, recognize

DATA = Path(__file__).parents[3] / "benchmarks" / "data" / "log_messages.jsonl"
MESSAGES = [json.loads(line) for line in DATA.read_text(encoding="utf-8").splitlines()]
# A retry of pip that may yet succeed; nothing behind it says how it ended.
KNOWN_MISSES = frozenset({"network-12"})


@pytest.mark.parametrize("message", MESSAGES, ids=lambda each: each["id"])
def test_messages_are_told_apart(message: dict[str, str]) -> None:
    found = recognize(message["line"])
    said = found.kind if found is not None else "none"
    assert said == ("none" if message["id"] in KNOWN_MISSES else message["kind"])


def test_every_rule_has_messages_of_both_halves_with_their_sources() -> None:
    assert len(MESSAGES) >= 120
    spread = Counter((each["kind"], each["split"]) for each in MESSAGES)
    for rule in RULES:
        assert spread[rule.kind, "known"] >= 4, rule.kind
        assert spread[rule.kind, "held-out"] >= 4, rule.kind
    assert all(each["source"].startswith("https://") for each in MESSAGES)


@pytest.mark.parametrize(
    ("log", "what"),
    [
        (
            "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 1.70 GiB. GPU 0 has a total capacity of 23.65 GiB",
            "The GPU ran out of memory (1.70 GiB more were asked for, the card has 23.65 GiB).",
        ),
        ("ModuleNotFoundError: No module named 'peft'", "A package or library is missing (`peft`)."),
        ("ImportError: libGL.so.1: cannot open shared object file: No such file", "A package or library is missing (`libGL.so.1`)."),
        ("run.sh: line 3: accelerate: command not found", "A package or library is missing (`accelerate`)."),
        (
            "GatedRepoError: 401\nAccess to model acme/big is restricted. You must have access to it.",
            "Hugging Face's Hub let nobody in (`acme/big` is gated).",
        ),
        (
            "CUDA capability sm_120 is not compatible with the current PyTorch installation.",
            "What is installed has no kernels for this GPU's architecture (sm_120).",
        ),
    ],
)  # fmt: skip
def test_the_sentence_has_the_logs_own_figures(log: str, what: str) -> None:
    found = recognize(log)
    assert found is not None
    assert found.what == what
    assert found.remedy.endswith(".")


def test_what_a_program_overcame_or_only_logged_is_no_failure() -> None:
    assert recognize("cudaMalloc failed: out of memory\nretrying without pipeline parallelism\nready\n") is None
    caught = "WARNING: no triton\nTraceback (most recent call last):\n  import triton\nModuleNotFoundError: No module named 'triton'\n"
    assert recognize(caught + "training\n") is None
    assert recognize(caught.partition("\n")[2]) is not None


def test_the_cause_is_named_before_what_follows_from_it() -> None:
    found = recognize("CUDA out of memory. Tried to allocate 2.00 GiB\nNCCL WARN Connection closed by remote peer\n")
    assert found is not None
    assert found.kind == "cuda_out_of_memory"


def test_a_long_or_hostile_log_is_read_from_its_end() -> None:
    log = "x" * (2 * MAX_LOG) + "\nOSError: [Errno 28] No space left on device\n" + "y" * 100_000
    found = recognize(log)
    assert found is not None
    assert found.kind == "disk_full"
    assert recognize("\0\u202e" + "(" * 50_000 + "a" * 50_000) is None
    assert recognize("") is None
