"""What Truss, dstack and BentoML are told to start: configuration that is all there is of a served model."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import pytest

from gpu_lol_action.analysis.answer.assemble import analyze
from gpu_lol_action.analysis.commands.launch_commands import launch_commands
from gpu_lol_action.analysis.files.checkout import Checkout
from gpu_lol_action.domain.spec import WorkloadType

Build = Callable[[Mapping[str, str]], Checkout]
ENGINE = """\
model_name: engine
resources:
  accelerator: H100:2
  use_gpu: true
trt_llm:
  build:
    base_model: decoder
    checkpoint_repository:
      repo: Qwen/Qwen3-32B
      source: HF
    max_batch_size: 64
    max_seq_len: 40960
    quantization_type: {quantization}
    tensor_parallel_count: 2
"""
SERVER = """\
base_image:
  image: vllm/vllm-openai:v0.8.5
docker_server:
  start_command: sh -c "HF_TOKEN=$(cat /secrets/token) vllm serve Qwen/Qwen3-30B-A3B
    --served-model-name small --port 8000"
  server_port: 8000
resources:
  accelerator: A100
  use_gpu: true
"""
TASK = """\
type: service
name: big
env:
  - HF_TOKEN
  - MODEL=openai/gpt-oss-120b
commands:
  - pip install vllm
  - |
    vllm serve $MODEL \\
      --tensor-parallel-size $DSTACK_GPUS_NUM
resources:
  gpu: H100:8
"""
SERVICE = """\
import bentoml
import pydantic

class Args(pydantic.BaseModel):
    tp: int = 1
    gpu_type: str = 'nvidia-h100-80gb'
    model_id: str = 'meta-llama/Meta-Llama-3.1-8B-Instruct'

args = bentoml.use_arguments(Args)

@bentoml.service(name='x', resources={'gpu': args.tp, 'gpu_type': args.gpu_type})
class LLM:
    hf = bentoml.models.HuggingFaceModel(args.model_id)

    def __command__(self):
        return ['vllm', 'serve', self.hf]
"""


def test_an_engine_to_build_is_a_served_model_with_its_weights_cards_and_quantization(checkout: Build) -> None:
    plain = analyze(checkout({"config.yaml": ENGINE.format(quantization="no_quant")}))
    small = analyze(checkout({"config.yaml": ENGINE.format(quantization="fp8")}))
    assert plain.spec.meta.workload_type is WorkloadType.INFERENCE
    assert plain.spec.hardware.gpu_count == 2
    assert plain.breakdown is not None
    assert small.breakdown is not None
    weights = [analysis.breakdown.terms[0].gib for analysis in (plain, small) if analysis.breakdown is not None]
    assert weights[0] == pytest.approx(2 * weights[1], rel=0.15)  # embeddings stay wide
    # The engine takes as many requests as fit: 64 whole contexts need not.
    assert plain.breakdown.required_gib < 80


def test_a_server_that_an_image_starts_is_a_command_though_a_secret_stands_before_it(checkout: Build) -> None:
    built = checkout({"config.yaml": SERVER})
    (command,) = launch_commands(built)
    assert (command.tool, command.words[1]) == ("vllm", "Qwen/Qwen3-30B-A3B")
    assert command.options["served_model_name"] == "small"
    analysis = analyze(built)
    assert analysis.spec.meta.workload_type is WorkloadType.INFERENCE
    assert (analysis.spec.hardware.vram_required_gb, analysis.spec.hardware.gpu_count) == (
        80,
        1,
    )  # more than 40 GB of weights


FOLDED = """\
base_image:
  image: vllm/vllm-openai:v0.8.5
docker_server:
  start_command: >-
    sh -c "vllm serve Qwen/Qwen3-30B-A3B
    --served-model-name small
    --port 8000"
  server_port: 8000
resources:
  accelerator: H100:1
  use_gpu: true
