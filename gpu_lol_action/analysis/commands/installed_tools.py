"""Whether a checkout has a tool installed whose name is an ordinary word, or another program's: only then is a line that begins with it a command."""

from __future__ import annotations

from gpu_lol_action.analysis.files.checkout import Checkout, Source
from gpu_lol_action.analysis.files.effort import remembered
from gpu_lol_action.domain.patterns import regex

_WORDS = frozenset({"whisper", "demucs", "tts", "boltz", "marker_single"})
_PACKAGES = {
    "whisper": ("openai-whisper", "openai/whisper"),
    "tts": ("coqui-tts", "TTS"),
    "marker_single": ("marker-pdf",),
}
MAX_SOURCES = 200


def is_a_word_alone(checkout: Checkout, tool: str) -> bool:
    """Whether a command's tool is such a word, and nothing here has its package installed."""
    return tool in _WORDS and not _is_installed(checkout, tool)


@remembered
def _is_installed(checkout: Checkout, tool: str) -> bool:
    names = _PACKAGES.get(tool, (tool,))
    return any(_lists(source, name) for source in checkout.sources[:MAX_SOURCES] for name in names)


def _lists(source: Source, name: str) -> bool:
    """Whether a text has a package installed, or is a list that begins a line with it."""
    if not source.mentions(name):
        return False
    listed = regex(
        rf"(?m)^[ \t]{{0,12}}(?:-[ \t]{{1,4}})?[\"']?{name}(?:\[[\w,]{{1,60}}\])?[\"',]{{0,2}}[ \t]{{0,4}}(?:[=<>~!,;#@].{{0,200}})?$"
    )
    installed = regex(rf"(?m)\b(?:install|add)\b[^\n]{{0,300}}[ \t/\"']{name}\b")
    return listed.search(source.text) is not None or installed.search(source.text) is not None
