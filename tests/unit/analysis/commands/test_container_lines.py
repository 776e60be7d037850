"""What containers start, and the variables that stand in front of a command."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import pytest

from gpu_lol_action.analysis.answer.assemble import analyze
from gpu_lol_action.analysis.commands.container_lines import given_variables
from gpu_lol_action.analysis.files.checkout import Checkout

Build = Callable[[Mapping[str, str]], Checkout]
SERVER = "import os\nfrom transformers import AutoModelForCausalLM as A\nMODEL_PATH = os.environ.get('MODEL_PATH')\nif __name__ == '__main__':\n    A.from_pretrained(MODEL_PATH, device_map='cuda').generate(x)\n"
LISTED = "services:\n  api:\n    image: ours\n    command: python api/server.py\n    environment:\n      - PORT=8000\n      - MODEL_PATH=checkpoints/Qwen2-7B-Instruct\n"
MAPPED = "services:\n  api:\n    image: ours\n    command: python api/server.py\n    environment:\n      PORT: 8000\n      MODEL_PATH: Qwen/Qwen2-7B-Instruct\n"


def models(tree: Checkout) -> list[str]:
    return [f.value.rpartition("/")[2] for f in analyze(tree).findings if f.field == "model.id"]


@pytest.mark.parametrize("text", [LISTED, MAPPED])
def test_a_service_is_told_its_model_by_its_environment(checkout: Build, text: str) -> None:
    assert models(checkout({"docker-compose.yml": text, "api/server.py": SERVER})) == ["Qwen2-7B-Instruct"]


def test_so_is_a_program_by_what_stands_in_front_of_its_command(checkout: Build) -> None:
    readme = "```\nMODEL_PATH=Qwen/Qwen2-7B-Instruct python api/server.py\n```\n"
    assert models(checkout({"README.md": readme, "api/server.py": SERVER})) == ["Qwen2-7B-Instruct"]


def test_so_is_what_an_image_starts(checkout: Build) -> None:
    image = 'FROM python:3.11\nENV MODEL_PATH=Qwen/Qwen2-7B-Instruct\nENV PORT=80\nCMD ["python", "api/server.py"]\n'
    assert models(checkout({"Dockerfile": image, "api/server.py": SERVER})) == ["Qwen2-7B-Instruct"]


@pytest.mark.parametrize(
    "files",
    [
        # The program asks for another variable; or another service is given it.
        {"docker-compose.yml": LISTED, "api/server.py": SERVER.replace("MODEL_PATH", "WEIGHTS")},
        {
            "docker-compose.yml": LISTED.replace("    environment:", "  other:\n    environment:"),
            "api/server.py": SERVER,
        },
    ],
)
def test_what_is_not_asked_for_says_nothing(checkout: Build, files: dict[str, str]) -> None:
    assert models(checkout(files)) == []


@pytest.mark.parametrize(
    ("command", "variables"),
    [
        ("A=b C_D=e/f python x.py --g=h", {"A": "b", "C_D": "e/f"}),
        ("python x.py A=b", {}),
        ("A=$B python x.py", {}),
        ("A=b", {}),
    ],
)
def test_variables_in_front_of_a_command(command: str, variables: dict[str, str]) -> None:
    assert given_variables(command) == variables
