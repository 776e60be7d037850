"""A run that Windows' shells start is the one that a shell of Unix would start; beside another script they say it again, and nothing is told twice."""

from __future__ import annotations

import pytest

from gpu_lol_action.analysis.answer.as_json import analysis_json
from gpu_lol_action.analysis.answer.assemble import analyze
from gpu_lol_action.analysis.commands.launch_commands import launch_commands
from gpu_lol_action.analysis.formats.surest import value_of_best
from tests.unit.analysis.conftest import Build

OPTIONS = "--pretrained_model_name_or_path={model} --network_module=networks.lora --train_batch_size={many}"
LITERAL = OPTIONS.format(model="stabilityai/stable-diffusion-xl-base-1.0", many=3)
SCRIPTS = {
    "plain.bat": f"@echo off\r\naccelerate launch sdxl_train_network.py {LITERAL}\r\npause\r\n",
    "goes on.bat": f"accelerate launch ^\r\n  sdxl_train_network.py ^\r\n  {LITERAL.replace(' ', ' ^' + chr(13) + chr(10) + '  ')}\r\n",
    "variables.cmd": 'set MODEL=stabilityai/stable-diffusion-xl-base-1.0\r\nset "MANY=3"\r\nset HF_TOKEN=hf_abcdefghij\r\n'
    f"accelerate launch sdxl_train_network.py {OPTIONS.format(model='%MODEL%', many='%MANY%')} --token=%HF_TOKEN%\r\n",
    "folders.bat": f"cd /d %~dp0\r\ncall venv\\Scripts\\activate.bat\r\n.\\venv\\Scripts\\accelerate.exe launch .\\sd-scripts\\sdxl_train_network.py {LITERAL}\r\n",
    "plain.ps1": f'accelerate launch "./sd-scripts/sdxl_train_network.py" `\n  {LITERAL}\n',
    "variables.ps1": '$model = "stabilityai/stable-diffusion-xl-base-1.0"\n$many = 3 # per card\n'
    f"& accelerate launch sd-scripts\\sdxl_train_network.py `\n  {OPTIONS.format(model='$model', many='$many')}\n",
}


@pytest.mark.parametrize("name", SCRIPTS)
def test_a_training_is_started(checkout: Build, name: str) -> None:
    found = analyze(checkout({name: SCRIPTS[name]}))
    told = {field: value_of_best(found.findings, field) for field in ("workload", "model.id", "training.batch_size")}
    assert told == {
        "workload": "training",
        "model.id": "stabilityai/stable-diffusion-xl-base-1.0",
        "training.batch_size": "3",
    }
    assert "hf_abcdefghij" not in str(analysis_json(found))


@pytest.mark.parametrize(
    "text",
    [
        f"rem accelerate launch sdxl_train_network.py {LITERAL}\r\n",
        f":: accelerate launch sdxl_train_network.py {LITERAL}\r\n",
        f"echo accelerate launch sdxl_train_network.py {LITERAL}\r\n",
        "sphinx-build -M html . _build\r\n",
    ],
)
def test_what_is_not_started_is_no_run(checkout: Build, text: str) -> None:
    assert value_of_best(analyze(checkout({"make.bat": text})).findings, "workload") == "cpu-only"


def test_beside_another_script_it_says_nothing(checkout: Build) -> None:
    files = {
        "train.sh": f"accelerate launch sdxl_train_network.py {LITERAL}\n",
        "train.bat": SCRIPTS["plain.bat"].replace("=3", "=9"),
    }
    assert {each.evidence.path for each in launch_commands(checkout(files))} == {"train.sh"}


def test_its_variables_are_its_programs(checkout: Build) -> None:
    program = (
        "import os\nfrom datasets import load_dataset\nfrom trl import SFTConfig, SFTTrainer\n"
        'SFTTrainer(os.environ["BRAIN"], SFTConfig("o", per_device_train_batch_size=int(os.environ["BUNCH"])), train_dataset=load_dataset("a")).train()\n'
    )
    files = {"requirements.txt": "trl\n", "train.py": program, "run.bat": "set BUNCH=5\r\npython train.py\r\n"}
    assert value_of_best(analyze(checkout(files)).findings, "training.batch_size") == "5"
