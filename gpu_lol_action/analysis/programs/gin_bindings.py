"""What gin-config binds to the parameters of a program's functions and classes, by the names that it knows them by.

A binding takes the place of what a parameter starts with, and a call that gives the parameter goes before both
(https://github.com/google/gin-config/blob/master/docs/index.md).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from gpu_lol_action.analysis.files.checkout import Source
from gpu_lol_action.analysis.files.effort import remembered
from gpu_lol_action.analysis.files.setting import Setting, fold_key
from gpu_lol_action.analysis.formats.gin_text import read_gin
from gpu_lol_action.analysis.formats.paths import Form, form_of
from gpu_lol_action.domain.patterns import regex

MAX_EXTERNAL = 40
"""Programs that are asked whether they hand a function to gin."""
_DECORATED = regex(
    r"@(?:gin\.)?(?:configurable|register)\b(?:\([ \t]{0,8}(?:name[ \t]{0,4}=[ \t]{0,4})?(?:['\"]([\w./]{1,100})['\"])?[^()\n]{0,200}\))?"
    r"[^\n]{0,100}\n(?:[ \t]{0,40}@[^\n]{0,200}\n){0,5}[ \t]{0,40}(?:async[ ])?(?:def|class)[ ]{1,4}(\w{1,100})"
)
_EXTERNAL = regex(
    r"\bexternal_configurable\(\s{0,40}([\w.]{1,100})(?:\s{0,4},\s{0,40}(?:name\s?=\s?)?['\"]([\w.]{1,100})['\"])?"
)
_FLAGS = frozenset({"gin_param", "gin_params", "gin_bindings", "gin_binding"})


@remembered
def known_as(source: Source) -> dict[str, tuple[str, ...]]:
    """Return the names by which gin knows what a program decorates or hands to it, by the names that the program has for them."""
    if not source.mentions("gin"):
        return {}
    found: dict[str, tuple[str, ...]] = {}
    for name, function in _DECORATED.findall(source.text):
        found[function] = (*found.get(function, ()), name or function)
    for function, name in _EXTERNAL.findall(source.text):
        last = function.rpartition(".")[2]
        found[last] = (*found.get(last, ()), name or last)
    return found


def gin_names(source: Source, function: str, closure: Sequence[Source]) -> tuple[str, ...]:
    """Return the names by which gin knows a program's function or class; none where it does not."""
    asked = (source, *(other for other in closure[:MAX_EXTERNAL] if _hands_over(other)))
    names = (name for each in asked for name in known_as(each).get(function, ()))
    return tuple(dict.fromkeys(name.replace("/", ".") for name in names))


@remembered
def _hands_over(source: Source) -> bool:
    """Whether a program may hand somebody else's function to gin: asked of each parameter that is followed."""
    return source.mentions("external_configurable")


def is_of_gin(setting: Setting) -> bool:
    """Whether a setting stands in a file of gin-config."""
    return form_of(setting.evidence.path) is Form.GIN


def without_overridden(configs: Sequence[Setting]) -> tuple[Setting, ...]:
    """Return settings without those of gin's files that one before them says otherwise: what is included comes behind what includes it."""
    places: dict[str, str] = {}
    for setting in configs:
        if is_of_gin(setting):
            places.setdefault(setting.path, setting.evidence.path)
    return tuple(s for s in configs if places.get(s.path, s.evidence.path) == s.evidence.path or not is_of_gin(s))


def bound_by(options: Sequence[Setting]) -> Iterator[Setting]:
    """Yield a command's options as gin hears them: ``--gin.BATCH_SIZE=8`` and ``--gin_param="train.batch_size=8"`` under their own names."""
    for option in options:
        if option.path.startswith("gin.") and option.path.count(".") <= 6:
            path = option.path.removeprefix("gin.")
            told = read_gin(f"x = {option.text}\n").bindings
            text = str(told[0].value) if told and isinstance(told[0].value, (str, int, float)) else option.text
            yield replace(option, key=path.rpartition(".")[2], path=path, text=text)
        elif option.key in _FLAGS:
            for told_one in read_gin(option.text).bindings:
                path = fold_key(told_one.name)
                if isinstance(told_one.value, (str, int, float)) and not told_one.scope:
                    yield replace(option, key=path.rpartition(".")[2], path=path, text=str(told_one.value))


def bindings_of(options: Sequence[Setting], configs: Sequence[Setting]) -> tuple[tuple[str, str], ...]:
    """Return what gin binds, by the dotted name and each shorter end of it that still says whose parameter it is; none of two different values."""
    said = [s for s in configs if is_of_gin(s) and "." in s.path]
    if not said and not any(option.key in _FLAGS or option.path.startswith("gin.") for option in options):
        return ()
    found: dict[str, set[str]] = {}
    ordered = {s.path: s.text for s in (*said[::-1], *(option for option in options[::-1] if "." in option.path))}
    for path, text in ordered.items():
        words = path.split(".")
        for start in range(len(words) - 1):
            found.setdefault(".".join(words[start:]), set()).add(text)
    return tuple(sorted((path, min(texts)) for path, texts in found.items() if len(texts) == 1))
