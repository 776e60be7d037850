"""Work is saved before a planned end, and no failure of that keeps the machine running."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import timedelta
from pathlib import Path

import pytest

from gpu_lol_action.domain.environment import Requester, SshEndpoint, State, Tombstone
from gpu_lol_action.domain.machine import RemoteOutput
from gpu_lol_action.domain.rescue import Kept
from gpu_lol_action.errors import TransientError
from gpu_lol_action.handlers.down import handle_down
from gpu_lol_action.handlers.sweep import handle_sweep
from gpu_lol_action.handlers.up import handle_up
from gpu_lol_action.launch.rescue import MAX_PACKED_BYTES
from tests.support.hands import KEY, START
from tests.support.machine import GoodMachine, nonce_of
from tests.unit.handlers.conftest import POLICY, Bench

SPEC = "hardware: {gpu_type: RTX4090, gpu_count: 1, vram_required_gb: 20}\nkeep: [checkpoints]\nmeta: {workload_type: training}\n"


@dataclass
class MemoryVault:
    kept: dict[str, tuple[bytes, tuple[str, ...]]] = field(default_factory=dict)
    refuses: TransientError | None = None

    def keep(self, name: str, data: bytes, public_keys: Sequence[str]) -> Kept:
        if self.refuses is not None:
            raise self.refuses
        self.kept[f"{name}.1"] = (data, tuple(public_keys))
        return Kept(f"{name}.1", "fetch it", len(public_keys))

    def fetch(self, locator: str) -> bytes:
        return self.kept[locator][0]


@dataclass
class MachineWithWork(GoodMachine):
    """Has three changed files to save; ``packs`` replaces what its packing does."""

    packs: Callable[[str, Path], str] | None = None
    restored: list[bytes] = field(default_factory=list)

    def run(  # type: ignore[override]  # the same, with the two scripts of saving answered
        self, endpoint: SshEndpoint, script: str, *, into: Path | None = None, **more: object
    ) -> RemoteOutput:
        nonce = nonce_of(script)
        if "::gpu-lol-rescue" in script:
            self.kinds.append("rescue")
            assert into is not None
            if self.packs is not None:
                return RemoteOutput(0, "", self.packs(nonce, into))
            into.write_bytes(b"packed work")
            said = ("changed 3", "commits 1", "files 0", "left_out 0", "done .")
            return RemoteOutput(0, "", "".join(f"::gpu-lol-rescue {nonce} {line}\n" for line in said))
        if "::gpu-lol-restore" in script:
            data = more["stdin"]
            assert isinstance(data, bytes)
            self.restored.append(data)
            said = ("changes in place", "kept commits.bundle", "done .")
            return RemoteOutput(0, "".join(f"::gpu-lol-restore {nonce} {line}\n" for line in said), "")
        return super().run(endpoint, script, **more)  # type: ignore[arg-type]  # passed on as they came


@pytest.fixture
def vault(bench: Bench) -> MemoryVault:
    vault = MemoryVault()
    bench.context = replace(bench.context, vault=lambda: vault)
    (bench.forge.folder / ".gpu-lol.yaml").write_text(SPEC)
    bench.shell = MachineWithWork()
    return vault


def end(bench: Bench) -> None:
    handle_down(bench.context, bench.order("/gpu-lol down"))
    assert bench.record.state is State.CLOSED, "whatever came of the saving"
    assert not bench.cloud.running
    bench.assert_nothing_bills_unnoticed()


def test_work_is_saved_before_the_machine_goes_and_comes_back(bench: Bench, vault: MemoryVault) -> None:
    handle_up(bench.context, bench.order())
    assert bench.record.keep == ("checkpoints",)
    end(bench)
    assert vault.kept == {f"{bench.record.name}.1": (b"packed work", (KEY,))}
    assert "saved: 3 changed files, 1 commit" in bench.texts[-1]
    assert "`/gpu-lol up --restore`" in bench.texts[-1]

    outcome = handle_up(bench.context, bench.order("/gpu-lol up --restore", is_restoring=True))
    machine = bench.shell
    assert isinstance(machine, MachineWithWork)
    assert machine.restored == [b"packed work"]
    assert "Saved work is back: changes; commits.bundle did not fit this commit" in outcome.text


def test_restore_without_anything_saved_rents_nothing(bench: Bench, vault: MemoryVault) -> None:
    outcome = handle_up(bench.context, bench.order("/gpu-lol up --restore", is_restoring=True))
    assert (outcome.decision, outcome.reason_code) == ("denied", "nothing_saved")
    assert not bench.cloud.running


def test_saved_work_comes_back_to_nobody_else(bench: Bench, vault: MemoryVault) -> None:
    """It is encrypted to who had the machine; a colleague's command must not be a way around that."""
    handle_up(bench.context, bench.order())
    end(bench)
    order = replace(bench.order("/gpu-lol up --restore", is_restoring=True), requester=Requester("grace", 8))
    outcome = handle_up(bench.context, order)
    assert (outcome.decision, outcome.reason_code) == ("denied", "saved_for_another")
    assert not bench.cloud.running
    assert "--share grace" in bench.texts[-1]


