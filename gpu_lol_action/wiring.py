"""The only place that builds real hands: what a run is given, from what its surroundings say."""

from __future__ import annotations

import getpass
import os
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from gpu_lol_action.action_io import Surroundings, annotate, log
from gpu_lol_action.adapters.clock import SystemClock
from gpu_lol_action.domain.names import user_hash
from gpu_lol_action.domain.policy import POLICY_PATH, Policy
from gpu_lol_action.domain.request import (
    Command,
    CommentCreated,
    Event,
    Outcome,
    PullRequestChanged,
    PullRequestClosed,
    Repository,
)
from gpu_lol_action.domain.waiting import job_ends_at
from gpu_lol_action.errors import Door, OperatorError, UserError
from gpu_lol_action.handlers.askable import Lookups
from gpu_lol_action.handlers.context import Context, Settings
from gpu_lol_action.handlers.ports import Cloud, LanguageModel, ModelHub, Progress, Shell, Vault
from gpu_lol_action.handlers.ports_surfaces import Surfaces
from gpu_lol_action.render.screen import Screen

if TYPE_CHECKING:
    from gpu_lol_action.adapters.age import RecordSeal
    from gpu_lol_action.adapters.cloud_accounts import CloudAccounts
    from gpu_lol_action.adapters.github import GitHubClient
    from gpu_lol_action.adapters.github_first_look import Focus
    from gpu_lol_action.adapters.github_forge import GitHubForge
    from gpu_lol_action.domain.checkup import Diagnosis
    from gpu_lol_action.handlers.doctor import Instruments
    from gpu_lol_action.handlers.ledger import LedgerAnswer

KEY_VERSION = 1

# Variables that only a rehearsal sets: where its stand-ins live.
_REHEARSAL_VARIABLES = ("RUNPOD_API_BASE_URL",)


@dataclass(slots=True)
class Hands:
    """Builds the heavy adapters on first use and ends them with the run."""

    repository_id: int
    cloud_keys: Mapping[str, str]
    environ: Mapping[str, str]
    home: Path
    closing: ExitStack = field(default_factory=ExitStack)
    _cloud: Cloud | None = None
    _shell: Shell | None = None

    def cloud(self) -> Cloud:
        """Return SkyPilot in its child process; nothing is started before it is asked to."""
        if self._cloud is None:
            from gpu_lol_action.adapters.skypilot import SkyPilotCloud
            from gpu_lol_action.adapters.skypilot_home import SkyPilotSettings

            pair = self.key_pair()
            settings = SkyPilotSettings(
                home=self.home,
                user_hash=user_hash(self.repository_id),
                cloud_keys=self.cloud_keys,
                private_key_pem=pair[0],
                public_key_line=pair[1],
                environment={name: self.environ[name] for name in _REHEARSAL_VARIABLES if name in self.environ},
            )
            cloud = SkyPilotCloud(settings, self.environ, SystemClock().now)
            self.closing.callback(cloud.close)
            self._cloud = cloud
        return self._cloud

    def shell(self) -> Shell:
        """Return SSH with the derived key."""
        if self._shell is None:
            from gpu_lol_action.adapters.ssh import OpenSsh

            shell = OpenSsh(self.key_pair()[0])
            self.closing.callback(shell.close)
            self._shell = shell
        return self._shell

    def key_pair(self) -> tuple[bytes, str]:
        """Return the private (PEM) and the public key of this repository's machines."""
        from gpu_lol_action.launch.keys import derive_key_pair

        # GPU_LOL_SECRET serves cloud logins that have no key of their own (OIDC).
        secret = self.environ.get("GPU_LOL_SECRET") or next(iter(self.cloud_keys.values()), "")
        if not secret:
            raise OperatorError(
                "cloud_secret_missing",
                "No cloud account is connected to this repository.",
                fix="A maintainer adds the repository secret `RUNPOD_API_KEY` and passes it to the gpu-lol workflow.",
            )
        try:
            pair = derive_key_pair(secret, self.repository_id, KEY_VERSION)
        except ValueError as error:
            raise OperatorError(
                "cloud_secret_malformed",
                "The cloud's key is too short to be one.",
                fix="A maintainer checks the value of the secret; nothing but the key itself may stand in it.",
            ) from error
        return pair.private_pem, pair.public_line


