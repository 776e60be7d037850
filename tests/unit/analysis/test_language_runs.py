"""What repositories of language models start, and how: stages, pages, placeholders, other people's trainers, copies on cards."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from gpu_lol_action.analysis.answer.assemble import analyze
from gpu_lol_action.analysis.documents.documented_amounts import memory_phrases
from gpu_lol_action.analysis.formats.surest import best, value_of_best
from gpu_lol_action.analysis.runs.runs import primary_run
from gpu_lol_action.domain.spec import WorkloadType
from tests.unit.analysis.conftest import Build

TRAIN = "import torch\nif __name__ == '__main__':\n    loss.cuda().backward()\n"
INFER = "import torch\nif __name__ == '__main__':\n    model.cuda().generate(x)\n"
PAGE = "import streamlit\nfrom own import load\nload().generate(x)\n"
OWN = "import torch\ndef load():\n    loss.cuda().backward()\n"
HANDS_ON = (
    "import sys\nfrom elsewhere import train_from_yaml\nif __name__ == '__main__':\n    train_from_yaml(sys.argv[1])\n"
)
PRE = "# A\n<pre>torchrun --nproc_per_node=8 train.py \\\n--lr &lt;lr&gt; --size large</pre>\nText.\n<pre><code>python b.py</code></pre>\n"
PLACEHOLDER = (
    "```\naccelerate launch -m other.cli.train configs/your_config.yml\ntorchrun --nproc_per_node=4 train.py\n```\n"
)


@pytest.mark.parametrize(
    ("files", "shown"),
    [
        ({"README.md": PRE, "train.py": TRAIN, "b.py": INFER}, "torchrun train.py"),
        ({"README.md": PLACEHOLDER, "train.py": TRAIN}, "torchrun train.py"),
        # Of a folder's scripts the first stage of the pipeline, whatever its name's place in the alphabet.
        ({"run_dpo.sh": "python dpo.py --a\n", "run_sft.sh": "python sft.py --a\n", "dpo.py": TRAIN, "sft.py": TRAIN}, "python sft.py"),
        ({"Makefile": "fix:\n\tpython utils/sort.py\n", "utils/sort.py": TRAIN, "run.sh": "python a.py --x\n", "a.py": TRAIN}, "python a.py"),
        # A configuration for tests is a variant.
        (
            {"README.md": "```\npython go.py yamls/test/main.yaml\npython go.py yamls/main/base.yaml\n```\n", "go.py": TRAIN,
             "yamls/test/main.yaml": "lr: 1\n", "yamls/main/base.yaml": "lr: 1\n"},
            "python go.py",
        ),
        ({"train.py": HANDS_ON, "requirements.txt": "torch\n"}, "train.py"),
        # An evaluation's own package is its work.
        (
            {"README.md": "```\naccelerate launch -m some_eval --model a\n```\n", "some_eval/__main__.py": INFER, "serve.py": INFER},
            "accelerate some_eval",
        ),
    ],
)  # fmt: skip
def test_what_is_started(checkout: Build, files: Mapping[str, str], shown: str) -> None:
    run = primary_run(checkout(files))
    assert run is not None
    assert run.shown == shown
    assert [source.path for source in run.configs] in ([], ["yamls/main/base.yaml"])


def test_preformatted_commands_are_joined_and_unescaped(checkout: Build) -> None:
    run = primary_run(checkout({"README.md": PRE, "train.py": TRAIN}))
    assert run is not None
    assert run.command is not None
    assert dict(run.options)["lr"] == "<lr>"
    assert run.options["size"] == "large"


def test_a_page_in_a_browser_shows_a_model(checkout: Build) -> None:
    tree = checkout({"run_demo.sh": "streamlit run app.py\n", "app.py": PAGE, "own.py": OWN})
    assert analyze(tree).spec.meta.workload_type is WorkloadType.INFERENCE


LOADS = """
import argparse
from transformers import AutoModelForCausalLM
if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--model_args")
    AutoModelForCausalLM.from_pretrained(parser.parse_args().path).generate()
