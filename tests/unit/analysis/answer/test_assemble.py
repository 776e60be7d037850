from __future__ import annotations

import json
from collections.abc import Callable, Mapping

import pytest

from gpu_lol_action.analysis.answer.as_json import analysis_json
from gpu_lol_action.analysis.answer.assemble import analyze, named_models
from gpu_lol_action.analysis.files.checkout import Checkout
from gpu_lol_action.domain.analysis import Analysis
from gpu_lol_action.domain.finding import Confidence
from gpu_lol_action.domain.spec import WorkloadType
from gpu_lol_action.errors import SpecError
from gpu_lol_action.estimation.known_models import ModelFacts

Build = Callable[[Mapping[str, str]], Checkout]

TRAIN = "import torch\nfrom transformers import AutoModelForCausalLM, Trainer\nmodel = AutoModelForCausalLM.from_pretrained('{model}')\nTrainer(model).train()\n"
SFT = "base_model: Qwen/Qwen2.5-7B\nadapter: {adapter}\nsequence_len: {length}\nmicro_batch_size: 2\nlearning_rate: 1e-4\nbf16: true\ngradient_checkpointing: {saving}\n"


def value(found: Analysis, field: str) -> str | None:
    values = [f for f in found.findings if f.field == field]
    return max(values, key=lambda f: f.confidence).value if values else None


@pytest.mark.parametrize(
    ("files", "workload"),
    [
        ({"train.py": "import torch\nloss.backward()\ndevice = 'cuda'\n"}, WorkloadType.TRAINING),
        ({"train.py": "import regex\ntokenizer.train()\n"}, WorkloadType.CPU_ONLY),
        ({"train.py": "from sklearn.svm import SVC\nSVC().fit(x, y)\n"}, WorkloadType.CPU_ONLY),
        ({"train.py": "import torch\nloss.backward()\n"}, WorkloadType.CPU_ONLY),
        ({"generate.py": "from transformers import pipeline\npipeline('text-generation', model='gpt2')\n"}, WorkloadType.INFERENCE),
        ({"serve.sh": "vllm serve meta-llama/Llama-3.1-8B\n"}, WorkloadType.INFERENCE),
        ({"config.yml": SFT.format(adapter="lora", length=1024, saving="true")}, WorkloadType.TRAINING),
        ({"README.md": "# A web site\n", "app.py": "import flask\n"}, WorkloadType.CPU_ONLY),
        ({"a.ipynb": json.dumps({"cells": [{"cell_type": "code", "source": "import torch\nmodel.generate(x.to('cuda'))"}]})}, WorkloadType.INTERACTIVE),
        ({"tests/test_a.py": "import torch\nloss.backward()\n", "a.py": "import click\n"}, WorkloadType.CPU_ONLY),
        ({"pyproject.toml": '[build-system]\nrequires=["hatchling"]\n[project]\ndependencies=["numpy"]\n', "examples/train.py": "import torch\nloss.cuda().backward()\n"}, WorkloadType.CPU_ONLY),
        ({}, WorkloadType.CPU_ONLY),
    ],
)  # fmt: skip
def test_workload_follows_from_what_the_code_does(
    checkout: Build, files: dict[str, str], workload: WorkloadType
) -> None:
    found = analyze(checkout(files))
    assert found.spec.meta.workload_type is workload
    assert (found.spec.hardware.gpu_count == 0) == (workload is WorkloadType.CPU_ONLY)


def test_a_longer_sequence_needs_more_and_says_where(checkout: Build) -> None:
    short = analyze(checkout({"config.yml": SFT.format(adapter="lora", length=1024, saving="false")}))
    long = analyze(checkout({"config.yml": SFT.format(adapter="lora", length=4096, saving="false")}))
    assert short.breakdown is not None
    assert long.breakdown is not None
    assert long.breakdown.expected_gib > short.breakdown.expected_gib + 10
    activations = next(term for term in long.breakdown.terms if term.name == "activations")
    assert str(activations.evidence) == "config.yml:3"
    assert value(long, "hardware.vram_required_gb") == str(long.spec.hardware.needed_gib)


def test_each_saving_needs_less(checkout: Build) -> None:
    needs = [
        analyze(
            checkout({"config.yml": SFT.format(adapter=adapter, length=2048, saving=saving)})
        ).spec.hardware.vram_required_gb
        or 0
        for adapter, saving in (("lora", "false"), ("lora", "true"), ("qlora", "true"))
    ]
    assert needs == sorted(needs, reverse=True)
    assert needs[0] > needs[2]


@pytest.mark.parametrize(
    "noise",
    [
        "KEY = 'd900eceeded7be9e70b5c2'\n", "for i in range(256): batch_size\n", "x = '170b pm'\n", "# 16bit, 32bit, 64 Bit, 300B tokens\n",
        "NAME = 'F402\\nBASE_MODEL'\n", "REGISTRY = {'llama_70b': 'meta-llama/Llama-2-70b-hf'}\n",
    ],
)  # fmt: skip
def test_numbers_that_are_no_models_change_nothing(checkout: Build, noise: str) -> None:
    plain = analyze(checkout({"train.py": TRAIN.format(model="gpt2")}))
    noisy = analyze(checkout({"train.py": TRAIN.format(model="gpt2"), "beside.py": noise}))
    assert noisy.spec.hardware == plain.spec.hardware


