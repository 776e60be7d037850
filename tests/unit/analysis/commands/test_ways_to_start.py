"""The same command, kept where people keep commands: each is heard with its options."""

from __future__ import annotations

import pytest

from gpu_lol_action.analysis.answer.assemble import analyze
from gpu_lol_action.analysis.command_lines.shell_functions import MAX_CALLS, with_called_functions
from gpu_lol_action.analysis.commands.launch_commands import launch_commands
from tests.unit.analysis.conftest import Build

TRAIN = """import argparse
import os
import sys
from datasets import load_dataset
from transformers import AutoModelForCausalLM
from trl import SFTConfig, SFTTrainer
{before}
model = AutoModelForCausalLM.from_pretrained({model})
SFTTrainer(model, SFTConfig("out", per_device_train_batch_size={batch}), train_dataset=load_dataset("a/b")).train()
"""
PARSED = TRAIN.format(
    before="p = argparse.ArgumentParser()\np.add_argument('--model', required=True)\n"
    "p.add_argument('--bunch', type=int, required=True)\nargs = p.parse_args()",
    model="args.model",
    batch="args.bunch",
)
ASKED = TRAIN.format(before="", model='os.environ["BRAIN"]', batch='int(os.environ["BUNCH"])')
COUNTED = TRAIN.format(before="brain = sys.argv[1]\nbunch = int(sys.argv[2])", model="brain", batch="bunch")
COMMAND = "python train.py --model Qwen/Qwen2.5-7B --bunch 3"
WORDS = '"train.py", "--model", "Qwen/Qwen2.5-7B", "--bunch", "3"'
TASK = "[project]\nname = 'a'\nversion = '1'\n\n"

WAYS = {
    "a script": {"run.sh": f"{COMMAND}\n"},
    "a list of words": {"start.py": f"import subprocess, sys\nsubprocess.run([sys.executable, {WORDS}], check=True)\n"},
    "a list with a name": {"start.py": f"import subprocess\ncmd = ['python', {WORDS}]\nsubprocess.check_call(cmd)\n"},
    "a text": {"start.py": f"import os\nos.system('{COMMAND}')\n"},
    "a text with a hole": {"start.py": f"import os\nos.system(f'{COMMAND} --seed {{seed}}')\n"},
    "invoke": {"tasks.py": f"from invoke import task\n\n@task\ndef train(c):\n    c.run('{COMMAND}')\n"},
    "poe": {"pyproject.toml": f'{TASK}[tool.poe.tasks]\ntrain = "{COMMAND}"\n'},
    "poe, in a table": {"pyproject.toml": f'{TASK}[tool.poe.tasks.train]\nhelp = "x"\ncmd = "{COMMAND}"\n'},
    "PDM": {"pyproject.toml": f"{TASK}[tool.pdm.scripts]\ntrain = {{cmd = '{COMMAND}'}}\n"},
    "Hatch": {"pyproject.toml": f'{TASK}[tool.hatch.envs.default.scripts]\ntrain = "{COMMAND}"\n'},
    "Pixi": {"pixi.toml": f'[workspace]\nname = "a"\n\n[tasks]\ntrain = "{COMMAND}"\n'},
    "just": {"justfile": 'm := "Qwen/Qwen2.5-7B"\n\ntrain bs="3":\n    python train.py --model {{m}} --bunch {{ bs }}\n'},
    "just, by a name": {"justfile": 'm := "Qwen/Qwen2.5-7B"\n\ntest model="gpt2":\n    python -c pass\n\ntrain b model=m bs="3":\n    python train.py \\\n      --model {{model}} \\\n      --bunch {{bs}}\n'},
    "make, over several lines": {"Makefile": "train:\n\t@python train.py \\\n\t  --model Qwen/Qwen2.5-7B \\\n\t--bunch 3\n"},
    "PDM, as words": {"pyproject.toml": f"{TASK}[tool.pdm.scripts]\ntrain = {{cmd = ['python', {WORDS}]}}\n"},
    "Hatch, with words of its own": {
        "pyproject.toml": f'{TASK}[tool.hatch.envs.gpu.scripts]\ntrain = "python train.py {{args:--model Qwen/Qwen2.5-7B --bunch 3}}"\n'
    },
    "a function of a script": {
        "run.sh": 'train() {\n  local m=$1\n  python train.py --model "$m" --bunch ${2:-9}\n}\n\ntrain Qwen/Qwen2.5-7B 3\n'
    },
    "all words of a function": {"run.sh": 'function go {\n  python train.py "$@"\n}\ngo --model Qwen/Qwen2.5-7B --bunch 3\n'},
    "DVC's parameters": {
        "params.yaml": "net:\n  brain: Qwen/Qwen2.5-7B\nbunch: 3\n",
        "dvc.yaml": "stages:\n  train:\n    cmd: python train.py --model ${net.brain} --bunch ${bunch}\n",
    },
    "a job": {
        "launch.py": "from sagemaker.huggingface import HuggingFace\nHuggingFace(entry_point='train.py', instance_type='ml.g5.xlarge',\n"
        "    hyperparameters={'model': 'Qwen/Qwen2.5-7B', 'bunch': 3}).fit()\n"
    },
}  # fmt: skip


