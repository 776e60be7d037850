"""A model in a folder of one's own is known by the name under which it was published."""

from __future__ import annotations

import pytest

from gpu_lol_action.analysis.models.model_loads import model_name


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("/data/stable-diffusion-xl-base-1.0", "stable-diffusion-xl-base-1.0"),
        ("./pretrained/roberta-large/", "roberta-large"),
        ("../bert-base-chinese", "bert-base-chinese"),
        ("~/models/chatglm-6b", "~/models/chatglm-6b"),
        # A pipeline's denoiser lies in a folder of its own.
        ("/hub/rhymes-ai/Allegro/transformer/", "rhymes-ai/Allegro"),
        ("/models/stable-diffusion-xl-base-1.0/unet", "stabilityai/stable-diffusion-xl-base-1.0"),
        ("/models/google/gpt2/transformer", None),
        ("/models/mine/net/unet", None),
        ("./unet", None),
        # Names that a folder of results has as well, and what was never published.
        ("./output/gpt2", None),
        ("./models/resnet50", None),
        ("/data/my-best-model", None),
        ("./checkpoints/run-large", None),
    ],
)
def test_name_of_a_local_copy(path: str, name: str | None) -> None:
    assert model_name(path) == name


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("<YOUR_ABSOLUTE_PATH>/models/Qwen/Qwen2.5-7B", "/models/Qwen/Qwen2.5-7B"),
        ("{path_to_models}/Qwen2.5-7B", "/Qwen2.5-7B"),
        ("$HDFS_ROOT/model/Qwen3-8B", "/model/Qwen3-8B"),
        ("<YOUR_MODEL>", None),
        ("a<b>/Qwen2.5-7B", None),
    ],
)
def test_a_folder_to_fill_in_leaves_the_model_s_name(path: str, name: str | None) -> None:
    found = model_name(path)
    assert (found.strip("/") if found else found) == (name.strip("/") if name else name)