def test_a_lease_that_is_over_saves_too(bench: Bench, vault: MemoryVault) -> None:
    handle_up(bench.context, bench.order())
    bench.clock.at += timedelta(hours=3)
    handle_sweep(bench.context, 5, POLICY)
    assert vault.kept
    assert bench.record.state is State.CLOSED


def _nothing(nonce: str, into: Path) -> str:
    into.write_bytes(b"")
    return f"::gpu-lol-rescue {nonce} changed 0\n::gpu-lol-rescue {nonce} done .\n"


def _huge(nonce: str, into: Path) -> str:
    into.write_bytes(b"x" * (MAX_PACKED_BYTES + 1))
    return f"::gpu-lol-rescue {nonce} changed 1\n::gpu-lol-rescue {nonce} done .\n"


def _dies(nonce: str, into: Path) -> str:
    raise TransientError("machine_timed_out", "it had not finished after 90 s")


def _breaks(nonce: str, into: Path) -> str:
    raise RuntimeError("a bug of ours")


@pytest.mark.parametrize(
    ("packs", "said"),
    [
        (_nothing, None),
        (_huge, "**not saved**: it is 24 MiB packed"),
        (_dies, "**not saved**: it had not finished"),
        (_breaks, "**not saved**: gpu-lol failed on a fault of its own"),
        (lambda nonce, into: "", "**not saved**: the machine did not finish packing it"),
        (lambda nonce, into: f"::gpu-lol-rescue {nonce} failed there is no checkout\n", "**not saved**: there is no"),
    ],
)
def test_saving_that_fails_is_said_and_ends_the_machine_all_the_same(
    bench: Bench, vault: MemoryVault, packs: Callable[[str, Path], str], said: str | None
) -> None:
    machine = bench.shell
    assert isinstance(machine, MachineWithWork)
    machine.packs = packs
    handle_up(bench.context, bench.order())
    end(bench)
    assert not vault.kept
    assert (said or "") in bench.texts[-1]
    assert ("| work |" in bench.texts[-1]) == (said is not None)


def test_a_vault_that_refuses_is_said(bench: Bench, vault: MemoryVault) -> None:
    vault.refuses = TransientError("github_unreachable", "GitHub did not answer")
    handle_up(bench.context, bench.order())
    end(bench)
    assert "**not saved**: GitHub did not answer" in bench.texts[-1]


def test_a_machine_that_is_gone_is_not_asked(bench: Bench, vault: MemoryVault) -> None:
    handle_up(bench.context, bench.order())
    bench.cloud.running.clear()
    handle_sweep(bench.context, 5, POLICY)
    assert bench.record.tombstone == Tombstone("the sweeper", "machine_gone", bench.record.tombstone.at)  # type: ignore[union-attr]  # it ended
    assert isinstance(bench.shell, MachineWithWork)
    assert "rescue" not in bench.shell.kinds


def test_a_launch_that_failed_has_nothing_to_save(bench: Bench, vault: MemoryVault) -> None:
    machine = bench.shell
    assert isinstance(machine, MachineWithWork)
    machine.instead["setup"] = TransientError("machine_unreachable", "it went away")
    with pytest.raises(TransientError):
        handle_up(bench.context, bench.order())
    assert "rescue" not in machine.kinds
    assert bench.record.closed_at is not None
    assert bench.record.closed_at >= START
