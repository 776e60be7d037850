from __future__ import annotations

import re
import unicodedata
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gpu_lol_action.analysis.documents.silent_documents import SILENCE
from gpu_lol_action.domain.analysis import Analysis
from gpu_lol_action.domain.finding import Confidence, Evidence, Finding
from gpu_lol_action.domain.spec import WorkloadType
from gpu_lol_action.domain.spec_text import write_spec
from gpu_lol_action.render import comments
from gpu_lol_action.render.analysis_text import render_analysis
from gpu_lol_action.render.screen import PLAIN, Screen, columns_of
from tests.golden.cases import CPU, LADDER, NO_FIT, NO_NEED, NOW, POLICY, SMALL_LADDER, analysis, spec
from tests.golden.change_cases import change_of
from tests.support.analyses import analyses

SGR = re.compile(r"\x1b\[\d*m")
WIDTHS = st.integers(60, 120)


def text_of(found: Analysis, screen: Screen = PLAIN, *, is_verbose: bool = False, **changes: object) -> str:
    case = comments.analysis_case(
        **{
            "analysis": found,
            "ladder": LADDER,
            "policy": POLICY,
            "spec_yaml": write_spec(found.spec),
            "sha": "",
            "now": NOW,
            **changes,
        }
    )
    return render_analysis(case, screen, is_verbose=is_verbose)


@settings(max_examples=120, deadline=None)
@given(analyses, WIDTHS, st.booleans())
def test_no_line_is_wider_than_the_screen_and_nothing_acts_on_the_terminal(
    found: Analysis, width: int, has_unicode: bool
) -> None:
    text = text_of(found, Screen(width, has_unicode=has_unicode))
    assert [line for line in text.split("\n") if columns_of(line) > width] == []
    acting = {c for c in text if c != "\n" and unicodedata.category(c) in {"Cc", "Cf", "Cs", "Zl", "Zp"}}
    assert acting == set()
    assert has_unicode or text.isascii()


@settings(max_examples=60, deadline=None)
@given(analyses, WIDTHS)
def test_colors_change_nothing_but_colors(found: Analysis, width: int) -> None:
    colored = text_of(found, Screen(width, has_color=True))
    without = "\n".join(line.rstrip() for line in SGR.sub("", colored).split("\n"))
    assert without == text_of(found, Screen(width))
    assert "\x1b" not in SGR.sub("", colored)


def test_decision_comes_first_and_billing_last() -> None:
    lines = text_of(analysis()).rstrip("\n").split("\n")
    assert lines[0] == "🟢 This code needs 1 × A100-80GB, $1.39/h"
    assert lines[1].strip().startswith("training with python train.py (README.md:12): LoRA, bf16, Qwen2.5-7B")
    assert lines[-1] == "Nothing was launched."


@pytest.mark.parametrize(
    ("asked", "needed", "said"), [(12, 9, "smaller cards cost no less"), (24, 20, "a 20 GB card would be full")]
)
def test_why_a_larger_card_is_asked_for_than_a_sum_needs(asked: int, needed: int, said: str) -> None:
    found = analysis()
    hardware = replace(found.spec.hardware, vram_required_gb=asked, needed_gib=needed)
    larger = replace(found, spec=replace(found.spec, hardware=hardware))
    assert f"{asked} GB per GPU ({needed} GiB needed, {said}, " in " ".join(text_of(larger).split())


def test_several_machines_are_paid_for_together() -> None:
    found = analysis()
    several = replace(found, spec=replace(found.spec, hardware=replace(found.spec.hardware, num_nodes=3)))
    lines = text_of(several).split("\n")
    assert lines[0] == "🟢 This code needs 3 machines of 1 × A100-80GB, $4.17/h"
    text = "\n".join(lines)
    assert "gpu-lol up rents one machine at a time, so set hardware.num_nodes: 1 for it" in text
    assert "get this machine" not in text
    assert "prices of one machine each" in text


def test_computed_stands_beside_documented() -> None:
    text = " ".join(text_of(analysis()).split())
    assert (
        "must offer 46 GiB: computed 50 GiB with its margin, documented 40 GB in README.md:40".lower() in text.lower()
    )
    assert text.count("50 GiB computed") == 0  # the breakdown's own note would say it twice
    bare = analysis()
    bare = replace(bare, findings=tuple(f for f in bare.findings if not f.field.startswith("documented")))
    assert bare.breakdown is not None
    bare = replace(bare, breakdown=replace(bare.breakdown, computed_gib=None, weighed=None))
    assert "the documentation says nothing about GPU memory or cards" in text_of(bare)


def test_a_statement_that_was_not_weighed_is_said_to_be_another_runs() -> None:
    found = analysis()
    assert found.breakdown is not None
    found = replace(found, breakdown=replace(found.breakdown, computed_gib=None, weighed=None))
    assert "is about another run" in " ".join(text_of(found).split())


