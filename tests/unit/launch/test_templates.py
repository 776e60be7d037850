from __future__ import annotations

from dataclasses import replace

import pytest

from gpu_lol_action.domain.gpus import find_accelerator
from gpu_lol_action.domain.market import Template
from gpu_lol_action.launch.templates import TemplateWish, choose_template, template_refusal

CHOSEN = "pytorch/pytorch:2.8.0-cuda12.8-cudnn9-runtime"
WISH = TemplateWish(CHOSEN, "3.11", find_accelerator("RTX4090"))
OWN = Template("abc1", "team-torch28", "acme/dev:torch-2.8.0-cuda12.8", 60)
OWN_28 = Template("abc2", "team-torch28-big", "acme/pytorch:2.8.0-cuda12.8-devel", 60)
OFFICIAL_28 = Template(
    "runpod-torch-v280", "Runpod Pytorch 2.8.0", "runpod/pytorch:1.0.2-cu1281-torch280-ubuntu2204", 20
)
OFFICIAL_28B = Template(
    "runpod-torch-v280b", "Runpod Pytorch 2.8.0", "runpod/pytorch:1.0.3-cu1281-torch280-ubuntu2404", 20
)
OFFICIAL_24 = Template("runpod-torch-v24", "Runpod Pytorch 2.4.0",
                       "runpod/pytorch:2.4.0-py3.11-cuda12.4.1-devel-ubuntu22.04", 20)  # fmt: skip


def test_the_accounts_own_word_wins_over_runpods_own() -> None:
    wish = replace(WISH, pattern="TEAM-torch28")
    assert choose_template([OFFICIAL_28, OWN_28], wish) == OWN_28
    assert choose_template([OFFICIAL_28, OWN_28], WISH) == OFFICIAL_28


def test_the_very_name_wins_over_one_that_holds_it() -> None:
    first, second = replace(OWN_28, name="x-team"), replace(OWN_28, name="team")
    assert choose_template([first, second], replace(WISH, pattern="team")) == second


def test_of_runpods_own_the_newest_that_fits_is_taken() -> None:
    assert choose_template([OFFICIAL_24, OFFICIAL_28, OFFICIAL_28B], WISH) == OFFICIAL_28B
    assert choose_template([OFFICIAL_24], WISH) is None
    assert choose_template([], WISH) is None


def test_a_newer_toolkit_than_chosen_is_no_gain_but_ones_own_is_ones_own() -> None:
    older = replace(WISH, image="pytorch/pytorch:2.8.0-cuda12.6-cudnn9-runtime")
    assert choose_template([OFFICIAL_28], older) is None
    assert choose_template([OFFICIAL_28, OWN_28], replace(older, pattern="team")) == OWN_28


def test_a_template_of_neither_kind_is_left_alone() -> None:
    assert choose_template([OWN_28], WISH) is None
    somebodys = Template("runpod-torch-v9", "Runpod Pytorch", "somebody/pytorch:2.8.0-cuda12.8-devel")
    assert choose_template([somebodys], WISH) is None


@pytest.mark.parametrize(
    ("template", "changes", "why"),
    [
        (OFFICIAL_24, {}, "it holds torch 2.4, 2.8 is needed"),
        (replace(OWN_28, is_private=True), {}, "registry login"),
        (OWN_28, {"allowed_images": ("runpod/*",)}, "policy"),
        (OFFICIAL_28, {"allowed_images": ("runpod/*",)}, ""),
        (Template("a", "a", "acme/dev:latest"), {}, "does not say"),
        (OFFICIAL_24, {"card": find_accelerator("RTX5090"), "image": "pytorch/pytorch:2.4.0-cuda12.4-cudnn9-devel"}, "Blackwell"),
        (replace(OFFICIAL_24, image="runpod/pytorch:2.8.0-py3.10-cuda12.8.1-devel"), {}, "it holds Python 3.10, 3.11 is needed"),
        (replace(OWN_28, image="acme/pytorch:2.8.0-cuda12.8-runtime"),
         {"image": "pytorch/pytorch:2.8.0-cuda12.8-cudnn9-devel"}, "compiler"),
        (OFFICIAL_28, {"image": "vllm/vllm-openai:v0.11.0"}, "not one for PyTorch"),
        (replace(OWN_28, image="vllm/vllm-openai:v0.11.0"), {"image": "vllm/vllm-openai:v0.11.0"}, ""),
        (OFFICIAL_28, {}, ""),
    ],
)  # fmt: skip
def test_a_template_that_cannot_stand_for_the_image_says_why(
    template: Template, changes: dict[str, object], why: str
) -> None:
    found = template_refusal(template, replace(WISH, **changes))  # type: ignore[arg-type]  # keyword bag
    assert (why in found) if why else found == ""


def test_an_image_that_says_nothing_is_not_guessed_at() -> None:
    # `torch-2.8.0` is no form of a tag that is known: the image may hold anything.
    assert choose_template([OWN], replace(WISH, pattern="team")) is None
