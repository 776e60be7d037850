"""What a document says around its installation commands: what it strikes out, calls optional, or lists as versions without a command."""

from __future__ import annotations

import re

from gpu_lol_action.analysis.package_lists.glued_names import is_published
from gpu_lol_action.domain.patterns import regex

# What introduces a command that a reader may leave out.
_OPTIONAL = regex(
    r"\s{0,12}(?:(?:[-*+]|\d{1,2}[.)])\s{1,4})?[\[(_*]{0,3}optional(?:ly)?\b(?!\s+dependenc)(?!.*(?:recommend|require|necess|need|environment|conda|venv|virtual))",
    re.IGNORECASE,
)
# A way out for those whom something failed: nobody else takes it.
_REPAIRS = regex(
    r"\s{0,12}(?:(?:[-*+]|\d{1,2}[.)])\s{1,4})?[*_]{0,3}(?:in case (?:something|anything|it|of)\b|if (?:something|anything|it|this|that) "
    r"(?:goes wrong|fails?|does(?:n't| not) work)|if you (?:encounter|run into|get|face|meet|have) (?:any |an? |the |some )?"
    r"(?:\w{1,20} )?(?:issues?|errors?|problems?|trouble))",
    re.IGNORECASE,
)
# An item of a list goes on with no paragraph before it.
_ITEM_BEGINS = regex(r"\s{0,12}(?:[-*+]|\d{1,2}[.)])\s")
# An item of a list that is a command without marks of code, and what no command has but a sentence.
_ITEM = regex(
    r"\s{0,12}(?:(?:[-*+]|\d{1,2}[.)])\s{1,4})?((?:sudo\s)?(?:pip3?|conda|mamba|uv\spip|python3?\s-m\spip)\s{1,3}install\s{1,3}[^`]{1,300}|"
    r"git\sclone\s{1,3}[^`]{2,300}|cd\s{1,3}[\w./-]{1,200}\s{0,4})$"
)
_OF_PROSE = regex(
    r"(?:if|or|and|to|the|an?|with|for|using|via|is|are|you|will|should|then|from|in|of)[,.;:]?|.*[()\"“”].*",
    re.IGNORECASE,
)
_STRUCK = regex(r"~~[^~\n]{1,300}~~")
OF_REQUIREMENTS = regex(r"require|dependenc|environment|prerequisite|set[- ]?up|install", re.IGNORECASE)
"""What a heading over a list of requirements says."""
# `- torch==2.6.0`, `* PyTorch >= 1.5`
_LISTED = regex(r"\s{0,8}[-*+]\s{1,4}[`*_]{0,3}([A-Za-z][\w.-]{0,40})\s?(==|>=)\s?(\d[\w.]{0,20})[`*_]{0,3}\s{0,4}$")
# `- einops`, `* tqdm (4.62)`, `- timm 0.5.4`: what was there when it worked, so any release may do
_LISTED_SO = regex(
    r"\s{0,8}[-*+]\s{1,4}[`*_]{0,3}([A-Za-z][\w.-]{1,40})[`*_]{0,3}(?:\s?\(?\s?v?\d[\w.+]{0,20}\)?)?[`*_]{0,3}\s{0,4}[.,;]?$"
)
_OF_PACKAGES = regex(
    r"[\W\d]{0,12}(?:(?:python|pip|main|software|package|library|environment|code)\s)?(?:requirements?|dependenc(?:y|ies)|prerequisites?|packages?|libraries)\b",
    re.IGNORECASE,
)
# Of these the release counts, and which program needs them shows in what it imports.
_FRAMEWORKS = frozenset(
    {"torch", "pytorch", "torchvision", "torchaudio", "tensorflow", "tensorflow-gpu", "keras", "jax", "python"}
)
# `- PyTorch 1.9.1`, `* Pytorch (1.9.1+cu111)`, `- PyTorch1.10.0`: one release of what an image is chosen by; not `1.9.1+`, "or later".
_LISTED_TORCH = regex(
    r"\s{0,8}[-*+]\s{1,4}[`*_]{0,3}(?:Py)?Torch[`*_]{0,3}\s?(?:[=-]{1,2}\s?)?[(`*_]{0,3}v?((?:1\.(?:[6-9]|1[0-3])|2\.\d{1,2})\.\d)(?:\+cu\d{2,3})?[)`*_]{0,3}\s{0,4}[.,;]?$",
    re.IGNORECASE,
)
# "Python packages you might not have: `cython`, `easydict`"
_LACKED = regex(
    r"(?:^[\s#>*_-]{0,8}|\b(?:python|pip|pypi|following|these|some|other|additional|extra|required|necessary)\s)packages?\s(?:that\s|which\s)?"
    r"(?:you\s)?(?:might|may)\s(?:be\s)?(?:not\s(?:already\s|yet\s)?have(?:\s(?:installed|yet|already)){0,2}|miss(?:ing)?)[*_]{0,3}\s{0,4}:\s{0,4}(.{3,300})",
    re.IGNORECASE,
)
# Who speaks of one system means its packages, or what only it lacks.
_OF_A_SYSTEM = regex(r"\b(?:apt|brew|conda|debian|fedora|linux|mac(?:os)?|system|ubuntu|windows|wsl)\b", re.IGNORECASE)
_NAME = regex(r"`?([A-Za-z][\w-]{0,40}(?:\s?[<>=]=\s?\d[\w.]{0,20})?)`?(?=\s{0,4}(?:[,.]|and\b|$))")


