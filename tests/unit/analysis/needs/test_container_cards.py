"""A checkout of containers alone says in Compose's file, or where a document starts them, that they compute on a card."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import pytest

from gpu_lol_action.analysis.answer.assemble import analyze
from gpu_lol_action.analysis.files.checkout import Checkout

Build = Callable[[Mapping[str, str]], Checkout]
COMPOSE = "services:\n  web_ui:\n    build: ./service\n    deploy:\n      resources:\n        reservations:\n          devices:\n            - driver: nvidia\n              count: 1\n              capabilities: [gpu]\n"
README = {"README.md": "# Web UI in a container\n"}


@pytest.mark.parametrize(
    ("files", "cards"),
    [
        ({"docker-compose.yml": COMPOSE}, 1),
        ({"compose.yaml": "services:\n  a:\n    image: b\n    runtime: nvidia\n"}, 1),
        (
            {"docker-compose.yml": COMPOSE.replace("- driver", "# - driver").replace("capabilities", "# capabilities")},
            0,
        ),
        # A variant beside the usual one; a service somewhere below; a program or a list of packages that tells more.
        ({"docker-compose.gpu.yml": COMPOSE}, 0),
        ({"deploy/docker-compose.yml": COMPOSE}, 0),
        ({"docker-compose.yml": COMPOSE, "requirements.txt": "fastapi\n"}, 0),
        ({"docker-compose.yml": COMPOSE, "app.py": "import json\nif __name__ == '__main__':\n    json.dumps(1)\n"}, 0),
    ],
)
def test_what_compose_reserves(checkout: Build, files: dict[str, str], cards: int) -> None:
    assert analyze(checkout({**README, **files})).spec.hardware.gpu_count == cards


GUIDE = "# Speculative decoding\n\nServe the model:\n\n```sh\ndocker run --rm -it \\\n  --shm-size=1G --gpus all \\\n  registry/tritonserver:25.01-py3\n```\n"


@pytest.mark.parametrize(
    ("files", "workload", "cards"),
    [
        ({"README.md": GUIDE}, "inference", 1),
        ({"README.md": "# Guides\n", "engine/README.md": GUIDE, "convert.py": "import json\njson.dumps(1)\n"}, "inference", 1),
        ({"README.md": GUIDE.replace("Serve the model", "Train, and go on training").replace("--gpus all", "--gpus 2")}, "training", 1),
        ({"README.md": GUIDE.replace("docker run", "nvidia-docker run").replace(" --gpus all", "")}, "inference", 1),
        # Nothing is given a card; a list of packages, or a folder of programs, tells more.
        ({"README.md": GUIDE.replace("--gpus all", "--cpus 4")}, "cpu-only", 0),
        ({"README.md": "# Tool\n\n```sh\nour-cloud up --gpus 4\n```\n"}, "cpu-only", 0),
        ({"README.md": GUIDE, "requirements.txt": "fastapi\n"}, "cpu-only", 0),
        ({"README.md": GUIDE, **{f"part{number}.py": "import json\n" for number in range(4)}}, "cpu-only", 0),
    ],
)  # fmt: skip
def test_what_a_document_starts_containers_with(
    checkout: Build, files: dict[str, str], workload: str, cards: int
) -> None:
    found = analyze(checkout(files)).spec
    assert (found.meta.workload_type.value, found.hardware.gpu_count) == (workload, cards)


SERVES = COMPOSE.replace(
    "    build: ./service\n",
    "    image: vllm/vllm-openai:v0.11.0\n    command: ['--model=google/gemma-3-1b-it', '--dtype=bfloat16']\n",
)
CLIENT = {
    "pyproject.toml": "[build-system]\nrequires = ['hatchling']\n[project]\nname = 'chat'\ndependencies = ['openai', 'fastapi']\n",
    "chat/__init__.py": "",
    "chat/app.py": "import openai\nif __name__ == '__main__':\n    openai.OpenAI(base_url='http://llm:8000').chat.completions.create()\n",
}


@pytest.mark.parametrize(
    ("files", "cards"),
    [
        ({"docker-compose.yml": SERVES}, 1),
        ({"docker-compose.yml": SERVES.replace("driver: nvidia", "driver: x").replace("[gpu]", "[tpu]")}, 0),
        ({"deploy/docker-compose.yml": SERVES}, 0),
        ({"docker-compose.yml": COMPOSE}, 0),  # of what it builds nothing is known
    ],
)
def test_a_package_beside_a_server_of_models_that_compose_gives_a_card(
    checkout: Build, files: dict[str, str], cards: int
) -> None:
    assert analyze(checkout({**README, **CLIENT, **files})).spec.hardware.gpu_count == cards
