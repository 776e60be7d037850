"""The stories in which each request is failed, and the judge of what a failure left behind."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

from gpu_lol_action.domain.machine import NotLaunched
from gpu_lol_action.errors import Ending, TransientError
from gpu_lol_action.rehearsal.github_events import Webhook
from gpu_lol_action.rehearsal.github_faults import KINDS
from tests.support.fault_world import CLIENT_TIMEOUT, IMPATIENT, SPEC, World, machine_for, started_world

ROOT = Path(__file__).parents[2]
KNOWN_CODES = frozenset(re.findall(r'<a id="(\w+)"></a>', (ROOT / "docs" / "errors.md").read_text(encoding="utf-8")))
NO_MACHINE = re.compile(r"\*\*Nothing is (?:running|billing yet)")
MACHINE = re.compile(r"\*\*`gl-\S+` (?:runs|bills|counts as running|may be running)|may be billing\.\*\*|\*\*Running: ")
TRACES = ("Traceback (most recent call last)", "github.GithubException", "urllib3.")


@dataclass(frozen=True, slots=True)
class Story:
    """What was there before, and what happens then. ``must_end``: the machine is to be gone after the next sweep."""

    given: Callable[[World], None]
    event: Callable[[World], Webhook]
    must_end: bool = False


def _nothing(_world: World) -> None:
    """A fresh pull request."""


def _proposed(world: World) -> None:
    world.act(world.opened)


def _running(world: World) -> None:
    end = world.act(world.hub.comment(world.number, "ada", "/gpu-lol up"))
    assert [outcome.reason_code for outcome, _ in end.outcomes] == ["launched"]


def _no_graphql(world: World) -> None:
    world.hub.world.refuses_graphql = True


def _first_offer_is_gone(world: World) -> None:
    """Any card with enough memory will do, and the cheapest is not to be had."""
    pushed = world.hub.push(world.number, "ada", {".gpu-lol.yaml": SPEC.replace("gpu_type: RTX4090, ", "")})
    world.machine = machine_for(world.hub, str(pushed.payload["after"]))
    gpu = world.machine.facts[0]["gpu"]
    gpu["driver"]["gpus"][0] |= {"name": "NVIDIA A40", "memory.total": "46068"}
    gpu["torch"]["devices"][0] |= {"total_bytes": 47.8e9, "free_bytes": 47.4e9, "capability": [8, 6]}
    world.cloud.answers = [NotLaunched("no_capacity", "there are none", is_certain=True)]


def _lease_over(world: World) -> None:
    _running(world)
    world.clock.sleep(timedelta(hours=3))


def _unreachable_machine(world: World) -> None:
    world.machine.instead["access"] = TransientError("machine_unreachable", "the machine does not answer on SSH")


def _says(author: str, line: str) -> Callable[[World], Webhook]:
    return lambda world: world.hub.comment(world.number, author, line)


def _pushed(world: World) -> Webhook:
    pushed = world.hub.push(world.number, "ada", {"train.py": "import torch\nimport transformers\n"})
    world.machine = machine_for(world.hub, str(pushed.payload["after"]))
    return pushed


STORIES: Mapping[str, Story] = {
    "proposal_new": Story(_nothing, lambda world: world.opened),
    "proposal_update": Story(_proposed, _pushed),
    "stranger": Story(_nothing, _says("mallory", "/gpu-lol up")),
    "denial": Story(_nothing, _says("ada", "/gpu-lol up --gpu H100:8")),
    "help": Story(_nothing, _says("ada", "/gpu-lol help")),
    "up": Story(_nothing, _says("ada", "/gpu-lol up")),
    "up_over_rest": Story(_no_graphql, _says("ada", "/gpu-lol up")),
    "up_second_offer": Story(_first_offer_is_gone, _says("ada", "/gpu-lol up")),
    "up_failing": Story(_unreachable_machine, _says("ada", "/gpu-lol up"), must_end=True),
    "status": Story(_running, _says("ada", "/gpu-lol status")),
    "down": Story(_running, _says("ada", "/gpu-lol down")),
    "closed": Story(_running, lambda world: world.hub.close_pull_request(world.number, "ada"), must_end=True),
    "sweep": Story(_lease_over, lambda world: world.hub.schedule(), must_end=True),
}


@dataclass(frozen=True, slots=True)
class Trial:
    """One failure: the ``nth`` request (from 0) of an operation in a story meets a fault, ``times`` in a row."""

    story: str
    operation: str
    nth: int
    kind: str
    times: int

    def __str__(self) -> str:
        return f"{self.story}: {self.kind} x{self.times} at {self.operation} #{self.nth}"


def good_requests(name: str, *, is_swept: bool = False) -> list[str]:
    """The operations of a story that goes well, in order; the archive host's answers among them."""
    with started_world() as world:
        story = STORIES[name]
        if is_swept:
            world.act(world.hub.schedule())
        story.given(world)
        world.hub.forget_requests()
        world.act(story.event(world))
        operations = [seen.operation for seen in world.hub.journal.requests]
    archives = [operation for operation in operations if operation.endswith("/tarball/{ref}")]
    return [*operations, *("archive" for _ in archives)]


