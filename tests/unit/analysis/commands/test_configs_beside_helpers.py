"""What a trainer elsewhere is told counts beside programs that only prepare for it; what a program here reads is that program's own."""

from __future__ import annotations

import pytest

from gpu_lol_action.analysis.answer.assemble import analyze
from gpu_lol_action.analysis.formats.surest import value_of_best
from tests.unit.analysis.conftest import Build

TUNED = {
    "config.yml": "base_model: Qwen/Qwen2.5-7B\nadapter: lora\nsequence_len: 2048\nmicro_batch_size: 1\nlearning_rate: 2e-4\n"
}
PREPARES = "import pandas as pd\npd.read_json('a.json').to_json('b.jsonl')\n"


@pytest.mark.parametrize(
    "files",
    [
        TUNED,
        {"config/config.env": "MODEL_TYPE=lora\nMODEL_NAME=black-forest-labs/FLUX.1-dev\nTRAIN_BATCH_SIZE=2\nLEARNING_RATE=1e-4\nOPTIMIZER=adamw\n"},
        {"lora.toml": 'pretrained_model_name_or_path = "stabilityai/stable-diffusion-xl-base-1.0"\nnetwork_module = "networks.lora"\n'},
    ],
    ids=["axolotl", "SimpleTuner", "sd-scripts"],
)  # fmt: skip
def test_a_trainers_configuration_is_the_run(checkout: Build, files: dict[str, str]) -> None:
    found = analyze(checkout({"requirements.txt": "pandas\n", "prepare.py": PREPARES, **files}))
    assert value_of_best(found.findings, "workload") == "training"
    alone = analyze(checkout(files))
    assert found.proposed.hardware.vram_required_gb == alone.proposed.hardware.vram_required_gb


@pytest.mark.parametrize(
    "files",
    [
        {"train.py": "import yaml\nfrom sklearn.svm import SVC\nc = yaml.safe_load(open('config.yml'))\nSVC().fit(x, y)\n", **TUNED},
        {"prepare.py": PREPARES, "config.yml": "base_model: ours\nlearning_rate: 1\nmax_steps: 3\noptimizer: sgd\n"},
        {"prepare.py": PREPARES, "config.yml": "base_model: Qwen/Qwen2.5-7B\ntemperature: 1\n"},
        {**{f"p{n}.py": PREPARES for n in range(9)}, **TUNED},
        {"order.py": "import sys, requests, json\nrequests.post('https://a/fine_tuning', json=json.load(open(sys.argv[1])))\n", **TUNED},
        {"agent.py": "from pathlib import Path\nimport yaml\nfor f in Path('.').glob('*.yml'):\n    print(yaml.safe_load(f.open()))\n", **TUNED},
    ],
    ids=["read by a program", "an unknown model", "no training", "a project of its own", "an order", "read under any name"],
)  # fmt: skip
def test_other_configurations_are_no_run(checkout: Build, files: dict[str, str]) -> None:
    found = analyze(checkout({"requirements.txt": "pandas\npyyaml\nscikit-learn\n", **files}))
    assert value_of_best(found.findings, "workload") == "cpu-only"


SIMULATES = (
    "from isaaclab.app import AppLauncher\nAppLauncher()\nimport gymnasium as gym\nfrom rsl_rl.runners import OnPolicyRunner\n"
    "OnPolicyRunner(gym.make('x'), {}, device='cuda:0').learn(num_learning_iterations=100)\n"
)


@pytest.mark.parametrize(
    "start", ["./isaaclab.sh -p", "${ISAACLAB_PATH}/isaaclab.sh -p", "~/isaacsim/python.sh", "python"]
)
def test_a_simulators_python_starts_a_librarys_training(checkout: Build, start: str) -> None:
    files = {
        "setup.py": "from setuptools import setup\nsetup(name='lab', packages=['lab'], install_requires=['psutil'])\n",
        "lab/__init__.py": "",
        "scripts/train.py": SIMULATES,
        "README.md": f"```bash\n{start} scripts/train.py --task X\n```\n",
    }
    assert value_of_best(analyze(checkout(files)).findings, "workload") == "training"


def test_a_librarys_program_that_nobody_starts_is_beside(checkout: Build) -> None:
    files = {
        "setup.py": "from setuptools import setup\nsetup(name='lab', packages=['lab'], install_requires=['psutil'])\n",
        "lab/__init__.py": "import psutil\n",
        "scripts/train.py": SIMULATES,
    }
    assert value_of_best(analyze(checkout(files)).findings, "workload") == "cpu-only"
