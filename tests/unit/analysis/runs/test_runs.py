from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import pytest

from gpu_lol_action.analysis.files.checkout import Checkout
from gpu_lol_action.analysis.programs.behavior import Behavior
from gpu_lol_action.analysis.runs.runs import MAX_RUNS, all_runs, primary_run

Build = Callable[[Mapping[str, str]], Checkout]
TRAIN = "import torch\nif __name__ == '__main__':\n    loss.cuda().backward()\n"
INFER = "import torch\nif __name__ == '__main__':\n    model.cuda().generate(x)\n"
LAUNCHES_NOTHING = "import click\nif __name__ == '__main__':\n    click.echo('x')\n"
SFT = "base_model: a/b-7b\nadapter: lora\nlearning_rate: 1e-4\n"


def first(tree: Checkout) -> tuple[str, str]:
    run = primary_run(tree)
    assert run is not None
    return run.shown, str(run.evidence)


@pytest.mark.parametrize(
    ("first", "line"),
    [
        ("python -m seg verify_dataset --n 5", 4),
        ("python -m seg visualize-images a", 4),
        ("python -m seg preprocess", 4),
        # A verb for something else, and a file that a program takes, are no look at data.
        ("python -m seg train_dataset --n 5", 2),
        ("python -m seg prepare data/a.yaml", 2),
    ],
)
def test_a_sub_command_on_data_comes_before_the_work(checkout: Build, first: str, line: int) -> None:
    tree = checkout({"README.md": f"```\n{first}\n\npython -m seg train --n 5\n```\n", "seg/__main__.py": TRAIN})
    run = primary_run(tree)
    assert run is not None
    assert str(run.evidence) == f"README.md:{line}"


@pytest.mark.parametrize(
    ("script", "line"),
    [
        (
            'h="torchrun --nproc_per_node=4 train.py "\na=(\n  --lr 1\n)\necho command: echo "$h ${a[@]}"\n$h ${a[@]} 2>&1 | tee log\n',
            6,
        ),
        ('h="torchrun train.py"\necho run: echo "$h --lr 1"\n$h --lr 1\n', 3),
    ],
)
def test_what_a_script_prints_before_it_runs_it_is_no_command(checkout: Build, script: str, line: int) -> None:
    runs = all_runs(checkout({"train.sh": script, "train.py": TRAIN}))
    assert [str(run.evidence) for run in runs] == [f"train.sh:{line}"]


