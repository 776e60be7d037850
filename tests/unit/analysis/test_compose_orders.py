"""A checkout of containers alone says in Compose's file that they compute on a card."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import pytest

from gpu_lol_action.analysis.assemble import analyze
from gpu_lol_action.analysis.checkout import Checkout

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
