"""A repository on the GitHub stand-in, a scripted cloud and machine behind the port, and the action's steps in process.

GitHub is spoken to by the real client over HTTP: the fault stories fail those requests one by one. The clock is shared
and jumps, so a bounded wait costs nothing.
"""

from __future__ import annotations

import copy
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path

from gpu_lol_action.adapters.github import Connection
from gpu_lol_action.adapters.github_first_look import Focus
from gpu_lol_action.adapters.github_forge import GitHubForge, Hands
from gpu_lol_action.adapters.github_labels import GitHubLabels
from gpu_lol_action.adapters.ledger import RecordLedger
from gpu_lol_action.adapters.ledger_refs import GitRefStore
from gpu_lol_action.domain.environment import EnvironmentRecord
from gpu_lol_action.domain.ledger import Entry
from gpu_lol_action.domain.redaction import redact
from gpu_lol_action.domain.request import Ignore, Outcome
from gpu_lol_action.errors import Door, Ending, GpuLolError
from gpu_lol_action.handlers.context import Context, Settings
from gpu_lol_action.intake.events import parse_event
from gpu_lol_action.rehearsal.github import Hub
from gpu_lol_action.rehearsal.github_events import Webhook
from gpu_lol_action.rehearsal.github_state import Comment
from gpu_lol_action.router import Run, Step, route
from gpu_lol_action.wiring import github as wiring
from tests.support.hands import KEY, JumpingClock, QuietProgress, ScriptedCloud
from tests.support.machine import GOOD, GoodMachine

SPEC = """\
hardware: {gpu_type: RTX4090, gpu_count: 1, vram_required_gb: 20}
dependencies: {requirements: [packaging]}
meta: {name: story, workload_type: training}
"""
FILES = {".gpu-lol.yaml": SPEC, "train.py": "import torch\n", "requirements.txt": "packaging\n"}
LONGER = 'from transformers import AutoModel\n\nAutoModel.from_pretrained("bert-base-uncased").cuda()\n'
"""What the pull request brings: a change that is worth a proposal."""
CLIENT_TIMEOUT = timedelta(seconds=15)
IMPATIENT = timedelta(seconds=1)  # the least that PyGithub takes


@dataclass
class StepEnd:
    """How one step of the action ended: what its outputs, summary and log would say."""

    run: Run | None
    outcomes: list[tuple[Outcome, Ending]]
    requests: dict[str, int]
    escaped: BaseException | None = None


