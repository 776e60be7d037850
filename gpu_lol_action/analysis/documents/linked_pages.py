"""Pages of a documentation folder that the README sends a reader to: there it tells how to start what it is about.

A folder ``docs`` holds a library's reference as a rule, whose commands are one use of many; of its pages only those count
that the root's README links, and those that such a page only hands on to.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Mapping

from gpu_lol_action.analysis.documents.reading_order import by_name
from gpu_lol_action.analysis.files.checkout import Checkout, Source
from gpu_lol_action.analysis.formats.paths import Form, Role
from gpu_lol_action.domain.patterns import regex

FOLDERS = ("docs/", "doc/")
MAX_PAGES = 12
MAX_SIGNPOST = 3000  # characters: a longer page tells something itself
_BEGINS = regex(r"start|usage|train|run|tutorial|guide", re.IGNORECASE)
MAX_CHARACTERS = 64 * 1024  # of a README in which links are looked for
# A model's page on the Hub has the same files as its release here, and its README is written for both.
_ON_THE_HUB = r"https://huggingface\.co/[\w.-]{1,80}/[\w.-]{1,120}/blob/[\w.-]{1,60}/"
_LINK = regex(rf"\]\((?:\./|{_ON_THE_HUB})?([\w./-]{{1,200}}\.(?:md|mdx|rst))(?:#[^)\s]{{0,100}})?\)")


def documents_and_linked_pages(checkout: Checkout) -> tuple[list[Source], list[Source]]:
    """Return the documents outside a documentation folder, and the pages inside it that the root's README links, in its order.

    Where the root has no README that of the documentation folder stands for it, as on a repository's page.
    """
    documents = checkout.of(Form.MARKDOWN, roles=(Role.DOCUMENTATION,))
    outside = [source for source in documents if not source.path.startswith(FOLDERS)]
    if len(outside) == len(documents):
        return outside, []
    at_root = [source for source in by_name(outside) if source.depth == 0 and source.name.startswith("readme")]
    # `README.md` may be a link to one in some language, which is not followed.
    readmes = [source for source in at_root if source.name.startswith("readme.")] or at_root
    if not readmes:
        instead = [s for s in documents if s.path.startswith(FOLDERS) and s.depth == 1 and s.name.startswith("readme.")]
        outside, readmes = [*instead[:1], *outside], instead
    links = (link for readme in readmes[:1] for link in _LINK.findall(readme.text[:MAX_CHARACTERS]))
    inside = {source.path: source for source in documents if source.path.startswith(FOLDERS)}
    linked = dict.fromkeys(posixpath.normpath(link) for link in links)
    pages = [page for path in linked if path in inside for page in (inside[path], *_sent_on(inside[path], inside))]
    return outside, list(dict.fromkeys(pages))[:MAX_PAGES]


def _sent_on(page: Source, inside: Mapping[str, Source]) -> list[Source]:
    """Return the pages that a short one without any code sends its reader on to, one for each set of data or kind of work."""
    if len(page.text) > MAX_SIGNPOST or "```" in page.text or not _BEGINS.search(page.name):
        return []
    links = (posixpath.normpath(posixpath.join(page.folder, link)) for link in _LINK.findall(page.text))
    return [inside[path] for path in links if path in inside]
