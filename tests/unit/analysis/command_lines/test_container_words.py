"""What containers are given on their command lines."""

from __future__ import annotations

import pytest

from gpu_lol_action.analysis.command_lines.container_words import is_secret, with_variables_in_front
from gpu_lol_action.analysis.command_lines.terminal_sessions import within_session


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("docker run -e A=b --env=C=d -it --rm -v /x:/y i:1 p", "A=b C=d docker run -it --rm -v /x:/y i:1 p"),
        ("sudo docker run --env A=b i p", "A=b sudo docker run i p"),
        ("docker container run -e A=b i p", "A=b docker container run i p"),
        # A variable that the reader's shell has, one that opens something, and a word of the program.
        ("docker run -e A -e HF_TOKEN=x -e T=hf_abcdefghij i -e A=b", "docker run i -e A=b"),
        ("docker build -e A=b .", "docker build -e A=b ."),
        ("python run -e A=b", "python run -e A=b"),
        ("docker run -e", "docker run"),
        ("docker run", "docker run"),
    ],
)
def test_variables_of_a_container_stand_in_front(line: str, words: str) -> None:
    assert with_variables_in_front(line.split()) == words.split()


@pytest.mark.parametrize(
    ("name", "value", "secret"),
    [
        ("HF_TOKEN", "x", True),
        ("OPENAI_API_KEY", "x", True),
        ("db_password", "x", True),
        ("LOGIN", "ghp_abcdefgh", True),
        ("MAX_TOKENS", "512", False),
        ("TOKENIZER", "gpt2", False),
        ("MODEL", "a/b", False),
    ],
)
def test_what_opens_something(name: str, value: str, secret: bool) -> None:
    assert is_secret(name, value) is secret


@pytest.mark.parametrize(
    ("words", "inner"),
    [
        (["tmux", "new-session", "-d", "-s", "a", "python x.py"], ["python", "x.py"]),
        (["tmux", "new", "-s", "a", "python", "x.py"], ["python", "x.py"]),
        (["screen", "-dmS", "vllm", "bash", "-c", "python x.py"], ["bash", "-c", "python x.py"]),
        (["tmux", "send-keys", "-t", "a", "python x.py", "C-m"], ["python", "x.py"]),
        (["tmux", "attach", "-t", "a"], ["tmux", "attach", "-t", "a"]),
        (["screen"], ["screen"]),
        (["python", "x.py", "tmux"], ["python", "x.py", "tmux"]),
    ],
)
def test_a_session_starts_what_it_is_handed(words: list[str], inner: list[str]) -> None:
    assert within_session(words, str.split) == inner
