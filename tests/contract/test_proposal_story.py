"""The proposal on the stand-in over HTTP: one comment whatever races, requests counted, and everything shown beside it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest

from gpu_lol_action.adapters.github import Connection
from gpu_lol_action.adapters.github_forge import GitHubForge, Hands
from gpu_lol_action.adapters.ledger import RecordLedger
from gpu_lol_action.adapters.ledger_refs import GitRefStore
from gpu_lol_action.adapters.measured_book import FOLDER as MEASURED
from gpu_lol_action.adapters.measured_book import StoredMeasuredRuns
from gpu_lol_action.adapters.proposal_notes import FOLDER
from gpu_lol_action.domain.corrections import Correction
from gpu_lol_action.domain.environment import Requester
from gpu_lol_action.domain.measured import MeasuredRun
from gpu_lol_action.domain.policy import POLICY_PATH, Policy
from gpu_lol_action.domain.policy_yaml import parse_policy
from gpu_lol_action.domain.redaction import redact
from gpu_lol_action.domain.request import Command, Outcome, PullRequestChanged
from gpu_lol_action.errors import Door, SpecError, UserError
from gpu_lol_action.handlers.chosen_project import settled
from gpu_lol_action.handlers.context import Context, Order, Settings
from gpu_lol_action.handlers.correct import asked_for, handle_mute, handle_set
from gpu_lol_action.handlers.ports_surfaces import Notes
from gpu_lol_action.handlers.propose import Occasion, handle_propose
from gpu_lol_action.handlers.propose_spec import TRAILER
from gpu_lol_action.handlers.reading import read_commit
from gpu_lol_action.intake.events import parse_event
from gpu_lol_action.rehearsal.github import Hub
from gpu_lol_action.rehearsal.github_changes import follow_branch
from gpu_lol_action.rehearsal.github_events import Webhook
from gpu_lol_action.rehearsal.github_setting import BOT, BOT_PERMISSIONS
from gpu_lol_action.wiring.github import focus_of, policy_ref, surfaces_of
from tests.contract.github_setup import TickingClock
from tests.support.hands import QuietProgress

TRAIN = (
    'from transformers import AutoModelForCausalLM\nmodel = AutoModelForCausalLM.from_pretrained("Qwen/Qwen2.5-{}")\n'
)
BASE = {"README.md": "# Lab\n", "train.py": TRAIN.format("7B"), "requirements.txt": "torch\ntransformers\n"}


def no_cloud() -> Any:
    raise AssertionError("a proposal needs no cloud")


@dataclass
class Lab:
    """A repository with one pull request, and the bot's runs on it."""

    hub: Hub
    clock: TickingClock
    opened: Webhook
    policy: Policy = field(default_factory=Policy)
    progress: QuietProgress = field(default_factory=QuietProgress)
    run_id: int = 1000
    until_end: ExitStack = field(default_factory=ExitStack)

    @property
    def number(self) -> int:
        number: int = self.opened.payload["number"]
        return number

    def context(
        self,
        token: str | None = None,
        *,
        run_id: int | None = None,
        attempt: str = "1",
        event: Webhook | None = None,
        is_change: bool = True,
    ) -> Context:
        if run_id is None:
            self.run_id = run_id = self.run_id + 1
        hub = self.hub
        connection = Connection(token or hub.bot_token, hub.setting.full_name, hub.api_url)
        happened = parse_event("pull_request_target", (event or self.opened).payload)
        assert isinstance(happened, PullRequestChanged)
        focus = focus_of(happened) if is_change else None
        hands = Hands(self.clock.now, self.clock.sleep, self.progress.line)
        forge = GitHubForge(connection, hands, repository=happened.repository, focus=focus)
        self.until_end.callback(forge.close)
        return Context(
            forge=forge,
            ledger=RecordLedger(GitRefStore(forge.client, refs=forge.refs)),
            clock=self.clock,
            progress=self.progress,
            cloud=no_cloud,
            shell=no_cloud,
            redact=redact,
            settings=Settings(
                Door.JOB, str(run_id), f"{hub.web_url}/actions/runs/{run_id}", hub.web_url, (), run_attempt=attempt
            ),
            surfaces=surfaces_of(forge),
            measured=lambda: StoredMeasuredRuns(GitRefStore(forge.client, MEASURED, forge.refs)),
        )

    def propose(self, event: Webhook | None = None, context: Context | None = None) -> str:
        return self.outcome(event, context).reason_code

    def outcome(self, event: Webhook | None = None, context: Context | None = None) -> Outcome:
        context = context or self.context(event=event)
        happened = parse_event("pull_request_target", (event or self.opened).payload)
        assert isinstance(happened, PullRequestChanged)

        def load() -> Policy:
            found = parse_policy(context.forge.read_file(POLICY_PATH, policy_ref(happened.repository)))
            return replace(found, proposal_mode=self.policy.proposal_mode)

        return handle_propose(context, Occasion(happened.repository, happened.pull_request, load))

    def order(self, line: str, **changes: Any) -> Order:
        forge = self.context(is_change=False).forge
        command = Command(line.split()[1], line, **changes)
        return Order(command, Requester("ada", 7), forge.repository(), forge.pull_request(self.number), self.policy, 5)

    @property
    def texts(self) -> list[str]:
        return [comment.body for comment in self.hub.comments(self.number, BOT)]

    @property
    def checks(self) -> list[Mapping[str, Any]]:
        return list(self.hub.repository.record("checks").values())