def trials(name: str, requests: list[str]) -> Iterator[Trial]:
    """Every request of a story with every fault that it can meet, once and twice in a row."""
    seen: Counter[str] = Counter()
    for operation in requests:
        nth = seen[operation]
        seen[operation] += 1
        for kind, shape in KINDS.items():
            is_read = operation.startswith("GET") or operation == "archive"
            if (shape.mode == "stale" and not is_read) or (kind.startswith("lost_") and is_read):
                continue
            for times in (1, 2):
                yield Trial(name, operation, nth, kind, times)


def run_trial(trial: Trial) -> list[str]:
    """Play the story with the fault, then a sweep without; return everything that must not be."""
    story = STORIES[trial.story]
    with started_world() as world:
        story.given(world)
        before = {comment.comment_id for comment in world.comments}
        is_running_before = bool(world.cloud.running)
        world.hub.inject(trial.kind, trial.operation, times=trial.times, skip=trial.nth)
        world.ends.clear()
        world.timeout = IMPATIENT if KINDS[trial.kind].delivery == "silence" else CLIENT_TIMEOUT
        world.act(story.event(world))
        world.timeout = CLIENT_TIMEOUT
        if len(world.hub.journal.faults) == trial.times:
            return [f"{trial}: the story has no such request"]
        world.hub.journal.faults.clear()
        problems = [*_ends(world), *_comments(world), *_billing(world, before)]
        is_ended_by_word = trial.story == "down" and "torn_down" in world.reason_codes
        must_end = (
            story.must_end or is_ended_by_word or (not is_running_before and "launched" not in world.reason_codes)
        )
        if world.cloud.running or world.hub.repository.git.refs("refs/gpu-lol/environments/"):
            problems += _after_sweep(world, must_end=must_end)
        return [f"{trial}: {problem}" for problem in problems]


def _ends(world: World) -> Iterator[str]:
    """An explained end: a reason code of the documentation, no fault of our own, nothing of our insides."""
    for end in world.ends:
        if end.escaped is not None:
            yield f"an exception escaped: {end.escaped!r}"
        for outcome, ending in end.outcomes:
            if outcome.reason_code not in KNOWN_CODES:
                yield f"the reason code {outcome.reason_code!r} is in no documentation"
            if ending is Ending.INTERNAL_ERROR or outcome.reason_code == "internal_error":
                yield "it ended as a fault of our own"
            if outcome.decision == "failed" and not outcome.text.strip():
                yield f"it failed with {outcome.reason_code} and without a word"
    for failure in world.progress.failures:
        yield f"an unexpected error is in the log: {failure!r}"
    for text in world.texts:
        yield from (f"a comment shows {trace!r}" for trace in TRACES if trace in text)


def _comments(world: World) -> Iterator[str]:
    """Never two comments where one should be: marker and heading of what was posted tell what it is about."""
    posted = Counter("\n".join(comment.first_body.split("\n")[:2]) for comment in world.comments)
    yield from (f"{count} comments of {head!r}" for head, count in posted.items() if count > 1)


def _billing(world: World, before: set[int]) -> Iterator[str]:
    """Nothing bills that no open record names, and nobody is told that nothing runs while something does."""
    records = world.records
    open_names = {record.name_on_cloud for record in records if record.is_open}
    yield from (f"{name} bills without an open record" for name in world.cloud.running if name not in open_names)
    if not world.cloud.running:
        return
    said = [outcome.text for end in world.ends for outcome, _ in end.outcomes]
    said += [comment.body for comment in world.comments if comment.comment_id not in before]
    # A comment that could not be edited any more says what was so when it was written; another one has to tell.
    is_said = any(MACHINE.search(text) for text in said)
    if any(NO_MACHINE.search(text) for text in said) and not is_said:
        yield "it was said that nothing runs, while a machine does"
    has_failed = any(ending not in (Ending.ANSWERED, Ending.DENIED) for end in world.ends for _, ending in end.outcomes)
    if has_failed and not is_said:
        yield "it failed while a machine runs, and nothing says so"


def _after_sweep(world: World, *, must_end: bool) -> Iterator[str]:
    """What is to end has ended at the latest with the next sweep that nothing disturbs."""
    world.clock.sleep(timedelta(minutes=30))
    world.ends.clear()
    world.act(world.hub.schedule())
    if must_end and world.cloud.running:
        yield f"a sweep later {sorted(world.cloud.running)} still runs"
    open_names = {record.name_on_cloud for record in world.records if record.is_open}
    if not set(world.cloud.running) <= open_names:
        yield "after the sweep a machine bills without an open record"
    if must_end and open_names:
        yield f"a sweep later {sorted(map(str, open_names))} is still open"
    yield from (f"the sweep: {problem}" for problem in _ends(world))
    yield from _comments(world)
