"""`/gpu-lol up` against a bare `sky launch` of the same task, interleaved, on the loopback cloud (needs root).

Each pair runs our action from the comment to "ready" and, beside it in the same run, SkyPilot's own command from an empty
home to the same point: a machine that has the spec's packages and answers on SSH. Then `/gpu-lol down`, from a fresh runner,
and `sky down`, by whose server still runs: the seconds until the provider lists no machine. Prints the phases of `up`, the
medians, and the ratios.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import yaml

from gpu_lol_action.adapters.github import Connection, GitHubClient
from gpu_lol_action.adapters.ledger import RecordLedger
from gpu_lol_action.adapters.ledger_refs import GitRefStore
from gpu_lol_action.adapters.skypilot_process import free_port
from gpu_lol_action.domain.ledger import Entry
from gpu_lol_action.domain.spec_yaml import parse_spec
from gpu_lol_action.rehearsal.catalog import write_catalog
from gpu_lol_action.rehearsal.stage import Stage

SPEC = """hardware: {gpu_type: RTX4090, gpu_count: 1, vram_required_gb: 20}
dependencies: {requirements: [packaging]}
meta: {name: bench, workload_type: training}
"""


@dataclass(frozen=True, slots=True)
class Seconds:
    """What one side took: until ready, until the provider's empty answer, until its command had ended."""

    up: float
    gone: float
    down: float


def ended(stage: Stage, end: Callable[[], object]) -> tuple[float, float]:
    """Return after how many seconds the provider listed nothing, and after how many `end` was over."""
    began, gone, over = time.perf_counter(), [float("inf")], threading.Event()

    def watch() -> None:
        while not over.wait(0.1):
            if not stage.open_cloud().pods():
                gone[0] = time.perf_counter() - began
                return

    watcher = threading.Thread(target=watch, daemon=True)
    watcher.start()
    end()
    seconds = time.perf_counter() - began
    over.set()
    watcher.join()
    return gone[0], seconds


def up(stage: Stage, number: int) -> tuple[Seconds, dict[str, float]]:
    """Return the seconds from the comment to ready and to gone, and those of each phase."""
    event = stage.hub.comment(number, stage.hub.maintainer, "/gpu-lol up")
    stage.hub.forget_requests()
    began = time.perf_counter()
    run = stage.run_action(event)
    seconds = time.perf_counter() - began
    print(f"GitHub requests of this `up`: {sum(stage.hub.counts().values())} {stage.hub.counts()}", flush=True)
    if run.last.exit_code != 0 or run.act is None:
        raise SystemExit(f"up failed:\n{run.last.log[-3000:]}")
    client = GitHubClient(Connection(stage.hub.bot_token, stage.full_name, stage.hub.api_url), lambda _pause: None)
    entries = [e for e in RecordLedger(GitRefStore(client)).entries() if isinstance(e, Entry) and e.record.is_open]
    phases = {phase.name: phase.seconds for phase in entries[0].record.phases}
    phases["light step"] = round(run.decide.seconds, 1)
    event = stage.hub.comment(number, stage.hub.maintainer, "/gpu-lol down")
    return Seconds(seconds, *ended(stage, lambda: stage.run_action(event))), phases


