"""Optimizers that a configuration has built: the run's own alone, and none against the program's."""

from __future__ import annotations

import pytest

from gpu_lol_action.analysis.answer.assemble import analyze
from tests.unit.analysis.conftest import Build

HYDRA = """import hydra, torch
from transformers import AutoModelForCausalLM
@hydra.main(version_base=None, config_path=".", config_name="conf")
def main(cfg):
    model = AutoModelForCausalLM.from_pretrained("facebook/opt-1.3b").cuda()
    optimizer = {built}
    for batch in data:
        model(**batch).loss.backward()
        optimizer.step()
if __name__ == "__main__":
    main()
"""
BY_FILE, BY_CODE = "hydra.utils.instantiate(cfg.optimizer, model.parameters())", "torch.optim.AdamW(model.parameters())"


@pytest.mark.parametrize(
    ("section", "target", "built", "named"),
    [
        ("", "torch.optim.SGD", BY_FILE, "SGD"),
        ("model:\n  ", "bitsandbytes.optim.AdamW8bit", BY_FILE, "AdamW8bit"),
        ("", "functools.partial", BY_FILE, ""),
        ("discriminator:\n  ", "torch.optim.SGD", BY_FILE, ""),
        ("", "torch.optim.SGD", BY_CODE, ""),
    ],
)
def test_a_built_optimizer_is_the_run_s_own(checkout: Build, section: str, target: str, built: str, named: str) -> None:
    indent = "    " if section else "  "
    conf = f"{section}optimizer:\n{indent}_target_: {target}\n{indent}lr: 0.1\n"
    found = analyze(checkout({"train.py": HYDRA.format(built=built), "conf.yaml": conf}))
    assert next((f.value for f in found.findings if f.field == "training.optimizer"), "") == named
