"""What is known of a repository that gpu-lol is being set up in, and what its workflows are to be."""

from __future__ import annotations

import hashlib
from dataclasses import field

from gpu_lol_action.domain.lookup import is_copilot
from gpu_lol_action.domain.records import record

SOURCE = "gpu-lol/gpu-lol-action"
FOLDER = ".github/workflows"
PROPOSING, COMMANDING = f"{FOLDER}/gpu-lol.yml", f"{FOLDER}/gpu-lol-bot.yml"
MODEL_KEY = "LLM_KEY"
"""The secret with the key of a language model's endpoint; one that wants none gets an empty text."""
SECRETS = {"runpod": "RUNPOD_API_KEY", "lambda": "LAMBDA_API_KEY"}


@record(frozen=True, slots=True)
class CheckoutFacts:
    """A checkout: ``workflows`` maps each workflow's path to its text; ``is_public`` and the rest None where unknown."""

    full_name: str
    host: str = "github.com"
    default_branch: str | None = None
    workflows: dict[str, str] = field(default_factory=dict)
    is_public: bool | None = None
    has_forks: bool | None = None


@record(frozen=True, slots=True)
class ModelEndpoint:
    """A language model that may correct proposals: the address of an endpoint like OpenAI's, and the model's name there.

    Or ``copilot`` for an address; then ``model`` may be empty, which leaves the choice to Copilot.
    """

    url: str
    model: str

    @property
    def is_copilot(self) -> bool:
        """Whether GitHub Copilot is asked, which needs no secret."""
        return is_copilot(self.url)


@record(frozen=True, slots=True)
class Wish:
    """What whoever sets it up asked for; None where that was left to us."""

    level: int = 1
    is_public: bool | None = None
    has_forks: bool = False
    cloud: str = "runpod"
    may_overwrite: bool = False
    llm_url: str | None = None
    llm_model: str | None = None


@record(frozen=True, slots=True)
class Pin:
    """The commit or tag of gpu-lol that a workflow calls; ``version`` is written beside a commit."""

    ref: str
    version: str = ""

    @property
    def is_commit(self) -> bool:
        """Whether nobody can make it mean something else later."""
        return len(self.ref) == 40


@record(frozen=True, slots=True)
class WorkflowChoice:
    """How the workflows of one repository are written. ``takes_forks``: by `pull_request_target`, as data.

    ``model`` may correct proposals, which then a job with its key makes, in place of the reusable workflow that has no secret.
    """

    pin: Pin
    takes_forks: bool
    cloud: str
    minute: int
    model: ModelEndpoint | None = None


def sweep_minute(full_name: str) -> int:
    """Return an odd minute from 7 to 53 that is always the same for a repository.

    GitHub starts schedules late when many ask for the same minute, and full hours are asked for most.
    """
    digest = hashlib.sha256(full_name.lower().encode()).digest()
    return 7 + 2 * (int.from_bytes(digest[:4], "big") % 24)
