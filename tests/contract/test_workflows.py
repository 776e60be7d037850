"""Our workflows fit each other, the action they call, and the rules of the house."""

from __future__ import annotations

import re
from datetime import timedelta
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import yaml

from gpu_lol_action.domain.permissions import BOT, LEVELS, PROPOSE
from gpu_lol_action.domain.policy import Policy
from gpu_lol_action.handlers.wait import TEARDOWN_MARGIN

ROOT = Path(__file__).parents[2]
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
REUSABLE = ("bot", "propose")
USED = {"bot": BOT, "propose": PROPOSE}


@cache
def load(name: str) -> dict[Any, Any]:
    """Return a workflow. YAML 1.1 reads the key `on` as true."""
    return yaml.safe_load((ROOT / ".github" / "workflows" / f"{name}.yml").read_text())


def called(job: dict[str, Any]) -> str | None:
    """Return which of our reusable workflows a job calls."""
    match = re.search(r"/\.github/workflows/(\w+)\.yml(?:@|$)", job.get("uses", ""))
    return match.group(1) if match and match.group(1) in REUSABLE else None


def callers() -> list[tuple[str, dict[str, Any], str]]:
    """Return where, job and callee of each call of ours: in the workflow that we use ourselves, and in the README."""
    texts = {"gpu-lol.yml": (ROOT / ".github" / "workflows" / "gpu-lol.yml").read_text()}
    readme = ROOT / "README.md"
    if readme.is_file():
        blocks = re.findall(r"^```ya?ml\n(.*?)^```", readme.read_text(), flags=re.DOTALL | re.MULTILINE)
        texts |= {f"README.md, block {number}": block for number, block in enumerate(blocks, 1) if "\njobs:" in block}
    return [
        (where, job, callee)
        for where, text in texts.items()
        for job in yaml.safe_load(text)["jobs"].values()
        if (callee := called(job))
    ]


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_workflow_grants_nothing_at_the_top_and_boxes_each_job(path: Path) -> None:
    workflow = load(path.stem)
    is_called = path.stem in REUSABLE
    # A called workflow can only take away: what its jobs leave open, the caller's grant bounds.
    assert workflow.get("permissions", "absent") == ("absent" if is_called else {})
    for name, job in workflow["jobs"].items():
        assert is_called or job["permissions"], f"{name} says what it needs"
        if "uses" not in job:
            # A scheduled test is tried again for an hour; nothing else has so long.
            boxes = re.findall(r"\d+", str(job["timeout-minutes"]).replace("lane == 'smoke' && 240", "lane"))
            assert boxes, name
            assert all(0 < int(box) <= 120 for box in boxes), name


def test_job_that_may_wait_for_a_machine_is_told_how_long_it_may_take() -> None:
    job = load("bot")["jobs"]["act"]
    (step,) = (step for step in job["steps"] if step.get("id") == "act")
    minutes = int(step["with"]["job-minutes"])
    assert str(job["timeout-minutes"]) == f"${{{{ needs.decide.outputs.lane == 'smoke' && 240 || {minutes} }}}}"
    times = Policy().timeouts
    needed = times.wait + times.provision + times.setup + times.validate + TEARDOWN_MARGIN
    assert needed <= timedelta(minutes=minutes), "the default wait is not cut short by the job"


@pytest.mark.parametrize("name", REUSABLE)
def test_called_workflow_is_only_ever_called(name: str) -> None:
    """Its jobs take the caller's permissions: started by an event itself it would take the repository's default."""
    assert set(load(name)[True]) == {"workflow_call"}


def test_jobs_of_the_bot_ask_for_what_every_caller_must_grant_and_never_for_more() -> None:
    required = {each.name: each.level for each in BOT if not each.is_optional}
    jobs = load("bot")["jobs"]
    assert jobs["decide"]["permissions"] == required
    assert "permissions" not in jobs["act"]
    assert "permissions" not in jobs["finish"]
    assert "permissions" not in load("propose")["jobs"]["propose"]


def test_job_that_reads_comments_holds_no_cloud_key() -> None:
    jobs = load("bot")["jobs"]
    assert "secrets." not in yaml.safe_dump(jobs["decide"])
    assert {name for name, job in jobs.items() if "secrets." in yaml.safe_dump(job)} == {"act", "finish"}
    for name in ("act", "finish"):
        secrets = set(re.findall(r"secrets\.(\w+)", yaml.safe_dump(jobs[name])))
        assert secrets == set(load("bot")[True]["workflow_call"]["secrets"]), "each by its name, and all of them"
    assert "secrets: inherit" not in "".join(path.read_text() for path in WORKFLOWS)


