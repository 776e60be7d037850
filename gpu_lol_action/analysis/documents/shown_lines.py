"""What a document shows as something to type: blocks of code, lines set in, words between marks, a line that is a command alone."""

from __future__ import annotations

import re
from collections.abc import Iterator

from gpu_lol_action.analysis.command_lines.launch_tools import TOOLS
from gpu_lol_action.analysis.documents.broken_spans import broken_spans
from gpu_lol_action.analysis.files.checkout import Source
from gpu_lol_action.analysis.formats.texts import is_fence, unescaped, without_remarks
from gpu_lol_action.domain.patterns import regex

MAX_SHOWN = 2000  # characters of a line of prose that are looked at
_PREFORMATTED = regex(r"<(/?)pre\b[^>]{0,200}>", re.IGNORECASE)
_TAG = regex(r"</?(?:pre|code|b|br|span|strong)\b[^>]{0,200}>", re.IGNORECASE)
_BOLD = regex(r"\s{0,3}\*\*([^*`|]{3,60})\*\*:?\s*$")  # a heading in all but its marks
_HEADING = regex(r"^ {0,3}#{1,6}\s+(.{1,200})")
_UNDERLINE = regex(r"^[=\-~^*\"]{3,}\s*$")
_INLINE = regex(r"`{1,3}([^`\n]{6,1000})`{1,3}|<code>([^<\n]{6,1000})</code>")
_STARTS = regex(
    r"(?:\$ |[A-Z_]+=\S+ )*(?:(?:python3?|torchrun|torchx|accelerate|deepspeed|vllm|bash|sh|make|sbatch|\./[\w/.-]+\.sh)(?!\w)\s?"
    # In a sentence a tool's name and verb may stand for it alone; what is to be typed goes on with options or a configuration.
    r"|(?:ns-train|lerobot-train|fairseq-train|(?:llamafactory-cli|axolotl) train|tune run|swift (?:sft|pt|rlhf))\s(?=.{0,200}(?:\s--[a-z]|\.ya?ml\b)))"
)
# A tool with its option (`ns-train nerfacto --data x`): without one only its name is mentioned.
_TOLD_AN_OPTION = regex(r"(?:\$ )?([a-z][\w-]{1,40})(?: [\w./:<>@-]{1,100}){0,4} --[a-z]")
_QUOTED = regex(r" {0,3}(?:> ?){1,3}")
# A command that a line of prose is, without any marks of code: it names a program, and has no words of a sentence.
_ALONE = regex(
    r"\s*(?:(?:[-*+•]|\d{1,2}[.)])\s+)?(?:\*\*)?((?:\$ |[A-Z_]+=\S+ )*"
    r"(?:python3?|torchrun|accelerate launch|deepspeed|bash|sh|sbatch) (?:(?:[^\s]+ ){0,8}?(?:[\w./-]+\.(?:py|sh)|-m [\w.]{2,100})(?=[\s*]|$).*|.*\\\s*$))"
)
_SENTENCE = regex(
    r"\s(?:to|the|will|and|for|is|are|in|with|of|or|an?|this|that|which|if|then|you|can|on|by|should|script|file)\s|[:;,]\s*$|[^.]\.\s*$"
)
_DASH = regex(r"(?<=\s)[\u2013\u2014](?=[a-z]\w)")  # what a text editor makes of two hyphens
_GOES_ON = (" ^", " `")  # how Windows' shells say that a command goes on in the next line


def shown_lines(source: Source) -> Iterator[tuple[int, str, str]]:
    """Yield a document's code with its line number and heading: fenced, indented, or between marks where it begins like a command."""
    is_rst = source.name.endswith(".rst")
    inside = is_html = in_quote = goes_on = False
    section = previous = ""
    known = list(without_remarks(enumerate(source.text.split("\n"), 1)))
    for at, (number, raw) in enumerate(known):
        line = raw.replace("\xa0", " ")
        quote = _QUOTED.match(line) if ">" in line[:4] and not is_rst else None
        if quote is not None and (in_quote or not inside):
            line = line[quote.end() :]
        tags = _PREFORMATTED.findall(line[:MAX_SHOWN]) if not inside else []
        if is_html or tags:
            yield number, unescaped(_TAG.sub("", line)), section
            is_html = tags[-1] == "" if tags else True
            if not is_html:
                yield number, "", section
            continue
        if is_fence(line, is_code=inside):
            inside, in_quote = not inside, quote is not None
            yield number, "", section  # what a fence ends goes on no further
            continue
        if not inside:
            if found := _HEADING.match(line) or _BOLD.match(line):
                section = found[1].strip()
            elif _UNDERLINE.match(line) and previous.strip():
                section = previous.strip()[:200]
        told = [*_told(line), *filter(_is_command, broken_spans(known, at))] if not inside else []
        if (goes_on and not told) or inside or (not told and (is_rst or line.startswith(("    ", "\t")))):
            yield number, _typed(line), section
        for text in told:
            yield number, text, section
        goes_on = bool(told and told[-1].endswith("\\")) or (goes_on and line.rstrip().endswith("\\"))
        previous = line


def _told(line: str) -> list[str]:
    """Return the commands that a line of prose tells: between marks, also where a list sets it in as far as code, or it is one alone."""
    text = line[:MAX_SHOWN]
    found = [a or unescaped(b) for a, b in _INLINE.findall(text)] if "`" in text or "<code>" in text else []
    told = list(filter(_is_command, found))
    if not told and not found and (alone := _ALONE.match(text)) is not None and not _SENTENCE.search(alone[1]):
        return [_typed(alone[1].rstrip().removesuffix("**"))]
    return told


def _is_command(text: str) -> bool:
    """Whether words between marks begin like a command."""
    tool = None if _STARTS.match(text) else _TOLD_AN_OPTION.match(text)
    return tool[1] in TOOLS if tool is not None else _STARTS.match(text) is not None


def _typed(line: str) -> str:
    """Return a line of code as its author typed it, before an editor made a dash of two hyphens; as a POSIX shell goes on."""
    if "\u2013" in line or "\u2014" in line:
        line = _DASH.sub("--", line)
    return f"{line.rstrip()[:-1]}\\" if line.rstrip().endswith(_GOES_ON) else line
