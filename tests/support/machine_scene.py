"""Commands on a machine, through both jobs as the workflow runs them: GitHub over HTTP, a real sshd, no SkyPilot.

The job that decides and the one that acts are child processes with an empty HOME, as on fresh runners. Only what launches
or ends a machine goes through a scripted cloud, in this process: the router, the handlers and all other hands are real.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta, timezone
from pathlib import Path

from gpu_lol_action.action_io import read_surroundings
from gpu_lol_action.adapters.age import RecordSeal
from gpu_lol_action.adapters.github import Connection, GitHubClient
from gpu_lol_action.adapters.ledger import RecordLedger
from gpu_lol_action.adapters.ledger_refs import GitRefStore
from gpu_lol_action.adapters.ssh import OpenSsh
from gpu_lol_action.domain.environment import EnvironmentRecord, SshEndpoint
from gpu_lol_action.domain.ledger import Entry
from gpu_lol_action.domain.machine import Launched, LaunchRequest, NotLaunched
from gpu_lol_action.domain.machine import Machine as Listed
from gpu_lol_action.intake.events import parse_event
from gpu_lol_action.launch.keys import derive_key_pair
from gpu_lol_action.rehearsal.github_events import Webhook
from gpu_lol_action.rehearsal.stage import Stage, StepRun
from gpu_lol_action.router import Run, Step, route
from gpu_lol_action.wiring import github as wiring_github
from gpu_lol_action.wiring.job import job
from tests.fixtures.machines.machine import Machine
from tests.support.doorway import Doorway
from tests.support.guard import guarded

CLOUD_KEY = "rpa_" + "first" * 8
SPEC = """\
hardware: {gpu_type: RTX4090, gpu_count: 1, vram_required_gb: 20}
dependencies: {requirements: []}
keep: ["weights/*.pt"]
meta: {workload_type: training}
"""
POLICY = "sweep: {required: false}\n"
FILES = {
    ".gpu-lol.yaml": SPEC,
    "train.py": "print('epoch 1')\n",
    ".gitignore": "weights/\n",
    ".github/gpu-lol.yml": POLICY,
}
# A stand-in cloud in the environment: stand-ins on the machine are taken for what they are.
REHEARSAL = {"RUNPOD_API_BASE_URL": "http://127.0.0.1:9"}


@dataclass
class ThisMachine:
    """A cloud with one machine to give: the one that is there."""

    machine: SshEndpoint
    running: dict[str, datetime] = field(default_factory=dict)
    doorways: dict[str, Doorway] = field(default_factory=dict)
    is_of_another_account: bool = False
    sold_out: int = 0
    log: list[str] = field(default_factory=list)
    on_launch: Callable[[], None] = lambda: None

    def warm(self) -> None:
        self.log.append("warm")

    def launch(self, request: LaunchRequest, on_progress: Callable[[str], None]) -> Launched | NotLaunched:
        self.log.append("launch")
        self.on_launch()
        if self.sold_out:
            self.sold_out -= 1
            return NotLaunched("no_capacity", "no machine now", is_certain=True)
        name = self.name_on_cloud(request.cluster_name)
        self.running[name] = datetime.now(timezone.utc)
        self.doorways[name] = Doorway(self.machine.port)
        return Launched(name, "US", replace(self.machine, port=self.doorways[name].port), {})

    def cancel(self) -> None:
        self.log.append("cancel")

    def name_on_cloud(self, cluster_name: str) -> str:
        return f"{cluster_name}-c0ffee00"

    def teardown(self, cloud: str, name_on_cloud: str, provider_config: Mapping[str, str]) -> None:
        self.log.append("teardown")
        if self.is_of_another_account:
            return
        self.running.pop(name_on_cloud, None)
        if name_on_cloud in self.doorways:
            self.doorways.pop(name_on_cloud).close()

    def machines(self, cloud: str, prefix: str) -> Sequence[Listed]:
        if self.is_of_another_account:
            return []
        found = [name for name in self.running if name.startswith(prefix)]
        return [Listed(cloud, name, "RUNNING", created_at=self.running[name]) for name in found]

    def close(self) -> None:
        self.log.append("close")


@dataclass
class MachineScene:
    """A stage, one pull request, and a machine that its ``up`` can be given."""

    stage: Stage
    machine: Machine
    guard: Path
    number: int
    cloud: ThisMachine
    cloud_key: str = CLOUD_KEY
    variables: dict[str, str] = field(default_factory=dict)

    def give(self, body: str, author: str = "ada") -> StepRun:
        """Give a command as a comment; both jobs run as child processes, and neither may load SkyPilot."""
        webhook = self.stage.hub.comment(self.number, author, body)
        run_id, decide = self.decide(webhook)
        if decide.outputs["needs_cloud"] != "true":
            self.stage.hub.finish_run(run_id)
            return decide
        handed_on = {
            "GPU_LOL_PHASE": "act",
            "GPU_LOL_DEFERRED": decide.outputs["deferred"],
            "GPU_LOL_PINNED_SHA": decide.outputs["pinned_sha"],
        }
        with guarded(self.guard) as variables:
            act = self.stage.run_step(webhook, run_id, {**self._keys(), **variables, **handed_on})
        self.stage.hub.finish_run(run_id)
        return act

    def decide(self, webhook: Webhook) -> tuple[str, StepRun]:
        """Run the job that decides: it holds no cloud key."""
        run_id = self.stage.hub.start_run(webhook.name, self.stage.hub.maintainer)
        keyless = {"GPU_LOL_PHASE": "decide", "GPU_LOL_CLOUDS": "runpod", "RUNPOD_API_KEY": ""}
        with guarded(self.guard) as variables:
            return run_id, self.stage.run_step(webhook, run_id, {**self.variables, **variables, **keyless})

    def give_with_cloud(self, body: str, author: str = "ada") -> tuple[StepRun, Run]:
        """Give a command that launches or ends: its second job goes on in this process, with the scripted cloud."""
        webhook = self.stage.hub.comment(self.number, author, body)
        run_id, decide = self.decide(webhook)
        assert decide.outputs["needs_cloud"] == "true", decide.log
        only = tuple(int(each) for each in decide.outputs["deferred"].split(","))
        environment = {
            "INPUT_GITHUB_TOKEN": self.stage.hub.bot_token,
            "GITHUB_API_URL": self.stage.hub.api_url,
            "GITHUB_SERVER_URL": self.stage.hub.web_url,
            "GITHUB_REPOSITORY": self.stage.full_name,
            "GITHUB_RUN_ID": run_id,
            "RUNNER_TEMP": str(self.guard),
            "GPU_LOL_PHASE": "act",
            "GPU_LOL_PINNED_SHA": decide.outputs["pinned_sha"],
            **self._keys(),
        }
        event = parse_event(webhook.name, webhook.payload)
        with job(read_surroundings(environment), event) as real:  # type: ignore[arg-type]  # a comment is an event
            context = replace(
                real, cloud=lambda: self.cloud, settings=replace(real.settings, is_rehearsal=True), clock=Hasty()
            )
            load_policy = lambda: wiring_github.load_policy(context, event.repository)  # type: ignore[union-attr]  # noqa: E731 - as in __main__
            run = route(context, event, load_policy, Step(may_use_cloud=True, only=only))  # type: ignore[arg-type]  # a comment is an event
        self.stage.hub.finish_run(run_id)
        return decide, run

    def _keys(self) -> dict[str, str]:
        return {"RUNPOD_API_KEY": self.cloud_key, **REHEARSAL, **self.variables}

    @property
    def bodies(self) -> list[str]:
        """Our comments on the pull request, oldest first."""
        return [comment.body for comment in self.stage.hub.comments(self.number, by=self.stage.hub.bot.login)]

    @property
    def ledger(self) -> RecordLedger:
        hub = self.stage.hub
        pair = derive_key_pair(CLOUD_KEY, hub.repository.repository_id, 1)
        client = GitHubClient(Connection(hub.bot_token, self.stage.full_name, hub.api_url), lambda _pause: None)
        return RecordLedger(GitRefStore(client), RecordSeal(lambda: (pair.private_pem, pair.public_line)))

    @property
    def record(self) -> EnvironmentRecord:
        """The only record."""
        (entry,) = self.ledger.entries()
        assert isinstance(entry, Entry)
        return entry.record

    def there(self, script: str) -> str:
        """Run something on the machine as somebody who is logged in would."""
        shell = OpenSsh(self.machine.private_key)
        try:
            return shell.run(self.machine.endpoint, script).stdout
        finally:
            shell.close()

    def trust(self, cloud_key: str) -> None:
        """Let the key in that is derived from this cloud key, as SkyPilot does when it launches."""
        line = derive_key_pair(cloud_key, self.stage.hub.repository.repository_id, 1).public_line
        self.there(f"echo '{line}' >> ~/.ssh/authorized_keys")


@dataclass
class Hasty:
    """The time of day, which jumps where somebody waits: the scripted cloud answers at once."""

    ahead: timedelta = timedelta(0)

    def now(self) -> datetime:
        return datetime.now(timezone.utc) + self.ahead

    def sleep(self, duration: timedelta) -> None:
        self.ahead += max(duration, timedelta(0))


@contextmanager
def machine_scene(
    machine: Machine, folder: Path, ssh_keys: Mapping[str, list[str]], policy: str = POLICY
) -> Iterator[MachineScene]:
    """Set the stage with a pull request of ada's; whatever was on the machine before is gone."""
    with Stage() as stage:
        hub = stage.hub
        for login, keys in ssh_keys.items():
            hub.add_user(login, role="write", ssh_keys=keys)
        hub.commit({**FILES, ".github/gpu-lol.yml": policy})
        opened = hub.open_pull_request("ada", {"notes.md": "more\n"}, branch="longer")
        scene = MachineScene(stage, machine, folder, int(opened.number or 0), ThisMachine(machine.endpoint))
        scene.there(WIPE)
        scene.trust(CLOUD_KEY)
        yield scene
        for doorway in scene.cloud.doorways.values():
            doorway.close()
        assert hub.problems() == []


WIPE = """
[ ! -f ~/.gpu-lol/watch.pid ] || kill "$(cat ~/.gpu-lol/watch.pid)" 2> /dev/null
rm -rf ~/.gpu-lol ~/llm-lab ~/rescued-work
sed -i '/gpu-lol/,$d' ~/.ssh/authorized_keys
"""
