"""What no outgoing text may hold: credentials, and characters that make text look like something else.

GitHub masks secrets in job logs but not in comments, so everything that leaves a run passes :func:`redact`.
"""

from __future__ import annotations

import base64
import json
import re
import unicodedata
from collections.abc import Iterable
from functools import lru_cache
from urllib.parse import quote, quote_plus

from gpu_lol_action.domain.patterns import regex

MARK = "[redacted]"
MIN_SECRET_LENGTH = 6
"""Shorter values are not looked for: replacing every ``a`` would destroy the text and protect nothing."""

_WORD_END = r"(?![A-Za-z0-9_-])"
_WORD_START = r"(?<![A-Za-z0-9_])"
# A comment is redacted when it goes out, and its texts were escaped before: by a backslash, or by entities.
_UNDERSCORE = r"(?:\\?_|&#95;)"
_BODY = rf"(?:[A-Za-z0-9-]|{_UNDERSCORE})"
_DOT = r"(?:\.|&#46;)"
_SCHEME_END = r"(?::(?:&#8203;)?|&#58;)//"
_AT = r"(?=@|&#64;)"

# Shapes that providers document (or that their consoles show) for their keys. Each is linear to match: a look ahead is
# bounded, because a text of nothing but beginnings (`sk-sk-sk-`) would else be read to its end from each of them.
_SHAPES = tuple(
    re.compile(pattern)
    for pattern in (
        # A private key whose end was cut off is still one: take what looks like its body.
        (
            r"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----"
            r"(?:\s*(?:Proc-Type|DEK-Info|Version|Comment): [^\n]*)*[A-Za-z0-9+/=\s\\]*"
            r"(?:-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----)?"
        ),
        _WORD_START + "rpa" + _UNDERSCORE + r"[A-Za-z0-9]{20,}",  # RunPod
        _WORD_START
        + rf"secret{_UNDERSCORE}[\\A-Za-z0-9_&#;-]{{1,80}}{_UNDERSCORE}[0-9a-f]{{32}}{_DOT}[A-Za-z0-9]{{32}}",  # Lambda
        _WORD_START + r"(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16}(?![A-Z0-9])",  # AWS key ids
        _WORD_START + rf"(?:ghp|gho|ghu|ghs|ghr){_UNDERSCORE}(?:[A-Za-z0-9]|{_UNDERSCORE}){{20,}}",  # GitHub
        _WORD_START + rf"github{_UNDERSCORE}pat{_UNDERSCORE}(?:[A-Za-z0-9]|{_UNDERSCORE}){{20,}}",
        _WORD_START + rf"glpat-{_BODY}{{16,}}",  # GitLab
        _WORD_START + "hf" + _UNDERSCORE + r"[A-Za-z0-9]{20,}",  # Hugging Face
        _WORD_START
        + rf"sk-(?=(?:[A-Za-z-]|{_UNDERSCORE}){{0,100}}[0-9]){_BODY}{{20,}}",  # OpenAI, Anthropic and those who followed
        _WORD_START
        + "sky"
        + _UNDERSCORE
        + r"(?=[A-Za-z_.-]{0,100}[0-9])[A-Za-z0-9_.-]{24,}",  # SkyPilot service accounts
        _WORD_START + rf"AIza{_BODY}{{35}}" + _WORD_END,  # Google
        _WORD_START + r"ya29\.[A-Za-z0-9_-]{20,}",
        _WORD_START + r"xox[abeprs]-[A-Za-z0-9-]{10,}",  # Slack
        _WORD_START + r"(?:npm_[A-Za-z0-9]{36}|pypi-[A-Za-z0-9_-]{40,})",
        r"AGE-SECRET-KEY-1[A-Z0-9]{20,}",
        _WORD_START + rf"eyJ{_BODY}{{8,600}}{_DOT}{_BODY}{{8,}}{_DOT}{_BODY}*",  # JSON web tokens
    )
)

# Here only a part is secret: the name in front stays, because it says what leaked.
_KEPT_PREFIX_SHAPES = tuple(
    re.compile(pattern)
    for pattern in (
        rf"([A-Za-z][A-Za-z0-9+.-]{{0,20}}{_SCHEME_END})[^\s/@'\"<>\[\]]{{1,400}}?{_AT}",
        r"((?i:authorization)[\"']?\s{0,4}[:=]\s{0,4}[\"']?(?i:bearer|basic|token)\s{1,4})[A-Za-z0-9._~+/=-]{6,}",
        (
            r"((?<![A-Za-z0-9])[A-Za-z0-9_]{0,60}"
            r"(?i:api(?:\\?_|&#95;)?key|secret|access_?key|account_?key|password|passwd|(?<![A-Za-z0-9])token|_token)[A-Za-z0-9_]{0,30}"
            r"[\"']?\s{0,4}[=:]\s{0,4}[\"']?)(?=[A-Za-z0-9._~+/=-]{0,100}[0-9])[A-Za-z0-9._~+/=-]{16,}"
        ),
    )
)

