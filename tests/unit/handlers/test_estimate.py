from __future__ import annotations

import csv
import io
import json
from datetime import datetime, timezone
from pathlib import Path

import pytest

from gpu_lol_action import cli
from gpu_lol_action.domain.command_spec import DoorKind
from gpu_lol_action.domain.request import Command, ParseProblem
from gpu_lol_action.errors import UserError
from gpu_lol_action.handlers.estimate import MAX_TABLE_BYTES, describe_estimate, describe_table, handle_estimate
from gpu_lol_action.intake.parser import parse_words
from tests.unit.handlers.conftest import Bench

NOW = datetime(2026, 11, 20, tzinfo=timezone.utc)


def given(line: str) -> Command:
    parsed = parse_words(["estimate", *line.split()], DoorKind.TERMINAL)
    assert isinstance(parsed, Command), parsed
    return parsed


def said(line: str) -> str:
    return describe_estimate(given(line), NOW)


def test_text_shows_sum_bars_assumptions_and_cards_with_prices() -> None:
    text = said("--model Qwen/Qwen2.5-7B --method qlora --seq-len 2048")
    assert text.startswith("🟢 Qwen/Qwen2.5-7B, QLoRA: ")
    assert "a card must offer" in text
    assert "█" in text
    assert "assumed: precision nf4, batch 1, LoRA rank 16, gradient checkpointing" in text
    assert "1 × RTX" in text
    assert "$0." in text
    assert "1 Sep 2026" in text
    assert text.rstrip().endswith("Nothing was launched.")


def test_json_has_the_same_figures_in_both_units() -> None:
    found = json.loads(said("--model meta-llama/Llama-2-7b-hf --seq-len 4096 --format json"))
    assert (found["model"], found["method"], found["gpu_count"]) == ("meta-llama/Llama-2-7b-hf", "inference", 1)
    assert found["expected_gb"] == pytest.approx(found["expected_gib"] * 1.0737, rel=0.001)
    assert found["low_gib"] < found["expected_gib"] < found["required_gib"] < found["high_gib"] + 1
    assert sum(term["gib"] for term in found["terms"]) == pytest.approx(found["expected_gib"], abs=0.01)
    assert all(each["usable_gib"] >= found["required_gib"] for each in found["gpus"])
    prices = [float(each["usd_per_hour"]) for each in found["gpus"]]
    assert prices == sorted(prices)


def test_markdown_is_what_a_comment_says() -> None:
    text = said("--params-b 7 --format markdown")
    assert text.startswith("<!-- gpu-lol v1 reply")
    assert "| fits on | cloud | price |" in text


def test_what_no_card_holds_is_divided() -> None:
    text = said("--params-b 13 --method full_ft --grad-ckpt")
    assert "No single card has that. Divided over 4 cards" in text
    assert "4 × " in text


def test_what_the_models_own_card_says_is_not_undercut() -> None:
    found = json.loads(said("--model openai/whisper-large-v3 --format json"))
    assert found["required_gib"] == 10  # its README: about 10 GB
    assert "the model's own card says about 10 GB" in found["notes"]


def test_more_cards_are_ranked_for_that_count() -> None:
    found = json.loads(said("--params-b 7 --method full_ft --gpus 8 --zero-stage 3 --format json"))
    assert {each["count"] for each in found["gpus"]} == {8}


@pytest.mark.parametrize(
    ("line", "code", "what"),
    [
        ("--model somebody/something", "model_unknown", "`somebody/something` is not in our table"),
        ("--method lora", "model_unknown", "Neither a model nor its size is given"),
    ],
)
def test_what_cannot_be_estimated_says_how_to_mend_it(line: str, code: str, what: str) -> None:
    with pytest.raises(UserError) as caught:
        said(line)
    assert caught.value.reason_code == code
    assert what in caught.value.explanation.what
    assert caught.value.explanation.fix.startswith("gpu-lol estimate")


