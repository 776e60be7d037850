"""Words that a command asks the shell for: its script's own folder, where a program lies, a variable that is echoed, a file's content."""

from __future__ import annotations

from gpu_lol_action.domain.patterns import regex

_OWN_FOLDER = regex(r"\"?\$\(dirname\s+[\"']?\$(?:0|\{?BASH_SOURCE(?:\[0\])?\}?)[\"']?\)\"?")
_ASKED_FOR = regex(r"\b([A-Z][A-Z0-9_]*=)\$\([^()\n]{0,200}\)")  # `HF_TOKEN=$(cat …) vllm serve`: blanks part no words
_ECHOED = regex(r"\$\(\s*echo\s+[\"']?(\$\{?\w{1,60}\}?)[\"']?\s*\)")
# Where a program lies: `torchrun $(which fairseq-train)`.
_FOUND = regex(r"[`\"]?\$?[(`]\s*which\s+([\w.-]{1,60})\s*[)`]\"?")


def with_answers(text: str, folder: str) -> str:
    """Return a command with its script's folder, and the names of what it asks for, put into it."""
    put = _OWN_FOLDER.sub(folder or ".", text)
    put = _FOUND.sub(r"\1", put) if "which" in put else put
    return _ECHOED.sub(r"\1", _ASKED_FOR.sub(r"\1", put))
