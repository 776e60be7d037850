"""Hardware that scripts and configuration ask a scheduler or a cloud for, and what comments in the run's files say of it.

A scheduler's order is the surest statement there is on what a run was given: SLURM's ``--gres``, SkyPilot's ``accelerators``,
Kubernetes' and Modal's ``gpu``, instance types of AWS, Azure and Google Cloud, and what hosts of models are told.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from gpu_lol_action.analysis.commands.card_labels import card_of_label
from gpu_lol_action.analysis.commands.cluster_orders import selected_card
from gpu_lol_action.analysis.commands.dstack_files import dstack_orders
from gpu_lol_action.analysis.commands.hosting_files import Wish, wish_findings, wish_for
from gpu_lol_action.analysis.commands.services import service_of
from gpu_lol_action.analysis.documents.documented_amounts import memory_phrases
from gpu_lol_action.analysis.documents.documented_phrases import card_phrases, count_of, may_name
from gpu_lol_action.analysis.files.checkout import Checkout, Source
from gpu_lol_action.analysis.files.effort import remembered
from gpu_lol_action.analysis.formats.cloud_instances import instance_in
from gpu_lol_action.analysis.formats.notebooks import PROSE
from gpu_lol_action.analysis.formats.paths import Form
from gpu_lol_action.analysis.programs.behavior import Behavior
from gpu_lol_action.analysis.runs.entry_points import Run
from gpu_lol_action.analysis.runs.rented_machines import rented_wish
from gpu_lol_action.analysis.stated.stated_sentences import statements_of
from gpu_lol_action.domain.finding import Confidence, Evidence, Finding
from gpu_lol_action.domain.named_cards import named_card_gib
from gpu_lol_action.domain.patterns import regex

MAX_LINES = 3000
MAX_LINE_CHARACTERS = 600
_DEFINITIONS = ("config.yaml", "bentofile.yaml", "service.yaml", "serve_config.yaml")
_NAME = r"([A-Za-z][A-Za-z0-9_-]{1,24})"
_ORDERS = (
    regex(rf"--(?:gres|gpus(?:-per-node|-per-task)?)[= ]gpu:{_NAME}:(\d{{1,2}})\b"),
    regex(rf"--gpus(?:-per-node)?[= ]{_NAME}:(\d{{1,2}})\b"),
    regex(rf"(?:-C|--constraint)[= ][\"']?{_NAME}()"),
    regex(rf"^\s*accelerators?\s*:\s*[\"'{{]?\s*{_NAME}\s*(?::\s*(\d{{1,2}}))?", re.IGNORECASE),
    regex(rf"\bgpu\s*=\s*[\"']{_NAME}(?::(\d{{1,2}}))?[\"']"),
    regex(r"\bmodal\.gpu\.(\w{2,12})\((?:[^)\n]{0,40}?count\s*=\s*(\d{1,2}))?"),
    regex(
        rf"\b(?:gpu_type|gpu_name|accelerator_type)[\"']?\s*(?::\s*[\w. |\[\]]{{1,40}}=|[:=])\s*[\"']?(?:nvidia[-_](?:tesla[-_])?)?{_NAME}()"
    ),
)
# SLURM's "any of these": `--constraint="[a5000|a6000|a100]"`.
_ANY_OF = regex(r"(?:-C|--constraint)[= ][\"']?\[?(\w[\w-]{0,24}(?:\|\w[\w-]{0,24}){1,8})")
_CLUSTER_S = regex(r"^(?:compute:\s{1,20}(?:gpus:[^\n]{0,80}\s{1,20})?)?gpu_type:[ \t]*\w", re.MULTILINE)
_COMMAND = regex(r"^command:", re.MULTILINE)
_IS_DEPLOYED = regex(r"^(?:compute|replicas|image):", re.MULTILINE)
_PART = regex(r"([A-Za-z]+\d+)[-_](\d{2})GB", re.IGNORECASE)  # `H100_40GB`: half of one that has 80
LARGEST_PART = 0.6
_SWITCH = regex(r"if\s+\w{1,20}\.(\w{1,60})\s*:")
LINES_TO_CONDITION = 4
_PROGRAM = regex(r"(?<![\w./-])([\w./-]{1,120}\.py)\b")
_DOCSTRING = regex(r"(?:\ufeff|#[^\n]{0,400}\n|\s){0,60}[rRuU]?(\"\"\"|\'\'\')((?:(?!\1)[\s\S]){0,6000})\1")
# "# 18GiB * 2", "# 2 x 24 GB", "# 4 * 42GiB, 3.05s/it": a remark that is nothing else but, at most, how fast it was.
_AMOUNT, _SPEED = r"~?(\d{1,3}(?:\.\d{1,2})?)\s?Gi?B?", r"\d[\d.]{0,6}\s?(?:s/it|hours?|min(?:ute)?s?|h|m|s)\b"
# "with padding_free: 4 * 47GiB": not what it is without, nor what else has a size.
_LABEL = r"(?!without|not\b|.{0,40}\b(?:data\w{0,6}|disk|download\w{0,3}|RAM|CPU|size)\b)[^:*×]{1,50}:\s?"
_EACH = regex(
    rf"(?:{_LABEL}|{_SPEED}[;,]\s?)?(?:{_AMOUNT}\s?[*x×]\s?(\d{{1,2}})|(\d{{1,2}})\s?[*x×]\s?{_AMOUNT})(?:[;,.]?\s{{1,2}}.{{0,30}}{_SPEED}.{{0,20}})?",
    re.IGNORECASE,
)
# "# 38GiB", "# 50GiB; 6h" on a line of its own above the command.
_ALONE = regex(rf"#\s?(?:GPU memory:\s?)?{_AMOUNT}(?:[;,]\s{{1,2}}{_SPEED})?", re.IGNORECASE)
_BATCH = regex(
    r"\s{0,40}[\"']?[\w.-]{0,60}batch_?size\w{0,20}[\"']?\s{0,4}[:=]\s{0,4}\d{1,5},?\s{1,8}#\s?(?!.{0,40}(?:up to|max|increas|can\b|could|\buse\b|OOM|\bif\b|\bwith\b))[^#]{1,40}$",
    re.IGNORECASE,
)
_COMMENT = regex(r"(?:^|\s)#\s?(.{6,400})$|(?:help\s*=\s*|^\s*(?:r|f)?\"\"\"|^\s+)[\"']([^\"']{12,300})")


# "This script should take around 14GB VRAM": the whole run's need, not that of one of many settings; nor does it fit otherwise.
_OF_ALL = regex(
    r"\bth(?:is|e) (?:script|example|program|recipe|training|job|run|notebook|config\w{0,8})\b|\bfits? (?:in|on|into)\b",
    re.IGNORECASE,
)


def detect(checkout: Checkout, run: Run | None) -> list[Finding]:
    """Return ``documented.card``, ``.gpu_count``, ``.memory_gb`` and ``hardware.disk_gb`` findings of the run's own files."""
    if run is None:
        rented = rented_wish(checkout, None)
        return list(wish_findings(rented)) if rented is not None else []
    found: list[Finding] = []
    for source in _files(checkout, run):
        found.extend(finding for finding in _of_file(source) if not _is_of_option_left_off(finding, source, run))
    selected = selected_card(checkout.find(run.evidence.path), run.evidence.line or 1)
    if selected is not None:  # of the machines that a file's parts select
        of_parts = (selected.evidence.path, "documented.card")
        found = [selected, *(f for f in found if (f.evidence.path, f.field) != of_parts)]
    ordered = {finding.evidence.path for finding in found if finding.field == "documented.card"}
    if ordered & {source.path for source in run.configs}:
        # What the configuration orders is no longer what its program would order without.
        own = run.script.path if run.script is not None else None
        found = [finding for finding in found if finding.evidence.path != own or finding.field != "documented.card"]
    wish = hosted_wish(checkout, run)
    if wish is not None and wish.is_order and wish.card is not None:
        # Of the orders in its file the one for this run is known.
        path = wish.evidence.path
        found = [
            f for f in found if f.evidence.path != path or f.field not in {"documented.card", "documented.gpu_count"}
        ]
    folder = run.script.folder if run.script is not None else run.evidence.path.rpartition("/")[0]
    said = {(finding.field, finding.value, finding.evidence) for finding in found}
    wished = [f for f in wish_findings(wish) if (f.field, f.value, f.evidence) not in said] if wish is not None else []
    return [*found, *dstack_orders(checkout, folder), *wished]