def test_the_fix_for_an_unknown_model_is_a_command_that_works() -> None:
    with pytest.raises(UserError) as caught:
        said("--model somebody/something")
    fix = caught.value.explanation.fix.removeprefix("gpu-lol estimate ")
    assert said(fix).startswith("🟢 ")


@pytest.mark.parametrize(
    "line", ["--batch x", "--method qlra", "--hidden -1", "--zero-stage 7", "--params-b many", "--format yaml"]
)
def test_a_value_that_an_option_cannot_have_is_refused_by_the_grammar(line: str) -> None:
    parsed = parse_words(["estimate", *line.split()], DoorKind.TERMINAL)
    assert isinstance(parsed, ParseProblem)
    assert line.split(maxsplit=1)[0] in parsed.what
    assert parsed.command == "estimate"


@pytest.mark.parametrize(
    ("words", "value"),
    [("--grad-ckpt", "1"), ("--grad-ckpt 0", "0"), ("--grad-ckpt=no", "no"), ("--grad-ckpt --batch 2", "1")],
)
def test_checkpointing_is_a_switch_that_may_have_a_value(words: str, value: str) -> None:
    assert ("grad_ckpt", value) in given(f"--params-b 7 {words}").cells


def test_later_options_win() -> None:
    assert dict(given("--params-b 7 --params-b 13").cells)["params_B"] == "13"


def test_a_comment_gets_a_reply_and_nothing_is_launched(bench: Bench) -> None:
    order = bench.order("/gpu-lol estimate", cells=(("params_B", "7"), ("method", "lora")))
    outcome = handle_estimate(bench.context, order)
    assert outcome.reason_code == "estimate_shown"
    assert outcome.text == bench.texts[-1]
    assert "LoRA" in outcome.text
    assert bench.cloud.log == []


def test_a_running_machine_is_still_named_as_billing(bench: Bench) -> None:
    bench.running()
    handle_estimate(bench.context, bench.order("/gpu-lol estimate", cells=(("params_B", "7"),)))
    assert "runs at $" in bench.texts[-1].splitlines()[-1]


def test_a_comment_cannot_read_files() -> None:
    parsed = parse_words(["estimate", "--csv", "/etc/passwd"], DoorKind.COMMENT)
    assert isinstance(parsed, ParseProblem)


def test_a_table_goes_to_standard_output_and_its_problems_to_the_other(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    table = tmp_path / "runs.csv"
    table.write_text("id,model,params_B,batch\n1,,7,many\n2,nobody/nothing,,\n", encoding="utf-8")
    assert cli.main(["estimate", "--csv", str(table)]) == 1  # one row has no answer
    out, err = capsys.readouterr()
    found = list(csv.reader(io.StringIO(out)))
    assert found[0] == ["id", "estimated_gb", "low_gb", "high_gb"]
    assert [row[0] for row in found[1:]] == ["1", "2"]
    assert found[2][1:] == ["", "", ""]
    assert "line 2, column batch" in err
    assert "line 3, column model" in err
    table.write_text("id,params_B\n1,7\n", encoding="utf-8")
    assert cli.main(["estimate", "--csv", str(table)]) == 0


def test_a_file_that_is_no_table_is_refused(tmp_path: Path) -> None:
    for path, reason in ((tmp_path / "none.csv", "cannot be read"), (tmp_path, "cannot be read")):
        with pytest.raises(UserError, match="table_unreadable") as caught:
            describe_table(path)
        assert reason in caught.value.explanation.what
    other = tmp_path / "other.csv"
    other.write_bytes(b"\xff\xfe\x00garbage")
    with pytest.raises(UserError, match="table_unreadable") as caught:
        describe_table(other)
    assert "line 1" in caught.value.explanation.what
    with other.open("wb") as file:
        file.truncate(MAX_TABLE_BYTES + 1)  # sparse
    with pytest.raises(UserError, match="MiB"):
        describe_table(other)
