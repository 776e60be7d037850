"""A model in a folder of one's own is known by the name under which it was published."""

from __future__ import annotations

import pytest

from gpu_lol_action.analysis.answer.assemble import analyze
from gpu_lol_action.analysis.models.model_loads import model_name
from tests.unit.analysis.conftest import Build


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


@pytest.mark.parametrize(
    ("name", "is_hub"),
    [
        ("groq/llama3-70b-8192", False),
        ("openrouter/meta-llama-70B", False),
        ("Groq/Llama-3-Groq-8B-Tool-Use", True),
        ("meta-llama/Llama-3.1-8B", True),
    ],
)
def test_what_a_company_hosts_is_no_copy_here(name: str, *, is_hub: bool) -> None:
    assert (model_name(name) is not None) is is_hub


@pytest.mark.parametrize(
    ("served", "size_b"),
    [("Sage-Dev-72B", 72), ("maker/Sage-Dev-72B", 72), ("Sage-Dev", None), ("sage_72B_data", None)],
)
def test_a_server_is_told_a_folder_named_for_its_model(checkout: Build, served: str, size_b: float | None) -> None:
    readme = f"# Sage\n```\nvllm serve {served} --tensor-parallel-size 8\n```\n"
    found = analyze(checkout({"README.md": readme, "requirements.txt": "vllm\n"}))
    weights = (
        next((term.basis for term in found.breakdown.terms if term.name == "weights"), "") if found.breakdown else ""
    )
    assert (f"{size_b} B parameters" in weights) is (size_b is not None)