@dataclass
class World:
    """One trial's world; everything is real but cloud, machine and time."""

    hub: Hub
    clock: JumpingClock
    cloud: ScriptedCloud
    machine: GoodMachine
    progress: QuietProgress
    number: int
    opened: Webhook
    head: str
    clouds: tuple[str, ...] = ("runpod",)
    timeout: timedelta = CLIENT_TIMEOUT
    ends: list[StepEnd] = field(default_factory=list)

    # --- the action -------------------------------------------------------------------------------------------
    @contextmanager
    def context(self, run_id: str, pinned: str = "", focus: Focus | None = None) -> Iterator[Context]:
        """Hands as a fresh runner's step builds them."""
        with ExitStack() as until_end:
            connection = Connection(
                token=self.hub.bot_token,
                full_name=self.hub.setting.full_name,
                api_url=self.hub.api_url,
                timeout=self.timeout,
            )
            hands = Hands(self.clock.now, self.clock.sleep, self.progress.line)
            event = parse_event(self.opened.name, self.opened.payload)
            assert not isinstance(event, Ignore)
            forge = GitHubForge(connection, hands, repository=event.repository, focus=focus)
            until_end.callback(forge.close)
            yield Context(
                forge=forge,
                ledger=RecordLedger(GitRefStore(forge.client, refs=forge.refs)),
                surfaces=wiring.surfaces_of(forge),
                labels=GitHubLabels(forge.client),
                clock=self.clock,
                progress=self.progress,
                cloud=lambda: self.cloud,
                shell=lambda: self.machine,
                redact=redact,
                settings=Settings(
                    Door.JOB,
                    run_id,
                    f"{self.hub.web_url}/runs/{run_id}",
                    self.hub.web_url,
                    self.clouds,
                    pinned_sha=pinned or None,
                ),
            )

    def act(self, webhook: Webhook) -> StepEnd:
        """The action on one event: the light step, then the other where something is left; the run ends with it."""
        run_id = self.hub.start_run(webhook.name, self.hub.maintainer)
        try:
            end = self._step(webhook, run_id, Step(may_use_cloud=False), "")
            if end.run is None or not end.run.deferred:
                return end
            return self._step(webhook, run_id, Step(only=end.run.deferred), end.run.pinned_sha)
        finally:
            self.hub.finish_run(run_id)

    def _step(self, webhook: Webhook, run_id: str, step: Step, pinned: str) -> StepEnd:
        event = parse_event(webhook.name, webhook.payload)
        assert not isinstance(event, Ignore)
        with self.context(run_id, pinned, wiring.focus_of(event, pinned)) as context:
            try:
                run = route(context, event, lambda: wiring.load_policy(context, event.repository), step)
                outcomes = [(result.outcome, result.ending) for result in run.results]
                end = StepEnd(run, outcomes, wiring.count_requests(context)[0])
            except GpuLolError as error:
                # What the Action's door does with it: one annotation, one line of summary, a red job.
                outcome = Outcome("failed", error.reason_code, text=str(error.explanation.what))
                end = StepEnd(None, [(outcome, error.ending)], wiring.count_requests(context)[0])
            except Exception as error:  # noqa: BLE001 - the trial judges it
                end = StepEnd(None, [], wiring.count_requests(context)[0], error)
        self.ends.append(end)
        return end

    # --- the look back ----------------------------------------------------------------------------------------
    @property
    def comments(self) -> list[Comment]:
        """What the bot said on the pull request."""
        return self.hub.comments(self.number, by=self.hub.bot.login)

    @property
    def texts(self) -> list[str]:
        """Everything that people read: comments, and what the job summaries hold."""
        summaries = [outcome.text for end in self.ends for outcome, _ in end.outcomes]
        return [*(comment.body for comment in self.comments), *summaries]

    @property
    def reason_codes(self) -> list[str]:
        """How the steps ended since the ends were cleared."""
        return [outcome.reason_code for end in self.ends for outcome, _ in end.outcomes]

    @property
    def records(self) -> list[EnvironmentRecord]:
        """Every record, read by a client of its own."""
        with self.context("0") as context:
            return [entry.record for entry in context.ledger.entries() if isinstance(entry, Entry)]


@contextmanager
def started_world(extra: Mapping[str, str] | None = None) -> Iterator[World]:
    """A repository with a spec and one open pull request by @ada, who may do everything; @eve is a stranger."""
    clock = JumpingClock()
    with (
        tempfile.TemporaryDirectory(prefix="gpu-lol-faults-") as root,
        Hub(Path(root), now=clock.now) as hub,
    ):
        hub.add_user("ada", role="admin", ssh_keys=[KEY])
        hub.add_user("eve", role="read")
        hub.commit({**FILES, **(extra or {})}, message="First")
        opened = hub.open_pull_request("ada", {"train.py": LONGER})
        head = opened.payload["pull_request"]["head"]["sha"]
        yield World(
            hub=hub,
            clock=clock,
            cloud=ScriptedCloud(clock),
            machine=machine_for(hub, head),
            progress=QuietProgress(),
            number=int(opened.number or 0),
            opened=opened,
            head=head,
        )


def machine_for(hub: Hub, head: str) -> GoodMachine:
    """A good machine that holds exactly this commit."""
    tree = hub.repository.git.read_commit(head).tree
    facts = copy.deepcopy(GOOD)
    facts["code"] |= {"head": head, "marker": head, "head_tree": tree, "index_tree": tree}
    lines = (f"tree {tree}", f"head {head}", "done")

    def shipped(nonce: str) -> str:
        return "".join(f"::gpu-lol-code {nonce} {line}\n" for line in lines)

    return GoodMachine(instead={"code": shipped}, facts=[facts])