"""


@pytest.mark.parametrize(
    ("tool", "least"), [("accelerate launch --num_processes=4", 14), ("torchrun --nproc_per_node=4", 3)]
)
def test_accelerate_gives_every_process_a_whole_model(checkout: Build, tool: str, least: int) -> None:
    command = f"{tool} infer.py --model_args pretrained=mistralai/Mistral-7B-v0.1,dtype=float16"
    analysis = analyze(
        checkout({"README.md": f"```\n{command}\n```\n", "infer.py": LOADS, "requirements.txt": "torch\n"})
    )
    assert analysis.spec.hardware.gpu_count == 4
    assert analysis.breakdown is not None
    assert least <= analysis.breakdown.expected_gib < least + 8


def test_memory_of_all_cards_together_is_that_of_none() -> None:
    assert not list(memory_phrases("You need at least 12 * 13 = 156 GB of total memory across your GPUs."))
    assert [phrase.size_gb for phrase in memory_phrases("You need at least 24 GB of GPU memory.")] == [24]


SFT = """
from dataclasses import dataclass, field
from transformers import AutoModelForCausalLM, HfArgumentParser, Trainer, TrainingArguments
from peft import LoraConfig, get_peft_model
@dataclass
class Ours(TrainingArguments):
    lora_rank: int = 8
    modules_to_save: str = field(default=None)
args = HfArgumentParser(Ours).parse_args_into_dataclasses()[0]
model = AutoModelForCausalLM.from_pretrained("meta-llama/Llama-2-7b-hf")
{wrapped}
Trainer(model=model, args=args).train()
"""
OFFLOADS = '{"zero_optimization": {"stage": %s, "offload_param": {"device": "cpu"}}}'


def test_offloaded_parameters_are_heeded_in_stage_three_alone(checkout: Build) -> None:
    start = "deepspeed --num_gpus 2 sft.py --bf16 --per_device_train_batch_size 1 --deepspeed ds.json\n"
    needed = {}
    for stage in (2, 3):
        files = {"sft.py": SFT.format(wrapped=""), "run.sh": start, "ds.json": OFFLOADS % stage}
        analysis = analyze(checkout(files))
        needed[stage] = (
            value_of_best(analysis.findings, "training.offload"),
            analysis.spec.hardware.vram_required_gb or 0,
        )
    assert needed[2][0] is None
    assert needed[2][1] > 60
    assert needed[3][0] == "parameters"
    assert needed[3][1] < 20


def test_embeddings_that_are_trained_beside_adapters_have_states_of_their_own(checkout: Build) -> None:
    wrapped = "model = get_peft_model(model, LoraConfig(r=args.lora_rank, modules_to_save=args.modules_to_save))"
    start = "python sft.py --bf16 --per_device_train_batch_size 1 --gradient_checkpointing True --model_max_length 512"
    needed = []
    for saved in ("", " --modules_to_save embed_tokens,lm_head"):
        analysis = analyze(checkout({"sft.py": SFT.format(wrapped=wrapped), "run.sh": f"{start}{saved}\n"}))
        assert analysis.breakdown is not None
        needed.append(analysis.breakdown.expected_gib)
    matrices_gib = 2 * 32_000 * 4096 * 16 / 2**30
    assert needed[1] - needed[0] == pytest.approx(matrices_gib, rel=0.1)


def test_a_batch_that_the_trainer_fits_to_its_card_is_none_of_a_modules(checkout: Build) -> None:
    yaml = "device_train_microbatch_size: {}\nmodel:\n  d_model: 768\n  n_layers: 12\n  n_heads: 12\n  vocab_size: 50368\nmax_seq_len: 2048\n"
    files = {"train.py": "import torch\nfrom data import load\n" + TRAIN, "data.py": "def load(batch_size=512): ...\n",
             "README.md": "```\ncomposer train.py a.yaml\n```\n"}  # fmt: skip
    for said, batch in (("auto", None), ("16", "16")):
        findings = analyze(checkout({**files, "a.yaml": yaml.format(said)})).findings
        assert value_of_best(findings, "training.batch_size") == batch


@pytest.mark.parametrize(
    ("needs", "image"),
    [("tensorflow==2.10.0\ntransformers\n", "tensorflow/tensorflow:2.10.0-gpu"), ("torch\ntensorflow==2.10.0\ntransformers\n", "pytorch/")],
)  # fmt: skip
def test_transformers_over_tensorflow_alone_needs_no_pytorch(checkout: Build, needs: str, image: str) -> None:
    program = "import tensorflow as tf\nfrom transformers import TFAutoModel\nif __name__ == '__main__':\n    tf.GradientTape()\n"
    analysis = analyze(checkout({"requirements.txt": needs, "train.py": program}))
    assert (analysis.spec.environment.base_image or "").startswith(image)


def test_the_server_that_shows_a_trained_model_is_not_what_trains_it(checkout: Build) -> None:
    serve = "docker run --gpus all ghcr.io/huggingface/text-generation-inference:latest --model-id mistralai/Mistral-7B-v0.1"
    files = {"README.md": f"# Train\n```\npython train.py\n```\n# Serve\n```\n{serve}\n```\n", "train.py": TRAIN}
    analysis = analyze(checkout({**files, "requirements.txt": "torch\n"}))
    assert "text-generation-inference" not in (analysis.spec.environment.base_image or "")


@pytest.mark.parametrize(("users", "kind"), [(1, WorkloadType.CPU_ONLY), (4, WorkloadType.INFERENCE)])
def test_what_an_extra_brings_to_few_modules_is_an_offer(checkout: Build, users: int, kind: WorkloadType) -> None:
    setup = "from setuptools import setup\nsetup(name='judge', install_requires=['requests'], extras_require={'local': ['torch']})\n"
    files = {
        f"judge/m{place}.py": "import torch\nmodel.cuda()\n" if place < users else "import requests\n"
        for place in range(10)
    }
    tree = checkout(
        {
            "setup.py": setup,
            "judge/__init__.py": "",
            "run.py": INFER.replace("import torch", "from judge import m0"),
            **files,
        }
    )
    assert analyze(tree).spec.meta.workload_type is kind


def test_the_text_encoder_of_a_larger_network_for_pictures_is_a_part_of_it(checkout: Build) -> None:
    network = """