@contextmanager
def job(surroundings: Surroundings, event: Event) -> Iterator[Context]:
    """Yield the context of a workflow job; its heavy hands end with the block."""
    from gpu_lol_action.adapters.github import Connection
    from gpu_lol_action.adapters.github_forge import GitHubForge
    from gpu_lol_action.adapters.github_forge import Hands as GitHubHands
    from gpu_lol_action.adapters.ledger import RecordLedger
    from gpu_lol_action.adapters.ledger_refs import GitRefStore
    from gpu_lol_action.adapters.progress import JobProgress

    token = surroundings.inputs["github-token"]
    if not token:
        raise OperatorError(
            "github_token_missing",
            "The action got no `github-token`.",
            fix="Pass `github-token: ${{ github.token }}`.",
        )
    clock, progress = SystemClock(), JobProgress(log, partial(annotate, "warning"))
    forge = GitHubForge(
        Connection(token, event.repository.full_name, surroundings.api_url),
        GitHubHands(clock.now, clock.sleep, progress.line),
        repository=event.repository,
        focus=focus_of(event),
    )
    cloud_keys = _cloud_keys(surroundings.inputs)
    asked = surroundings.inputs
    settings = Settings(
        door=Door.JOB,
        run_id=surroundings.run_id,
        run_url=surroundings.run_url,
        server_url=surroundings.server_url,
        clouds=tuple(cloud_keys) or _declared_clouds(surroundings),
        is_rehearsal=any(name in os.environ for name in _REHEARSAL_VARIABLES),
        pinned_sha=surroundings.pinned_sha or None,
        run_attempt=surroundings.run_attempt,
        triggering_actor=surroundings.triggering_actor,
        job_ends_at=job_ends_at(clock.now(), surroundings.job_minutes),
    )
    with _home(surroundings.workspace_temp) as home:
        hands = Hands(event.repository.repository_id, cloud_keys, os.environ, home)
        hands.closing.callback(forge.close)
        with hands.closing:
            yield Context(
                forge=forge,
                ledger=RecordLedger(GitRefStore(forge.client, refs=forge.refs), _record_seal(hands)),
                clock=clock,
                progress=progress,
                cloud=hands.cloud,
                shell=hands.shell,
                redact=_redactor([token, *cloud_keys.values(), *filter(None, (asked["hf-token"], asked["llm-key"]))]),
                settings=settings,
                lookups=_job_lookups(asked, surroundings.workspace_temp),
                instruments=lambda: _job_instruments(forge, event.repository, cloud_keys),
                surfaces=surfaces_of(forge),
                vault=(lambda: _ref_vault(forge.client, hands)) if cloud_keys else None,
                seal=_armor,
            )


def policy_ref(repository: Repository) -> str:
    """Return the default branch in full: of a tag and a branch that share a name git takes the tag.

    And anybody who may push, though not to a protected branch, can make a tag.
    """
    return f"refs/heads/{repository.default_branch}"


def _ref_vault(client: GitHubClient, hands: Hands) -> Vault:
    from gpu_lol_action.adapters.vault_refs import RefVault

    return RefVault(client, *hands.key_pair())


def _record_seal(hands: Hands) -> RecordSeal | None:
    from gpu_lol_action.adapters.age import RecordSeal

    return RecordSeal(hands.key_pair) if hands.cloud_keys else None


def _armor(text: str, public_keys: Sequence[str]) -> str:
    from gpu_lol_action.adapters.age import armor

    return armor(text, public_keys)


def _file_vault(folder: Path, hands: Hands) -> Vault:
    from gpu_lol_action.adapters.vault_files import FileVault

    return FileVault(folder, *hands.key_pair())