def told(checkout: Build, files: dict[str, str]) -> tuple[str | None, str | None]:
    found = {f.field: f.value for f in analyze(checkout({"requirements.txt": "trl\n", **files})).findings}
    return found.get("model.id"), found.get("training.batch_size")


@pytest.mark.parametrize("way", WAYS)
def test_the_same_command_is_heard_wherever_it_is_kept(checkout: Build, way: str) -> None:
    assert told(checkout, {"train.py": PARSED, **WAYS[way]}) == ("Qwen/Qwen2.5-7B", "3")


def test_what_a_script_exports_is_what_its_program_asks_for(checkout: Build) -> None:
    run = "export BRAIN=Qwen/Qwen2.5-7B\nexport BUNCH=3\npython train.py\n"
    assert told(checkout, {"train.py": ASKED, "run.sh": run}) == ("Qwen/Qwen2.5-7B", "3")


def test_words_by_their_number_have_the_names_of_their_variables(checkout: Build) -> None:
    assert told(checkout, {"train.py": COUNTED, "run.sh": "python train.py Qwen/Qwen2.5-7B 3\n"}) == (
        "Qwen/Qwen2.5-7B",
        "3",
    )


def commands(checkout: Build, files: dict[str, str]) -> list[str]:
    return [command.text for command in launch_commands(checkout({"train.py": PARSED, "eval.py": "", **files}))]


def test_what_a_program_starts_is_asked_where_nothing_else_says_how(checkout: Build) -> None:
    start = "import subprocess\nsubprocess.run(['python', 'eval.py', '--all', 'yes'])\n"
    assert commands(checkout, {"start.py": start}) == ["python eval.py --all yes"]
    assert commands(checkout, {"start.py": start, "run.sh": f"{COMMAND}\n"}) == [COMMAND]


@pytest.mark.parametrize(
    "start",
    [
        "import subprocess\nsubprocess.run(['python', 'train.py'])\n",  # a step, as likely as not
        "import subprocess\nsubprocess.run(['python', 'elsewhere.py', '--lr', '1'])\n",
        f"import subprocess\nNOTE = '{COMMAND}'\n",
    ],
)
def test_what_is_no_start_of_a_program_with_options_is_none(checkout: Build, start: str) -> None:
    assert not commands(checkout, {"start.py": start})


def test_tasks_that_test_or_lint_start_nothing(checkout: Build) -> None:
    tasks = (
        f'{TASK}[tool.poe.tasks]\ntest = "python eval.py --a b"\nlint-all = "python eval.py --a b"\nPyTest = "python eval.py --a b"\n'
        '[tool.hatch.envs.test.scripts]\nrun = "python eval.py --a b"\n[tool.pixi.feature.test.tasks]\nrun = "python eval.py --a b"\n'
    )
    assert not commands(checkout, {"pyproject.toml": tasks})
    assert not commands(checkout, {"pyproject.toml": f'{TASK}[tool.other]\ntrain = "{COMMAND}"\n'})