@pytest.mark.parametrize(
    ("files", "count"),
    [
        ({"README.md": "```\ntorchrun --nproc_per_node=4 train.py\n```\n"}, 4),
        ({"README.md": "```\npython train.py\n```\n"}, 1),
        (
            {
                "README.md": "```\naccelerate launch --config_file ds.yaml train.py\n```\n",
                "ds.yaml": "zero_stage: 3\nnum_processes: 8\n",
            },
            8,
        ),
        (
            {
                "README.md": "Train on 4 A100 80GB GPUs.\n```\naccelerate launch --config_file ds.yaml train.py\n```\n",
                "ds.yaml": "zero_stage: 3\n",
            },
            4,
        ),
        (
            {"train.py": TRAIN.format(model="gpt2") + "Trainer(devices=2)\nimport torch.distributed\nLOCAL_RANK = 0\n"},
            2,
        ),
        ({"train.py": TRAIN.format(model="gpt2") + "import torch.distributed\nos.environ['LOCAL_RANK']\n"}, 1),
    ],
)
def test_gpu_count_follows_from_what_starts_the_run(checkout: Build, files: dict[str, str], count: int) -> None:
    found = analyze(checkout({"train.py": TRAIN.format(model="gpt2"), **files}))
    assert found.spec.hardware.gpu_count == count


def test_a_model_too_large_for_one_card_is_divided(checkout: Build) -> None:
    found = analyze(checkout({"train.py": TRAIN.format(model="meta-llama/Llama-3.1-8B")}))
    assert found.spec.hardware.gpu_count > 1
    assert (found.spec.hardware.needed_gib or 99) <= 79


def test_activations_that_dividing_does_not_shrink_ask_for_one_larger_card(checkout: Build) -> None:
    config = SFT.format(adapter="lora", length=6144, saving="false")
    found = analyze(checkout({"config.yml": config}))
    assert found.spec.hardware.gpu_count == 1
    assert 80 < (found.spec.hardware.needed_gib or 0) < 139


def test_documentation_speaks_where_no_model_is_known(checkout: Build) -> None:
    program = "import torch\nloss.cuda().backward()\n"
    assert analyze(checkout({"train.py": program})).spec.hardware.vram_required_gb == 12
    said = analyze(checkout({"train.py": program, "README.md": "Training requires at least 22GB of GPU memory.\n"}))
    assert (said.spec.hardware.vram_required_gb, said.spec.hardware.needed_gib) == (24, 22)
    assert any("documentation" in gap for gap in said.not_understood)
    card = analyze(checkout({"train.py": program, "README.md": "We trained on a single RTX 3090.\n"}))
    assert (card.spec.hardware.vram_required_gb, card.spec.hardware.needed_gib) == (24, 23)


@pytest.mark.parametrize(
    "text", ["needs 64 GB of RAM", "the dataset has 500 GB", "300B tokens", "a V100 16x speedup", "GPU memory grows"]
)
def test_documentation_of_other_things_is_no_statement_on_memory(checkout: Build, text: str) -> None:
    found = analyze(checkout({"train.py": "import torch\nloss.cuda().backward()\n", "README.md": f"{text}\n"}))
    assert value(found, "documented.memory_gb") is None


def test_facts_looked_up_elsewhere_win_over_the_table(checkout: Build) -> None:
    tree = checkout({"generate.py": "from transformers import pipeline\npipeline('x', model='me/private-3b')\n"})
    plain = analyze(tree)
    assert named_models(plain.findings) == ("me/private-3b",)
    told = analyze(
        tree, None, {"me/private-3b": ModelFacts("me/private-3b", "llm", 30.0, 6144, 60, 48, 8, 32000, "hub")}
    )
    assert (told.spec.hardware.vram_required_gb or 0) > 4 * (plain.spec.hardware.vram_required_gb or 0)


def test_dockerfile_image_is_taken_when_it_is_for_a_gpu(checkout: Build) -> None:
    files = {
        "train.py": TRAIN.format(model="gpt2"),
        "Dockerfile": "ARG V=12.4.1\nFROM python:3.11 AS a\nFROM nvidia/cuda:${V}-devel-ubuntu22.04\n",
    }
    assert analyze(checkout(files)).spec.environment.base_image == "pytorch/pytorch:2.6.0-cuda12.4-cudnn9-devel"
    files["Dockerfile"] = "FROM python:3.11\n"
    assert (analyze(checkout(files)).spec.environment.base_image or "").startswith("pytorch/pytorch:")


