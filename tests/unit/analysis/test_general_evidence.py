"""What tells the need of a repository nobody looked at: notebooks' prose, what optimizers keep, views, placeholders, submitters."""

from __future__ import annotations

import json

import pytest

from gpu_lol_action.analysis.answer.assemble import analyze, detect_all
from gpu_lol_action.analysis.memory.memory_need import memory_need
from gpu_lol_action.domain.spec import WorkloadType

TRAINS = "from transformers import AutoModelForCausalLM, Trainer\n"


def notebook(*cells):
    made = [{"cell_type": kind, "source": text.splitlines(keepends=True), "outputs": []} for kind, text in cells]
    return json.dumps({"cells": made, "nbformat": 4}, indent=1)


def values(tree, field):
    return [finding.value for finding in detect_all(tree) if finding.field == field]


def need(tree):
    return analyze(tree).spec.hardware


CODE = "from transformers import AutoModelForCausalLM\nm = AutoModelForCausalLM.from_pretrained('meta-llama/Llama-2-13b-hf')\nm.generate()\n"


def test_prose_of_the_notebook_that_is_run_states_memory_on_its_line_of_the_file(checkout):
    text = notebook(
        ("markdown", "# Demo\nIt needs 40 GB of VRAM and 11 GB of RAM to run."),
        ("code", CODE),
    )
    found = [f for f in detect_all(checkout({"demo.ipynb": text})) if f.field.endswith("memory_gb")]
    assert [f.value for f in found] == ["40"]
    assert "40 GB" in text.split("\n")[found[0].evidence.line - 1]


def test_prose_of_another_notebook_does_not_speak_for_the_run(checkout):
    tree = checkout({
        "a.ipynb": notebook(("code", CODE)),
        "b.ipynb": notebook(("markdown", "This needs 80 GB of VRAM."), ("code", CODE)),
    })  # fmt: skip
    assert values(tree, "documented.memory_gb") == []


def test_prose_with_an_exclamation_is_no_command(checkout):
    text = notebook(
        ("markdown", "!pip install vllm # on a GPU with 24GB\n!python train_big.py --gpus 8"), ("code", CODE)
    )
    analysis = analyze(checkout({"demo.ipynb": text}))
    assert not any("vllm" in requirement for requirement in analysis.spec.dependencies.requirements)
    assert analysis.spec.hardware.gpu_count == 1


def test_size_in_brackets_behind_gpus_is_what_they_have(checkout):
    text = notebook(("markdown", "This guide is designed for consumer GPUs (24GB+)."), ("code", CODE))
    assert values(checkout({"demo.ipynb": text}), "documented.memory_gb") == ["24"]


def test_command_that_asks_for_help_is_no_run(checkout):
    tree = checkout({
        "README.md": "```\npython main.py --help\n```\n\n```\ntorchrun --nproc_per_node=4 main.py --model gpt2\n```\n",
        "main.py": TRAINS + "Trainer(model=AutoModelForCausalLM.from_pretrained(args.model)).train()\n",
    })  # fmt: skip
    assert need(tree).gpu_count == 4


def test_another_command_does_not_name_the_model_of_a_run_that_names_its_own(checkout):
    tree = checkout({
        "README.md": "```\npython main.py --arch own_small\n```\n\n```\npython main.py --arch resnet50\n```\n",
        "main.py": "import torch\nimport argparse\np = argparse.ArgumentParser()\np.add_argument('--arch')\nloss.backward()\n",
    })  # fmt: skip
    assert "resnet50" not in values(tree, "model.id")


def test_model_that_is_loaded_counts_before_one_that_is_loaded_later(checkout):
    tree = checkout({
        "train.ipynb": notebook(
            ("code", "from transformers import AutoModel, Trainer\nmodel_ckpt = 'distilbert-base-uncased'\n"),
            ("code", "m = AutoModel.from_pretrained(model_ckpt)\n"),
            ("code", "other = AutoModel.from_pretrained('xlm-roberta-base')\nTrainer(model=m).train()\n"),
        )
    })  # fmt: skip
    first = next(f for f in detect_all(tree) if f.field == "model.id")
    assert first.value == "distilbert-base-uncased"
    assert first.confidence.name == "HIGH"