@pytest.fixture
def lab(tmp_path: Path) -> Iterator[Lab]:
    clock = TickingClock()
    with Hub(tmp_path, now=clock.now) as hub:
        hub.commit(BASE, message="First")
        hub.add_user("ada", role="write")
        opened = hub.open_pull_request("ada", {"train.py": TRAIN.format("14B")}, title="A larger model")
        lab = Lab(hub, clock, opened)
        with lab.until_end:
            yield lab


def push(lab: Lab, model: str, **more: str) -> Webhook:
    return lab.hub.push(lab.number, "ada", {"train.py": TRAIN.format(model), **more})


# --- one comment ----------------------------------------------------------------------------------------------------


def test_an_update_takes_six_requests_and_its_check_run_one(lab: Lab) -> None:
    """Five where any ref is ours: GraphQL does not promise to list custom refs, so where it shows none REST is asked."""
    assert lab.propose() == "proposed"
    event = push(lab, "32B")
    lab.hub.forget_requests()
    assert lab.propose(event) == "proposed"
    counts = lab.hub.counts()
    assert sum(counts.values()) == 7, counts
    assert counts["POST /repos/{owner}/{repo}/check-runs"] == 1
    assert len(lab.texts) == 1
    assert "32B" in lab.texts[0]
    assert lab.hub.problems() == []


def test_records_policy_and_notes_cost_an_update_no_further_request(lab: Lab) -> None:
    lab.hub.commit({POLICY_PATH: "clouds: [runpod]\nbudget: {month_usd: 70}\n"})
    handle_set(
        lab.context(), lab.order("/gpu-lol set image=acme/cuda:1", corrections=(Correction("image", "acme/cuda:1"),))
    )
    assert len(lab.texts) == 1
    event = push(lab, "32B")
    lab.hub.forget_requests()
    assert lab.propose(event) == "proposed"
    counts = lab.hub.counts()
    assert sum(counts.values()) <= 6, counts
    assert "of $70" in lab.texts[0]
    assert "`image=acme/cuda:1` by ada" in lab.texts[0]
    assert lab.hub.problems() == []


def test_what_was_measured_narrows_a_proposal_and_costs_no_further_request(lab: Lab) -> None:
    assert lab.propose() == "proposed"
    context, sha = lab.context(), str(lab.opened.payload["pull_request"]["head"]["sha"])
    assert context.measured is not None
    analysis = read_commit(context, sha, lab.policy, is_fork=False).analysis
    assert analysis.breakdown is not None
    low, expected, high = analysis.breakdown.estimated
    run = MeasuredRun(
        lab.clock.now(), sha, "run", "python train.py", "NVIDIA A100", round(expected * 0.9, 2), 79.6, 30, True,
        analysis.breakdown.workload, low, expected, high,
    )  # fmt: skip
    for _ in range(2):
        context.measured().change(lambda book: book.with_run(run))
    event = push(lab, "14B", **{"notes.md": "nothing that matters for memory\n"})
    lab.hub.forget_requests()
    assert lab.propose(event) == "proposed"
    counts = lab.hub.counts()
    assert sum(counts.values()) <= 6, counts
    assert "this very workload was measured 2 times" in lab.texts[0]
    assert f"measured {run.peak_gib:.1f} GiB (\u221210 %; NVIDIA A100, `run` at {sha[:7]}" in lab.texts[0]
    assert lab.hub.problems() == []


def test_nothing_new_writes_nothing(lab: Lab) -> None:
    lab.propose()
    lab.hub.forget_requests()
    assert lab.propose() == "proposal_unchanged"
    writes = [name for name in lab.hub.counts() if not name.startswith("GET") and "graphql" not in name]
    assert writes == []


