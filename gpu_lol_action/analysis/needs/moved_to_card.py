"""Code that puts something on a card, though nothing that it imports is known to compute on one.

Collections have libraries of their own, which only their own examples import: a program's ``--device`` starts with ``cuda:0``, a document's
block of code ends with ``.to('cuda')``, a shell script starts the training of another checkout (``${TORCHTITAN_ROOT}/run_train.sh``).
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable

from gpu_lol_action.analysis.commands.ray_orders import order_line
from gpu_lol_action.analysis.documents.document_layout import code_blocks
from gpu_lol_action.analysis.files.checkout import Checkout, Source
from gpu_lol_action.analysis.files.effort import remembered
from gpu_lol_action.analysis.formats.paths import Form, Role
from gpu_lol_action.analysis.needs.local_servers import served_here
from gpu_lol_action.domain.finding import Confidence, Evidence, Finding
from gpu_lol_action.domain.patterns import regex

_MOVES = regex(
    r"\.cuda\(\)|\.to\([^()\n]{0,60}f?[\"']cuda|\bdevice[\"']?\s{0,2}[=:]\s{0,2}f?[\"']cuda|\bdefault=[\"']cuda(?::\d)?[\"']"
)
# The habit of programs that go either way says nothing.
_EITHER_WAY = regex(r"is_available|\bcpu\b")
_STARTS_ANOTHER = regex(
    r"^[ \t]{0,8}(?:bash |sh )?\"?\$\{?\w{0,40}(?:ROOT|DIR|HOME|PATH)\}?\"?/[\w./-]{0,80}?(?:train|finetune)[\w-]{0,30}\.(?:sh|py)\b",
    re.MULTILINE,
)
# `CUDA_VISIBLE_DEVICES=0,1 python evaluate.py`, the program in the same line or the next.
_LEAVES_VISIBLE = regex(
    r"^[ \t]{0,8}(?:\$[ \t]{1,2})?(CUDA_VISIBLE_DEVICES)=[\"']?\d[\d,]{0,40}[\"']?[ \t]{1,4}(?:\\\n[ \t]{0,8})?(?:\w{1,40}=\S{1,80}[ \t]{1,4}){0,4}(?:python3?|bash|sh|\./)",
    re.MULTILINE,
)
_INDEXES = frozenset({
    "StandardGpuResources", "index_cpu_to_gpu", "index_cpu_to_gpus_list", "index_cpu_to_all_gpus", "index_cpu_to_gpu_multiple",
    "GpuIndexFlat", "GpuIndexFlatL2", "GpuIndexFlatIP", "GpuIndexIVFFlat", "GpuIndexIVFPQ", "GpuIndexCagra",
})  # fmt: skip
_ASKS_FIRST = regex(r"is_available|get_num_gpus")
# What has to hold for what is indented below it.
_HEADER = regex(r"(?i)[ \t]*(?:try\b|except\b|(?:el)?if\b.{0,200}(?:gpu|cuda|device))")
MAX_ABOVE, MAX_KERNELS = 400, 20
_KERNEL = regex(r"(?m)^[ \t]{0,8}@(?:numba\.)?cuda\.jit\b")
_LEARNS = regex(
    r"\brllib\b|\.backward\(|optimizer\.step|\.fit\(|Trainer\b|\.train\((?!\))|\btrain(?:ing)?\.(?:py|sh)\b|\brun_train"
)
_PROGRAM = regex(r"[\w./-]{1,200}\.(?:py|sh)(?![\w.])")
MAX_DOCUMENTS, MAX_LINES, MAX_COMMAND = 10, 2000, 400


@remembered
def code_need(checkout: Checkout) -> Finding | None:
    """Return the finding that some code puts its work on a card; None where none does."""
    for source in checkout.of(Form.PYTHON, Form.NOTEBOOK):
        if (line := moved_at(source) or indexed_at(source) or compiled_at(source)) is not None:
            why = f"`{source.name}` puts its work on a card"
            return Finding("gpu.use", "yes", why, Confidence.MEDIUM, Evidence(source.path, line))
        if (line := order_line(source)) is not None:
            why = f"`{source.name}` orders a card from Ray"
            return Finding("gpu.use", "yes", why, Confidence.MEDIUM, Evidence(source.path, line))
    for source in checkout.of(Form.MARKDOWN, roles=(Role.DOCUMENTATION,))[:MAX_DOCUMENTS]:
        if (line := moved_in_block(source)) is not None:
            why = f"the code in `{source.name}` puts its work on a card"
            return Finding("gpu.use", "yes", why, Confidence.MEDIUM, Evidence(source.path, line))
    told = checkout.of(Form.MARKDOWN, Form.SHELL, roles=(Role.DOCUMENTATION, Role.WORKLOAD))
    for source in told[:MAX_DOCUMENTS]:
        shown = _LEAVES_VISIBLE.finditer(source.text) if source.mentions("CUDA_VISIBLE_DEVICES") else ()
        found = next((match for match in shown if not _starts_a_strangers(checkout, source, match)), None)
        if found is not None:
            why = f"`{source.name}` starts a program with cards left visible to it"
            line = source.text.count("\n", 0, found.start(1)) + 1
            return Finding("gpu.use", "yes", why, Confidence.MEDIUM, Evidence(source.path, line))
    for source in checkout.of(Form.SHELL):
        found = _STARTS_ANOTHER.search(source.text)
        if found is not None:
            why = f"`{source.name}` starts a training of another checkout"
            line = source.text.count("\n", 0, found.start()) + 1
            return Finding("gpu.use", "yes", why, Confidence.MEDIUM, Evidence(source.path, line))
    return served_here(checkout)


def _starts_a_strangers(checkout: Checkout, source: Source, found: re.Match[str]) -> bool:
    """Whether a command starts a file that is not here though programs are: another checkout's, or the form of any reader's."""
    line = source.text[found.end() : found.end() + MAX_COMMAND].partition("\n")[0]
    program = _PROGRAM.search(line)
    return program is not None and bool(checkout.of(Form.PYTHON)) and checkout.find_named(program[0]) is None


def code_workload(checkout: Checkout, need: Finding) -> Finding | None:
    """Return what the code that ``code_need`` has found does: it trains where it says so, else it runs a model."""
    found = code_need(checkout)
    source = checkout.find(need.evidence.path)
    if found is None or found != need or source is None:
        return None
    kind = "training" if source.form is Form.SHELL or _LEARNS.search(source.text) else "inference"
    return Finding("workload", kind, need.why, Confidence.LOW, need.evidence)


def moved_at(source: Source) -> int | None:
    """Return the first line on which a program puts something on a card whatever happens; None without one."""
    if not source.mentions("cuda"):
        return None
    for number, line in enumerate(source.text.split("\n"), 1):
        if "cuda" in line and _MOVES.search(line) and not _EITHER_WAY.search(line):
            return source.code.line_of_file(number) if source.code is not None else number
    return None


def indexed_at(source: Source) -> int | None:
    """Return the line on which a program keeps an index of faiss on a card; None without one, or where it asks for a card or tries first."""
    code = source.code
    if (
        code is None
        or not source.mentions("faiss")
        or "faiss" not in code.imported()
        or _ASKS_FIRST.search(source.text)
    ):
        return None
    return _unguarded(source, [call.line for call in code.calls_named(*sorted(_INDEXES))])


def compiled_at(source: Source) -> int | None:
    """Return the line on which a program has Numba compile a kernel for a card, or tells PaddlePaddle's tools to use one; None without."""
    code = source.code
    if (
        code is None
        or not (source.mentions("cuda.jit") or source.mentions("use_gpu"))
        or _ASKS_FIRST.search(source.text)
    ):
        return None
    if "numba" in code.imported():
        kernels = itertools.islice(_KERNEL.finditer(source.text), MAX_KERNELS)
        at = [
            source.text.count("\n", 0, each.start()) + 1
            for each in kernels
            if not _is_in_text(source.text, each.start())
        ]
        if (line := _unguarded(source, at)) is not None:
            return line
    if not any(module.startswith("paddle") for module in code.imported()):
        return None
    told = [call.line for call in code.calls if (value := call.keyword("use_gpu")) is not None and value.text == "True"]
    return _unguarded(source, told)


