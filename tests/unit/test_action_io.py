"""What goes in and out of a job: nothing that a stranger wrote may become an output, a command of the log, or a secret shown."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpu_lol_action import action_io
from gpu_lol_action.action_io import (
    INPUTS,
    annotate,
    log,
    mask,
    read_event,
    read_surroundings,
    write_outputs,
    write_summary,
)
from gpu_lol_action.rehearsal.stage import parse_outputs

HOSTILE = [
    "::error::forged",
    "  ::set-output name=decision::done",
    "\t::add-mask::a",
    "\u00a0::stop-commands::x",
    "\u3000::error::x",
    "##[error]forged",
    "words ##[add-mask]a",
    "a\n::error::x",
    "a\r::error::x",
    "a\r\n::error::x",
    "a\u2028::error::x",
    "a\x85::error::x",
    "a\x0b::error::x",
    "\ud83d half of a pair",
    "",
]


def runs_as_command(line: str) -> bool:
    """Whether the runner would act on a line (actions/runner ActionCommand.cs: both forms)."""
    return line.lstrip().startswith("::") or "##[" in line


@pytest.mark.parametrize("text", HOSTILE)
def test_log_lets_no_line_become_a_command(text: str, capfd: pytest.CaptureFixture[str]) -> None:
    log(text)
    shown = capfd.readouterr()
    assert shown.out == ""
    assert not any(runs_as_command(line) for line in re.split(r"[\r\n]", shown.err))


@given(st.text(alphabet=st.sampled_from(":#[] \t\r\n\u00a0\u2028\x85ab\ud800"), max_size=30))
def test_log_lets_no_text_become_a_command(text: str) -> None:
    shown: list[str] = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("builtins.print", lambda line, **_options: shown.append(line))
        log(text)
    assert not any(runs_as_command(line) for whole in shown for line in re.split(r"[\r\n]", whole))
    for line in shown:
        line.encode("utf-8")


@pytest.mark.parametrize("text", HOSTILE)
def test_annotate_is_one_command_whatever_it_says(text: str, capfd: pytest.CaptureFixture[str]) -> None:
    annotate("error", text, path=f"a,line=9::b\n{text}", line=3, title=f"t: {text},file=x")
    out = capfd.readouterr().out
    assert out.count("\n") == 1
    assert "\r" not in out
    match = re.fullmatch(r"::error file=([^,]*),line=3,title=([^,]*?)::(.*)\n", out, re.DOTALL)
    assert match, out
    assert ":" not in match[1] + match[2]


def test_annotate_without_a_place_has_no_properties(capfd: pytest.CaptureFixture[str]) -> None:
    annotate("warning", "50 % of it")
    assert capfd.readouterr().out == "::warning::50 %25 of it\n"


def test_mask_hides_each_line_of_a_secret(capfd: pytest.CaptureFixture[str]) -> None:
    mask("one\r\n\n  two%\n")
    assert capfd.readouterr().out == "::add-mask::one\n::add-mask::  two%25\n"


@given(st.dictionaries(st.sampled_from([o.name for o in action_io.OUTPUTS]), st.text(), min_size=1))
def test_outputs_are_read_back_as_they_were_written(outputs: dict[str, str]) -> None:
    import tempfile  # a fixture would be shared between examples

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "output"
        write_outputs(outputs, {"GITHUB_OUTPUT": str(path)})
        raw = path.read_bytes().decode("utf-8")
    read = parse_outputs(raw)
    expected = {name: value.encode("utf-8", "replace").decode("utf-8") for name, value in outputs.items()}
    assert read == expected


def test_no_output_can_forge_another(tmp_path: Path) -> None:
    path = tmp_path / "output"
    write_outputs({"result": "x\ngpu-lol-\nneeds_cloud=true\ndecision<<EOF\ndone\nEOF\n"}, {"GITHUB_OUTPUT": str(path)})
    write_outputs({"needs_cloud": "false"}, {"GITHUB_OUTPUT": str(path)})
    assert parse_outputs(path.read_text())["needs_cloud"] == "false"
    assert set(parse_outputs(path.read_text())) == {"result", "needs_cloud"}


def test_outputs_take_text_that_is_no_unicode(tmp_path: Path) -> None:
    path = tmp_path / "output"
    write_outputs({"result": "half \ud83d a pair"}, {"GITHUB_OUTPUT": str(path)})
    assert parse_outputs(path.read_text(encoding="utf-8")) == {"result": "half ? a pair"}


def test_delimiters_are_never_the_same(tmp_path: Path) -> None:
    path = tmp_path / "output"
    write_outputs({"a": "1", "b": "2"}, {"GITHUB_OUTPUT": str(path)})
    delimiters = re.findall(r"<<(gpu-lol-[0-9a-f]{32})$", path.read_text(), re.MULTILINE)
    assert len(set(delimiters)) == 2


def test_outside_a_job_nothing_is_written() -> None:
    write_outputs({"a": "1"}, {})
    write_summary("text", {})


def test_summary_grows_until_the_runners_limit_and_stays_text(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(action_io, "MAX_SUMMARY_BYTES", 11)
    path = tmp_path / "summary.md"
    environ = {"GITHUB_STEP_SUMMARY": str(path)}
    write_summary("one", environ)
    write_summary("äöü€", environ)
    write_summary("more", environ)
    assert path.stat().st_size <= 11
    assert path.read_text(encoding="utf-8").startswith("one\n\näöü")


def test_summary_takes_text_that_is_no_unicode(tmp_path: Path) -> None:
    path = tmp_path / "summary.md"
    write_summary("half \ud83d a pair", {"GITHUB_STEP_SUMMARY": str(path)})
    assert path.read_text(encoding="utf-8") == "half ? a pair\n\n"


@pytest.mark.parametrize(
    ("content", "what"),
    [
        (None, "names no file"),
        (b"", "Expecting value"),
        (b"{", "Expecting"),
        (b"[]", "no JSON object"),
        (b"\xff\xfe", "decode"),
    ],
)
def test_an_event_that_is_none_is_an_error_that_says_why(tmp_path: Path, content: bytes | None, what: str) -> None:
    path = tmp_path / "event.json"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(ValueError, match=what):
        read_event(str(path))


def test_an_event_over_githubs_limit_is_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(action_io, "MAX_EVENT_BYTES", 10)
    path = tmp_path / "event.json"
    path.write_text(json.dumps({"a": "b" * 20}))
    with pytest.raises(ValueError, match="limit"):
        read_event(str(path))


def test_no_event_path_is_no_event() -> None:
    with pytest.raises(ValueError, match="names no file"):
        read_event("")


def test_inputs_arrive_as_input_variables_or_plain_ones() -> None:
    runner = read_surroundings({"INPUT_GITHUB-TOKEN": " a ", "GITHUB_TOKEN": "b", "RUNPOD_API_KEY": "c\n"})
    assert runner.inputs["github-token"] == "a"
    assert runner.inputs["runpod-api-key"] == "c"
    assert read_surroundings({"GITHUB_TOKEN": "b"}).inputs["github-token"] == "b"
    assert read_surroundings({"INPUT_GITHUB_TOKEN": "d"}).inputs["github-token"] == "d"


def test_an_expression_is_never_a_default() -> None:
    nothing = read_surroundings({})
    words = {"hub": "false", "dry-run": "false", "prices": "live"}
    assert nothing.inputs == {item.name: words.get(item.name, "") for item in INPUTS if not item.is_handed_on}
    assert nothing.phase == "all"
    assert nothing.api_url == "https://api.github.com"


def test_surroundings_show_no_secret() -> None:
    secrets = {item.variable: f"secret-{item.name}" for item in INPUTS if item.is_secret}
    shown = repr(read_surroundings(secrets))
    assert not any(value in shown for value in secrets.values())


def test_the_run_has_a_page() -> None:
    surroundings = read_surroundings(
        {"GITHUB_SERVER_URL": "https://ghe.example.org", "GITHUB_REPOSITORY": "acme/lab", "GITHUB_RUN_ID": "7"}
    )
    assert surroundings.run_url == "https://ghe.example.org/acme/lab/actions/runs/7"