@pytest.mark.parametrize(
    ("files", "shown"),
    [
        # Training before inference on one level, wherever they stand in the document.
        ({"README.md": "```\npython sample.py\npython train.py\n```\n", "train.py": TRAIN, "sample.py": INFER}, "python train.py"),
        # Preparation, evaluation and conversion come last, though they train or infer.
        ({"a.sh": "python svd_precompute.py --lr 1\n", "c.sh": "python train.py\n", "svd_precompute.py": TRAIN, "train.py": TRAIN}, "python train.py"),
        ({"README.md": "```\npython prepare_data.py\npython eval.py\npython sample.py\n```\n", "prepare_data.py": TRAIN, "eval.py": INFER, "sample.py": INFER}, "python sample.py"),
        ({"README.md": "```\npython train.py --eval --resume x\npython train.py\n```\n", "train.py": TRAIN}, "python train.py"),
        # What tries a pretrained model is not the training, nor is a probe of what was learned.
        ({"onnx_pretrained.py": TRAIN, "train.py": TRAIN}, "train.py"),
        ({"main_linprobe.py": TRAIN, "main_pretrain.py": TRAIN}, "main_pretrain.py"),
        # A sub-project's training is an aside.
        ({"README.md": "```\npython demo.py\npython tuning_kit/train.py\n```\n", "demo.py": INFER, "tuning_kit/train.py": TRAIN}, "python demo.py"),
        # But no training over several cards that the README itself tells of is one.
        ({"README.md": "```\npython demo.py\ntorchrun --nproc_per_node 8 tuning_kit/train.py\n```\n", "demo.py": INFER, "tuning_kit/train.py": TRAIN}, "torchrun train.py"),
        # What a training is done on, its name says behind it; one that opens with another word is a step beside.
        ({"README.md": "```\npython transcribe.py\ntorchrun --nproc_per_node 4 train/fine-tune_on_hf_dataset.py\n```\n", "transcribe.py": INFER, "train/fine-tune_on_hf_dataset.py": TRAIN}, "torchrun fine-tune_on_hf_dataset.py"),
        ({"train_with_validation.py": TRAIN, "infer.py": INFER}, "train_with_validation.py"),
        ({"dataset_from_training.py": TRAIN, "evaluate_with_train_split.py": TRAIN, "infer.py": INFER}, "infer.py"),
        # A training that evaluates as well is one; an evaluation is a step beside.
        ({"README.md": "```\npython demo.py\npython train.py --do_eval\n```\n", "demo.py": INFER, "train.py": TRAIN}, "python train.py"),
        ({"README.md": "```\npython demo.py\npython run_all.py --do_eval\n```\n", "demo.py": INFER, "run_all.py": TRAIN}, "python demo.py"),
        # What shows somebody's trouble is not what the repository is for.
        ({"repro_issue_12.py": TRAIN, "tune.py": TRAIN}, "tune.py"),
        # A sub-project's script does not win over a program at the root, where no document speaks.
        ({"demo.py": INFER, "tuning_kit/run.sh": "python train.py\n", "tuning_kit/train.py": TRAIN}, "demo.py"),
        # The README before other documents.
        ({"README.md": "```\npython demo.py\n```\n", "TRAINING.md": "```\npython train.py\n```\n", "demo.py": INFER, "train.py": TRAIN}, "python demo.py"),
        # Variants for a CPU, another accelerator, or trying out.
        ({"README.md": "```\npython train.py --device=cpu\ntorchrun --nproc_per_node=2 train.py\n```\n", "train.py": TRAIN}, "torchrun train.py"),
        ({"README.md": "## On a TPU\n```\npython tpu.py\n```\n## On a machine\n```\npython train.py\n```\n", "tpu.py": TRAIN, "train.py": TRAIN}, "python train.py"),
        ({"run_debug.sh": "python train.py --x\n", "run_full.sh": "torchrun --nproc_per_node=4 train.py\n", "train.py": TRAIN}, "torchrun train.py"),
        # A section on reproducing results names the main run.
        ({"README.md": "# Quick start\n```\npython train.py\n```\n# Reproducing the results\n```\ntorchrun --nproc_per_node=8 train.py\n```\n", "train.py": TRAIN}, "torchrun train.py"),
        # A placeholder, or another project's file, is no run of this one.
        ({"README.md": "```\ntorchrun --nproc_per_node 8 your_script.py\naccelerate launch elsewhere.py\n```\n", "train.py": TRAIN}, "train.py"),
        # What an image serves is not what the repository is for.
        ({"Dockerfile": 'FROM a\nCMD ["python", "generate.py"]\n', "finetune.py": TRAIN, "generate.py": INFER}, "finetune.py"),
        # A launcher of the repository's own is told what to start.
        ({"README.md": "```\npython start.py train.py -c x\n```\n", "start.py": LAUNCHES_NOTHING, "train.py": TRAIN}, "python start.py"),
        # A family of programs by a variable.
        ({"go.sh": "for T in $NAMES; do\naccelerate launch src/lab/$T.py\ndone\n", "src/lab/sft.py": TRAIN, "src/lab/view.py": LAUNCHES_NOTHING}, "accelerate $T.py"),
        ({"go.sh": "for T in sft; do\naccelerate launch src/lab/$T.py\ndone\n", "src/lab/sft.py": TRAIN, "src/lab/view.py": LAUNCHES_NOTHING}, "accelerate sft.py"),
        # Code at the root without a guard is started; what others import is not.
        ({"helper.py": "import torch\nloss.backward()\n", "work.py": "import torch\nimport helper\nmodel.cuda().generate(x)\n"}, "work.py"),
        # A program that hands another to a cluster is the one that is started.
        ({"main_train.py": TRAIN, "submit_train.py": "import submitit\nimport main_train\nif __name__ == '__main__':\n    main_train.main()\n"}, "submit_train.py"),
        # Sub-commands, and packages whose name means nothing.
        ({"README.md": "```\npython main.py generate\npython main.py train\n```\n", "main.py": TRAIN + "    model.generate(x)\n"}, "python main.py"),
        ({"sft.yaml": SFT, "README.md": "```\naccelerate launch -m axolotl.cli.train sft.yaml\n```\n"}, "accelerate axolotl.cli.train"),
        ({"tools/train.py": TRAIN, "tools/dist_train.sh": 'python -m torch.distributed.launch --nproc_per_node=$2 $(dirname "$0")/train.py $1\n'}, "torchrun train.py"),
        ({"README.md": "```\nmodal run train.py::main\n```\n", "train.py": TRAIN}, "python train.py"),
        # Of several packages the one with the project's name is its own, and no folder below.
        ({"pyproject.toml": '[project]\nname = "Lab-Net"\n', "lab_net/__init__.py": "", "lab_net/train.py": TRAIN, "data/__init__.py": "", "scripts/look.py": INFER}, "lab_net/train.py"),
        ({"setup.py": "from setuptools import setup\nsetup(name='lab_net')\n", "lab_net/__init__.py": "", "lab_net/train.py": TRAIN, "data/__init__.py": "", "scripts/look.py": INFER}, "lab_net/train.py"),
        ({"pyproject.toml": '[project]\nname = "other"\n', "lab_net/__init__.py": "", "lab_net/train.py": TRAIN, "data/__init__.py": "", "scripts/look.py": INFER}, "scripts/look.py"),
        # Configuration alone: the file that names a model.
        ({"a_zero.json": '{"optimizer": {"lr": 1}, "train_micro_batch_size_per_gpu": 1}', "sft.yaml": SFT}, "sft.yaml"),
        ({"faster_8xb2.py": "_base_ = ['a.py']\nmodel = dict(type='X')\noptim_wrapper = dict(type='Y')\n"}, "faster_8xb2.py"),
    ],
)  # fmt: skip
def test_the_default_run_follows_the_stated_rules(checkout: Build, files: dict[str, str], shown: str) -> None:
    assert first(checkout(files))[0] == shown