def test_default_that_is_only_a_placeholder_gives_way_to_the_family(checkout):
    code = "from transformers import AutoModelForCausalLM, Trainer\nimport argparse\np = argparse.ArgumentParser()\n"
    code += "p.add_argument('--model_name_or_path', default='facebook/opt-125m')\nargs = p.parse_args()\n"
    code += "m = AutoModelForCausalLM.from_pretrained(args.model_name_or_path)\nTrainer(model=m).train()\n"
    analysis = analyze(checkout({"train.py": code}))
    assert any("meta-llama/Llama-2-7b-hf was assumed" in gap for gap in analysis.not_understood)


def test_placeholder_that_the_command_names_is_meant(checkout):
    code = (
        TRAINS
        + "m = AutoModelForCausalLM.from_pretrained(args.model_name_or_path)\nTrainer(model=m, args=args).train()\n"
    )
    tree = checkout({"train.py": code, "run.sh": "python train.py --model_name_or_path facebook/opt-125m\n"})
    assert values(tree, "model.id") == ["facebook/opt-125m"]
    assert need(tree).needed_gib < 16


def test_configuration_beside_the_program_names_the_model_before_its_class_does(checkout):
    tree = checkout({
        "train.py": TRAINS
        + "m = AutoModelForCausalLM.from_pretrained(args.model_name_or_path)\nTrainer(model=m).train()\n",
        "config.yaml": "model_name_or_path: bigcode/starcoder\nper_device_train_batch_size: 4\n",
    })  # fmt: skip
    assert analyze(tree).breakdown.terms[0].basis.startswith("bigcode/starcoder")


def test_assumed_model_is_asked_for_with_room_for_its_family(checkout):
    code = "from transformers import LlamaForCausalLM\nm = LlamaForCausalLM.from_pretrained({})\nm.generate()\n"
    assumed = analyze(checkout({"serve.py": code.format("path")}))
    assert assumed.spec.hardware.vram_required_gb >= assumed.breakdown.expected_gib * 1.15
    named = analyze(checkout({"serve.py": code.format("'meta-llama/Llama-2-7b-hf'")}))
    assert named.spec.hardware.vram_required_gb < assumed.spec.hardware.vram_required_gb


@pytest.mark.parametrize(
    ("config", "tokens"),
    [
        ("max_completion_length: 1024\nmax_prompt_length: 256\n", "1280"),
        ("max_completion_length: 2048\n", "2560"),
        ("max_response_length: 100\nmax_prompt_length: 28\n", "128"),
    ],
)
def test_prompt_and_answer_are_one_sample(checkout, config, tokens):
    tree = checkout({
        "grpo.py": "from trl import GRPOTrainer\nGRPOTrainer(model=name).train()\n",
        "config.yaml": "model_name_or_path: Qwen/Qwen2.5-1.5B\n" + config,
        "run.sh": "python grpo.py --config config.yaml\n",
    })  # fmt: skip
    assert values(tree, "training.sequence_length") == [tokens]


def test_optimizer_that_the_program_builds_counts(checkout):
    code = TRAINS + "from lomo import LOMO\nm = AutoModelForCausalLM.from_pretrained('meta-llama/Llama-2-7b-hf')\n"
    tree = checkout(
        {"train.py": code + "opt = LOMO(m, lr=1e-3)\nargs = Arguments(batch_size=1, bf16=True)\nm.loss.backward()\n"}
    )
    assert values(tree, "training.optimizer") == ["LOMO"]
    assert need(tree).needed_gib < 40


def test_program_that_can_build_several_optimizers_names_none(checkout):
    code = TRAINS + "from torch.optim import SGD, AdamW\nm = AutoModelForCausalLM.from_pretrained('gpt2')\n"
    tree = checkout({"train.py": code + "opt = SGD(m) if small else AdamW(m)\nm.loss.backward()\n"})
    assert values(tree, "training.optimizer") == []


def test_deepspeed_section_that_is_enabled_tells_the_numbers(checkout):
    tree = checkout({
        "train.py": TRAINS + "m = AutoModelForCausalLM.from_pretrained('gpt2')\nTrainer(model=m).train()\n",
        "ds.json": '{"bf16": {"enabled": false}, "fp16": {"enabled": true}}',
        "run.sh": "deepspeed train.py --deepspeed ds.json\n",
    })  # fmt: skip
    assert values(tree, "training.precision") == ["fp16"]


