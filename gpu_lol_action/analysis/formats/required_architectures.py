"""An architecture that a list of requirements asks for, where it is only made for servers: "Hopper (SM90) GPUs", "SM90 / SM100".

Kernels for it do not start on anything else, however little memory they take, so the least of its cards is what is needed.
"""

from __future__ import annotations

import re

from gpu_lol_action.domain.patterns import regex

REQUIREMENTS = regex(r"\b(?:requirements?|prerequisites?|hardware)\b|环境要求|硬件|配置要求", re.IGNORECASE)
"""What a heading over a list of requirements says."""
# The item begins with it: "CUDA 12.3 for SM90 GPUs" or "FP8 needs Hopper" ask for something else, or for a part.
_HOPPER = regex(
    r"\s{0,12}(?:[-*+•]|\d{1,2}[.)])\s{1,4}[*_`]{0,2}(?:an?\s)?(?:(?:Supported\s)?(?:GPUs?|hardware|architectures?)[*_`]{0,2}\s?[:\uff1a][*_`]{0,2}\s?)?(?:NVIDIA\s)?"
    r"(?:Hopper\b|SM[_ -]?90a?\b|GPUs?\swith\scompute\scapability\s(?:of\s)?(?:at\sleast\s|[≥>]=?\s?)?9\.0\b)",
    re.IGNORECASE,
)
# Cards of these are in desktops as well, or are smaller; what is only better with it is no requirement.
_OTHERS = regex(
    r"\b(?:Ampere|Ada|Lovelace|Turing|Volta|Pascal|Maxwell|RTX|GTX|SM[_ -]?(?:[5-8]\d|12\d)|else|otherwise|any|for|if|when|where|older|optional|recommended|preferred|A100|L4|L40S?|GH200)\b",
    re.IGNORECASE,
)
LEAST_OF_HOPPER = "H100"


def required_card(line: str, heading: str) -> str | None:
    """Return the least card of the architecture that an item of a list of requirements asks for; None where it asks for none."""
    is_item = bool(heading) and _HOPPER.match(line) is not None and REQUIREMENTS.search(heading) is not None
    return LEAST_OF_HOPPER if is_item and not _OTHERS.search(line) else None
