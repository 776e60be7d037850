from __future__ import annotations

import csv
from importlib import resources

import pytest

from gpu_lol_action.domain.gpus import accelerators, is_launchable
from gpu_lol_action.domain.spec import WorkloadType
from gpu_lol_action.pricing.snapshot import bundled_offers
from gpu_lol_action.pricing.throughput import Work, source_of, throughput, work_of

ROWS = list(csv.DictReader(resources.files("gpu_lol_action").joinpath("data/gpu_speeds.csv").read_text().splitlines()))


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row["sky_name"])
def test_every_row_is_a_card_of_ours_with_a_source_and_sane_figures(row: dict[str, str]) -> None:
    card = accelerators()[row["sky_name"]]
    assert row["source"]
    assert bool(row["bf16_tflops"]) == card.has_bf16
    assert bool(row["fp8_tflops"]) == card.has_fp8
    half, single = float(row["fp16_tflops"]), float(row["fp32_tflops"])
    assert half >= 2 * single * 0.95, "half precision is at least twice as fast"
    if row["bf16_tflops"]:
        assert float(row["bf16_tflops"]) == half
    if row["fp8_tflops"]:
        assert float(row["fp8_tflops"]) == pytest.approx(2 * half, rel=0.02)
    assert 100 <= float(row["memory_gb_per_s"]) <= 10_000


def test_cards_that_can_be_rented_by_default_have_a_speed() -> None:
    rented = {
        (cloud, offer.accelerator)
        for cloud in ("runpod", "lambda")
        for offer in bundled_offers()[cloud]
        if is_launchable(cloud, offer.accelerator) and accelerators()[offer.accelerator].is_nvidia
    }
    without = {name for _cloud, name in rented if throughput(name, 1, Work.BANDWIDTH) is None}
    assert without == {"RTXPRO4500"}, "of this one no datasheet was read"


def test_what_bounds_a_run_follows_from_what_it_does() -> None:
    assert work_of(WorkloadType.INFERENCE, "fp16") is Work.BANDWIDTH
    assert work_of(WorkloadType.TRAINING) is Work.BF16
    assert work_of(WorkloadType.TRAINING, "bf16-mixed") is Work.BF16
    assert work_of(WorkloadType.TRAINING, "fp32") is Work.FP32
    assert work_of(WorkloadType.INTERACTIVE, "fp16-mixed") is Work.FP16


def test_cards_together_do_more_and_unknown_ones_nothing_that_is_known() -> None:
    assert throughput("A40", 2, Work.BF16) == 2 * (throughput("A40", 1, Work.BF16) or 0)
    assert throughput("nvidia a40", 1, Work.BF16) == 149.7
    assert throughput("CARD-OF-TOMORROW", 1, Work.BF16) is None
    assert throughput("V100", 1, Work.BF16) is None
    assert source_of("A40") == "NVIDIA A40 datasheet"
    assert source_of("CARD-OF-TOMORROW") == ""
    assert Work.FP8.words == "dense fp8 peak"
