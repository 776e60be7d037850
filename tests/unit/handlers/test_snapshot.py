"""``snapshot``: a machine's lists become a proposal by the rules of every proposal; the machine and the record stay."""

from __future__ import annotations

import base64
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

import pytest

from gpu_lol_action.domain.environment import State
from gpu_lol_action.domain.policy import Policy
from gpu_lol_action.domain.request import Outcome, Posted
from gpu_lol_action.domain.spec_yaml import parse_spec
from gpu_lol_action.domain.surfaces import FileCommit, Standing, Suggestion
from gpu_lol_action.errors import Door, TransientError
from gpu_lol_action.handlers.obey import obey
from tests.support.hands import HEAD
from tests.support.machine import GoodMachine
from tests.support.surfaces import Shown
from tests.unit.handlers.conftest import POLICY, Bench

SPEC = """\
# our machine
hardware:
  gpu_type: RTX4090
  gpu_count: 1
  vram_required_gb: 20
environment:
  base_image: example/train:1
dependencies:
  requirements:
  - peft>=0.11  # adapters
  system_packages: [ffmpeg]
  setup_commands:
  - make
env:
  MODE: fast
keep:
- runs
"""
BASE = "python\t3.11.9\ncuda\t12.4.1\nimage\texample/train:1\npackage\tpeft\t0.12.0\t\n"
TOLD = "told\tpackages\ntold\tsystem\n"


def answer(now: str = "", setup: str = "") -> Callable[[str], str]:
    lists = {"image": BASE + TOLD, "setup": BASE + setup + TOLD, "now": BASE + setup + now + TOLD}

    def say(nonce: str) -> str:
        lines = [f"{name} {base64.b64encode(text.encode()).decode()}" for name, text in lists.items()]
        return "".join(f"::gpu-lol-snapshot {nonce} {line}\n" for line in [*lines, "done ."])

    return say


@pytest.fixture
def bench(bench: Bench) -> Bench:
    bench.shell = GoodMachine(instead={"snapshot": answer("package\twandb\t0.17.0\t\n")})
    (bench.forge.folder / ".gpu-lol.yaml").write_text(SPEC)
    bench.running(accelerator="RTX4090", accelerator_count=1)
    return bench


def take(bench: Bench, policy: Policy = POLICY) -> Outcome:
    return obey(bench.context, bench.order("/gpu-lol snapshot", policy=policy), may_use_cloud=True)


def machine(bench: Bench) -> GoodMachine:
    assert isinstance(bench.shell, GoodMachine)
    return bench.shell


def test_what_came_later_is_proposed_in_the_words_of_the_file(bench: Bench) -> None:
    before = bench.record
    outcome = take(bench)
    assert outcome.reason_code == "snapshot_taken"
    assert outcome.details == {"environment": before.name, "changes": "1"}
    assert bench.record == before
    assert machine(bench).kinds == ["snapshot"]
    body = bench.forge.posted[-1].body
    yaml = body.partition("```yaml\n")[2].partition("\n```")[0]
    expected = SPEC.replace("  # adapters\n", "  # adapters\n  - wandb==0.17.0\n")
    assert yaml == f"{expected}meta:\n  created_from: snapshot"
    assert "runs at $0.44/h" in body


def test_nothing_new_proposes_nothing(bench: Bench) -> None:
    machine(bench).instead["snapshot"] = answer()
    outcome = take(bench)
    assert outcome.details["changes"] == "0"
    assert "```yaml" not in outcome.text
    assert "nothing to propose" in outcome.text


def test_without_a_file_all_of_it_is_written_down(bench: Bench) -> None:
    (bench.forge.folder / ".gpu-lol.yaml").unlink()
    (bench.forge.folder / "requirements.txt").write_text("torch==2.4.0\npeft\n")
    (bench.forge.folder / "train.py").write_text("import torch\nfrom peft import LoraConfig\n")
    machine(bench).instead["snapshot"] = answer("package\twandb\t0.17.0\t\n", "package\ttorch\t2.4.0+cu124\t\n")
    outcome = take(bench)
    spec = parse_spec(outcome.text.partition("```yaml\n")[2].partition("\n```")[0])
    assert spec.hardware.gpu_type == "RTX4090"
    assert spec.environment.base_image == "example/train:1"
    assert spec.environment.python_version == "3.11"
    assert spec.dependencies.requirements[-1] == "wandb==0.17.0"
    assert any(line.startswith("peft") for line in spec.dependencies.requirements)
    assert spec.meta.created_from == "snapshot"


def test_a_list_that_the_file_leaves_to_the_code_is_written_whole(bench: Bench) -> None:
    text = "hardware:\n  gpu_type: RTX4090\n"
    (bench.forge.folder / ".gpu-lol.yaml").write_text(text)
    (bench.forge.folder / "requirements.txt").write_text("peft\n")
    (bench.forge.folder / "train.py").write_text("import peft\n")
    spec = parse_spec(take(bench).text.partition("```yaml\n")[2].partition("\n```")[0])
    assert spec.dependencies.requirements == ("peft", "wandb==0.17.0"), "what is stated there holds alone"


