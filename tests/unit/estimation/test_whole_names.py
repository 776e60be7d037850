"""A point in a model's name: timm's recipes stand behind one, other names go on with it."""

from __future__ import annotations

import pytest

from gpu_lol_action.estimation.known_models import without_suffixes
from gpu_lol_action.estimation.model_facts import find_model


@pytest.mark.parametrize(
    ("name", "bare"),
    [
        ("resnet50.a1_in1k", "resnet50"),
        ("vit_large_patch16_224.augreg_in21k", "vit-large-patch16-224"),
        ("convnext_large.fb_in22k", "convnext-large"),
        ("dots.ocr", "dots.ocr"),
    ],
)
def test_only_a_recipe_behind_an_architecture_is_left_out(name: str, bare: str) -> None:
    assert without_suffixes(name) == bare


@pytest.mark.parametrize("name", ["rednote-hilab/dots.ocr", "rednote-hilab/dots.mocr", "acme/dots.llm9"])
def test_a_sibling_s_name_is_not_taken_for_a_model_of_143_billion_parameters(name: str) -> None:
    assert find_model(name) is None
