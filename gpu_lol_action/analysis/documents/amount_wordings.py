"""How documents word an amount of GPU memory: expressions whose first group is the number, for what tells one only beside a verb and for what tells one alone."""

from __future__ import annotations

import re

from gpu_lol_action.domain.patterns import regex

SIZE = r"(\d{1,3}(?:\.\d{1,6})?)\s?(?:GB|GiB|Gi|gigabytes?|gigs?|Go|ГБ|G)"
_KIND = r"(?:GPU\s+)?(?:VRAM|GPU[- ]mem(?:ory)?|GPU[- ]RAM|(?:video|graphics?) (?:memory|RAM)|memory|GPU|HBM|显存|顯存|видеопамяти|メモリ)"
# Where a number and its unit begin and end, also between letters of languages that put no spaces between words.
_FROM, TO = r"(?<![A-Za-z0-9_.])", r"(?![A-Za-z0-9_])"
AMOUNT = regex(rf"{_FROM}{SIZE}{TO}(?!\s?(?:/\s?s\b|per\s+second))", re.IGNORECASE)
"""Any amount, whatever it is of; no bandwidth."""
# What tells an amount only beside a word such as "needs" or "about".
PLAIN = (
    regex(rf"{_FROM}{SIZE}{TO}[^.|\n\d]{{0,20}}?(?:\b|(?<=[\sの的])|(?=[显顯メ])){_KIND}", re.IGNORECASE),
    regex(
        rf"(?<![A-Za-z0-9])(?:VRAM|GPU[-_ ]mem(?:ory)?|GPU[-_ ]?(?:RAM|メモリ)|(?:video|graphics?) (?:memory|RAM)|видеопамят\w*|mem[oó]ria\sde\sv[ií]deo|memoria\sgr[aá]fica)(?![A-Za-z0-9_])[^.\n]{{0,40}}?{_FROM}{SIZE}{TO}(?!\s+(?:of\s+)?(?:system\s+|CPU\s+)?RAM)",
        re.IGNORECASE,
    ),
    regex(rf"[显顯]存[^。\n]{{0,20}}?{SIZE}", re.IGNORECASE),
    regex(rf"{_FROM}{SIZE}\s?的?\s?[显顯]存", re.IGNORECASE),
)
# "consumer GPUs (24GB+)", "GPUs with 40GB to train", "8 GPUs (80GB of VRAM)", "one GPU with 16 GB memory", "GPUs with 40GB each", "a GPU with 24GB or more"
_SIZED = regex(
    rf"\bGPUs?\s?(?:\(|(?:with|having)\s+(?:at\s+least\s+)?)\s?[~≥>]?\s?{SIZE}\+?"
    r"(?:\s+(?:of\s+)?(?:dedicated\s+)?(?:VRAM|memory|mem|D?RAM|HBM)\b|\s+or\s+more\b|\s+each\b|\s?\)|\s?[.,;]?$|\s+(?:to|for)\s+(?:train|tun|run|infer))",
    re.IGNORECASE,
)
# "9 GB of GPU memory, compared to 27 GB without offloading"
COMPARED = regex(
    rf"\b(?:compared\s+(?:to|with)|instead\s+of|down\s+from)\s+(?:about\s+|around\s+)?[~]?{SIZE}\b", re.IGNORECASE
)
# "works on a GPU card with 12 GB", "a graphics card with at least 8 GB", "une carte graphique avec 24 Go"
_WITH_CARD = regex(
    r"\b(?:(?:GPU|graphics|video|NVIDIA)\s+cards?\s+(?:with|having)|carte\s+graphique\s+(?:avec|de)|tarjeta\s+gr[áa]fica\s+(?:con|de)|"
    r"placa\s+de\s+v[íi]deo\s+(?:com|de)|scheda\s+(?:video|grafica)\s+(?:con|da)|Grafikkarte\s+mit)\s+"
    rf"(?:(?:at\s+least|about|au\s+moins|al\s+menos|pelo\s+menos|almeno|mindestens)\s+)?[~≥>]?\s?{SIZE}\b",
    re.IGNORECASE,
)
# "you should have eight 80G GPUs", "and a 48GB gpu", "32GB GPUs"
_OF_GPUS = regex(rf"(?<![\w.]){SIZE}\s+GPUs?\b(?!\s+(?:mem|RAM|VRAM))", re.IGNORECASE)
# What can only be an amount that something takes or has to be there.
TELLING = (
    # "VRAM: 24GB+", "- **GPU memory**: 24 GB" as a line of its own
    regex(
        rf"^[\s*•+-]{{0,8}}(?:minimum\s+|required\s+)?(?:GPU\s+)?(?:VRAM|GPU[- ]memory|GPU[- ]RAM|显存)(?:\s+\w{{1,12}})?[*\s]{{0,4}}[:\uff1a][*\s]{{0,4}}[~≥>]?=?\s?{SIZE}{TO}",
        re.IGNORECASE,
    ),
    # "~24GB for training"
    regex(
        rf"(?:[~≈]|\b(?:about|around|roughly|approximately)\s){SIZE}\s+(?:for|during)\s+(?:training|inference|fine-?tuning)\b",
        re.IGNORECASE,
    ),
    # "VRAM 16 GB", "GPU Memory (16G)", "显存要求:24GB" as all that a line says
    regex(
        rf"^[\s*•+|#-]{{0,8}}(?:minimum\s+|required\s+|recommended\s+)?(?:GPU\s+)?(?:VRAM|GPU[- ]mem(?:ory)?|GPU[- ]RAM|显存)(?:要求|需求|占用|usage|requirements?|needed)?[*\s(:\uff1a=~≥>-]{{1,8}}{SIZE}{TO}\+?[)*\s.,|]{{0,6}}(?:$|[(\uff08/])",
        re.IGNORECASE,
    ),
    # "GPU: 24 GB VRAM (RTX 3090)", "GPU: NVIDIA with 8GB VRAM", "GPU - 16 GB"
    regex(
        rf"\bGPUs?\*{{0,2}}\s?[:\uff1a–—-]\s?[^.\n\d]{{0,40}}?{SIZE}\s?\+?\s?(?:of\s+)?(?:VRAM|memory|显存|$)",
        re.IGNORECASE,
    ),
    # "80GB VRAM GPU", "a 16G memory card"
    regex(rf"{_FROM}{SIZE}\s?(?:VRAM|memory|显存)\s+(?:GPUs?|(?:graphics?\s+|video\s+)?cards?)\b", re.IGNORECASE),
    # "65GB per GPU", "65 GB/GPU", "memory per GPU: 65GB"
    regex(rf"{_FROM}{SIZE}\s?(?:/\s?|\s(?:per|on\s+each|for\s+each)\s+)(?:GPU|card)\b", re.IGNORECASE),
    regex(rf"\bmemory\s(?:/|per)\s?GPU\b[^.\n\d]{{0,20}}{SIZE}{TO}", re.IGNORECASE),
    # "a 24GB or larger GPU"
    regex(rf"{_FROM}{SIZE}\s+or\s+(?:larger|bigger|more|higher)\s+GPU\b", re.IGNORECASE),
    # "GPU memory of 80 GB", "peak memory of 13GB", "GPU usage: 18GB", "GPU memory cost 38G", "38G GPU memory cost"
    regex(
        rf"\b(?:VRAM|GPU[- ]mem(?:ory)?|peak\s(?:GPU\s|CUDA\s)?mem(?:ory)?)\s(?:of|is|was)\s(?:about\s|around\s)?~?\s?{SIZE}{TO}",
        re.IGNORECASE,
    ),
    regex(
        rf"\bGPU\s(?:VRAM\s|memory\s|mem\s)?(?:usage|cost|consumption|footprint|occupancy|occupation)s?[\s:=~]{{1,4}}(?:is\s|of\s|about\s|around\s)?~?{SIZE}{TO}",
        re.IGNORECASE,
    ),
    regex(rf"{_FROM}{SIZE}\s(?:GPU\s(?:memory|mem)|VRAM)\s(?:usage|cost|consumption)\b", re.IGNORECASE),
    # "Your GPU should have at least 70GB", "单卡24G显存"
    regex(rf"\bGPUs?\s(?:should|must|has\sto|have\sto|needs?\sto)\shave\s(?:at\sleast\s)?{SIZE}\b", re.IGNORECASE),
    regex(rf"单卡\s?{SIZE}{TO}", re.IGNORECASE),
    # "单卡 A800-SXM4-80GB 占用 10097MiB"
    regex(rf"(?:[显单张]卡|GPU|显存)[^。\n]{{0,60}}?占用(?:约|了|大约)?\s?{SIZE}{TO}", re.IGNORECASE),
    # "24GB+ VRAM", "VRAM of 16 GB+"
    regex(rf"{_FROM}{SIZE}\s?\+\s?(?:of\s+)?(?:GPU\s+)?(?:VRAM|GPU[- ]mem(?:ory)?|video memory|显存)", re.IGNORECASE),
    # "an NVIDIA GPU with CUDA support and 24GB of memory"
    regex(
        rf"\bGPUs?\s+with\b[^.,;\n\d]{{0,40}}\band\s+(?:at\s+least\s+)?{SIZE}\+?\s+(?:of\s+)?(?:memory|VRAM|RAM)\b",
        re.IGNORECASE,
    ),
    # "GPUs: 4x24GB", "4 GPUs x 24GB"
    regex(rf"\bGPUs?\s?(?:[:\uff1a]\s?\d{{1,2}}\s?)?[x×*]\s?{SIZE}{TO}", re.IGNORECASE),
    # "on two 24GB GPUs", "on a single 48 GB GPU", "supports a 12GB graphic card", "fits a 24GB card"
    regex(
        rf"\b(?:on|with|fits?|supports?|targets?|targeting)\s+(?:just\s+|only\s+)?(?:(?:an?|one|a\s+single|single|two|dual|four|eight|\d{{1,2}})[\sx×]+)?(?:consumer\s+)?{SIZE}\s+"
        r"(?:GPUs?|(?:(?:graphics?|video|GPU|consumer)\s+)?cards?)\b",
        re.IGNORECASE,
    ),
    regex(rf"(?<![A-Za-z0-9_.]){SIZE}\s?的?显卡", re.IGNORECASE),
    _SIZED,
    # "4 GPUs, each with 80GB of VRAM", "2 GPUs each having at least 24 GB"
    regex(
        rf"\bGPUs?\b[^.;\n]{{0,20}}?\beach\s+(?:with|has|have|having|of)\s+(?:(?:at\s+least|about|around)\s+)?[~≥>]?\s?{SIZE}\b",
        re.IGNORECASE,
    ),
    # "80GB*8 GPUs are required"
    regex(rf"(?<![\w.]){SIZE}\s?[x×*]\s?\d{{1,2}}\s+GPUs?\b", re.IGNORECASE),
    _OF_GPUS,
    # "35GiB VRAM per GPU", "Single GPU @ 48GB VRAM"
    regex(
        rf"(?<![\w.]){SIZE}\s+(?:of\s+)?(?:VRAM|GPU[- ]memory)\s+(?:per|for\s+each|on\s+each)\s+(?:GPU|card)\b",
        re.IGNORECASE,
    ),
    regex(rf"\bGPUs?\s?@\s?{SIZE}\b", re.IGNORECASE),
    # "(1x48GB @ ~25GiB)", "8x80GB @ ~49GiB/GPU": on which cards, and how much of each
    regex(rf"(?<![\w.])\d{{1,2}}\s?[x×]\s?\d{{2,3}}\s?GB\s?@\s?~?{SIZE}{TO}", re.IGNORECASE),
    # "2x 16GB GPUs", "4 × 32 GB GPU"
    regex(rf"(?<![\w.])\d{{1,2}}\s?[x×]\s?{SIZE}\s+GPUs?\b", re.IGNORECASE),
    # "requires 8 x GPU 32GB"
    regex(rf"(?<![\w.])\d{{1,2}}\s?[x×]\s?GPUs?\s+(?:with\s+|of\s+)?{SIZE}\b", re.IGNORECASE),
    # "GPU memory: ≥3×80GB (4×80GB recommended)", "VRAM: 2x24 GB"
    regex(rf"\b(?:VRAM|GPU[- ]memory|显存)\b[^.\n\d]{{0,20}}?\d{{1,2}}\s?[x×*]\s?{SIZE}\b", re.IGNORECASE),
    # "within the memory budget of 16GB and 1 GPU card"
    regex(
        rf"\bmemory\s+(?:budget|limit|footprint)s?\s+(?:of|is)\s+(?:about\s+)?{SIZE}\b(?=.{{0,40}}GPU)", re.IGNORECASE
    ),
    # "on an A100 (80G), with a memory footprint of around 30GB"
    regex(
        rf"\b(?:on|with)\b[^.;\n]{{0,24}}\b(?:GPUs?|[ABHLTV]\d{{2,3}}|RTX[ -]?\d{{4}})\b[^.;\n]{{0,40}}\bmemory\s+(?:footprint|usage|use|consumption)\s+(?:of|is|was)\s+(?:(?:about|around|roughly|approximately)\s+|~)?{SIZE}\b",
        re.IGNORECASE,
    ),
    # "bring the memory consumption down to ~8 GB", "Memory used: 13.9 GB"
    regex(
        rf"\bmemory\s+(?:consumption|usage|requirements?|needs?|used)\b[^.,;|\n]{{0,30}}?(?<!\bby )(?<!\bby ~)[~≥>]?\b{SIZE}\b",
        re.IGNORECASE,
    ),
    # "a GPU with a significant amount of memory (24GB)"
    regex(rf"\bGPUs?\b[^.\n]{{0,60}}?\bmemory\s?\(\s?[~≥>]?\s?{SIZE}\+?\s?\)", re.IGNORECASE),
    # "NVIDIA GPU with compute capability >= 75 and memory > 6GB"
    regex(rf"\bGPUs?\b[^.\n]{{0,60}}?\bmemory\s?[≥>]=?\s?{SIZE}\b", re.IGNORECASE),
    _WITH_CARD,
    # "10000 residues in bf16 with 61GB memory on an A100"
    regex(
        rf"\b(?:with|in|within|using|takes?)\s+(?:about\s+|around\s+)?[~]?{SIZE}\s+(?:(?:of\s+)?memory\s+)?on\s+(?:an?|one|the|each)\s",
        re.IGNORECASE,
    ),
    # "a GPU with at least 10 GB (RTX 2080 Ti or better)"
    regex(rf"\bGPUs?\s+(?:with|having)\s+(?:at\s+least|a\s+minimum\s+of)\s+{SIZE}\b", re.IGNORECASE),
    # "Reserved memory: 22.5 GB", "Max memory allocated: 11 GB", as torch.cuda's figures are printed
    regex(
        rf"\b(?:(?:reserved|allocated)\s+memory|memory\s+(?:reserved|allocated))\b[^.|\n]{{0,12}}?\b{SIZE}\b",
        re.IGNORECASE,
    ),
    # "about 20GB of RAM on a single GPU", "35GB of RAM per GPU"
    regex(rf"\b{SIZE}\s+of\s+RAM\s+(?:on|per|in)\s+(?:(?:a|the|one|each)\s+)?(?:single\s+)?GPU\b", re.IGNORECASE),
    COMPARED,
)
OF_CARDS = (_SIZED, _WITH_CARD, _OF_GPUS)
"""What may only be the size of a card that is named right before it."""
