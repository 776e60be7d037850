"""How soon a person gets the first answer: `gpu-lol --help`, and the reaction to `/gpu-lol up` on the GitHub stand-in.

Prints, over several runs, minimum, median and maximum seconds from process start: of the whole `--help` process, and of
the first reaction POST as the stand-in receives it; then GitHub requests per proposal, per update of one, and of the
light step of `up`. The last line is JSON.
"""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
import time
from pathlib import Path

from gpu_lol_action.rehearsal.stage import Stage

ROOT = Path(__file__).parents[1]
RUNS = 9
TARGET_SECONDS = 0.5
PROJECT = {
    "train.py": "import torch\nfrom transformers import AutoModelForCausalLM\n"
    "model = AutoModelForCausalLM.from_pretrained('Qwen/Qwen2.5-7B')\n",
    "requirements.txt": "torch\ntransformers\n",
}


def spread(name: str, seconds: list[float]) -> None:
    """Print one line of the report."""
    print(
        f"{name:<46} min {min(seconds):.3f} s  median {statistics.median(seconds):.3f} s  "
        f"max {max(seconds):.3f} s  ({len(seconds)} runs)"
    )


def time_help() -> float:
    """Return the seconds of one `gpu-lol --help`."""
    began = time.perf_counter()
    subprocess.run([sys.executable, "-m", "gpu_lol_action.cli", "--help"], cwd=ROOT, check=True, capture_output=True)
    return time.perf_counter() - began


def time_bare_python() -> float:
    """Return the seconds of a Python process that does nothing: the floor on this machine."""
    began = time.perf_counter()
    subprocess.run([sys.executable, "-c", "pass"], check=True)
    return time.perf_counter() - began


def main() -> None:
    """Measure and print."""
    time_help()
    floor = [time_bare_python() for _ in range(RUNS)]
    spread("python -c pass (floor)", floor)
    spread("gpu-lol --help", [time_help() for _ in range(RUNS)])
    with Stage() as stage:
        hub = stage.hub
        hub.commit(PROJECT)
        opened = hub.open_pull_request("ada", {"train.py": PROJECT["train.py"] + "import datasets\n"})
        stage.run_action(opened)
        proposal = hub.counts()
        number = int(opened.number or 0)
        reactions = []
        for _ in range(RUNS):
            event = hub.comment(number, hub.maintainer, "/gpu-lol up")
            hub.forget_requests()
            began = time.time()
            step = stage.start_step(event, hub.start_run("issue_comment", hub.maintainer), {"GPU_LOL_PHASE": "decide"})
            while not any("reactions" in key for key in hub.counts()):
                if step.process.poll() is not None:
                    raise SystemExit("no reaction was posted:\n" + (step.wait().log))
                time.sleep(0.002)
            reactions.append(time.time() - began)
            step.wait()
        light = hub.counts()
        spread("/gpu-lol up: process start to first reaction", reactions)
        pushed = hub.push(number, "ada", {"train.py": PROJECT["train.py"] + "import datasets\nimport accelerate\n"})
        hub.forget_requests()
        stage.run_action(pushed)
        update = hub.counts()
        print(f"GitHub requests per proposal: {sum(proposal.values())} {proposal}")
        print(f"GitHub requests per proposal update: {sum(update.values())} {update}")
        print(f"GitHub requests of the light step of `up`: {sum(light.values())} {light}")
        figures = {
            "first_reaction_s": round(statistics.median(reactions), 3),
            "target_s": TARGET_SECONDS,
            "python_s": round(statistics.median(floor), 3),
            "requests_per_proposal_update": sum(update.values()),
        }
        print(json.dumps(figures))


if __name__ == "__main__":
    main()