def test_a_run_for_a_commit_that_is_no_longer_the_head_never_writes(lab: Lab) -> None:
    newer = push(lab, "32B")
    assert lab.propose() == "head_moved"
    assert lab.texts == []
    assert lab.propose(newer) == "proposed"
    assert lab.propose(lab.opened) == "head_moved"
    assert "32B" in lab.texts[0]


def test_a_lower_run_number_never_writes_over_a_higher_one(lab: Lab) -> None:
    """Two runs for one commit, as `analyze` and a push: whichever finishes last, the newer one's words stand."""
    old, new = lab.context(run_id=2000), lab.context(run_id=3000)
    assert lab.propose(context=new) == "proposed"
    standing = lab.texts
    handle_set(
        lab.context(run_id=3001, is_change=False),
        lab.order("/gpu-lol set vram=70", corrections=(Correction("vram", 70),)),
    )
    corrected = lab.texts
    assert corrected != standing
    assert lab.propose(context=old) == "head_moved"
    assert lab.texts == corrected
    assert lab.propose(context=lab.context(run_id=3001, attempt="2")) == "proposal_unchanged"


def test_the_head_moves_while_an_older_run_computes(lab: Lab) -> None:
    """The look is older than it may be when the write comes: it is repeated, and the older run stops there."""
    context = lab.context()

    def slow(text: str) -> str:
        lab.clock.sleep(lab.clock.now() - lab.clock.now() + MAX_LOOK_AGE * 2)
        if not lab.texts:
            assert lab.propose(push(lab, "32B")) == "proposed"
        return redact(text)

    from gpu_lol_action.handlers.propose_sticky import MAX_LOOK_AGE

    assert lab.propose(context=replace(context, redact=slow)) == "head_moved"
    assert len(lab.texts) == 1
    assert "32B" in lab.texts[0]


def racing(lab: Lab, other: Callable[[], object]) -> Context:
    """A run whose first comment is overtaken by another's in the moment between its look and its post."""
    context = lab.context()
    forge, post = context.forge, context.forge.post_comment

    def post_late(number: int, body: str) -> Any:
        forge.post_comment = post  # type: ignore[method-assign]  # only once
        other()
        return post(number, body)

    forge.post_comment = post_late  # type: ignore[method-assign]  # the race
    return context


def test_two_first_runs_at_once_end_with_one_proposal(lab: Lab) -> None:
    context = racing(lab, lambda: lab.propose(context=lab.context(run_id=5000)))
    context = replace(context, settings=replace(context.settings, run_id="6000"))
    assert lab.propose(context=context) == "proposed"
    first, second = lab.texts
    assert "14B" in first
    assert second.startswith("<!-- gpu-lol v1 superseded")
    assert [each["classifier"] for each in lab.hub.repository.record("minimized").values()] == ["OUTDATED"]
    lab.hub.forget_requests()
    assert lab.propose(context=lab.context(run_id=7000)) == "proposal_unchanged"
    assert lab.hub.counts().get("PATCH /repos/{owner}/{repo}/issues/comments/{comment_id}", 0) == 0
    assert lab.hub.problems() == []


def test_of_two_first_runs_the_older_one_leaves_tidying_to_the_newer(lab: Lab) -> None:
    context = racing(lab, lambda: lab.propose(context=lab.context(run_id=9000)))
    assert lab.propose(context=context) == "proposed"
    assert len(lab.texts) == 2
    assert lab.propose(push(lab, "32B"), lab.context(run_id=9001)) == "proposed"
    first, second = lab.texts
    assert "32B" in first
    assert second.startswith("<!-- gpu-lol v1 superseded")


def test_our_marker_in_anybodys_comment_is_not_ours_on_any_page(lab: Lab) -> None:
    for index in range(120):
        lab.hub.comment(lab.number, "mallory", f"<!-- gpu-lol v1 proposal pr={lab.number} -->\nI am the bot {index}")
    lab.propose()
    for index in range(120):
        lab.hub.comment(lab.number, "ada", f"remark {index}")
    assert lab.propose(push(lab, "32B")) == "proposed"
    assert len(lab.texts) == 1
    assert all("I am the bot" in each.body for each in lab.hub.comments(lab.number, "mallory"))


def test_a_token_without_graphql_asks_one_by_one(lab: Lab) -> None:
    lab.propose()
    event = push(lab, "32B")
    lab.hub.fail_next("POST /graphql", 200, body={"errors": [{"message": "no"}]})
    assert lab.propose(event) == "proposed"
    assert len(lab.texts) == 1
    assert "32B" in lab.texts[0]