def test_keys_are_reached_only_when_the_job_before_says_so() -> None:
    jobs = load("bot")["jobs"]
    assert jobs["act"]["needs"] == "decide"
    assert "needs.decide.outputs.needs_cloud == 'true'" in jobs["act"]["if"]
    assert "always()" not in jobs["act"]["if"]
    assert jobs["finish"]["needs"] == ["decide", "act"]
    assert jobs["finish"]["if"].split("&&")[0].strip(" ${\n") == "always()"


@pytest.mark.parametrize(
    ("decide", "needs_cloud", "act", "runs"),
    [
        ("skipped", "", "skipped", False),  # ordinary conversation
        ("success", "false", "skipped", False),  # answered without a machine
        ("failure", "false", "skipped", False),  # refused, and said
        ("success", "true", "success", False),
        ("success", "true", "failure", True),
        ("success", "true", "cancelled", True),  # by a person, by the time limit, or thrown out of its queue
        ("failure", "", "skipped", True),  # the light step died
        ("cancelled", "", "skipped", True),
    ],
)
def test_finish_runs_where_a_job_died(decide: str, needs_cloud: str, act: str, *, runs: bool) -> None:
    facts = {
        "needs.decide.result": decide,
        "needs.decide.outputs.needs_cloud": needs_cloud,
        "needs.act.result": act,
    }
    expression = load("bot")["jobs"]["finish"]["if"].strip().removeprefix("${{").removesuffix("}}")
    assert evaluate(expression, facts) is runs


@pytest.mark.parametrize(
    ("event", "action", "sender", "home", "decides", "proposes"),
    [
        ("pull_request_target", "labeled", "user", "fork", True, False),
        ("pull_request_target", "labeled", "user", "", True, False),  # the fork was deleted: the action refuses it
        ("pull_request_target", "labeled", "user", "base", False, False),
        ("pull_request_target", "labeled", "bot", "fork", False, False),
        ("pull_request", "labeled", "user", "fork", False, False),
        ("pull_request_target", "closed", "bot", "base", True, False),
        ("pull_request_target", "synchronize", "user", "fork", False, True),
        ("schedule", "", "", "", True, True),
    ],
)
def test_label_starts_the_bot_on_forks_alone_and_no_proposal(
    event: str, action: str, sender: str, home: str, *, decides: bool, proposes: bool
) -> None:
    facts = {
        "contains(github.event.comment.body, '/gpu-lol')": "",
        "github.event.pull_request.head.repo.full_name": home,
        "github.event.issue.pull_request": "",
        "github.event.comment.user.type": "",
        "!github.event.pull_request.draft": "ready",
        "github.event.sender.type": sender,
        "github.event_name": event,
        "github.event.action": action,
        "github.repository": "base",
        "'User'": "user",
        "'Bot'": "bot",
    }
    for name, job, expected in (("bot", "decide", decides), ("propose", "propose", proposes)):
        expression = load(name)["jobs"][job]["if"].strip().removeprefix("${{").removesuffix("}}")
        assert evaluate(expression, facts) is expected


@pytest.mark.parametrize(
    ("event", "action", "jobs"),
    [
        ("pull_request_target", "labeled", {"bot"}),
        ("pull_request_target", "closed", {"bot"}),
        ("pull_request_target", "opened", {"propose"}),
        ("issue_comment", "created", {"bot"}),
        ("schedule", "", {"bot"}),
    ],
)
def test_each_event_of_our_own_workflow_has_one_job(event: str, action: str, jobs: set[str]) -> None:
    facts = {"github.event_name": event, "github.event.action": action}
    own = load("gpu-lol")["jobs"]
    conditions = {name: job["if"].strip().removeprefix("${{").removesuffix("}}") for name, job in own.items()}
    assert {name for name, condition in conditions.items() if evaluate(condition, facts)} == jobs


def evaluate(expression: str, facts: dict[str, str]) -> bool:
    """Evaluate the few words of GitHub's expressions that stand there; another one is an error here."""
    python = expression.replace("always()", "True").replace("&&", " and ").replace("||", " or ")
    for name, value in facts.items():
        python = python.replace(name, repr(value))
    assert re.fullmatch(r"(?:[\s()]|and|or|True|==|!=|'[a-z_]*')+", python), python
    return bool(eval(" ".join(python.split())))  # noqa: S307  only the words that the line above lets through


