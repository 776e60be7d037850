"""Engines that keep room for the whole context of the model that they serve."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import pytest

from gpu_lol_action.analysis.answer.assemble import analyze, detect_all
from gpu_lol_action.analysis.files.checkout import Checkout
from gpu_lol_action.analysis.formats.surest import value_of_best

Build = Callable[[Mapping[str, str]], Checkout]
MODEL = "meta-llama/Llama-3.1-8B-Instruct"
NEEDS = {"requirements.txt": "vllm\n"}


def needed(tree: Checkout) -> int:
    return analyze(tree).spec.hardware.vram_required_gb or 0


@pytest.mark.parametrize(
    "files",
    [
        {"serve.sh": f"vllm serve {MODEL}\n"},
        {"run.py": f"from vllm import LLM\nif __name__ == '__main__':\n    LLM('{MODEL}').generate(['a'])\n"},
        {"service.py": f"import bentoml\n@bentoml.service(resources={{'gpu': 1}})\nclass A:\n    model_id = '{MODEL}'\n    def __command__(self):\n        return ['vllm', 'serve']\n"},
    ],
)  # fmt: skip
def test_what_says_no_length_needs_the_cache_of_a_whole_context(checkout: Build, files: Mapping[str, str]) -> None:
    # 15 GiB of weights and 16 GiB of keys and values: 131,072 tokens x 32 layers x 2 x 8 heads x 128 x 2 bytes.
    assert 31 <= needed(checkout({**NEEDS, **files})) <= 48


def test_a_length_that_is_set_is_what_is_kept(checkout: Build) -> None:
    assert needed(checkout({**NEEDS, "serve.sh": f"vllm serve {MODEL} --max-model-len 4096\n"})) <= 24


def test_a_server_that_names_no_model_is_taken_for_one_that_fills_a_card(checkout: Build) -> None:
    text = "import runpod\nfrom vllm import AsyncLLMEngine\nrunpod.serverless.start({'handler': AsyncLLMEngine})\n"
    assert 31 <= needed(checkout({**NEEDS, "handler.py": text})) <= 48


def test_transformers_keep_what_they_are_given(checkout: Build) -> None:
    text = f"from transformers import AutoModelForCausalLM as A\nif __name__ == '__main__':\n    A.from_pretrained('{MODEL}').cuda().generate(x)\n"
    assert needed(checkout({"run.py": text})) <= 20


@pytest.mark.parametrize(
    ("module", "batch"),
    [
        ("class Args:\n    max_batch_size: int = 32\n", None),  # what it could hold
        ("def encode(texts, batch_size=50):\n    return texts\n", None),  # lists that it works through
    ],
)
def test_an_imported_modules_batch_is_not_what_a_run_answers(checkout: Build, module: str, batch: str | None) -> None:
    program = (
        "from transformers import LlamaForCausalLM\nfrom lab.parts import *\n"
        "if __name__ == '__main__':\n    LlamaForCausalLM.from_pretrained('huggyllama/llama-7b').cuda().generate()\n"
    )
    files = {"demo.py": program, "lab/__init__.py": "", "lab/parts.py": f"import dataclasses\n\n{module}"}
    assert value_of_best(detect_all(checkout(files)), "training.batch_size") == batch


def test_the_programs_own_batch_is(checkout: Build) -> None:
    program = (
        "import argparse\nfrom transformers import LlamaForCausalLM\n"
        "if __name__ == '__main__':\n    p = argparse.ArgumentParser()\n    p.add_argument('--batch_size', type=int, default=32)\n"
        "    LlamaForCausalLM.from_pretrained('huggyllama/llama-7b').cuda().generate(batch_size=p.parse_args().batch_size)\n"
    )
    assert value_of_best(detect_all(checkout({"demo.py": program})), "training.batch_size") == "32"


@pytest.mark.parametrize(
    ("readme", "served", "low", "high"),
    [
        ("With only 0.9B parameters it is small.", "me/Reader", 0, 12),
        ("It reads.", "me/Reader", 31, 48),  # of an unknown size: as what is mostly served
        ("With only 0.9B parameters it is small.", MODEL, 31, 48),
    ],
)
def test_a_server_of_a_model_of_unknown_size_is_told_it_by_the_readme(
    checkout: Build, readme: str, served: str, low: int, high: int
) -> None:
    files = {"README.md": f"# Reader\n{readme}\n```\nvllm serve {served} --port 8080\n```\n"}
    assert low <= needed(checkout({**NEEDS, **files})) <= high


ENGINE = "from vllm import LLM\n\n\ndef build(slices={}):\n    return LLM('Qwen/Qwen2.5-14B-Instruct', tensor_parallel_size=slices, gpu_memory_utilization=0.8)\n"


def told(checkout: Build, files: Mapping[str, str]) -> dict[str, str]:
    found: dict[str, str] = {}
    for finding in detect_all(checkout(files)):
        found.setdefault(finding.field, finding.value)
    return found


@pytest.mark.parametrize(
    "files",
    [
        {"run.py": f"{ENGINE.format(2)}\nprint(build().generate(['a']))\n"},
        {"engine.py": ENGINE.format(2), "run.py": "from engine import build\n\nprint(build().generate(['a']))\n"},
        {"engine.py": ENGINE.format(1), "run.py": "from engine import build\n\nprint(build(slices=2).generate(['a']))\n"},
    ],
)  # fmt: skip
def test_an_engine_takes_its_share_of_its_cards_wherever_it_is_made(checkout: Build, files: Mapping[str, str]) -> None:
    found = told(checkout, {**NEEDS, **files})
    assert (found["serving.memory_share"], found["hardware.gpu_count"], found["serving.engine"]) == ("0.8", "2", "vllm")


def test_a_module_that_only_names_the_library_makes_no_engine(checkout: Build) -> None:
    other = "from vllm import SamplingParams\n\nLENGTH = 512\n"
    program = f"from other import LENGTH\nfrom transformers import AutoModelForCausalLM as A\n\nA.from_pretrained('{MODEL}').cuda().generate(x)\n"
    found = told(checkout, {"other.py": other, "run.py": program})
    assert not {"serving.memory_share", "serving.engine"} & set(found)


@pytest.mark.parametrize(
    ("files", "length"),
    [
        ({"run.py": f"import sglang\n\nllm = sglang.Engine(model_path='{MODEL}', context_length=16384)\nllm.generate(['a'])\n"}, "16384"),
        ({"run.py": "from llama_cpp import Llama\n\nllm = Llama(model_path='a/Qwen2.5-14B-Instruct-Q5_K_M.gguf', n_ctx=16384, n_gpu_layers=-1)\nllm('a')\n"}, "16384"),
        ({"run.sh": f"text-generation-launcher --model-id {MODEL} --max-total-tokens 16384\n"}, "16384"),
        # A network's table of positions is not what it is asked.
        ({"run.py": f"from transformers import AutoModelForCausalLM as A\n\nA.from_pretrained('{MODEL}', n_ctx=16384).cuda().generate(x)\n"}, None),
    ],
)  # fmt: skip
def test_what_keeps_room_for_a_length_is_told_it(checkout: Build, files: Mapping[str, str], length: str | None) -> None:
    assert told(checkout, files).get("training.sequence_length") == length
