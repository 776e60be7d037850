"""The conversation of a pull request as one self-contained HTML page: what a reader of the PR would see.

Nothing on the page is fetched and nothing on it runs: the content security policy allows its own styles
and no more, and of raw HTML in a comment only what our own comments use survives.
"""

from __future__ import annotations

import functools
import html
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from gpu_lol_action.render import formats
from gpu_lol_action.render.markdown import Safe, clean_lines
from gpu_lol_action.render.templating import fill

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.renderer import RendererHTML
    from markdown_it.token import Token

_COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)
_ALLOWED_TAG = re.compile(r"(</?(?:details|summary|sub|code)>|<details open>|<br ?/?>)")
_PAIRED_TAG = re.compile(r"<(/?)(details|summary|sub|code)(?: [^<>]*)?>")
_MENTION = re.compile(r"(?<![\w@/])@([A-Za-z0-9](?:[A-Za-z0-9-]{0,38}))(?![\w@])")
_REACTIONS: Mapping[str, str] = {
    "eyes": "👀",
    "+1": "👍",
    "-1": "👎",
    "rocket": "🚀",
    "confused": "😕",
    "heart": "❤️",
    "hooray": "🎉",
    "laugh": "😄",
}


@dataclass(frozen=True, slots=True)
class PageEntry:
    """One thing in the conversation.

    ``kind``: ``comment`` (Markdown), ``event`` (one line such as "opened this pull request") or ``terminal``
    (what was typed and answered in a shell). ``reactions`` are GitHub's names (``eyes``, ``+1``), one per
    reaction. ``edits`` counts how often a comment was edited in place.
    """

    kind: str
    author: str
    at: datetime
    body: str
    reactions: tuple[str, ...] = ()
    edits: int = 0
    is_bot: bool = False


@dataclass(frozen=True, slots=True)
class Conversation:
    """A pull request with all that was said on it; ``state`` is ``open``, ``closed`` or ``merged``."""

    repository: str
    number: int
    title: str
    author: str
    base_ref: str
    head_ref: str
    state: str
    note: str
    entries: tuple[PageEntry, ...]


@dataclass(frozen=True, slots=True)
class ReactionView:
    """An emoji and how many gave it."""

    emoji: Safe
    count: Safe


@dataclass(frozen=True, slots=True)
class EntryView:
    """One entry as the template shows it; ``body`` is HTML that was made safe here."""

    kind: str
    author: str
    letter: str
    color: Safe
    time: Safe
    body: Safe
    reactions: tuple[ReactionView, ...]
    edited: Safe | None
    is_bot: bool


@dataclass(frozen=True, slots=True)
class PageView:
    """The whole page."""

    conversation: Conversation
    number: Safe
    state: str
    entries: tuple[EntryView, ...]


def build_page(conversation: Conversation) -> str:
    """Return the page as one HTML document."""
    view = PageView(
        conversation=conversation,
        number=Safe(str(conversation.number)),
        state=conversation.state,
        entries=tuple(map(_entry_view, conversation.entries)),
    )
    return fill("pages/conversation.html.j2", view=view) + "\n"


def render_markdown(text: str) -> Safe:
    """Return the HTML of a comment, as GitHub would show it: tables, folds, line breaks; anything else raw is text."""
    return Safe(_balance(_parser().render(text)))


def _entry_view(entry: PageEntry) -> EntryView:
    hue = sum(ord(character) * (index + 1) for index, character in enumerate(entry.author)) * 47 % 360
    return EntryView(
        kind=entry.kind,
        author=entry.author,
        letter=(entry.author[:1] or "?").upper(),
        color=Safe(f"hsl({hue} 45% 42%)"),
        time=formats.clock_seconds(entry.at),
        body=_body(entry),
        reactions=tuple(
            ReactionView(Safe(_REACTIONS[name]), Safe(str(entry.reactions.count(name))))
            for name in _REACTIONS
            if name in entry.reactions
        ),
        edited=None if entry.edits == 0 else formats.plural(entry.edits, "edit"),
        is_bot=entry.is_bot,
    )


def _body(entry: PageEntry) -> Safe:
    if entry.kind == "comment":
        return render_markdown(entry.body)
    if entry.kind == "terminal":
        return Safe("\n".join(_terminal_line(line) for line in clean_lines(entry.body)))
    parts = re.split(r"`([^`]+)`", entry.body)
    return Safe(
        "".join(
            f"<code>{html.escape(part)}</code>" if index % 2 else html.escape(part) for index, part in enumerate(parts)
        )
    )


def _terminal_line(line: str) -> str:
    escaped = html.escape(line)
    return f'<span class="prompt">$</span> <b>{escaped[2:]}</b>' if line.startswith("$ ") else escaped


@functools.lru_cache(maxsize=1)
def _parser() -> MarkdownIt:
    from markdown_it import MarkdownIt

    parser = (
        MarkdownIt("commonmark", {"html": True, "breaks": True}).enable(["table", "strikethrough"]).disable("image")
    )
    parser.validateLink = _is_link_allowed  # type: ignore[method-assign]  # the library's own documented hook
    for name, rule in (("html_block", _html_rule), ("html_inline", _html_rule), ("text", _text_rule)):
        parser.add_render_rule(name, rule)
    return parser


def _is_link_allowed(url: str) -> bool:
    return url.startswith(("https://", "http://", "#"))


def _html_rule(_self: RendererHTML, tokens: Sequence[Token], index: int, _options: object, _env: object) -> str:
    """Return raw HTML with everything escaped but the few tags that comments use."""
    pieces = _ALLOWED_TAG.split(_COMMENT.sub("", tokens[index].content))
    return "".join(piece if number % 2 else html.escape(html.unescape(piece)) for number, piece in enumerate(pieces))


def _text_rule(_self: RendererHTML, tokens: Sequence[Token], index: int, _options: object, _env: object) -> str:
    escaped = html.escape(tokens[index].content)
    before = "".join(token.content for token in tokens[:index] if token.type == "html_inline")
    if before.count("<code>") > before.count("</code>"):  # nobody is mentioned in code
        return escaped
    return _MENTION.sub(r'<span class="mention">@\1</span>', escaped)


def _balance(text: str) -> str:
    """Drop end tags that end nothing and add those that lack, so that no comment reaches beyond its box."""
    pieces: list[str] = []
    stack: list[str] = []
    position = 0
    for match in _PAIRED_TAG.finditer(text):
        pieces.append(text[position : match.start()])
        position = match.end()
        is_end, name = bool(match[1]), match[2]
        if not is_end:
            stack.append(name)
        elif name not in stack:
            continue
        else:
            while stack.pop() != name:
                pass
        pieces.append(match[0])
    pieces.append(text[position:])
    return "".join([*pieces, *(f"</{name}>" for name in reversed(stack))])