def test_nothing_to_start_is_no_run(checkout: Build) -> None:
    assert all_runs(checkout({"README.md": "# Notes\n", "a.py": "import click\n"})) == ()


def test_a_sub_command_says_what_is_done(checkout: Build) -> None:
    both = TRAIN + "    model.generate(x)\n"
    runs = all_runs(checkout({"README.md": "```\npython main.py generate\n```\n", "main.py": both}))
    assert [run.behavior for run in runs] == [Behavior.INFERS]


def test_a_simulation_that_mpi_starts_is_no_run(checkout: Build) -> None:
    files = {"README.md": "```\nmpirun -np 8 python simulate.py\n```\n", "simulate.py": "import numpy, mpi4py\n"}
    assert all_runs(checkout(files)) == ()


def test_a_configuration_of_the_command_line_is_the_runs(checkout: Build) -> None:
    files = {
        "README.md": "```\npython train.py config/big.py\npython fit.py model=large\n```\n",
        "train.py": TRAIN,
        "config/big.py": "n_layer = 12\n",
        "fit.py": "import hydra\nimport torch\n@hydra.main(config_path='conf', config_name='base')\ndef main(c): loss.backward()\nif __name__ == '__main__':\n    main()\n",
        "conf/base.yaml": "trainer:\n  devices: 4\n",
        "data/train.json": "{}",
    }
    found = {run.name: [source.path for source in run.configs] for run in all_runs(checkout(files))}
    assert found == {"train": ["config/big.py"], "fit": ["conf/base.yaml"]}


def test_data_is_no_configuration(checkout: Build) -> None:
    files = {"README.md": "```\npython train.py --data_path d.json --config c.json\n```\n", "train.py": TRAIN, "d.json": '{"a": 1}', "c.json": '{"b": 2}'}  # fmt: skip
    run = primary_run(checkout(files))
    assert run is not None
    assert [source.path for source in run.configs] == ["c.json"]


def test_others_are_ranked_once_per_program_and_configuration(checkout: Build) -> None:
    readme = "```\npython train.py\npython train.py --lr 2\ntorchrun --nproc_per_node=4 train.py\npython sample.py\npython eval.py\npython train.py --device cpu\n```\n"
    tree = checkout({"README.md": readme, "train.py": TRAIN, "sample.py": INFER, "eval.py": INFER, "deep/er/still.py": TRAIN})  # fmt: skip
    runs = all_runs(tree)
    assert [(run.name, run.behavior) for run in runs] == [
        ("train", Behavior.TRAINS),
        ("train-4gpu", Behavior.TRAINS),
        ("sample", Behavior.INFERS),
    ]
    assert "first" in runs[0].reason
    assert runs[2].reason == "a documented command that runs a model"


