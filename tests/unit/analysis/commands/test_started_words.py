"""Words of a command that a program puts together: constants, settings, configurations, callers, and lists that grow."""

from __future__ import annotations

import pytest

from gpu_lol_action.analysis.commands.launch_commands import launch_commands
from tests.unit.analysis.conftest import Build

MODEL = "Qwen/Qwen2.5-14B-Instruct"
HEAD = "import subprocess\nimport sys\n\n"
START = f'{HEAD}def start(brain, slices=1):\n    words = [sys.executable, "-m", "vllm.entrypoints.openai.api_server", "--model", brain, "-tp", str(slices)]\n    subprocess.Popen(words)\n\n'
GROWN = f'{HEAD}slices = 2\nwords = ["vllm", "serve", "{MODEL}"]\n'
FIELDS = f'    brain: str = "{MODEL}"\n    slices: int = 2\n'
SETTINGS = f"from pydantic_settings import BaseSettings\n\n\nclass Settings(BaseSettings):\n{FIELDS}\n\nsettings = Settings()\n"
TAKEN = 'subprocess.run(["vllm", "serve", {}, "-tp", str({})])\n'

WAYS = {
    "its caller": {"a.py": f"{START}start('{MODEL}', slices=2)\n"},
    "its caller's names": {"a.py": f"{START}BRAIN = '{MODEL}'\n\n\ndef main():\n    start(BRAIN, 2)\n"},
    "a configuration": {
        "config.yaml": f"llm:\n  brain: {MODEL}\n  slices: 2\n",
        "a.py": f"{HEAD}import yaml\n\ncfg = yaml.safe_load(open('config.yaml'))\nllm = cfg['llm']\n"
        + TAKEN.format("llm['brain']", "llm['slices']"),
    },
    "settings of a module": {
        "settings.py": SETTINGS,
        "a.py": f"{HEAD}from settings import settings\n\n" + TAKEN.format("settings.brain", "settings.slices"),
    },
    "a list that grows": {
        "a.py": f'{GROWN}words += ["-tp", str(slices)]\nwords.extend(["--port", "80"])\nsubprocess.run(words)\n'
    },
    "one word at a time": {"a.py": f'{GROWN}words.append("-tp")\nwords.append(str(slices))\nsubprocess.run(words)\n'},
    "what a known value lets grow": {
        "a.py": f'{GROWN}if slices > 1:\n    words += ["-tp", str(slices)]\nsubprocess.run(words)\n'
    },
    "a text": {"a.py": f"{HEAD}def start(brain, slices):\n    subprocess.run(f'vllm serve {{brain}} -tp {{slices}}', shell=True)\n\nstart('{MODEL}', 2)\n"},
}  # fmt: skip


@pytest.mark.parametrize("files", WAYS.values(), ids=WAYS.keys())
def test_a_servers_words_are_followed(checkout: Build, files: dict[str, str]) -> None:
    (command,) = launch_commands(checkout(files))
    assert MODEL in (*command.words, *command.options.values())
    assert command.processes == 2


@pytest.mark.parametrize(
    "files",
    [
        # Callers that do not agree, one that nobody can tell, a switch that nothing says, another list, and another function's.
        {"a.py": f"{START}start('{MODEL}', 2)\nstart('{MODEL}', 4)\n"},
        {"a.py": f"{START}start('{MODEL}', count())\n"},
        {"a.py": f'{GROWN}if many:\n    words += ["-tp", "2"]\nsubprocess.run(words)\n'},
        {"a.py": f'{GROWN}if many:\n    words += ["-tp", str(count())]\nsubprocess.run(words)\n'},
        {"a.py": f'{GROWN}others += ["-tp", "2"]\nsubprocess.run(words)\n'},
        {"a.py": f'{GROWN}def other():\n    words = []\n    words += ["-tp", "2"]\n\nsubprocess.run(words)\n'},
    ],
)
def test_what_is_not_told_in_one_way_is_no_word_of_it(checkout: Build, files: dict[str, str]) -> None:
    (command,) = launch_commands(checkout(files))
    assert command.processes is None
