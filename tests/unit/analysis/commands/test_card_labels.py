"""What clusters call their cards, and the machines that a manifest selects by them."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import pytest

from gpu_lol_action.analysis.answer.assemble import analyze
from gpu_lol_action.analysis.commands.card_labels import card_of_label
from gpu_lol_action.analysis.files.checkout import Checkout
from gpu_lol_action.analysis.formats.cloud_instances import instance_in

Build = Callable[[Mapping[str, str]], Checkout]
SERVES = "# Serve a model on a cluster\n\nDeploys an inference server.\n"
POD = (
    "apiVersion: v1\nkind: Pod\nspec:\n  nodeSelector:\n    {label}\n  containers:\n  - image: ours\n"
    "    resources:\n      limits:\n        nvidia.com/gpu: 1\n"
)


@pytest.mark.parametrize(
    ("label", "card"),
    [
        ("nvidia-h200-141gb", "H200-SXM"),
        ("nvidia-tesla-t4", "T4"),
        ("nvidia-h100-mega-80gb", "H100"),
        ("NVIDIA-A100-SXM4-80GB", "A100-80GB"),
        ("nvidia-l4", "L4"),
        ("a100_40gb", "A100"),
        ("nvidia", None),
        ("large", None),
    ],
)
def test_what_a_label_says(label: str, card: str | None) -> None:
    found = card_of_label(label)
    assert (found or "").removesuffix("-SXM") == (card or "").removesuffix("-SXM")


@pytest.mark.parametrize(
    ("line", "instance"),
    [
        ("machines of type a3-ultragpu-8g", ("a3-ultragpu-8g", "H200", 8)),
        ("instance: oci.vm.gpu.a10.1", ("vm.gpu.a10.1", "A10", 1)),
        ("shape: BM.GPU.A100-v2.8", ("BM.GPU.A100-v2.8", "A100-80GB", 8)),
        ("nothing.gpu.here", None),
    ],
)
def test_machines_of_more_clouds(line: str, instance: tuple[str, str, int] | None) -> None:
    assert instance_in(line) == instance


@pytest.mark.parametrize(
    ("label", "least", "most"),
    [
        ('cloud.google.com/gke-accelerator: "nvidia-a100-80gb"', 80, 80),
        ("nvidia.com/gpu.product: NVIDIA-L40S", 44, 48),
        ("node.kubernetes.io/instance-type: a2-highgpu-1g", 36, 40),
        ("disk: ssd", 8, 16),
    ],
)
def test_the_machines_that_a_pod_selects(checkout: Build, label: str, least: int, most: int) -> None:
    found = analyze(checkout({"README.md": SERVES, "pod.yaml": POD.format(label=label)})).spec
    assert least <= found.hardware.vram_required_gb <= most


def test_a_deployment_beside_its_program_orders_a_card(checkout: Build) -> None:
    handler = "import torch\nif __name__ == '__main__':\n    model.cuda().generate(x)\n"
    files = {"README.md": "# A\n\n`python serve/handler.py`\n", "serve/handler.py": handler}
    plain = analyze(checkout(files)).spec.hardware.vram_required_gb
    ordered = analyze(
        checkout({**files, "serve/ours.yaml": "name: ours\ncompute:\n  gpus: 1\n  gpu_type: a100_40gb\n"})
    )
    assert plain < 20 < ordered.spec.hardware.vram_required_gb <= 40


TRAINS = "trainer:\n  gpus: 1\n  nodeSelector:\n    nvidia.com/gpu.product: NVIDIA-L40S\n"
READS = "reader:\n  nodeSelector:\n    nvidia.com/gpu.product: Tesla-T4\n"


@pytest.mark.parametrize(
    "values",
    [
        READS + TRAINS,
        TRAINS + READS,
        "nodeSelector:\n  nvidia.com/gpu.product: NVIDIA-L40S\ntrainer:\n  gpus: 1\n",
        READS + "---\n" + TRAINS,
    ],
)
def test_each_part_of_a_chart_selects_its_own_machines(checkout: Build, values: str) -> None:
    files = {"README.md": SERVES, "Chart.yaml": "apiVersion: v2\nname: ours\n", "values.yaml": values}
    assert 44 <= analyze(checkout(files)).spec.hardware.vram_required_gb <= 48


def test_the_machines_of_another_document_are_not_the_pod_s(checkout: Build) -> None:
    label = "nvidia.com/gpu.product: {}"
    reader = POD.format(label=label.format("Tesla-T4")).partition("    resources")[0]
    pod = reader + "---\n" + POD.format(label=label.format("NVIDIA-L40S"))
    found = analyze(checkout({"README.md": SERVES, "pod.yaml": pod})).spec
    assert 44 <= found.hardware.vram_required_gb <= 48


def test_the_machines_of_the_document_that_starts_a_run(checkout: Build) -> None:
    trains = POD.format(label="nvidia.com/gpu.product: NVIDIA-L40S")
    trains = trains.replace("  - image: ours\n", '  - image: ours\n    command: ["python", "train.py"]\n')
    looks = POD.format(label="nvidia.com/gpu.product: Tesla-T4")
    program = "import torch\nif __name__ == '__main__':\n    model.cuda()\n    loss.backward()\n"
    for text in (f"{trains}---\n{looks}", f"{looks}---\n{trains}"):
        found = analyze(checkout({"README.md": "# Train\n", "job.yaml": text, "train.py": program}))
        assert 44 <= found.spec.hardware.vram_required_gb <= 48


@pytest.mark.parametrize(
    "other",
    [
        {"look.yaml": "name: look\ncompute:\n  gpus: 1\n  gpu_type: t4\ncommand: python look.py\n"},
        {"look.yaml": "name: look\ncompute:\n  gpus: 1\n  gpu_type: t4\ncommand: python pretrain.py\n"},
        {"ask.yaml": "name: ask\ncompute:\n  gpus: 1\n  gpu_type: a10\nreplicas: 1\n"},
        {"prices.yaml": "gpu_type: T4\nprice: 0.35\n"},
    ],
)
def test_what_lies_beside_a_program_and_starts_another(checkout: Build, other: Mapping[str, str]) -> None:
    program = "import torch\nif __name__ == '__main__':\n    net = ours().cuda()\n    loss.backward()\n"
    job = {"run.yaml": "name: ours\ncompute:\n  gpus: 1\n  gpu_type: h100_80gb\ncommand: python train.py\n"}
    files = {"README.md": "# A\n", "train.py": program}
    own = analyze(checkout({**files, **job})).spec.hardware.vram_required_gb
    assert analyze(checkout({**files, **job, **other})).spec.hardware.vram_required_gb == own > 48
    plain = analyze(checkout(files)).spec.hardware.vram_required_gb
    assert analyze(checkout({**files, **other})).spec.hardware.vram_required_gb == plain