def focus_of(event: Event) -> Focus:
    """What a run is about: its first question to GitHub asks for all of it at once."""
    from gpu_lol_action.adapters.github_first_look import Focus

    number = 0
    if isinstance(event, CommentCreated):
        number = event.pull_request_number
    elif isinstance(event, PullRequestChanged | PullRequestClosed):
        number = event.pull_request.number
    # A proposal looks after it has read the code, right before it writes.
    is_at_once = not isinstance(event, PullRequestChanged)
    return Focus(number, POLICY_PATH, policy_ref(event.repository), is_at_once)


def surfaces_of(forge: GitHubForge) -> Surfaces:
    """Return what GitHub shows beside comments; which of it this token may write, GitHub says when it is tried."""
    from gpu_lol_action.adapters.github_checks import GitHubChecks
    from gpu_lol_action.adapters.github_commits import GitHubCommits
    from gpu_lol_action.adapters.github_deployments import GitHubDeployments
    from gpu_lol_action.adapters.github_look import GitHubLook
    from gpu_lol_action.adapters.github_suggestions import GitHubSuggestions
    from gpu_lol_action.adapters.ledger_refs import GitRefStore
    from gpu_lol_action.adapters.proposal_notes import FOLDER, ProposalNotes

    client = forge.client
    return Surfaces(
        conversation=GitHubLook(client, forge.first_look),
        checks=GitHubChecks(client),
        deployments=GitHubDeployments(client),
        suggestions=GitHubSuggestions(client),
        commits=GitHubCommits(client),
        notes=ProposalNotes(GitRefStore(client, FOLDER, forge.refs)),
    )


def left_out(context: Context) -> list[str]:
    """Return what this run could not show, one line each, for the job's summary."""
    return list(getattr(context.progress, "notes", ()))


def load_policy(context: Context, repository: Repository) -> Policy:
    """Read the default branch's policy; one that cannot be read stops everything but teardown and help."""
    # After the first reaction: reading YAML takes longer than that one needs.
    from gpu_lol_action.domain.policy_yaml import parse_policy

    try:
        return parse_policy(context.forge.read_file(POLICY_PATH, policy_ref(repository)))
    except UserError as error:
        # Too large or no text counts as wrong at a line does: whoever closes a pull request still ends its machine.
        return Policy(problem=" ".join(filter(None, (error.explanation.what, error.explanation.fix))))


def count_requests(context: Context) -> tuple[dict[str, int], str]:
    """Return how often each operation of GitHub's API was asked in this run, and one line that says so by kind."""
    from gpu_lol_action.adapters.github_budget import requests_line

    client = getattr(context.forge, "client", None)
    counts = dict(sorted(client.counts.items())) if client is not None else {}
    return counts, requests_line(counts, client.budget.left if client is not None else None)


def _cloud_keys(inputs: Mapping[str, str]) -> dict[str, str]:
    keys = {"runpod": inputs.get("runpod-api-key", ""), "lambda": inputs.get("lambda-api-key", "")}
    return {cloud: key for cloud, key in keys.items() if key}


def _declared_clouds(surroundings: Surroundings) -> tuple[str, ...]:
    """Return the clouds whose keys a later job holds: the job that decides has none, and launches nothing."""
    if surroundings.phase != "decide":
        return ()
    return tuple(cloud for cloud in ("runpod", "lambda") if cloud in surroundings.clouds)


def _redactor(secrets: list[str]) -> Callable[[str], str]:
    from gpu_lol_action.domain.redaction import redact

    return lambda text: redact(text, secrets)


@contextmanager
def _home(parent: str) -> Iterator[Path]:
    """Yield SkyPilot's private home: one that is named (its catalogs are kept), else an empty one that goes away."""
    named = os.environ.get("GPU_LOL_SKYPILOT_HOME")
    if named:
        yield Path(named)
        return
    with tempfile.TemporaryDirectory(prefix="gpu-lol-", dir=parent or None, ignore_cleanup_errors=True) as name:
        yield Path(name) / "home"


