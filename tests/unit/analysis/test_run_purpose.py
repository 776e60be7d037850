"""What a program is for where its own text hardly says: classes by name, shells in shells, prompts, libraries' own words."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import pytest

from gpu_lol_action.analysis.answer.assemble import analyze
from gpu_lol_action.analysis.files.checkout import Checkout
from gpu_lol_action.analysis.programs.behavior import Behavior
from gpu_lol_action.analysis.runs.runs import primary_run

Build = Callable[[Mapping[str, str]], Checkout]
NET = "import torch\n\nclass Net(torch.nn.Module):\n    pass\n\ndef load(path):\n    return torch.load(path, map_location='cuda')\n"


def behavior(checkout: Checkout) -> Behavior | None:
    run = primary_run(checkout)
    return run.behavior if run is not None else None


@pytest.mark.parametrize(("name", "expected"), [("train.py", Behavior.TRAINS), ("show.py", Behavior.INFERS)])
def test_a_class_that_a_configuration_names_is_trained_by_what_is_named_for_training(
    checkout: Build, name: str, expected: Behavior
) -> None:
    program = (
        "import hydra\nfrom lab.base import Workspace\n\n@hydra.main(config_path='config')\ndef main(cfg):\n"
        "    hydra.utils.get_class(cfg._target_)(cfg).run()\n\nif __name__ == '__main__':\n    main()\n"
    )
    base = (
        NET
        + "\nclass Workspace:\n    def load_checkpoint(self, path):\n        self.net.load_state_dict(torch.load(path))\n"
    )
    files = {"lab/__init__.py": "", "lab/base.py": base}
    assert behavior(checkout({**files, name: program})) is expected


def test_splitting_data_for_training_is_no_training(checkout: Build) -> None:
    boosted = (
        "from sklearn.model_selection import train_test_split\nfrom xgboost import XGBClassifier\n"
        "a, b = train_test_split([1], [2])\nXGBClassifier().fit(a, b)\n"
    )
    handler = (
        "import torch\nfrom ts.torch_handler.base_handler import BaseHandler\n\nclass H(BaseHandler):\n"
        "    def initialize(self, context):\n        self.device = torch.device('{device}')\n"
    )
    readme = "# x\n\n```\npython xgboost_train.py\n```\n"
    files = {"README.md": readme, "xgboost_train.py": boosted, "requirements.txt": "scikit-learn\nxgboost\n"}
    with_gpu = analyze(checkout({**files, "handler.py": handler.format(device="cuda")}))
    assert with_gpu.spec.meta.workload_type.value == "inference"
    on_cpu = analyze(checkout({**files, "handler.py": handler.format(device="cpu")}))
    assert on_cpu.spec.meta.workload_type.value == "cpu-only"


@pytest.mark.parametrize(
    "line",
    [
        "(robo)[lab]$ python train.py --epochs 3",
        "(robo) me@box:~/lab$ python train.py --epochs 3",
        "me@box:~/lab$ python train.py --epochs 3",
    ],
)
def test_a_terminals_prompt_stands_before_a_command(checkout: Build, line: str) -> None:
    train = NET + "\nif __name__ == '__main__':\n    loss.backward()\n"
    run = primary_run(checkout({"README.md": f"# x\n\n```console\n{line}\n```\n", "train.py": train, "play.py": train}))
    assert run is not None
    assert run.command is not None
    assert run.command.options == {"epochs": "3"}


def test_a_shell_in_a_shell_starts_each_of_its_commands(checkout: Build) -> None:
    script = (
        'gpus=${1:-1}\ncmd="torchrun --nproc_per_node=${gpus} \\\n    /workspace/net/runtime/train.py \\\n    --amp"\n'
        'eval_cmd="python /workspace/net/runtime/evaluate.py"\nset -x\nbash -c "${cmd} && ${eval_cmd}"\n'
    )
    train = NET + "\nif __name__ == '__main__':\n    loss.backward()\n"
    infer = NET + "\nif __name__ == '__main__':\n    load('x').generate()\n"
    files = {
        "README.md": "# x\n\n```\nbash scripts/train.sh\n```\n\n```\npython net/runtime/generate.py\n```\n",
        "scripts/train.sh": script,
        "net/runtime/train.py": train,
        "net/runtime/generate.py": infer,
        "net/runtime/evaluate.py": infer,
    }
    assert behavior(checkout(files)) is Behavior.TRAINS


@pytest.mark.parametrize(
    ("name", "expected"), [("recurring_training.sh", Behavior.TRAINS), ("nightly.sh", Behavior.INFERS)]
)
def test_the_script_around_a_program_for_all_says_what_for(checkout: Build, name: str, expected: Behavior) -> None:
    cli = NET + "\nimport importlib\n\nif __name__ == '__main__':\n    importlib.import_module(name).go(load('x'))\n"
    line = "python lab/cli.py run lab.offline config.yaml\n"
    assert behavior(checkout({"lab/cli.py": cli, f"scripts/{name}": line})) is expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("import jax\nfrom jax import grad, jit\n\ndef update(p, b):\n    return grad(loss)(p, b)\n", Behavior.TRAINS),
        ("from lab import grad\nimport jax\n\ndef update(p, b):\n    return grad(loss)(p, b)\n", None),
        ("import torch\nfrom tianshou.highlevel import build\nbuild().run_training()\n", Behavior.TRAINS),
        ("import autokeras as ak\nak.StructuredDataRegressor().fit(x, y)\n", Behavior.TRAINS),
        ("from sentence_transformers import SentenceTransformer\nindex.fit(vectors, documents)\n", None),
        ("from modelscope.pipelines import pipeline\np = pipeline('task', model='org/net')\np(x)\n", Behavior.INFERS),
        ("from modelscope import snapshot_download\nsnapshot_download('org/net')\n", None),
        ("import ray\nfrom ray.data.llm import vLLMEngineProcessorConfig\nc = vLLMEngineProcessorConfig(model_source='Qwen/Qwen2.5-7B-Instruct')\n", Behavior.INFERS),
    ],
)  # fmt: skip
def test_libraries_have_their_own_words_for_what_they_do(checkout: Build, text: str, expected: Behavior | None) -> None:
    assert behavior(checkout({"work.py": text})) is expected


def test_a_tool_that_a_program_starts_is_the_run(checkout: Build) -> None:
    program = "import subprocess\n\ndef go(path):\n    subprocess.run(['llamafactory-cli', 'train', path])\n"
    config = "model_name_or_path: Qwen/Qwen2.5-7B-Instruct\nfinetuning_type: lora\nper_device_train_batch_size: 1\ncutoff_len: 2048\n"
    files = {"go.py": program, "sft.yaml": config, "requirements.txt": "llamafactory\n"}
    assert analyze(checkout(files)).spec.meta.workload_type.value == "training"


def test_what_tells_another_module_to_learn_trains_though_it_loads_too(checkout: Build) -> None:
    coach = "import torch\nopt = torch.optim.Adam(net.parameters())\n\nclass Coach:\n    def learn(self):\n        loss.backward()\n"
    main = (
        "from coach import Coach\nfrom net import Net\n\ndef main():\n    net = Net()\n    net.load_checkpoint('x')\n"
        "    Coach(net).{word}()\n\nif __name__ == '__main__':\n    main()\n"
    )
    files = {"coach.py": coach, "net.py": NET}
    assert behavior(checkout({**files, "main.py": main.format(word="learn")})) is Behavior.TRAINS


def test_short_options_are_known_by_their_long_names(checkout: Build) -> None:
    program = (
        "import argparse\nimport torch\n\nif __name__ == '__main__':\n    p = argparse.ArgumentParser()\n"
        "    p.add_argument('-b', '--batch-size', type=int, default=2048)\n    p.add_argument('-e', '--epochs', default=1)\n"
        "    p.add_argument('-x')\n    loss.backward()\n"
    )
    run = primary_run(
        checkout({"train.py": program, "README.md": "# x\n\n```\npython train.py -b 256 -x 3 -e 2 --epochs 5\n```\n"})
    )
    assert run is not None
    assert run.options == {"b": "256", "batch_size": "256", "x": "3", "e": "2", "epochs": "5"}


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ("--exec-mode train --task 01", Behavior.TRAINS),
        ("--mode=predict", Behavior.INFERS),
        ("--task 01", Behavior.INFERS),
    ],
)
def test_a_mode_says_what_a_program_for_several_does(checkout: Build, options: str, expected: Behavior) -> None:
    program = NET + "\nif __name__ == '__main__':\n    load('x').predict(1)\n"
    assert (
        behavior(checkout({"main.py": program, "README.md": f"# x\n\n```\npython main.py {options}\n```\n"}))
        is expected
    )


def test_playing_is_a_step_beside_learning(checkout: Build) -> None:
    play = NET + "\nif __name__ == '__main__':\n    load('x').predict(1)\n"
    train = NET + "\nif __name__ == '__main__':\n    loss.backward()\n"
    files = {"chapter/01_train.py": train, "chapter/02_play.py": play, "chapter/record.sh": "python 02_play.py -m x\n"}
    assert behavior(checkout(files)) is Behavior.TRAINS


@pytest.mark.parametrize(("processes", "count"), [(8, 8), (19, 1)])
def test_mpi_starts_workers_on_cores_as_well(checkout: Build, processes: int, count: int) -> None:
    train = NET + "\nif __name__ == '__main__':\n    loss.backward()\n"
    analysis = analyze(
        checkout({"run.py": train, "README.md": f"# x\n\n```\nmpirun -np {processes} python run.py\n```\n"})
    )
    assert analysis.spec.hardware.gpu_count == count


@pytest.mark.parametrize(
    ("more", "count"),
    [
        ("from mpi4py import MPI\n", 1),
        ("from mpi4py import MPI\ntorch.cuda.set_device(MPI.COMM_WORLD.Get_rank())\n", 8),
        ("import horovod.torch as hvd\n", 8),
    ],
)
def test_ranks_of_mpi_that_take_no_card_are_no_cards(checkout: Build, more: str, count: int) -> None:
    train = f"{NET}\n{more}if __name__ == '__main__':\n    loss.backward()\n"
    readme = "# x\n\n```\nmpirun -np 8 python run.py\n```\n"
    analysis = analyze(checkout({"run.py": train, "README.md": readme}))
    assert analysis.spec.hardware.gpu_count == count


def test_a_module_called_as_in_the_larger_tree_is_this_folders(checkout: Build) -> None:
    train = f"from lab.net import parts\nfrom lab.net.more import x\n{NET}\nif __name__ == '__main__':\n    loss.backward()\n"
    files = {"parts.py": "", "more.py": "x = 1\n", "train.py": train, "api_server.py": "serve = 1\n"}
    inside = primary_run(checkout({**files, "README.md": "```\npython -m lab.net.train --lr 1\n```\n"}))
    assert inside is not None
    assert inside.script is not None
    assert inside.script.path == "train.py"
    outside = primary_run(
        checkout({**files, "README.md": "```\npython -m vllm.entrypoints.api_server --model x\n```\n"})
    )
    assert outside is not None
    assert outside.script is None or outside.script.path != "api_server.py"


def test_a_servers_name_in_a_sentence_is_no_command(checkout: Build) -> None:
    text = "# x\n\nWe use `vllm serve` here.\n\n```\nvllm serve Qwen/Qwen2.5-7B-Instruct\n```\n"
    run = primary_run(checkout({"README.md": text}))
    assert run is not None
    assert run.command is not None
    assert run.command.words == ("serve", "Qwen/Qwen2.5-7B-Instruct")


def test_a_job_starts_what_its_image_holds(checkout: Build) -> None:
    job = "#!/bin/bash\n#SBATCH --gres=gpu:8\nsrun --container-image x.sqsh python3 /workspace/esm/pretrain.py --config a\n"
    prepare = "import pandas\npandas.read_csv('x')\n"
    analysis = analyze(checkout({"1.pretrain.slurm": job, "prepare.py": prepare}))
    assert analysis.spec.meta.workload_type.value == "training"
    assert analysis.spec.hardware.gpu_count == 8


def test_an_unknown_model_of_small_pictures_is_small(checkout: Build) -> None:
    train = "import torch\nfrom torchvision import datasets\ndata = datasets.{data}('x')\nmodel = define(trial)\nloss.backward()\nx.cuda()\n"
    small = analyze(checkout({"train.py": train.format(data="MNIST")}))
    assert small.spec.hardware.vram_required_gb == 8
    assert analyze(checkout({"train.py": train.format(data="ImageNet")})).spec.hardware.vram_required_gb != 8


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("run_pretrained_net.py", Behavior.INFERS),
        ("run_pretraining.py", Behavior.TRAINS),
        ("run_pretrain.py", Behavior.TRAINS),
    ],
)
def test_what_runs_a_pretrained_network_trains_none(checkout: Build, name: str, expected: Behavior) -> None:
    program = "from net import load\nif __name__ == '__main__':\n    load('weights')\n"
    net = NET.replace("torch.load(path", "Net().load_state_dict(path").replace(", map_location='cuda')", ")")
    assert behavior(checkout({name: program, "net.py": net})) is expected


@pytest.mark.parametrize(
    ("name", "call", "expected"),
    [
        ("train.py", "train(config, loader, model)", Behavior.TRAINS),
        ("train.py", "train()", Behavior.INFERS),
        ("show.py", "train(config, loader, model)", Behavior.INFERS),
    ],
)
def test_a_training_program_calls_what_lies_where_nobody_sees_it(
    checkout: Build, name: str, call: str, expected: Behavior
) -> None:
    program = f"import torch\nfrom core.function import train\n\nif __name__ == '__main__':\n    model.load_state_dict(s)\n    {call}\n"
    assert behavior(checkout({name: program})) is expected


@pytest.mark.parametrize(
    ("options", "expected"),
    [("--warmup_steps 1 --num_inference_steps 20", Behavior.INFERS), ("--warmup_steps 100 --lr 1e-5", Behavior.TRAINS)],
)
def test_a_pipeline_that_warms_up_trains_nothing(checkout: Build, options: str, expected: Behavior) -> None:
    program = "from fast import FastPipeline\nimport torch\nif __name__ == '__main__':\n    FastPipeline.from_pretrained(args.model).to('cuda')(args)\n"
    files = {
        "examples/paint.py": program,
        "README.md": f"```\ntorchrun --nproc_per_node=8 examples/paint.py {options}\n```\n",
    }
    assert behavior(checkout(files)) is expected


@pytest.mark.parametrize(
    ("own", "first"), [("run_ours_ppo.sh", "run_ours_ppo.sh"), ("examples/rl/run_ours_ppo.sh", "examples/sft/run.sh")]
)
def test_a_script_at_the_root_is_the_repositorys_own_whatever_stage_it_is(
    checkout: Build, own: str, first: str
) -> None:
    start = "import torch\nif __name__ == '__main__':\n    loss.cuda().backward()\n    opt.step()\n"
    files = {
        "train_ppo.py": start,
        "train_sft.py": start,
        own: "python train_ppo.py --lr 1e-6\n",
        "examples/sft/run.sh": "python train_sft.py --lr 1e-5\n",
    }
    run = primary_run(checkout(files))
    assert run is not None
    assert run.evidence.path == first


@pytest.mark.parametrize(
    ("call", "expected"), [("model.fit(rows, y, epochs=3)", Behavior.TRAINS), ("scaler.fit(rows, y)", Behavior.INFERS)]
)
def test_what_is_fitted_for_epochs_is_a_network_whoever_wrapped_it(
    checkout: Build, call: str, expected: Behavior
) -> None:
    nets = "import tensorflow as tf\ndef Wide(n):\n    return tf.keras.Sequential([tf.keras.layers.Dense(n)])\n"
    program = (
        "from sklearn.preprocessing import StandardScaler\nfrom wide.nets import Wide\n"
        f"scaler = StandardScaler()\nmodel = Wide(3)\n{call}\nprint(model.predict(rows))\n"
    )
    assert behavior(checkout({"wide/__init__.py": "", "wide/nets.py": nets, "run.py": program})) is expected


@pytest.mark.parametrize(
    ("plain", "expected"),
    [("examples/run_ads.py", "examples/run_ads.py"), ("examples/zoo.py", "examples/run_ads_multi_gpu.py")],
)
def test_a_form_for_several_cards_comes_after_the_plain_program_beside_it(
    checkout: Build, plain: str, expected: str
) -> None:
    program = "import torch\nnet = torch.nn.Linear(3, 3).cuda()\nnet(torch.ones(3).cuda()).sum().backward()\n"
    run = primary_run(checkout({plain: program, "examples/run_ads_multi_gpu.py": program}))
    assert run is not None
    assert run.script is not None
    assert run.script.path == expected