def test_where_it_cannot_be_told_which_comments_are_ours_none_is_written(lab: Lab) -> None:
    lab.propose()
    standing = lab.texts
    event = push(lab, "32B")
    lab.hub.fail_next("POST /graphql", 200, body={"errors": [{"message": "no"}]}, times=9)
    outcome = lab.outcome(event)
    assert "32B" in outcome.text
    assert lab.texts == standing
    assert lab.progress.warnings


# --- quiet ----------------------------------------------------------------------------------------------------------


def test_a_change_that_touches_no_environment_is_not_commented_on(lab: Lab) -> None:
    event = lab.hub.open_pull_request("ada", {"README.md": "# Our lab\n", "data.csv": "1\n"}, branch="docs")
    outcome = lab.outcome(event)
    assert (outcome.decision, outcome.reason_code) == ("ignored", "environment_untouched")
    assert lab.hub.comments(event.payload["number"], BOT) == []


def test_a_proposal_that_stands_is_kept_up_to_date_even_when_the_change_goes_back(lab: Lab) -> None:
    lab.propose()
    assert lab.propose(push(lab, "7B")) == "proposed"
    assert "Same price" in lab.texts[0]


def test_the_installing_pull_request_hears_that_commands_come_with_the_merge(lab: Lab) -> None:
    workflow = (
        "on: pull_request_target\njobs: {gpu-lol: {uses: acme/gpu-lol-action/.github/workflows/propose.yml@v1}}\n"
    )
    files = {".github/workflows/gpu-lol.yml": workflow}
    event = lab.hub.open_pull_request("ada", files, branch="install")
    assert lab.propose(event) == "proposed"
    (posted,) = lab.hub.comments(event.payload["number"], BOT)
    assert "once this PR is merged" in posted.body


def test_a_disabled_policy_says_nothing(lab: Lab) -> None:
    lab.hub.commit({POLICY_PATH: "enabled: false\n"})
    assert lab.propose() == "disabled"
    assert lab.texts == []


def test_a_muted_proposal_stays_as_it_is_until_it_is_unmuted(lab: Lab) -> None:
    lab.propose()
    assert handle_mute(lab.context(is_change=False), lab.order("/gpu-lol mute")).reason_code == "muted"
    (muted,) = lab.texts
    assert "Muted by ada" in muted
    event = push(lab, "32B")
    assert lab.propose(event) == "muted"
    assert lab.texts == [muted]
    assert handle_mute(lab.context(is_change=False), lab.order("/gpu-lol unmute")).reason_code == "unmuted"
    assert "32B" in lab.texts[0]
    assert "Muted" not in lab.texts[0]


def test_who_mutes_before_anything_was_said_gets_no_comment_for_it(lab: Lab) -> None:
    assert handle_mute(lab.context(is_change=False), lab.order("/gpu-lol mute")).reason_code == "muted"
    assert lab.propose() == "muted"
    assert lab.texts == []


# --- what people say ------------------------------------------------------------------------------------------------


def test_set_corrects_the_proposal_is_remembered_and_is_taken_back(lab: Lab) -> None:
    lab.propose()
    line = "/gpu-lol set vram=70 image=acme/cuda:1"
    corrections = (Correction("vram", 70), Correction("image", "acme/cuda:1"))
    assert handle_set(lab.context(is_change=False), lab.order(line, corrections=corrections)).reason_code == "corrected"
    (corrected,) = lab.texts
    assert "**70 GB**" in corrected
    assert "`vram=70` by ada" in corrected
    assert "vram_required_gb: 70" in corrected
    assert "base_image: acme/cuda:1" in corrected
    assert lab.propose(push(lab, "32B")) == "proposed"
    assert "**70 GB**" in lab.texts[0], "it holds for later commits"
    back = (Correction("vram", None), Correction("image", None))
    handle_set(lab.context(is_change=False), lab.order("/gpu-lol set vram=auto image=auto", corrections=back))
    assert "Corrected" not in lab.texts[0]
    assert lab.hub.problems() == []


def test_a_card_that_is_set_is_taken_as_ordered(lab: Lab) -> None:
    handle_set(
        lab.context(),
        lab.order("/gpu-lol set gpu=A40:2", corrections=(Correction("gpu", "A40"), Correction("count", 2))),
    )
    assert "2 × A40" in lab.texts[0]


