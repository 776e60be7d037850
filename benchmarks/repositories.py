"""How right `gpu-lol analyze` is on real repositories whose needs are known from their own documentation.

``python benchmarks/repositories.py ROOT [--split tuned|held-out|public] [--without-docs] [--llm | --kept-advice]``

``benchmarks/data/repositories.jsonl`` names the repositories, their commits, and what a knowledgeable reader accepts as right:
workloads, GiB per GPU as a range, GPU counts, packages, each with the place that says so. The checkouts themselves are not kept
here: put each at its commit under ``ROOT/<owner>+<name>/<subdir>``; what is missing is counted and left out.

The analyzer was improved on the splits ``public`` and ``tuned``. A split ``held-out`` is read once, and not looked into
(docs/analysis-figures.md has such readings); once anything is improved on it, it is ``tuned``.

With ``--llm`` the language model of ``GPU_LOL_LLM_URL`` may correct each answer (docs/hub-and-llm.md): one question of about
28 KB for each repository. ``--kept-advice`` says again what one answered about 378 of them (``data/advice.jsonl``).
"""

from __future__ import annotations

import argparse
import json
import math
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterable, Mapping
from contextlib import nullcontext
from pathlib import Path
from types import MappingProxyType
from typing import Any

from _kept_advice import kept_advice, told_again

NONE: Mapping[str, str] = MappingProxyType({})
CASES = Path(__file__).parent / "data" / "repositories.jsonl"
FIELDS = (
    "workload",
    "needs a GPU",
    "VRAM in range",
    "GPU count",
    "GPU count is the main one",
    "packages",
    "everything",
)
DOCUMENTATION = re.compile(r"\.(?:md|mdx|rst)$", re.IGNORECASE)
SAME_PACKAGE = {
    "opencv-python-headless": "opencv-python",
    "opencv-contrib-python": "opencv-python",
    "tensorflow-gpu": "tensorflow",
    "tensorflow-cpu": "tensorflow",
    "pytorch-lightning": "lightning",
    "monai-weekly": "monai",
    "rdkit-pypi": "rdkit",
    "sklearn": "scikit-learn",
}


def read_cases(split: str | None) -> list[dict[str, Any]]:
    """Return the cases of a split, or all."""
    cases = [json.loads(line) for line in CASES.read_text(encoding="utf-8").splitlines()]
    return [case for case in cases if split in {None, case["split"]}]


def folder_of(root: Path, case: Mapping[str, Any]) -> Path:
    """Return where a case's checkout is expected."""
    return root / str(case["repo"]).replace("/", "+") / str(case["subdir"])


def analyze(folder: Path, options: Iterable[str] = (), variables: Mapping[str, str] = NONE) -> dict[str, Any] | None:
    """Return what `gpu-lol analyze` prints as JSON for a folder; None where it failed."""
    code = "import sys; from gpu_lol_action.cli import main; sys.exit(main())"
    command = [sys.executable, "-c", code, "analyze", str(folder), "--format", "json", *options]
    environment = {**os.environ, **variables, "PYTHONPATH": str(Path(__file__).parent.parent)}
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300, env=environment)
    found: dict[str, Any] | None = json.loads(done.stdout) if done.returncode == 0 else None
    return found


def without_documentation(folder: Path, into: Path) -> Path:
    """Return a copy of the folder without its documentation."""

    def left_out(_: str, names: Iterable[str]) -> list[str]:
        return [name for name in names if name in {".git", "docs", "doc"} or DOCUMENTATION.search(name)]

    return Path(shutil.copytree(folder, into / "tree", symlinks=True, ignore=left_out))


def package(requirement: str) -> str:
    """Return the bare name of a requirement; the last word of a repository's address."""
    address = re.search(r"(?:git\+|https?://)\S*?/([\w.-]+?)(?:\.git)?(?:[@#]|$)", requirement)
    name = (
        address[1]
        if address and not re.match(r"[\w.-]+\s*@", requirement)
        else re.split(r"[\[<>=!~;@ ]", requirement.strip())[0]
    )
    folded = re.sub(r"[-_.]+", "-", name).lower()
    return SAME_PACKAGE.get(folded, folded)


