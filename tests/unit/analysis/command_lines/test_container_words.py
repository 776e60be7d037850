"""What containers are given on their command lines."""

from __future__ import annotations

import pytest

from gpu_lol_action.analysis.command_lines.container_words import is_secret, with_variables_in_front, without_secrets
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


SHOWN = {
    "python gen.py --token hf_abcdefghijklmnop --model a/b": "python gen.py --token *** --model a/b",
    "python gen.py --api-key=secret1 --max-tokens 512": "python gen.py --api-key=*** --max-tokens 512",
    'vllm serve a/b --api-key "se cret"': "vllm serve a/b --api-key ***",
    "GHTOKEN=abc OPENAIKEY=abc MAX_TOKENS=5 python a.py": "GHTOKEN=*** OPENAIKEY=*** MAX_TOKENS=5 python a.py",
    "docker run -e SLACK_WEBHOOK=https://x.y/z -e MODEL=a/b image": "docker run -e SLACK_WEBHOOK=*** -e MODEL=a/b image",
    "python a.py --db postgresql://app:secret@db/app": "python a.py --db postgresql://***@db/app",
    "git clone https://bob:ghp_abcdefgh@host/a/b": "git clone https://***@host/a/b",
    "REDIS_URL=redis:secret python a.py": "REDIS_URL=*** python a.py",
    "python a.py --name sk-abcdefghijk": "python a.py --name ***",
    "python train.py --token $HF_TOKEN --hidden-size 512": "python train.py --token $HF_TOKEN --hidden-size 512",
    "torchrun --nproc_per_node 8 train.py --tokenizer a/b --keys 3": "torchrun --nproc_per_node 8 train.py --tokenizer a/b --keys 3",
}


@pytest.mark.parametrize("command", SHOWN)
def test_what_opens_something_is_hidden_where_a_command_is_shown(command: str) -> None:
    assert without_secrets(command) == SHOWN[command]


def test_long_commands_are_shown_soon() -> None:
    for text in ("--key " * 40_000, "A=" * 100_000, "://" * 60_000, "sk-" * 60_000, '--token "' * 30_000):
        assert len(without_secrets(text)) > 0
