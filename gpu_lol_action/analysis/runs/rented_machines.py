"""The machine that a task of SkyPilot's or a program of Modal's rents to start a run: it is asked for, whatever the code imports.

Where nothing was found that trains or infers, such an order still says that there is work for a GPU, and of which size.
"""

from __future__ import annotations

import re

from gpu_lol_action.analysis.commands.beam_images import beam_packages
from gpu_lol_action.analysis.commands.cluster_orders import CLUSTER, cluster_wish, tells_of_training
from gpu_lol_action.analysis.commands.colab_notebooks import colab_wish
from gpu_lol_action.analysis.commands.hosting_files import Wish
from gpu_lol_action.analysis.commands.modal_orders import ModalOrder, asks_a_host, modal_orders, modal_packages
from gpu_lol_action.analysis.commands.mosaic_jobs import is_deployment, is_mosaic_job, mosaic_wish
from gpu_lol_action.analysis.commands.sky_tasks import SkyTask, sky_tasks
from gpu_lol_action.analysis.files.checkout import Checkout, Source
from gpu_lol_action.analysis.formats.paths import Form, Role
from gpu_lol_action.analysis.package_lists.package_files import Declared
from gpu_lol_action.analysis.programs.behavior import Behavior
from gpu_lol_action.analysis.runs.entry_points import Run
from gpu_lol_action.domain.named_cards import named_card_gib
from gpu_lol_action.domain.patterns import regex

MOST, WORKFLOW_DEPTH = 0.5, 2
_RUN = regex(r"^(?:run|service):", re.MULTILINE)
_ASIDE = regex(r"(?:^|[-_.])(?:cpu|client|data|download|monitor|build|tpu|gui)(?:$|[-_.])")
_TRAINS = regex(r"train|fine-?_?tun|nccl|(?<![a-z])(?:q?lora|sft|grpo|ppo|dpo|ddp)(?![a-z])", re.IGNORECASE)


def rented_wish(checkout: Checkout, run: Run | None) -> Wish | None:
    """Return what is rented to start this run, or, without one, what the files at the root rent; None where nothing is."""
    task = task_for(checkout, run)
    if task is not None:
        return _of_task(task)
    programs = _programs(checkout, run)
    asking = [source for source in programs if modal_orders(source)]
    if run is None and len(asking) < len([s for s in programs if asks_a_host(s)]) * MOST:
        return None  # a collection of programs of which a few want a card
    orders = [order for source in asking for order in modal_orders(source)]
    ordered = _of_orders(orders, trains=run is not None and run.behavior is Behavior.TRAINS)
    others = (colab_wish, mosaic_wish, cluster_wish) if run is None and ordered is None else ()
    return ordered or next((wish for tell in others if (wish := tell(checkout)) is not None), None)


def rents_to_train(wish: Wish, checkout: Checkout) -> bool:
    """Whether the file that asks speaks of training more than of anything else: for machines of which no program is known."""
    source = checkout.find(wish.evidence.path)
    if source is not None and is_mosaic_job(source.text):
        return not is_deployment(source.text)
    if wish.host == CLUSTER:
        pages = [
            page for page in checkout.of(Form.MARKDOWN, roles=(Role.DOCUMENTATION,)) if page.name.startswith("readme.")
        ]
        return any(tells_of_training(page.text) for page in pages[:1])
    return source is not None and (_TRAINS.search(source.name) is not None or _is_about_training(source))


def _is_about_training(source: Source) -> bool:
    name = regex(r"^name:[ \t]*(\S.*)$", re.MULTILINE).search(source.text)
    return name is not None and _TRAINS.search(name[1]) is not None


def task_for(checkout: Checkout, run: Run | None) -> SkyTask | None:
    """Return the task that asks for cards and starts a run, or, without one, the first at the root."""
    tasks = sky_tasks(checkout)
    if run is None:
        return min((t for t in tasks if not t.source.depth), key=_is_aside, default=None)
    where = run.evidence
    own = [t for t in tasks if t.source.path == where.path and t.first <= where.line <= t.last]
    if not own and run.script is None and run.configs:
        own = [t for t in tasks if t.source.depth <= 1 and run.configs[0].name in _text(t)]
    if not own and run.script is not None:
        name = re.compile(rf"(?<![\w.-]){re.escape(run.script.name)}\b")
        own = [t for t in tasks if t.source.depth <= 1 and name.search(_text(t))]
    elif not own and where.path.count("/") == 0:
        # What a document shows beside one task file is what that file starts.
        files = {task.source.path for task in tasks}
        own = [t for t in tasks if not t.source.depth and len(files) == 1]
    if not own and not where.path.count("/"):
        # A task that starts nothing is the machine on which people start by hand what the README tells.
        own = [t for t in tasks if not t.source.depth and not _RUN.search(_text(t))]
    return min(own, key=_is_aside, default=None)


def _text(task: SkyTask) -> str:
    return "\n".join(task.source.text.split("\n")[task.first - 1 : task.last])


def _is_aside(task: SkyTask) -> bool:
    return _ASIDE.search(task.source.name.rpartition(".")[0]) is not None


def _of_task(task: SkyTask) -> Wish | None:
    choice = task.choice
    if choice is None:
        return None
    card, count = choice
    why = f"`{task.source.path}` asks for a GPU"
    return Wish(
        why,
        task.evidence,
        serves=False,
        card=(card, task.evidence),
        count=(count, task.evidence),
        host="SkyPilot",
        is_order=True,
        is_least=len({name for name, _ in task.asked}) > 1,
    )


def _of_orders(orders: list[ModalOrder], *, trains: bool) -> Wish | None:
    """Return the wish for the largest order of a program that trains (it serves on a smaller card), else for the first."""
    named = [order for order in orders if order.card is not None]
    chosen = (named or orders)[:1]
    if trains and named:
        chosen = [max(named, key=lambda order: named_card_gib(order.card or ""))]
    for order in chosen:
        card = (order.card, order.evidence) if order.card is not None else None
        why = f"`{order.evidence}` asks {order.host} for a GPU"
        return Wish(why, order.evidence, False, card, (order.count, order.evidence), host=order.host, is_order=True)
    return None


def rented_packages(checkout: Checkout, run: Run | None) -> list[Declared]:
    """Return what the images of the program that is started, or of the programs at the root, install."""
    return [item for source in _programs(checkout, run) for item in (*modal_packages(source), *beam_packages(source))]


def _programs(checkout: Checkout, run: Run | None) -> list[Source]:
    if run is not None:
        return [run.script] if run.script is not None else []
    return [source for source in checkout.of(Form.PYTHON) if not source.depth or _is_of_a_workflow(source)]


def _is_of_a_workflow(source: Source) -> bool:
    """Whether a program is one of a workflow's, which lie in a package of their own below the root."""
    return source.depth <= WORKFLOW_DEPTH and source.mentions("flyte") and asks_a_host(source)
