"""A terminal: its hands, from a checkout and the user's own environment; and the commands that need none."""

from __future__ import annotations

import getpass
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from gpu_lol_action.adapters.clock import SystemClock
from gpu_lol_action.errors import Door, GpuLolError, SpecError
from gpu_lol_action.handlers.askable import Lookups
from gpu_lol_action.wiring.hands import (
    REHEARSAL_VARIABLES,
    Hands,
    cloud_keys_of,
    market_of,
    private_home,
    redactor,
    state_folder,
    terminal_api_url,
    terminal_token,
)
from gpu_lol_action.wiring.lookups import terminal_lookups, terminal_prices

if TYPE_CHECKING:
    from gpu_lol_action.domain.policy import Policy
    from gpu_lol_action.domain.request import (
        Command,
        Outcome,
    )
    from gpu_lol_action.handlers.context import Context
    from gpu_lol_action.handlers.ports import Progress, Vault
    from gpu_lol_action.render.screen import Screen


@contextmanager
def terminal(folder: Path, progress: Progress, show: Callable[[str], None]) -> Iterator[Context]:
    """Yield the context of a terminal: a checkout for GitHub, a folder for the ledger, the user's own cloud key."""
    from gpu_lol_action.adapters import local_forge
    from gpu_lol_action.adapters.ledger import RecordLedger
    from gpu_lol_action.adapters.ledger_files import FileStore
    from gpu_lol_action.adapters.measured_book import StoredMeasuredRuns
    from gpu_lol_action.adapters.report_files import FolderReports
    from gpu_lol_action.adapters.smoke_book import StoredSmokeBook
    from gpu_lol_action.handlers.context import Context, Settings

    user_home = Path.home()
    forge = local_forge.LocalForge.at_root(folder, show, home=user_home, environment=os.environ)
    repository = forge.repository()
    cloud_keys = _own_keys()
    settings = Settings(
        door=Door.TERMINAL,
        run_id=local_forge.this_run(),
        run_url=None,
        server_url="https://github.com",
        clouds=tuple(cloud_keys),
        is_rehearsal=any(name in os.environ for name in REHEARSAL_VARIABLES),
        template_pattern=_template_pattern(),
    )
    with private_home("") as home:
        hands = Hands(repository.repository_id, cloud_keys, os.environ, home)
        with hands.closing:
            yield Context(
                forge=forge,
                ledger=RecordLedger(FileStore(state_folder("ledger", repository.full_name))),
                clock=SystemClock(),
                progress=progress,
                cloud=hands.cloud,
                shell=hands.shell,
                redact=redactor(list(cloud_keys.values())),
                settings=settings,
                lookups=Lookups(prices=terminal_prices()),
                vault=lambda: _file_vault(state_folder("rescues", repository.full_name), hands),
                market=market_of(cloud_keys, os.environ),
                another_cloud=hands.another_cloud,
                reports=FolderReports(state_folder("reports", repository.full_name)),
                smoke_book=lambda: StoredSmokeBook(FileStore(state_folder("smoke", repository.full_name))),
                measured=lambda: StoredMeasuredRuns(FileStore(state_folder("measured", repository.full_name))),
            )


def own_policy(context: Context) -> Policy:
    """Return what holds in a terminal: the limits of a repository's policy are its bot's, but the projects lie where it says."""
    from gpu_lol_action.domain.policy import POLICY_PATH, Policy
    from gpu_lol_action.domain.policy_yaml import parse_policy

    try:
        folders = parse_policy(context.forge.read_file(POLICY_PATH, "HEAD")).project_folders
    except SpecError as error:
        # What ends a machine must work whatever stands there; who rents one is told what was left out.
        context.progress.warn(f"where projects lie was not read of the policy: {error.explanation.what}")
        folders = ()
    except GpuLolError:
        folders = ()
    return Policy(requires_recent_sweep=False, project_folders=folders)