def grown_paragraph(before: str, line: str) -> str:
    """Return the paragraph that a line goes on with; empty where it is blank, and begun anew by an item of a list."""
    bare = line.strip()
    return f"{before[:400]} {bare}" if bare and not _ITEM_BEGINS.match(line[:40]) else bare


def is_introduced_as_optional(paragraph: str) -> bool:
    """Whether a paragraph introduces what a reader may leave out, or takes only where something failed."""
    return _OPTIONAL.match(paragraph[:400]) is not None or _REPAIRS.match(paragraph[:400]) is not None


def command_of_item(line: str) -> str:
    """Return the command that a line of a list is without marks of code; empty where it is none, or a sentence."""
    item = _ITEM.match(line[:400])
    return item[1].strip() if item is not None and not any(map(_OF_PROSE.fullmatch, item[1].split())) else ""


def listed_versions(line: str, heading: str) -> str:
    """Return the requirements that an item of a list of them is, or a sentence that names packages which a reader may lack, where packages have these names; else an empty text."""
    lacked = _LACKED.search(line[:500]) if "ackages" in line[:200] else None
    if lacked is not None and _OF_A_SYSTEM.search(line[: lacked.start(1)]) is None:
        names = (name.replace(" ", "") for name in _NAME.findall(lacked[1]))
        return " ".join(name for name in names if is_published(regex(r"[\w-]+").findall(name)[0]))
    is_of_requirements = OF_REQUIREMENTS.search(heading) is not None
    if is_of_requirements and (torch := _LISTED_TORCH.match(line[:200])) is not None:
        return f"torch=={torch[1]}"
    found = _LISTED.match(line[:200]) if is_of_requirements else None
    if found is not None:
        return f"{found[1]}{found[2]}{found[3]}" if is_published(found[1]) else ""
    bare = _LISTED_SO.match(line[:200]) if _OF_PACKAGES.match(heading) is not None else None
    is_meant = bare is not None and bare[1].lower() not in _FRAMEWORKS and is_published(bare[1])
    return bare[1] if bare is not None and is_meant else ""


def without_struck(text: str) -> str:
    """Return a document without what is struck out, line by line as it was."""
    kept, at = [], 0
    while (start := text.find("<del>", at)) >= 0 and (end := text.find("</del>", start)) >= 0:
        kept += [text[at:start], "\n" * text.count("\n", start, end)]
        at = end
    whole = "".join([*kept, text[at:]])
    return _STRUCK.sub("", whole) if "~~" in whole else whole
