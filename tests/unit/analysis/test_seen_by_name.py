"""What a program or a command does where only names and options tell: the library that computes lies elsewhere."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import pytest

from gpu_lol_action.analysis.answer.assemble import analyze
from gpu_lol_action.analysis.files.checkout import Checkout
from gpu_lol_action.analysis.programs.behavior import Behavior
from gpu_lol_action.analysis.runs.program_behavior import program_behavior
from gpu_lol_action.analysis.runs.runs import primary_run

Build = Callable[[Mapping[str, str]], Checkout]
MAIN = "if __name__ == '__main__':\n    main()\n"
WORKERS = "import torch\nclass Worker:\n    def update(self, loss):\n        loss.backward()\n"
USES = f"import workers\ndef main():\n    workers.Worker()\n{MAIN}"
BUILDS = (
    f"import torch\nfrom lab import FluxTrainer\ndef main():\n    trainer = FluxTrainer(1)\n    show(trainer)\n{MAIN}"
)


def behavior(checkout: Build, path: str, files: Mapping[str, str]) -> Behavior:
    tree = checkout(files)
    source = tree.find(path)
    assert source is not None
    return program_behavior(tree, source)


@pytest.mark.parametrize(
    ("path", "text", "expected"),
    [
        # It loads the workers that a training has as well.
        ("main_generation.py", USES, Behavior.INFERS),
        ("main_ppo.py", USES, Behavior.TRAINS),
        # What a package's main module does is said by the package's name.
        ("some_eval/__main__.py", USES, Behavior.INFERS),
        ("some_lab/__main__.py", USES, Behavior.TRAINS),
        ("some_cli/__main__.py", USES, Behavior.TRAINS),
        # A trainer only holds the network where nothing tells it to train.
        ("infer.py", BUILDS, Behavior.INFERS),
        ("start.py", BUILDS, Behavior.TRAINS),
        ("infer.py", BUILDS.replace("show(trainer)", "trainer.fit(1)"), Behavior.TRAINS),
        ("infer_train.py", BUILDS, Behavior.TRAINS),
        ("average_checkpoints.py", BUILDS, Behavior.INFERS),
        ("quantize_to_nf4.py", BUILDS.replace("show(trainer)", "optimizer.step()"), Behavior.TRAINS),
        ("convert_weights.py", f"import deepspeed\ndef main():\n    deepspeed.initialize(model=1)\n{MAIN}", Behavior.INFERS),
    ],
)  # fmt: skip
def test_a_program_named_for_using_a_model_only_builds_what_could_train(
    checkout: Build, path: str, text: str, expected: Behavior
) -> None:
    assert behavior(checkout, path, {path: text, "workers.py": WORKERS}) is expected


@pytest.mark.parametrize(
    ("option", "expected"),
    [("--max_new_tokens", Behavior.INFERS), ("--num_inference_steps", Behavior.INFERS), ("--rows", Behavior.NEITHER)],
)
def test_options_of_writing_and_drawing_tell_of_inference(checkout: Build, option: str, expected: Behavior) -> None:
    text = f"import torch, argparse\ndef main():\n    p = argparse.ArgumentParser()\n    p.add_argument('{option}', type=int, default=8)\n    write_text_simple_cached(p.parse_args())\n{MAIN}"
    assert behavior(checkout, "gpt.py", {"gpt.py": text}) is expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("from some_lab import run_it\nrun_it(device='cuda:0')\n", Behavior.INFERS),
        ('from some_lab import run_it\nrun_it(device="cuda")\n', Behavior.INFERS),
        ("from some_lab import run_it\nrun_it(device='cpu')\n", Behavior.NEITHER),
        ("from some_lab import run_it\nrun_it(other_device='cuda')\n", Behavior.NEITHER),
        ("import xgboost\nxgboost.plot(device='cuda')\n", Behavior.NEITHER),
    ],
)
def test_who_has_an_unknown_library_compute_on_a_card_infers(checkout: Build, text: str, expected: Behavior) -> None:
    assert behavior(checkout, "show.py", {"show.py": text}) is expected


ASKS = f"import torch\ndef main():\n    net.generate(1)\n{MAIN}"


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ("actor.optim.lr=1e-6 data.path=x", Behavior.TRAINS),
        ("--learning_rate 1e-5", Behavior.TRAINS),
        ("--batch_size 4", Behavior.INFERS),
        ("--mode predict --lr 1", Behavior.INFERS),
        ("optim.lr_scale=2", Behavior.INFERS),
    ],
)
def test_a_command_with_a_learning_rate_trains_whatever_its_program_shows(
    checkout: Build, options: str, expected: Behavior
) -> None:
    run = primary_run(checkout({"README.md": f"```\npython go.py {options}\n```\n", "go.py": ASKS}))
    assert run is not None
    assert run.behavior is expected
    # A picture is optimized with a rate, too.
    run = primary_run(checkout({"README.md": f"```\npython generate.py {options}\n```\n", "generate.py": ASKS}))
    assert run is not None
    assert run.behavior is Behavior.INFERS


CONVERTS = f"import torch\nfrom lab import load\ndef main():\n    load().generate(1)\n{MAIN}"
TRAINS_ELSEWHERE = "```\ntorchrun --nproc_per_node 8 lab/pretrain_gpt.py --num-layers 2\npython step.py\n```\n"


@pytest.mark.parametrize(
    ("files", "shown"),
    [
        ({"01_convert_from_hf.py": CONVERTS, "03_convert_to_hf.py": CONVERTS}, "torchrun pretrain_gpt.py"),
        ({"merge.py": CONVERTS}, "torchrun pretrain_gpt.py"),
        # A program of its own is what the checkout is for; another project's is not here.
        ({"converter_net.py": CONVERTS, "chat.py": CONVERTS}, "chat.py"),
        ({"converse.py": CONVERTS}, "converse.py"),
    ],
)
def test_a_training_of_the_larger_tree_counts_where_only_steps_beside_it_are_here(
    checkout: Build, files: dict[str, str], shown: str
) -> None:
    run = primary_run(checkout({"README.md": TRAINS_ELSEWHERE, **files}))
    assert run is not None
    assert run.shown == shown


@pytest.mark.parametrize(
    ("command", "shown"),
    [
        ("fairseq-train data/CommonsenseQA --arch roberta_large --lr 1", "fairseq-train CommonsenseQA"),
        ("fairseq-train data-bin --arch transformer --lr 1", "fairseq-train data-bin"),
        ("axolotl preprocess my.yml --debug", None),
    ],
)
def test_the_data_of_a_tool_are_no_step_beside_its_work(checkout: Build, command: str, shown: str | None) -> None:
    files = {"README.md": f"```\n{command}\n```\n", "serve.py": ASKS}
    run = primary_run(checkout(files))
    assert run is not None
    assert run.shown == (shown or "serve.py")


def test_a_module_is_found_by_the_name_of_the_folder_in_its_larger_tree(checkout: Build) -> None:
    policy = "import tensorflow as tf\ndef learn(env, max_timesteps):\n    tf.train.AdamOptimizer().minimize(1)\n"
    run_atari = f"from lab.ppo1 import policy\nfrom lab.ppo1 import nets\ndef main():\n    policy.learn(1, max_timesteps=9)\n{MAIN}"
    files = {
        "README.md": "`python -m lab.ppo1.run_atari --seed 1` runs it\n",
        "policy.py": policy,
        "nets.py": "import tensorflow\n",
        "run_atari.py": run_atari,
    }
    run = primary_run(checkout(files))
    assert run is not None
    assert run.script is not None
    assert (run.script.path, run.behavior) == ("run_atari.py", Behavior.TRAINS)


PAIRS = f"import torch\ndef main():\n    torch.cdist(x.cuda(), y.cuda())\n{MAIN}"


@pytest.mark.parametrize(
    ("name", "text", "shown"),
    [
        ("evaluate_rerank.py", PAIRS, "python evaluate_rerank.py"),
        ("run.py", PAIRS, "python run.py"),
        # Conversion and preparation are steps beside a work that is elsewhere.
        ("convert_weights.py", PAIRS, None),
        ("run.py", PAIRS.replace(".cuda()", ""), None),
        ("run.py", PAIRS.replace("import torch", "import lab"), None),
    ],
)
def test_what_a_document_starts_on_a_card_is_the_run_where_nothing_trains_or_infers(
    checkout: Build, name: str, text: str, shown: str | None
) -> None:
    run = primary_run(checkout({"README.md": f"```\npython {name} --rows 5\n```\n", name: text}))
    assert (run.shown if run is not None else None) == shown


def test_what_infers_goes_before_what_only_computes_on_a_card(checkout: Build) -> None:
    files = {"README.md": "```\npython run.py --rows 5\n```\n", "run.py": PAIRS, "chat.py": CONVERTS}
    run = primary_run(checkout(files))
    assert run is not None
    assert run.shown == "chat.py"


@pytest.mark.parametrize(
    ("target", "is_started"),
    [("$LAB/src/sft/train.py", True), ("$LAB/train.py", False), ("$LAB/src/your-model/*.py", False)],
)
def test_a_launcher_starts_a_program_of_a_clone_whose_place_is_left_open(
    checkout: Build, target: str, is_started: bool
) -> None:
    files = {
        "README.md": "```\nLAB=/path/to/lab sbatch train.sh\n```\n",
        "train.sh": f"torchrun --nproc_per_node 8 {target} --lr 1\n",
    }
    assert (primary_run(checkout(files)) is not None) is is_started


def test_a_package_that_evaluates_does_its_work_in_a_section_on_evaluation(checkout: Build) -> None:
    text = "## Multi-GPU Evaluation\n\n```\naccelerate launch -m some_eval --model a\n```\n"
    files = {"README.md": text, "some_eval/__main__.py": USES, "workers.py": WORKERS, "scripts/cost.py": USES}
    run = primary_run(checkout(files))
    assert run is not None
    assert (run.shown, run.behavior) == ("accelerate some_eval", Behavior.INFERS)


PREPARES = (
    f"import detectron2\nimport torch\nfrom lab.data import catalog\ndef main():\n    torch.save(catalog, 'x')\n{MAIN}"
)


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        ({"prepare_panoptic.py": PREPARES, "convert_weights.py": PREPARES}, "cpu-only"),
        ({"prepare_panoptic.py": PREPARES, "nets.py": "import detectron2\n"}, "interactive"),
        ({"prepare_panoptic.py": PREPARES.replace("'x'", "'x').cuda('cuda:0'")}, "interactive"),
    ],
)
def test_a_folder_of_preparations_that_name_no_card_needs_none(
    checkout: Build, files: dict[str, str], expected: str
) -> None:
    assert analyze(checkout(files)).spec.meta.workload_type.value == expected


@pytest.mark.parametrize(
    ("line", "shown", "behavior_wanted"),
    [
        ("parlai train_model -t blended -m transformer/generator", "parlai train_model", Behavior.TRAINS),
        ("parlai interactive -mf zoo:blender/model", "parlai interactive", Behavior.INFERS),
        ("trtllm-serve meta/llama --port 8000", "trtllm-serve meta/llama", Behavior.INFERS),
        ("lerobot-train --policy.path=x --steps=5 --output_dir=y", "lerobot-train", Behavior.TRAINS),
        ("parlai display_data -t blended", None, None),
    ],
)
def test_commands_of_libraries_train_or_infer(
    checkout: Build, line: str, shown: str | None, behavior_wanted: Behavior | None
) -> None:
    run = primary_run(checkout({"README.md": f"```\n{line}\n```\n", "agents.py": "import torch\n"}))
    assert (run.command.target if run is not None and run.command else None) == shown
    assert (run.behavior if run is not None else None) is behavior_wanted


@pytest.mark.parametrize(("script", "expected"), [("prompt_gen.sh", Behavior.INFERS), ("run.sh", Behavior.TRAINS)])
def test_the_script_around_a_launcher_says_what_its_unknown_program_does(
    checkout: Build, script: str, expected: Behavior
) -> None:
    run = primary_run(checkout({script: "python -m torch.distributed.launch --nproc_per_node 8 tasks/main.py --a\n"}))
    assert run is not None
    assert run.behavior is expected


def test_a_training_of_the_larger_tree_counts_where_the_programs_here_compute_nothing(checkout: Build) -> None:
    files = {
        "run.sh": "torchrun --nproc_per_node 2 lab/bin/train.py --config a\n",
        "local/extract_meta.py": "import json\n",
    }
    run = primary_run(checkout(files))
    assert run is not None
    assert run.shown == "torchrun train.py"


@pytest.mark.parametrize(
    ("words", "shown"),
    [
        ("$(which fairseq-train) --user-dir ./lab --arch a --lr 1", "torchrun fairseq-train"),
        ("`which fairseq-train` data --user-dir ./lab --arch a --lr 1", "torchrun fairseq-train"),
        ("$(which nobody) --user-dir ./lab --arch a --lr 1", None),
    ],
)
def test_a_launcher_starts_a_tool_where_the_shell_finds_it(checkout: Build, words: str, shown: str | None) -> None:
    files = {
        "train.sh": f"python -m torch.distributed.launch --nproc_per_node=$N {words}\n",
        "nets.py": "import torch\n",
    }
    run = primary_run(checkout(files))
    assert (run.shown if run is not None else None) == shown


def test_an_evaluation_harness_is_the_run_where_nothing_else_is(checkout: Build) -> None:
    line = "lm_eval --model vllm --model_args pretrained=meta-llama/Llama-3.1-8B --tasks gsm8k --batch_size 4"
    run = primary_run(checkout({"README.md": f"```\n{line}\n```\n", "prepare.py": "import json\n"}))
    assert run is not None
    assert (run.shown, run.behavior) == ("lm_eval", Behavior.INFERS)
    files = {
        "README.md": f"```\n{line}\npython train.py --lr 1\n```\n",
        "train.py": f"import torch\n{MAIN}loss.backward()\n",
    }
    run = primary_run(checkout(files))
    assert run is not None
    assert run.shown == "python train.py"


LEARNS = f"import torch\nimport common\ndef main():\n    loss.backward()\n{MAIN}"


def test_a_measurement_that_a_document_tells_of_goes_before_modules_that_are_only_imported(checkout: Build) -> None:
    common = "import torch\ndef step(loss):\n    loss.backward()\n"
    files = {"README.md": "```\npython training_benchmark.py --rows 1\n```\n", "training_benchmark.py": LEARNS}
    run = primary_run(checkout({**files, "common.py": common}))
    assert run is not None
    assert run.shown == "python training_benchmark.py"


def test_conversions_and_helpers_say_nothing_of_what_a_library_is_for(checkout: Build) -> None:
    common = "import torch\ndef step(loss):\n    loss.backward()\n"
    files = {
        "README.md": "```\npython convert_it.py --rows 1\n```\n",
        "convert_it.py": LEARNS,
        "train_helpers.py": common,
    }
    run = primary_run(checkout({**files, "common.py": common}))
    assert run is not None
    assert run.shown == "common.py"
    # What measures a training at the root trains; a conversion comes behind it, whatever documents tell.
    run = primary_run(checkout({**files, "common.py": common, "training_benchmark.py": LEARNS}))
    assert run is not None
    assert run.shown == "training_benchmark.py"


@pytest.mark.parametrize("call", ["training_main(args, model_cls=Net)", "training_main(args, Net)"])
def test_a_program_named_for_training_trains_with_a_function_called_so(checkout: Build, call: str) -> None:
    text = f"import torch\nfrom sat.training import training_main\ndef main():\n    Net.from_pretrained(1)\n    {call}\n{MAIN}"
    assert behavior(checkout, "finetune_vit.py", {"finetune_vit.py": text}) is Behavior.TRAINS
    assert behavior(checkout, "show_vit.py", {"show_vit.py": text}) is Behavior.INFERS


def test_networks_that_are_only_imported_keep_no_training_of_the_larger_tree_back(checkout: Build) -> None:
    files = {"sft.sh": "torchrun --nproc_per_node 8 examples/lab/train.py --a 1\n", "internvit.py": "import torch\n"}
    run = primary_run(checkout(files))
    assert run is not None
    assert run.shown == "torchrun train.py"
    # A script that works as it is read is there to be started, though it has no guard.
    plain = "from transformers import AutoModel\nmodel = AutoModel.from_pretrained('a/b')\nmodel.generate(1)\n"
    run = primary_run(checkout({**files, "internvit.py": plain}))
    assert run is not None
    assert run.shown == "internvit.py"


def test_a_controller_is_no_server_of_a_model(checkout: Build) -> None:
    text = "```\npython -m fastchat.serve.controller --port 1\npython -m fastchat.serve.vllm_worker --model-path a/b\n```\n"
    run = primary_run(checkout({"README.md": text}))
    assert run is not None
    assert run.shown == "python fastchat.serve.vllm_worker"
