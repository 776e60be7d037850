"""The keys of `.github/gpu-lol.yml`: one row for the reader, the JSON Schema, `policy --explain` and docs/policy.md."""

from __future__ import annotations

import enum

from gpu_lol_action.domain.policy import Policy
from gpu_lol_action.domain.records import record

ROLES = ("read", "triage", "write", "maintain", "admin")
CLOUDS = ("runpod", "lambda", "vast", "aws", "gcp", "azure", "nebius")
MAX_USD = 100_000
MAX_COUNT = 1000
MAX_HOURS = 30 * 24
MIN_HOURS = 0.01
MAX_NAMES = 100
MAX_FOLDERS = 50
MAX_TEAMS = 5  # each may cost a request for each command
SCHEMA_URL = "https://raw.githubusercontent.com/gpu-lol/gpu-lol-action/main/docs/gpu-lol-policy.schema.json"


class Kind(enum.Enum):
    """How a value is read; the words are those of docs/policy.md."""

    SWITCH = "true or false"
    USD = "US dollars"
    DURATION = "duration"
    COUNT = "number"
    ROLES = "list of roles"
    CLOUDS = "list of clouds"
    USERS = "list of logins"
    TEAMS = "list of team slugs"
    IMAGES = "list of image patterns"
    MODE = "word"
    DETAILS = "plain or encrypted"
    LABEL = "name of a label"
    FOLDERS = "list of folders"


@record(frozen=True, slots=True)
class Key:
    """One key: its dotted name in the file, the field of Policy that it sets (dotted too), and what it means."""

    name: str
    field: str
    kind: Kind
    meaning: str

    def value(self, policy: Policy) -> object:
        """Return what this key says in a policy."""
        value: object = policy
        for part in self.field.split("."):
            value = getattr(value, part)
        return value


KEYS: tuple[Key, ...] = (
    Key("enabled", "is_enabled", Kind.SWITCH, "`false` stops everything but `down` and `help`; what runs is still swept"),
    Key("roles", "roles", Kind.ROLES, f"who may command, as GitHub's roles: {', '.join(ROLES)}"),
    Key("users", "users", Kind.USERS, "who may command besides, by login, whatever their role is"),
    Key("teams", "teams", Kind.TEAMS,
        "who may command besides, by team of the owning organization; needs a token that may read its members"),
    Key("clouds", "clouds", Kind.CLOUDS, f"where machines are looked for: {', '.join(CLOUDS)}"),
    Key("images", "images", Kind.IMAGES, "the only container images that may run; none named allows all"),
    Key("limits.price_usd_per_hour", "max_price_usd_per_hour", Kind.USD, "the dearest machine that may be rented"),
    Key("limits.confirm_above_usd_per_hour", "confirm_above_usd_per_hour", Kind.USD,
        "above this, a second person must confirm"),
    Key("limits.environments_per_person", "environments_per_person", Kind.COUNT,
        "machines that one person may hold at a time"),
    Key("limits.environments_per_repository", "environments_per_repository", Kind.COUNT,
        "machines that all together may hold"),
    Key("limits.offers_tried", "max_offers_tried", Kind.COUNT, "offers that one `up` asks for before it gives up"),
    Key("confirm.roles", "confirm_roles", Kind.ROLES, "who may confirm another person's `up`"),
    Key("confirm.within", "confirm_within", Kind.DURATION, "how long after the `up` it can be confirmed"),
    Key("lease.default", "lease", Kind.DURATION, "how long a machine lives when `--hours` is not given"),
    Key("lease.max", "max_lease", Kind.DURATION, "the longest lease that may be asked for"),
    Key("lease.min", "min_lease", Kind.DURATION, "the shortest"),
    Key("lease.idle", "idle_end", Kind.DURATION,
        "how long a machine may stand unused (nobody logged in, no GPU at work) before a sweep ends it; where work would be "
        "lost, its requester is warned half an hour before"),
    Key("budget.month_usd", "month_usd", Kind.USD,
        "what this month's bills, running machines and the worst case of the next may come to"),
    Key("timeouts.provision", "timeouts.provision", Kind.DURATION, "how long one offer may take to give a machine"),
    Key("timeouts.setup", "timeouts.setup", Kind.DURATION, "how long installing may take"),
    Key("timeouts.validate", "timeouts.validate", Kind.DURATION, "how long the checks may take"),
    Key("timeouts.run", "timeouts.run", Kind.DURATION, "how long a command of `run` may take"),
    Key("timeouts.wait", "timeouts.wait", Kind.DURATION,
        "how long `up --wait` may go on asking for a machine; a job that waits takes a runner's minutes, and no machine's"),
    Key("ssh_details", "ssh_details", Kind.DETAILS,
        "how an address is posted: `plain`, or `encrypted` with age to the SSH keys of those who may log in: "
        "[machines.md](machines.md#who-sees-the-address)"),
    Key("proposal.mode", "proposal_mode", Kind.MODE,
        "where the spec goes besides the comment: `comment` (nowhere), `suggest` (a suggestion in the review, where the file "
        "is in the diff) or `commit` (a commit on the pull request's branch): [proposals.md](proposals.md)"),
    Key("proposal.least_percent", "least_change_percent", Kind.COUNT,
        "by how many percent a run's memory must differ from the base, up or down, before a pull request without a proposal "
        "gets one; a difference in card or price always does"),
    Key("proposal.environment", "says_environment", Kind.SWITCH,
        "whether another image, CUDA, Python or package alone is worth a proposal"),
    Key("analysis.folders", "project_folders", Kind.FOLDERS,
        "the folders of a repository's projects: proposals and machines are for the first that a pull request changes or one that "
        "a command names, a schedule tests them all ([projects.md](projects.md)); with none named the only project is looked for"),
    Key("analysis.hub", "asks_hub", Kind.SWITCH,
        "whether sizes of models are looked up on the Hugging Face Hub: [hub-and-llm.md](hub-and-llm.md)"),
    Key("analysis.llm_for_forks", "may_forks_ask_llm", Kind.SWITCH,
        "whether the language model, where one is set up, is asked about forks' pull requests too"),
    Key("forks.may_launch", "may_forks_launch", Kind.SWITCH,
        "whether a fork's pull request may rent a machine of yours; each `up` must then name its commit in full"),
    Key("smoke.retry_within", "smoke_retry_within", Kind.DURATION,
        "how long a scheduled smoke test that found no machine is tried again, every ten minutes"),
    Key("smoke.forks", "may_forks_smoke", Kind.SWITCH,
        "whether those who may confirm (`confirm.roles`) may run it on a fork's commit, which they name in full"),
    Key("smoke.label", "smoke_label", Kind.LABEL,
        "a label with which the same people start it on a fork's head as they see it: [smoke.md](smoke.md#by-a-label); "
        "none where it is empty"),
    Key("sweep.required", "requires_recent_sweep", Kind.SWITCH,
        "whether `up` refuses when the last successful sweep is more than 26 hours old"),
    Key("validation.teardown_on_failure", "is_teardown_on_failed_validation", Kind.SWITCH,
        "whether a machine that failed a check is ended at once"),
)  # fmt: skip

TOP: tuple[str, ...] = tuple(dict.fromkeys(key.name.partition(".")[0] for key in KEYS))
"""The keys of the first level, in the table's order: values and sections."""


def section(name: str) -> tuple[Key, ...]:
    """Return the keys of a section; none where the name is a value's own."""
    return tuple(key for key in KEYS if key.name.startswith(f"{name}."))


def find_key(name: str) -> Key | None:
    """Return the row of a dotted name."""
    return next((key for key in KEYS if key.name == name), None)
