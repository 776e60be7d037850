"""What folders of example collections have: loaders that are looked at before training, stages of one program, graphs, bare tools."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import pytest

from gpu_lol_action.analysis.answer.assemble import analyze, detect_all
from gpu_lol_action.analysis.files.checkout import Checkout
from gpu_lol_action.analysis.programs.behavior import Behavior
from gpu_lol_action.analysis.runs.runs import primary_run
from gpu_lol_action.domain.analysis import Analysis
from gpu_lol_action.domain.finding import Confidence
from gpu_lol_action.domain.spec import WorkloadType

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


RUNS = "import torch\nmodel.load_state_dict(torch.load('a'))\n"


@pytest.mark.parametrize(
    ("mode", "behavior"),
    [("predict", Behavior.INFERS), ("train", Behavior.TRAINS), ("train_and_eval", Behavior.TRAINS)],
)
def test_a_mode_says_which_of_its_works_a_program_does(checkout: Build, mode: str, behavior: Behavior) -> None:
    tree = checkout({"README.md": f"```\npython main.py --mode {mode}\n```\n", "main.py": RUNS + STEP})
    run = primary_run(tree)
    assert run is not None
    assert run.behavior is behavior


def test_a_mode_that_only_measures_is_a_step_beside_the_training(checkout: Build) -> None:
    text = "```\npython main.py --mode eval\npython main.py --mode train --lr 1\n```\n"
    run = primary_run(checkout({"README.md": text, "main.py": RUNS + STEP}))
    assert run is not None
    assert run.options["mode"] == "train"


def test_a_document_comes_before_its_longer_named_neighbor(checkout: Build) -> None:
    def text(lr: int) -> str:
        return f"```\npython train.py --lr {lr}\n```\n"

    tree = checkout({"RESULTS-small.md": text(2), "RESULTS.md": text(1), "train.py": "import torch\n" + STEP})
    run = primary_run(tree)
    assert run is not None
    assert run.options["lr"] == "1"


@pytest.mark.parametrize(("cards", "size"), [(2, 12), (4, 16), (8, 16)])
def test_who_starts_several_cards_has_a_machine_of_them(checkout: Build, cards: int, size: int) -> None:
    text = f"```\ntorchrun --nproc_per_node={cards} train.py\n```\n"
    found = analyze(checkout({"README.md": text, "train.py": "import torch\nfrom elsewhere import net\n" + STEP}))
    assert found.spec.hardware.vram_required_gb == size


@pytest.mark.parametrize(
    ("text", "low", "high"),
    [("Runtimes when executed on H100: 3 s", 16, 32), ("It was trained on 8xH100 80GB.", 80, 80)],
)
def test_a_large_card_that_is_only_named_is_not_what_is_needed(checkout: Build, text: str, low: int, high: int) -> None:
    tree = checkout({"README.md": f"{text}\n", "train.py": "import torch\nfrom elsewhere import net\n" + STEP})
    assert low <= (analyze(tree).spec.hardware.vram_required_gb or 0) <= high


def test_rows_that_are_handed_to_a_function_are_no_batch(checkout: Build) -> None:
    program = "import datasets, torch\nd = d.map(cut, batched=True, batch_size=1000)\n"
    assert first(checkout({"train.py": program + STEP}), "training.batch_size") is None


def test_layers_of_a_recurrent_part_make_no_transformer_of_pictures(checkout: Build) -> None:
    options = "".join(
        f"p.add_argument('--{name}', type=int, default={number})\n"
        for name, number in (("num_layers", 1), ("hidden_size", 512), ("crop_size", 224))
    )
    program = f"import argparse, torch\nfrom elsewhere import Net\np = argparse.ArgumentParser()\n{options}a = p.parse_args()\n"
    assert analyze(checkout({"train.py": program + STEP})).spec.hardware.vram_required_gb == 12


FROZEN = """
import torch, torchvision.models as models
from torch import nn

class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.resnet = models.resnet152()

    def forward(self, x):
        WITH
            features = self.resnet(x)
        return features
