"""Switches that a program looks up in its configuration are off where that says nothing of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import pytest

from gpu_lol_action.analysis.answer.assemble import analyze
from gpu_lol_action.analysis.files.checkout import Checkout
from gpu_lol_action.analysis.programs.dead_branches import dead_lines

Build = Callable[[Mapping[str, str]], Checkout]


@pytest.mark.parametrize(
    ("lookup", "values", "dead"),
    [
        ("lora = cfg['model']['params'].get('lora', False)", {}, True),
        ("lora = self.config.get('use_lora', False)", {}, True),
        ("lora = args.cfg_params['model'].get('lora', False)", {"batch": "2"}, True),
        ("lora = opt.get('lora', False)", {"lora": "True"}, False),
        ("lora = train_config.get('use_lora', False)", {"use_lora": "true"}, False),
        ("lora = cfg.get('lora', True)", {}, False),
        ("lora = kwargs.get('lora', False)", {}, False),
        ("lora = batch.get('lora', False)", {}, False),
        ("lora = cfg.get('lora', False)\n    lora = lora or is_large(model)", {}, False),
        ("lora = cfg.get('a', False)\n    lora = cfg.get('b', False)", {}, False),
    ],
)
def test_the_branch_of_a_switch_that_nothing_sets_is_dead(
    checkout: Build, lookup: str, values: Mapping[str, str], *, dead: bool
) -> None:
    tree = checkout({"train.py": f"def main():\n    {lookup}\n    if lora:\n        put_on(model)\n    train(model)\n"})
    source = tree.find("train.py")
    assert source is not None
    line = source.text.split("\n").index("        put_on(model)") + 1
    assert any(line in block for block in dead_lines(source, values)) is dead


@pytest.mark.parametrize(("said", "method"), [("", "pretrain"), ("  lora: true\n", "lora")])
def test_adapters_are_frozen_around_only_where_the_configuration_asks(checkout: Build, said: str, method: str) -> None:
    program = (
        "import argparse\nimport torch\nimport yaml\nfrom torch import nn\nfrom loralib import mark_only_lora_as_trainable\n"
        "parser = argparse.ArgumentParser()\nparser.add_argument('--config')\nargs = parser.parse_args()\n"
        "cfg = yaml.safe_load(open(args.config))\nmodel = nn.Linear(8, 8).cuda()\n"
        "lora = cfg['model'].get('lora', False)\nif lora:\n    mark_only_lora_as_trainable(model)\n"
        "optimizer = torch.optim.Adam(model.parameters())\nfor batch in cfg['data']:\n    model(batch).sum().backward()\n    optimizer.step()\n"
    )
    files = {
        "train.py": program,
        "base.yaml": f"model:\n  width: 8\n{said}",
        "README.md": "```\npython train.py --config base.yaml\n```\n",
    }
    findings = analyze(checkout(files)).findings
    assert next(item.value for item in findings if item.field == "training.method") == method