def test_the_machine_of_a_profile_changes_that_profile(bench: Bench) -> None:
    profiles = "profiles:\n  eval:\n    dependencies:\n      requirements:\n      - peft\n      - lm-eval\n"
    (bench.forge.folder / ".gpu-lol.yaml").write_text(SPEC + profiles)
    entry = next(iter(bench.ledger.entries()))
    bench.ledger.update(entry, replace(bench.record, profile="eval"))  # type: ignore[arg-type]  # it can be read
    spec = parse_spec(take(bench).text.partition("```yaml\n")[2].partition("\n```")[0])
    assert spec.dependencies.requirements == ("peft>=0.11",)
    assert spec.profiles["eval"].dependencies.requirements == ("peft", "lm-eval", "wandb==0.17.0")
    assert spec.profiles["eval"].env == {"MODE": "fast"}


@pytest.mark.parametrize(
    ("said", "decision", "code"),
    [
        ("failed no_inventory", "denied", "no_inventory"),
        ("failed its disk cannot be written", "", "snapshot_not_taken"),
    ],
)
def test_a_machine_that_cannot_tell(bench: Bench, said: str, decision: str, code: str) -> None:
    machine(bench).instead["snapshot"] = lambda nonce: f"::gpu-lol-snapshot {nonce} {said}\n"
    if decision:
        outcome = take(bench)
        assert (outcome.decision, outcome.reason_code) == (decision, code)
        assert "runs at $0.44/h" in outcome.text
        return
    with pytest.raises(TransientError) as raised:
        take(bench)
    assert raised.value.reason_code == code


def test_there_is_no_snapshot_of_what_does_not_run(bench: Bench) -> None:
    bench.ledger.update(next(iter(bench.ledger.entries())), replace(bench.record, state=State.UNKNOWN))  # type: ignore[arg-type]
    assert take(bench).reason_code == "not_ready"
    assert machine(bench).kinds == []


def test_secrets_of_this_run_and_shapes_of_secrets_stay_out(bench: Bench) -> None:
    bench.context = replace(bench.context, redact=lambda text: text.replace("mysecretvalue", "•••"))
    new = "package\tx\t1\thttps://example.org/mysecretvalue/x.whl\npackage\twandb\t1\t\n"
    machine(bench).instead["snapshot"] = answer(new)
    text = take(bench).text
    assert "mysecretvalue" not in text
    assert "wandb==1" in text
    assert "looks like a password" in text


def test_a_terminal_gets_the_spec_itself(bench: Bench) -> None:
    bench.context = replace(bench.context, settings=replace(bench.context.settings, door=Door.TERMINAL))
    outcome = take(bench)
    assert parse_spec(outcome.details["spec"]).dependencies.requirements == ("peft>=0.11", "wandb==0.17.0")
    assert bench.forge.posted == []


# --- suggestions and commits ------------------------------------------------------------------------------
@dataclass
class _Review:
    """What a pull request shows of the file, and what was done to it."""

    patch: str = "@@ -0,0 +1,19 @@\n+x"
    suggested: list[Suggestion] = field(default_factory=list)
    committed: list[FileCommit] = field(default_factory=list)

    def patch_of(self, number: int, path: str) -> str | None:
        return self.patch

    def standing(self, number: int, marker_prefix: str, author: str) -> Sequence[Posted]:
        return ()

    def suggest(self, number: int, suggestion: Suggestion) -> None:
        self.suggested.append(suggestion)

    def edit(self, comment_id: int, body: str) -> None:
        raise AssertionError("nothing stands there yet")

    def last_change(self, repository: str, sha: str, path: str | None = None) -> None:
        return None

    def commit(self, change: FileCommit) -> str | None:
        self.committed.append(change)
        return "f" * 40


class _Conversation:
    def standing(self, number: int, marker_prefix: str, *, is_final: bool) -> Standing:
        return Standing(HEAD, is_draft=False, is_open=True, may_modify=False, me="bot", comments=())

    def hide(self, node_id: str) -> None:
        raise AssertionError("nothing stands there yet")


@pytest.fixture
def review(bench: Bench) -> _Review:
    review = _Review()
    surfaces = replace(Shown().surfaces(), conversation=_Conversation(), suggestions=review, commits=review)
    bench.context = replace(bench.context, surfaces=surfaces)
    return review


def test_by_default_it_is_in_the_comment_alone(bench: Bench, review: _Review) -> None:
    take(bench)
    assert (review.suggested, review.committed) == ([], [])


def test_it_is_suggested_where_the_file_is_in_the_diff(bench: Bench, review: _Review) -> None:
    outcome = take(bench, replace(POLICY, proposal_mode="suggest"))
    (suggested,) = review.suggested
    old = SPEC.splitlines()
    block = suggested.body.partition("```suggestion\n")[2].partition("\n```")[0]
    new = "\n".join([*old[: suggested.start_line - 1], block, *old[suggested.end_line :]])
    assert parse_spec(new).dependencies.requirements == ("peft>=0.11", "wandb==0.17.0")
    assert "as a suggestion at" in outcome.text


def test_it_is_committed_where_the_policy_says_so(bench: Bench, review: _Review) -> None:
    outcome = take(bench, replace(POLICY, proposal_mode="commit"))
    (made,) = review.committed
    assert made.parent == HEAD
    assert parse_spec(made.content).dependencies.requirements == ("peft>=0.11", "wandb==0.17.0")
    assert made.message.startswith("Update .gpu-lol.yaml as the machine of ada has it\n")
    assert "was committed to this branch" in outcome.text


def test_nothing_new_is_neither_suggested_nor_committed(bench: Bench, review: _Review) -> None:
    machine(bench).instead["snapshot"] = answer()
    for mode in ("suggest", "commit"):
        take(bench, replace(POLICY, proposal_mode=mode))
    assert (review.suggested, review.committed) == ([], [])
