"""Packages that only the command or the configuration of a run names."""

from __future__ import annotations

import pytest

from gpu_lol_action.analysis.answer.assemble import analyze
from gpu_lol_action.analysis.packages import packages


def requirements(tree):
    return [finding.value for finding in packages.detect(tree) if finding.field == "dependencies.requirements"]


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        ({"train.sh": "swift sft --model Qwen/Qwen2.5-7B-Instruct --deepspeed zero2\n"}, {"ms-swift", "deepspeed"}),
        ({"train.sh": "accelerate launch --config_file cfg/acc.yaml train.py --lr 1\n", "cfg/acc.yaml": "compute_environment: LOCAL_MACHINE\ndistributed_type: DEEPSPEED\nnum_processes: 8\n"}, {"accelerate", "deepspeed"}),
        ({"train.sh": "accelerate launch --use_deepspeed --zero_stage 2 train.py --lr 1\n"}, {"accelerate", "deepspeed"}),
        ({"serve.sh": "vllm serve meta-llama/Llama-3.1-8B\n"}, {"vllm"}),
        ({"lora.yaml": "model:\n  _component_: torchtune.models.phi3.lora_phi3_mini\noptimizer:\n  _component_: torch.optim.AdamW\nbatch_size: 2\nmax_steps: 1\n"}, {"torchtune"}),
        ({"sft.yaml": "model_name_or_path: Qwen/Qwen2.5-7B\nfinetuning_type: lora\nlearning_rate: 1e-4\n"}, {"llamafactory"}),
        ({"qlora.yml": "base_model: google/gemma-2b\nmicro_batch_size: 1\nsequence_len: 2048\ndatasets:\n  - path: a/b\n"}, {"axolotl"}),
        ({"sft.yml": "base_model: google/gemma-2b\nmicro_batch_size: 1\ndatasets:\n  - path: a/b\ndeepspeed: deepspeed_configs/zero3.json\n"}, {"axolotl", "deepspeed"}),
        ({"lora.yaml": "checkpoint_dir: checkpoints/google/gemma-2b\nlora_r: 8\ndata:\n  class_path: litgpt.data.Alpaca2k\ntrain:\n  micro_batch_size: 2\n  max_steps: 9\n"}, {"litgpt"}),
        ({"conf/ctc.yaml": "model:\n  optim:\n    lr: 0.1\ntrainer:\n  max_epochs: 9\nexp_manager:\n  name: x\n"}, {"nemo-toolkit"}),
        ({"base.yaml": "distributed_training:\n  distributed_world_size: 8\noptimization:\n  max_update: 9\n  lr: [0.1]\nmodel:\n  _name: wav2vec2\n"}, {"fairseq"}),
        ({"train.yaml": "number_of_epochs: 9\nlr: 1.0\nenc: !new:speechbrain.lobes.models.CRDNN.CRDNN\n  dropout: 0.1\n"}, {"speechbrain"}),
        ({"fsdp.yaml": "compute_environment: LOCAL_MACHINE\ndistributed_type: FSDP\nmixed_precision: bf16\nnum_processes: 8\n"}, {"accelerate"}),
        ({"train.sh": "ludwig train --config config.yaml --dataset x.csv\n"}, {"ludwig"}),
        ({"train.sh": "easynlp --mode train --app_name=text_classify --learning_rate 1e-5\n"}, {"pai-easynlp"}),
        ({"train.sh": "megatron sft --model Qwen/Qwen2.5-7B-Instruct --micro_batch_size 1\n"}, {"ms-swift", "megatron-core"}),
        ({"train.sh": "torchrun --nproc_per_node 8 main.py --apex-amp --lr 1\n", "main.py": "import torch\nloss.backward()\nif __name__ == '__main__': pass\n"}, {"git+https://github.com/NVIDIA/apex.git"}),
        ({"sft.yaml": "model:\n  model_name: a/b\n  model_max_length: 2048\ntraining:\n  trainer_type: TRL_SFT\n  num_train_epochs: 3\n  per_device_train_batch_size: 4\n  learning_rate: 1e-5\ndeepspeed:\n  enable_deepspeed: True\n"}, {"oumi", "deepspeed"}),
        ({"train.sh": "python train.py --strategy deepspeed_stage_2 --lr 1\n", "train.py": "import torch\nloss.cuda().backward()\nif __name__ == '__main__': pass\n"}, {"deepspeed"}),
        ({"dpo.yaml": "model_name_or_path: Qwen/Qwen2.5-7B\nper_device_train_batch_size: 1\ndataset_name: a/b\nlearning_rate: 1e-6\n"}, {"trl"}),
    ],
)  # fmt: skip
def test_what_starts_the_run_is_installed(checkout, files, expected):
    assert expected <= set(requirements(checkout(files)))


