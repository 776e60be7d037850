"""Which files a reader of networks follows: what the run imports, then what those import that may hold layers, however deep."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence

from gpu_lol_action.analysis.files.checkout import Checkout, Source
from gpu_lol_action.analysis.files.effort import remembered
from gpu_lol_action.analysis.formats.paths import Form
from gpu_lol_action.analysis.programs.import_graph import import_closure, local_imports, module_source
from gpu_lol_action.domain.patterns import regex

MAX_SOURCES = 48
STEPS = 5
MAX_IMPORTERS, MAX_NAMED, MAX_WRITTEN = 8, 4, 60
_IMPORTS = ("import_module(", "__import__(", "spec_from_file_location(")
_ENDS = regex(r"""\+[ \t]*["'](_\w{1,30})["']""")
_WRITTEN = regex(r"""["'](?:([A-Za-z_][\w/]{0,100}\.py)|([A-Za-z_]\w{0,40}(?:\.[A-Za-z_]\w{0,60}){1,6}))["']""")
_JUDGES = regex(
    r"(?:^|[/_])(?:inception|fid|lpips|metrics?|perceptual\w*|evaluat\w*|(?:inception|fid|is)_(?:score|utils?))(?:/|\.py$)",
    re.IGNORECASE,
)
"""Modules whose networks only judge what another one puts out."""
# The leading line feed lets the expression engine leap from line to line.
_ABOVE = regex(r"\n[ \t]*from[ \t]+(\.{2,4})([\w.]*)[ \t]+import[ \t]+\(?([\w, \t]*)")


@remembered
def network_sources(checkout: Checkout, script: Source) -> tuple[Source, ...]:
    """Return the script, then imported programs that may hold layers, the nearest first, then the others that it imports."""
    near = import_closure(checkout, script)
    holders = dict.fromkeys(source for source in near[1:] if may_hold_layers(source))
    packages: dict[Source, None] = {}
    level = list(near)
    for _ in range(STEPS):
        inner = [
            found for source in level for found in (*local_imports(checkout, source), *_from_above(checkout, source))
        ]
        new = [s for s in dict.fromkeys(inner) if s not in holders and s not in near and s not in packages]
        layered = [source for source in new if may_hold_layers(source)]
        holders.update(dict.fromkeys(layered))
        # A package often has but a table of what its modules hold.
        tables = [source for source in new if source.name == "__init__.py" and source not in holders]
        packages.update(dict.fromkeys(tables))
        level = [*layered, *tables]
        if not level or len(holders) > MAX_SOURCES:
            break
    rest = [source for source in near[1:] if source not in holders]
    return (script, *holders, *packages, *rest)[:MAX_SOURCES]


def named_modules(checkout: Checkout, sources: Sequence[Source], words: Collection[str]) -> tuple[Source, ...]:
    """Return the modules that a run imports by the name that an option has (``import_module(args.model)``)."""
    importers = [source for source in sources[:MAX_IMPORTERS] if any(word in source.text for word in _IMPORTS)]
    if not importers:
        return ()
    stems = {word.rpartition(".")[2] for word in words if regex(r"[A-Za-z_][\w.]{2,60}").fullmatch(word)}
    # Many name a module by an option and an ending of its own (`"models." + name + "_model"`).
    ends = {end for source in importers for end in _ENDS.findall(source.text)[:MAX_NAMED]}
    stems |= {f"{stem}{end}" for stem in stems for end in ends}
    found = [s for s in checkout.of(Form.PYTHON) if s.name.removesuffix(".py") in stems and s not in sources]
    found += [s for s in _written_modules(checkout, [*sources[:1], *importers]) if s not in sources]
    named = [source for source in found if may_hold_layers(source)][:MAX_NAMED]
    inner = [other for source in named for other in network_sources(checkout, source)[1:8] if other not in sources]
    return tuple(dict.fromkeys([*named, *inner]))


def _written_modules(checkout: Checkout, sources: Sequence[Source]) -> Iterator[Source]:
    """Yield the modules and files whose names stand as texts in programs that import by name (``"training.networks.Generator"``)."""
    for source in dict.fromkeys(sources):
        for path, dotted in _WRITTEN.findall(source.text)[:MAX_WRITTEN]:
            names = (dotted, dotted.rpartition(".")[0]) if dotted else ()
            found = (
                checkout.find(path) if path else next(filter(None, (module_source(checkout, n) for n in names)), None)
            )
            if found is not None:
                yield found


_WITHOUT_GRADIENTS = regex(
    r"\n[ \t]+with torch\.(?:no_grad|inference_mode)\(\):[^\n]*\n[ \t]+[\w, ]{1,40}=[ \t]*self\.(\w{1,40})\("
)


def runs_without_gradients(source: Source) -> bool:
    """Whether a module's networks only put out features, without keeping anything (``with torch.no_grad(): f = self.resnet(x)``).

    One that is called elsewhere as well is trained where it is told to be.
    """
    if not source.mentions("torch.no_grad():") and not source.mentions("torch.inference_mode():"):
        return False
    called = _WITHOUT_GRADIENTS.findall(source.text)
    return bool(called) and all(source.text.count(f"self.{name}(") == called.count(name) for name in called)


def only_judges(source: Source) -> bool:
    """Whether a module's networks judge what another one puts out, by its name: scores of pictures, perceptual losses."""
    return _JUDGES.search(source.path) is not None


@remembered
def may_hold_layers(source: Source) -> bool:
    """Whether a program's text has words of layers in it."""
    text = source.text
    return any(word in text for word in ("nn.", "keras", "Dense(", "Linear(", "Conv2d("))


@remembered
def _from_above(checkout: Checkout, source: Source) -> tuple[Source, ...]:
    """Return what a program imports from the packages above it (``from ..modules import x``)."""
    return tuple(_above(checkout, source)) if source.code is not None and source.mentions("..") else ()


def _above(checkout: Checkout, source: Source) -> Iterator[Source]:
    for found in _ABOVE.finditer(f"\n{source.text}"):
        folders = source.folder.split("/") if source.folder else []
        up = len(found[1]) - 1
        if up > len(folders):
            continue
        base = "/".join([*folders[: len(folders) - up], *found[2].split(".")]).strip("/")
        names = [base, *(f"{base}/{name.strip()}".strip("/") for name in found[3].split(",")[:20] if name.strip())]
        for name in names:
            for end in (".py", "/__init__.py"):
                if (inner := checkout.find(f"{name}{end}")) is not None:
                    yield inner
