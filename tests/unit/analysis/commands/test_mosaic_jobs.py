"""A job of MosaicML's platform starts its command on the GPUs that it asks for; a deployment serves on them."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping

import pytest

from gpu_lol_action.analysis.answer.assemble import analyze
from gpu_lol_action.analysis.commands.mosaic_jobs import is_mosaic_job
from gpu_lol_action.analysis.files.checkout import Checkout

Build = Callable[[Mapping[str, str]], Checkout]

README = "# Ours on the platform\n\nmcli run -f job.yaml\n"
JOB = "name: ours\nimage: ours/pytorch:1\n{asked}\nintegrations:\n- integration_type: git_repo\n  git_repo: others/net\n\ncommand: |\n  cd net\n  {command}\n"
DEPLOYMENT = "name: ours\nimage: ours/inference:1\nreplicas: 1\ncompute:\n  gpus: {}\n  instance: oci.vm.gpu.a10.1\ncommand: |\n  pip install vllm\n"
LAUNCH = "composer train.py config.yaml"


@pytest.mark.parametrize(
    ("files", "workload", "cards", "machines"),
    [
        ({"job.yaml": JOB.format(asked="compute:\n  # how many\n  gpus: 4", command=LAUNCH)}, "training", 4, 1),
        ({"job.yaml": JOB.format(asked="gpu_num: 8", command="accelerate launch --num_processes 8 fit.py")}, "training", 8, 1),
        ({"job.yaml": JOB.format(asked="compute:\n  gpus: 16", command=LAUNCH)}, "training", 8, 2),
        ({"job.yaml": JOB.format(asked="gpu_num: 8", command="sleep 600")}, "training", 8, 1),
        ({"one.yaml": DEPLOYMENT.format(2), "two.yaml": DEPLOYMENT.format(1), "requirements.txt": "fastapi\n"}, "inference", 1, 1),
        # A job that fetches data stands beside the one that trains.
        ({"a.yaml": JOB.format(asked="compute:\n  gpus: 0", command="sleep 1"), "b.yaml": JOB.format(asked="gpu_num: 4", command="sleep 600")}, "training", 4, 1),
        # A library's job further down is a test of it.
        ({"setup.py": "from setuptools import setup\nsetup(name='ours', install_requires=['numpy'])\n", "regression/job.yaml": JOB.format(asked="gpu_num: 8", command="sleep 600")}, "cpu-only", 0, 1),
        # No image, or no GPU: another tool's file.
        ({"job.yaml": "name: ours\ncompute:\n  gpus: 4\ncommand: |\n  train\n"}, "cpu-only", 0, 1),
        ({"job.yaml": JOB.format(asked="compute:\n  gpus: 0", command="python collect.py")}, "cpu-only", 0, 1),
    ],
)  # fmt: skip
def test_what_a_job_asks_for(checkout: Build, files: dict[str, str], workload: str, cards: int, machines: int) -> None:
    found = analyze(checkout({"README.md": README, **files})).spec
    assert (found.meta.workload_type.value, found.hardware.gpu_count) == (workload, cards)
    assert found.hardware.num_nodes == machines


def test_a_launcher_left_without_a_number_takes_what_the_job_of_its_program_asks_for(checkout: Build) -> None:
    program = "import torch\nfrom composer import Trainer\nif __name__ == '__main__':\n    Trainer(model=torch.nn.Linear(8, 8)).fit()\n"
    job = JOB.format(asked="compute:\n  gpus: 8", command="composer main.py /mnt/config/parameters.yaml")
    files = {
        "README.md": "```bash\ncomposer main.py yamls/ours.yaml\n```\n",
        "main.py": program,
        "yamls/ours.yaml": "max_duration: 1ep\nlr: 0.1\n",
        "yamls/job.yaml": job,
    }
    assert analyze(checkout(files)).spec.hardware.gpu_count == 8


def test_a_hostile_job_is_read_at_once() -> None:
    blanks = "compute:\n" + (" " * 60 + "x\n") * 12
    text = JOB.format(asked=blanks, command="sleep 1") + "# gpus:\n"
    began = time.process_time()
    assert not is_mosaic_job(text)
    assert time.process_time() - began < 2