@pytest.mark.parametrize(("switch", "found"), [("action='store_true'", []), ("default=True, type=bool", ["fp16"])])
def test_calls_behind_a_switch_that_is_off_change_no_precision(checkout, switch, found):
    code = f"import torch\nimport argparse\np = argparse.ArgumentParser()\np.add_argument('--use_amp', {switch})\n"
    code += (
        "args = p.parse_args()\nwith torch.autocast('cuda', enabled=args.use_amp):\n    pass\ntotal_loss.backward()\n"
    )
    assert values(checkout({"train.py": code}), "training.precision") == found


def test_hqq_tells_the_bits_of_most_weights(checkout):
    code = "from hqq.core.quantize import BaseQuantizeConfig\nfrom transformers import AutoModelForCausalLM\n"
    code += (
        "attention = BaseQuantizeConfig(nbits=4, group_size=64)\nexperts = BaseQuantizeConfig(nbits=2, group_size=16)\n"
    )
    code += "m = AutoModelForCausalLM.from_pretrained('mistralai/Mixtral-8x7B-v0.1')\nm.generate()\n"
    tree = checkout({"demo.py": code})
    assert values(tree, "model.weight_bits") == ["2"]
    assert need(tree).gpu_count == 1


@pytest.mark.parametrize(
    ("options", "views"),
    [
        ("p.add_argument('--local_crops_number', type=int, default=8)", ["3.47"]),
        ("p.add_argument('--local_crops_number', type=int, default=0)", ["2"]),
        ("p.add_argument('--n-views', type=int, default=2)\nlogits = info_nce_loss(features)", ["2"]),
        ("p.add_argument('--n-views', type=int, default=2)\nimage = render(cameras)", []),
        ("loader = TwoCropsTransform(augmentation)", ["2"]),
        ("p.add_argument('--crops', type=int, default=5)", []),
    ],
)
def test_views_of_a_sample_are_counted(checkout, options, views):
    code = f"import argparse\nimport torch\np = argparse.ArgumentParser()\n{options}\nloss.backward()\n"
    assert values(checkout({"main.py": code}), "media.views") == views


def test_views_multiply_what_a_network_of_pictures_keeps(checkout):
    code = "import argparse\nimport torch\nimport torchvision.models as models\np = argparse.ArgumentParser()\n"
    code += "p.add_argument('--batch_size', type=int, default=256)\np.add_argument('--image_size', type=int, default=224)\n{}\n"
    code += "net = models.resnet50().cuda()\nnet(x).sum().backward()\n"
    one = need(checkout({"main.py": code.format("")})).vram_required_gb
    two = need(checkout({"main.py": code.format("train = TwoCropsTransform(crop)")})).vram_required_gb
    assert 1.7 * one < two < 2.1 * one


def test_what_hands_the_program_to_a_cluster_counts_its_gpus_and_is_not_the_run(checkout):
    tree = checkout({
        "main.py": "import torch\nimport torchvision.models as models\ndef main():\n    torch.distributed.init_process_group('nccl')\n"
        "    net = models.resnet50()\n    loss.backward()\nif __name__ == '__main__':\n    main()\n",
        "run_with_submitit.py": "import argparse\nimport submitit\nimport main\np = argparse.ArgumentParser()\n"
        "p.add_argument('--ngpus', default=8, type=int)\nif __name__ == '__main__':\n    submitit.AutoExecutor('x').submit(main.main)\n",
    })  # fmt: skip
    assert values(tree, "entry_point") == ["main.py"]
    assert need(tree).gpu_count == 8


def test_remark_right_above_the_command_in_its_script_is_about_it(checkout):
    files = {
        "train.py": TRAINS
        + "m = AutoModelForCausalLM.from_pretrained('Qwen/Qwen2.5-0.5B')\nTrainer(model=m, args=args).train()\n",
        "run.sh": "{}python train.py\n",
    }
    alone = need(checkout({**files, "run.sh": "python train.py\n"})).vram_required_gb
    said = need(
        checkout({**files, "run.sh": f"# using GPUs with {alone * 2}G memory\npython train.py\n"})
    ).vram_required_gb
    assert said > 1.5 * alone