def judge(case: Mapping[str, Any], found: Mapping[str, Any]) -> dict[str, bool]:
    """Return which fields are right; a field that a case says nothing of is left out."""
    needs = found["workload_type"] != "cpu-only" and found["gpu_count"] > 0
    count = found["gpu_count"] if needs else 0
    vram = float(found["vram_required_gb"] or 0) if needs else 0.0
    right = {
        "workload": found["workload_type"] in case["workloads"],
        "GPU count": count in case["gpu_counts"],
        "GPU count is the main one": count == case["gpu_counts"][0],
    }
    if case["needs_gpu"] is not None:
        right["needs a GPU"] = needs == case["needs_gpu"]
    if case["needs_gpu"]:
        right["VRAM in range"] = case["vram_gib"][0] <= vram <= case["vram_gib"][1]
    have = {package(requirement) for requirement in found["requirements"]}
    image = str(found["base_image"] or "")
    have |= {name for name in ("torch", "tensorflow") if name in image}
    missing = [names for names in case["packages"] if not {package(name) for name in names.split("|")} & have]
    extra = {package(name) for name in case["not_packages"]} & {package(name) for name in found["requirements"]}
    right["packages"] = not missing and not extra
    right["everything"] = all(value for field, value in right.items() if field != "GPU count is the main one")
    return right


def closeness(case: Mapping[str, Any], found: Mapping[str, Any]) -> float | None:
    """Return by which factor VRAM is off the documented figure; None where there is none."""
    if not case["documented_gib"] or not found["vram_required_gb"]:
        return None
    return math.exp(abs(math.log(found["vram_required_gb"] / case["documented_gib"])))


def read_options() -> argparse.Namespace:
    """Return what is to be judged, and with whose help."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("root", type=Path)
    parser.add_argument("--split", choices=("public", "tuned", "held-out"))
    parser.add_argument("--without-docs", action="store_true", help="leave *.md, *.rst and docs/ out of each checkout")
    helper = parser.add_mutually_exclusive_group()
    helper.add_argument(
        "--llm", action="store_true", help="let the language model of GPU_LOL_LLM_URL correct the answers"
    )
    helper.add_argument(
        "--kept-advice", action="store_true", help="let kept answers of one correct those that it was asked about"
    )
    return parser.parse_args()


def main() -> None:
    """Print the rates of each split, and every miss."""
    options = read_options()
    advice = kept_advice() if options.kept_advice else {}
    more = ["--llm"] if options.llm or options.kept_advice else []
    cases = [case for case in read_cases(options.split) if not advice or case["id"] in advice]
    right: Counter[str] = Counter()
    asked: Counter[str] = Counter()
    factors: list[float] = []
    absent = corrected = unheard = 0
    for case in cases:
        folder = folder_of(options.root, case)
        if not folder.is_dir():
            absent += 1
            continue
        told = told_again(advice[case["id"]]) if advice else nullcontext(NONE)
        with tempfile.TemporaryDirectory() as space, told as variables:
            looked_at = without_documentation(folder, Path(space)) if options.without_docs else folder
            found = analyze(looked_at, more, variables)
        fields = judge(case, found) if found is not None else dict.fromkeys(FIELDS, False)
        asked.update(fields.keys())
        right.update(field for field, value in fields.items() if value)
        if found is not None:
            corrected += "llm_override" in found
            unheard += any("what the code says stands" in gap for gap in found["not_understood"])
        if found is not None and (factor := closeness(case, found)) is not None:
            factors.append(factor)
        misses = [field for field in FIELDS[:-1] if fields.get(field) is False]
        if misses and found is not None:
            got = f"{found['workload_type']}, {found['vram_required_gb']} GB x {found['gpu_count']}"
            print(f"{case['id']:<28} {', '.join(misses)}: got {got}")
    print(f"\n{len(cases) - absent} repositories, {absent} not checked out")
    if more:
        print(f"corrected by the language model {corrected}, its answer missing or not taken {unheard}")
    for field in FIELDS:
        if asked[field]:
            print(f"{field:<28} {right[field]:>3} of {asked[field]:>3}  {right[field] / asked[field]:>6.1%}")
    if factors:
        print(f"{'VRAM within x1.5 of documented':<28} {sum(factor <= 1.5 for factor in factors)} of {len(factors)}")


if __name__ == "__main__":
    main()