def _is_of_option_left_off(finding: Finding, source: Source, run: Run) -> bool:
    """Whether a remark stands above ``if args.x:`` of a switch that is off unless the command says ``--x``, which it does not."""
    if finding.field != "documented.memory_gb" or source.form is not Form.PYTHON:
        return False
    behind = source.text.split("\n")[finding.evidence.line : finding.evidence.line + LINES_TO_CONDITION]
    statement = next((line.strip() for line in behind if line.strip() and not line.lstrip().startswith("#")), "")
    asked = _SWITCH.fullmatch(statement)
    if asked is None or asked[1] in run.options:
        return False
    return re.search(rf"[\"']--{re.escape(asked[1])}[\"'][^()]{{0,80}}\bstore_true\b", source.text) is not None


def hosted_wish(checkout: Checkout, run: Run) -> Wish | None:
    """Return the machine that a host of models is asked for to start this run; what it is to serve says nothing of training."""
    folder = run.script.folder if run.script is not None else run.evidence.path.rpartition("/")[0]
    wish = wish_for(checkout, folder)
    wish = wish if wish is not None and (run.behavior is Behavior.INFERS or not wish.serves) else None
    return wish or rented_wish(checkout, run)


@remembered
def _of_file(source: Source) -> tuple[Finding, ...]:
    """Return what one file says: orders, else remarks, by line."""
    found: list[Finding] = list(_of_docstring(source))
    for number, line in enumerate(source.text.split("\n")[:MAX_LINES], 1):
        is_prose = source.form is Form.NOTEBOOK and line.startswith(PROSE)
        if not is_prose and not may_name(line):
            continue
        where = Evidence(source.path, source.code.line_of_file(number) if source.code is not None else number)
        if is_prose:
            # What an author writes between the cells is the documentation of this very run.
            said = line.removeprefix(PROSE)
            found.extend(statements_of(said, "", where) if "|" not in said[:3] else ())
        elif len(line) <= MAX_LINE_CHARACTERS:
            is_script = source.form in {Form.SHELL, Form.YAML}
            alone = _ALONE.fullmatch(line.rstrip()) if is_script and line.startswith("#") else None
            found.extend(_alone(alone[1], where) if alone else list(_ordered(line, where)) or _remarked(line, where))
    return tuple(found)