from torch import nn
from transformers import AutoModel
class Both(nn.Module):
    def __init__(self, image_size=224):
        super().__init__()
        self.text = AutoModel.from_pretrained("google-bert/bert-base-uncased")
        self.see = nn.Sequential(*[nn.Conv2d(3, 2048, 3, 2, 1), nn.Conv2d(2048, 4096, 3, 2, 1), nn.Conv2d(4096, 4096, 3, 2, 1)])
    def forward(self, x):
        return self.see(x)
"""
    program = """
import torch
from net import Both
model = Both(image_size=224).cuda()
optimizer = torch.optim.AdamW(model.parameters())
for x in torch.utils.data.DataLoader(data, batch_size=16):
    model(torch.zeros(16, 3, 224, 224)).backward()
"""
    analysis = analyze(checkout({"train.py": program, "net.py": network, "requirements.txt": "torch\n"}))
    assert best(analysis.findings, "model.id") is not None
    assert analysis.breakdown is not None
    assert "Both" in analysis.breakdown.terms[0].basis


@pytest.mark.parametrize(
    ("said", "method"), [("", "full"), (" --with_adapters True", "lora"), (" --with_adapters False", "full")]
)
def test_adapters_that_an_option_leaves_off_are_none(checkout: Build, said: str, method: str) -> None:
    wrapped = "if args.with_adapters:\n    model = get_peft_model(model, LoraConfig(r=8))"
    program = SFT.format(wrapped=wrapped).replace("lora_rank: int = 8", "with_adapters: bool = False")
    findings = analyze(checkout({"sft.py": program, "run.sh": f"python sft.py --bf16{said}\n"})).findings
    assert value_of_best(findings, "training.method") == method


@pytest.mark.parametrize(
    ("how", "said", "method"),
    [
        (", is_trainable=True", " --with_adapters True", "lora"),
        (", is_trainable=True", "", "full"),
        ("", " --with_adapters True", "full"),
    ],
)
def test_adapters_that_lie_beside_the_weights_may_be_trained_on(
    checkout: Build, how: str, said: str, method: str
) -> None:
    wrapped = f"if args.with_adapters:\n    model = PeftModel.from_pretrained(model, 'x', subfolder='init'{how})"
    program = SFT.format(wrapped=wrapped).replace("lora_rank: int = 8", "with_adapters: bool = False")
    program = program.replace("import LoraConfig, get_peft_model", "import PeftModel")
    findings = analyze(checkout({"sft.py": program, "run.sh": f"python sft.py --bf16{said}\n"})).findings
    assert value_of_best(findings, "training.method") == method


@pytest.mark.parametrize(
    ("name", "said", "method"),
    [("train_qlora", "", "qlora"), ("train_lora", "", "lora"), ("train_qlora", " --load_in_4bit False", "lora")],
)
def test_a_program_named_for_qlora_lays_weights_at_four_bit(checkout: Build, name: str, said: str, method: str) -> None:
    program = SFT.format(wrapped="").replace("lora_rank: int = 8", "path: str = 'x'")
    findings = analyze(checkout({f"{name}.py": program, "run.sh": f"python {name}.py --bf16{said}\n"})).findings
    assert value_of_best(findings, "training.method") == method


@pytest.mark.parametrize(("target", "state"), [("swift/cli/sft.py", "on"), ("sft/cli/main.py", None)])
def test_a_tools_own_program_has_the_tools_defaults(checkout: Build, target: str, state: str | None) -> None:
    start = f"deepspeed {target} --model Qwen/Qwen2.5-7B-Instruct --tuner_type lora\n"
    findings = analyze(checkout({"train.sh": start})).findings
    assert value_of_best(findings, "training.gradient_checkpointing") == state


OTHER_KIND = "if args.use_lora:\n    c = LoraConfig(r=8)\nelse:\n    c = {kind}(r=8)\nmodel = get_peft_model(model, c)"


@pytest.mark.parametrize(
    ("wrapped", "said", "method"),
    [
        (OTHER_KIND.format(kind="RandLoraConfig"), "", "lora"),
        (OTHER_KIND.format(kind="RandLoraConfig"), " --use_lora True", "lora"),
        ("if args.use_lora:\n    model = get_peft_model(model, RandLoraConfig(r=8))", "", "full"),
    ],
)
def test_without_lora_adapters_of_another_kind_may_be_put_on(
    checkout: Build, wrapped: str, said: str, method: str
) -> None:
    program = SFT.format(wrapped=wrapped).replace("lora_rank: int = 8", "use_lora: bool = False")
    program = program.replace("import LoraConfig,", "import LoraConfig, RandLoraConfig,")
    findings = analyze(checkout({"sft.py": program, "run.sh": f"python sft.py --bf16{said}\n"})).findings
    assert value_of_best(findings, "training.method") == method


def test_a_remark_that_ends_with_a_backslash_swallows_no_command(checkout: Build) -> None:
    script = "# python train.py \\\ntorchrun --nproc_per_node 8 train.py \\\n  --lr 1\n"
    run = primary_run(checkout({"train.sh": script, "train.py": TRAIN}))
    assert run is not None
    assert run.shown == "torchrun train.py"


def test_a_last_line_that_would_go_on_is_a_command_all_the_same(checkout: Build) -> None:
    run = primary_run(
        checkout({"train.sh": "torchrun --nproc_per_node 8 train.py \\\n  --lr 1 \\\n", "train.py": TRAIN})
    )
    assert run is not None
    assert (run.shown, run.options.get("lr")) == ("torchrun train.py", "1")


BY_HAND = """
import argparse
import torch
from torch import nn
class Block(nn.Module):
    def forward(self, q, k, v):
        return torch.softmax((q @ k).masked_fill(self.mask, -1e9), dim=-1) @ v
