from __future__ import annotations

import pytest

from gpu_lol_action.analysis.media.question import with_media
from gpu_lol_action.domain.finding import Confidence, Evidence, Finding
from gpu_lol_action.estimation.model_facts import find_model
from gpu_lol_action.estimation.vram_question import Method, VramQuestion


@pytest.mark.parametrize(
    ("torch", "is_fused"),
    [("", True), ("==2.1.0", True), (">=1.13", True), ("==1.13.1", False), ("<2", False), (">=1.9,<2.0", False), ("<2.5", True), ("~=1.12.0", False)],
)  # fmt: skip
def test_attention_is_fused_unless_an_older_torch_is_asked(torch: str, is_fused: bool) -> None:
    model = find_model("runwayml/stable-diffusion-v1-5")
    assert model is not None
    said = Finding("framework.torch", torch, "pinned", Confidence.HIGH, Evidence("requirements.txt"))
    asked = with_media(VramQuestion(model, Method.LORA), [said] if torch else [])
    assert asked.is_attention_fused is is_fused
