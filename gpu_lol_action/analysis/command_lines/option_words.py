"""The options of a command by their names, and the words that stand by their place."""

from __future__ import annotations

import re
from collections.abc import Sequence

from gpu_lol_action.domain.patterns import regex

# Height and width: ``--video-size 720 1280``.
_OF_TWO_SIDES = regex(r"(?:(?:\w{1,20}_)?(?:image|img|video|crop|input|frame|output|target|infer|render)_)?(?:size|shape)|(?:\w{1,20}_)?resolution|img(?:sz)?")  # fmt: skip


_OF_YACS = regex(r"[A-Z][A-Z0-9_]{1,40}(?:\.[A-Z][A-Z0-9_]{0,40}){1,6}")
"""A key of a configuration, before its value (detectron2's ``SOLVER.IMS_PER_BATCH 16``)."""


_OF_SEVERAL = frozenset({"model_args"})
"""What lm-evaluation-harness hands on to the model's class: ``--model_args pretrained=a/b,dtype=bfloat16``."""


_LOADED_HERE = regex(r"(?:hf|huggingface|vllm|sglang)(?:$|-)")
"""Its classes that load a model themselves; the others ask a server."""


def split_options(words: Sequence[str]) -> tuple[dict[str, str], list[str]]:
    """Return options by name without dashes (``-`` folded to ``_``; the first of a name wins), and the words by place."""
    options: dict[str, str] = {}
    places: list[str] = []
    index = 0
    while index < len(words):
        word = words[index]
        following = words[index + 1] if index + 1 < len(words) else ""
        if word.startswith("-") and len(word) > 1 and not regex(r"-\d.*").fullmatch(word):
            name, equals, value = word.lstrip("-").partition("=")
            name = name.replace("-", "_")
            takes = bool(following) and not following.startswith("--")
            takes = takes and _OF_YACS.fullmatch(following) is None
            takes = takes and not regex(r"-[A-Za-z]\w*|\+{0,2}[A-Za-z_][\w.]*=.*").fullmatch(following)
            if name in _OF_SEVERAL and "=" in (value or following):
                options.setdefault(name, value or following)
                index += not equals
            elif equals:
                options.setdefault(name, value)
            elif takes and ("config" in name or not following.endswith(".py")):
                second = words[index + 2] if index + 2 < len(words) else ""
                is_pair = _OF_TWO_SIDES.fullmatch(name) and all(map(str.isdecimal, (following, second)))
                options.setdefault(name, f"{following} {second}" if is_pair else following)
                index += 2 if is_pair else 1
            else:
                options.setdefault(name, "True")
        elif (hydra := regex(r"\+{0,2}~?([A-Za-z_][\w.@/]*)=(.*)", re.DOTALL).fullmatch(word)) is not None:
            options.setdefault(hydra[1], hydra[2])
        elif following and not following.startswith("--") and _OF_YACS.fullmatch(word) is not None:
            options.setdefault(word, following)
            index += 1
        else:
            places.append(word)
        index += 1
    handed = options.get("model_args", "")
    if handed and not _LOADED_HERE.match(options.get("model", "hf")):
        del options["model_args"]
    for key, equals, told in (part.partition("=") for part in handed.split(",") if "model_args" in options):
        if equals and key.strip():
            options.setdefault(key.strip(), told.strip())
    return options, places