def test_what_silence_is_taken_for_is_said_in_place_of_a_statement() -> None:
    found = analysis()
    assert found.breakdown is not None
    silent = Finding(SILENCE, "22", "the documentation names no card of more", Confidence.LOW, Evidence("README.md"))
    note = "60 GiB computed of what is partly assumed, and README.md names no card of more than 24 GB"
    weighed = replace(found.breakdown, required_gib=22.0, computed_gib=60.0, weighed=silent, notes=(note,))
    text = " ".join(text_of(replace(found, breakdown=weighed)).split())
    assert (
        "must offer 22 GiB: computed 60 GiB with its margin, partly of what is assumed, and the documentation" in text
    )
    assert note not in text
    assert f"{weighed.expected_gib:.1f} computed" in text


def test_packages_fold_into_one_line_and_the_rest_is_counted() -> None:
    text = text_of(analysis())
    assert text.count("requirements.txt") == 1
    assert "packages, 5" in text
    assert "2 more: --verbose" in text
    verbose = text_of(analysis(), is_verbose=True)
    assert verbose.count("requirements.txt") == 5
    assert "training.lora_rank" in verbose


def test_assumed_and_not_understood_stand_apart() -> None:
    text = text_of(analysis())
    assert "Assumed\n  - no batch size was found; 8 was assumed\n" in text
    assert "Not understood\n  - configs/*.yaml are chosen by a command line argument\n" in text


def test_other_runs_are_a_short_table() -> None:
    text = text_of(analysis())
    assert re.search(r"eval +1 × 18 GB +python eval\.py --split test +inference +README\.md:60", text)
    assert re.search(r"prepare +no GPU +python prepare\.py +cpu-only +README\.md:9", text)


def test_without_a_gpu_nothing_speaks_of_memory() -> None:
    text = text_of(CPU, ladder=NO_NEED)
    assert text.startswith("🟢 No GPU needed")
    assert "only scikit-learn is imported (fit.py:3)" in text
    assert "Memory per GPU" not in text
    assert "memory" not in text.split("confidence")[1].split("\n")[0]


def test_without_a_model_the_reason_stands_where_the_model_would() -> None:
    need = Finding("hardware.vram_required_gb", "12", "no model was recognized; 12 GiB is the default", Confidence.LOW, Evidence("a.py", 1))  # fmt: skip
    found = replace(analysis(), breakdown=None, findings=(*analysis().findings, need))
    assert "no model was recognized; 12 GiB is the default" in " ".join(text_of(found).split())


def test_a_run_of_which_nothing_more_is_told_ends_its_sentence() -> None:
    found = analysis()
    assert found.breakdown is not None
    terms = tuple(term for term in found.breakdown.terms if term.name != "weights")
    found = replace(found, breakdown=replace(found.breakdown, terms=terms, method="inference"))
    assert text_of(found).split("\n")[1].strip() == "training with python train.py (README.md:12)"


def test_comparison_with_a_base_is_one_line() -> None:
    text = text_of(analysis(), base_sha="a1b9e02", base_analysis=analysis(1024), base_ladder=SMALL_LADDER,
                   change=change_of(analysis(1024), analysis()))  # fmt: skip
    assert "A40 → A100-80GB, +$0.95/h" in text.split("\n")[0]
    assert "a1b9e02: 24.0 GiB, 1 × A40, $0.44/h; since then max_seq_length 1024 → 4096 (train.py:88)" in " ".join(text.split())  # fmt: skip


def test_only_offers_that_matter_are_shown() -> None:
    text = text_of(analysis())
    assert "❌ 45.0 GiB are less than 46" in text
    assert "$23.12/h" not in text  # eight cards that cost more than the answer
    assert "$23.12/h" in text_of(analysis(), is_verbose=True)
    assert "🔴 No offer fits" in text_of(analysis(), ladder=NO_FIT)


def test_long_lists_of_the_spec_are_counted_unless_verbose() -> None:
    many = spec("A40", 24)
    many = replace(many, dependencies=replace(many.dependencies, requirements=tuple(f"p{n}" for n in range(20))))
    found = replace(analysis(), spec=many)
    assert "# … 14 more" in text_of(found)
    assert "- p19" not in text_of(found)
    assert "- p19" in text_of(found, is_verbose=True)


@pytest.mark.parametrize("width", [60, 72, 80, 100, 120])
def test_bars_keep_their_proportion_at_each_width(width: int) -> None:
    lines = text_of(analysis(), Screen(width, has_unicode=False)).split("\n")
    bars = {line.split()[0]: line.count("#") for line in lines if re.match(r"  (weights|activations|together) ", line)}
    assert bars["activations"] > bars["weights"] > 0
    assert bars["together"] >= bars["activations"] + bars["weights"]


def test_workload_that_is_none_of_training_is_named() -> None:
    found = replace(analysis(), proposed=spec("A40", 20, WorkloadType.INFERENCE))
    assert "inference with python train.py" in text_of(found)