@pytest.mark.parametrize(
    ("script", "expected"),
    [
        ("go() {\n  python eval.py --x $1\n}\ngo a\ngo b\n", ["python eval.py --x a", "python eval.py --x b"]),
        ("go() {\n  python eval.py --x $1\n}\n", ["python eval.py --x $1"]),  # nobody calls it
        ("go() {\n  shift\n  python eval.py --x $1\n}\ngo a b\n", ["python eval.py --x $1"]),
        ("go() {\n  python eval.py --x ${1}0\n}\ngo a 2>&1 | tee log\n", ["python eval.py --x a0"]),
        (
            "go() {\n  python eval.py --x ${1:-b}\n}\nif go; then\n  SEED=1 go a & # later\nfi\n",
            ["python eval.py --x b", "python eval.py --x a"],
        ),
        ("go() {\n  python eval.py --x ${1:-b}\n}\ngo a\ngo $(best one)\n", ["python eval.py --x b"]),
        (
            "one() {\n  python eval.py --x $1 --y $2\n}\ntwo() {\n  local n=$1\n  one a $n\n}\ntwo b\n",
            ["python eval.py --x a --y b"],
        ),
        ("go() {\n  python eval.py --x ${1:-b}\n  go c\n}\ngo\n", ["python eval.py --x b"]),
        ("go() {\n  python eval.py --x ${1:-b}\n  go c\n}\n", ["python eval.py --x b"]),
        (
            "use() {\n  cat <<EOF\n  go    Do the work\nEOF\n}\ngo() {\n  python eval.py --x ${1:-b}\n}\ncase $1 in\n  go) go ;;\nesac\n",
            ["python eval.py --x b"],
        ),
        ("go() {\n  python eval.py --x $1\n}\nold() {\n  go z\n}\ngo a\n", ["python eval.py --x a"]),
        (
            'go() {\n  python eval.py "$@"\n}\ngo --n "my run --x 6" --x a\n',
            ["python eval.py --n 'my run --x 6' --x a"],
        ),
        ("go() {\n  bash -c 'python eval.py --x $1' _ a\n}\ngo nothing\n", ["bash -c 'python eval.py --x $1' _ a"]),
        ("go() {\n  set -- a b\n  python eval.py --x $1\n}\ngo z\n", ["python eval.py --x $1"]),
        ("go() {\n  python eval.py --x $10\n}\ngo a\n", ["python eval.py --x $10"]),
        ("go() {\n  go $1\n  python eval.py --x $1\n}\ngo a\n", ["python eval.py --x a"]),
        ("go() {\n  python eval.py --x '$1'\n", ["python eval.py --x '$1'"]),  # it does not end
    ],
)
def test_functions_are_read_where_they_are_called(checkout: Build, script: str, expected: list[str]) -> None:
    assert commands(checkout, {"run.sh": script}) == expected


def test_a_function_that_is_called_a_thousand_times_is_read_a_few_times() -> None:
    lines = ["go() {", *["  python eval.py --x $1"] * 60, "}", *["go a"] * 1000]
    looked = [line for _, line in with_called_functions(enumerate(lines, 1))]
    assert looked == ["  python eval.py --x a"] * 60 * MAX_CALLS + ["go a"] * (1000 - MAX_CALLS)


def test_thousands_of_functions_are_looked_at_a_few_times() -> None:
    lines = [line for n in range(9000) for line in (f"f{n}() {{", "  echo $1", "}")] + ["f1 a"]
    looked = list(with_called_functions(enumerate(lines, 1)))
    assert (5, "  echo a") in looked
    assert len(looked) == len(lines) - 3
