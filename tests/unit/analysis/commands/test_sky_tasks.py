"""SkyPilot's task files: what they ask for, and which of them a run belongs to."""

from __future__ import annotations

import pytest

from gpu_lol_action.analysis.answer.assemble import analyze
from gpu_lol_action.analysis.commands.sky_tasks import quotes_task, sky_tasks, sky_tasks_of
from gpu_lol_action.analysis.files.checkout import Checkout
from gpu_lol_action.analysis.formats.paths import Form
from gpu_lol_action.domain.finding import Evidence
from gpu_lol_action.domain.spec import WorkloadType
from tests.unit.analysis.conftest import Build

SERVES = "run: |\n  python -m vllm.entrypoints.openai.api_server --model mistralai/Mixtral-8x7B-Instruct-v0.1 --tensor-parallel-size $SKYPILOT_NUM_GPUS_PER_NODE\n"


def hardware(tree: Checkout) -> tuple[WorkloadType, int | None, int]:
    spec = analyze(tree).spec
    return spec.meta.workload_type, spec.hardware.vram_required_gb, spec.hardware.gpu_count


@pytest.mark.parametrize(
    ("asked", "expected", "choice"),
    [
        ("  accelerators: A100:8", (("A100", 8),), ("A100", 8)),
        ("  accelerators: V100  # or any", (("V100", 1),), ("V100", 1)),
        ("  accelerators: {L4:8, A10g:8, A100-80GB:2}", (("L4", 8), ("A10G", 8), ("A100-80GB", 2)), ("L4", 8)),
        ("  accelerators: [A100:1, 'T4:1']", (("A100", 1), ("T4", 1)), ("T4", 1)),
        ("  accelerators:\n    L4: 4\n  memory: 32+", (("L4", 4),), ("L4", 4)),
        ("  accelerators:\n    - H100-SXM:8\n  cpus: 4", (("H100", 8),), ("H100", 8)),
        ("  any_of:\n    - accelerators: T4:1\n    - accelerators: L4:1", (("T4", 1), ("L4", 1)), ("T4", 1)),
        ("  accelerators: tpu-v2-8", (), None),
        ("  # accelerators: A100:8\n  cpus: 2", (), None),
    ],
)
def test_each_form_of_resources_is_read(
    checkout: Build, asked: str, expected: tuple[tuple[str, int], ...], choice: tuple[str, int] | None
) -> None:
    tree = checkout({"x.yaml": f"resources:\n{asked}\n\nrun: |\n  nvidia-smi\n"})
    (task,) = sky_tasks_of(tree.of(Form.YAML)[0])
    assert (task.asked, task.choice) == (expected, choice)


def test_documents_of_a_pipeline_are_tasks_of_their_own(checkout: Build) -> None:
    text = "name: all\n---\nresources:\n  accelerators: V100:1\nrun: a\n---\nnum_nodes: 2\nresources:\n  accelerators: T4:4\nrun: b\n"
    tasks = sky_tasks(checkout({"pipeline.yaml": text}))
    assert [(task.first, task.last, task.asked, task.nodes) for task in tasks] == [
        (2, 5, (("V100", 1),), None),
        (6, 11, (("T4", 4),), 2),
    ]


def test_other_files_with_resources_are_no_tasks(checkout: Build) -> None:
    text = "apiVersion: v1\nspec:\n  resources:\n    accelerators: A100:8\n"
    assert sky_tasks(checkout({"pod.yaml": text, "train.yaml": "resources:\n  gpu: 1\n"})) == ()


def test_least_card_of_a_set_is_enough_and_is_asked_for_whole(checkout: Build) -> None:
    task = f"resources:\n  accelerators: {{L4:8, A100:4, A100-80GB:2}}\n{SERVES}"
    assert hardware(checkout({"serve.yaml": task})) == (WorkloadType.INFERENCE, 24, 8)


@pytest.mark.parametrize(
    ("name", "expected"), [("nccl.yaml", WorkloadType.TRAINING), ("bench.yaml", WorkloadType.INFERENCE)]
)
def test_task_asks_for_cards_whatever_it_starts(checkout: Build, name: str, expected: WorkloadType) -> None:
    text = "resources:\n  accelerators: H100:8\nrun: |\n  ./all_reduce\n"
    assert hardware(checkout({name: text})) == (expected, 80, 8)


