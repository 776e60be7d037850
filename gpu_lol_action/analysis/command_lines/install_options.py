"""Options of pip and conda: which of them take a value, and what that value is."""

from __future__ import annotations

from gpu_lol_action.analysis.command_lines.command_words import joined_switch

WITH_VALUE = frozenset({
    "-i", "--index-url", "--extra-index-url", "-f", "--find-links", "-r", "--requirement", "-c", "--constraint", "-e",
    "--editable", "-t", "--target", "--prefix", "--src", "--python", "-p", "--timeout", "--default-timeout", "--retries",
    "--trusted-host", "--cache-dir", "--progress-bar", "--root", "--platform", "--python-version", "-n", "--name",
    "--channel", "--file", "--index", "--group", "--extra", "-G", "--torch-backend", "--index-strategy", "--prerelease",
    "--clone", "--solver", "--subdir",
})  # fmt: skip
KINDS = {"-i": "index", "--index-url": "index", "--extra-index-url": "index", "--index": "index", "-f": "links",
          "--find-links": "links", "-r": "include", "--requirement": "include", "--file": "include", "-c": "constraint",
          "--constraint": "constraint", "-e": "local", "--editable": "local"}  # fmt: skip


def option_of(word: str) -> tuple[str, str]:
    """Return an option and the value that is written with it: ``--file=x``, ``-rx``, ``-qr``."""
    name, _, value = word.partition("=") if word.startswith("--") else (word, "", "")
    switch, joined = joined_switch(word, "rceif")
    return (switch, joined) if switch else (name, value)