def _is_in_text(text: str, place: int) -> bool:
    """Whether a place of a program is in a text of several lines, as far as its marks tell."""
    return any(text.count(mark, 0, place) % 2 for mark in ('"""', "'''"))


def _unguarded(source: Source, numbers: Iterable[int]) -> int | None:
    """Return the first of the lines that stands under no ``try`` and no question after a card, in the file that it is of."""
    lines = source.text.split("\n")
    for number in numbers:
        depth, is_free = _indent(lines[number - 1]) if number <= len(lines) else 0, True
        for line in reversed(lines[max(0, number - 1 - MAX_ABOVE) : number - 1]):
            if line.strip() and _indent(line) < depth:
                depth, is_free = _indent(line), is_free and not _HEADER.match(line)
        if is_free:
            return source.code.line_of_file(number) if source.code is not None else number
    return None


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())


def moved_in_block(source: Source) -> int | None:
    """Return the first line of a document's blocks of code that puts something on a card whatever happens; None without one."""
    if not source.mentions("cuda"):
        return None
    lines = source.text.split("\n")[:MAX_LINES]
    return next(
        (number for block in code_blocks(lines) for number in block
         if number <= len(lines) and _MOVES.search(lines[number - 1]) and not _EITHER_WAY.search(lines[number - 1])),
        None,
    )  # fmt: skip