def test_an_edited_comment_corrects_nothing(lab: Lab) -> None:
    """The memory is a ref: whatever anybody writes into our comment, the next run says what is remembered."""
    lab.propose()
    (posted,) = lab.hub.comments(lab.number, BOT)
    forged = posted.body.replace("| memory per GPU |", "Corrected: `vram=1` by ada\n\n| memory per GPU |")
    lab.hub.edit_comment(posted.comment_id, forged)
    lab.propose(push(lab, "32B"))
    assert "vram=1" not in lab.texts[0]


def notes_of(lab: Lab) -> Notes:
    found = lab.context(is_change=False).surfaces
    assert found is not None
    return found.notes


def test_two_corrections_at_once_both_hold(lab: Lab) -> None:
    notes = notes_of(lab)
    other = notes_of(lab)
    notes.change(lab.number, lambda note: note.corrected((Correction("vram", 24),), "ada"))
    is_first = True

    def slow(note: Any) -> Any:
        nonlocal is_first
        if is_first:
            is_first = False
            other.change(lab.number, lambda each: each.corrected((Correction("count", 2),), "grace"))
        return note.corrected((Correction("image", "acme/cuda:1"),), "ada")

    note = notes.change(lab.number, slow)
    assert dict(note.words) == {"vram=24": "ada", "count=2": "grace", "image=acme/cuda:1": "ada"}
    assert notes.read(lab.number) == note


def test_a_note_that_somebody_broke_corrects_nothing_and_is_said(lab: Lab) -> None:
    store = GitRefStore(lab.context().forge.client, FOLDER)  # type: ignore[attr-defined]  # the adapter's client
    store.create(str(lab.number), '{"version": 1, "set": {"vram": {"value": "x", "by": 3}}}', "by hand")
    assert lab.propose() == "proposed"
    assert any("cannot be read" in note for note in lab.progress.notes)


def test_a_project_that_is_set_is_what_the_pull_request_is_about(lab: Lab) -> None:
    policy = {POLICY_PATH: "analysis: {folders: [llm, vision]}\n"}
    lab.hub.commit(policy, branch="main")
    held = {f"{name}/train.py": TRAIN.format(model) for name, model in (("vision", "7B"), ("llm", "0.5B"))}
    assert lab.propose(lab.hub.push(lab.number, "ada", held)) == "proposed"
    assert "Project `llm`, of 2 that the policy names · another: `/gpu-lol set project=vision`" in lab.texts[0]
    assert "| `vision` | new | **1 × " not in lab.texts[0], "nothing was there to be dearer than"
    assert "| `vision` | new | 1 × " in lab.texts[0]
    lab.policy = parse_policy(policy[POLICY_PATH])
    words = (Correction("project", "vision"), Correction("vram", 70))
    handle_set(lab.context(is_change=False), lab.order("/gpu-lol set", corrections=words))
    assert "`vram=70` by ada, `project=vision` by ada" in lab.texts[0]
    assert "| `llm` | new | 1 × " in lab.texts[0]
    # Another run knows of it, for the machine as for the proposal; of another project's machine nothing was said.
    for asked, project, vram_gib in (("", "vision", 70), ("llm", "llm", None)):
        order = settled(lab.context(is_change=False), lab.order("/gpu-lol up", project=asked))
        assert order.note is not None
        assert (order.project, order.note.corrections.vram_gib) == (project, vram_gib)
    gone = lab.hub.push(lab.number, "ada", {"vision/train.py": None})
    assert lab.propose(gone) == "proposed"
    assert "The project `vision`, which was set for this PR, is gone; nothing is rented until" in lab.texts[0]
    with pytest.raises(UserError):
        settled(lab.context(is_change=False), lab.order("/gpu-lol up"))
    assert lab.hub.problems() == []


# --- check runs and annotations -------------------------------------------------------------------------------------


def test_each_commit_has_one_check_run_that_is_updated(lab: Lab) -> None:
    lab.propose()
    (first,) = lab.checks
    assert (first["name"], first["conclusion"]) == ("gpu-lol", "neutral")
    assert first["output"]["title"].startswith("This PR needs a bigger GPU")
    assert first["output"]["annotations_count"] == 1
    handle_set(lab.context(is_change=False), lab.order("/gpu-lol set vram=70", corrections=(Correction("vram", 70),)))
    assert len(lab.checks) == 1
    assert "70 GB" in lab.checks[0]["output"]["summary"]
    lab.propose(push(lab, "7B"))
    assert len(lab.checks) == 2
    assert lab.hub.problems() == []


