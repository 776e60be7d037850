"""Scheduled GPU smoke tests with real SkyPilot on the loopback cloud (needs root): every ending once, as bot.yml plays it.

Each ending has a GitHub, a cloud and fresh runners of its own: the clock strikes, `decide` runs, then `act`, and where that
was not green the finishing job. What comes of it is judged by what a maintainer sees (exit status, reason, result in
`runs.json`, check run), by the cloud (pods left) and by the ledger (records open, the bill against the provider's own).
Prints a row for each ending with its seconds by phase, and JSON at last; ends with status 1 where one is told wrongly.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor, as_completed
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path

from gpu_lol_action.adapters.github import Connection, GitHubClient
from gpu_lol_action.adapters.ledger import RecordLedger
from gpu_lol_action.adapters.ledger_refs import GitRefStore
from gpu_lol_action.domain.environment import EnvironmentRecord
from gpu_lol_action.domain.ledger import Entry
from gpu_lol_action.rehearsal.github_events import Webhook
from gpu_lol_action.rehearsal.image import ensure_image
from gpu_lol_action.rehearsal.stage import RunningStep, Stage, StepRun

CRON = "41 3 * * *"
SCHEDULE = {"GPU_LOL_SMOKE_SCHEDULE": CRON}
BEGUN = "the test has begun"
NO_CAPACITY = (
    "There are no longer any instances available with the requested specifications. Please refresh and try again."
)
# The words and figures of torch 2.8's c10/cuda/CUDACachingAllocator.cpp.
OUT_OF_MEMORY = (
    "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacity of 23.64 GiB of "
    "which 1.31 GiB is free. Including non-PyTorch memory, this process has 22.33 GiB memory in use."
)
SPEC = """\
hardware: {{gpu_type: RTX4090, gpu_count: 1, vram_required_gb: 20}}
dependencies: {{requirements: [packaging]}}
meta: {{name: smoke, workload_type: training}}
smoke: {{command: sh tests/gpu.sh, timeout_minutes: {minutes}}}
"""
# What a runner of tests does, in a few lines of shell: no package is fetched for it.
REPORTED = """\
cat > "$GPU_LOL_JUNIT" <<END
<testsuites><testsuite name="pytest" tests="2">
<testcase classname="tests.test_gpu" name="test_adds" time="0.1"/>
<testcase classname="tests.test_gpu" name="test_shape" time="0.2">{failure}</testcase>
</testsuite></testsuites>
END
exit {code}
"""
PASSING = REPORTED.format(failure="", code=0)
FAILING = REPORTED.format(failure="<failure message='assert 3 == 4'/>", code=1)
NEVER_ENDING = "while :; do sleep 1; done\n"
# What a runner does to a job that was cancelled (actions/runner, ProcessInvoker.cs): two signals, then the end.
RUNNERS_PATIENCE = ((signal.SIGINT, 7.5), (signal.SIGTERM, 2.5))


@dataclass(frozen=True, slots=True)
class Told:
    """What has to be said of an ending. ``result``, ``why`` and ``remedy`` stand in the run's own line, ``log`` in the job's.

    ``exit_code`` None: the step was cancelled or killed, and has no word of its own.
    """

    exit_code: int | None
    reason_code: str = ""
    result: str = ""
    why: tuple[str, ...] = ()
    remedy: str = ""
    conclusion: str = ""
    finish: str = ""
    sweep: str = ""
    log: str = BEGUN


@dataclass(frozen=True, slots=True)
class Ending:
    """One way in which a test ends, what befalls it, and what has to be said of it; ``beside`` is another run meanwhile."""

    test: str
    told: Told
    minutes: int = 3
    retry_within: str = "1m"
    before: Callable[[Stage], None] = lambda _stage: None
    meanwhile: Callable[[Stage, RunningStep], None] = lambda _stage, _step: None
    beside: Callable[[Stage], StepRun] | None = None
    is_asked: bool = False
    is_finished: bool = True


@dataclass(slots=True)
class Played:
    """What came of an ending, and what is wrong with it."""

    name: str
    decide: StepRun
    act: StepRun
    finish: StepRun | None
    sweep: StepRun | None
    pods: int
    records: list[EnvironmentRecord]
    run: Mapping[str, object]
    wrong: list[str] = field(default_factory=list)


def refuse(stage: Stage) -> None:
    """The provider has no machine of any kind."""
    stage.open_cloud().post("fault", {"op": "podFindAndDeployOnDemand", "message": NO_CAPACITY, "times": 999})


def lose(stage: Stage, _step: RunningStep) -> None:
    """The machine's host dies while the test runs on it."""
    for pod in stage.open_cloud().pods():
        stage.open_cloud().post("kill", {"id": pod["id"]})


