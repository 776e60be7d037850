"""The steps of a live run, in order: each tries one layer, and says what it saw. After each failure nothing is left running."""

from __future__ import annotations

import os
import re
import signal
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timezone
from decimal import Decimal
from pathlib import Path

from player import Player, wait_until
from report import Row

from gpu_lol_action.domain.environment import CheckStatus, State

Seen = tuple[bool | None, str]


@dataclass(frozen=True)
class Step:
    """``try_it`` returns whether it was as expected (None: nothing was expected) and what was seen."""

    name: str
    tried: str
    try_it: Callable[[Player], Seen]


def play(player: Player, names: list[str], most_usd: Decimal) -> list[Row]:
    """Play the named steps; whatever happens, end what is left, and say what it cost."""
    rows: list[Row] = []
    before = player.provider.balance_usd()
    try:
        _check_price(player, most_usd)
        for step in (step for step in STEPS if step.name in names):
            print(f"== {step.tried}", flush=True)
            began = time.monotonic()
            try:
                is_as_expected, seen = step.try_it(player)
            except Exception as error:  # noqa: BLE001  a step that breaks is a step that failed, and machines cost money
                is_as_expected, seen = False, f"{type(error).__name__}: {error}"
            rows.append(Row(step.name, step.tried, is_as_expected, seen, time.monotonic() - began))
            print(f"   {rows[-1].mark}: {seen}", flush=True)
    finally:
        rows.append(_clean_up(player))
    rows.append(_bill(player, before))
    return rows


def _check_price(player: Player, most_usd: Decimal) -> None:
    """Spend nothing where one machine might cost more than this, if only the sweeper ended it; one runs at a time."""
    _, said = player.gpu_lol("up", "--dry-run", "--hours", "15m")
    costs = [Decimal(found) for found in re.findall(r"at most\s+\$([0-9]+\.[0-9]{2})", said)]
    if not costs or max(costs) > most_usd:
        raise SystemExit(f"one machine must cost at most ${most_usd}, and this is what it says:\n{said}")


def _clean_up(player: Player) -> Row:
    began = time.monotonic()
    if any(record.is_open for record in player.records):
        player.gpu_lol("down")
        player.gpu_lol("sweep")
    left = player.machines() + [record.name for record in player.records if record.is_open]
    seen = (
        f"left: {', '.join(left)}. End it: {player.by_hand}"
        if left
        else "the provider lists none, and no record is open"
    )
    return Row("left", "afterwards nothing runs", not left, seen, time.monotonic() - began)


def _bill(player: Player, before: Decimal | None) -> Row:
    ours = sum((record.bill.usd for record in player.records if record.bill), Decimal(0))
    after = player.provider.balance_usd()
    theirs = f"; the account has ${before - after:.2f} less" if before is not None and after is not None else ""
    return Row("bill", "what it cost", None, f"the newest bill on record is ${ours:.2f}{theirs}", 0)


def wrong_key(player: Player) -> Seen:
    """Try to rent with a key that is none."""
    code, said = player.gpu_lol("up", "--hours", "15m", RUNPOD_API_KEY="rpa_" + "0" * 44)
    return code == 2 and "key" in said and not player.machines(), f"exit {code}: {_last(said)}"


def up(player: Player) -> Seen:
    """Rent a machine and look at what was checked."""
    code, said = player.gpu_lol("up", "--hours", "15m")
    record = player.newest
    if code != 0 or record.state is not State.READY:
        return False, f"exit {code}: {_last(said)}"
    failed = [check.name for check in record.checks if check.status is CheckStatus.FAILED]
    phases = ", ".join(f"{phase.name} {phase.seconds:.0f} s" for phase in record.phases)
    tries = "; ".join(f"{each.accelerator} {each.answer}" for each in record.attempts)
    return not failed, f"{tries}; {phases}; failed checks: {', '.join(failed) or 'none'}"


def log_in(player: Player) -> Seen:
    """Log in as the requester."""
    seen = player.ssh("nvidia-smi -L && grep ends /etc/motd")
    return seen.startswith("GPU 0:"), seen