def test_an_invalid_spec_asks_for_action_at_its_line(lab: Lab) -> None:
    event = push(lab, "7B", **{".gpu-lol.yaml": "hardware: {gpu_count: 1}\nhardwear: {}\n"})
    with pytest.raises(SpecError):
        lab.outcome(event)
    (check,) = lab.checks
    assert check["conclusion"] == "action_required"
    assert check["output"]["annotations_count"] == 1
    assert len(lab.texts) == 1


def test_without_the_permission_the_log_has_the_annotation_and_the_summary_a_line(lab: Lab) -> None:
    token = lab.hub.add_token(BOT, {"contents": "read", "pull_requests": "write"})
    outcome = lab.outcome(context=lab.context(token))
    assert outcome.reason_code == "proposed"
    (annotation,) = outcome.annotations
    assert (annotation.path, annotation.line) == ("train.py", 2)
    assert "14B" in annotation.title
    assert lab.progress.notes == ["Left out: the check run (it needs `checks: write` in the workflow)."]


def test_a_reader_s_token_says_all_of_it_in_the_summary(lab: Lab) -> None:
    token = lab.hub.add_token(BOT, {"contents": "read", "pull_requests": "read"})
    outcome = lab.outcome(context=lab.context(token))
    assert (outcome.decision, outcome.reason_code) == ("done", "proposed")
    assert "14B" in outcome.text
    assert lab.texts == []
    assert lab.progress.warnings


# --- suggestions ----------------------------------------------------------------------------------------------------

SPEC = "# ours\nhardware:\n  gpu_type: RTX4090   # cheap\n  gpu_count: 1\n  vram_required_gb: 20\nmeta: {name: lab}\n"


@pytest.fixture
def suggesting(lab: Lab) -> Lab:
    lab.policy = replace(lab.policy, proposal_mode="suggest")
    return lab


def reviews(lab: Lab) -> list[Mapping[str, Any]]:
    return list(lab.hub.repository.record("review_comments").values())


def test_a_suggestion_stands_at_the_lines_that_differ_once(suggesting: Lab) -> None:
    lab = suggesting
    event = push(lab, "14B", **{".gpu-lol.yaml": SPEC})
    assert lab.propose(event) == "proposed"
    (posted,) = reviews(lab)
    assert (posted["path"], posted["start_line"], posted["line"]) == (".gpu-lol.yaml", 3, 5)
    block = posted["body"].split("```suggestion\n")[1].split("\n```")[0].split("\n")
    assert block[0].startswith("  gpu_type: ")
    assert block[0].endswith("   # cheap"), "what a person wrote around the value stays"
    assert block[1] == "  gpu_count: 1"
    assert "as a suggestion" in lab.texts[0]
    assert lab.propose(lab.hub.push(lab.number, "ada", {"README.md": "# x\n"})) == "proposed"
    assert len(reviews(lab)) == 1
    assert lab.hub.problems() == []


def test_a_suggestion_that_was_taken_or_overtaken_is_withdrawn(suggesting: Lab) -> None:
    lab = suggesting
    lab.propose(push(lab, "14B", **{".gpu-lol.yaml": SPEC}))
    lab.propose(push(lab, "32B"))
    first, second = reviews(lab)
    assert first["body"].startswith("<!-- gpu-lol v1 withdrawn")
    assert "```suggestion" in second["body"]
    lab.propose(lab.hub.push(lab.number, "ada", {".gpu-lol.yaml": "meta: {name: lab}\n"}))
    assert [each["body"].startswith("<!-- gpu-lol v1 withdrawn") for each in reviews(lab)] == [True, True]
    assert set(lab.hub.repository.record("minimized")) == {first["id"], second["id"]}
    assert lab.hub.problems() == []


def test_lines_outside_of_the_diff_get_no_suggestion(suggesting: Lab) -> None:
    lab = suggesting
    lab.hub.commit({".gpu-lol.yaml": SPEC}, branch="main")
    far = "\n".join(["# remark"] * 40)
    event = lab.hub.open_pull_request(
        "ada", {"train.py": TRAIN.format("14B"), ".gpu-lol.yaml": f"{SPEC}{far}\n"}, branch="other"
    )
    lab.hub.commit({}, branch="main")
    assert lab.propose(event) == "proposed"
    assert lab.hub.problems() == []
    assert all(each["line"] <= 6 for each in reviews(lab))


def test_a_file_that_is_not_in_the_diff_gets_none(suggesting: Lab) -> None:
    lab = suggesting
    lab.hub.commit({".gpu-lol.yaml": SPEC}, branch="main")
    event = lab.hub.open_pull_request("ada", {"train.py": TRAIN.format("14B")}, branch="other")
    assert lab.propose(event) == "proposed"
    assert reviews(lab) == []


