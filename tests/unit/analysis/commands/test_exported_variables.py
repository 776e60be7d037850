"""A file of variables gives its values to what is started behind it, in every way in which it is read; what is not exported stays in its shell."""

from __future__ import annotations

import pytest

from gpu_lol_action.analysis.answer.as_json import analysis_json
from gpu_lol_action.analysis.answer.assemble import Analysis, analyze
from gpu_lol_action.analysis.formats.surest import value_of_best
from tests.unit.analysis.conftest import Build

TRAIN = """import os
from datasets import load_dataset
from transformers import AutoModelForCausalLM
from trl import SFTConfig, SFTTrainer
{before}
model = AutoModelForCausalLM.from_pretrained({model})
SFTTrainer(model, SFTConfig("out", per_device_train_batch_size={batch}), train_dataset=load_dataset("a/b")).train()
"""
PARSED = TRAIN.format(
    before="import argparse\np = argparse.ArgumentParser()\np.add_argument('--model', required=True)\n"
    "p.add_argument('--bunch', type=int, required=True)\nargs = p.parse_args()",
    model="args.model",
    batch="args.bunch",
)
READ = 'brain = os.environ["BRAIN"]\nbunch = int(os.getenv("BUNCH"))'
ASKED = TRAIN.format(before=READ, model="brain", batch="bunch")
SETS = "BRAIN=Qwen/Qwen2.5-7B\nBUNCH=3\nHF_TOKEN=hf_abcdefghij\n"
EXPORTS = "".join(f"export {line}\n" for line in SETS.split())
COMMAND = 'python train.py --model "$BRAIN" --bunch $BUNCH\n'
TOLD = ("Qwen/Qwen2.5-7B", "3")


def of(checkout: Build, files: dict[str, str]) -> Analysis:
    return analyze(checkout({"requirements.txt": "trl\n", **files}))


def said(found: Analysis) -> tuple[str | None, str | None]:
    return value_of_best(found.findings, "model.id"), value_of_best(found.findings, "training.batch_size")


COMMANDS = {
    "source": ("run.env", "source run.env\n"),
    "a dot": ("run.env", ". ./run.env\n"),
    "a path from the script": ("run.env", 'source "$(dirname "$0")/run.env"\n'),
    "a folder of its own": ("run.env", 'HERE="$(cd "$(dirname "$0")" && pwd)"\nsource "${HERE}/run.env"\n'),
    "a variable": ("run.env", 'FILE=run.env\nif [[ -f "$FILE" ]]; then\n  source "$FILE"\nelse\n  exit 1\nfi\n'),
    "a variable with a default": ("run.env", 'FILE="${1:-run.env}"\nsource "$FILE"\n'),
    "a test in front": ("conf/run.env", "[ -f conf/run.env ] && source conf/run.env\n"),
    "an ini's name": ("run.cfg", "source run.cfg\n"),
}


@pytest.mark.parametrize("way", COMMANDS)
def test_a_command_has_what_the_file_before_it_sets(checkout: Build, way: str) -> None:
    path, line = COMMANDS[way]
    found = of(checkout, {"train.py": PARSED, path: SETS, "run.sh": f"#!/bin/bash\n{line}{COMMAND}"})
    assert said(found) == TOLD
    assert "hf_abcdefghij" not in str(analysis_json(found))


TASKS = {
    "make": {"Makefile": "include run.env\n\ntrain:\n\t" + COMMAND.replace("$", "$$")},
    "make, if there": {"Makefile": "-include run.env\n\ntrain:\n\tpython train.py --model $(BRAIN) --bunch $(BUNCH)\n"},
    "just": {"justfile": 'set dotenv-filename := "run.env"\n\ntrain:\n    ' + COMMAND},
    "Task": {"Taskfile.yml": f"version: '3'\ndotenv: ['run.env']\ntasks:\n  train:\n    cmds:\n      - {COMMAND}"},
    "systemd": {
        "deploy/train.service": "[Service]\nEnvironmentFile=-/opt/lab/run.env\nExecStart=/usr/bin/python3 train.py --model ${BRAIN} --bunch ${BUNCH}\n"
    },
}


@pytest.mark.parametrize("way", TASKS)
def test_what_runs_tasks_reads_its_file_of_variables(checkout: Build, way: str) -> None:
    assert said(of(checkout, {"train.py": PARSED, "run.env": SETS, **TASKS[way]})) == TOLD


COMPOSE = "services:\n  train:\n    image: pytorch/pytorch:2.6.0-cuda12.4-cudnn9-runtime\n    env_file:\n{file}    command: python train.py\n"
ENVIRONMENTS = {
    "set -a": {"run.sh": "set -a\nsource run.env\nset +a\npython train.py\n"},
    "set -a in a line": {"run.sh": "set -a; . ./run.env; set +a\npython train.py\n"},
    "allexport": {"run.sh": "set -o allexport\nsource run.env\nset +o allexport\npython train.py\n"},
    "exports": {"run.env": EXPORTS, "run.sh": "source run.env\npython train.py\n"},
    "exported behind": {"run.sh": "source run.env\nexport BRAIN BUNCH\npython train.py\n"},
    "export of all lines": {"run.sh": "export $(grep -v '^#' run.env | xargs)\npython train.py\n"},
    "a second script": {"run.sh": "set -a; source run.env; set +a\nbash go.sh\n", "go.sh": "python train.py\n"},
    "make": {"Makefile": "include run.env\nexport\n\ntrain:\n\tpython train.py\n"},
    "just": {"justfile": 'set dotenv-path := "run.env"\n\ntrain:\n    python train.py\n'},
    "systemd": {"train.service": "[Service]\nEnvironmentFile=/opt/lab/run.env\nExecStart=/usr/bin/python3 train.py\n"},
    "Compose": {"compose.yml": COMPOSE.format(file="      - run.env\n")},
    "Compose, by path": {"compose.yml": COMPOSE.format(file="      - path: run.env\n        required: true\n")},
    "docker": {"README.md": "```bash\ndocker run --gpus all --env-file run.env -v .:/w lab python train.py\n```\n"},
    "uv": {"README.md": "```bash\nuv run --env-file run.env train.py\n```\n"},
    "dotenv": {"README.md": "```bash\ndotenv -f run.env run python train.py\n```\n"},
}


