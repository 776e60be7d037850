"""Commands that a terminal's session is handed: ``tmux new-session -d -s a "python serve.py"``, ``screen -dmS a bash -c "…"``."""

from __future__ import annotations

from collections.abc import Callable

_SESSIONS = frozenset({"tmux", "screen", "byobu"})
# Options of either that a value follows: the session's or window's name, the folder, a file of settings.
_WITH_VALUE = frozenset({"-s", "-S", "-dmS", "-dS", "-t", "-n", "-c", "-x", "-y", "-F", "-f", "-p", "-L", "-X"})
_KEYS = frozenset({"C-m", "Enter", "ENTER", "KPEnter"})
_MOST = 40


def within_session(words: list[str], split: Callable[[str], list[str]]) -> list[str]:
    """Return the command that a session of tmux or screen starts, or is sent as keys; the words as they are where none is started."""
    place = next((at for at, word in enumerate(words[:4]) if word.rpartition("/")[2] in _SESSIONS), None)
    if place is None:
        return words
    at = place + 1
    while at < min(len(words), _MOST):
        word = words[at]
        if word in _WITH_VALUE:
            at += 2
        elif word.startswith("-") or (at == place + 1 and " " not in word and words[place].endswith("tmux")):
            at += 1
        else:
            break
    inner = [word for word in words[at:] if word not in _KEYS]
    if not inner:
        return words
    return split(inner[0]) if " " in inner[0] and len(inner) == 1 else inner