if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--attn_impl", default="torch")
    Block(parser.parse_args().attn_impl).cuda()(x).backward()
"""


@pytest.mark.parametrize(("said", "kind"), [("", "eager"), (" --attn_impl flash", None)])
def test_attention_by_hand_that_a_run_does_not_choose(checkout: Build, said: str, kind: str | None) -> None:
    tree = checkout({"train.py": BY_HAND, "run.sh": f"python train.py --lr 1{said}\n", "requirements.txt": "torch\n"})
    assert value_of_best(analyze(tree).findings, "training.attention") == kind


def test_the_only_model_of_the_tree_is_nearer_than_the_usual_one_of_any(checkout: Build) -> None:
    generic = LOADS.replace('parser.add_argument("--model_args")', 'parser.add_argument("--path")')
    demo = "from transformers import AutoModelForCausalLM\nAutoModelForCausalLM.from_pretrained('{}').generate()\n"
    files = {"infer.py": generic, "requirements.txt": "torch\n", "deep/er/demo.py": demo.format("THUDM/codegeex2-6b")}
    found = [analyze(checkout(files)).breakdown]
    found.append(analyze(checkout({**files, "deep/er/b.py": demo.format("Qwen/Qwen2.5-72B")})).breakdown)
    names = [breakdown.terms[0].basis.split(",")[0] if breakdown else "" for breakdown in found]
    assert names == ["THUDM/codegeex2-6b", "meta-llama/Llama-2-7b-hf"]