@contextmanager
def terminal(folder: Path, progress: Progress, show: Callable[[str], None]) -> Iterator[Context]:
    """Yield the context of a terminal: a checkout for GitHub, a folder for the ledger, the user's own cloud key."""
    from gpu_lol_action.adapters import local_forge
    from gpu_lol_action.adapters.ledger import RecordLedger
    from gpu_lol_action.adapters.ledger_files import FileStore

    user_home = Path.home()
    forge = local_forge.LocalForge(folder, show, home=user_home, environment=os.environ)
    repository = forge.repository()
    cloud_keys = _cloud_keys(
        {"runpod-api-key": os.environ.get("RUNPOD_API_KEY", ""), "lambda-api-key": os.environ.get("LAMBDA_API_KEY", "")}
    )
    settings = Settings(
        door=Door.TERMINAL,
        run_id=local_forge.this_run(),
        run_url=None,
        server_url="https://github.com",
        clouds=tuple(cloud_keys),
        is_rehearsal=any(name in os.environ for name in _REHEARSAL_VARIABLES),
    )
    with _home("") as home:
        hands = Hands(repository.repository_id, cloud_keys, os.environ, home)
        with hands.closing:
            yield Context(
                forge=forge,
                ledger=RecordLedger(FileStore(_state_folder("ledger", repository.full_name))),
                clock=SystemClock(),
                progress=progress,
                cloud=hands.cloud,
                shell=hands.shell,
                redact=_redactor(list(cloud_keys.values())),
                settings=settings,
                vault=lambda: _file_vault(_state_folder("rescues", repository.full_name), hands),
            )


def _job_lookups(inputs: Mapping[str, str], workspace_temp: str) -> Lookups:
    """Return what a job may ask from outside. The cache lives as long as the job: its folder is emptied with it."""
    cache = Path(workspace_temp) / "gpu-lol-hub" if workspace_temp else None
    llm = _language_model(inputs["llm-url"], inputs["llm-model"], inputs["llm-key"]) if inputs["llm-url"] else None
    return Lookups(_hub(inputs["hf-token"], cache), llm, is_hub_asked=inputs["hub"].lower() == "true")


def _terminal_lookups(command: Command) -> Lookups:
    """Return what a person at a terminal asked to be asked."""
    home = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    hub = _hub(os.environ.get("HF_TOKEN", "").strip(), Path(home) / "gpu-lol" / "hub") if command.use_hub else None
    names = ("GPU_LOL_LLM_URL", "GPU_LOL_LLM_MODEL", "GPU_LOL_LLM_KEY")
    llm = _language_model(*(os.environ.get(name, "").strip() for name in names)) if command.use_llm else None
    return Lookups(hub, llm, is_hub_asked=command.use_hub)


def _hub(token: str, cache: Path | None) -> ModelHub:
    from gpu_lol_action.adapters.hub import HUB, HubClient, HubSettings

    # The variable by which Hugging Face's own tools are sent to a mirror.
    endpoint = os.environ.get("HF_ENDPOINT", "").strip() or HUB
    return HubClient(HubSettings(endpoint, token, cache), SystemClock().now)


def _language_model(url: str, model: str, key: str) -> LanguageModel:
    from gpu_lol_action.adapters.llm import ChatEndpoint, LlmSettings

    return ChatEndpoint(LlmSettings(url, model, key), SystemClock().now)


def analyze_folder(command: Command, screen: Screen) -> str:
    """Return what ``gpu-lol analyze PATH`` prints, in the format that was asked for."""
    from gpu_lol_action.handlers.analyze import Printing, describe_folder

    folder = Path(command.path or ".")
    printing = Printing(command.output_format, screen, command.is_verbose)
    clock, lookups = SystemClock(), _terminal_lookups(command)
    if command.base is None:
        return describe_folder(folder, printing, clock.now(), None, lookups)
    from gpu_lol_action.adapters.local_forge import LocalForge

    forge = LocalForge(folder, lambda _body: None, home=Path.home(), environment=os.environ)
    sha = forge.resolve(command.base)
    with forge.tree(sha) as base:
        return describe_folder(folder, printing, clock.now(), (sha, base), lookups)