def test_commands_queue_by_pull_request_behind_the_job_that_reads_them() -> None:
    jobs = load("bot")["jobs"]
    assert "concurrency" not in jobs["decide"], (
        "a tombstone must reach a launch in flight, and no comment throws one out"
    )
    assert "concurrency" not in jobs["finish"], "it is there for those who were thrown out"
    group = jobs["act"]["concurrency"]["group"]
    assert "github.event.issue.number" in group
    assert group.endswith("-${{ needs.decide.outputs.lane }}"), "what only ends never stands behind what rents"
    assert jobs["act"]["concurrency"]["cancel-in-progress"] is False


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_third_party_action_is_pinned_by_commit_with_its_version(path: Path) -> None:
    for line in re.findall(r"uses: (\S.*)", path.read_text()):
        if not line.startswith(("./", "$/")):
            assert re.fullmatch(r"[\w./-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+", line), line


def test_each_action_has_one_pin() -> None:
    pins: dict[str, set[str]] = {}
    for path in WORKFLOWS:
        for action, pin in re.findall(r"uses: ([\w./-]+)@([0-9a-f]{40} # v\S+)", path.read_text()):
            pins.setdefault(action, set()).add(pin)
    assert len(pins) >= 3
    assert {action: found for action, found in pins.items() if len(found) > 1} == {}


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_no_event_text_reaches_a_shell(path: Path) -> None:
    for job in load(path.stem)["jobs"].values():
        for step in job.get("steps", []):
            assert "${{" not in step.get("run", ""), step


@pytest.mark.parametrize(("name", "job"), [(name, job) for name in REUSABLE for job in load(name)["jobs"]])
def test_reusable_workflow_runs_only_the_action_of_its_own_commit(name: str, job: str) -> None:
    refuse, fetch, act, *kept = load(name)["jobs"][job]["steps"]
    assert refuse["if"] == "${{ !job.workflow_repository || !job.workflow_sha }}"
    assert refuse["run"].rstrip().endswith("exit 1")
    assert fetch["with"]["repository"] == "${{ job.workflow_repository }}"
    assert fetch["with"]["ref"] == "${{ job.workflow_sha }}"
    assert fetch["with"]["persist-credentials"] is False
    assert act["uses"] == f"./{fetch['with']['path']}"
    # What comes after it is GitHub's own upload, which is given a folder and no secret.
    assert [step["uses"].partition("@")[0] for step in kept] == (["actions/upload-artifact"] if job == "act" else [])
    for step in kept:
        assert "secrets." not in str(step)
        assert "env" not in step
        assert step["continue-on-error"] is True
        assert step["with"]["path"] == "${{ steps.act.outputs.report_path }}"


@pytest.mark.parametrize(("name", "job"), [(name, job) for name in REUSABLE for job in load(name)["jobs"]])
def test_reusable_workflow_passes_inputs_that_the_action_has(name: str, job: str) -> None:
    action = yaml.safe_load((ROOT / "action.yml").read_text())
    called = load(name)["jobs"][job]
    act = called["steps"][2]
    assert set(act["with"]) <= set(action["inputs"])
    assert "github-token" in act["with"]
    for value in called.get("outputs", {}).values():
        step, output = re.fullmatch(r"\$\{\{ steps\.(\w+)\.outputs\.(\w+) \}\}", value).groups()
        assert step == act["id"]
        assert output in action["outputs"]


def test_jobs_of_the_bot_hand_on_what_the_job_before_has() -> None:
    jobs = load("bot")["jobs"]
    used = set(re.findall(r"needs\.(\w+)\.outputs\.(\w+)", (ROOT / ".github/workflows/bot.yml").read_text()))
    assert used == {(job, output) for job in ("decide", "act") for output in jobs[job]["outputs"]}
    assert {job: jobs[job]["steps"][2]["with"]["phase"] for job in jobs} == {job: job for job in jobs}


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_nothing_of_a_pull_request_is_fetched_where_a_token_can_write(path: Path) -> None:
    """CI runs a pull request's code, with a token that only reads and no secret; nothing else fetches one's head."""
    # Where the head lies may be asked, to start no job in vain; what it is may not.
    text = path.read_text().replace("github.event.pull_request.head.repo.full_name != github.repository", "")
    assert not re.search(
        r"github\.(head_ref|event\.pull_request\.head|event\.workflow_run)|refs/pull|gh pr checkout", text
    )
    if path.stem in {*REUSABLE, "gpu-lol"}:
        for step in steps_of(yaml.safe_load(text)):
            assert not step.get("uses", "").startswith("actions/checkout") or "job.workflow_sha" in step["with"]["ref"]
            assert not re.search(r"\b(git|gh|curl|wget|pip|python)\b", step.get("run", "")), step


