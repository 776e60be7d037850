from __future__ import annotations

from collections.abc import Callable, Mapping

import pytest

from gpu_lol_action.analysis.answer.assemble import analyze
from gpu_lol_action.analysis.files.checkout import Checkout
from gpu_lol_action.analysis.runs.runs import primary_run
from gpu_lol_action.analysis.training.training import detect

Build = Callable[[Mapping[str, str]], Checkout]
PROGRAM = """
import argparse
import torch
import timm
import torch.distributed as dist
p = argparse.ArgumentParser()
p.add_argument("{key}", type=int, default={size})
args = p.parse_args()
model = timm.create_model("vit_large_patch16_224").cuda()
loader = torch.utils.data.DataLoader(data, batch_size={batch})
optimizer = torch.optim.AdamW(model.parameters())
loss.backward()
optimizer.step()
"""


def tree(checkout: Build, key: str, batch: str, size: int = 1024) -> Checkout:
    return checkout({"train.py": PROGRAM.format(key=key, batch=batch, size=size)})


@pytest.mark.parametrize(
    ("key", "batch", "is_spread"),
    [
        ("--global-batch-size", "int(args.global_batch_size // dist.get_world_size())", True),
        ("--batch-size", "args.batch_size // torch.cuda.device_count()", True),
        ("--batch-size", "int(args.batch_size / ngpus_per_node)", True),
        ("--batch-size", "args.batch_size / (accelerator.num_processes * args.accumulation)", True),
        ("--batch-size", "args.batch_size // (args.accumulation * dist.get_world_size())", True),
        ("--nodes", "1024 // args.n_gpu", True),
        ("--nodes", "1024 // dist.get_world_size()", True),
        ("--batch-size", "args.batch_size", False),
        ("--bs", "round(args.bs / args.ac / dist.get_world_size())", True),
        ("--bs", "args.bs // world_size", True),
        ("--bs", "args.bs / args.ac", False),
        ("--micro_batch_size", "args.micro_batch_size", False),
        ("--batch-size", "args.batch_size // args.accumulation", False),
    ],
)
def test_a_batch_of_all_cards_is_told_from_one_card_s(checkout: Build, key: str, batch: str, is_spread: bool) -> None:
    files = tree(checkout, key, batch)
    found = {finding.field: finding.value for finding in detect(files, primary_run(files))}
    assert found["training.batch_size"] == "1024"
    assert ("training.batch_spread" in found) is is_spread


def test_a_spread_batch_that_one_card_does_not_hold_is_shared_by_a_whole_machine(checkout: Build) -> None:
    spread = analyze(tree(checkout, "--global-batch-size", "args.global_batch_size // dist.get_world_size()"))
    small = analyze(tree(checkout, "--global-batch-size", "args.global_batch_size // dist.get_world_size()", size=64))
    assert spread.spec.hardware.gpu_count == 8
    assert (spread.spec.hardware.vram_required_gb or 0) <= 80
    assert small.spec.hardware.gpu_count == 1


def test_a_batch_for_all_cards_is_shared_by_as_many_as_its_authors_had(checkout: Build) -> None:
    """The program takes all cards that there are, and a remark says how many its figures were made on."""
    program = PROGRAM.format(key="--batch-size", batch="args.batch_size // torch.cuda.device_count()", size=512)
    readme = "# Training\nTo train on 4 GPUs:\n```\npython train.py\n```\n"
    alone = analyze(checkout({"train.py": program, "README.md": "```\npython train.py\n```\n"})).spec.hardware
    told = analyze(checkout({"train.py": program, "README.md": readme})).spec.hardware
    assert (told.gpu_count, alone.gpu_count) == (4, 8)
    assert told.vram_required_gb > alone.vram_required_gb


@pytest.mark.parametrize(
    ("config", "batch"),
    [
        ("TRAIN:\n  IMS_PER_BATCH: 2\n  BATCH_SIZE: 256\n", "2"),  # 256 regions of each picture
        ("TRAIN:\n  BATCH_SIZE: 256\n", "256"),
        ("TRAIN:\n  IMS_PER_BATCH: 2\n  PER_DEVICE_BATCH_SIZE: 4\n", "4"),
    ],
)
def test_where_pictures_are_counted_by_name_the_other_number_is_of_regions(
    checkout: Build, config: str, batch: str
) -> None:
    program = "import argparse\nimport torch\nimport timm\np = argparse.ArgumentParser()\np.add_argument('--cfg')\nmodel = timm.create_model('resnet50').cuda()\nloss.backward()\noptimizer.step()\n"
    checked = checkout({"go.sh": "python train.py --cfg a.yml\n", "a.yml": config, "train.py": program})
    found = [f.value for f in detect(checked, primary_run(checked)) if f.field == "training.batch_size"]
    assert found[:1] == [batch]


