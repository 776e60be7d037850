"""Folders of larger trees: programs at that tree's root, pages in `docs` that tell of the folder, recipes without any program."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import pytest

from gpu_lol_action.analysis.answer.assemble import analyze
from gpu_lol_action.analysis.files.checkout import Checkout
from gpu_lol_action.analysis.programs.behavior import Behavior
from gpu_lol_action.analysis.runs.run_levels import levels_of
from gpu_lol_action.analysis.runs.runs import primary_run
from gpu_lol_action.domain.spec import WorkloadType

Build = Callable[[Mapping[str, str]], Checkout]
MAIN = "if __name__ == '__main__':\n    main()\n"
INFERS = f"import torch\nfrom examples.speech.data import load\ndef main():\n    net.cuda().eval()\n    net.generate(load())\n{MAIN}"
DATA = "import torch\nfrom examples.speech.tasks import pad\ndef load():\n    return torch.zeros(1)\n"
TASKS = "def pad():\n    pass\n"
FOLDER = {"infer.py": INFERS, "data/__init__.py": "", "data/x.py": DATA, "tasks.py": TASKS}
README = "# Speech\n```\npython train.py $DATA --task speech --arch conv --lr 1.0\n```\n```\npython examples/speech/infer.py $DATA\n```\n"


def first_of(tree: Checkout) -> tuple[Behavior, str]:
    run = primary_run(tree)
    assert run is not None
    return run.behavior, run.command.target if run.command is not None else run.evidence.path


def test_a_training_at_the_root_of_the_tree_that_its_modules_are_imported_from_is_its_own(checkout: Build) -> None:
    assert first_of(checkout({"README.md": README, **FOLDER})) == (Behavior.TRAINS, "train.py")


@pytest.mark.parametrize(
    "command",
    ["python prepare.py $DATA", "python other/train.py $DATA", "cd other\npython train.py $DATA"],
)
def test_no_other_program_is(checkout: Build, command: str) -> None:
    text = README.replace("python train.py $DATA", command)
    assert first_of(checkout({"README.md": text, **FOLDER})) == (Behavior.INFERS, "examples/speech/infer.py")


def test_nor_is_one_where_no_module_is_imported_from_a_larger_tree(checkout: Build) -> None:
    alone = {path: text.replace("examples.speech.", "") for path, text in FOLDER.items()}
    assert first_of(checkout({"README.md": README, **alone}))[0] is Behavior.INFERS


LINK = "# Speech\n- [Guide](docs/guide.md)\n"
GUIDE = "# Guide\n```\nfairseq-train $DATA/bin --arch tts --lr 1\n```\n```\npython infer.py $DATA\n```\n"


def test_a_page_s_tool_counts_as_near_as_the_program_that_the_page_starts(checkout: Build) -> None:
    own = INFERS.replace("from examples.speech.data import load", "")
    tree = checkout({"README.md": LINK, "docs/guide.md": GUIDE, "infer.py": own})
    assert first_of(tree) == (Behavior.TRAINS, "fairseq-train $DATA/bin")


def test_a_page_that_starts_nothing_here_stays_behind_what_lies_at_the_root(checkout: Build) -> None:
    own = INFERS.replace("from examples.speech.data import load", "")
    page = GUIDE.replace("python infer.py $DATA", "ls")
    tree = checkout({"README.md": LINK, "docs/guide.md": page, "infer.py": own})
    assert first_of(tree) == (Behavior.INFERS, "infer.py")


@pytest.mark.parametrize(
    ("line", "infers"),
    [
        ("CUDA_VISIBLE_DEVICES=$GPU fairseq-generate $TMP/bin --path $DIR/a.pt", True),
        ("cat text | fairseq-interactive /models/a --path b.pt --beam 5 --bpe fastbpe", True),
        ("fairseq-generate $TMP", False),  # a tool's name, and what a sentence puts behind it
        ("python ./fairseq_cli/interactive.py $DIR --path a.pt", True),
    ],
)
def test_translating_with_a_trained_model_is_inference(checkout: Build, line: str, infers: bool) -> None:
    run = primary_run(checkout({"README.md": f"```\n{line}\n```\n"}))
    assert (run is not None and run.behavior is Behavior.INFERS) is infers


@pytest.mark.parametrize(
    ("config", "trains"), [("train.json", True), ("inference.json", False), ("strain.json", False)]
)
def test_a_library_s_module_trains_where_its_configuration_is_called_so(
    checkout: Build, config: str, trains: bool
) -> None:
    command = f"python -m monai.bundle run --config_file ./spleen/configs/{config}"
    run = primary_run(checkout({"README.md": f"```\n{command}\n```\n"}))
    assert (run is not None and run.behavior is Behavior.TRAINS) is trains


RECIPE = "# Recipe\n## Results: NVIDIA DGX-1 (4x V100 16GB)\nOur results are obtained by running the training script on NVIDIA DGX-1 with (4x V100 16GB) GPUs.\n"
TASK = "modality: CT\ndatalist: folds.json\n"


def test_a_recipe_without_programs_is_trained_on_the_cards_that_its_page_counts(checkout: Build) -> None:
    found = analyze(checkout({"README.md": RECIPE, "input.yaml": TASK})).spec
    assert found.meta.workload_type is WorkloadType.TRAINING
    assert (found.hardware.gpu_count, found.hardware.vram_required_gb) == (4, 16)


def test_so_is_one_with_programs_that_only_prepare(checkout: Build) -> None:
    prepare = "import torch\ndef crop(x):\n    return torch.as_tensor(x, device='cuda')\n"
    found = analyze(checkout({"README.md": RECIPE, "input.yaml": TASK, "crop.py": prepare})).spec
    assert found.meta.workload_type is WorkloadType.TRAINING


@pytest.mark.parametrize(
    "files",
    [
        {"README.md": RECIPE},  # a page alone may tell of anything
        {"README.md": "# Recipe\nTry it on a V100.\n", "input.yaml": TASK},
        {"README.md": RECIPE, "input.yaml": TASK, "app.py": f"import flask\n{MAIN}"},  # which needs no card
    ],
)
def test_a_card_that_nothing_here_would_use_is_none(checkout: Build, files: Mapping[str, str]) -> None:
    assert analyze(checkout(files)).spec.meta.workload_type is WorkloadType.CPU_ONLY


GUIDES = "import torch\nclass Guided:\n    def __call__(self, x):\n        self.unet.zero_grad()\n        loss(x).backward()\n        x = x - x.grad\n"


@pytest.mark.parametrize(
    ("step", "behavior"), [("self.scheduler.step(x)", Behavior.INFERS), ("solver.step(x)", Behavior.TRAINS)]
)
def test_a_sampler_guided_by_a_loss_trains_nothing(checkout: Build, step: str, behavior: Behavior) -> None:
    assert first_of(checkout({"guided.py": f"{GUIDES}        {step}\n"}))[0] is behavior


HYDRA = "task:\n  _name: audio_pretraining\ndistributed_training:\n  distributed_world_size: 8\noptimization:\n  max_update: 400000\n  lr: [0.0005]\nmodel:\n  _name: wav2vec2\n"
HPARAMS = "number_of_epochs: 15\nlr: 1.0\nbatch_size: 8\nopt: !name:torch.optim.Adadelta\n  rho: 0.95\n"
CONFIG_DICT = "import ml_collections\n\n\ndef get_config():\n  config = ml_collections.ConfigDict()\n  config.learning_rate = 0.1\n  config.num_train_steps = 9\n  return config\n"
CHANGED = (
    "from configs import default\n\n\ndef get_config():\n  config = default.get_config()\n  config.batch_size = 512\n"
)
DIVIDED = "distributed_type: FSDP\nmixed_precision: bf16\nnum_processes: 8\n"


@pytest.mark.parametrize(
    ("files", "count"),
    [
        ({"base.yaml": HYDRA}, 8),
        ({"hparams.yaml": HPARAMS}, 1),
        ({"default.py": CONFIG_DICT}, 1),
        ({"default.py": CONFIG_DICT, "large.py": CHANGED}, 1),
        ({"fsdp.yaml": DIVIDED}, 8),
    ],
)
def test_a_folder_of_a_training_s_configurations_is_that_training(
    checkout: Build, files: Mapping[str, str], count: int
) -> None:
    found = analyze(checkout(files)).spec
    assert found.meta.workload_type is WorkloadType.TRAINING
    assert found.hardware.gpu_count == count


@pytest.mark.parametrize(
    "files",
    [
        {"decode.yaml": HYDRA.replace("lr:", "beam:")},  # what is repeated may be anything
        {"rates.yaml": "lr: 0.1\nseed: 1\n"},
        {"helper.py": CONFIG_DICT.replace("ml_collections.ConfigDict()", "read('config.yml')")},
        {"default.py": CONFIG_DICT, "app.py": f"import flask\n{MAIN}"},
        {"one.yaml": DIVIDED.replace("FSDP", "'NO'")},
        {"fsdp.yaml": DIVIDED, "start.sh": "echo hello\n"},
    ],
)
def test_settings_of_something_else_train_nothing(checkout: Build, files: Mapping[str, str]) -> None:
    assert analyze(checkout(files)).spec.meta.workload_type is WorkloadType.CPU_ONLY


SCRIPT = "#!/bin/bash\ndir=`pwd`\nNUM_GPUS={gpus}\ndeepspeed {own}/{up}pretrain_gpt.py --num-layers 12 --hidden-size 768 --num-attention-heads 12 --micro-batch-size 1 --seq-length 1024 --fp16\n"
ANALYZES = "import torch\nimport deepspeed\nif __name__ == '__main__':\n    analyze(torch.zeros(1).cuda())\n"


@pytest.mark.parametrize(
    ("own", "up", "is_meant"),
    [
        ("${dir}", "../../../", True),
        ("$(pwd)", "../../../", True),
        ("$PWD", "../../../../", True),
        ("${dir}", "../", False),  # it would lie in the checkout
    ],
)
def test_a_path_that_starts_where_the_script_is_called_leads_out_of_the_checkout(
    checkout: Build, own: str, up: str, *, is_meant: bool
) -> None:
    text = SCRIPT.format(own=own, up=up, gpus=8)
    run = primary_run(checkout({"gpt/pretrain/pretrain_small.sh": text, "analyze.py": ANALYZES}))
    target = run.command.target if run is not None and run.command is not None else ""
    assert target.endswith("pretrain_gpt.py") is is_meant


@pytest.mark.parametrize(("gpus", "count"), [("2", 2), ("8", 8), ("128", 8), ("20", None), ("$N", None)])
def test_deepspeed_takes_of_all_cards_that_a_script_counts_those_of_a_machine(
    checkout: Build, gpus: str, count: int | None
) -> None:
    tree = checkout({"pretrain_small.sh": SCRIPT.format(own="..", up="../", gpus=gpus)})
    run = primary_run(tree)
    assert run is not None
    assert run.command is not None
    assert run.command.processes == count


@pytest.mark.parametrize(("more", "is_near"), [({}, True), ({"__init__.py": ""}, False)])
def test_a_package_within_a_package_is_not_the_project_s_own(
    checkout: Build, more: dict[str, str], *, is_near: bool
) -> None:
    levels = levels_of(checkout({"part/__init__.py": "", "part/train.py": "", **more}))
    assert (levels.of("part/train.py") == 0) is is_near


@pytest.mark.parametrize(
    ("module", "workload"),
    [
        ("lab.evaluation", WorkloadType.INFERENCE),
        ("lab.evaluate", WorkloadType.INFERENCE),
        ("lab.evaluation.train", WorkloadType.TRAINING),
        ("lab.evaluation_finetune", WorkloadType.TRAINING),
    ],
)
def test_a_module_that_evaluates_trains_nothing_though_it_is_started_on_cards(
    checkout: Build, module: str, workload: WorkloadType
) -> None:
    line = f"torchrun --nproc_per_node=1 -m {module} --model_name meta-llama/Llama-3.1-8B-Instruct --batch_size 16"
    tree = checkout({"README.md": f"# Judge\n```\n{line}\n```\n"})
    assert analyze(tree).spec.meta.workload_type is workload
