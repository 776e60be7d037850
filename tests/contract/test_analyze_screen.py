"""`gpu-lol analyze` as a child process: what it writes to a pipe, to a terminal, and under another locale."""

from __future__ import annotations

import json
import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
EXAMPLE = ROOT / "examples" / "qwen-lora-sft"
COMMAND = (sys.executable, "-c", "import sys; from gpu_lol_action.cli import main; sys.exit(main())", "analyze")


def environment(**changes: str) -> dict[str, str]:
    kept = {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}
    return {**kept, "PYTHONPATH": str(ROOT), "PYTHONUTF8": "0", "TERM": "xterm-256color", **changes}


def piped(*words: str, **changes: str) -> bytes:
    done = subprocess.run([*COMMAND, *words], env=environment(**changes), capture_output=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr.decode()
    return done.stdout


def on_terminal(*words: str, **changes: str) -> str:
    """Return what is written to a terminal of our own."""
    ours, theirs = pty.openpty()
    child = subprocess.Popen([*COMMAND, *words], env=environment(**changes), stdout=theirs, stderr=theirs, stdin=theirs)
    os.close(theirs)
    written = b""
    try:
        while chunk := os.read(ours, 65536):
            written += chunk
    except OSError:  # how Linux says that the other side was closed
        pass
    finally:
        os.close(ours)
    assert child.wait(timeout=60) == 0
    return written.decode().replace("\r\n", "\n")


def test_a_pipe_gets_no_colors() -> None:
    assert b"\x1b" not in piped(str(EXAMPLE), PYTHONIOENCODING="utf-8")


def test_a_terminal_gets_colors_unless_it_asks_for_none() -> None:
    utf8 = {"PYTHONIOENCODING": "utf-8"}
    assert "\x1b[36m" in on_terminal(str(EXAMPLE), **utf8)
    assert "\x1b" not in on_terminal(str(EXAMPLE), NO_COLOR="1", **utf8)
    assert "\x1b" not in on_terminal(str(EXAMPLE), **{**utf8, "TERM": "dumb"})


@pytest.mark.parametrize("columns", [40, 60, 97, 120, 400])
def test_columns_are_kept(columns: int) -> None:
    lines = piped(str(EXAMPLE), COLUMNS=str(columns), PYTHONIOENCODING="ascii").decode("ascii").split("\n")
    assert max(map(len, lines)) <= min(max(columns, 60), 120)


def test_a_terminal_without_utf8_gets_ascii() -> None:
    text = piped(str(EXAMPLE), PYTHONIOENCODING="latin-1").decode("ascii")
    assert "1 x A40" in text
    assert "####" in text


def test_what_programs_read_is_utf8_whatever_the_locale() -> None:
    answers = {piped(str(EXAMPLE), "--format", "json", PYTHONIOENCODING=name) for name in ("ascii", "latin-1", "utf-8")}
    assert len(answers) == 1
    assert json.loads(answers.pop())["schema_version"] == 2


def test_verbose_shows_more() -> None:
    short, long = (piped(str(EXAMPLE), *words, PYTHONIOENCODING="utf-8").decode() for words in ((), ("--verbose",)))
    assert len(long.split("\n")) > 2 * len(short.split("\n"))
    assert "--verbose" not in long
