"""The program that a README shows in its text: what a repository is used for that publishes weights or a library alone.

Where no command and no program is nearer to the root, the first block of Python code of the root's README that trains or runs
a model is the run. It is read like any other program; its lines keep their numbers, so that evidence points into the README.
"""

from __future__ import annotations

from gpu_lol_action.analysis.behavior import Behavior, behavior_of
from gpu_lol_action.analysis.checkout import Checkout, Source
from gpu_lol_action.analysis.effort import remembered
from gpu_lol_action.analysis.entry_points import Run
from gpu_lol_action.analysis.paths import Form, Role
from gpu_lol_action.analysis.python_code import read_python
from gpu_lol_action.analysis.texts import is_fence
from gpu_lol_action.domain.finding import Confidence, Evidence, Finding
from gpu_lol_action.domain.patterns import regex

MAX_BLOCKS = 12
# `torch.randint(0, 20000, (2, 1024))`, `torch.randn(1, 3, 256, 256)`: what is drawn, then samples and at least one side more.
_INPUT = regex(
    r"torch\.randint\(\s*\d[\d_]*\s*,\s*\d[\d_]*\s*,\s*\(\s*(\d{1,4})\s*,|torch\.(?:randn|rand)\(\s*\(?\s*(\d{1,4})\s*,"
)
_FENCE = regex(r"^\s*(?:```|~~~)\s*\{?\.?([\w+-]*)")
_PYTHON = frozenset({"python", "py", "python3", "pycon", "ipython"})


@remembered
def shown_program(checkout: Checkout) -> Source | None:
    """Return the first program of the root's README that trains or infers, as a source of its own; None without one."""
    documents = checkout.of(Form.MARKDOWN, roles=(Role.DOCUMENTATION,))
    readme = next((s for s in documents if s.depth == 0 and s.name.startswith("readme.")), None)
    if readme is None or not readme.mentions("import "):
        return None
    lines = readme.text.split("\n")
    before: list[range] = []
    for block in _python_blocks(lines)[:MAX_BLOCKS]:
        # What a block imports, a later one uses.
        kept = [index for each in (*before, block) for index in each]
        text = "\n".join(_bare(line) if index in set(kept) else "" for index, line in enumerate(lines))
        code = read_python(text)
        if behavior_of(code)[0] is not Behavior.NEITHER:
            return Source(readme.path, Form.PYTHON, Role.WORKLOAD, text, code, readme.effort)
        before.append(block)
    return None


def is_shown(source: Source | None) -> bool:
    """Whether a program is one that a document shows, and no file of its own."""
    return source is not None and source.form is Form.PYTHON and source.name.startswith("readme.")


def shown_batch(run: Run) -> Finding | None:
    """Return the samples of the first input that a document makes up for the network that it shows (``torch.randn(4, 3, 256, 256)``)."""
    script = run.script
    found = _INPUT.search(script.text) if script is not None and is_shown(script) else None
    if script is None or found is None:
        return None
    number = next(group for group in found.groups() if group)
    where = Evidence(script.path, script.text.count("\n", 0, found.start()) + 1)
    return Finding("training.batch_size", number, f"the input that is shown holds {number}", Confidence.HIGH, where)


def _python_blocks(lines: list[str]) -> list[range]:
    """Return the fenced blocks of Python code as ranges of line indexes."""
    blocks: list[range] = []
    start: int | None = None
    is_python = False
    for index, line in enumerate(lines):
        found = _FENCE.match(line)
        if found is None or not is_fence(line, is_code=start is not None):
            continue
        if start is None:
            start, is_python = index + 1, found[1].lower() in _PYTHON
        else:
            if is_python:
                blocks.append(range(start, index))
            start = None
    return blocks


def _bare(line: str) -> str:
    return line.removeprefix(">>> ").removeprefix("... ")
