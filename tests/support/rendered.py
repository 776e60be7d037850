"""What a reply of ours is once GitHub has rendered it: everything in it that acts, or that should not be there."""

from __future__ import annotations

import re
import unicodedata
from html.parser import HTMLParser

import cmarkgfm
from cmarkgfm.cmark import Options

from gpu_lol_action.render.marker import parse_marker

# What our own templates write. A link, a picture or a form is none of it.
TAGS = frozenset(
    ("h3", "p", "table", "thead", "tbody", "tr", "th", "td", "code", "pre", "strong", "em", "details", "summary", "ul",
     "ol", "li", "br", "sub")
)  # fmt: skip
ATTRIBUTES = frozenset({"align", "class", "open"})
BILLING = re.compile(r"(?:Nothing|Running:|.+ (?:runs at|bills|counts as running at) \$|.+ may be running)")
# As GitHub's own filters look for them, in rendered text outside code.
ACTIVE = {
    "a mention": re.compile(r"(?<![\w@/])@[A-Za-z0-9]"),
    "a reference": re.compile(r"(?:(?<![\w&])#\d|\bGH-\d|\w/[\w.-]+#\d)"),
    "an address": re.compile(r"\b(?:https?://|www\.)", re.IGNORECASE),
}


class _Page(HTMLParser):
    def __init__(self, links: str) -> None:
        super().__init__(convert_charrefs=True)
        self.links = links
        self.problems: list[str] = []
        self.opened: list[str] = []
        self.plain: list[str] = []
        self.blocks: list[tuple[str, str, bool]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        is_ours = tag == "a" and bool(self.links) and (dict(attrs).get("href") or "").startswith(self.links)
        if tag not in TAGS and not is_ours:
            self.problems.append(f"the tag <{tag}>")
        self.problems += [f"the attribute {name}" for name, _ in attrs if name not in ATTRIBUTES and not is_ours]
        if not self.opened:
            self.blocks.append((tag, "", False))
        if tag != "br":
            self.opened.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if not self.opened or self.opened.pop() != tag:
            self.problems.append(f"</{tag}> closes what it did not open")

    def handle_data(self, data: str) -> None:
        if self.blocks and self.opened:
            tag, text, is_strong = self.blocks[-1]
            self.blocks[-1] = (tag, text + data, is_strong or "strong" in self.opened)
        if not {"code", "pre"} & set(self.opened):
            self.plain.append(data)


def reply_problems(markdown: str, links: str = "") -> list[str]:
    """Return whatever of a stranger's text acts in this reply, and whatever of our own form is broken.

    ``links`` is what the address of a link of ours begins with; without it there may be none.
    """
    html = cmarkgfm.markdown_to_html_with_extensions(
        markdown, Options.CMARK_OPT_UNSAFE, ["table", "autolink", "strikethrough", "tagfilter"]
    )
    page = _Page(links)
    page.feed(html)
    page.close()
    problems = page.problems + [f"<{tag}> stays open" for tag in page.opened]
    text = "".join(page.plain)
    problems += [f"{what}: {found[0]!r}" for what, pattern in ACTIVE.items() if (found := pattern.search(text))]
    hidden = {character for character in html if unicodedata.category(character) in {"Cc", "Cf", "Cs", "Zl", "Zp"}}
    problems += [f"the character U+{ord(character):04X}" for character in sorted(hidden - {"\n", "\u200b"})]
    if parse_marker(markdown.split("\n", 1)[0]) is None:
        problems.append("no marker on the first line")
    if not page.blocks or page.blocks[0][0] != "h3" or sum(tag == "h3" for tag, _, _ in page.blocks) != 1:
        problems.append("not one heading, at the top")
    last = page.blocks[-1] if page.blocks else ("", "", False)
    if last[0] != "p" or not last[2] or not BILLING.search(last[1].splitlines()[-1]):
        problems.append(f"what is billing now is not the last sentence: {last[1][-80:]!r}")
    return problems
