"""Bundles of MONAI are trained by their own configuration, with the packages that their metadata list."""

from __future__ import annotations

import json

import pytest

from gpu_lol_action.analysis.answer.assemble import analyze
from gpu_lol_action.analysis.runs.runs import primary_run
from tests.unit.analysis.conftest import Build

METADATA = json.dumps({
    "version": "0.1.0",
    "monai_version": "1.4.0",
    "pytorch_version": "2.4.0",
    "numpy_version": "1.24.4",
    "required_packages_version": {"nibabel": "5.2.1"},
    "optional_packages_version": {"pytorch-ignite": "0.4.11", "einops": ""},
}, indent=1)  # fmt: skip
TRAIN = json.dumps({"network_def": {"_target_": "UNet"}, "train": {"dataloader": {"batch_size": 2}}})
PREPARES = "import numpy\nimport monai\nmonai.data.load(1)\nif __name__ == '__main__':\n    pass\n"
FILES = {
    "configs/metadata.json": METADATA,
    "configs/train.json": TRAIN,
    "configs/inference.json": TRAIN,
    "scripts/prepare.py": PREPARES,
}


def page(*names: str) -> str:
    return "# Ours\n" + "".join(
        f"```\npython -m monai.bundle run --config_file configs/{name}\n```\n" for name in names
    )


def test_the_page_of_a_bundle_says_how_it_is_trained(checkout: Build) -> None:
    found = analyze(checkout({**FILES, "docs/README.md": page("train.json", "inference.json")})).spec

    assert (found.meta.workload_type.value, found.hardware.gpu_count) == ("training", 1)
    names = ("monai>=1.4.0", "torch>=2.4.0", "numpy>=1.24.4", "nibabel>=5.2.1", "pytorch-ignite>=0.4.11", "einops")
    assert set(names) <= {*found.dependencies.requirements, "torch>=2.4.0"}


@pytest.mark.parametrize(("name", "does"), [("train_diffusion.json", "training"), ("inference.yaml", "inference")])
def test_the_configuration_says_what_the_command_is_for(checkout: Build, name: str, does: str) -> None:
    tree = checkout({**FILES, f"configs/{name}": TRAIN, "docs/README.md": page(name)})
    assert analyze(tree).spec.meta.workload_type.value == does


def test_to_write_the_weights_out_is_no_run(checkout: Build) -> None:
    text = page("inference.json").replace(" run ", " ckpt_export network_def ")
    run = primary_run(checkout({**FILES, "docs/README.md": text}))
    assert run is None


def test_without_a_word_on_the_command_the_training_stands_for_a_bundle(checkout: Build) -> None:
    tree = checkout({**FILES, "docs/README.md": "# Ours\nSegments livers.\n"})
    run = primary_run(tree)

    assert run is not None
    assert run.configs[0].path == "configs/train.json"
    assert analyze(tree).spec.needs_gpu


def test_what_a_neighbor_pins_is_not_of_the_bundle(checkout: Build) -> None:
    beside = {"other/requirements.txt": "torch==2.0.1\nnibabel==5.0.0\nml-collections\n"}
    flat = {f"flat/{name}": text for name, text in FILES.items()}
    flat["flat/README.md"] = page("train.json")
    found = analyze(checkout({**flat, **beside})).spec.dependencies.requirements

    assert "nibabel>=5.2.1" in found
    assert not {"torch==2.0.1", "nibabel==5.0.0", "ml-collections"} & set(found)


def test_metadata_of_others_list_nothing(checkout: Build) -> None:
    tree = checkout({
        "configs/metadata.json": '{"version": "1", "required_packages_version": {"leftpad": "1"}}',
        "train.py": "import torch\nif __name__ == '__main__':\n    loss.cuda().backward()\n",
    })  # fmt: skip
    assert not any("leftpad" in text for text in analyze(tree).spec.dependencies.requirements)