def use(player: Player) -> Seen:
    """Run a command and the checks from here."""
    ran, said = player.gpu_lol("run", "--", "python3 train.py; nvidia-smi --query-gpu=memory.total --format=csv")
    checked, verdict = player.gpu_lol("validate")
    return (
        ran == 0 and "epoch 1" in said and checked == 0,
        f"run: exit {ran}; validate: exit {checked}, {_last(verdict)}",
    )


def take_snapshot(player: Player) -> Seen:
    """Install something by hand, and take a snapshot of what the machine has become."""
    install = '"$(head -n 1 ~/.gpu-lol/inventory.python)" -m pip install -q tabulate==0.9.0'
    installed, said = player.gpu_lol("run", "--", f"PIP_BREAK_SYSTEM_PACKAGES=1 {install}")
    if installed != 0:
        return False, f"install: exit {installed}, {_last(said)}"
    taken, said = player.gpu_lol("snapshot", "--output", str(player.snapshot))
    found = re.findall(
        r"^ *- (tabulate\S*)", player.snapshot.read_text() if player.snapshot.is_file() else "", re.MULTILINE
    )
    return taken == 0 and found == ["tabulate==0.9.0"], f"exit {taken}, {_last(said)}; it lists {', '.join(found)}"


def resume(player: Player) -> Seen:
    """Rent a machine from the snapshot, and take one of that: it has nothing new. Ends it."""
    code, said = player.gpu_lol("resume", str(player.snapshot), "--hours", "15m")
    if code != 0 or player.newest.state is not State.READY:
        return False, f"resume: exit {code}, {_last(said)}"
    there = player.ssh('"$(head -n 1 ~/.gpu-lol/inventory.python)" -c "import tabulate; print(tabulate.__version__)"')
    player.commit(".gpu-lol.yaml", player.snapshot.read_text())
    again, said = player.gpu_lol("snapshot", "--output", str(player.snapshot) + ".again")
    is_same = Path(f"{player.snapshot}.again").read_text() == player.snapshot.read_text()
    ended, verdict = player.gpu_lol("down")
    is_good = again == 0 and is_same and there.strip() == "0.9.0" and ended == 0 and not player.machines()
    news = "nothing new" if is_same else "something else"
    return (
        is_good,
        f"tabulate {there.strip()} is there; another snapshot has {news}; down: exit {ended}, {_last(verdict)}",
    )


def pod_key(player: Player) -> Seen:
    """Ask the provider with the key that it gave the pod."""
    # Shown are names and numbers, never the key: it opens this pod, and perhaps more.
    script = (
        "tr '\\0' '\\n' < /proc/1/environ | sed -n 's/^RUNPOD_API_KEY=/header = \"Authorization: Bearer /p' | sed 's/$/\"/' > /tmp/k; "
        "base=$(tr '\\0' '\\n' < /proc/1/environ | sed -n 's/^RUNPOD_API_BASE_URL=//p'); "
        "[ -s /tmp/k ] || echo 'the pod has no key'; "
        "[ -s /tmp/k ] && curl -s -m 20 -K /tmp/k -H 'Content-Type: application/json' "
        '-d \'{"query":"query { myself { id pods { name } clientBalance } }"}\' ${base:-https://api.runpod.io}/graphql | head -c 300; rm -f /tmp/k'
    )
    said = player.ssh(script)
    if '"data"' not in said:
        return None, said[:150]
    # What it was told, not what that is: this goes into a public page.
    listed, has_balance = said.count('"name"'), re.search(r'"clientBalance": ?[0-9]', said) is not None
    return None, f"it lists {listed} pods; the account's balance: {'told' if has_balance else 'not told'}"


def down_saves_work(player: Player) -> Seen:
    """Leave work there, end it, and take the time until the provider lists nothing."""
    player.ssh("cd ~/gpu-lol-live && echo mine >> train.py && mkdir -p weights && echo w > weights/last.pt")
    began = time.monotonic()
    child = player.start("down")
    gone = wait_until(lambda: not player.machines(), 300, every=1.0)
    said, _ = child.communicate(timeout=600)
    record = player.newest
    is_good = (
        child.returncode == 0 and record.state is State.CLOSED and record.rescue is not None and record.rescue.is_kept
    )
    after = f"{gone:.0f} s" if gone is not None else "never"
    return is_good, f"empty list after {after}, certificate after {time.monotonic() - began:.0f} s: {_last(said)}"


