"""Whether a checkout has a tool installed whose name is an ordinary word, or another program's: only then is a line that begins with it a command."""

from __future__ import annotations

from collections.abc import Mapping

from gpu_lol_action.analysis.command_lines.model_tools import is_unmistakable
from gpu_lol_action.analysis.files.checkout import Checkout, Source
from gpu_lol_action.analysis.files.effort import remembered
from gpu_lol_action.analysis.formats.paths import Form
from gpu_lol_action.domain.patterns import regex

_WORDS = frozenset({"whisper", "demucs", "tts", "boltz", "marker_single"})
_PACKAGES = {
    "whisper": ("openai-whisper", "openai/whisper"),
    "tts": ("coqui-tts", "TTS", "tts"),
    "marker_single": ("marker-pdf",),
}
MAX_SOURCES, MAX_TEXT = 200, 100_000


def is_a_word_alone(checkout: Checkout, source: Source, tool: str, options: Mapping[str, str]) -> bool:
    """Whether a command's tool is such a word, and nothing here has its package installed; a script that tells it a card, or its model, means it."""
    is_meant = source.form is Form.SHELL and tool in _WORDS and is_unmistakable(tool, options)
    return tool in _WORDS and not is_meant and not _is_installed(checkout, tool)


@remembered
def _is_installed(checkout: Checkout, tool: str) -> bool:
    names = _PACKAGES.get(tool, (tool,))
    return any(_lists(source, name) for source in checkout.sources[:MAX_SOURCES] for name in names)


def _lists(source: Source, name: str) -> bool:
    """Whether a text has a package installed, starts a line with it as lists do, or has it among others in quotes."""
    if not source.mentions(name):
        return False
    text = source.text[:MAX_TEXT].replace("\\\n", " ")
    told = name if "/" not in name else f"github\\.com/{name}"
    listed = rf"(?m)^[ \t]{{0,12}}(?:-[ \t]{{1,4}})?{told}(?:\[[\w,]{{1,60}}\])?[ \t]{{0,4}}(?:[=<>~!;#@].{{0,200}})?$"
    quoted = rf"[\"']{told}(?:\[[\w,]{{1,60}}\])?(?:[ =<>~!;@][^\"'\n]{{0,80}})?[\"']"
    installed = rf"\b(?:(?:install|add)\b[^\n]{{0,400}}[ \t/\"']|uvx[ \t]|pipx run[ \t]|git\+https://){told}\b"
    forms = [listed, installed] if source.form is Form.JSON else [listed, installed, quoted]
    return any(regex(each).search(text) is not None for each in forms)