def test_a_file_that_holds_a_secret_is_not_spread(suggesting: Lab) -> None:
    lab = suggesting
    secret = "env: {WANDB_API_KEY: ghp_" + "a1B2" * 9 + "}\n"
    lab.propose(push(lab, "14B", **{".gpu-lol.yaml": SPEC + secret}))
    assert reviews(lab) == []


# --- commits --------------------------------------------------------------------------------------------------------


@pytest.fixture
def committing(lab: Lab) -> Lab:
    lab.policy = replace(lab.policy, proposal_mode="commit")
    return lab


def head(lab: Lab) -> str:
    pull = lab.hub.issue(lab.number).pull
    assert pull is not None
    return pull.head_sha


def follow(lab: Lab) -> Webhook:
    """What an App's token leads to: our own commit's `synchronize`."""
    with lab.hub.world.lock:
        follow_branch(lab.hub.world, lab.hub.repository, "feature")
    payload = {**lab.opened.payload}
    payload["pull_request"] = {**payload["pull_request"], "head": {**payload["pull_request"]["head"], "sha": head(lab)}}
    return replace(lab.opened, payload=payload)


def messages(lab: Lab) -> list[str]:
    git = lab.hub.repository.git
    return [git.read_commit(sha).message for sha in git.history("feature") if TRAILER in git.read_commit(sha).message]


def test_the_spec_is_committed_once_and_leads_to_no_other_commit(committing: Lab) -> None:
    lab = committing
    assert lab.propose() == "proposed"
    assert len(messages(lab)) == 1
    assert "was committed to this branch as" in lab.texts[0]
    assert "vram_required_gb" in lab.hub.repository.git.text("show", "feature:.gpu-lol.yaml")
    assert lab.propose(follow(lab)) == "proposed"
    assert len(messages(lab)) == 1
    assert lab.hub.problems() == []


def test_each_project_has_its_file_in_its_own_folder(committing: Lab) -> None:
    lab = committing
    lab.hub.commit({POLICY_PATH: "analysis: {folders: [llm, vision]}\n"}, branch="main")
    asked = {}
    for name, model in (("vision", "7B"), ("llm", "32B")):
        held = {f"{name}/train.py": TRAIN.format(model), f"{name}/requirements.txt": "torch\ntransformers\n"}
        event = lab.hub.open_pull_request("ada", held, branch=name)
        assert lab.propose(event) == "proposed"
        git = lab.hub.repository.git
        asked[name] = git.text("show", f"{name}:{name}/.gpu-lol.yaml")
        assert ".gpu-lol.yaml" not in git.text("ls-tree", "--name-only", name).split()
        (made,) = [git.read_commit(sha).message for sha in git.history(name) if TRAILER in git.read_commit(sha).message]
        assert made.startswith(f"Add {name}/.gpu-lol.yaml ")
    assert asked["vision"] != asked["llm"]
    assert lab.hub.problems() == []


@pytest.mark.parametrize(("files", "path"), [(("vision/", ""), "vision/.gpu-lol.yaml"), (("",), ".gpu-lol.yaml")])
def test_the_folders_own_file_counts_and_else_the_roots(suggesting: Lab, files: tuple[str, ...], path: str) -> None:
    lab = suggesting
    lab.hub.commit({POLICY_PATH: "analysis: {folders: [llm, vision]}\n"}, branch="main")
    held = {"vision/train.py": TRAIN.format("14B"), "vision/requirements.txt": "torch\ntransformers\n"}
    event = lab.hub.push(lab.number, "ada", {**held, **{f"{each}.gpu-lol.yaml": SPEC for each in files}})
    assert lab.propose(event) == "proposed"
    assert {each["path"] for each in reviews(lab)} == {path}
    (comment,) = lab.texts
    assert f"as a suggestion at {path}:3" in comment.replace("`", "").replace("\\", "")


def test_our_own_file_follows_the_code_and_a_persons_edit_stands(committing: Lab) -> None:
    lab = committing
    lab.propose()
    follow(lab)
    assert lab.propose(push(lab, "32B")) == "proposed"
    assert len(messages(lab)) == 2
    follow(lab)
    mine = lab.hub.repository.git.text("show", "feature:.gpu-lol.yaml") + "# mine\n"
    push(lab, "72B", **{".gpu-lol.yaml": mine})
    lab.propose(follow(lab))
    assert len(messages(lab)) == 2
    assert "a person edited" in lab.texts[0]
    lab.hub.push(lab.number, "ada", {".gpu-lol.yaml": None})  # type: ignore[dict-item]  # removed
    lab.propose(follow(lab))
    assert len(messages(lab)) == 2
    assert "a person removed" in lab.texts[0]