def cancel(_stage: Stage, step: RunningStep) -> None:
    """Somebody presses "Cancel run": what is not over after ten seconds is killed with all its children."""

    def insist() -> None:
        for number, seconds in RUNNERS_PATIENCE:
            if step.process.poll() is None:
                step.process.send_signal(number)
                time.sleep(seconds)
        kill_all(step)

    threading.Thread(target=insist, daemon=True).start()


def die(_stage: Stage, step: RunningStep) -> None:
    """The runner itself is gone: nothing is signaled, nothing can be said."""
    kill_all(step)


def kill_all(step: RunningStep) -> None:
    """End the step with all that it started: with a runner everything on it goes, whatever session it is in."""
    home = f"HOME={step.runner}".encode()
    for _ in range(3):  # what is forked while the list is read is in the next one
        for folder in Path("/proc").iterdir():
            try:
                variables = (folder / "environ").read_bytes().split(b"\0") if folder.name.isdigit() else []
                if any(each == home or each.startswith(home + b"/") for each in variables):
                    os.kill(int(folder.name), signal.SIGKILL)
            except OSError:
                continue


def asked(stage: Stage) -> Webhook:
    """Let a maintainer ask for the test in the repository's first pull request."""
    stage.hub.open_pull_request("researcher", {"notes.md": "more\n"})
    return stage.hub.comment(1, stage.hub.maintainer, "/gpu-lol smoke")


def taken_down(stage: Stage) -> StepRun:
    """Let the same maintainer end the machine there."""
    return stage.run_action(stage.hub.comment(1, stage.hub.maintainer, "/gpu-lol down")).last


def swept(stage: Stage) -> StepRun:
    """Let the clock strike for a sweep, of which nobody is told what is going on."""
    return stage.run_action(stage.hub.schedule(cron="17 * * * *")).last


ENDINGS = {
    "passed": Ending(PASSING, Told(0, "smoke_passed", "passed", conclusion="success")),
    "failed": Ending(FAILING, Told(1, "smoke_failed", "failed", ("exit status 1",), conclusion="failure")),
    "time box": Ending(
        NEVER_ENDING,
        Told(1, "smoke_failed", "failed", ("1 minutes",), "timeout_minutes", "failure"),
        minutes=1,
    ),
    "out of memory": Ending(
        f"echo '{OUT_OF_MEMORY}' >&2; exit 1\n",
        Told(1, "smoke_failed", "failed", ("ran out of memory",), "batch", "failure"),
    ),
    "machine lost": Ending(
        NEVER_ENDING,
        Told(0, "smoke_not_run", "not run", ("while the test ran",), "another machine", "neutral"),
        meanwhile=lose,
    ),
    "cancelled": Ending(NEVER_ENDING, Told(None), meanwhile=cancel),
    "runner lost": Ending(NEVER_ENDING, Told(None, finish="left_over_ended"), meanwhile=die),
    "no finishing job": Ending(NEVER_ENDING, Told(None, sweep="swept"), meanwhile=die, is_finished=False),
    "swept beside": Ending(
        NEVER_ENDING,
        Told(1, "smoke_failed", "failed", ("2 minutes",), "timeout_minutes", "failure", sweep="swept"),
        minutes=2,
        beside=swept,
    ),
    "taken down": Ending(
        NEVER_ENDING,
        Told(
            0,
            "smoke_not_run",
            "not run",
            ("`maintainer` took the machine down",),
            conclusion="neutral",
            sweep="torn_down",
        ),
        beside=taken_down,
        is_asked=True,
    ),
    "no capacity": Ending(
        PASSING,
        Told(0, "smoke_not_run", "not run", ("offers",), "smoke.retry_within", "neutral", log="tried again in"),
        retry_within="15m",
        before=refuse,
    ),
}