def bare(stage: Stage, folder: Path) -> Seconds:
    """Return the seconds of `sky launch` (and one login) from an empty home; SkyPilot's server starts within them."""
    cloud = stage.open_cloud()
    home = folder / "home"
    write_catalog(home)
    key = home / ".runpod" / "config.toml"
    key.parent.mkdir(parents=True)
    key.write_text(f'[default]\napi_key = "{cloud.api_key}"\n', encoding="utf-8")
    spec = parse_spec(SPEC)
    task = {
        "resources": {"infra": "runpod", "accelerators": "RTX4090:1", "disk_size": 60},
        "setup": "pip install -q " + " ".join(spec.dependencies.requirements),
    }
    (folder / "task.yaml").write_text(yaml.safe_dump(task), encoding="utf-8")
    environment = {
        **{name: os.environ[name] for name in ("PATH", "LANG") if name in os.environ},
        **{name: value for name, value in os.environ.items() if name.endswith(("CERT_FILE", "CA_BUNDLE"))},
        **cloud.environment,
        "HOME": str(home),
        "SKYPILOT_DISABLE_USAGE_COLLECTION": "1",
        "SKYPILOT_API_SERVER_LOCAL_PORT": str(free_port()),
        "NO_COLOR": "1",
    }
    sky = str(Path(sys.executable).with_name("sky"))
    try:
        began = time.perf_counter()
        _run([sky, "launch", "-y", "-c", "bare", str(folder / "task.yaml")], environment, folder)
        generated = home / ".sky" / "generated"
        login = [
            "ssh",
            "-F",
            str(generated / "ssh" / "bare"),
            "-i",
            str(generated / "ssh-keys" / "bare.key"),
            "bare",
            "true",
        ]
        _run(login, environment, folder)
        seconds = time.perf_counter() - began
        return Seconds(seconds, *ended(stage, lambda: _run([sky, "down", "-y", "bare"], environment, folder)))
    finally:
        subprocess.run([sky, "down", "-y", "bare"], env=environment, cwd=folder, capture_output=True, check=False)
        subprocess.run([sky, "api", "stop"], env=environment, cwd=folder, capture_output=True, check=False)


def _run(command: list[str], environment: dict[str, str], folder: Path) -> None:
    done = subprocess.run(command, env=environment, cwd=folder, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        server = Path(environment["HOME"]) / ".sky" / "api_server" / "server.log"
        log = server.read_text(errors="replace")[-2000:] if server.exists() else "no log of SkyPilot's server"
        raise SystemExit(f"{command[0]} failed:\n{done.stdout[-2000:]}\n{done.stderr[-2000:]}\n{log}")


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pairs", type=int, default=5)
    pairs = parser.parse_args().pairs
    ours: list[Seconds] = []
    theirs: list[Seconds] = []
    phases: list[dict[str, float]] = []
    with Stage() as stage:
        stage.open_cloud()
        key = stage.folder / "key"
        subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(key)], check=True)
        stage.hub.add_user(stage.hub.maintainer, role="admin", ssh_keys=[key.with_suffix(".pub").read_text().strip()])
        stage.hub.commit({".gpu-lol.yaml": SPEC, "train.py": "import torch\n"})
        number = int(stage.hub.open_pull_request("ada", {"notes.md": "x\n"}).number or 0)
        for pair in range(pairs):
            seconds, found = up(stage, number)
            ours.append(seconds)
            phases.append(found)
            folder = stage.folder / f"bare-{pair}"
            folder.mkdir()
            theirs.append(bare(stage, folder))
            print(
                f"pair {pair + 1}: up {ours[-1].up:.1f} s {json.dumps(found)}, sky launch {theirs[-1].up:.1f} s; "
                f"gone after {ours[-1].gone:.1f} s (certificate after {ours[-1].down:.1f} s), "
                f"sky down {theirs[-1].gone:.1f} s ({theirs[-1].down:.1f} s)",
                flush=True,
            )
    for name in phases[0]:
        print(f"  {name:<14} median {statistics.median(p.get(name, 0.0) for p in phases):.1f} s")
    for mine, bare_name, name in (("up", "sky launch", "up"), ("down until gone", "sky down until gone", "gone")):
        own, other = (statistics.median(getattr(each, name) for each in side) for side in (ours, theirs))
        # What else the machine does meanwhile is the same for both of a pair, and not for two pairs.
        ratio = statistics.median(getattr(o, name) / getattr(t, name) for o, t in zip(ours, theirs, strict=True))
        print(
            f"{mine} {own:.1f} s, {bare_name} {other:.1f} s (medians of {pairs} pairs), median of their ratios {ratio:.2f}"
        )


if __name__ == "__main__":
    main()
