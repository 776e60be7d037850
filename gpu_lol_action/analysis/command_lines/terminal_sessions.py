"""Commands that a terminal's session is handed: ``tmux new-session -d -s a "python serve.py"``, ``screen -dmS a bash -c "…"``."""

from __future__ import annotations

from collections.abc import Callable

_SESSIONS = frozenset({"tmux", "screen", "byobu"})
# Options of either that a value follows: the session's or window's name, the folder, a file of settings.
_WITH_VALUE = frozenset({"-s", "-S", "-dmS", "-dS", "-t", "-n", "-c", "-x", "-y", "-F", "-f", "-p", "-X", "-Logfile"})
_NAMES_SOCKET = "-L"  # of tmux; screen's is a switch, to log
_BEFORE = frozenset({"sudo", "nohup", "exec", "time"})
_KEYS = frozenset({"C-m", "Enter", "ENTER", "KPEnter"})
_MOST = 40


def within_session(words: list[str], split: Callable[[str], list[str]]) -> list[str]:
    """Return the command that a session of tmux or screen starts, or is sent as keys; the words as they are where none is started."""
    place = next((at for at, word in enumerate(words[:4]) if word not in _BEFORE and "=" not in word), None)
    if place is None or words[place].rpartition("/")[2] not in _SESSIONS:
        return words
    at = place + 1
    while at < min(len(words), _MOST):
        word = words[at]
        if word in _WITH_VALUE or (word == _NAMES_SOCKET and words[place].endswith("tmux")):
            at += 2
        elif word.startswith("-") or (at == place + 1 and " " not in word and words[place].endswith("tmux")):
            at += 1
        else:
            break
    inner = [word for word in words[at:] if word not in _KEYS]
    if not inner:
        return words
    return split(inner[0]) if " " in inner[0] and len(inner) == 1 else inner