RECIPE = "model_name_or_path: Qwen/Qwen2.5-7B\nper_device_train_batch_size: 1\ndataset_name: a/b\nlearning_rate: 1e-6\n"


@pytest.mark.parametrize(
    ("files", "left_out"),
    [
        # A program of one's own reads its recipe by itself.
        ({"train.py": "import torch\nif __name__ == '__main__':\n    loss.cuda().backward()\n", "dpo.yaml": RECIPE,
          "run.sh": "torchrun --nproc_per_node 2 train.py --config dpo.yaml\n"}, {"trl"}),
        ({"lora.yaml": "base_model: google/gemma-2b\nlearning_rate: 1e-4\n"}, {"axolotl"}),
        ({"sft.yaml": RECIPE + "deepspeed: null\n"}, {"deepspeed"}),
        ({"sft.yaml": RECIPE + "# deepspeed: a/zero3.json\n"}, {"deepspeed"}),
    ],
)  # fmt: skip
def test_what_only_looks_like_a_trainers_recipe_adds_nothing(checkout, files, left_out):
    assert not left_out & set(requirements(checkout(files)))


@pytest.mark.parametrize(
    ("command", "added"),
    [
        ("accelerate launch -m axolotl.cli.train qlora.yml", {"accelerate", "axolotl"}),
        ("deepspeed --module openrlhf.cli.train_sft --pretrain x", {"deepspeed", "openrlhf"}),
        ("torchrun --nproc_per_node 2 -m nobody.knows --lr 1", set()),
        ("accelerate launch swift/cli/sft.py --model Qwen/Qwen2.5-7B --tuner_type lora", {"accelerate", "ms-swift"}),
        ("accelerate launch nobody/cli/sft.py --model Qwen/Qwen2.5-7B --lr 1", {"accelerate"}),
        ("accelerate launch train.py --lr 1", {"accelerate"}),
    ],
)
def test_module_that_a_launcher_starts_is_installed(checkout, command, added):
    assert set(requirements(checkout({"README.md": f"# Train\n```\n{command}\n```\n"}))) == added


HF = "--model_name_or_path gpt2 --do_train --output_dir x"


@pytest.mark.parametrize(
    ("command", "added"),
    [
        (f"torchrun --nproc_per_node 2 ~/transformers/examples/run_clm.py {HF}", {"torch", "transformers", "datasets", "accelerate", "evaluate"}),
        (f"deepspeed ~/transformers/examples/run_glue.py {HF}", {"deepspeed", "transformers", "datasets", "accelerate", "evaluate"}),
        ("torchrun --nproc_per_node 2 lab/bin/train.py --config a", {"torch"}),
        ("python lab/run_clm_train.py --lr 1", set()),
        ("fairseq-train data-bin --arch a --lr 1", {"fairseq"}),
        ("torchrun --nproc_per_node=8 $(which unicore-train) $DATA --task mol --lr 1", {"git+https://github.com/dptech-corp/Uni-Core.git"}),
        ("fairseq-generate data-bin --path a.pt --beam 5", {"fairseq"}),
    ],
)  # fmt: skip
def test_programs_of_a_clone_need_what_that_project_needs(checkout, command, added):
    assert set(requirements(checkout({"README.md": f"# Train\n```\n{command}\n```\n"}))) == added


def test_an_examples_program_that_is_here_says_itself_what_it_needs(checkout):
    files = {
        "train.sh": f"torchrun --nproc_per_node 2 run_clm.py {HF}\n",
        "run_clm.py": "import jax\nloss.backward()\n",
    }
    assert not set(requirements(checkout(files))) & {"torch", "transformers", "datasets"}


def test_processes_that_accelerate_starts_by_itself_need_no_deepspeed(checkout):
    acc = "compute_environment: LOCAL_MACHINE\ndistributed_type: MULTI_GPU\nnum_processes: 8\n# not DEEPSPEED\n"
    train = "accelerate launch --config_file acc.yaml train.py --lr 1\n"
    files = {
        "train.sh": train,
        "acc.yaml": acc,
        "train.py": "import torch\n",
        "other.yaml": "distributed_type: DEEPSPEED\nnum_processes: 8\n",
    }
    assert "deepspeed" not in requirements(checkout(files))


