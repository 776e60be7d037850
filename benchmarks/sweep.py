"""The sweeper over many records and machines: ``sweep.py --records 1000 --machines 1000``.

Records lie as git refs on the GitHub stand-in, read over HTTP with the real client; the machines are listed by a scripted
cloud and answer a look at once, so the seconds are ours and GitHub's. Half of the records are closed, half are ready with
their machine; the other machines have no record at all and are ended. Prints seconds and requests of a sweep at three
sizes and, as its last line, JSON with what one more record costs.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from decimal import Decimal
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))
from gpu_lol_action.adapters.ledger_text import to_message
from gpu_lol_action.domain.environment import Bill, EnvironmentRecord, Lease, Requester, State
from gpu_lol_action.domain.environment_json import first_page, page_to_json
from gpu_lol_action.domain.names import environment_name, user_hash
from gpu_lol_action.domain.policy import Policy
from gpu_lol_action.handlers.sweep import handle_sweep
from gpu_lol_action.rehearsal.github_changes import PullRequestDraft, open_pull
from tests.support.fault_world import World, started_world
from tests.support.hands import HEAD

ENOUGH_REQUESTS = 10**6
"""The stand-in counts the hour's requests as GitHub does; what a sweep takes is measured, not refused."""


def record_of(world: World, repository_id: int, number: int, *, is_open: bool) -> EnvironmentRecord:
    """Return a record of that pull request: ready for hours, or closed a day ago."""
    now, name = world.clock.now(), environment_name(repository_id, number)
    ready = EnvironmentRecord(
        name=name,
        state=State.READY,
        repository=world.hub.setting.full_name,
        repository_id=repository_id,
        pull_request=number,
        profile="",
        sha=HEAD,
        requester=Requester("ada", 7),
        run_id="1",
        claimed_at=now - timedelta(hours=5),
        lease=Lease(now - timedelta(hours=5), now + timedelta(hours=7)),
        updated_at=now,
        user_hash=user_hash(repository_id),
        cloud="runpod",
        accelerator="A40",
        accelerator_count=1,
        price_usd_per_hour=Decimal("0.44"),
        name_on_cloud=f"{name}-c0ffee00",
        launch_asked_at=now - timedelta(hours=5),
        launcher_stopped_at=now - timedelta(hours=4),
        ready_at=now - timedelta(hours=4),
    )
    if is_open:
        return ready
    then = now - timedelta(days=1)
    bill = Bill(then - timedelta(hours=2), then, Decimal("0.44"), Decimal("0.88"))
    return replace(ready, state=State.CLOSED, bill=bill, closed_at=then, absences=(then, then), claimed_at=then)


def furnish(world: World, records: int, machines: int, say: Callable[[str], None]) -> int:
    """Write the records, rent the machines; return the repository's number."""
    hub, stream = world.hub, b""
    with world.context("1") as context:
        repository_id = context.forge.repository().repository_id
    began = time.perf_counter()
    author, head = hub.add_user("ada", role="admin"), hub.issue(world.number).pull
    if head is None:
        raise LookupError("the world's pull request")
    for place in range(records):
        draft = PullRequestDraft(f"Change {place}", head.head_ref, head.base_ref)
        with hub.world.lock:
            number = open_pull(hub.world, hub.repository, author, draft).number
        record = record_of(world, repository_id, number, is_open=place % 2 == 0)
        message = (to_message(record.name, page_to_json(first_page(record))) or "").encode()
        ref = f"refs/gpu-lol/environments/{record.name}".encode()
        stream += b"commit %s\ncommitter bot <bot@example.org> 0 +0000\ndata %d\n%s\n" % (ref, len(message), message)
        if record.is_open:
            world.cloud.running[str(record.name_on_cloud)] = world.clock.now() - timedelta(hours=2)
    # As the commits that our client writes, but in one go.
    hub.repository.git.git("fast-import", "--quiet", stdin=stream)
    for place in range(machines - len(world.cloud.running)):
        name = f"{environment_name(repository_id, 10**5 + place)}-c0ffee00"
        world.cloud.running[name] = world.clock.now() - timedelta(hours=2)
    say(f"{records} records written in {time.perf_counter() - began:.0f} s")
    return repository_id


def measure(records: int, machines: int) -> dict[str, float]:
    """Return seconds, requests and ended machines of one sweep over so many."""
    with started_world() as world:
        world.hub.use_up_requests(world.hub.bot_token, ENOUGH_REQUESTS)
        repository_id = furnish(world, records, machines, lambda text: print(text, flush=True))
        world.hub.use_up_requests(world.hub.bot_token, ENOUGH_REQUESTS)
        world.hub.forget_requests()
        before = len(world.cloud.running)
        with world.context("2") as context:
            context.ledger.note_sweep(world.clock.now() - timedelta(hours=1))
            world.hub.forget_requests()
            began = time.perf_counter()
            outcome = handle_sweep(context, repository_id, Policy())
            seconds = time.perf_counter() - began
        counts = world.hub.counts()
        if outcome.reason_code != "swept" or len(world.cloud.running) != (records + 1) // 2:
            raise SystemExit(f"{outcome.reason_code}: {len(world.cloud.running)} machines left\n{outcome.text[-2000:]}")
        print(f"{counts}")
        return {
            "records": records,
            "machines": machines,
            "seconds": round(seconds, 2),
            "requests": sum(counts.values()),
            "ended": before - len(world.cloud.running),
            "listings": world.cloud.log.count("list"),
        }


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--records", type=int, default=1000)
    parser.add_argument("--machines", type=int, default=1000)
    options = parser.parse_args()
    found = []
    for share in (0.01, 0.1, 1):
        found.append(measure(int(options.records * share), int(options.machines * share)))
        print(json.dumps(found[-1]), flush=True)
    more = found[-1]["records"] - found[0]["records"]
    each = {name: round((found[-1][name] - found[0][name]) / more, 4) for name in ("seconds", "requests")}
    print(json.dumps({**found[-1], "per_additional_record": each}))


if __name__ == "__main__":
    main()