def _job_instruments(forge: GitHubForge, repository: Repository, keys: Mapping[str, str]) -> Instruments:
    """Return what a check-up in a job looks with: the job's own token and keys."""
    from gpu_lol_action.adapters.github_probe import GitHubProbe
    from gpu_lol_action.adapters.ledger import RecordLedger
    from gpu_lol_action.adapters.ledger_refs import GitRefStore
    from gpu_lol_action.handlers.doctor import Instruments

    installed, wanted = _skypilot_versions()
    return Instruments(
        now=SystemClock().now,
        is_job=True,
        default_branch=repository.default_branch,
        accounts=_accounts(keys).ask,
        skypilot=lambda: installed,
        skypilot_wanted=wanted,
        github=GitHubProbe(forge.client),
        ledger=RecordLedger(GitRefStore(forge.client)),
        read_policy=lambda: forge.read_file(POLICY_PATH, policy_ref(repository)),
    )


def check_up(folder: Path) -> tuple[Diagnosis, ...]:
    """Return what `gpu-lol doctor` thinks of the installation that a checkout belongs to."""
    from gpu_lol_action.adapters.github import Connection
    from gpu_lol_action.adapters.github_forge import GitHubForge
    from gpu_lol_action.adapters.github_forge import Hands as GitHubHands
    from gpu_lol_action.adapters.github_probe import GitHubProbe
    from gpu_lol_action.adapters.ledger import RecordLedger
    from gpu_lol_action.adapters.ledger_refs import GitRefStore
    from gpu_lol_action.adapters.local_forge import LocalForge
    from gpu_lol_action.handlers.doctor import Instruments, check_up
    from gpu_lol_action.handlers.init import read_workflows

    local = LocalForge(folder, lambda _body: None, home=Path.home(), environment=os.environ)
    root, checkout = local.survey()
    clock, token = SystemClock(), _terminal_token()
    installed, wanted = _skypilot_versions()
    keys = _cloud_keys({"runpod-api-key": os.environ.get("RUNPOD_API_KEY", "").strip(),
                        "lambda-api-key": os.environ.get("LAMBDA_API_KEY", "").strip()})  # fmt: skip
    instruments = Instruments(
        now=clock.now,
        is_job=False,
        default_branch=checkout.default_branch or "",
        accounts=_accounts(keys).ask,
        skypilot=lambda: installed,
        skypilot_wanted=wanted,
        checkout=replace(checkout, workflows=read_workflows(root)),
    )
    if not token:
        return check_up(instruments)
    # Somebody is waiting at the screen: what does not answer at once is reported as unknown, not asked again.
    connection = Connection(token, checkout.full_name, _terminal_api_url(checkout.host), attempts=1)
    forge = GitHubForge(connection, GitHubHands(clock.now, clock.sleep, lambda _line: None))
    # Without a branch's name GitHub answers for the default one, whatever the checkout knows.
    asked = replace(
        instruments,
        github=GitHubProbe(forge.client),
        ledger=RecordLedger(GitRefStore(forge.client)),
        read_policy=lambda: forge.read_file(POLICY_PATH, "HEAD"),
    )
    return check_up(asked)


