"""Options after which a program leaves before it trains: ``if args.evaluate: validate(loader, model); return``."""

from __future__ import annotations

import itertools
import re
from collections.abc import Mapping

from gpu_lol_action.analysis.files.checkout import Source
from gpu_lol_action.analysis.files.effort import remembered
from gpu_lol_action.analysis.files.setting import fold_key
from gpu_lol_action.domain.patterns import regex

MAX_CONDITIONS = 400
MAX_LINES = 120  # of a block: what is longer is a work of its own
# `if args.eval_checkpoint:`, `if args.inference_dir is not None:`; not a comparison, whose other side would have to be known.
_CONDITION = regex(
    r"^([ \t]*)if[ \t]+(?:args|arg|opts?|options|FLAGS|flags|cfg|conf|config|params|hparams)\.(\w{1,60})"
    r"(?:[ \t]+is[ \t]+not[ \t]+None|[ \t]*!=[ \t]*(?:''|\"\"|None))?[ \t]*:[ \t]*(?:#[^\n]*)?$",
    re.MULTILINE,
)
_LEAVES = regex(r"(?:return\b.*|(?:sys\.|os\._)?exit\(.*|quit\(.*|raise SystemExit\b.*)")
_TRAINS = regex(
    r"\b(?:pre)?train(?:er|ing)?(?:_\w{1,40})?(?:\.fit)?\(|\.(?:fit|learn|backward)\(|fine_?tune|(?<!model)(?<!net)\.train\(",
    re.IGNORECASE,
)
_REFUSED = frozenset({"false", "0", "no", "none", "''", '""'})


def leaves_early(source: Source, options: Mapping[str, str]) -> str:
    """Return the option among those given with which a program does something else and leaves; nothing without one."""
    early = early_leaves(source) if options else frozenset()
    for key, value in options.items() if early else ():
        if fold_key(key) in early and value.strip().lower() not in _REFUSED:
            return fold_key(key)
    return ""


@remembered
def early_leaves(source: Source) -> frozenset[str]:
    """Return the options of a program, as keys, whose own block ends it without having trained anything."""
    if not source.mentions("return") and not source.mentions("exit"):
        return frozenset()
    text, found = source.text, set()
    for condition in itertools.islice(_CONDITION.finditer(text), MAX_CONDITIONS):
        name = fold_key(condition[2])
        if "train" in name or name in found:
            continue
        block = _block(text[condition.end() + 1 :], len(condition[1].expandtabs()))
        if block and _LEAVES.fullmatch(block[-1]) and not any(map(_TRAINS.search, block)):
            found.add(name)
    return frozenset(found)


def _block(text: str, depth: int) -> list[str]:
    """Return the lines that stand deeper than their condition, without blank ones and remarks; the last only if it ends the block itself."""
    lines: list[tuple[int, str]] = []
    for line in itertools.islice(text.split("\n", MAX_LINES + 1), MAX_LINES):
        code = line.strip()
        indent = len(line.expandtabs()) - len(line.expandtabs().lstrip())
        if code and not code.startswith("#"):
            if indent <= depth:
                break
            lines.append((indent, code))
    else:
        return []
    # What stands deeper than the block's first line is one of its cases.
    return [code for _, code in lines] if lines and lines[-1][0] == lines[0][0] else []
