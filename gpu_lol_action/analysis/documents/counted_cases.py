"""What a sentence's number of GPUs is the number of: all of them, those of each machine, those of a case that may be, or of none."""

from __future__ import annotations

import re

from gpu_lol_action.analysis.documents.documented_phrases import count_of
from gpu_lol_action.domain.patterns import regex

_NUMBER = r"\d{1,3}|two|three|four|eight|sixteen"
_MACHINES = r"(?:(?:compute|GPU|separate|different)\s)?(?:machines|nodes|hosts|servers|instances)"
# "2 machines with 4 GPUs each", "4 nodes of 8 GPUs", "3 nodes, with each node equipped with 8 32GB V100", "2 nodes × 8x H100"
_ON_MACHINES = regex(
    rf"\b({_NUMBER})\s{_MACHINES}\s?[,(]?\s?(?:[x×]|(?:each\s|and\s|with\s){{0,3}}(?:(?:node|machine|host|server|one)\s)?(?:of|with|has|have|having|equipped\swith|containing|each)\b)[^.;\n]{{0,40}}?(?<![\w.])(?:{_NUMBER}|one|1)(?!\d)",
    re.IGNORECASE,
)
# "nodes with 8 GPUs each, for a total of 64 GPUs spread across 8 nodes"
_EACH_OF_THEM = regex(rf"\bGPUs?\s(?:each|per\s(?:node|machine|host|server))\b[^.;\n]{{0,60}}?\b({_NUMBER})\s{_MACHINES}\b", re.IGNORECASE)  # fmt: skip
# "32 x 8 x A100 GPUs"
_TIMES = regex(r"(?<![\w.])(\d{1,3})\s?[x×]\s?\d{1,2}\s?[x×]\s?(?:NVIDIA\s)?[A-Z]\w{1,8}", re.IGNORECASE)
# "If you have 16 GPUs", "on systems with 8 GPUs", "assuming a single device": what could be.
_CASE = regex(
    r"(?:\b(?:if|in case|suppos(?:e|ing)|assum(?:e|ing)|imagine|(?:systems|machines|those|users)\swith|simulat(?:e|ing))\b|如果|假如|假设|若)[^.;:()。\n]{0,50}?"
    r"(?:(?<![\w.])(?:\d{1,3}|one|single|two|four|eight)(?![\da-wyz])[^.;:()\n]{0,24}?(?:GPU|\b[AHVL]\d{2,3}\b|\bcards?\b|\bdevices?\b)|[\d一单双两四八]\s?[张块卡])|\bfor\s(?:a\s)?single[\s-]GPU\s?,",
    re.IGNORECASE,
)
# "a single GPU is unable to load the model", "does not fit on a single GPU", "a single GPU's memory usually is not enough"
_ONE = r"(?:an?\s|the\s)?(?:single|one|1)[\s-]GPU(?:['’]s\s(?:memory|VRAM))?"
_NOT_ON_ONE = regex(
    rf"\b{_ONE}\b\s(?:\w{{1,12}}\s){{0,2}}(?:is\sunable|cannot|can['’]t|(?:is|was|are)\s(?:\w{{1,10}}\s)?not|isn['’]t|does\snot|doesn['’]t|insufficient)\b"
    rf"|(?:\b(?:not|cannot|too\s(?:large|big)|larger\sthan|more\sthan|exceeds?|beyond)|n['’]t)\b(?:\s[A-Za-z'’-]{{1,12}}){{0,5}}\s{_ONE}\b"
    # "one GPU is used per eye", "have one process span a single GPU", "several programs on a single GPU"
    rf"|\b{_ONE}\b[^.;,]{{0,24}}\bper\s(?!(?:run|job|experiment|seed|trial|training)\b)|\bprocess(?:es)?\s(?:\w{{1,10}}\s){{0,2}}{_ONE}\b|\bseveral\s(?:programs|processes|jobs)\b[^.;]{{0,20}}\b{_ONE}\b",
    re.IGNORECASE,
)


def told_as(line: str) -> str:
    """Return what stands behind a number of GPUs in the reason: of how many machines each has so many, or that it is a case; else nothing."""
    found = _ON_MACHINES.search(line) or _EACH_OF_THEM.search(line) or _TIMES.search(line)
    machines = count_of(found[1]) if found is not None else None
    if machines is not None and machines > 1:
        return f", on each of {machines} machines"
    return ", as a case that may be" if _CASE.search(line) is not None else ""


def is_of_none(line: str, count: int) -> bool:
    """Whether a sentence counts one GPU to say that one is not enough, or that each part has its own."""
    return count == 1 and _NOT_ON_ONE.search(line) is not None
