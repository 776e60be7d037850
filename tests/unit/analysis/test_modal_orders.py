"""GPUs and packages of Modal's programs."""

from __future__ import annotations

import pytest

from gpu_lol_action.analysis.assemble import analyze
from gpu_lol_action.analysis.modal_orders import modal_orders
from gpu_lol_action.analysis.paths import Form
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
