"""Cards that a program orders from Ray: what it does with them needs one, though a hosted model answers beside it."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import pytest

from gpu_lol_action.analysis.answer.assemble import analyze
from gpu_lol_action.analysis.commands.ray_orders import orders_a_card
from gpu_lol_action.analysis.files.checkout import Checkout

Build = Callable[[Mapping[str, str]], Checkout]
EMBED = (
    "import openai\nimport ray\nfrom sentence_transformers import SentenceTransformer\n"
    "LLM = 'meta-llama/Llama-2-70b-chat-hf'\n{}\n"
    "def main(model='meta-llama/Llama-2-70b-chat-hf'):\n    SentenceTransformer('thenlper/gte-large').encode('a')\n"
    "    openai.ChatCompletion.create(model=model, messages=[])\nif __name__ == '__main__':\n    main()\n"
)
LISTS = {"requirements.txt": "openai\nray\nsentence-transformers\n", "README.md": "```\npython serve.py\n```\n"}


def orders(checkout: Build, files: Mapping[str, str]) -> bool:
    tree = checkout(files)
    script = tree.find("serve.py")
    assert script is not None
    return orders_a_card(tree, script)


@pytest.mark.parametrize(
    ("line", "is_order"),
    [
        ("@ray.remote(num_gpus=1)\ndef embed(): pass", True),
        ("chunks.map_batches(\n    embed,\n    num_gpus=0.5,\n)", True),
        ("@serve.deployment(ray_actor_options={'num_cpus': 6, \"num_gpus\": 1})\nclass A: pass", True),
        ("ScalingConfig(num_workers=2, use_gpu=True)", True),
        ("@ray.remote(num_gpus=0)\ndef embed(): pass", False),
        ("embed.options(num_gpus=0.0)", False),
        ("ScalingConfig(num_workers=2, use_gpu=False)", False),
        ("# embed.options(num_gpus=1)", False),
        ("embed.options(num_gpus=count)", False),
    ],
)
def test_a_card_is_ordered_by_a_number_over_nothing(checkout: Build, line: str, *, is_order: bool) -> None:
    assert orders(checkout, {"serve.py": EMBED.format(line)}) is is_order
    files = {"serve.py": "import part\n", "part.py": EMBED.format(line)}
    assert orders(checkout, files) is is_order


def test_without_ray_it_is_somebody_elses_word(checkout: Build) -> None:
    assert not orders(checkout, {"serve.py": EMBED.format("start(num_gpus=1)").replace("import ray\n", "")})
    elsewhere = {"serve.py": EMBED.format(""), "other.py": EMBED.format("start(num_gpus=1)")}
    assert not orders(checkout, elsewhere)


@pytest.mark.parametrize(
    ("line", "workload"), [("embed.options(num_gpus=1)", "inference"), ("embed.options(num_gpus=0)", "cpu-only")]
)
def test_embeddings_on_an_ordered_card_need_it_and_no_hosted_model_lies_there(
    checkout: Build, line: str, workload: str
) -> None:
    analysis = analyze(checkout({"serve.py": EMBED.format(line), **LISTS}))
    assert analysis.spec.meta.workload_type.value == workload
    assert not any("Llama" in f.value for f in analysis.findings if f.field == "model.id") or workload == "cpu-only"
    assert (analysis.spec.hardware.vram_required_gb or 0) <= 16


def test_language_models_that_ray_serves_are_its_own_and_no_hosted_ones(checkout: Build) -> None:
    program = (
        "from ray.serve.llm import LLMConfig, build_openai_app\n"
        "config = LLMConfig(\n"
        "    model_loading_config=dict(model_id='my-llama', model_source='meta-llama/Llama-3.1-8B-Instruct'),\n"
        "    accelerator_type='L4',\n    engine_kwargs=dict(max_model_len=8192, tensor_parallel_size=2),\n)\n"
        "app = build_openai_app({'llm_configs': [config]})\n"
    )
    client = "from openai import OpenAI\nclient = OpenAI(base_url='http://localhost:8000/v1', api_key='x')\nclient.chat.completions.create(model='my-llama')\n"
    analysis = analyze(
        checkout(
            {"serve_it.py": program, "client.py": client, "Dockerfile": "FROM anyscale/ray-llm\nRUN pip install vllm\n"}
        )
    )
    assert analysis.spec.meta.workload_type.value == "inference"
    assert analysis.spec.hardware.gpu_count == 2
    assert "meta-llama/Llama-3.1-8B-Instruct" in {f.value for f in analysis.findings if f.field == "model.id"}


@pytest.mark.parametrize(("ways", "stages", "machine"), [(8, 2, (8, 2)), (4, 2, (8, 1)), (8, 1, (8, 1))])
def test_stages_of_a_served_model_are_cards_as_well_and_more_than_eight_are_machines(
    checkout: Build, ways: int, stages: int, machine: tuple[int, int]
) -> None:
    program = (
        "from ray.serve.llm import LLMConfig, build_openai_app\n"
        "config = LLMConfig(\n"
        "    model_loading_config=dict(model_id='r1', model_source='deepseek-ai/DeepSeek-R1'),\n    accelerator_type='H100',\n"
        f"    engine_kwargs=dict(max_model_len=16384, tensor_parallel_size={ways}, pipeline_parallel_size={stages}),\n)\n"
        "app = build_openai_app({'llm_configs': [config]})\n"
    )
    analysis = analyze(checkout({"serve_it.py": program, "Dockerfile": "FROM anyscale/ray-llm\n"}))
    hardware = analysis.spec.hardware
    assert (hardware.gpu_count, hardware.num_nodes) == machine
    assert analysis.breakdown is not None
    weights = next(term.gib for term in analysis.breakdown.terms if term.name == "weights")
    assert weights * machine[0] * machine[1] == pytest.approx(671, rel=0.05)  # published in 8 bit