def test_task_of_an_example_below_asks_for_nobody_else(checkout: Build) -> None:
    text = "resources:\n  accelerators: H100:8\nrun: |\n  ./all_reduce\n"
    assert hardware(checkout({"examples/a/task.yaml": text, "main.py": "print(1)\n"}))[0] is WorkloadType.CPU_ONLY


def test_task_for_the_program_is_taken_of_several(checkout: Build) -> None:
    program = "import torch\nm = torch.nn.Linear(9, 9).cuda()\ntorch.optim.SGD(m.parameters()).step()\nif __name__ == '__main__':\n    m(1).backward()\n"
    files = {
        "work.py": program,
        "a.yaml": "resources:\n  accelerators: T4:2\nrun: |\n  python other.py\n",
        "b.yaml": "resources:\n  accelerators: L4:4\nrun: |\n  python work.py\n",
    }
    assert hardware(checkout(files))[2] == 4


def test_readme_that_shows_a_task_is_read_from_the_task(checkout: Build) -> None:
    task = f"envs:\n  MODEL: Qwen/Qwen2.5-72B-Instruct\nresources:\n  accelerators: H100:8\n{SERVES}"
    tree = checkout({"README.md": f"# Serve\n```yaml\n{task}```\n```\nvllm serve x\n```\n", "serve.yaml": task})
    assert quotes_task(tree, Evidence("README.md", 7))
    assert not quotes_task(tree, Evidence("README.md", 11))
    assert not quotes_task(checkout({"README.md": f"```yaml\n{task}```\n"}), Evidence("README.md", 4)) or sky_tasks(
        tree
    )


def test_tasks_setup_installs_for_its_run(checkout: Build) -> None:
    task = f"resources:\n  accelerators: L4:1\nsetup: |\n  uv pip install vllm==0.6.6\n{SERVES}"
    assert "vllm==0.6.6" in analyze(checkout({"serve.yaml": task})).spec.dependencies.requirements


def test_example_program_that_is_told_to_train_trains(checkout: Build) -> None:
    task = "resources:\n  accelerators: V100:1\nrun: |\n  git clone x\n  python run_qa.py --model_name_or_path bert-base-uncased --do_train\n"
    assert hardware(checkout({"qa.yaml": task}))[0] is WorkloadType.TRAINING


def test_task_that_names_a_configuration_tells_its_cards(checkout: Build) -> None:
    config = "model_name_or_path: meta-llama/Llama-3.1-8B\nstage: sft\nfinetuning_type: lora\nper_device_train_batch_size: 1\ncutoff_len: 512\n"
    task = "num_nodes: 2\nresources:\n  accelerators: H100:8\nrun: |\n  llamafactory-tool /configs/lora_sft.yaml\n"
    files = {"configs/lora_sft.yaml": config, "go.yaml": task, "README.md": "It can run on 16 H100s when it trains.\n"}
    assert hardware(checkout(files))[2] == 8


EVALUATES = (
    "import torch\nfrom vllm import LLM\nif __name__ == '__main__':\n    LLM(model=args.model).generate(prompts)\n"
)
README = "# Bench\n```\npython -m runner.main --model {model_name}\n```\n"


@pytest.mark.parametrize(
    ("more", "path", "expected"),
    [
        ("setup:\n  pip install vllm\n", "bench_sky.yml", 8),
        # It starts something else.
        ("setup:\n  pip install vllm\nrun: |\n  ./all_reduce\n", "bench_sky.yml", 1),
        ("setup:\n  pip install vllm\n", "examples/a/sky.yml", 1),
    ],
)
def test_task_that_starts_nothing_is_the_machine_of_what_the_readme_starts(
    checkout: Build, more: str, path: str, expected: int
) -> None:
    other = "resources:\n  accelerators: T4:2\nrun: |\n  ./other\n"
    files = {path: f"workdir: ./\nresources:\n  accelerators: L4:8\n{more}", "other.yaml": other}
    tree = checkout({**files, "README.md": README, "runner/main.py": EVALUATES})
    assert hardware(tree)[2] == expected