def _of_docstring(source: Source) -> Iterator[Finding]:
    """Yield the memory that the words at the head of a program speak of: they are remarks on it."""
    head = _DOCSTRING.match(source.text) if source.form is Form.PYTHON and source.mentions("GB") else None
    if head is None:
        return
    first = source.text.count("\n", 0, head.start(2)) + 1
    for number, line in enumerate(head[2].split("\n"), first):
        for amount in memory_phrases(line[:MAX_LINE_CHARACTERS]):
            why = f"the head of the program speaks of {amount.size_gb:g} GB of GPU memory"
            yield Finding(
                "documented.memory_gb", f"{amount.size_gb:g}", why, Confidence.LOW, Evidence(source.path, number)
            )


def _files(checkout: Checkout, run: Run) -> tuple[Source, ...]:
    """Return the file that states the command, the program, its configuration, and schedulers' files beside them."""
    said = checkout.find(run.evidence.path)
    own = [said if said is not None and said.form is not Form.MARKDOWN else None, run.script, *run.configs]
    jobs = [s for s in checkout.of(Form.YAML) if s.depth <= 1 and regex(r"sky|job|task|slurm|cluster").match(s.name)]
    beside = [s for s in checkout.of(Form.SHELL) if "#SBATCH" in s.text[:4000] and s.depth <= 2 and _may_start(s, run)]
    script = run.script
    if script is not None:
        beside_it = (s for s in checkout.of(Form.YAML) if s.folder == script.folder and s.mentions("gpu_type"))
        jobs = [*jobs[:4], *(source for source in beside_it if _starts(source, script, run))]
    # A service's own definition stands beside its program or, as Truss has it, one folder up.
    folder = run.script.folder if run.script is not None and service_of(checkout, run.script) is not None else None
    places = [] if folder is None else [folder, folder.rpartition("/")[0]]
    served = [checkout.find(f"{place}/{name}".lstrip("/")) for place in places for name in _DEFINITIONS]
    return tuple(dict.fromkeys(source for source in (*own, *jobs[:8], *beside[:4], *served) if source is not None))


