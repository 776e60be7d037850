"""A word that a function is called with, or that an option starts with, decides which of its models a program loads."""

from __future__ import annotations

import pytest

from gpu_lol_action.analysis.answer.assemble import analyze
from gpu_lol_action.analysis.formats.surest import best
from tests.unit.analysis.conftest import Build

SMALL, LARGE, OTHER = (
    "stable-diffusion-v1-5/stable-diffusion-v1-5",
    "stabilityai/stable-diffusion-xl-base-1.0",
    "black-forest-labs/FLUX.1-dev",
)
HEAD = """import argparse
import torch
from diffusers import DiffusionPipeline
"""
BUILD = f"""def build(kind):
    if kind == "small":
        return DiffusionPipeline.from_pretrained("{SMALL}")
    elif kind == "large":
        return DiffusionPipeline.from_pretrained("{LARGE}")
    return DiffusionPipeline.from_pretrained("{OTHER}")


"""
TABLE = f'MODELS = {{"small": "{SMALL}", "large": "{LARGE}", "other": "{OTHER}"}}\n\n\n'
TAKE = "def build(kind):\n    return DiffusionPipeline.from_pretrained(MODELS[kind])\n\n\n"
ROWS = f'MODELS = {{"small": {{"id": "{SMALL}"}}, "large": {{"id": "{LARGE}"}}, "other": {{"id": "{OTHER}"}}}}\n\n\n'
TAKE_ROW = 'def build(kind):\n    row = MODELS[kind]\n    return DiffusionPipeline.from_pretrained(row["id"])\n\n\n'
PAIRS = f'MODELS = {{"small": (A, "{SMALL}"), "large": (B, "{LARGE}"), "other": (C, "{OTHER}")}}\n\n\n'
TAKE_PAIR = "def build(kind):\n    kind_of, path = MODELS[kind]\n    return kind_of.from_pretrained(path)\n\n\n"
PARSE = (
    'parser = argparse.ArgumentParser()\nparser.add_argument("--kind", default="{start}")\nargs = parser.parse_args()\n'
)
DRAW = 'pipe.to("cuda")\npipe("a cat").images[0].save("a.png")\n'
WAYS = {
    "branches": BUILD,
    "a table": TABLE + TAKE,
    "a table of rows": ROWS + TAKE_ROW,
    "a table of pairs": PAIRS + TAKE_PAIR,
}


def model(checkout: Build, files: dict[str, str]) -> str | None:
    found = analyze(checkout({"requirements.txt": "torch\ndiffusers\n", **files})).findings
    named = best(found, "model.id")
    return named.value if named is not None else None


@pytest.mark.parametrize("way", WAYS)
def test_a_word_of_a_call_decides(checkout: Build, way: str) -> None:
    assert model(checkout, {"draw.py": f'{HEAD}{WAYS[way]}pipe = build("large")\n{DRAW}'}) == LARGE


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(("start", "command"), [("large", ""), ("small", " --kind large")])
def test_a_word_of_an_option_decides(checkout: Build, way: str, start: str, command: str) -> None:
    program = f"{HEAD}{WAYS[way]}{PARSE.format(start=start)}pipe = build(args.kind)\n{DRAW}"
    assert model(checkout, {"draw.py": program, "run.sh": f"python draw.py{command}\n"}) == LARGE


def test_a_table_of_another_module_is_looked_up_there(checkout: Build) -> None:
    program = f"from models import MODELS\n{HEAD}{TAKE}pipe = build('large')\n{DRAW}"
    assert model(checkout, {"draw.py": program, "models.py": TABLE}) == LARGE


def test_a_table_of_the_same_name_that_is_not_imported_is_another_one(checkout: Build) -> None:
    program = f"MODELS = load_models()\n{HEAD}{TAKE}pipe = build('large')\n{DRAW}"
    found = analyze(checkout({"draw.py": program, "models.py": TABLE})).findings
    assert all("loads `" not in each.why for each in found if each.field == "model.id")


@pytest.mark.parametrize(
    "calls",
    ["pipe = build('large')\npipe = build('small')\n", "pipe = build(chosen())\n", "for kind in KINDS:\n    pipe = build(kind)\n"],
)  # fmt: skip
def test_what_calls_do_not_say_in_one_way_decides_nothing(checkout: Build, calls: str) -> None:
    assert model(checkout, {"draw.py": f"{HEAD}{BUILD}{calls}{DRAW}"}) == SMALL


def test_a_name_that_changes_decides_nothing(checkout: Build) -> None:
    body = BUILD.replace("def build(kind):\n", "").replace("        return ", "        pipe = ").replace("    ", "", 1)
    body = "\n".join(line.removeprefix("    ") for line in body.replace("return ", "pipe = ").splitlines())
    loop = "\n".join(f"    {line}" if line else "" for line in body.splitlines())
    assert (
        model(checkout, {"draw.py": f'{HEAD}kind = "large"\nfor kind in ("small", "large"):\n{loop}\n{DRAW}'}) == SMALL
    )
    assert model(checkout, {"draw.py": f'{HEAD}kind = "large"\n{body}\n{DRAW}'}) == LARGE
