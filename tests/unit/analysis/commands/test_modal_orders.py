"""GPUs and packages of Modal's programs."""

from __future__ import annotations

import pytest

from gpu_lol_action.analysis.answer.assemble import analyze
from gpu_lol_action.analysis.commands.modal_orders import modal_orders
from gpu_lol_action.analysis.formats.paths import Form
from gpu_lol_action.domain.spec import WorkloadType
from tests.unit.analysis.conftest import Build

APP = "import modal\nfrom modal import gpu\napp = modal.App('x')\n"


@pytest.mark.parametrize(
    ("order", "expected"),
    [
        ('gpu="A10G"', [("A10G", 1)]),
        ('gpu="a100-80gb:2"', [("A100-80GB", 2)]),
        ('gpu="H100!:4"', [("H100", 4)]),
        ('gpu=["H100", "A100"]', [("H100", 1)]),
        ('gpu="any"', [(None, 1)]),
        ("gpu=gpu.A100(memory=80, count=2)", [("A100-80GB", 2)]),
        ('gpu=modal.gpu.A100(size="40GB")', [("A100", 1)]),
        ("gpu=gpu.T4()", [("T4", 1)]),
        ("gpu=CONFIG", [("L4", 1)]),
        ("gpu=None", []),
        ("cpu=8", []),
    ],
)
def test_each_form_of_an_order_is_read(checkout: Build, order: str, expected: list[tuple[str | None, int]]) -> None:
    config = "CONFIG = gpu.L4()\n" if "CONFIG" in order else ""
    tree = checkout({"app.py": f"{APP}{config}@app.function({order})\ndef f():\n    pass\n"})
    assert [(item.card, item.count) for item in modal_orders(tree.of(Form.PYTHON)[0])] == expected


def test_other_programs_order_nothing(checkout: Build) -> None:
    tree = checkout({"app.py": "import other\n@other.function(gpu='A100')\ndef f(): pass\n"})
    assert modal_orders(tree.of(Form.PYTHON)[0]) == ()


def test_order_speaks_for_a_program_that_imports_nothing_of_the_kind(checkout: Build) -> None:
    image = "image = modal.Image.debian_slim().pip_install('diffusers~=0.24', 'torch').run_commands('git clone x')\n"
    tree = checkout({"webui.py": f"{APP}{image}@app.function(gpu='A100-80GB:2')\ndef f():\n    start()\n"})
    spec = analyze(tree).spec
    hardware = spec.hardware
    assert (spec.meta.workload_type, hardware.vram_required_gb, hardware.gpu_count) == (WorkloadType.INFERENCE, 80, 2)
    assert {"diffusers~=0.24", "torch", "modal"} <= set(spec.dependencies.requirements)


def test_program_that_trains_gets_the_larger_of_its_orders(checkout: Build) -> None:
    program = (
        f"{APP}@app.function(gpu='A100-80GB')\ndef train():\n    from transformers import Trainer\n"
        "    Trainer(model=load()).train()\n@app.function(gpu='T4')\ndef serve():\n    pass\n"
    )
    spec = analyze(checkout({"app.py": program})).spec
    assert (spec.meta.workload_type, spec.hardware.vram_required_gb) == (WorkloadType.TRAINING, 80)


SERVES = "@app.function()\n@modal.asgi_app()\ndef web():\n    pass\n"


@pytest.mark.parametrize(
    ("name", "work", "expected"),
    [
        ("app.py", "    from trl import GRPOTrainer\n    GRPOTrainer(model='x').train()\n", WorkloadType.TRAINING),
        ("lora_finetune.py", "    subprocess.run(['accelerate', 'launch', 'x.py'])\n", WorkloadType.TRAINING),
        ("app.py", "    from transformers import pipeline\n    pipeline('x')('y')\n", WorkloadType.INFERENCE),
    ],
)
def test_program_that_trains_what_it_serves_trains(
    checkout: Build, name: str, work: str, expected: WorkloadType
) -> None:
    program = f"{APP}@app.function(gpu='L4')\ndef work():\n{work}{SERVES}"
    assert analyze(checkout({name: program})).spec.meta.workload_type is expected


def test_few_of_many_programs_that_want_a_card_do_not_speak_for_all(checkout: Build) -> None:
    plain = f"{APP}@app.function()\ndef f():\n    pass\n"
    files = {f"{name}.py": plain for name in "abc"} | {"d.py": plain.replace("()", "(gpu='H100')")}
    assert analyze(checkout(files)).spec.meta.workload_type is WorkloadType.CPU_ONLY


def test_page_by_its_bare_name_serves_and_what_learns_beside_it_trains(checkout: Build) -> None:
    serves = "from modal import App, asgi_app\nimport torch\napp = App('x')\n@app.function(gpu=KIND)\n@asgi_app()\ndef web():\n    load().cuda()\n"
    assert analyze(checkout({"app.py": serves})).spec.meta.workload_type is WorkloadType.INFERENCE
    learns = f"{serves}def work():\n    from fastai.vision.all import vision_learner\n    vision_learner(data, net).fine_tune(1)\n"
    assert analyze(checkout({"app.py": learns})).spec.meta.workload_type is WorkloadType.TRAINING


@pytest.mark.parametrize(
    ("order", "expected"),
    [
        ('@endpoint(name="a", gpu="T4", memory="32Gi")', [("T4", 1)]),
        ('@function(gpu="A100-40")', [("A100", 1)]),
        ('@task_queue(gpu="A100-80")', [("A100-80GB", 1)]),
        ('@endpoint(cpu=4, memory="8Gi")', []),
    ],
)
def test_beam_s_orders_are_read_as_well(checkout: Build, order: str, expected: list[tuple[str | None, int]]) -> None:
    tree = checkout({"app.py": f"from beam import endpoint, function, task_queue\n{order}\ndef f():\n    pass\n"})
    found = modal_orders(tree.of(Form.PYTHON)[0])
    assert [(item.card, item.count, item.host) for item in found] == [(*each, "Beam") for each in expected]


def test_a_pod_of_beam_s_is_the_work(checkout: Build) -> None:
    program = (
        "from beam import Image, Pod\nserver = Pod(image=Image(), gpu='A10G', entrypoint=['python', '/x/webui.py'])\n"
    )
    spec = analyze(checkout({"app.py": program})).spec
    assert (spec.meta.workload_type, spec.hardware.vram_required_gb) == (WorkloadType.INFERENCE, 24)