@pytest.mark.parametrize(
    ("library", "key", "expected"),
    [("composer", "train_batch_size", "all"), ("trainers", "train_batch_size", None), ("composer", "batch_size", None)],
)
def test_composer_s_batch_is_for_all_cards(checkout: Build, library: str, key: str, expected: str | None) -> None:
    program = (
        f"from {library} import Trainer\nimport timm\nmodel = timm.create_model('resnet50')\n"
        "Trainer(model=model).fit()\n"
    )
    files = {
        "train.py": program,
        "net.yaml": f"{key}: 2048\nmax_duration: 90ep\n",
        "README.md": "```\ncomposer -n 8 train.py -f net.yaml\n```\n",
    }
    checked = checkout(files)
    spread = [f.value for f in detect(checked, primary_run(checked)) if f.field == "training.batch_spread"]
    assert spread == ([expected] if expected else [])


@pytest.mark.parametrize(
    ("config", "expected"),
    [
        ("global_batch_size: 512\nbatch_size: 16\n", {"training.batch_size": "16"}),
        ("global_batch_size: 512\n", {"training.batch_size": "512", "training.batch_spread": "all"}),
        ("ims_per_batch: 16\nbatch_size: 2\n", {"training.batch_size": "16", "training.batch_spread": "all"}),
    ],
)
def test_beside_a_batch_of_all_cards_the_smaller_one_is_each_card_s(
    checkout: Build, config: str, expected: dict[str, str]
) -> None:
    program = "import argparse\nimport torch\nimport timm\np = argparse.ArgumentParser()\np.add_argument('--cfg')\nmodel = timm.create_model('resnet50').cuda()\nloss.backward()\noptimizer.step()\n"
    checked = checkout({"go.sh": "python train.py --cfg a.yml\n", "a.yml": config, "train.py": program})
    found: dict[str, str] = {}
    for each in detect(checked, primary_run(checked)):
        if each.field in {"training.batch_size", "training.batch_spread"}:
            found.setdefault(each.field, each.value)
    assert found == expected


@pytest.mark.parametrize(
    ("line", "batch", "is_spread"),
    [
        ("micro_batch_size = 1024 // world_size", "micro_batch_size", True),
        ("BATCH_SIZE = 1024 // world_size", "BATCH_SIZE", True),
        ("batch_size: int = 1024 // args.n_gpu", "batch_size", True),
        ('cfg = {"batch_size": 1024 // dist.world_size}', "cfg['batch_size']", True),
        ("steps = 4096 // world_size", "1024", False),
        ("per_device_train_batch_size = 1024\nworkers = 1024 // world_size", "per_device_train_batch_size", False),
        ("per_device_train_batch_size = 1024 // world_size", "per_device_train_batch_size", True),
    ],
)
def test_a_number_that_is_shared_out_is_of_all_cards_under_any_name(
    checkout: Build, line: str, batch: str, *, is_spread: bool
) -> None:
    """All of it was taken for each card's."""
    program = PROGRAM.format(key="--nodes", batch=batch, size=1).replace("model =", f"{line}\nmodel =")
    files = checkout({"train.py": program})
    found = {finding.field: finding.value for finding in detect(files, primary_run(files))}
    assert found["training.batch_size"] == "1024"
    assert (found.get("training.batch_spread") == "all") is is_spread


def test_of_two_batches_the_one_that_is_not_shared_out_is_each_card_s(checkout: Build) -> None:
    """A test's batch was shared out, and the training's taken for all cards'."""
    program = PROGRAM.format(key="--nodes", batch="64", size=1)
    program += "judged = torch.utils.data.DataLoader(test_data, batch_size=16 // args.n_gpu)\n"
    files = checkout({"train.py": program})
    found = {finding.field: finding.value for finding in detect(files, primary_run(files))}
    assert found["training.batch_size"] == "64"
    assert "training.batch_spread" not in found
