"""Whether the packages that proposals ask for can be installed together: what an index answers today, for real repositories.

    python benchmarks/installable.py ROOT [--sample 200] [--seed 7] [--seconds 120] [--failures FILE]

ROOT holds one checkout a folder. The requirements that each proposal would install first are resolved by uv for the Python of the
proposed image, on 64-bit Linux; nothing is installed. Builds that only tell their metadata are run, by uv, so give it a machine
that may be lost. What lies in repositories (``git+https``) or is built last, in sight of PyTorch, is left out, and pages of
wheels beside the index (JAX's) are not asked.

A failure is one of the proposal, of the list that it read, or of what indexes have become since: set-up overcomes some
(``launch/remote/installer.sh``), which this does not try.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from repositories import analyze

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT))

from gpu_lol_action.estimation.image_python import python_inside  # noqa: E402 - run as a file, from anywhere
from gpu_lol_action.launch.build_order import order_builds  # noqa: E402

UV = Path(sys.executable).parent / "uv"
# Which of uv's sentences means what; the first that stands in its answer counts.
KINDS = (
    ("a package needs a network that is not there", r"dns error|Failed to fetch|error sending request"),
    ("a build fails", r"Failed to (?:download and )?build"),
    ("no index has the name", r"not found in the package registry"),
    ("no index has the version", r"there (?:is|are) no versions? of"),
    ("the versions contradict each other, or the Python", r"No solution found"),
)
LAST_OF_A_PYTHON = {"3.6": "3.6.15", "3.7": "3.7.17", "3.8": "3.8.20"}


def resolve(requirements: Sequence[str], python: str, seconds: float) -> str:
    """Return what uv says against these requirements; empty where they can be installed."""
    command = [str(UV), "pip", "compile", "-", "--python-version", LAST_OF_A_PYTHON.get(python, python)]
    command += ["--python-platform", "x86_64-manylinux_2_31", "--index-strategy", "unsafe-best-match", "--quiet"]
    try:
        done = subprocess.run(
            command, input="\n".join(requirements), capture_output=True, text=True, check=False, timeout=seconds
        )
    except subprocess.TimeoutExpired:
        return "not resolved in time"
    return (done.stderr or "failed") if done.returncode else ""


def kind_of(answer: str) -> str:
    """Return which kind of failure an answer tells."""
    return next((kind for kind, words in KINDS if re.search(words, answer)), "another reason")


def judge(folder: Path, seconds: float) -> dict[str, Any]:
    """Return a folder's requirements and what stands against them."""
    found = analyze(folder)
    if found is None:
        return {"folder": folder.name, "against": "not analyzed", "kind": "not analyzed"}
    environment = found["spec"]["environment"]
    python = python_inside(found["base_image"]) or str(environment.get("python_version", "3.11"))
    asked = [text for text in order_builds(found["requirements"]).first if "git+" not in text]
    against = resolve(asked, python, seconds)
    return {
        "folder": folder.name,
        "python": python,
        "asked": asked,
        "against": against,
        "kind": against and kind_of(against),
    }


def lot(name: str, seed: int) -> str:
    """Return a name's lot: the same one on every machine, whatever else lies there."""
    return hashlib.blake2b(f"{seed}:{name}".encode()).hexdigest()


def main() -> int:
    """Print the share that can be installed, and the kinds of failure."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("root", type=Path)
    parser.add_argument("--sample", type=int, help="so many of the folders, drawn by lot (all)")
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--seconds", type=float, default=120, help="for one list (120)")
    parser.add_argument("--failures", type=Path, help="write each failure there, one JSON object a line")
    asked = parser.parse_args()
    folders = sorted(folder for folder in asked.root.iterdir() if folder.is_dir())
    if asked.sample:
        folders = sorted(sorted(folders, key=lambda folder: lot(folder.name, asked.seed))[: asked.sample])
    with ThreadPoolExecutor(os.cpu_count() or 1) as pool:
        judged = list(pool.map(lambda folder: judge(folder, asked.seconds), folders))
    failed = [one for one in judged if one["against"]]
    if asked.failures is not None:
        asked.failures.write_text("".join(json.dumps(one) + "\n" for one in failed), encoding="utf-8")
    share = 100 * (len(judged) - len(failed)) / max(len(judged), 1)
    print(
        f"{len(judged)} repositories: the packages of {len(judged) - len(failed)} ({share:.0f} %) can be installed together"
    )
    for kind, count in Counter(one["kind"] for one in failed).most_common():
        print(f"{count:5}  {kind}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
