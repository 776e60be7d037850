"""Of a collection of modules from which a configuration takes one by name, the others say nothing of the run."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import pytest

from gpu_lol_action.analysis.answer.assemble import analyze
from gpu_lol_action.analysis.files.checkout import Checkout

Build = Callable[[Mapping[str, str]], Checkout]
NAMES = ("latent_model", "lora_model", "gan_model", "flow_model", "token_model", "video_model")
PROGRAM = (
    "import argparse\nimport torch\nimport yaml\nfrom builder import build\n"
    "parser = argparse.ArgumentParser()\nparser.add_argument('--config')\nargs = parser.parse_args()\n"
    "model = build(yaml.safe_load(open(args.config))).cuda()\noptimizer = torch.optim.Adam(model.parameters())\n"
    "for batch in range(10):\n    model(batch).sum().backward()\n    optimizer.step()\n"
)


def tree(config: str, names: tuple[str, ...] = NAMES) -> dict[str, str]:
    models = {
        f"models/{name}.py": f"class {name}:\n    def load(self):\n        self.load_checkpoint(path)\n"
        for name in names
    }
    models["models/lora_model.py"] = (
        "class lora_model:\n    def load(self):\n        self.load_checkpoint(path, lora=True)\n"
    )
    builder = "def build(cfg):\n" + "".join(
        f"    if cfg['type'] == '{n}':\n        from models.{n} import {n}\n        return {n}()\n" for n in names
    )
    readme = {"README.md": "```\npython train.py --config base.yaml\n```\n", "base.yaml": config}
    return {**models, **readme, "builder.py": builder, "train.py": PROGRAM}


@pytest.mark.parametrize(
    ("config", "names", "method"),
    [
        ("type: latent_model\n", NAMES, "pretrain"),
        ("type: lora_model\n", NAMES, "lora"),
        ("type: Latent_Model\n", NAMES, "pretrain"),
        ("width: 8\n", NAMES, "lora"),  # nothing names any: all may be meant
        ("type: latent_model\n", NAMES[:3], "lora"),  # three modules are parts, not a collection
    ],
)
def test_only_the_named_module_speaks(checkout: Build, config: str, names: tuple[str, ...], method: str) -> None:
    findings = analyze(checkout(tree(config, names))).findings
    assert next(item.value for item in findings if item.field == "training.method") == method


def test_what_the_named_module_imports_speaks_with_it(checkout: Build) -> None:
    files = {
        **tree("type: latent_model\n"),
        "models/latent_model.py": "from .lora_model import lora_model\n\n\nclass latent_model(lora_model):\n    pass\n",
    }
    findings = analyze(checkout(files)).findings
    assert next(item.value for item in findings if item.field == "training.method") == "lora"