def test_a_branch_that_moved_meanwhile_is_not_written(committing: Lab) -> None:
    lab = committing
    context = lab.context()
    client = context.forge.client  # type: ignore[attr-defined]  # the adapter's client
    ask = client.ask

    def slow(request: Any) -> Any:
        if request.method == "PATCH" and "refs" in request.path:
            client.ask = ask
            push(lab, "32B")
        return ask(request)

    client.ask = slow
    lab.outcome(context=context)
    assert messages(lab) == []
    assert "32B" in lab.hub.repository.git.text("show", "feature:train.py")


@pytest.mark.parametrize("may_modify", [True, False])
def test_a_fork_is_written_only_where_its_author_lets_maintainers(committing: Lab, may_modify: bool) -> None:
    lab = committing
    lab.hub.add_user("eve")
    fork = lab.hub.fork("eve")
    fork.roles["maintainer"] = "write"  # GitHub would let the push through: it is ours to ask the author's word
    event = lab.hub.open_pull_request("eve", {"train.py": TRAIN.format("32B")}, fork=fork, branch="theirs")
    number = event.payload["number"]
    pull = lab.hub.issue(number).pull
    assert pull is not None
    pull.may_maintainers_modify = may_modify
    before = pull.head_sha
    assert lab.propose(event, lab.context(lab.hub.add_token("maintainer"))) == "proposed"
    after = fork.git.ref("refs/heads/theirs")
    assert (after != before) is may_modify
    (posted,) = lab.hub.comments(number, "maintainer")
    assert ("lets no maintainer push" in posted.body) is not may_modify


def test_a_token_that_may_not_write_code_says_so_in_the_summary(committing: Lab) -> None:
    lab = committing
    permissions = {**BOT_PERMISSIONS, "contents": "read"}
    assert lab.propose(context=lab.context(lab.hub.add_token(BOT, permissions))) == "proposed"
    assert messages(lab) == []
    assert lab.progress.notes == ["Left out: the commit of the spec (it needs `contents: write` in the workflow)."]


def test_analyze_by_a_person_writes_the_proposal_on_a_draft_too(lab: Lab) -> None:
    event = lab.hub.open_pull_request("ada", {"train.py": TRAIN.format("32B")}, branch="draft", is_draft=True)
    assert lab.propose(event) == "draft"
    forge = lab.context().forge
    order = replace(lab.order("/gpu-lol analyze"), pull_request=forge.pull_request(event.payload["number"]))
    assert handle_propose(lab.context(), asked_for(order)).reason_code == "proposed"


# --- a cheaper configuration as a suggestion --------------------------------------------------------------------------

SFT = """\
from transformers import AutoModelForCausalLM, Trainer, TrainingArguments

model = AutoModelForCausalLM.from_pretrained("Qwen/Qwen2.5-1.5B")
arguments = TrainingArguments(
    output_dir="out",
    per_device_train_batch_size=4,
    max_seq_length={length},
    gradient_checkpointing=False,
    bf16=True,
)
Trainer(model=model, args=arguments).train()
"""


def test_one_literal_of_the_diff_is_suggested_once_and_withdrawn_when_taken(suggesting: Lab) -> None:
    lab = suggesting
    assert lab.propose(lab.hub.push(lab.number, "ada", {"train.py": SFT.format(length=1024)})) == "proposed"
    (posted,) = reviews(lab)
    assert (posted["path"], posted["line"]) == ("train.py", 8)
    assert "```suggestion\n    gradient_checkpointing=True,\n```" in posted["body"]
    assert "It costs: steps about a third slower" in posted["body"]
    assert lab.propose(lab.hub.push(lab.number, "ada", {"README.md": "# x\n"})) == "proposed"
    assert len(reviews(lab)) == 1
    taken = SFT.format(length=1024).replace("checkpointing=False", "checkpointing=True")
    lab.propose(lab.hub.push(lab.number, "ada", {"train.py": taken}))
    assert reviews(lab)[0]["body"].startswith("<!-- gpu-lol v1 withdrawn")
    assert lab.hub.problems() == []


def test_without_the_mode_no_configuration_is_suggested(lab: Lab) -> None:
    assert lab.propose(lab.hub.push(lab.number, "ada", {"train.py": SFT.format(length=1024)})) == "proposed"
    assert reviews(lab) == []
    assert "`gradient_checkpointing=True`" in lab.texts[0]
