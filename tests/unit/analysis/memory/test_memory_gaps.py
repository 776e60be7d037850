"""A model that has a name of its own in its library is named, and nobody else of its family stands for it."""

from __future__ import annotations

import pytest

from gpu_lol_action.analysis.answer.assemble import Analysis, analyze
from gpu_lol_action.analysis.memory.memory_gaps import is_assumed
from gpu_lol_action.domain.finding import Confidence, Evidence, Finding
from gpu_lol_action.estimation.model_facts import find_model
from tests.unit.analysis.conftest import Build

HEARS = 'from faster_whisper import WhisperModel\nmodel = WhisperModel({size}, device="cuda", compute_type="float16")\nmodel.transcribe("a.mp3")\n'


def of(checkout: Build, files: dict[str, str]) -> Analysis:
    return analyze(checkout({"requirements.txt": "faster-whisper\n", **files}))


@pytest.mark.parametrize(
    "files",
    [
        {"config.py": 'EAR = "large-v3"\n', "hear.py": "from config import EAR\n" + HEARS.format(size="EAR")},
        {
            "conf.py": 'class C:\n    ear: str = "large-v3"\n',
            "hear.py": "from conf import C\n" + HEARS.format(size="C.ear"),
        },
    ],
    ids=["a constant of a module", "a field of a module's class"],
)
def test_a_size_in_another_module_needs_what_the_size_needs_here(checkout: Build, files: dict[str, str]) -> None:
    here = of(checkout, {"hear.py": HEARS.format(size='"large-v3"')})
    assert of(checkout, files).proposed.hardware.vram_required_gb == here.proposed.hardware.vram_required_gb


@pytest.mark.parametrize(("named", "is_guess"), [("large-v3", False), ("tiny", True), (None, True)])
def test_what_nobody_names_is_assumed(named: str | None, is_guess: bool) -> None:
    model = find_model("openai/whisper-large-v3")
    assert model is not None
    told = [("model.family", "openai/whisper-large-v3"), *([("model.id", named)] if named is not None else [])]
    findings = tuple(Finding(field, value, "said", Confidence.LOW, Evidence("hear.py", 1)) for field, value in told)
    assert is_assumed(findings, model) is is_guess