def play(name: str, ending: Ending, image: Path) -> Played:
    """Let the clock strike once in a repository of its own, and look at what is left."""
    with Stage(image=image) as stage:
        stage.open_cloud()
        ending.before(stage)
        policy = f"smoke: {{retry_within: {ending.retry_within}}}\n"
        spec = SPEC.format(minutes=ending.minutes)
        test = f"echo {BEGUN}\n{ending.test}"
        stage.hub.commit({".gpu-lol.yaml": spec, "tests/gpu.sh": test, ".github/gpu-lol.yml": policy})
        event = asked(stage) if ending.is_asked else stage.hub.schedule(cron=CRON)
        run_id = stage.hub.start_run(event.name, stage.hub.maintainer)
        keyless = {"GPU_LOL_PHASE": "decide", "GPU_LOL_CLOUDS": "runpod", "RUNPOD_API_KEY": ""}
        decide = stage.run_step(event, run_id, {**keyless, **SCHEDULE})
        if decide.outputs.get("needs_cloud") != "true":
            raise SystemExit(f"{name}: no smoke test was started\n{decide.log}")
        deferred = {"GPU_LOL_DEFERRED": decide.outputs["deferred"]}
        with ThreadPoolExecutor(1) as beside:
            act, sweeping = acted(stage, ending, stage.start_step(event, run_id, {"GPU_LOL_PHASE": "act", **deferred, **SCHEDULE}), beside)  # fmt: skip
        sweep, finish, runs = sweeping.result() if sweeping else None, None, runs_of(act)
        if act.exit_code != 0 and ending.is_finished:
            # The run is alive meanwhile: this job is of it.
            handed_on = {**deferred, "GPU_LOL_ACT_DECISION": act.outputs.get("decision", "")}
            finish = finished(stage, event, run_id, handed_on)
        stage.hub.finish_run(run_id, "cancelled" if ending.told.exit_code is None else "success")
        if not ending.is_finished:
            sweep = swept(stage)
        pods = len(stage.open_cloud().pods())
        played = Played(name, decide, act, finish, sweep, pods, records_of(stage), runs)
        played.wrong = wrongs(stage, ending.told, played)
        return played


def acted(
    stage: Stage, ending: Ending, step: RunningStep, beside: ThreadPoolExecutor
) -> tuple[StepRun, Future[StepRun] | None]:
    """Read the step's log to its end; what befalls the night does so at the test's first line."""
    sweeping: list[Future[StepRun] | None] = []

    def watch(line: str) -> None:
        if BEGUN in line and not sweeping:
            sweeping.append(beside.submit(ending.beside, stage) if ending.beside is not None else None)
            ending.meanwhile(stage, step)

    return step.wait(watch), next(iter(sweeping), None)


def finished(stage: Stage, event: Webhook, run_id: str, handed_on: Mapping[str, str]) -> StepRun:
    """Run the finishing job: its light step, and the one with the keys where that leaves something to it."""
    variables = {"GPU_LOL_FINISHING": "true", **handed_on, **SCHEDULE}
    light = stage.run_step(event, run_id, {**variables, "GPU_LOL_PHASE": "decide"})
    if light.outputs.get("needs_cloud") != "true":
        return light
    return stage.run_step(event, run_id, {**variables, "GPU_LOL_PHASE": "act"})


def records_of(stage: Stage) -> list[EnvironmentRecord]:
    """Return what the ledger holds, asked as a later run on another runner would."""
    client = GitHubClient(Connection(stage.hub.bot_token, stage.full_name, stage.hub.api_url), lambda _pause: None)
    return [entry.record for entry in RecordLedger(GitRefStore(client)).entries() if isinstance(entry, Entry)]


def runs_of(act: StepRun) -> Mapping[str, object]:
    """Return the run's own line of `runs.json`, of the files that bot.yml keeps; nothing where none were laid."""
    folder = act.outputs.get("report_path")
    if not folder:
        return {}
    found = json.loads((Path(folder) / "runs.json").read_text(encoding="utf-8"))["runs"]
    return found[-1] if isinstance(found[-1], dict) else {}


