"""Both doors with a publisher of prices and a cloud at hand: what is asked, what is shown, and that nothing heavy loads."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from gpu_lol_action.rehearsal.stage import Stage, StepRun
from tests.support.web import Said, Web, said_json, web_server

PACKAGE_ROOT = Path(__file__).parents[2]
KEY = "rpa_" + "k" * 40
HEADER = "InstanceType,AcceleratorName,AcceleratorCount,vCPUs,MemoryGiB,Region,SpotPrice,Price,AvailabilityZone,GpuInfo"
CATALOG = f"{HEADER}\n1x_L4_SECURE,L4,1.0,12.0,50.0,US,0.19,0.19,US-1,\n"
TRAIN = """\
import torch
from transformers import AutoModelForCausalLM, Trainer, TrainingArguments

if __name__ == "__main__":
    model = AutoModelForCausalLM.from_pretrained("gpt2", torch_dtype=torch.bfloat16)
    Trainer(model=model, args=TrainingArguments("out", per_device_train_batch_size=1, bf16=True)).train()
"""
TEMPLATES = [{"id": "runpod-torch-v280", "name": "Runpod Pytorch 2.8.0", "imageName": "runpod/pytorch:2.8.0-py3.11-cuda12.8.1"},
             {"id": "x", "name": "team-dev", "imageName": "acme/dev:1", "containerRegistryAuthId": "r"}]  # fmt: skip


@pytest.fixture
def prices() -> Iterator[Web]:
    with web_server() as server:
        server.script = lambda seen: Said(CATALOG.encode()) if "runpod" in seen.path else Said(b"", 503)
        yield server


@pytest.fixture
def cloud() -> Iterator[Web]:
    with web_server() as server:
        row = {"id": "NVIDIA L4", "secureCloud": True, "c1": {"stockStatus": "Low", "uninterruptablePrice": 0.21}}
        server.script = lambda _seen: said_json({"data": {"gpuTypes": [row], "myself": {"podTemplates": TEMPLATES}}})
        yield server


# Says which modules a command loaded, for what matters is what did not load.
PROGRAM = (
    "import sys; from gpu_lol_action import cli; code = cli.main(sys.argv[1:]); "
    "print('LOADED', sorted({'sky', 'runpod', 'pandas', 'github'} & set(sys.modules)), file=sys.stderr); sys.exit(code)"
)


def terminal(folder: Path, *words: str, **variables: str) -> subprocess.CompletedProcess[str]:
    environment = {"PATH": os.environ["PATH"], "HOME": str(folder), "PYTHONPATH": str(PACKAGE_ROOT), **variables}
    return subprocess.run(
        [sys.executable, "-c", PROGRAM, *words],
        cwd=folder,
        env=environment,
        capture_output=True,
        encoding="utf-8",
        stdin=subprocess.DEVNULL,
        check=False,
    )


def test_the_terminal_shows_published_prices_and_keeps_them(tmp_path: Path, prices: Web) -> None:
    for _ in range(2):
        done = terminal(tmp_path, "offers", "20GB", GPU_LOL_PRICES=prices.address)
        assert done.returncode == 0, done.stderr
        assert "1 × L4" in done.stdout
        assert "$0.19/h" in done.stdout
        assert "LOADED []" in done.stderr
    asked = [seen.path for seen in prices.seen]
    assert asked.count("/runpod/vms.csv") == 1, "the second time it is on disk"
    assert (tmp_path / ".cache/gpu-lol/prices").is_dir()


def test_the_terminal_asks_a_cloud_for_its_stock_and_shows_no_key(tmp_path: Path, prices: Web, cloud: Web) -> None:
    variables = {"GPU_LOL_PRICES": prices.address, "RUNPOD_API_BASE_URL": cloud.address, "RUNPOD_API_KEY": KEY}
    done = terminal(tmp_path, "offers", "20GB", "--cloud", "runpod", "--availability", "--format", "json", **variables)
    assert done.returncode == 0, done.stderr
    (offer,) = json.loads(done.stdout)["offers"]
    assert offer["available"] == {"level": "low", "price_usd_per_hour": "0.21", "regions": []}
    assert KEY not in done.stdout + done.stderr
    assert "LOADED []" in done.stderr


def test_exit_codes_say_what_came_of_it(tmp_path: Path) -> None:
    bundled = {"GPU_LOL_PRICES": "bundled"}
    assert terminal(tmp_path, "offers", "24GB", **bundled).returncode == 0
    assert terminal(tmp_path, "offers", "900GB", **bundled).returncode == 1
    assert terminal(tmp_path, "offers", "H1000", **bundled).returncode == 1
    assert terminal(tmp_path, "templates", **bundled).returncode == 2


def test_the_analysis_asks_nobody_for_prices(tmp_path: Path, prices: Web) -> None:
    (tmp_path / "train.py").write_text(TRAIN)
    done = terminal(tmp_path, "analyze", ".", GPU_LOL_PRICES=prices.address)
    assert done.returncode == 0, done.stderr
    assert "bundled snapshot" in done.stdout
    assert prices.seen == []


def test_templates_are_listed_with_what_is_preferred(tmp_path: Path, cloud: Web) -> None:
    variables = {"RUNPOD_API_BASE_URL": cloud.address, "RUNPOD_API_KEY": KEY, "GPU_LOL_TEMPLATE_PATTERN": "team"}
    done = terminal(tmp_path, "templates", **variables)
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert lines[0].startswith("+ Runpod Pytorch 2.8.0")
    assert lines[1].startswith("* team-dev")
    assert "private" in lines[1]
    found = json.loads(terminal(tmp_path, "templates", "--filter", "team", "--format", "json", **variables).stdout)
    assert [(each["name"], each["is_own"], each["is_official"]) for each in found] == [("team-dev", True, False)]
    assert "LOADED []" in done.stderr


@pytest.fixture
def stage() -> Iterator[Stage]:
    with Stage() as stage:
        stage.hub.commit({"README.md": "lab\n"})
        yield stage


def step(stage: Stage, body: str | None, **variables: str) -> StepRun:
    opened = stage.hub.open_pull_request("ada", {"train.py": TRAIN, "requirements.txt": "torch\ntransformers\n"})
    webhook = opened if body is None else stage.hub.comment(int(opened.number or 0), stage.hub.maintainer, body)
    return stage.run_step(webhook, "1", {"GPU_LOL_PHASE": "decide", "RUNPOD_API_KEY": "", **variables})


def test_a_proposal_names_published_prices_and_their_day(stage: Stage, prices: Web) -> None:
    done = step(stage, None, PRICES=prices.address)
    assert done.exit_code == 0, done.log
    assert "$0.19/h" in done.summary
    assert "SkyPilot's published catalogs of" in done.summary
    assert sorted(seen.path for seen in prices.seen) == ["/lambda/vms.csv", "/runpod/vms.csv"]


def test_a_publisher_who_is_down_leaves_the_snapshot_and_its_age(stage: Stage, prices: Web) -> None:
    prices.script = lambda _seen: Said(b"", 503)
    done = step(stage, None, PRICES=prices.address)
    assert done.exit_code == 0, done.log
    assert "bundled snapshot of SkyPilot's catalogs of 1 Sep 2026, " in done.summary
    assert " days old" in done.summary


def test_offers_are_answered_in_the_light_step_with_stock(stage: Stage, prices: Web, cloud: Web) -> None:
    done = step(stage, "/gpu-lol offers 20GB --availability", PRICES=prices.address, RUNPOD_API_BASE_URL=cloud.address)
    assert done.exit_code == 0, done.log
    assert done.outputs["needs_cloud"] == "false"
    assert done.outputs["reason_code"] == "offers_shown"
    assert "low, $0.21/h now" in done.summary
    assert "authorization" not in cloud.seen[0].headers
