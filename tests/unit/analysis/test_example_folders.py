"""What folders of example collections have: loaders that are looked at before training, stages of one program, graphs, bare tools."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import pytest

from gpu_lol_action.analysis.assemble import analyze, detect_all
from gpu_lol_action.analysis.checkout import Checkout
from gpu_lol_action.analysis.runs import primary_run

Build = Callable[[Mapping[str, str]], Checkout]
STEP = "loss.cuda().backward()\n"


def first(tree: Checkout, field: str) -> str | None:
    return next((finding.value for finding in detect_all(tree) if finding.field == field), None)


def test_a_loader_that_is_only_looked_at_gives_no_batch(checkout: Build) -> None:
    loaders = "check_loader = DataLoader(check_ds, batch_size=10)\ntrain_loader = DataLoader(train_ds, batch_size=4)\n"
    assert first(checkout({"train.py": f"import torch\n{loaders}{STEP}"}), "training.batch_size") == "4"


def test_another_stage_s_model_is_not_that_of_a_run_whose_own_is_unknown(checkout: Build) -> None:
    text = "```\npython train.py --model_name_or_path mine1.2-base\n```\n\n```\npython train.py --model_name_or_path gpt2\n```\n"
    program = "import argparse, torch\np = argparse.ArgumentParser()\np.add_argument('--model_name_or_path')\n"
    assert first(checkout({"README.md": text, "train.py": program + STEP}), "model.id") is None


@pytest.mark.parametrize(
    ("line", "trains"),
    [
        ('fairseq-train "$DATA" --arch transformer --optimizer adam --lr 1e-4', True),
        ('fairseq-train "$DATA"', False),
    ],
)
def test_a_tool_may_be_handed_a_reader_s_own_path_first(checkout: Build, line: str, trains: bool) -> None:
    assert (primary_run(checkout({"train.sh": f"{line}\n"})) is not None) is trains


@pytest.mark.parametrize(("heads", "network"), [("", "graph network"), ("num_heads", "own transformer")])
def test_depth_and_width_of_a_network_of_graphs_make_no_transformer(checkout: Build, heads: str, network: str) -> None:
    options = "".join(
        f"p.add_argument('--{name}', type=int, default={number})\n"
        for name, number in (("depth", 3), ("hidden_size", 200), (heads, 4))
        if name
    )
    program = f"import argparse, torch, nets\np = argparse.ArgumentParser()\n{options}args = p.parse_args()\n"
    found = analyze(checkout({"train.py": program + STEP, "nets.py": "import dgl\n"}))
    need = next(f for f in found.findings if f.field == "hardware.vram_required_gb")
    assert network in need.why