def test_a_file_wins_and_leaves_the_rest_to_the_code(checkout: Build) -> None:
    tree = checkout(
        {"config.yml": SFT.format(adapter="lora", length=4096, saving="false"), "requirements.txt": "axolotl\n"}
    )
    found = analyze(tree, "hardware: {vram_required_gb: 8}\nmeta: {workload_type: training}\n")
    assert found.spec.hardware.vram_required_gb == 8
    assert found.spec.dependencies.requirements == ("axolotl",)
    assert found.proposed.hardware.vram_required_gb is not None
    (difference,) = found.differences
    assert (difference.key, difference.in_file) == ("hardware.vram_required_gb", "8 GB")
    assert "config.yml:1" in difference.why
    with pytest.raises(SpecError):
        analyze(tree, "hardware: {vrm: 8}\n")


def test_a_file_with_room_or_with_the_same_word_is_no_difference(checkout: Build) -> None:
    tree = checkout({"config.yml": SFT.format(adapter="qlora", length=1024, saving="true")})
    need = analyze(tree).spec.hardware.vram_required_gb
    assert need is not None
    assert analyze(tree, f"hardware: {{vram_required_gb: {need}}}\n").differences == ()
    assert analyze(tree, f"hardware: {{vram_required_gb: {int(need * 1.4)}}}\n").differences == ()


def test_a_stated_card_bounds_an_unstated_memory(checkout: Build) -> None:
    tree = checkout({"config.yml": SFT.format(adapter="lora", length=8192, saving="false")})
    found = analyze(tree, "hardware: {gpu_type: A40}\n")
    assert found.spec.hardware.vram_required_gb == 48
    assert [item.key for item in found.differences] == ["hardware.gpu_type"]
    asked = analyze(checkout({"a.py": "import click\n"}), "hardware: {gpu_type: A40}\n")
    assert asked.spec.needs_gpu


def test_json_has_the_keys_that_users_read(checkout: Build) -> None:
    found = analysis_json(analyze(checkout({"config.yml": SFT.format(adapter="lora", length=1024, saving="true")})))
    assert list(found)[:8] == [
        "schema_version",
        "workload_type",
        "vram_required_gb",
        "needed_gib",
        "gpu_count",
        "gpu_type",
        "requirements",
        "base_image",
    ]
    assert json.loads(json.dumps(found)) == found
    assert all(
        {"field", "value", "why", "confidence", "where", "path", "line"} == set(finding)
        for finding in found["findings"]
    )


def test_every_finding_has_a_place_and_a_sentence(checkout: Build) -> None:
    found = analyze(
        checkout(
            {
                "train.py": TRAIN.format(model="gpt2"),
                "requirements.txt": "torch\n",
                "README.md": "```\npython train.py\n```\n",
            }
        )
    )
    assert found.findings
    for finding in found.findings:
        assert finding.evidence.path
        assert finding.why
        assert isinstance(finding.confidence, Confidence)


def test_a_model_of_unknown_size_is_named_and_may_be_looked_up(checkout: Build) -> None:
    tree = checkout(
        {
            "config.yml": SFT.format(adapter="lora", length=1024, saving="true").replace(
                "Qwen/Qwen2.5-7B", "me/private-small"
            )
        }
    )
    plain = analyze(tree)
    assert plain.breakdown is None
    assert "the size of `me/private-small` is not known; 20 GiB were assumed" in plain.not_understood
    assert named_models(plain.findings) == ("me/private-small",)
    told = analyze(
        tree, None, {"me/private-small": ModelFacts("me/private-small", "llm", 24.0, 5120, 40, 32, 8, 131072, "hub")}
    )
    assert told.breakdown is not None
    assert (told.spec.hardware.vram_required_gb or 0) > 48


@pytest.mark.parametrize(
    ("line", "precision"),
    [
        ("bf16: auto", "bf16"),
        ("fp16: true", "fp16"),
        ("mixed_precision: bf16", "bf16"),
        ("torch_dtype: float32", "fp32"),
    ],
)
def test_precision_as_configurations_write_it(checkout: Build, line: str, precision: str) -> None:
    text = SFT.format(adapter="lora", length=1024, saving="true").replace("bf16: true", line)
    assert value(analyze(checkout({"config.yml": text})), "training.precision") == precision


def test_processes_of_a_program_are_no_gpus(checkout: Build) -> None:
    program = TRAIN.format(model="gpt2") + "parser.add_argument('--num-processes', default=6)\n"
    assert analyze(checkout({"train.py": program})).spec.hardware.gpu_count == 1


def test_sequence_parallel_divides_the_activations(checkout: Build) -> None:
    plain = analyze(checkout({"config.yml": SFT.format(adapter="lora", length=8192, saving="true")}))
    split = analyze(
        checkout({"config.yml": SFT.format(adapter="lora", length=8192, saving="true") + "context_parallel_size: 4\n"})
    )
    assert (split.spec.hardware.vram_required_gb or 0) < (plain.spec.hardware.vram_required_gb or 0)
