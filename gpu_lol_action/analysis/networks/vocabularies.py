"""How many words a network knows where only its data tell: a vocabulary is built from texts that are not there to be read."""

from __future__ import annotations

import ast
import functools
import re

from gpu_lol_action.analysis.files.checkout import Source
from gpu_lol_action.analysis.networks.values import UNKNOWN, Value
from gpu_lol_action.domain.patterns import regex

WORDS = 32_000
"""Entries of a vocabulary that nothing says: Llama 2's, and what subword tokenizers are mostly trained to."""
CHARACTERS = 128
"""Entries of one of characters: those of English texts with their signs (Tiny Shakespeare has 65)."""
_LETTERS = regex(r"(?:all_)?(?:\w+_)?(?:chars?|charset|characters|letters|alphabet)", re.IGNORECASE)
_SIZE = regex(
    r"(?:\w+_)?voc(?:ab(?:ulary)?)?s?_?(?:\w+_)?(?:size|len|length|num|dim)s?|(?:num|n|len)_?(?:\w+_)?(?:vocab(?:ulary)?|words?)(?:_size)?"
    r"|ntokens?|get_vocab_size|(?:n_)?vocab_n",
    re.IGNORECASE,
)
_HOLDER = regex(
    r"(?:\w+_)?(?:vocab(?:ulary)?|tokeni[sz]er|dictionary|itos|stoi|(?:word|token|char)(?:2|_to_)(?:id|ix|idx|index)|word_index|word_map)s?"
    r"(?:_(?:src|tgt|trg|en|de|in|out))?",
    re.IGNORECASE,
)


# `{ch: i for i, ch in enumerate(chars)}`: the characters of a text are counted.
_COUNTED = regex(
    r"\{ ?(?:ch|c|char|character|letter) ?: ?\w{1,12} for \w{1,12}, ?(?:ch|c|char|character|letter) in enumerate\("
)


def counts_letters(source: Source) -> bool:
    """Whether a program numbers the characters of its text: its words are no more than they."""
    return source.mentions("enumerate(") and _COUNTED.search(source.text) is not None


def is_open(value: Value) -> bool:
    """Whether nothing says a value yet, or that it is "defined later by the tokenizer" (-1)."""
    return value is UNKNOWN or (isinstance(value, int) and value == -1)


def named_size(name: str, value: Value, *, of_letters: bool = False) -> Value:
    """Return the usual size of a vocabulary where the name of an open value says that it is one; else the value.

    ``of_letters``: the run's programs number characters.
    """
    return (CHARACTERS if of_letters else WORDS) if _is_size(name) else value


@functools.lru_cache(maxsize=4096)
def _is_size(name: str) -> bool:
    # Every unknown name of a program is asked about, most of them again and again.
    return len(name) < 64 and _SIZE.fullmatch(name) is not None


def called_size(node: ast.Call, *, of_letters: bool = False) -> Value:
    """Return the same of a call that nothing is known of: the length of what holds words (``len(tokenizer)``), or what tells it."""
    if isinstance(node.func, ast.Attribute):
        return named_size(node.func.attr, UNKNOWN, of_letters=of_letters)
    is_length = isinstance(node.func, ast.Name) and node.func.id == "len" and len(node.args) == 1
    held = _last_name(node.args[0]) if is_length else ""
    if held and _LETTERS.fullmatch(held):
        return CHARACTERS
    return (CHARACTERS if of_letters else WORDS) if held and _HOLDER.fullmatch(held) else UNKNOWN


def _last_name(node: ast.expr) -> str:
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""