def test_files_of_text_encoders_are_not_the_model(checkout):
    code = "from huggingface_hub import hf_hub_download\nimport torch\nhf_hub_download(repo_id='comfyanonymous/flux_text_encoders', filename='clip_l.safetensors')\nm.generate()\n"
    assert "comfyanonymous/flux_text_encoders" not in values(checkout({"app.py": code}), "model.id")


def test_numbers_of_functions_for_trials_are_nobodys_run(checkout):
    code = "import torch\ndef get_debug_model():\n    return Net(num_layers=2, dim=16)\ndef get_model():\n    return Net(num_layers=24, dim=1024)\nloss.backward()\n"
    assert values(checkout({"train.py": code}), "model.layers") == ["24"]


def test_length_that_data_are_cut_to_before_is_that_of_the_run(checkout):
    code = TRAINS + "m = AutoModelForCausalLM.from_pretrained('gpt2')\nTrainer(model=m).train()\n"
    prepare = (
        "import argparse\np = argparse.ArgumentParser()\np.add_argument('--max_seq_length', type=int, default=384)\n"
    )
    assert values(
        checkout({"finetune.py": code, "tokenize_rows.py": prepare, "other.py": prepare.replace("384", "64")}),
        "training.sequence_length",
    ) == ["384"]


def test_assumed_model_is_divided_so_that_its_familys_next_one_fits(checkout):
    code = (
        TRAINS
        + "m = AutoModelForCausalLM.from_pretrained(path)\nargs = Arguments(batch_size=1)\nTrainer(model=m, args=args).train()\n"
    )
    assumed = analyze(checkout({"train.py": code}))
    assert assumed.spec.hardware.gpu_count == 4
    assert assumed.breakdown.high_gib <= 80
    assert need(checkout({"train.py": code.replace("(path)", "('meta-llama/Llama-2-7b-hf')")})).gpu_count == 2


def test_part_of_a_pipeline_is_less_sure_than_the_whole(checkout):
    code = "from transformers import CLIPTextModel\nt = CLIPTextModel.from_pretrained('stable-diffusion-v1-5/stable-diffusion-v1-5', subfolder='text_encoder')\nm.generate()\n"
    found = [f for f in detect_all(checkout({"animate.py": code})) if f.field == "model.id"]
    assert [f.confidence.name for f in found] == ["MEDIUM"]


def test_what_the_documentation_says_comes_before_the_room_for_an_assumed_model(checkout):
    code = "from transformers import LlamaForCausalLM\nm = LlamaForCausalLM.from_pretrained(path)\nm.generate()\n"
    silent = need(checkout({"serve.py": code})).vram_required_gb
    told = need(checkout({"serve.py": code, "README.md": "It needs 14 GB of GPU memory.\n"})).vram_required_gb
    assert told < silent


@pytest.mark.parametrize(("command", "sharding"), [("python train.py", "none"), ("torchrun --nproc_per_node 4 train.py", "zero-3")])  # fmt: skip
def test_a_stray_configuration_divides_nothing_of_a_run_on_one_card(checkout, command, sharding):
    code = TRAINS + "m = AutoModelForCausalLM.from_pretrained('gpt2')\nTrainer(model=m, args=args).train()\n"
    tree = checkout({
        "train.py": code,
        "run.sh": command + "\n",
        "configs/deepspeed.yaml": "deepspeed_config:\n  zero_stage: 3\n",
    })  # fmt: skip
    question = memory_need(detect_all(tree), WorkloadType.TRAINING, {}).question
    assert (question.sharding.value, question.gpu_count) == (sharding, 1 if sharding == "none" else 4)


def test_adapters_are_not_put_on_a_decoder_beside_the_model(checkout):
    code = (
        "from transformers import LlamaForCausalLM, Trainer\nfrom peft import LoraConfig, get_peft_model\nfrom decoder import build\n"
        "m = LlamaForCausalLM.from_pretrained(args.version)\nm = get_peft_model(m, LoraConfig(r=8))\nTrainer(model=m, args=args).train()\n"
    )
    beside = "def build():\n    return Decoder(depth=2, embedding_dim=256, num_heads=8, mlp_dim=2048)\n"
    model = memory_need(detect_all(checkout({"train.py": code, "decoder.py": beside})), WorkloadType.TRAINING, {}).model
    assert model is not None
    assert model.parameters_b > 6