"""


@pytest.mark.parametrize(
    "text",
    [
        FOLDED,
        FOLDED.replace(">-", ">"),
        # In quotes a YAML text has its own signs for quotes; what stays behind (`&`) is started beside it.
        SERVER.replace('sh -c "HF_TOKEN=', '"sh -c \\"warm-up & HF_TOKEN=').replace(
            "8000\n  server", '8000\\""\n  server', 1
        ),
    ],
)
def test_a_servers_command_may_be_folded_or_in_quotes(checkout: Build, text: str) -> None:
    (command,) = launch_commands(checkout({"config.yaml": text}))
    assert (command.tool, command.words[1], command.options["served_model_name"]) == (
        "vllm",
        "Qwen/Qwen3-30B-A3B",
        "small",
    )
    assert command.options["port"] == "8000"


def test_a_block_that_is_not_folded_stays_as_many_lines(checkout: Build) -> None:
    text = FOLDED.replace(">-", "|").replace('sh -c "vllm serve Qwen/Qwen3-30B-A3B', "vllm serve a/b")
    (command,) = launch_commands(checkout({"config.yaml": text}))
    assert not command.options


def test_the_largest_card_counts_where_it_is_ordered(checkout: Build) -> None:
    text = ENGINE.format(quantization="fp8").replace("H100:2", "B200:2").replace("Qwen/Qwen3-32B", "own/unknown")
    hardware = analyze(checkout({"config.yaml": text})).spec.hardware
    assert (hardware.vram_required_gb, hardware.gpu_count) == (180, 2)


def test_the_largest_card_is_not_taken_where_it_is_only_named(checkout: Build) -> None:
    model = "import torch\nmodel = load().cuda()\nmodel.generate(x)\n"
    analysis = analyze(checkout({"README.md": "# Net\nIt was tested on a B200.\n", "run.py": model}))
    assert analysis.spec.hardware.vram_required_gb < 180


def test_a_truss_that_only_builds_what_it_serves_is_served_where_no_program_lies(checkout: Build) -> None:
    text = "build_commands:\n- git clone https://github.com/a/b\nresources:\n  accelerator: A100\n  use_gpu: true\n"
    assert analyze(checkout({"config.yaml": text})).spec.meta.workload_type is WorkloadType.INFERENCE
    unsaid = "build_commands:\n- git clone https://github.com/a/b\nresources:\n  use_gpu: false\n"
    assert analyze(checkout({"config.yaml": unsaid})).spec.meta.workload_type is WorkloadType.CPU_ONLY


def test_a_truss_whose_program_shows_nothing_is_served_where_it_asks_for_a_gpu(checkout: Build) -> None:
    model = "import subprocess\n\nclass Model:\n    def load(self):\n        pass\n\n    def predict(self, x):\n        pass\n"
    asked = {"model/model.py": model, "config.yaml": "resources:\n  cpu: '3'\n  use_gpu: true\n"}
    assert analyze(checkout(asked)).spec.meta.workload_type is WorkloadType.INFERENCE
    refused = {**asked, "config.yaml": "resources:\n  cpu: '3'\n  use_gpu: false\n"}
    assert analyze(checkout(refused)).spec.meta.workload_type is WorkloadType.CPU_ONLY


def test_half_a_card_is_asked_for_by_its_size(checkout: Build) -> None:
    text = ENGINE.format(quantization="fp8").replace("H100:2", "H100_40GB").replace("Qwen/Qwen3-32B", "own/unknown")
    analysis = analyze(checkout({"config.yaml": text}))
    assert (analysis.spec.hardware.vram_required_gb, analysis.spec.hardware.gpu_count) == (40, 2)


@pytest.mark.parametrize("name", ["120b.dstack.yml", ".dstack.yml"])
def test_dstacks_commands_are_started_with_its_variables_and_cards(checkout: Build, name: str) -> None:
    built = checkout({name: TASK})
    (command,) = launch_commands(built)
    assert command.words[1] == "openai/gpt-oss-120b"
    analysis = analyze(built)
    assert analysis.spec.meta.workload_type is WorkloadType.INFERENCE
    assert analysis.spec.hardware.gpu_count == 8


def test_a_command_over_several_lines_of_a_list_is_one_however_long(checkout: Build) -> None:
    options = "\n".join(f"      --option_{number} {'x' * 40}" for number in range(20))
    task = f"type: task\ncommands:\n  - pip install trl\n  - torchrun --nproc-per-node=4 train.py\n{options}\n      --lr 1\n"
    (command,) = launch_commands(checkout({"train.dstack.yml": task}))
    assert (command.processes, command.options["lr"]) == (4, "1")


def test_what_a_task_fetches_before_it_starts_it_is_its_work(checkout: Build) -> None:
    task = "type: task\ncommands:\n  - git clone https://github.com/a/b\n  - cd b\n  - python train.py --epochs 3\nresources:\n  gpu: 24GB\n"
    client = {"client.py": "import requests\nrequests.get('x')\n"}
    analysis = analyze(checkout({**client, "a.dstack.yml": task}))
    assert analysis.spec.meta.workload_type is WorkloadType.TRAINING
    assert analysis.spec.hardware.vram_required_gb == 24
    without = task.replace("git clone https://github.com/a/b", "ls")
    assert analyze(checkout({**client, "a.dstack.yml": without})).spec.meta.workload_type is WorkloadType.CPU_ONLY


def test_the_same_work_for_another_makers_cards_comes_behind(checkout: Build) -> None:
    task = "type: task\ncommands:\n  - torchrun --nproc-per-node={count} train.py\n"
    files = {"amd/a.dstack.yml": task.format(count=8), "nvidia/a.dstack.yml": task.format(count=2)}
    assert analyze(checkout(files)).spec.hardware.gpu_count == 2


def test_what_bentoml_builds_with_goes_before_what_the_service_starts_with(checkout: Build) -> None:
    build = '[project]\nname = "x"\n\n[tool.bentoml.build.args]\ntp = 4\ngpu_type = "nvidia-h200-141gb"\nmodel_id = "{model}"\n'
    known = analyze(
        checkout({"service.py": SERVICE, "pyproject.toml": build.format(model="meta-llama/Llama-3.3-70B-Instruct")})
    )
    assert known.spec.hardware.gpu_count == 4
    assert known.breakdown is not None
    assert "70" in known.breakdown.terms[0].basis
    cards = {finding.value for finding in known.findings if finding.field == "documented.card"}
    assert cards == {"H200"}
    # A model that nobody knows is not the one of the default.
    strange = analyze(checkout({"service.py": SERVICE, "pyproject.toml": build.format(model="somebody/own-model")}))
    assert "model.id" not in {finding.field for finding in strange.findings}
    assert strange.spec.hardware.gpu_count == 4
