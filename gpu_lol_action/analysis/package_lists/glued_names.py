"""Two dependencies of a setup.py between which a comma is missing: Python joins their texts, and pip knows neither.

``"pandas>=0.23.4" "scipy>=1.2"`` is one text to Python. It is taken apart where each of its literals begins with the name of a known
package; an address or a marker that was only broken over two lines stays whole.
"""

from __future__ import annotations

import ast
import functools
from collections.abc import Iterator, Sequence

from gpu_lol_action.analysis.files.checkout import Source
from gpu_lol_action.analysis.formats.import_names import package_names
from gpu_lol_action.analysis.package_lists.installable_names import meant
from gpu_lol_action.analysis.package_lists.package_files import clean_requirement, package_name
from gpu_lol_action.analysis.python.syntax import parse_program
from gpu_lol_action.domain.finding import Confidence, Evidence, Finding
from gpu_lol_action.domain.patterns import regex
from gpu_lol_action.estimation.wheel_ranges import known_packages

MAX_LENGTH = 600
_LITERALS = regex(r"(?:[\"'][^\"'\\\n]{1,200}[\"'](?:\s|#[^\n]{0,200}\n|\\\n){0,40}){2,12}")
_LITERAL = regex(r"([\"'])([^\"'\\\n]{1,200})\1")


def taken_apart(node: ast.expr, lines: Sequence[str]) -> list[str]:
    """Return the dependencies that an element of a list joins by mistake; none where it is one text, or meant as one.

    ``lines`` are those of the program.
    """
    if not isinstance(node, ast.Constant) or not isinstance(node.value, str) or len(node.value) > MAX_LENGTH:
        return []
    written = _written(node, len(node.value), lines)
    if not _LITERALS.fullmatch(written):
        return []
    texts = [text for _, text in _LITERAL.findall(written)]
    return texts if "".join(texts) == node.value and all(map(_is_known, texts)) else []


def glued_findings(sources: Sequence[Source]) -> Iterator[Finding]:
    """Yield one sentence per place of these programs at which a comma is missing."""
    for source in sources:
        tree = parse_program(source.text) if source.name == "setup.py" else ""
        lines = source.text.split("\n")
        lists = [] if isinstance(tree, str) else [n for n in ast.walk(tree) if isinstance(n, (ast.List, ast.Tuple))]
        for node in (element for each in lists for element in each.elts):
            if texts := taken_apart(node, lines):
                names = " and ".join(f"`{text}`" for text in texts)
                where = Evidence(source.path, node.lineno)
                why = f"a comma is missing between {names} ({where}), which Python joins to one text: all are installed"
                yield Finding("not_understood", "setup.py", why, Confidence.HIGH, where)


def _written(node: ast.Constant, length: int, lines: Sequence[str]) -> str:
    """Return how a text is written; empty where it is one literal, as nearly all are."""
    first, last = node.lineno - 1, (node.end_lineno or node.lineno) - 1
    if first == last and (node.end_col_offset or 0) - node.col_offset <= length + 3:
        return ""
    if last >= len(lines) or last - first > 12:
        return ""
    whole = [line.encode() for line in lines[first : last + 1]]  # columns count bytes
    whole[-1] = whole[-1][: node.end_col_offset]
    whole[0] = whole[0][node.col_offset :]
    return b"\n".join(whole).decode(errors="replace")


def _is_known(text: str) -> bool:
    return clean_requirement(text) is not None and package_name(text) in _published()


def is_published(name: str) -> bool:
    """Whether the bundled tables know a package of that name, or what its author means by it."""
    bare = package_name(name)
    return bare in _published() or meant(bare) not in {bare, None}


@functools.lru_cache(maxsize=1)
def _published() -> frozenset[str]:
    """Return the names of all packages that the bundled tables know."""
    return frozenset({*map(package_name, package_names().values()), *known_packages()})