def ends_itself(player: Player) -> Seen:
    """Bring the work back, then wait for the end of the lease without doing anything."""
    code, said = player.gpu_lol("up", "--hours", "8m", "--restore")
    record = player.newest
    if code != 0:
        return False, f"exit {code}: {_last(said)}"
    back = player.ssh("cd ~/gpu-lol-live && tail -n 1 train.py && cat weights/last.pt")
    player.ssh(
        "cd ~/gpu-lol-live && git checkout -q . && git clean -qfdx"
    )  # with unsaved work it would wait for a sweep
    rest = (record.lease.expires_at - datetime.now(timezone.utc)).total_seconds()
    gone = wait_until(lambda: not player.machines(), max(rest, 0) + 240)
    if gone is None:
        return False, f"restored: {back.split()}; four minutes after its lease it still runs"
    swept, verdict = player.gpu_lol("sweep")
    bill = player.newest.bill
    is_good = swept == 0 and back.split() == ["mine", "w"] and player.newest.state is State.CLOSED and bill is not None
    return is_good, (
        f"restored: {back.split()}; gone {gone - rest:+.0f} s after its lease, by its own key; "
        f"the sweep wrote its bill: {f'${bill.usd}' if bill else 'no'} {'' if swept == 0 else _last(verdict)}"
    )


def sweeper_ends(player: Player) -> Seen:
    """Stop the machine's own watch and let a sweep end it after its lease."""
    code, said = player.gpu_lol("up", "--hours", "8m")
    record = player.newest
    if code != 0:
        return False, f"exit {code}: {_last(said)}"
    player.ssh("kill $(cat ~/.gpu-lol/watch.pid)")
    rest = (record.lease.expires_at - datetime.now(timezone.utc)).total_seconds()
    time.sleep(max(rest, 0) + 60)
    runs_on = bool(player.machines())
    swept, verdict = player.gpu_lol("sweep")
    is_good = runs_on and swept == 0 and not player.machines() and player.newest.state is State.CLOSED
    return (
        is_good,
        f"a minute after its lease it {'ran on' if runs_on else 'was gone'}; sweep: exit {swept}, {_last(verdict)}",
    )


def killed_launch(player: Player) -> Seen:
    """Kill the launch while its machine boots, and let a sweep end what it left."""
    child = player.start("up", "--hours", "15m")
    appeared = wait_until(lambda: bool(player.machines()), 600, every=1.0)
    os.killpg(child.pid, signal.SIGKILL)
    child.communicate(timeout=60)
    if appeared is None:
        return False, "no machine appeared"
    swept, verdict = player.gpu_lol("sweep")
    time.sleep(60)
    is_good = not player.machines() and not any(record.is_open for record in player.records)
    return (
        is_good,
        f"killed {appeared:.0f} s after its start, as soon as its machine was listed; sweep: exit {swept}, {_last(verdict)}",
    )


def _last(said: str) -> str:
    """The last line with words in it."""
    lines = [line.strip(" │╰╯─") for line in said.splitlines()]
    return next((line for line in reversed(lines) if line), "")


STEPS: tuple[Step, ...] = (
    Step("wrong-key", "a wrong key is told apart, and rents nothing", wrong_key),
    Step("up", "a machine is rented, set up and checked: driver, CUDA, GPU, packages, no credential", up),
    Step("log-in", "its requester logs in with the key of the comment, host key pinned", log_in),
    Step("use", "`run` and `validate` by the derived key", use),
    Step("snapshot", "what was installed by hand stands in a snapshot", take_snapshot),
    Step("pod-key", "what the pod's own key may ask", pod_key),
    Step("down", "`down` saves the work and proves the absence", down_saves_work),
    Step("resume", "a machine is rented from the snapshot, and another snapshot has nothing new", resume),
    Step("ends-itself", "work comes back; left alone, the machine ends itself when its lease is over", ends_itself),
    Step("sweeper", "with its watch stopped, the sweeper ends it", sweeper_ends),
    Step("killed", "`up` is killed while its machine boots; the sweeper ends what it left", killed_launch),
)
