"""A repository of several projects: each is proposed, rented, tested and ended by its name, from comments as people write them."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from gpu_lol_action.domain.confirmation import WrittenComment
from gpu_lol_action.domain.environment import EnvironmentRecord, Requester, State
from gpu_lol_action.domain.ledger import Entry
from gpu_lol_action.domain.lookup import Question, Unanswered
from gpu_lol_action.domain.names import environment_name
from gpu_lol_action.domain.policy import Policy
from gpu_lol_action.domain.proposal_note import ProposalNote, UnreadableNote, note_from_json, note_to_json
from gpu_lol_action.domain.request import Command, CommentCreated
from gpu_lol_action.errors import Door, TransientError
from gpu_lol_action.handlers.askable import Lookups
from gpu_lol_action.handlers.propose import Occasion, handle_propose
from gpu_lol_action.handlers.propose_sticky import PROPOSAL_PREFIX
from gpu_lol_action.intake.parser import parse_comment
from gpu_lol_action.router import Run, Step, route
from tests.support.machine import GoodMachine
from tests.support.surfaces import Shown
from tests.unit.handlers.conftest import Bench

LLM, VISION = "research/llm", "research/vision"
POLICY = Policy(project_folders=(LLM, VISION), environments_per_person=9, environments_per_repository=9)
SPEC = "hardware: {gpu_type: RTX4090, gpu_count: 1, vram_required_gb: 20}\nkeep: [%s]\ndependencies: {requirements: [packaging]}\n"
KEPT = {LLM: "tokens", VISION: "pictures", "examples/audio": "sounds"}


@pytest.fixture
def bench(bench: Bench) -> Bench:
    for folder, kept in KEPT.items():
        place = bench.forge.folder / folder
        place.mkdir(parents=True)
        (place / "train.py").write_text("import torch\ntorch.ones(1).cuda()\n")
        (place / ".gpu-lol.yaml").write_text(SPEC % kept)
    bench.shell = GoodMachine()
    bench.forge.roles |= {"ada": "write", "grace": "maintain"}
    bench.forge.changed = {f"{LLM}/train.py"}
    bench.context = replace(bench.context, surfaces=Shown().surfaces())
    return bench


@dataclass
class Listener:
    """A language model that never has an answer."""

    heard: list[Question] = field(default_factory=list)
    name: str = "listener"

    def ask(self, question: Question) -> Unanswered:
        self.heard.append(question)
        return Unanswered("it only listens")


def say(bench: Bench, body: str, policy: Policy = POLICY, author: str = "ada", number: int = 5) -> Run:
    person = Requester(author, 7 if author == "ada" else 8)
    bench.forge.comments[number] = WrittenComment(number, 12, person, False, body, bench.clock.now(), False)
    event = CommentCreated(bench.forge.repo, 12, number, body, person, False, "MEMBER")
    return route(bench.context, event, lambda: policy, Step())


def code(run: Run) -> str:
    (result,) = run.results
    return result.outcome.reason_code


def records(bench: Bench) -> dict[str, EnvironmentRecord]:
    return {entry.record.label: entry.record for entry in bench.ledger.entries() if isinstance(entry, Entry)}


def test_each_project_has_a_machine_of_its_own(bench: Bench) -> None:
    assert code(say(bench, "/gpu-lol up")) == "launched"
    assert code(say(bench, "/gpu-lol up --project vision", number=6)) == "launched"
    found = records(bench)
    assert {label: (r.project, r.profile, r.keep) for label, r in found.items()} == {
        LLM: (LLM, "", ("tokens",)),
        VISION: (VISION, "", ("pictures",)),
    }
    assert {r.name for r in found.values()} == {
        environment_name(5, 12, f"{LLM}:"),
        environment_name(5, 12, f"{VISION}:"),
    }
    # The same one by its name is the machine that runs already.
    assert code(say(bench, f"/gpu-lol up --project {LLM}", number=7)) == "already_running"
    assert f"(profile `{LLM}`)" in bench.texts[-1]


def test_a_machine_is_ended_by_the_name_of_its_project(bench: Bench) -> None:
    say(bench, "/gpu-lol up")
    say(bench, "/gpu-lol up --project vision", number=6)
    assert code(say(bench, "/gpu-lol down", number=7)) == "several_environments"
    assert LLM in bench.texts[-1]
    assert VISION in bench.texts[-1]
    assert "2 machines" in bench.texts[-1].splitlines()[-1], "both cost money"
    say(bench, "/gpu-lol analyze", number=11)
    assert "2 machines" in next(text for text in bench.texts if text.startswith(PROPOSAL_PREFIX)).splitlines()[-1]
    say(bench, "/gpu-lol status", number=8)
    assert f"(`{VISION}`)" in bench.texts[-1]
    for number, word in enumerate(("vision", LLM), 9):
        assert code(say(bench, f"/gpu-lol down {word}", number=number)) == "torn_down"
    assert {record.state for record in records(bench).values()} == {State.CLOSED}


@pytest.mark.parametrize("word", ["large", "llm:large", f"{LLM}:large"])
def test_a_profile_of_a_project_is_ended_by_either_name(bench: Bench, word: str) -> None:
    (bench.forge.folder / LLM / ".gpu-lol.yaml").write_text(
        SPEC % "tokens" + "profiles: {large: {hardware: {vram_required_gb: 22}}}\n"
    )
    assert code(say(bench, "/gpu-lol up large")) == "launched"
    say(bench, "/gpu-lol up --project vision", number=6)
    say(bench, f"/gpu-lol extend 1h --profile {word}", number=7)
    assert records(bench)[f"{LLM}:large"].lease.expires_at > records(bench)[VISION].lease.expires_at
    assert code(say(bench, f"/gpu-lol down {word}", number=8)) == "torn_down"
    assert {label: record.state for label, record in records(bench).items()} == {
        f"{LLM}:large": State.CLOSED,
        VISION: State.READY,
    }


def test_a_name_that_could_be_two_machines_ends_neither(bench: Bench) -> None:
    policy = replace(POLICY, project_folders=("a/llm", "b/llm"))
    for number, folder in enumerate(policy.project_folders, 5):
        (bench.forge.folder / folder).mkdir(parents=True)
        (bench.forge.folder / folder / ".gpu-lol.yaml").write_text(SPEC % "x")
        assert code(say(bench, f"/gpu-lol up --project {folder}", policy, number=number)) == "launched"
    assert code(say(bench, "/gpu-lol down llm", policy, number=8)) == "several_environments"
    assert code(say(bench, "/gpu-lol extend 1h --profile llm", policy, number=9)) == "several_environments"
    assert code(say(bench, "/gpu-lol down audio", policy, number=10)) == "unknown_machine"
    assert "Nothing is running" not in bench.texts[-1]
    assert code(say(bench, "/gpu-lol validate --profile audio", policy, number=11)) == "unknown_machine"
    assert len(bench.cloud.running) == 2


def with_large(bench: Bench) -> None:
    """Rent a machine of a project, and one of a profile of it."""
    profiles = "profiles: {large: {hardware: {vram_required_gb: 22}}}\n"
    (bench.forge.folder / LLM / ".gpu-lol.yaml").write_text(SPEC % "tokens" + profiles)
    for number, words in enumerate(("up", "up large"), 20):
        assert code(say(bench, f"/gpu-lol {words}", number=number)) == "launched"


@pytest.mark.parametrize("word", ["llm", LLM])
def test_a_projects_name_is_its_own_machines_and_none_of_a_profile(bench: Bench, word: str) -> None:
    with_large(bench)
    assert code(say(bench, f"/gpu-lol down {word}")) == "torn_down"
    assert code(say(bench, f"/gpu-lol down {word}", number=6)) == "unknown_machine"
    assert f"`{LLM}:large`" in bench.texts[-1]
    assert code(say(bench, f"/gpu-lol extend 1h --profile {word}", number=7)) == "unknown_machine"
    assert records(bench)[f"{LLM}:large"].state is State.READY


def test_the_whole_name_of_a_record_that_cannot_be_read_means_no_other(bench: Bench) -> None:
    with_large(bench)
    entry = bench.ledger.read(environment_name(5, 12, f"{LLM}:"))
    assert isinstance(entry, Entry)
    assert bench.ledger._store.append(entry.record.name, entry.version, "{not json", "x")
    assert code(say(bench, f"/gpu-lol down {LLM}")) == "teardown_unproven"
    assert records(bench)[f"{LLM}:large"].state is State.READY


def test_a_projects_whole_name_is_no_end_of_anothers(bench: Bench) -> None:
    policy = replace(POLICY, project_folders=("vision", VISION))
    (bench.forge.folder / "vision").mkdir()
    (bench.forge.folder / "vision" / ".gpu-lol.yaml").write_text(SPEC % "x")
    for number, folder in enumerate(policy.project_folders, 20):
        assert code(say(bench, f"/gpu-lol up --project {folder}", policy, number=number)) == "launched"
    assert code(say(bench, "/gpu-lol down vision", policy)) == "torn_down"
    assert code(say(bench, "/gpu-lol down vision", policy, number=6)) == "unknown_machine"
    assert records(bench)[VISION].state is State.READY


def test_the_default_machine_that_cannot_be_read_is_no_others(bench: Bench) -> None:
    profiles = "profiles: {default: {hardware: {vram_required_gb: 22}}}\n"
    (bench.forge.folder / LLM / ".gpu-lol.yaml").write_text(SPEC % "tokens" + profiles)
    assert code(say(bench, "/gpu-lol up default")) == "launched"
    bench.ledger._store.create(environment_name(5, 12), "{not json", "x")
    assert code(say(bench, "/gpu-lol down default", number=6)) == "teardown_unproven"
    assert records(bench)[f"{LLM}:default"].state is State.READY


def test_what_cannot_be_read_may_be_as_much_alike(bench: Bench) -> None:
    with_large(bench)
    bench.ledger._store.create(environment_name(5, 12, f"{VISION}:large"), "{not json", "x")
    assert code(say(bench, "/gpu-lol down large")) == "several_environments"
    assert records(bench)[f"{LLM}:large"].state is State.READY


def test_what_could_be_a_project_or_a_profile_ends_neither(bench: Bench) -> None:
    (bench.forge.folder / LLM / ".gpu-lol.yaml").write_text(
        SPEC % "tokens" + "profiles: {vision: {hardware: {vram_required_gb: 22}}}\n"
    )
    assert code(say(bench, "/gpu-lol up vision")) == "launched"
    assert code(say(bench, "/gpu-lol up --project vision", number=6)) == "launched"
    assert code(say(bench, "/gpu-lol down vision", number=7)) == "several_environments"
    assert code(say(bench, "/gpu-lol down llm:vision", number=8)) == "torn_down"


def test_a_machine_of_the_root_beside_a_projects_is_called_default(bench: Bench) -> None:
    (bench.forge.folder / ".gpu-lol.yaml").write_text(SPEC % "root")
    policy = replace(POLICY, project_folders=())
    assert code(say(bench, "/gpu-lol up --project examples/audio", policy)) == "launched"
    # Whoever names none means the whole: no push and no policy moves that.
    assert code(say(bench, "/gpu-lol up", policy, number=6)) == "launched"
    assert code(say(bench, "/gpu-lol down", policy, number=7)) == "several_environments"
    assert "`default`" in bench.texts[-1]
    assert code(say(bench, "/gpu-lol down default", policy, number=8)) == "torn_down"
    assert records(bench)["examples/audio"].state is State.READY


def test_commands_that_are_proposed_for_a_machine_are_understood(bench: Bench) -> None:
    with_large(bench)
    for number, line in enumerate(("run", "run --profile none -- nvidia-smi", "logs --profile none"), 5):
        say(bench, f"/gpu-lol {line}" + (" -- nvidia-smi" if line == "run" else ""), number=number)
        offered = [each for each in bench.texts[-1].splitlines() if each.startswith("/gpu-lol ")]
        assert len(offered) == 1
        parsed = parse_comment(offered[0])
        assert isinstance(parsed, list)
        assert isinstance(parsed[0], Command), offered
        assert parsed[0].profile in records(bench)


def test_records_that_cannot_be_read_are_all_told(bench: Bench) -> None:
    for key in ("big", "small"):
        bench.ledger._store.create(environment_name(5, 12, key), "{not json", "x")
    assert code(say(bench, "/gpu-lol down vision")) == "teardown_unproven"
    for key in ("big", "small"):
        assert environment_name(5, 12, key) in bench.texts[-1]


def test_a_record_that_cannot_be_read_may_be_the_one_that_is_meant(bench: Bench) -> None:
    bench.ledger._store.create(environment_name(5, 12, f"{VISION}:"), "{not json", "x")
    for number, word in enumerate(("vision", VISION), 5):
        assert code(say(bench, f"/gpu-lol down {word}", number=number)) == "teardown_unproven"


def test_no_second_machine_is_rented_because_a_push_changes_another_project(bench: Bench) -> None:
    bench.forge.changed = {f"{VISION}/train.py"}
    assert code(say(bench, "/gpu-lol up")) == "launched"
    bench.forge.changed |= {f"{LLM}/train.py"}
    assert code(say(bench, "/gpu-lol up", number=6)) == "already_running"
    assert f"One for `{LLM}` beside it: `/gpu-lol up --project {LLM}`" in bench.texts[-1]
    assert list(records(bench)) == [VISION]
    # Whoever names one, or sets one, means it.
    assert code(say(bench, f"/gpu-lol up --project {LLM}", number=7)) == "launched"


def test_no_second_machine_is_rented_because_the_policy_names_projects_now(bench: Bench) -> None:
    assert code(say(bench, "/gpu-lol up", Policy(project_folders=(VISION,)))) == "launched"
    assert code(say(bench, "/gpu-lol up", number=6)) == "already_running"
    assert len(bench.cloud.running) == 1


@pytest.mark.parametrize("broken", ["changed_paths", "notes"])
def test_nothing_is_rented_where_it_cannot_be_told_which_project_is_meant(
    bench: Bench, broken: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_words: object) -> Any:
        raise TransientError("github_unavailable", "GitHub is away")

    assert bench.context.surfaces is not None
    owner: Any = bench.forge if broken == "changed_paths" else type(bench.context.surfaces.notes)
    monkeypatch.setattr(owner, broken if broken == "changed_paths" else "read", fail)
    for number, command in enumerate(("up", "smoke"), 5):
        assert code(say(bench, f"/gpu-lol {command}", number=number)) == "github_unavailable"
    assert bench.ledger.entries() == []
    if broken == "changed_paths":
        assert "--project FOLDER" in bench.texts[-1]
        assert code(say(bench, "/gpu-lol up --project vision", number=7)) == "launched"


def test_nothing_is_set_where_it_cannot_be_told_for_which_project(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_words: object) -> Any:
        raise TransientError("github_unavailable", "GitHub is away")

    bench.forge.changed = {f"{VISION}/train.py"}
    assert code(say(bench, "/gpu-lol set vram=70")) == "corrected"
    with monkeypatch.context() as broken:
        broken.setattr(bench.forge, "changed_paths", fail)
        assert code(say(bench, "/gpu-lol set count=1", number=6)) == "github_unavailable"
        assert code(say(bench, "/gpu-lol set image=auto", number=7)) == "corrected"
    say(bench, "/gpu-lol up --dry-run", number=8)
    assert "1 × RTX4090" not in bench.texts[-1], "it has less than the 70 GB that were set"


def test_a_set_project_that_is_gone_can_be_taken_back(bench: Bench) -> None:
    assert code(say(bench, "/gpu-lol set project=vision")) == "corrected"
    for folder in (LLM, VISION):
        shutil.rmtree(bench.forge.folder / folder)
    assert code(say(bench, "/gpu-lol set vram=48", number=6)) == "unknown_project"
    assert "/gpu-lol set project=auto" in bench.texts[-1]
    assert code(say(bench, "/gpu-lol set project=auto", number=7)) == "corrected"


def test_what_was_set_for_the_only_project_stays_where_another_one_is_named(bench: Bench) -> None:
    bench.forge.changed = {f"{VISION}/train.py"}
    assert code(say(bench, "/gpu-lol set vram=70", Policy(project_folders=(VISION,)))) == "corrected"
    say(bench, "/gpu-lol up --dry-run", number=7)
    assert "1 × RTX4090" not in bench.texts[-1]


def test_a_project_that_no_policy_names_can_be_had_too(bench: Bench) -> None:
    assert code(say(bench, "/gpu-lol up --project examples/audio", Policy())) == "launched"
    assert records(bench)["examples/audio"].keep == ("sounds",)


def test_a_folder_that_is_not_there_launches_nothing(bench: Bench) -> None:
    for number, command in enumerate(("up", "smoke", "offers"), 5):
        assert code(say(bench, f"/gpu-lol {command} --project research/audio", number=number)) == "unknown_project"
        assert f"The policy names `{LLM}`, `{VISION}`." in bench.texts[-1]
    assert bench.ledger.entries() == []


def test_a_projects_name_in_a_profiles_place_is_told_the_option(bench: Bench) -> None:
    assert code(say(bench, "/gpu-lol up vision")) == "unknown_profile"
    assert f"/gpu-lol up --project {VISION}" in bench.texts[-1]


def test_a_profile_with_a_slash_is_told_the_option(bench: Bench) -> None:
    say(bench, f"/gpu-lol up {VISION}")
    assert f"up --project {VISION}" in bench.texts[-1]
    assert bench.ledger.entries() == []


def test_offers_and_smoke_tests_are_about_the_project_that_is_named(bench: Bench) -> None:
    own = (SPEC % "pictures").replace("RTX4090", "L4")
    (bench.forge.folder / VISION / ".gpu-lol.yaml").write_text(own + 'smoke: {command: "python train.py"}\n')
    say(bench, "/gpu-lol offers --project vision")
    assert "1 × L4" in bench.texts[-1]
    bench.settle(door=Door.JOB)
    say(bench, "/gpu-lol smoke --project vision", number=6)
    (record,) = records(bench).values()
    assert (record.project, record.profile, record.accelerator) == (VISION, "smoke", "L4")
    assert record.name == environment_name(5, 12, f"{VISION}:smoke smoke")


def test_what_is_set_holds_until_it_is_taken_back(bench: Bench) -> None:
    assert code(say(bench, "/gpu-lol set project=vision vram=48")) == "corrected"
    (sticky,) = (text for text in bench.texts if text.startswith(PROPOSAL_PREFIX))
    assert f"`project={VISION}` by ada" in sticky
    assert f"{VISION}/" in sticky
    assert code(say(bench, "/gpu-lol up --dry-run", number=6)) == "dry_run"
    assert "48" in bench.texts[-1]
    assert code(say(bench, "/gpu-lol set project=auto", number=7)) == "corrected"
    (sticky,) = (text for text in bench.texts if text.startswith(PROPOSAL_PREFIX))
    assert "Corrected" not in sticky


def test_what_was_set_for_one_projects_machine_is_not_used_for_anothers(bench: Bench) -> None:
    bench.forge.changed = {f"{VISION}/train.py"}
    assert code(say(bench, "/gpu-lol set vram=70")) == "corrected"
    assert code(say(bench, f"/gpu-lol set project={VISION}", number=6)) == "corrected"
    sticky = next(text for text in bench.texts if text.startswith(PROPOSAL_PREFIX))
    assert "`vram=70` by ada, `project=research/vision` by ada" in sticky, "it is the same project's still"
    assert code(say(bench, "/gpu-lol set project=auto", number=7)) == "corrected"
    bench.forge.changed |= {f"{LLM}/train.py"}
    say(bench, "/gpu-lol up --dry-run", number=8)
    assert "1 × RTX4090" in bench.texts[-1]


def test_answers_name_the_command_for_their_project(bench: Bench) -> None:
    say(bench, "/gpu-lol up --project vision --dry-run")
    assert f"```\n/gpu-lol up --project {VISION}\n```" in bench.texts[-1]
    say(bench, "/gpu-lol offers --project vision", number=6)
    assert f"`/gpu-lol up --project {VISION} --gpu RTX4090`" in bench.texts[-1]
    say(bench, "/gpu-lol up --project vision", number=7)
    assert f"This is `{VISION}`" in bench.texts[-1]
    say(bench, "/gpu-lol down", number=8)
    assert f"Again: `/gpu-lol up --project {VISION}`" in bench.texts[-1]


def test_a_project_that_is_not_there_cannot_be_set(bench: Bench) -> None:
    assert code(say(bench, "/gpu-lol set vram=48 project=research/audio")) == "unknown_project"
    assert code(say(bench, "/gpu-lol analyze", number=6)) == "proposed"
    assert "Corrected" not in bench.texts[-1]


@pytest.mark.parametrize("word", ["../llm", "/etc", "a//b", "research/..", "re`search", "$(id)", "-x"])
def test_what_is_no_folder_is_no_project(bench: Bench, word: str) -> None:
    for number, body in enumerate((f"/gpu-lol up --project {word}", f"/gpu-lol set project={word}"), 5):
        assert code(say(bench, body, number=number)) == "command_not_understood"
    assert bench.ledger.entries() == []


def test_a_confirmed_machine_is_of_the_project_that_was_asked_for(bench: Bench) -> None:
    policy = replace(POLICY, max_price_usd_per_hour=Decimal(9), confirm_above_usd_per_hour=Decimal("0.10"))
    assert code(say(bench, "/gpu-lol up --project vision", policy)) == "confirmation_required"
    line = next(line for line in bench.texts[-1].splitlines() if line.startswith("/gpu-lol confirm"))
    assert code(say(bench, line, policy, author="grace", number=6)) == "launched"
    assert list(records(bench)) == [VISION]
    say(bench, "/gpu-lol down", policy, number=7)
    assert code(say(bench, line, policy, author="grace", number=8)) == "confirmation_outdated"


def test_a_folder_that_is_not_there_hides_no_other_request_of_its_comment(bench: Bench) -> None:
    policy = replace(POLICY, max_price_usd_per_hour=Decimal(9), confirm_above_usd_per_hour=Decimal("0.10"))
    run = say(bench, "/gpu-lol up --project gone\n/gpu-lol up --project vision", policy)
    assert [result.outcome.reason_code for result in run.results] == ["unknown_project", "confirmation_required"]
    line = next(line for line in bench.texts[-1].splitlines() if line.startswith("/gpu-lol confirm"))
    assert code(say(bench, line, policy, author="grace", number=6)) == "launched"


def test_one_confirmation_is_for_one_project(bench: Bench) -> None:
    policy = replace(POLICY, max_price_usd_per_hour=Decimal(9), confirm_above_usd_per_hour=Decimal("0.10"))
    assert code(say(bench, "/gpu-lol up", policy)) == "confirmation_required"
    assert f"| project | `{LLM}` |" in bench.texts[-1]
    line = next(line for line in bench.texts[-1].splitlines() if line.startswith("/gpu-lol confirm"))
    assert code(say(bench, "/gpu-lol set project=vision", policy, number=6)) == "corrected"
    assert code(say(bench, line, policy, author="grace", number=7)) == "confirmation_outdated"
    assert bench.ledger.entries() == []


# --- what a pull request changes in several ------------------------------------------------------------------
TRAIN = "import torch\nfrom transformers import AutoModelForCausalLM\nmodel = AutoModelForCausalLM.from_pretrained('Qwen/Qwen2.5-%s').cuda()\nmodel.generate(x)\n"


def trees(bench: Bench, tmp_path: Path, sizes: Mapping[str, tuple[str | None, str]]) -> Policy:
    """Fill base and head with projects of these models, those of which the head is another are changed; return the policy that names them."""
    base = tmp_path / "base"
    bench.forge.trees[bench.forge.pull.base_sha] = base
    for root, side in ((base, 0), (bench.forge.folder, 1)):
        for folder, models in sizes.items():
            (root / folder).mkdir(parents=True, exist_ok=True)
            (root / folder / ".gpu-lol.yaml").unlink(missing_ok=True)
            if (model := models[side]) is not None:
                (root / folder / "train.py").write_text(TRAIN % model)
    bench.forge.changed = {f"{folder}/train.py" for folder, models in sizes.items() if models[0] != models[1]}
    return Policy(project_folders=tuple(sizes))


def sticky(bench: Bench, policy: Policy, *, is_asked: bool = False) -> str:
    occasion = Occasion(bench.forge.repo, bench.forge.pull, lambda: policy, is_asked)
    handle_propose(bench.context, occasion)
    return next((text for text in bench.texts if text.startswith(PROPOSAL_PREFIX)), "")


def rows(text: str) -> list[str]:
    """Return the lines of the table of other projects."""
    _, found, rest = text.partition("**Other projects that this PR changes**")
    lines = rest.strip().split("\n\n")[0].splitlines()
    return lines[2:] if found else []


def test_a_proposal_tells_what_the_other_projects_need_that_change(bench: Bench, tmp_path: Path) -> None:
    sizes = {
        "a": ("0.5B", "1.5B"), "b": ("7B", "32B"), "c": ("7B", "7B"), "d": (None, "7B"), "e": ("32B", "0.5B"),
    }  # fmt: skip
    text = sticky(bench, trees(bench, tmp_path, sizes))
    assert "Project `a`, of 5 that the policy names · another: `/gpu-lol set project=b`" in text
    told = rows(text)
    assert [row.split(" | ")[0] for row in told] == ["| `b`", "| `d`", "| `e`"]
    assert "**1 × A100-80GB, $1.39/h** (+$" in told[0]
    assert told[1].startswith("| `d` | new | 1 × ")
    assert told[2].count("/h (") == 1
    assert "**" not in told[2]
    assert "`/gpu-lol up --project b`" in text


def test_news_of_another_project_is_news_though_the_first_stays_as_it_is(bench: Bench, tmp_path: Path) -> None:
    policy = trees(bench, tmp_path, {"a": ("7B", "7B"), "b": ("7B", "7B")})
    bench.forge.changed = {"a/train.py", "b/train.py"}
    assert sticky(bench, policy) == ""
    (bench.forge.folder / "b" / "train.py").write_text(TRAIN % "32B")
    assert rows(sticky(bench, policy))[0].startswith("| `b` | 1 × ")


def test_four_others_are_looked_into_and_the_rest_is_named(bench: Bench, tmp_path: Path) -> None:
    text = sticky(bench, trees(bench, tmp_path, dict.fromkeys("abcdefgh", ("0.5B", "7B"))))
    assert [row.split(" | ")[0] for row in rows(text)] == ["| `b`", "| `c`", "| `d`", "| `e`"]
    assert "not looked into, but changed too: `f`, `g`, `h`" in text


def test_another_projects_invalid_file_is_told_in_its_row(bench: Bench, tmp_path: Path) -> None:
    policy = trees(bench, tmp_path, {"a": ("0.5B", "7B"), "b": ("0.5B", "7B")})
    (bench.forge.folder / "b" / ".gpu-lol.yaml").write_text("hardwear: {}\n")
    assert rows(sticky(bench, policy)) == ["| `b` | – | b/.gpu-lol.yaml, line 1: there is no key `hardwear`. |"]


def test_another_projects_invalid_file_is_the_news_where_nothing_else_is(bench: Bench, tmp_path: Path) -> None:
    policy = trees(bench, tmp_path, {"a": ("7B", "7B"), "b": ("0.5B", "7B")})
    (bench.forge.folder / "b" / ".gpu-lol.yaml").write_text("hardwear: {}\n")
    bench.forge.changed |= {"a/train.py"}
    text = sticky(bench, policy)
    assert "🔴 Another project: `b`, b/.gpu-lol.yaml, line 1: there is no key `hardwear`." in text


def test_a_project_that_a_pull_request_deletes_is_not_its_own(bench: Bench, tmp_path: Path) -> None:
    policy = trees(bench, tmp_path, {"a": ("7B", "7B"), "b": ("0.5B", "7B")})
    shutil.rmtree(bench.forge.folder / "a")
    bench.forge.changed |= {"a/train.py"}
    text = sticky(bench, policy)
    assert "Project `b`" in text
    assert "set project=a" not in text
    assert rows(text) == []


def test_a_project_built_on_what_changes_is_an_other_one_too(bench: Bench, tmp_path: Path) -> None:
    policy = trees(bench, tmp_path, {"a": ("0.5B", "7B"), "b": ("0.5B", "0.5B"), "c": ("0.5B", "0.5B")})
    for root in (tmp_path / "base", bench.forge.folder):
        for path, text in {
            "core/pyproject.toml": '[project]\nname = "core"\n',
            "core/core/__init__.py": "",
            "core/core/net.py": "X = 1\n",
            "b/train.py": "from core import net\n" + TRAIN % "0.5B",
        }.items():
            (root / path).parent.mkdir(parents=True, exist_ok=True)
            (root / path).write_text(text)
    bench.forge.changed |= {"core/core/net.py"}
    assert [row.split(" | ")[0] for row in rows(sticky(bench, policy))] == ["| `b`"]


def test_one_project_alone_has_no_others(bench: Bench, tmp_path: Path) -> None:
    text = sticky(bench, trees(bench, tmp_path, {"a": ("0.5B", "7B")}))
    assert "Project `a`" not in text
    assert rows(text) == []


def test_a_language_model_is_asked_about_the_proposals_own_project_alone(bench: Bench, tmp_path: Path) -> None:
    policy = trees(bench, tmp_path, {"a": ("0.5B", "7B"), "b": ("0.5B", "32B")})
    model = Listener()
    bench.context = replace(bench.context, lookups=Lookups(llm=model))
    sticky(bench, policy)
    assert model.heard
    assert not any("b/train.py" in question.data for question in model.heard)


# --- a repository whose policy names none --------------------------------------------------------------------
LIBRARY = {"README.md": "# Acme\n\n`pip install acme`\n", "setup.py": "from setuptools import setup\nsetup(name='acme')\n", "acme/core.py": "import re\n"}  # fmt: skip
EXAMPLES = ("audio", "dreambooth", "inpainting", "quantized", "text", "upscaling")


def library(bench: Bench, tmp_path: Path, sizes: tuple[str | None, str | None], changed: set[str], **more: str) -> None:
    """Fill base and head with a library that has examples with packages of their own, one of which has these models."""
    base = tmp_path / "base"
    bench.forge.trees[bench.forge.pull.base_sha] = base
    shutil.rmtree(bench.forge.folder)
    for root, size in ((base, sizes[0]), (bench.forge.folder, sizes[1])):
        for path, text in {
            **LIBRARY,
            **({} if size is None else {"examples/dreambooth/train.py": TRAIN % size}),
            **{f"examples/{name}/train.py": TRAIN % "0.5B" for name in EXAMPLES if name != "dreambooth"},
            **(
                {}
                if size is None
                else {f"examples/{name}/requirements.txt": "torch\ntransformers\n" for name in EXAMPLES}
            ),
            **more,
        }.items():
            (root / path).parent.mkdir(parents=True, exist_ok=True)
            (root / path).write_text(text)
    bench.forge.changed = changed


def test_an_example_with_packages_of_its_own_is_told_as_something_to_ask_for(bench: Bench, tmp_path: Path) -> None:
    train = "examples/dreambooth/train.py"
    library(bench, tmp_path, ("0.5B", "32B"), {train, "docs/x.md", "main.py"}, **{"main.py": TRAIN % "0.5B"})
    text = sticky(bench, Policy())
    assert "Changed, with packages of its own: `examples/dreambooth` · a machine for it: `/gpu-lol up --pro" in text
    assert "this PR about it: `/gpu-lol set project=examples/dreambooth`" in text

    assert rows(text) == []
    bench.forge.changed |= {"examples/audio/train.py"}
    assert "its own: `examples/audio`, `examples/dreambooth` · " in sticky(bench, Policy())


@pytest.mark.parametrize("name", ["dreambooth --share mallory", "a`b", "x;id", "ünder"])
def test_a_folders_name_makes_no_command(bench: Bench, tmp_path: Path, name: str) -> None:
    paths = {f"examples/{name}/train.py": TRAIN % "0.5B", f"examples/{name}/requirements.txt": "torch\n"}
    library(bench, tmp_path, ("0.5B", "32B"), {*paths, "main.py"}, **{"main.py": TRAIN % "0.5B", **paths})
    (bench.forge.folder / "main.py").write_text(TRAIN % "32B")
    text = sticky(bench, Policy())
    assert "Changed, with packages of its own: " in text
    assert "up --project" not in text
    assert "set project=" not in text


def test_nothing_is_told_of_the_folder_that_a_proposal_is_about(bench: Bench, tmp_path: Path) -> None:
    train = "examples/dreambooth/train.py"
    library(bench, tmp_path, ("0.5B", "32B"), {train}, **{"README.md": f"# Acme\n\n```\npython {train}\n```\n"})
    text = sticky(bench, Policy())
    assert train in text
    assert "packages of its own" not in text


def test_a_note_with_a_folder_that_leads_out_is_none() -> None:
    note = ProposalNote().corrected([], "ada")
    assert note_from_json(note_to_json(note)) == note
    kept = note_to_json(replace(note, corrections=replace(note.corrections, project=VISION)))
    assert note_from_json(kept).corrections.project == VISION
    with pytest.raises(UnreadableNote):
        note_from_json(kept.replace(VISION, "../" + VISION))
    for odd in ("null", "0", "[]", '"../x"'):
        with pytest.raises(UnreadableNote):
            note_from_json(note_to_json(replace(note, about=LLM)).replace(f'"{LLM}"', odd))