def about_here(command: Command, policy: Policy, folder: Path) -> Command:
    """Return the command about the named project in whose folder somebody stands, where it names none itself."""
    from gpu_lol_action.analysis.files.located import standing_in
    from gpu_lol_action.domain.folders import folder_of

    if command.project or not policy.project_folders:
        return command
    return replace(command, project=folder_of(standing_in(folder)[1], policy.project_folders))


def _file_vault(folder: Path, hands: Hands) -> Vault:
    from gpu_lol_action.adapters.vault_files import FileVault

    return FileVault(folder, *hands.key_pair())


def analyze_folder(command: Command, screen: Screen) -> str:
    """Return what ``gpu-lol analyze PATH`` prints, in the format that was asked for."""
    from gpu_lol_action.analysis.files.located import project_asked
    from gpu_lol_action.handlers.analyze import Printing, describe_folder

    folder = Path(command.path or ".")
    root, project = project_asked(folder, command.project, is_inside=command.path is None)
    if project:
        folder = root
    printing = Printing(command.output_format, screen, command.is_verbose, command.lease)
    clock, lookups = SystemClock(), terminal_lookups(command)
    if command.base is None:
        return describe_folder(folder, printing, clock.now(), None, lookups, project)
    from gpu_lol_action.adapters.local_forge import LocalForge

    forge = LocalForge(folder, lambda _body: None, home=Path.home(), environment=os.environ)
    sha = forge.resolve(command.base)
    with forge.tree(sha) as base:
        return describe_folder(folder, printing, clock.now(), (sha, base), lookups, project)


def initialize(command: Command, folder: Path) -> Outcome:
    """Set gpu-lol up in a checkout, as ``gpu-lol init`` was asked to."""
    from gpu_lol_action import __version__
    from gpu_lol_action.adapters.github_public import PublicGitHub
    from gpu_lol_action.adapters.local_forge import LocalForge
    from gpu_lol_action.domain.installation import Pin, Wish
    from gpu_lol_action.handlers.init import Installation, handle_init

    forge = LocalForge.at_root(folder, lambda _body: None, home=Path.home(), environment=os.environ)
    root, facts = forge.survey()
    look = PublicGitHub(SystemClock().now, terminal_api_url(), terminal_token())
    is_public = True if command.is_public else False if command.is_private else None
    cloud = command.cloud or "runpod"
    model = (command.llm_url, command.llm_model)
    wish = Wish(command.level, is_public, command.has_forks, cloud, command.is_forced, *model)
    pin = command.pin
    find_pin = partial(look.pin, __version__) if pin is None else lambda: Pin(pin)
    return handle_init(Installation(root, facts, wish, look.visibility, find_pin, command.is_dry_run))


def estimate(command: Command) -> str:
    """Return what ``gpu-lol estimate`` prints of one run."""
    from gpu_lol_action.handlers.estimate import describe_estimate

    return describe_estimate(command, SystemClock().now())


def offers(command: Command) -> Outcome:
    """Return what ``gpu-lol offers`` prints."""
    from gpu_lol_action.handlers.offers import describe_offers

    market = market_of(_own_keys(), os.environ)
    return describe_offers(command, Path.cwd(), Lookups(prices=terminal_prices()), market, SystemClock().now)


def templates(command: Command) -> Outcome:
    """Return what ``gpu-lol templates`` prints."""
    from gpu_lol_action.handlers.templates import describe_templates

    return describe_templates(command, market_of(_own_keys(), os.environ)(), _template_pattern())


def _template_pattern() -> str:
    return os.environ.get("GPU_LOL_TEMPLATE_PATTERN", "").strip()


def _own_keys() -> dict[str, str]:
    """Return the cloud keys of whoever sits at this terminal."""
    names = {"runpod-api-key": "RUNPOD_API_KEY", "lambda-api-key": "LAMBDA_API_KEY"}
    return cloud_keys_of({name: os.environ.get(variable, "") for name, variable in names.items()})


def user() -> str:
    """Return who sits at this terminal."""
    return getpass.getuser()