def steps_of(workflow: dict[Any, Any]) -> list[dict[str, Any]]:
    """Return every step of every job."""
    return [step for job in workflow["jobs"].values() for step in job.get("steps", [])]


def test_the_workflow_without_a_secret_names_none() -> None:
    assert "secrets." not in (ROOT / ".github" / "workflows" / "propose.yml").read_text()


@pytest.mark.docs
@pytest.mark.parametrize(("level", "most"), [(1, 12), (2, 30)])
def test_level_is_short(level: int, most: int) -> None:
    blocks = readme_blocks()
    assert len(blocks[level - 1].splitlines()) <= most
    assert ("secrets" in blocks[level - 1]) == (level == 2), "level 1 needs no secret, level 2 one"
    assert len(set(re.findall(r"secrets\.(\w+)", blocks[level - 1]))) == level - 1


@pytest.mark.docs
def test_readme_runs_nothing_of_a_pull_request() -> None:
    blocks = readme_blocks()
    assert len(blocks) >= 3
    for block in blocks:
        workflow = yaml.safe_load(block)
        assert "${{ github.event" not in block
        for step in steps_of(workflow):
            assert "run" not in step
            assert step["uses"].startswith("gpu-lol/gpu-lol-action@"), "and fetches nothing"
        triggers = workflow.get(True, {})
        if "pull_request_target" in triggers or "issue_comment" in triggers:
            assert workflow["permissions"] == {}
            assert all(called(job) for job in workflow["jobs"].values())


@pytest.mark.docs
def test_the_job_of_an_app_needs_no_other_token_and_ends_before_its_token_does() -> None:
    """docs/github.md: an app's token lives an hour, and what it is passed are inputs that the action has."""
    text = (ROOT / "docs" / "github.md").read_text()
    (block,) = re.findall(r"^```yaml\n(.*?)^```", text, flags=re.DOTALL | re.MULTILINE)
    workflow = yaml.safe_load(block)
    (job,) = workflow["jobs"].values()
    inputs = yaml.safe_load((ROOT / "action.yml").read_text())["inputs"]
    ours = [step for step in job["steps"] if step["uses"].startswith("gpu-lol/")]
    assert workflow["permissions"] == {}
    assert job["timeout-minutes"] < 60
    assert [step.get("if") for step in ours] == [None, "always()"]
    for step in ours:
        assert set(step["with"]) <= set(inputs)
        assert step["with"]["github-token"] == "${{ steps.app.outputs.token }}"
    for line in re.findall(r"uses: (\S.*)", block):
        assert line.startswith("gpu-lol/") or re.fullmatch(r"[\w./-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+", line), line


def readme_blocks() -> list[str]:
    """Return the workflows that the README shows."""
    text = (ROOT / "README.md").read_text()
    blocks = re.findall(r"^```ya?ml\n(.*?)^```", text, flags=re.DOTALL | re.MULTILINE)
    return [block for block in blocks if "jobs:" in block]


def test_callers_are_found() -> None:
    assert {callee for where, _, callee in callers() if where == "gpu-lol.yml"} == set(REUSABLE)


@pytest.mark.docs
@pytest.mark.parametrize(("where", "job", "callee"), callers())
def test_caller_grants_what_the_called_jobs_ask_for(where: str, job: dict[str, Any], callee: str) -> None:
    """A called job that asks for a permission that its caller lacks fails the whole run at start-up."""
    known = {each.name: each for each in USED[callee]}
    granted = job["permissions"]
    for name, wanted in load(callee)["jobs"].items():
        for permission, level in wanted.get("permissions", {}).items():
            assert LEVELS.index(granted.get(permission, "none")) >= LEVELS.index(level), (
                f"{where}: {callee}.{name} asks for {permission}: {level}"
            )
    for permission in known.values():
        assert permission.is_optional or granted.get(permission.name) == permission.level, f"{where}: {permission.line}"
    for name, level in granted.items():
        assert name in known, f"{where} grants {callee} {name}, which it does not use"
        assert known[name].level == level, f"{where} grants {callee} {name}: {level}"


@pytest.mark.docs
@pytest.mark.parametrize(("where", "job", "callee"), callers())
def test_caller_passes_what_the_called_workflow_takes(where: str, job: dict[str, Any], callee: str) -> None:
    takes = load(callee)[True]["workflow_call"] or {}  # a called workflow may take nothing
    assert set(job.get("with", {})) <= set(takes.get("inputs", {})), where
    assert set(job.get("secrets", {})) <= set(takes.get("secrets", {})), where