"""


@pytest.mark.parametrize(("line", "is_counted"), [("with torch.no_grad():", False), ("if self.training:", True)])
def test_a_network_that_runs_without_gradients_is_not_what_is_trained(
    checkout: Build, line: str, is_counted: bool
) -> None:
    files = {"model.py": FROZEN.replace("WITH", line), "train.py": "import torch\nfrom model import Encoder\n" + STEP}
    found = detect_all(checkout(files))
    assert any(f.field == "media.network" for f in found) is is_counted
    assert any(f.field == "model.id" and f.confidence > Confidence.LOW for f in found) is is_counted


def test_a_scan_is_cut_into_patches_and_a_clip_has_frames(checkout: Build) -> None:
    def kept(channels: int) -> int:
        net = f"net = nn.Sequential(nn.Conv3d({channels}, 8, 3, padding=1), nn.ReLU()).cuda()\n"
        tree = checkout({"train.py": f"import torch\nfrom torch import nn\n{net}loss = net(x)\n{STEP}"})
        return int(first(tree, "media.own_outputs") or 0)

    assert kept(1) == pytest.approx(2 * 8 * 128**3, rel=0.6)
    assert kept(3) == pytest.approx(2 * 8 * 8 * 224**2, rel=0.6)


def test_seconds_of_a_batch_are_positions_of_a_network_of_sequences(checkout: Build) -> None:
    net = "class Net(nn.Module):\n    def __init__(self):\n        super().__init__()\n        self.a = nn.Conv1d(256, 256, 3, padding=1)\n"
    net += "        self.b = nn.Linear(256, 256)\n\n    def forward(self, x):\n        return self.b(self.a(x).transpose(1, 2))\n\nnet = Net().cuda()\n"
    files = {"train.py": f"import torch\nfrom torch import nn\n{net}{STEP}"}
    short = analyze(checkout({**files, "README.md": "```\npython train.py --lr 1\n```\n"}))
    long = analyze(checkout({**files, "README.md": "```\npython train.py --lr 1 --max-duration 600\n```\n"}))

    def activations(analysis: Analysis) -> float:
        terms = analysis.breakdown.terms if analysis.breakdown is not None else ()
        return sum(term.gib for term in terms if term.name == "activations")

    assert activations(long) > activations(short)


def test_a_launcher_of_one_s_own_trains_where_the_program_that_it_starts_computes(checkout: Build) -> None:
    start = (
        "import subprocess\nif __name__ == '__main__':\n    subprocess.call(f'python main.py --x {1}', shell=True)\n"
    )
    tree = checkout({"README.md": "```\npython scripts/train.py\n```\n", "scripts/train.py": start, "main.py": RUNS})
    run = primary_run(tree)
    assert run is not None
    assert (run.shown, run.behavior) == ("python train.py", Behavior.TRAINS)


@pytest.mark.parametrize(
    ("text", "workload"),
    [
        ("```\npython tools/train_net.py --config-file configs/a.py\n```\n", WorkloadType.TRAINING),
        ("```\npython tools/demo.py --config-file configs/a.py\n```\n", WorkloadType.INFERENCE),
        ("```python\nimport torch\nm = torch.hub.load('a/b', 'c')\nm.translate('x')\n```\n", WorkloadType.INFERENCE),
        ("```\nfairseq-generate $DATA --path a.pt --beam 5 --fp16\n```\n", WorkloadType.INFERENCE),
        ("```\npython tools/convert.py a b\n```\n", WorkloadType.CPU_ONLY),
    ],
)
def test_a_folder_without_programs_is_for_what_its_document_starts(
    checkout: Build, text: str, workload: WorkloadType
) -> None:
    assert analyze(checkout({"README.md": f"# Use\n{text}"})).spec.meta.workload_type is workload


def test_numbers_of_the_command_say_more_than_a_wrapper_that_was_followed(checkout: Build) -> None:
    net = "class Wrapper(nn.Module):\n    def __init__(self):\n        super().__init__()\n        self.a = nn.Linear(64, 64)\n\n    def forward(self, x):\n        return self.a(x)\n\nnet = Wrapper().cuda()\n"
    program = f"import argparse, torch\nfrom torch import nn\n{net}{STEP}"
    words = "--num-layers 24 --hidden-size 1024 --num-attention-heads 16 --micro-batch-size 1"
    found = analyze(checkout({"README.md": f"```\npython train.py {words}\n```\n", "train.py": program}))
    need = next(f for f in found.findings if f.field == "hardware.vram_required_gb")
    assert "own transformer" in need.why
