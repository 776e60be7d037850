from __future__ import annotations

import json
import re
from datetime import datetime, timezone
from decimal import Decimal
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from gpu_lol_action.handlers.analyze import Printing, describe_folder
from tests.unit.analysis.answer.test_as_json import SCHEMA, TRAINING, keys_of, properties_of, validator

NOW = datetime(2026, 11, 20, 15, 0, tzinfo=timezone.utc)
SHA = "a1b9e02c44d5e6f708192a3b4c5d6e7f80912a3b"
BASE = {
    **TRAINING,
    "README.md": "# Tune\n\n```\npython train.py\n```\n",
    "train.py": TRAINING["train.py"].replace("0.5B", "7B").replace("batch_size=2", "batch_size=1"),
    "requirements.txt": "torch\ntransformers\naccelerate\n",
}
HEAD = {
    **BASE,
    "train.py": BASE["train.py"].replace("batch_size=1", "batch_size=16"),
    "requirements.txt": "torch\ntransformers\naccelerate\npeft\n",
}
DOLLARS = re.compile(r"\d+(\.\d+)?")


def write(root: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return root


def told(tmp_path: Path, head: dict[str, str], base: dict[str, str] | None = None) -> dict[str, Any]:
    folder = write(tmp_path / "head", head)
    compared = (SHA, write(tmp_path / "base", base)) if base is not None else None
    answer: dict[str, Any] = json.loads(describe_folder(folder, Printing("json"), NOW, compared))
    validator().validate(answer)
    return answer


def test_difference_names_run_prices_and_the_line_that_is_the_cause(tmp_path: Path) -> None:
    answer = told(tmp_path, HEAD, BASE)
    change = answer["change"]
    (run,) = change["runs"]
    assert (change["base"], change["problem"], run["is_first"], run["kind"]) == (SHA, None, True, "changed")
    assert run["expected_gib_before"] < run["expected_gib_after"]
    assert (run["usd_per_hour_before"], run["usd_per_hour_after"]) == (
        change["offer_before"]["usd_per_hour"],
        answer["offer"]["usd_per_hour"] if answer["offer"] else None,
    )
    cause = run["causes"][0]
    assert (cause["field"], cause["old"], cause["new"]) == ("training.batch_size", "1", "16")
    assert (cause["path"], cause["line"], cause["is_at_base"]) == ("train.py", 3, False)
    assert [(part["what"], part["name"], part["old"]) for part in change["parts"]] == [("package", "peft", None)]


def test_cheaper_configurations_carry_their_price_as_text(tmp_path: Path) -> None:
    found = told(tmp_path, BASE)["what_ifs"]
    assert len(found) > 1
    assert all(isinstance(each["usd_per_hour"], str) and DOLLARS.fullmatch(each["usd_per_hour"]) for each in found)
    savings = [Decimal(each["saves_usd_per_hour"]) for each in found if each["saves_usd_per_hour"] is not None]
    assert savings == sorted(savings, reverse=True)


def test_saving_is_the_difference_of_the_two_prices(tmp_path: Path) -> None:
    answer = told(tmp_path, BASE)
    now = Decimal(answer["offer"]["usd_per_hour"])
    for each in answer["what_ifs"]:
        assert now - Decimal(each["usd_per_hour"]) == Decimal(each["saves_usd_per_hour"])


def test_nothing_differs_in_equal_trees(tmp_path: Path) -> None:
    change = told(tmp_path, BASE, BASE)["change"]
    assert (change["runs"], change["parts"], change["file_causes"], change["is_other_run"]) == ([], [], [], False)


def test_without_a_base_there_is_no_change(tmp_path: Path) -> None:
    assert told(tmp_path, BASE)["change"] is None


def test_base_that_cannot_be_compared_with_says_why(tmp_path: Path) -> None:
    change = told(tmp_path, HEAD, {**BASE, ".gpu-lol.yaml": "hardware: [\n"})["change"]
    assert change["problem"]
    assert (change["runs"], change["offer_before"]) == ([], None)


def test_file_edited_by_hand_is_a_cause(tmp_path: Path) -> None:
    files = {vram: {**BASE, ".gpu-lol.yaml": f"hardware: {{vram_required_gb: {vram}}}\n"} for vram in (20, 40)}
    (cause,) = told(tmp_path, files[40], files[20])["change"]["file_causes"]
    assert (cause["old"], cause["new"], cause["path"]) == ("20", "40", ".gpu-lol.yaml")


def test_without_a_gpu_there_is_no_offer(tmp_path: Path) -> None:
    answer = told(tmp_path, {"main.py": "print('hello')\n"})
    assert (answer["offer"], answer["what_ifs"]) == (None, [])


def test_each_new_key_is_written_somewhere(tmp_path: Path) -> None:
    written = set(keys_of(told(tmp_path, HEAD, BASE)))
    parts = [SCHEMA["properties"][name] for name in ("offer", "prices", "what_ifs", "change")]
    parts += [SCHEMA["$defs"][name] for name in ("offer", "cause")]
    assert {name.rpartition(".")[2] for part in parts for name, _ in properties_of(part, "")} <= written


@pytest.mark.parametrize("amount", [0.44, "$0.44", "0,44", "-1.00"])
def test_schema_refuses_money_that_is_no_plain_text(tmp_path: Path, amount: object) -> None:
    answer = told(tmp_path, BASE)
    answer["offer"]["usd_per_hour"] = amount
    with pytest.raises(jsonschema.ValidationError):
        validator().validate(answer)