@pytest.mark.parametrize("way", ENVIRONMENTS)
def test_a_program_has_what_is_exported(checkout: Build, way: str) -> None:
    found = of(checkout, {"train.py": ASKED, "run.env": SETS, **ENVIRONMENTS[way]})
    assert said(found) == TOLD
    assert "hf_abcdefghij" not in str(analysis_json(found))


KEPT = {
    "sourced and not exported": {"run.sh": "source run.env\npython train.py\n"},
    "all exported before": {"run.sh": "set -a\nexport A=1\nset +a\nsource run.env\npython train.py\n"},
    "make without export": {"Makefile": "include run.env\n\ntrain:\n\tpython train.py\n"},
    "a file that is not read": {"run.sh": "set -a\n# source run.env\nset +a\npython train.py\n"},
}


@pytest.mark.parametrize("way", KEPT)
def test_a_program_has_not_what_its_shell_keeps(checkout: Build, way: str) -> None:
    assert said(of(checkout, {"train.py": ASKED, "run.env": SETS, **KEPT[way]})) != TOLD


READING = {
    "by name": 'from dotenv import load_dotenv\nload_dotenv("run.env")\n' + READ,
    "by keyword": 'from dotenv import load_dotenv\nload_dotenv(dotenv_path="run.env")\n' + READ,
    "beside the program": "from pathlib import Path\nfrom dotenv import load_dotenv\n"
    'load_dotenv(Path(__file__).parent / "run.env")\n' + READ,
    "as a table": 'from dotenv import dotenv_values\nenv = dotenv_values("run.env")\nbrain, bunch = env["BRAIN"], int(env["BUNCH"])',
    "as settings": "from pydantic_settings import BaseSettings, SettingsConfigDict\n\nclass S(BaseSettings):\n"
    '    model_config = SettingsConfigDict(env_file="run.env")\n    brain: str\n    bunch: int\n\ns = S()\nbrain, bunch = s.brain, s.bunch',
    "line by line": 'for line in open("run.env"):\n    k, _, v = line.strip().partition("=")\n    os.environ[k] = v\n'
    + READ,
}


@pytest.mark.parametrize("way", READING)
def test_a_program_reads_the_file_that_it_names(checkout: Build, way: str) -> None:
    program = TRAIN.format(before=READING[way], model="brain", batch="bunch")
    assert said(of(checkout, {"train.py": program, "run.env": SETS, ".env": SETS.replace("7B", "3B")})) == TOLD


def test_what_two_files_say_otherwise_is_not_told(checkout: Build) -> None:
    both = 'from dotenv import load_dotenv\nimport sys\nload_dotenv("one.env" if sys.argv[1:] else "two.env")\n'
    program = TRAIN.format(before=both + READ, model="brain", batch="bunch")
    found = of(checkout, {"train.py": program, "one.env": SETS, "two.env": SETS.replace("=3", "=5")})
    assert said(found) == ("Qwen/Qwen2.5-7B", None)


@pytest.mark.parametrize("prompt", ["", "$ ", "> "])
def test_a_document_exports_behind_its_prompt(checkout: Build, prompt: str) -> None:
    lines = f"{prompt}export BRAIN=Qwen/Qwen2.5-7B\n{prompt}export BUNCH=3\n{prompt}python train.py\n"
    assert said(of(checkout, {"train.py": ASKED, "README.md": f"```bash\n{lines}```\n"})) == TOLD


def test_a_file_of_variables_for_tests_is_none_of_the_work(checkout: Build) -> None:
    both = 'from dotenv import load_dotenv\nload_dotenv(".env")\nif os.environ.get("CI"):\n    load_dotenv("tests/.env.test")\n'
    program = TRAIN.format(before=both + READ, model="brain", batch="bunch")
    assert said(of(checkout, {"train.py": program, "tests/.env.test": SETS})) == (None, None)


@pytest.mark.parametrize("line", ["{word}/{word}/{word}/act(x", "{word}/activate@latest", "{word};"])
def test_a_line_with_many_variables_is_read_at_once(checkout: Build, line: str) -> None:
    """Backtracking over seven names took minutes."""
    script = ". " + line.format(word="$" + "/$".join(["a" * 20] * 15)) + "\npython train.py\n"
    assert said(of(checkout, {"train.py": ASKED, "run.sh": script})) != TOLD


@pytest.mark.parametrize(
    ("name", "script"),
    [
        ("run.sh", "PASSWORD=hunter2x\npython train.py --optim $PASSWORD --model_name_or_path $PASSWORD/x\n"),
        ("run.bat", "set PASSWORD=hunter2x\npython train.py --optim %PASSWORD% --model_name_or_path %PASSWORD%/x\n"),
        ("run.ps1", "$password = 'hunter2x'\npython train.py --optim $password --model_name_or_path $password/x\n"),
    ],
)
def test_what_opens_something_is_put_into_no_command(checkout: Build, name: str, script: str) -> None:
    program = "import argparse, torch\np = argparse.ArgumentParser()\np.add_argument('--optim')\np.add_argument('--model_name_or_path')\na = p.parse_args()\nloss.cuda().backward()\n"
    assert "hunter2x" not in str(analysis_json(analyze(checkout({"train.py": program, name: script}))))