def test_names_are_profile_names_and_unlike_each_other(checkout: Build) -> None:
    commands = "\n".join(f"python part_{number}/Main.py" for number in range(20))
    files = {f"part_{number}/Main.py": TRAIN for number in range(20)}
    runs = all_runs(checkout({"README.md": f"```\n{commands}\n```\n", **files}))
    names = [run.name for run in runs]
    assert len(names) == MAX_RUNS
    assert len(set(names)) == MAX_RUNS
    assert all(re.fullmatch(r"[a-z0-9](?:[a-z0-9-]{0,30}[a-z0-9])?", name) for name in names)


@contextlib.contextmanager
def _backwards(folder: Path) -> Iterator[list[os.DirEntry[str]]]:
    with _SCAN(folder) as found:
        yield sorted(found, key=lambda entry: entry.name, reverse=True)


_SCAN = os.scandir


def test_the_order_of_a_directory_changes_nothing(checkout: Build, monkeypatch: pytest.MonkeyPatch) -> None:
    files = {f"{name}.py": TRAIN for name in ("c", "a", "b")} | {"z.sh": "python b.py\n", "y.sh": "python a.py\n"}
    forward = [(run.name, str(run.evidence)) for run in all_runs(checkout(files))]
    monkeypatch.setattr(os, "scandir", _backwards)
    backward = [(run.name, str(run.evidence)) for run in all_runs(checkout(files))]
    assert forward == backward
    assert forward[0] == ("a", "y.sh:1")


def test_folder_of_configurations_for_chatting_infers(checkout: Build) -> None:
    run = primary_run(
        checkout({"qwen.yaml": "model_name_or_path: Qwen/Qwen3-4B\ntemplate: qwen3\ninfer_backend: huggingface\n"})
    )
    assert run is not None
    assert run.behavior is Behavior.INFERS


PUBLISHED = """# DeepThing
## How to use
```python
from transformers import AutoModelForCausalLM
model = AutoModelForCausalLM.from_pretrained("deep/thing-7b", torch_dtype="auto")
print(model.generate())
```
"""


@pytest.mark.parametrize(
    ("folder", "heading", "behavior"),
    [("finetune/finetune.py", "Fine-tune it", Behavior.INFERS), ("train.py", "Training", Behavior.TRAINS)],
)
def test_a_readme_that_shows_published_weights_before_it_tells_how_to_tune_them(checkout, folder, heading, behavior):
    readme = PUBLISHED + f"## {heading}\n```bash\npython {folder} --lr 1e-5\n```\n"
    first = primary_run(checkout({"README.md": readme, folder: TRAIN}))
    assert first.behavior is behavior
    assert first.reason.endswith("what the README opens with") is (behavior is Behavior.INFERS)


def test_tuning_that_is_told_before_the_weights_are_shown_at_work_stays_first(checkout):
    readme = "# M\n```bash\npython finetune.py --lr 1e-5\n```\n" + PUBLISHED
    assert primary_run(checkout({"README.md": readme, "finetune.py": TRAIN})).behavior is Behavior.TRAINS


def test_who_imports_a_trainer_trains_whatever_else_it_does(checkout):
    menu = "import torch\nimport trainer\nif __name__ == '__main__':\n    torch.load('w.pt').cuda().generate(1)\n"
    files = {"main.py": menu, "trainer.py": "import torch\ndef step(loss):\n    loss.backward()\n"}
    assert primary_run(checkout(files)).behavior is Behavior.TRAINS
    assert primary_run(checkout({"main.py": menu, "trainer.py": "import torch\n"})).behavior is Behavior.INFERS


STARTER = """import subprocess
import torch
from diffusers import StableDiffusionPipeline
class Config:
    steps: int = 600
def train(images):
    config = Config()
    subprocess.run(["accelerate", "launch", "examples/train_dreambooth.py", f"--instance_data_dir={images}", f"--max_train_steps={config.steps}"])
def show():
    return StableDiffusionPipeline.from_pretrained("org/model").to("cuda")("a dog")
if __name__ == '__main__':
    train('x')
"""