def test_listed_and_own_packages_are_not_added(checkout):
    files = {"requirements.txt": "ms-swift==3.1\n", "train.sh": "swift sft --model Qwen/Qwen2.5-7B-Instruct\n"}
    assert requirements(checkout(files)) == ["ms-swift==3.1"]
    own = {
        "pyproject.toml": "[project]\nname = 'litgpt'\nversion = '1'\ndependencies = ['torch']\n[build-system]\nrequires = []\n",
        "run.sh": "litgpt finetune_lora --lora_r 8\n",
        "litgpt/__init__.py": "",
    }
    assert "litgpt" not in requirements(checkout(own))


def test_what_starts_another_run_is_installed_too(checkout):
    program = "import torch\nnet = torch.nn.Linear(2, 2).cuda()\nloss = net(x).sum()\nloss.backward()\n"
    tree = checkout({
        "requirements.txt": "torch\n",
        "README.md": "```\npython plain.py\n```\n\n```\ndeepspeed spread.py --deepspeed\n```\n",
        "plain.py": program, "spread.py": program,
    })  # fmt: skip
    assert requirements(tree) == ["torch", "deepspeed"]


@pytest.mark.parametrize(
    ("command", "package", "kind"),
    [
        ("setsid nice -n 19 onmt_train --config runs/ggnn.yaml < /dev/null > train.out 2>&1", "OpenNMT-py", "training"),
        ("CUDA_VISIBLE_DEVICES=0 nnUNetv2_train 101 3d_fullres 0", "nnunetv2", "training"),
        ("nnUNet_train 3d_fullres nnUNetTrainerV2 101 0", "nnunet", "training"),
        ("nnUNet_predict -i images -o out -t 101", "nnunet", "inference"),
        ("allennlp train config.jsonnet -s out --include-package mine", "allennlp", "training"),
        ("t2t-trainer --problem=$P --model=transformer", "tensor2tensor", "training"),
        ("ludwig train --config net.yaml --dataset rows.csv", "ludwig", "training"),
        ("ludwig predict --model_path out/model --dataset rows.csv", "ludwig", "inference"),
        ("catalyst-dl run --config net.yaml --logdir out", "catalyst", "training"),
        ("mmf_run config=ours.yaml dataset=memes model=mmbt", "mmf", "training"),
        ("ludwig train --config config.yaml --dataset x.csv", "ludwig", "training"),
        ("ludwig experiment --config config.yaml --dataset x.csv", "ludwig", "training"),
        ("ludwig predict --model_path out --dataset x.csv", "ludwig", "inference"),
        ("mmf_run config=ours.yaml dataset=memes model=mmbt run_type=predict", "mmf", "inference"),
    ],
)
def test_libraries_that_whole_fields_train_with(checkout, command, package, kind):
    found = analyze(checkout({"README.md": f"```bash\n{command}\n```\n"})).spec
    assert found.meta.workload_type.value == kind
    assert package.lower() in {each.lower() for each in found.dependencies.requirements}


def test_a_library_s_name_in_other_words_starts_nothing(checkout):
    tree = checkout({"README.md": "```bash\nallennlp --version\npip install allennlp\n```\n"})
    assert "allennlp" not in [f.value for f in analyze(tree).findings if f.field == "entry_point"]


@pytest.mark.parametrize(
    ("line", "is_needed"), [("trl vllm-serve --model $MODEL &", True), ("# trl vllm-serve", False)]
)
def test_the_server_that_a_script_starts_beside_its_training(checkout, line, is_needed):
    program = (
        "from trl import GRPOTrainer\nif __name__ == '__main__':\n    GRPOTrainer(model='Qwen/Qwen2.5-7B').train()\n"
    )
    script = f"#!/bin/bash\n{line}\naccelerate launch --num_processes 8 train.py\n"
    found = analyze(checkout({"train.py": program, "run.sh": script, "requirements.txt": "trl\n"}))
    assert ("vllm" in found.spec.dependencies.requirements) is is_needed


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("accelerate launch -m lm_eval --model hf --tasks arc --batch_size 8", {"lm-eval"}),
        ("python -m lm_eval --model hf --tasks arc", {"lm-eval"}),
        ("torchrun --nproc_per_node=4 train.py --per_device_train_batch_size 4 --output_dir out", {"torch", "transformers", "accelerate"}),
    ],
)  # fmt: skip
def test_what_is_started_and_lies_elsewhere_is_installed(checkout, line, expected):
    assert expected <= set(requirements(checkout({"run.sh": f"{line}\n"})))