def _may_start(job: Source, run: Run) -> bool:
    """Whether a job of SLURM's names the run's program or none: what it says of others is of those."""
    programs = {name.rpartition("/")[2] for name in _PROGRAM.findall(job.text)}
    return not programs or run.script is None or run.script.name in programs or job.path == run.evidence.path


def _starts(job: Source, script: Source, run: Run) -> bool:
    """Whether a file of MosaicML's platform, which lies beside a program, is a job of it or the deployment of its model.

    Others there are of other programs, which take other cards, or only speak of cards.
    """
    if _CLUSTER_S.search(job.text) is None:
        return False
    if _COMMAND.search(job.text) is None:
        return run.behavior is Behavior.INFERS and _IS_DEPLOYED.search(job.text) is not None
    return re.search(rf"(?<![\w-]){re.escape(script.name)}\b", job.text) is not None


def _ordered(line: str, where: Evidence) -> Iterator[Finding]:
    """Yield the card and count that a scheduler is asked for."""
    if (instance := instance_in(line)) is not None:
        kind, its_card, its_count = instance
        yield from _card(its_card, its_count, f"`{kind}` has {its_count} × {its_card}", where)
        return
    if (any_of := _ANY_OF.search(line)) is not None:
        cards = [card for name in any_of[1].split("|") if (card := card_of_label(name)) is not None]
        for card in sorted(cards, key=named_card_gib)[:1]:  # the run is content with the smallest
            yield from _card(card, None, f"`{any_of[0][:60]}` asks for {card} or more", where)
        return
    for pattern in _ORDERS:
        match = pattern.search(line)
        part = _PART.fullmatch(match[1]) if match else None
        if match is not None and part is not None and (found := card_of_label(part[1])) is not None:
            size = int(part[2])
            if size < named_card_gib(found) * LARGEST_PART:
                why = f"`{match[0].strip()[:60]}` asks for a part of {found}"
                yield Finding("documented.memory_gb", str(size), why, Confidence.HIGH, where)
                return
        name = card_of_label(match[1]) if match else None
        if match is not None and name is not None:
            yield from _card(name, count_of(match[2]), f"`{match[0].strip()[:60]}` asks for {name}", where)
            return


def _card(card: str, count: int | None, why: str, where: Evidence) -> Iterator[Finding]:
    yield Finding("documented.card", card, why, Confidence.HIGH, where)
    if count is not None:
        yield Finding("documented.gpu_count", str(count), why, Confidence.MEDIUM, where)


def _alone(size: str, where: Evidence) -> Iterator[Finding]:
    why = f"a remark above the command says {size} GB"
    yield Finding("documented.memory_gb", size, why, Confidence.MEDIUM, where)


def _remarked(line: str, where: Evidence) -> Iterator[Finding]:
    """Yield what a comment or a help text says: believed less than a document, for it may stand beside one of many settings."""
    match = _COMMENT.search(line)
    if match is None:
        return
    text = match[1] or match[2]
    whole = _EACH.fullmatch(text.strip())
    if whole is not None:
        size, count = (whole[1], whole[2]) if whole[1] else (whole[4], whole[3])
        why = f"a remark in the run's file says {size} GB on each of {count} cards"
        yield Finding("documented.memory_gb", size, why, Confidence.MEDIUM, where)
        return
    for amount in memory_phrases(text):
        why = f"a remark in the code speaks of {amount.size_gb:g} GB of GPU memory"
        confidence = Confidence.MEDIUM if _OF_ALL.search(text) else Confidence.LOW
        yield Finding("documented.memory_gb", f"{amount.size_gb:g}", why, confidence, where)
    is_of_batch = _BATCH.match(line) is not None  # the card that it fills
    for phrase in card_phrases(text):
        if (phrase.is_run or (is_of_batch and phrase.is_sized)) and (phrase.count or phrase.is_sized):
            named = f"{phrase.count} × {phrase.card}" if phrase.count else phrase.card
            yield Finding(
                "documented.card", phrase.card, f"a remark in the code names {named}", Confidence.MEDIUM, where
            )
