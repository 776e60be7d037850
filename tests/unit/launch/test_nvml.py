"""The sampler on the driver's own library, played from its header: what a card does not tell, and what the driver counts itself."""

from __future__ import annotations

import runpy
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

SAMPLER = runpy.run_path(str(Path(__file__).parents[3] / "gpu_lol_action" / "launch" / "remote" / "gpu_lol_sampler.py"))
# What nvml.h calls NVML_ERROR_NOT_SUPPORTED and NVML_ERROR_GPU_IS_LOST.
NOT_SUPPORTED, IS_LOST = 3, 15
Card = Mapping[str, Any]


class Library:
    """libnvidia-ml with cards that answer what they are told to; ``accounting``: bytes by process, None where it is off."""

    has_no_accounting = False

    def __init__(self, cards: list[Card], accounting: Mapping[int, int] | None = None) -> None:
        self.cards, self.accounting = cards, accounting

    def __getattr__(self, name: str) -> Callable[..., int]:
        if "Accounting" in name and self.has_no_accounting:
            raise AttributeError(name)
        return {
            "nvmlInit_v2": lambda: 0,
            "nvmlDeviceGetCount_v2": self._count,
            "nvmlDeviceGetHandleByIndex_v2": self._handle,
            "nvmlDeviceGetName": self._name,
            "nvmlDeviceGetMemoryInfo": self._memory,
            "nvmlDeviceGetUtilizationRates": self._work,
            "nvmlDeviceGetAccountingMode": self._mode,
            "nvmlDeviceGetAccountingPids": self._processes,
            "nvmlDeviceGetAccountingStats": self._most,
        }[name]

    def _count(self, count: Any) -> int:
        count._obj.value = len(self.cards)
        return 0

    def _handle(self, index: int, device: Any) -> int:
        device._obj.value = index + 1
        return IS_LOST if self.cards[index].get("is_lost") else 0

    def _name(self, device: Any, name: Any, _size: int) -> int:
        name.value = self._card(device)["name"].encode()
        return 0

    def _memory(self, device: Any, memory: Any) -> int:
        if "used" not in self._card(device):
            return NOT_SUPPORTED
        memory._obj.used, memory._obj.total = self._card(device)["used"] << 20, 81559 << 20
        return 0

    def _work(self, device: Any, work: Any) -> int:
        work._obj.gpu = self._card(device).get("work", 0)
        return 0 if "work" in self._card(device) else NOT_SUPPORTED

    def _mode(self, _device: Any, mode: Any) -> int:
        mode._obj.value = self.accounting is not None
        return 0

    def _processes(self, _device: Any, count: Any, ids: Any) -> int:
        found = list(self.accounting or {})
        count._obj.value = len(found)
        ids[: len(found)] = found
        return 0

    def _most(self, _device: Any, process: int, stats: Any) -> int:
        stats._obj.most_bytes = (self.accounting or {})[process]
        return 0

    def _card(self, device: Any) -> Card:
        return self.cards[device.value - 1]


def nvml_of(library: Library) -> Any:
    return SAMPLER["Nvml"](lambda _place: library)


def test_card_that_tells_less_hides_neither_itself_nor_the_others() -> None:
    # GB10 answers so for its memory: github.com/XuehaiPan/nvitop/pull/208.
    gb10 = {"name": "NVIDIA GB10", "work": 12}
    nvml = nvml_of(Library([{"is_lost": True}, gb10, {"name": "NVIDIA H100", "used": 40536}]))
    assert nvml.read() == [
        ("0", "", "[N/A]", "[N/A]", "[N/A]"),
        ("1", "NVIDIA GB10", "[N/A]", "[N/A]", "12"),
        ("2", "NVIDIA H100", "40536", "81559", "[N/A]"),
    ]


def test_library_is_looked_for_where_the_loader_does_not_look() -> None:
    asked: list[str] = []

    def load(place: str) -> Library:
        asked.append(place)
        if not place.startswith("/usr/local/nvidia"):
            raise OSError(place)
        return Library([])

    assert SAMPLER["Nvml"](load).read() == []
    assert asked[0] == "libnvidia-ml.so.1"


def test_machine_without_the_library_has_no_reader() -> None:
    def refuse(place: str) -> Library:
        raise OSError(place)

    with pytest.raises(OSError, match="no library"):
        SAMPLER["Nvml"](refuse)


def test_peak_between_two_samples_is_taken_from_the_drivers_own_count_where_it_counts() -> None:
    library = Library([{"name": "NVIDIA H200", "used": 55, "work": 0}], accounting={10: 70_000 << 20})
    nvml = nvml_of(library)
    facts: dict[str, Any] = {"samples": 0, "gpus": {}}
    SAMPLER["add"](facts, nvml.read(), None, None)
    library.accounting = {10: 90_000 << 20, 11: 14_410 << 20, 12: (1 << 64) - 1}
    SAMPLER["raise_peaks"](facts, nvml.counted())
    assert facts["gpus"]["0"]["peak_mib"] == 14_410.0, "of processes that came since, without what is not known"
    assert nvml_of(Library([{"name": "NVIDIA H200", "used": 55}])).counted() == {}


def test_library_that_knows_no_accounting_is_good_enough(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Library, "has_no_accounting", True)
    nvml = nvml_of(Library([{"name": "NVIDIA H200", "used": 55, "work": 7}]))
    assert nvml.read() == [("0", "NVIDIA H200", "55", "81559", "7")]
    assert nvml.counted() == {}