def test_a_program_that_starts_another_project_s_training_trains(checkout):
    first = primary_run(checkout({"app.py": STARTER}))
    assert first.behavior is Behavior.TRAINS
    assert first.shown == "accelerate train_dreambooth.py"


@pytest.mark.parametrize(
    ("title", "behavior"),
    [
        ("Fine-tuning of a diffusion model", Behavior.TRAINS),
        ("A diffusion model", Behavior.INFERS),
        ("Fine-tuning and inference", Behavior.INFERS),
        ("Adapter: Efficient Fine-tuning of a model", Behavior.INFERS),
    ],
)
def test_what_a_document_on_training_runs_shows_what_came_out_of_it(checkout, title, behavior):
    readme = f"# {title}\n```\npython generate.py --steps 20\n```\n"
    files = {"README.md": readme, "generate.py": INFER, "train.py": TRAIN, "run.sh": "python train.py --lr 1\n"}
    assert primary_run(checkout(files)).behavior is behavior


def test_a_page_that_puts_together_the_command_of_a_training_trains(checkout):
    page = "import gradio as gr\nimport launching\nif __name__ == '__main__':\n    gr.Interface(launching.start).launch()\n"
    starts = "import torch\ndef start():\n    return ['accelerate', 'launch', f'{here}/sd-scripts/train_network.py']\n"
    captions = "import torch\ndef start():\n    return torch.load('w.pt').cuda().generate(1)\n"
    assert primary_run(checkout({"app.py": page, "launching.py": starts})).behavior is Behavior.TRAINS
    assert primary_run(checkout({"app.py": page, "launching.py": captions})).behavior is Behavior.INFERS


def test_a_demo_beside_a_folder_of_tuning_is_what_a_published_model_is_for(checkout):
    files = {
        "basic_demo/README.md": "# Demo\n```\npython cli_demo.py --bf16\n```\n",
        "basic_demo/cli_demo.py": INFER,
        "finetune_demo/README.md": "# Fine-tuning\n```\npython peft_lora.py --lr 1\n```\n",
        "finetune_demo/peft_lora.py": TRAIN,
    }
    assert primary_run(checkout(files)).behavior is Behavior.INFERS


def test_a_demo_beside_a_folder_that_trains_from_nothing_stays_behind(checkout):
    files = {
        "demo/README.md": "# Demo\n```\npython cli_demo.py --bf16\n```\n",
        "demo/cli_demo.py": INFER,
        "gan/README.md": "# GAN\n```\npython gan.py --lr 1\n```\n",
        "gan/gan.py": TRAIN,
    }
    assert primary_run(checkout(files)).behavior is Behavior.TRAINS


def test_a_page_over_modules_that_could_train_shows_a_model(checkout):
    files = {
        "launch.py": "import webui\nif __name__ == '__main__':\n    webui.start()\n",
        "webui.py": "import gradio as gr\nimport torch\nimport inversion\ndef start():\n    gr.Blocks().launch()\n",
        "inversion.py": "import torch\ndef work(loss):\n    loss.cuda().backward()\n",
    }
    assert primary_run(checkout(files)).behavior is Behavior.INFERS
    files["launch.py"] = files["launch.py"].replace("webui", "plain")
    files["plain.py"] = (
        files.pop("webui.py").replace("import gradio as gr\n", "").replace("gr.Blocks().launch()", "inversion.work(1)")
    )
    assert primary_run(checkout(files)).behavior is Behavior.TRAINS


@pytest.mark.parametrize("left_open", ["<CONFIG_FILE>", "<config>", "${CONFIG}", "$CFG_FILE"])
def test_a_command_that_leaves_the_configuration_open_is_the_form_of_those_below_it(
    checkout: Build, left_open: str
) -> None:
    readme = f"# Training\n```\npython train.py {left_open}\n```\nFor example:\n```\ntorchrun --nproc_per_node 8 train.py a.yaml\n```\n"
    assert first(checkout({"README.md": readme, "train.py": TRAIN, "a.yaml": "lr: 1\n"}))[1] == "README.md:7"


def test_an_open_configuration_makes_training_no_less_than_inference(checkout: Build) -> None:
    readme = "# Training\n```\npython train.py <CONFIG_FILE>\n```\n# Testing it\n```\npython infer.py a.yaml\n```\n"
    files = {"README.md": readme, "train.py": TRAIN, "infer.py": INFER, "a.yaml": "lr: 1\n"}
    assert first(checkout(files))[0] == "python train.py"


