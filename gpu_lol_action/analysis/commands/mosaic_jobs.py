"""Jobs and deployments of MosaicML's platform: what a file has it start, and how many GPUs it asks for.

Format: the schema of ``mcli``'s YAML (``name``, ``image``, ``compute.gpus`` with ``gpu_type``, ``command``, ``integrations``), before
2023 with ``run_name``, ``gpu_num`` and ``gpu_type`` at the first level. A deployment has ``replicas`` and a model besides.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from gpu_lol_action.analysis.commands.hosting_files import Wish
from gpu_lol_action.analysis.commands.sky_tasks import card_of
from gpu_lol_action.analysis.files.checkout import Checkout, Source
from gpu_lol_action.analysis.formats.paths import Form
from gpu_lol_action.domain.finding import Evidence
from gpu_lol_action.domain.patterns import regex

USUAL_NODE, MAX_FILES = 8, 200
_KEYS = (
    regex(r"^(?:run_)?name:", re.MULTILINE),
    regex(r"^image:", re.MULTILINE),
    regex(r"^(?:gpu_num|compute|integrations):", re.MULTILINE),
)
# Each line in one way only: what many blanks might be read as took minutes.
_GPUS = regex(
    r"^(?:gpu_num:[ \t]*|compute:[^\n]{0,80}\n(?:(?:[ \t][^\n]{0,140})?\n){0,6}[ \t]+gpus:[ \t]*)(\d{1,3})\b",
    re.MULTILINE,
)
# `gpu_type: a100_40gb`, and what Oracle calls its machines: `instance: oci.vm.gpu.a10.1`.
_CARD = regex(
    r"^[ \t]{0,12}(?:gpu_type:[ \t]*[\"']?([A-Za-z]\w{1,30})|instance:[ \t]*[\w.]{0,20}\bgpu\.([a-z]\w{1,8}))",
    re.MULTILINE,
)
_DEPLOYS = regex(r"^(?:replicas|model|default_model):", re.MULTILINE)
_COMMAND = regex(r"command:[ \t]*(.*)$")
_PROJECTS = ("setup.py", "pyproject.toml")
_BLOCK = frozenset({"|", "|-", ">", ">-", ""})


def is_mosaic_job(text: str) -> bool:
    """Whether a YAML file is a job or a deployment of MosaicML's platform that asks for GPUs."""
    is_asking = "gpu_num:" in text or "gpus:" in text
    return is_asking and all(key.search(text) for key in _KEYS) and _GPUS.search(text) is not None


def mosaic_gpus(text: str) -> tuple[int, int] | None:
    """Return the number of GPUs that a job asks for over all machines, and its line; None where it asks for none."""
    found = _GPUS.search(text)
    return (int(found[1]), text.count("\n", 0, found.start(1)) + 1) if found and int(found[1]) else None


def mosaic_wish(checkout: Checkout) -> Wish | None:
    """Return what the job nearest to the root asks for, a training before a deployment; None without a job."""
    if not any(source.mentions("gpu_num") or source.mentions("gpus") for source in checkout.of(Form.YAML)):
        return None
    files = checkout.of(Form.YAML)[:MAX_FILES]
    jobs = [source for source in files if is_mosaic_job(source.text) and mosaic_gpus(source.text) is not None]
    if any(checkout.find(name) is not None for name in _PROJECTS):
        # In a library's tree a job further down is one of its tests, or a training that it is used in.
        jobs = [source for source in jobs if not source.depth]
    source = min(jobs, key=_order, default=None)
    asked = mosaic_gpus(source.text) if source is not None else None
    if source is None or asked is None:
        return None
    where = Evidence(source.path, asked[1])
    named = _CARD.search(source.text)
    card = card_of((named[1] or named[2]).replace("_", "-")) if named is not None else None
    return Wish(
        f"`{source.name}` asks MosaicML's platform for a GPU",
        where,
        serves=False,
        card=(card, where) if card is not None else None,
        count=(min(asked[0], USUAL_NODE), where),
        host="MosaicML's platform",
        is_order=True,
    )


def _order(source: Source) -> tuple[int, bool, int, str]:
    """Return what the first of several jobs is told by; of deployments the one that asks for least."""
    deploys = is_deployment(source.text)
    asked = mosaic_gpus(source.text)
    return source.depth, deploys, asked[0] if asked is not None and deploys else 0, source.path


def mosaic_request(text: str) -> tuple[int | None, int | None]:
    """Return GPUs per machine and machines: the platform's have eight."""
    gpus = (mosaic_gpus(text) or (0, 0))[0]
    if gpus <= USUAL_NODE:
        return gpus or None, None
    return USUAL_NODE, -(-gpus // USUAL_NODE)


def is_deployment(text: str) -> bool:
    """Whether a file deploys a model, which answers requests from then on."""
    return _DEPLOYS.search(text) is not None


def mosaic_lines(source: Source) -> Iterator[tuple[int, str, str]]:
    """Yield the lines of a job's command, each with its number and an empty section."""
    start = 0
    for number, line in enumerate(source.text.split("\n"), 1):
        if start and line.strip() and not line[0].isspace():
            return
        if start:
            yield number, line.strip(), ""
        elif (found := _COMMAND.match(line)) is not None:
            start, said = number, found[1].partition(" #")[0].strip()
            if said not in _BLOCK:
                yield number, said, ""
