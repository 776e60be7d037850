"""The sampler that runs beside a command: what it reads of drivers' answers, and what we believe of its own."""

from __future__ import annotations

import base64
import json
import os
import runpy
import stat
import subprocess
import sys
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from gpu_lol_action.launch.samples import MAX_TEXT, parse_samples

PROGRAM = Path(__file__).parents[3] / "gpu_lol_action" / "launch" / "remote" / "gpu_lol_sampler.py"
SAMPLER = runpy.run_path(str(PROGRAM))

# `nvidia-smi --query-gpu=index,name,memory.used,memory.total,utilization.gpu --format=csv,noheader,nounits`, in the forms that
# drivers print: a whole card, a card in MIG mode, a card without counters, one that does not answer, units all the same.
ANSWERS = {
    "whole": ("0, NVIDIA A100-SXM4-80GB, 40536, 81920, 97\n", (40536.0, 81920.0, 97.0)),
    "MIG": ("0, NVIDIA A100-SXM4-80GB, 87, 81920, [N/A]\n", (87.0, 81920.0, None)),
    "consumer": ("0, GeForce GTX 1080 Ti, 3, 11178, [Not Supported]\n", (3.0, 11178.0, None)),
    "unknown": ("0, NVIDIA H100 80GB HBM3, [Unknown Error], 81559, [Unknown Error]\n", (None, 81559.0, None)),
    "units": ("0, Tesla K80, 11000 MiB, 11441 MiB, 100 %\n", (11000.0, 11441.0, 100.0)),
}
CARD = {"name": "NVIDIA H100", "total_mib": 81559.0, "work_samples": 3}


def packed(**changes: Any) -> str:
    facts = {
        "source": "nvml",
        "samples": 3,
        "seconds": 6.0,
        "gpus": {
            "10": {**CARD, "peak_mib": 2048.0, "work_sum": 30.0, "work_peak": 30},
            "2": {**CARD, "peak_mib": 40960.0, "work_sum": 240.0, "work_peak": 99},
        },
        "memory_peak_bytes": 5 << 30,
        "disk_free_least_bytes": 7 << 30,
    }
    return base64.b64encode(json.dumps({**facts, **changes}).encode()).decode()


@pytest.mark.parametrize("driver", sorted(ANSWERS))
def test_what_drivers_print_is_read(driver: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    said, (used, total, work) = ANSWERS[driver]
    fake = tmp_path / "nvidia-smi"
    fake.write_text(f"#!/bin/sh\ncat <<'END'\n{said}END\n")
    fake.chmod(fake.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    read = SAMPLER["smi_reader"]()
    facts: dict[str, Any] = {"samples": 0, "gpus": {}}
    SAMPLER["add"](facts, read(), None, None)
    gpu = facts["gpus"]["0"]
    assert (gpu.get("peak_mib"), gpu["total_mib"], gpu.get("work_peak")) == (used, total, work)


def test_without_a_driver_the_rest_is_measured(tmp_path: Path) -> None:
    answer = tmp_path / "samples.json"
    watched = subprocess.Popen(["sleep", "1"])
    environment = {"PATH": str(tmp_path)}
    sampling = subprocess.Popen([sys.executable, PROGRAM, answer, tmp_path, str(watched.pid)], env=environment)
    # Nobody asks how the watched process ended before the sampler does: it must see that it is over all the same.
    assert sampling.wait(timeout=120) == 0
    watched.wait()
    found = parse_samples(base64.b64encode(answer.read_bytes()).decode())
    assert found is not None
    assert (found.source, found.gpus, found.peak_gib) == ("none", (), None)
    assert found.memory_peak_gib is not None
    assert found.disk_free_least_gib is not None


def test_peaks_and_means_are_by_card_in_the_cards_order() -> None:
    found = parse_samples(packed())
    assert found is not None
    assert [gpu.peak_gib for gpu in found.gpus] == [40.0, 2.0]
    assert [gpu.work_percent for gpu in found.gpus] == [80.0, 10.0]
    assert (found.peak_gib, found.memory_peak_gib, found.disk_free_least_gib) == (40.0, 5.0, 7.0)
    assert found.took == timedelta(seconds=6)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "%%%",
        "A" * (MAX_TEXT + 4),
        base64.b64encode(b"[" * 30_000).decode(),
        base64.b64encode(b"[1, 2]").decode(),
        packed(source="<b>"),
        packed(samples=0),
        packed(samples=True),
        packed(seconds="long"),
        packed(seconds=float("nan")),
        packed(seconds=-1),
    ],
    ids=["nothing", "no base64", "too long", "nested", "a list", "source", "no samples", "truth", "text", "nan", "negative"],
)  # fmt: skip
def test_what_cannot_be_believed_is_no_measurement(text: str) -> None:
    assert parse_samples(text) is None


def test_odd_figures_of_a_card_are_left_out_one_by_one() -> None:
    odd = {**CARD, "name": "\x1b[31m" + "x" * 500, "total_mib": None, "peak_mib": 1e300, "work_sum": 900}
    found = parse_samples(packed(gpus={"0": odd, "1": "no card"}))
    assert found is not None
    (gpu,) = found.gpus
    assert len(gpu.name) == 100
    assert (gpu.total_gib, gpu.peak_gib, gpu.work_percent) == (None, None, 100.0)
    assert parse_samples(packed(gpus=[1])) is not None


def watched(tmp_path: Path, python: str) -> subprocess.CompletedProcess[str]:
    """Watch a process that is over at once, with this interpreter; say how it ended, and what it left."""
    interpreter = tmp_path / "python"
    interpreter.write_text(python)
    interpreter.chmod(0o700)
    script = "\n".join(
        [
            "set -u; say() { printf '%s\\n' \"$1\"; }",
            f"state={tmp_path}; python={interpreter}; sampler=$(printf 'exit' | base64)",
            (PROGRAM.parent / "watching.sh").read_text(),
            "true & gpu_lol_watch $!; gpu_lol_watched",
            'wait "$sampling" 2> /dev/null; echo "ended with $?"; ls "$state"',
        ]
    )
    return subprocess.run(["bash", "-c", script], capture_output=True, text=True, check=False, timeout=240)


def test_sampler_that_hangs_in_a_driver_is_ended_and_nothing_waits_for_it(tmp_path: Path) -> None:
    said = watched(tmp_path, "#!/bin/bash\nexec sleep 600\n")
    assert said.stdout == "ended with 137\npython\n"


def test_sampler_that_fails_leaves_nothing_behind(tmp_path: Path) -> None:
    assert watched(tmp_path, "#!/bin/bash\nexit 1\n").stdout == "ended with 1\npython\n"


def test_what_the_sampler_wrote_is_said(tmp_path: Path) -> None:
    said = watched(tmp_path, '#!/bin/bash\nprintf "{}" > "$3"\n')
    assert said.stdout == f"samples {base64.b64encode(b'{}').decode()}\nended with 0\npython\n"
