"""What tells a command that installs from a sentence about one: where it begins, and which words no package is meant by."""

from __future__ import annotations

import re

from gpu_lol_action.analysis.command_lines.shell_words import shell_words
from gpu_lol_action.domain.patterns import regex

# What may stand before an installer: of Dockerfiles, shells, prompts, notebooks, lists of steps; and what runs a program.
_BEFORE = regex(
    r"(?:RUN|sudo(?:\s+-\w+)*|exec|time|then|do|else|if|while|until|command|env|nice|nohup|yes|timeout\s+\S+|"
    r"--\w[\w-]*=\S+|\w+=(?:\"[^\"]*\"|'[^']*'|\S*)|(?:uv|poetry|pdm|pipenv|hatch|rye)\s+run|"
    r"(?:conda|mamba|micromamba)\s+run(?:\s+(?:-[np]|--name|--prefix)\s+\S+|\s+--[\w-]+(?:=\S+)?)*|\S+\s+(?:-[A-Zuq]\s+)*-m|"
    r"\([\w./-]+\)|\S+@\S+[$#]|[-*+$>%!#{(&]|\d+[.)]|run:)\s+|(?:[!%({@]|\"|')\s*|(?:/?bin/|/usr/bin/)?(?:ba|z)?sh\s+-\w*c\s+[\"']"
)
_MAX_BEFORE = 12
# A program may be named with its folder: /opt/venv/bin/pip.
_FOLDER = regex(r"[~$\w./{}-]*/(?=\w)")
# Words that a sentence has and that nobody installs, although strangers own some of these names.
_PROSE = frozenset({
    "a", "an", "the", "and", "or", "but", "not", "if", "it", "its", "is", "are", "was", "be", "been", "has", "have", "had", "of",
    "to", "in", "into", "on", "onto", "at", "by", "as", "for", "from", "with", "without", "within", "via", "then", "when", "while",
    "where", "which", "that", "this", "these", "those", "them", "they", "you", "your", "we", "our", "us", "i", "my", "he", "she",
    "do", "does", "did", "can", "could", "should", "would", "will", "may", "must", "want", "need", "needs", "needed", "like",
    "first", "again", "also", "only", "just", "so", "because", "before", "after", "instead", "etc", "e.g", "i.e", "above", "below",
    "following", "necessary", "required", "additional", "other", "others", "missing", "latest", "appropriate", "every", "all",
    "some", "any", "each", "both", "package", "packages", "dependency", "dependencies", "library", "libraries", "requirement",
    "requirements", "module", "modules", "command", "commands", "something", "everything", "anything", "there", "here", "make",
    "please", "sure", "usually", "might", "using", "install", "installs", "installing", "installation",
})  # fmt: skip
_PLACEHOLDER = regex(r"[A-Z]+(?:_[A-Z]+)+|(?:your|my|some)[-_](?:package|library|module|project)\w*")
_FILE = regex(r"\.(?:txt|in|ya?ml|toml|lock|md|rst|py|sh|cfg|ini|json|ipynb|whl|zip|tar\.\w+|tgz)$", re.IGNORECASE)
_BRACES = regex(r"\$\{\{.{0,200}?\}\}")


def command_of(text: str) -> str:
    """Return a line from where its program stands; what is no prefix of a command (``Then run``, ``echo``) stays in front."""
    text = text[:4000].strip()
    for _ in range(_MAX_BEFORE):
        before = _BEFORE.match(text)
        if before is None:
            break
        text = text[before.end() :]
    folder = _FOLDER.match(text)
    return text[folder.end() :] if folder else text


def split_words(text: str) -> list[str]:
    """Return the words of a command as a shell does, without its comment; a quote that does not end is only a sign."""
    text = _BRACES.sub("$", regex(r"\s#\s.*").sub("", text[:2000]))
    try:
        return shell_words(text)
    except ValueError:
        return [word.strip("\"'") for word in text.split()]


def ends_names(word: str) -> bool:
    """Whether a word can be no package of a command, so that what follows is a sentence or stands for something else."""
    name = regex(r"[<>=!~\[;@ ]").split(word)[0].rstrip(".,:")
    is_open = word.count("[") != word.count("]")
    return is_open or name.lower() in _PROSE or _PLACEHOLDER.fullmatch(name) is not None


def is_file(word: str) -> bool:
    """Whether a word is the name of a file and not of a package."""
    return "://" not in word and _FILE.search(word) is not None


def joined_switch(word: str, letters: str) -> tuple[str, str]:
    """Return the option of one letter that takes a value at the end of joined switches (``-qr``) or before it (``-rlist.txt``).

    Gives the option and the value that is joined to it; two empty texts where a word is no such thing.
    """
    if not regex(r"-[A-Za-z]\S+").fullmatch(word):
        return "", ""
    if word[1] in letters:
        return word[:2], word[2:]
    if word[1:].isalpha() and word[-1] in letters:
        return f"-{word[-1]}", ""
    return "", ""
