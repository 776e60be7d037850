"""The sampler that runs beside a command: what it reads of drivers' answers, and what we believe of its own."""

from __future__ import annotations

import base64
import json
import runpy
import subprocess
import sys
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from gpu_lol_action.launch.samples import MAX_TEXT, parse_samples

PROGRAM = Path(__file__).parents[3] / "gpu_lol_action" / "launch" / "remote" / "gpu_lol_sampler.py"
SAMPLER = runpy.run_path(str(PROGRAM))

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


@pytest.mark.parametrize(
    ("text", "figure"),
    [
        ("40536", 40536.0), ("11441 MiB", 11441.0), ("97 %", 97.0), ("0", 0.0), ("[N/A]", None), ("N/A", None),
        ("[Not Supported]", None), ("[Unknown Error]", None), ("[Insufficient Permissions]", None),
        ("[GPU requires reset]", None), ("[Requested functionality has been deprecated]", None), ("ERR!", None), ("", None),
        ("81,920", None), ("nan", None), ("inf", None), ("-1", None), ("1e9", None), ("0x10", None), ("14 GB", None),
        ("9" * 40, None), ("\u0663", None),
    ],
)  # fmt: skip
def test_what_is_no_plain_figure_is_not_known(text: str, figure: float | None) -> None:
    assert SAMPLER["number"](text) == figure


def test_total_that_was_not_told_at_first_is_taken_later() -> None:
    facts: dict[str, Any] = {"samples": 0, "gpus": {}}
    for used, total in (("[Unknown Error]", "[Unknown Error]"), ("87", "81920"), ("[N/A]", "[N/A]")):
        SAMPLER["add"](facts, [("0", "NVIDIA A100", used, total, "[N/A]")], None, None)
    gpu = facts["gpus"]["0"]
    assert (gpu["peak_mib"], gpu["total_mib"], gpu["work_samples"]) == (87.0, 81920.0, 0)
    assert "work_peak" not in gpu


def test_looks_are_as_rare_as_they_are_dear() -> None:
    pause, share, interval = SAMPLER["pause_s"], SAMPLER["SHARE"], SAMPLER["INTERVAL_S"]
    assert pause(0.002, 0.1, 0.0) == interval, "a cheap one is within the share at every interval"
    for look in (0.02, 0.15, 2.0):
        ran, spent = 0.1, 0.04 + look  # the start, and a first look
        for _ in range(50):
            ran += pause(look, spent, ran) + look
            spent += look
            assert spent <= share * ran + 1e-9, (look, ran)
        assert spent > 0.98 * share * (ran - look / share), "and no rarer than that"


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


def test_nvidia_smi_is_asked_once_where_the_library_is_not_there(tmp_path: Path) -> None:
    asked = tmp_path / "asked"
    fake = tmp_path / "nvidia-smi"
    fake.write_text(f"#!/bin/sh\necho >> {asked}\necho '0, NVIDIA L4, 11, 23034, 50'\n")
    fake.chmod(0o700)
    watched, answer = subprocess.Popen(["sleep", "1"]), tmp_path / "samples.json"
    sampling = subprocess.Popen(
        [sys.executable, PROGRAM, answer, tmp_path, str(watched.pid)], env={"PATH": f"{tmp_path}:/usr/bin:/bin"}
    )
    assert sampling.wait(timeout=120) == 0
    watched.wait()
    found = parse_samples(base64.b64encode(answer.read_bytes()).decode())
    assert found is not None
    assert (found.source, found.samples, found.gpus[0].work_percent) == ("nvidia-smi", len(asked.read_text()), 50.0)


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