def test_a_server_that_is_told_of_first_sets_no_program_back(checkout: Build) -> None:
    """A tool lies nowhere: the program that trains is not deeper than it."""
    readme = "# Try it\n```\nvllm serve /path/to/your/model\n```\n# Training\n```\npython agent/train.py\n```\n"
    files = {"README.md": readme, "agent/train.py": TRAIN, "other/__init__.py": "", "agent/__init__.py": ""}
    assert first(checkout(files))[0] == "python train.py"


@pytest.mark.parametrize(
    ("verb", "does"),
    [
        ("train-sft", Behavior.TRAINS),
        ("fine_tune", Behavior.TRAINS),
        ("train-tokenizer", Behavior.INFERS),
        ("server", Behavior.INFERS),
    ],
)
def test_a_sub_command_that_trains_says_so(checkout: Build, verb: str, does: Behavior) -> None:
    files = {
        "README.md": f"```\nmine {verb}\n```\n",
        "pyproject.toml": "[project]\nname = 'mine'\n[project.scripts]\nmine = 'mine.cli:main'\n",
        "mine/__init__.py": "",
        "mine/cli.py": "import torch\ndef main():\n    model.cuda().generate(x)\n",
    }
    run = primary_run(checkout(files))
    assert run is not None
    assert run.behavior is does


@pytest.mark.parametrize("name", ["convert2hf", "ckpt2hf", "convert_to_hf", "converter"])
def test_what_turns_weights_into_another_form_is_a_step_beside(checkout: Build, name: str) -> None:
    code = "import torch\nfrom transformers import AutoModelForCausalLM\nmodel = AutoModelForCausalLM.from_pretrained('gpt2')\nmodel.generate(x)\n"
    tree = checkout({f"{name}.py": code, "zz_chat.py": code})
    script = primary_run(tree).script
    assert script is not None
    assert script.path == "zz_chat.py"


def test_a_page_below_takes_nothing_from_the_script_that_it_tells_of(checkout: Build) -> None:
    train = "import torch\nloss.backward()\noptimizer.step()\n"
    files = {
        "train.py": train,
        "a/run.sh": "torchrun --nproc_per_node 4 train.py --small 1\n",
        "net/full/train.sh": "torchrun --nproc_per_node 8 train.py\n",
        "net/README.md": "# Net\n## Training\n```\nbash net/full/train.sh\n```\n",
    }
    run = primary_run(checkout(files))
    assert run is not None
    assert run.evidence.path == "net/full/train.sh"


@pytest.mark.parametrize(
    ("more", "shown"),
    [("", "torchrun train.py"), ("```\ntorchrun --nproc_per_node 8 small.py\n```\n", "torchrun small.py")],
)
def test_several_machines_are_a_variant_of_another_training_alone(checkout: Build, more: str, shown: str) -> None:
    text = (
        "# Training\n```\ntorchrun --nnodes 4 --nproc_per_node 8 train.py\n```\n# Inference\n```\npython ask.py\n```\n"
    )
    tree = checkout({"README.md": text + more, "train.py": TRAIN, "small.py": TRAIN, "ask.py": INFER})
    assert first(tree)[0] == shown


def test_a_model_that_is_run_before_is_what_the_document_shows(checkout: Build) -> None:
    text = (
        "# Inference\n```\npython ask.py\n```\n# Training\n```\ntorchrun --nnodes 4 --nproc_per_node 8 train.py\n```\n"
    )
    tree = checkout({"README.md": text, "train.py": TRAIN, "ask.py": INFER})
    assert first(tree)[0] == "python ask.py"


CODE = "```python\nfrom transformers import pipeline\npipe = pipeline('text-generation', 'a/b-7b', device='cuda')\npipe.generate(x)\n```\n"


@pytest.mark.parametrize(("between", "runs"), [(1, 1), (40, 2)])
def test_code_beside_the_command_is_another_way_to_the_same(checkout: Build, between: int, runs: int) -> None:
    tree = {"README.md": "```\npython demo.py\n```\n" + "Words.\n" * between + CODE, "demo.py": INFER}
    found = all_runs(checkout(tree))
    assert (found[0].shown, len(found)) == ("python demo.py", runs)
