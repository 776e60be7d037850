"""A mixture's experts, as the run's own configuration describes them, are most of its parameters."""

from __future__ import annotations

import json
from collections.abc import Mapping

import pytest

from gpu_lol_action.analysis.answer.assemble import detect_all
from gpu_lol_action.analysis.files.checkout import Checkout
from gpu_lol_action.analysis.formats.surest import value_of_best
from gpu_lol_action.analysis.memory.memory_model import model_of
from tests.unit.analysis.conftest import Build

PROGRAM = (
    "import json, argparse, torch\nfrom net import Transformer\n\ndef main(config):\n"
    "    with open(config) as f:\n        model = Transformer(**json.load(f))\n    model.cuda().generate()\n\n"
    "if __name__ == '__main__':\n    p = argparse.ArgumentParser()\n    p.add_argument('--config', default='configs/small.json')\n"
    "    main(p.parse_args().config)\n"
)
DENSE = {"vocab_size": 32000, "dim": 4096, "n_layers": 32, "n_heads": 32}
MIXTURE = {**DENSE, "n_routed_experts": 8, "moe_inter_dim": 14336, "n_activated_experts": 2, "n_kv_heads": 8}


def tree(checkout: Build, config: Mapping[str, object], **files: str) -> Checkout:
    readme = "# Net\n\n```\npython generate.py --config configs/small.json\n```\n"
    net = "import torch\nclass Transformer(torch.nn.Module):\n    def __init__(self, **sizes):\n        super().__init__()\n"
    return checkout({"README.md": readme, "generate.py": PROGRAM, "net.py": net, "requirements.txt": "torch\n",
                     "configs/small.json": json.dumps(config), **files})  # fmt: skip


@pytest.mark.parametrize(
    ("config", "least_b", "most_b"),
    [
        (DENSE, 6, 8),
        (MIXTURE, 46, 47.5),  # Mixtral 8x7B has 46.7 B parameters
        ({**MIXTURE, "n_shared_experts": 1}, 51, 53.5),
        ({**MIXTURE, "n_routed_experts": 1}, 6, 8),  # none to choose from
        ({**DENSE, "n_routed_experts": 8}, 6, 8),  # nothing says how wide they are
    ],
)
def test_experts_count(checkout: Build, config: Mapping[str, object], least_b: float, most_b: float) -> None:
    model = model_of(detect_all(tree(checkout, config)), {})

    assert model is not None
    assert least_b <= model.parameters_b <= most_b


def test_experts_of_another_file_are_another_models(checkout: Build) -> None:
    other = json.dumps({key: MIXTURE[key] for key in ("n_routed_experts", "moe_inter_dim")})
    found = detect_all(tree(checkout, DENSE, **{"configs/large.json": other}))

    assert value_of_best(found, "model.experts") is None


def test_a_configuration_says_in_which_numbers_its_weights_lie(checkout: Build) -> None:
    bits = {
        kind: value_of_best(detect_all(tree(checkout, {**MIXTURE, "dtype": kind})), "model.weight_bits")
        for kind in ("fp8", "float8_e4m3fn", "bf16")
    }

    assert bits == {"fp8": "8", "float8_e4m3fn": "8", "bf16": None}