def show_ledger(command: Command, folder: Path, screen: Screen) -> LedgerAnswer:
    """Return what ``gpu-lol ledger`` prints: this terminal's records, and with a token the repository's; both are only read."""
    from gpu_lol_action.adapters.github import Connection
    from gpu_lol_action.adapters.github_forge import GitHubForge
    from gpu_lol_action.adapters.github_forge import Hands as GitHubHands
    from gpu_lol_action.adapters.ledger import RecordLedger
    from gpu_lol_action.adapters.ledger_files import FileStore
    from gpu_lol_action.adapters.ledger_refs import GitRefStore
    from gpu_lol_action.adapters.local_forge import LocalForge
    from gpu_lol_action.handlers.ledger import Question, Source, describe_ledger

    local = LocalForge(folder, lambda _body: None, home=Path.home(), environment=os.environ)
    _, checkout = local.survey()
    clock, token = SystemClock(), _terminal_token()
    sources = [Source("terminal", RecordLedger(FileStore(_state_folder("ledger", checkout.full_name))))]
    if token and not checkout.full_name.startswith("local/"):
        # As for a check-up: somebody waits, and what does not answer is said instead of asked again.
        connection = Connection(token, checkout.full_name, _terminal_api_url(checkout.host), attempts=1)
        forge = GitHubForge(connection, GitHubHands(clock.now, clock.sleep, lambda _line: None))
        sources.append(Source("github", RecordLedger(GitRefStore(forge.client))))
    return describe_ledger(Question(command.topic, command.is_csv, screen, clock.now()), sources)


def _state_folder(kind: str, repository: str) -> Path:
    """Return where this terminal keeps something of a repository (XDG base directory specification)."""
    state = Path(os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state") / "gpu-lol"
    return state / kind / repository.replace("/", "+")


def _accounts(keys: Mapping[str, str]) -> CloudAccounts:
    from gpu_lol_action.adapters.cloud_accounts import CloudAccounts

    # The variable by which RunPod's own client, and with it SkyPilot, is sent to another server.
    home = os.environ.get("RUNPOD_API_BASE_URL", "").strip()
    return CloudAccounts(SystemClock().now, keys, {"runpod": home} if home else {})


def _skypilot_versions() -> tuple[str | None, str]:
    """Return SkyPilot's version here and the one that is tried, without loading it."""
    from importlib import metadata

    from packaging.requirements import Requirement

    def found(name: str) -> metadata.Distribution | None:
        try:
            return metadata.distribution(name)
        except metadata.PackageNotFoundError:
            return None

    skypilot, ours = found("skypilot"), found("gpu-lol-action")
    texts = ours.requires or [] if ours is not None else []
    wanted = next((each for each in map(Requirement, texts) if each.name == "skypilot"), None)
    exact = str(wanted.specifier).removeprefix("==") if wanted is not None else ""
    return skypilot.version if skypilot is not None else None, exact


def initialize(command: Command, folder: Path) -> Outcome:
    """Set gpu-lol up in a checkout, as ``gpu-lol init`` was asked to."""
    from gpu_lol_action import __version__
    from gpu_lol_action.adapters.github_public import PublicGitHub
    from gpu_lol_action.adapters.local_forge import LocalForge
    from gpu_lol_action.domain.installation import Pin, Wish
    from gpu_lol_action.handlers.init import Installation, handle_init

    forge = LocalForge(folder, lambda _body: None, home=Path.home(), environment=os.environ)
    root, facts = forge.survey()
    look = PublicGitHub(SystemClock().now, _terminal_api_url(), _terminal_token())
    is_public = True if command.is_public else False if command.is_private else None
    wish = Wish(command.level, is_public, command.has_forks, command.cloud or "runpod", command.is_forced)
    pin = command.pin
    find_pin = partial(look.pin, __version__) if pin is None else lambda: Pin(pin)
    return handle_init(Installation(root, facts, wish, look.visibility, find_pin, command.is_dry_run))


def _terminal_api_url(host: str = "github.com") -> str:
    """Return where the API of a remote's host is: what the environment says, else by GitHub's own rule."""
    said = os.environ.get("GITHUB_API_URL", "").strip()
    return said or ("https://api.github.com" if host == "github.com" else f"https://{host}/api/v3")


def _terminal_token() -> str:
    """Return the token that GitHub's own tools would take from here."""
    return (os.environ.get("GH_TOKEN") or os.environ.get("GITHUB_TOKEN") or "").strip()


def estimate(command: Command) -> str:
    """Return what ``gpu-lol estimate`` prints of one run."""
    from gpu_lol_action.handlers.estimate import describe_estimate

    return describe_estimate(command, SystemClock().now())


def user() -> str:
    """Return who sits at this terminal."""
    return getpass.getuser()
