"""The terminal explains itself: help from the command table at 80 columns, plain words, and exit codes."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from gpu_lol_action import __version__, cli
from gpu_lol_action.domain.command_spec import CommandSpec, DoorKind
from gpu_lol_action.domain.commands import COMMANDS
from gpu_lol_action.errors import GpuLolError, OperatorError
from gpu_lol_action.render.terminal_help import HELP_COLUMNS, overview

ROOT = Path(__file__).parents[2]
HERE = [spec for spec in COMMANDS if spec.doors is not DoorKind.COMMENT]
THERE = [spec for spec in COMMANDS if spec.doors is DoorKind.COMMENT]


def said(capsys: pytest.CaptureFixture[str], *words: str, code: int = 0) -> str:
    """Run a command line that must end with ``code``; return what it said, on the stream where that belongs."""
    assert cli.main(words) == code
    out, err = capsys.readouterr()
    assert (err if code == 0 else out) == ""
    text = out if code == 0 else err
    assert "`" not in text
    assert max(map(len, text.splitlines())) <= HELP_COLUMNS
    return text


@pytest.mark.parametrize("words", [(), ("--help",), ("-h",), ("help",)])
def test_overview_lists_every_command_of_this_door(capsys: pytest.CaptureFixture[str], words: tuple[str, ...]) -> None:
    text = said(capsys, *words)
    for spec in HERE:
        assert f"\n  {spec.name} " in text
        assert " ".join(spec.summary.split()) in " ".join(text.split())
    assert "Exit code: 0 done, 1 refused" in text


@pytest.mark.parametrize("spec", HERE, ids=lambda spec: spec.name)
def test_each_command_explains_all_it_takes(capsys: pytest.CaptureFixture[str], spec: CommandSpec) -> None:
    text = said(capsys, spec.name, "--help")
    assert text == said(capsys, "help", spec.name) == said(capsys, spec.name, "-h")
    usage, _, rest = text.partition("\n\n")
    assert " ".join(usage.split()) == f"Usage: gpu-lol {spec.usage(DoorKind.TERMINAL)}"
    for option in spec.options_at(DoorKind.TERMINAL):
        assert f"\n  {option.name} " in rest
        assert option.summary in " ".join(rest.split())
    for example in spec.examples_at(DoorKind.TERMINAL):
        assert f"\n  gpu-lol {example}\n" in rest


@pytest.mark.parametrize("spec", THERE, ids=lambda spec: spec.name)
def test_what_only_comments_take_is_explained_as_it_is_written_there(
    capsys: pytest.CaptureFixture[str], spec: CommandSpec
) -> None:
    """The parser's refusal leads here, and so do the proposals' last lines."""
    assert cli.main([spec.name]) == 1
    assert capsys.readouterr().err.endswith(f"works only in a comment\nSee: gpu-lol help {spec.name}\n")
    assert cli.main(["help", spec.name]) == 0
    text = " ".join(capsys.readouterr().out.split())
    assert text.startswith(f"Usage: /gpu-lol {spec.usage(DoorKind.COMMENT)} ")
    assert " In a comment on a pull request." in text
    assert all(setting.summary.replace("`", "") in text for setting in spec.settings)


def test_overview_says_what_the_other_door_has(capsys: pytest.CaptureFixture[str]) -> None:
    text = " ".join(said(capsys, "--help").split())
    assert "without resume, policy, " in text
    assert f"and with {', '.join(spec.name for spec in THERE[:-1])} and {THERE[-1].name}." in text


def test_an_alias_explains_its_command(capsys: pytest.CaptureFixture[str]) -> None:
    text = said(capsys, "help", "ls")
    assert text == said(capsys, "help", "status")
    assert "Also: gpu-lol ls" in text


def test_long_usage_never_parts_an_option_from_its_value(capsys: pytest.CaptureFixture[str]) -> None:
    usage = said(capsys, "help", "up").partition("\n\n")[0].splitlines()
    assert len(usage) > 1
    assert all(line.count("[") == line.count("]") for line in usage)


@pytest.mark.parametrize(
    ("words", "guess", "see"),
    [
        (("analyse",), "Did you mean analyze?", "gpu-lol help"),
        (("help", "swep"), "Did you mean sweep?", "gpu-lol help"),
        (("dwon", "--help"), "Did you mean down?", "gpu-lol help"),
        (("xyzzy",), "Known here: analyze, estimate, offers, up, ", "gpu-lol help"),
        (("up", "--hour", "2"), "Did you mean --hours or ", "gpu-lol help up"),
        (("up", "--cloud", "lamda"), "Did you mean lambda?", "gpu-lol help up"),
        (("analyze", "--format", "xml"), "text, json, yaml, markdown", "gpu-lol help analyze"),
        (("status", "now"), "", "gpu-lol help status"),
    ],
)
def test_what_is_not_understood_gets_the_nearest_word_and_exit_1(
    capsys: pytest.CaptureFixture[str], words: tuple[str, ...], guess: str, see: str
) -> None:
    text = said(capsys, *words, code=1)
    assert text.startswith("gpu-lol: ")
    assert guess in text
    assert text.endswith(f"\nSee: {see}\n")


def test_an_error_is_told_in_the_terminals_words(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(_command: object) -> None:
        raise OperatorError("cloud_secret_missing", "No `KEY`.", why="A key pays.", fix="Set it; then /gpu-lol up")

    monkeypatch.setattr(cli, "_carry_out", fail)
    assert said(capsys, "up", code=2) == "gpu-lol: No KEY.\n  A key pays.\n  Set it; then gpu-lol up\n"


@pytest.mark.parametrize("error", GpuLolError.__subclasses__(), ids=lambda error: error.__name__)
def test_overview_names_the_exit_code_of_every_ending(error: type[GpuLolError]) -> None:
    code = cli.exit_code(error.ending, cli.Door.TERMINAL)
    assert f" {code} " in overview()


def test_interrupt_ends_with_130_and_says_where_to_look(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def stop(_command: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(cli, "_carry_out", stop)
    assert "gpu-lol status" in said(capsys, "status", code=130)


def test_a_folder_that_is_none_ends_with_1(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert cli.main(["analyze", str(tmp_path / "nothing")]) == 1
    assert "is no folder" in capsys.readouterr().err


def test_version(capsys: pytest.CaptureFixture[str]) -> None:
    assert said(capsys, "--version") == f"gpu-lol {__version__}\n"


def test_help_loads_nothing_but_the_table() -> None:
    script = (
        "import sys; from gpu_lol_action import cli; cli.main(['--help']); cli.main(['help', 'up']); "
        "sys.exit(' '.join({'jinja2', 'yaml', 'httpx', 'github', 'sky', 'rich', 'markdown_it'} & set(sys.modules)) or 0)"
    )
    done = subprocess.run([sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.stderr == ""
    assert done.returncode == 0


def test_a_reader_who_leaves_early_is_no_error(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text("import torch\n" * 3)
    command = [sys.executable, "-m", "gpu_lol_action.cli", "analyze", str(tmp_path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        said = process.stderr.read()
        assert process.wait() == 0, said
    assert b"Traceback" not in said