_ESCAPE_SEQUENCE = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|[@-Z\\-_])")
# Zero-width joiners stay: emoji and several scripts need them. These hide or reorder text and carry no letter.
_INVISIBLE = frozenset("\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180e\u200b\u2060\u3164\ufeff\uffa0")


def clean_text(text: str) -> str:
    """Return ``text`` without terminal sequences, control characters and bidirectional or invisible marks.

    Newline and tab stay; CRLF becomes a newline, and a lone CR (a progress bar) ends a line.
    """
    text = _ESCAPE_SEQUENCE.sub("", text).replace("\r\n", "\n").replace("\r", "\n")
    return "".join(character for character in text if character in "\n\t" or not _is_harmful(character))


@lru_cache(maxsize=4096)
def _is_harmful(character: str) -> bool:
    if character in _INVISIBLE:
        return True
    # Cc: controls, Cs: lone surrogates (cannot be sent as UTF-8), Zl and Zp: line ends that only some programs see.
    if unicodedata.category(character) in {"Cc", "Cs", "Zl", "Zp"}:
        return True
    return unicodedata.bidirectional(character) in {"LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI"} or (
        character in "\u200e\u200f" or "\U000e0000" <= character <= "\U000e007f"
    )


def redact(text: str, secrets: Iterable[str] = ()) -> str:
    """Return ``text`` cleaned (:func:`clean_text`) and without anything that is or looks like a credential.

    ``secrets`` are values known at run time; they are also found in base64 (at any alignment), URL, JSON and
    hexadecimal form. Applying the function again changes nothing.
    """
    forms = sorted({form for secret in secrets for form in _forms(secret)}, key=lambda form: (-len(form), form))
    text = clean_text(text)
    while True:
        # A replacement moves the borders of words, so what stands beside it may match only now. Each round that
        # changes anything leaves fewer characters outside of marks: the loop ends.
        redacted = MARK.join(_redact_piece(piece, forms) for piece in text.split(MARK))
        if redacted == text:
            return text
        text = redacted


def _redact_piece(piece: str, forms: list[str]) -> str:
    for form in forms:
        piece = piece.replace(form, MARK)
    pieces = piece.split(MARK)
    for shape in _SHAPES:
        pieces = [part for piece in pieces for part in shape.sub(MARK, piece).split(MARK)]
    for shape in _KEPT_PREFIX_SHAPES:
        pieces = [part for piece in pieces for part in shape.sub(rf"\1{MARK}", piece).split(MARK)]
    return MARK.join(pieces)


def _forms(secret: str) -> Iterable[str]:
    """Yield the spellings under which a secret value may turn up."""
    spellings = {secret, secret.strip(), *secret.splitlines()}
    for spelling in spellings:
        value = clean_text(spelling)
        if len(value) < MIN_SECRET_LENGTH:
            continue
        raw = spelling.encode("utf-8", "surrogatepass")
        candidates = {
            value,
            quote(value, safe=""),
            quote_plus(value),
            json.dumps(value)[1:-1],
            raw.hex(),
            raw.hex().upper(),
        }
        candidates |= {regex("%[0-9A-F]{2}").sub(lambda match: match[0].lower(), quote(value, safe=""))}
        candidates |= set(_base64_cores(raw)) | set(_escaped(value))
        yield from (form for form in candidates if len(form) >= MIN_SECRET_LENGTH and form not in MARK)


def _escaped(value: str) -> Iterable[str]:
    """Yield what the filters of comments make of a value: backslashes and entities, or entities alone."""
    entity = {"&": "&amp;", "<": "&lt;", ">": "&gt;", "|": "&#124;", "$": "&#36;", "@": "@&#8203;"}
    yield "".join(f"\\{c}" if c in "\\`*_[]~#" else entity.get(c, c) for c in value)
    yield "".join(c if c.isalnum() or c in " /-" or ord(c) > 127 else f"&#{ord(c)};" for c in value)


def _base64_cores(raw: bytes) -> Iterable[str]:
    """Yield what base64 makes of these bytes wherever they stand in a longer text, as in ``user:secret``."""
    for before in range(3):
        for encode in (base64.b64encode, base64.urlsafe_b64encode):
            encoded = encode(b"\0" * before + raw).decode("ascii").rstrip("=")
            start = -(-before * 8 // 6)  # characters that also hold bits of what stands in front
            end = (before + len(raw)) * 8 // 6  # and the last one may hold bits of what follows
            yield encoded[start:end]