def wrongs(stage: Stage, told: Told, played: Played) -> list[str]:
    """Return what is not as it has to be."""
    act, run = played.act, played.run
    why, remedy = str(run.get("why", "")), str(run.get("remedy", ""))
    conclusions = [str(check.get("conclusion")) for check in stage.hub.repository.record("checks").values()]
    open_records = [record.name for record in played.records if record.is_open]
    billed = sum((Decimal(str(bill["usd"])) for bill in stage.open_cloud().bills()), Decimal(0))
    said = sum((record.bill.usd for record in played.records if record.bill is not None), Decimal(0))
    swept_code = played.sweep.outputs.get("reason_code", "") if played.sweep is not None else ""
    finish_code = played.finish.outputs.get("reason_code", "") if played.finish is not None else ""
    wants = (
        ("exit status", told.exit_code is None or act.exit_code == told.exit_code, act.exit_code),
        ("the step was not stopped", told.exit_code is not None or act.exit_code != 0, act.exit_code),
        ("reason", act.outputs.get("reason_code", "") == told.reason_code, act.outputs.get("reason_code")),
        ("result", not told.result or run.get("result") == told.result, run.get("result")),
        ("why", all(each in why for each in told.why), why),
        ("remedy", told.remedy in remedy, remedy),
        ("log", told.log in act.log, told.log),
        ("check run", conclusions == ([told.conclusion] if told.conclusion else []), conclusions),
        ("pods are left", played.pods == 0, played.pods),
        ("records are open", not open_records, open_records),
        ("billed less than the provider does", said >= billed, (said, billed)),
        ("asked what the cloud does not know", not stage.open_cloud().unexpected(), stage.open_cloud().unexpected()),
        ("asked what GitHub does not know", not stage.hub.problems(), stage.hub.problems()),
        ("the sweep", not told.sweep or swept_code == told.sweep, swept_code),
        ("the finishing job is red", played.finish is None or played.finish.exit_code == 0, played.finish),
        ("the finishing job", not told.finish or finish_code == told.finish, finish_code),
    )
    return [f"{what}: {found!r}"[:400] for what, is_right, found in wants if not is_right]


def row(played: Played) -> str:
    """Return what is told of an ending."""
    phases = {"decide": played.decide.seconds}
    for record in played.records:
        for phase in record.phases:
            phases[phase.name] = phases.get(phase.name, 0.0) + phase.seconds
    phases["act in all"] = played.act.seconds
    if played.finish is not None:
        phases["finish"] = played.finish.seconds
    if played.sweep is not None:
        phases["sweep"] = played.sweep.seconds
    offers = "; ".join(f"{each.accelerator}: {each.answer}" for record in played.records for each in record.attempts)
    finish = f", finish: {played.finish.outputs.get('reason_code')}" if played.finish is not None else ""
    said = f"exit {played.act.exit_code}, {played.act.outputs.get('reason_code') or 'no word'}"
    told = f"({played.run.get('result')}, {played.run.get('reason')}){finish}"
    open_count = sum(record.is_open for record in played.records)
    lines = [
        f"{played.name}: {said} {told}; pods left {played.pods}, records open {open_count}",
        "  seconds: " + ", ".join(f"{name} {seconds:.1f}" for name, seconds in phases.items()),
        f"  offers: {offers or 'none'}",
        *(
            f"  {label}: {played.run[key]}"
            for label, key in (("why", "why"), ("remedy", "remedy"))
            if played.run.get(key)
        ),
        *(f"  WRONG {each}" for each in played.wrong),
    ]
    if played.wrong:
        lines += [f"  | {line}" for line in played.act.log.splitlines()[-25:]]
        lines += [f"  / {line}" for line in played.finish.log.splitlines()[-25:]] if played.finish is not None else []
    return "\n".join(lines)


def main() -> int:
    """Play the endings, and say how many were told wrongly."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="+", choices=ENDINGS, metavar="NAME", help=f"of {', '.join(ENDINGS)}")
    parser.add_argument("--jobs", type=int, default=1, help="how many endings are played at a time")
    options = parser.parse_args()
    image = ensure_image()
    chosen = options.only or list(ENDINGS)
    ends: list[Played] = []
    with ThreadPoolExecutor(options.jobs) as pool:
        for coming in as_completed(pool.submit(play, name, ENDINGS[name], image) for name in chosen):
            ends.append(coming.result())
            print(row(ends[-1]), flush=True)
    load = os.getloadavg()[0]
    print(f"load average at the end {load:.1f} on {os.cpu_count()} processors")
    wrong = sum(bool(each.wrong) for each in ends)
    counts = {
        "endings": len(ends),
        "pods_left": sum(each.pods for each in ends),
        "records_open": sum(record.is_open for each in ends for record in each.records),
        "wrong": wrong,
    }
    print(json.dumps(counts))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
