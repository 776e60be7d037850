"""What language-model training reads beyond its options: switches, pairs, references, batches of tokens, other programs' models."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from gpu_lol_action.analysis.answer.assemble import analyze
from gpu_lol_action.analysis.formats.surest import value_of_best
from gpu_lol_action.domain.analysis import Analysis
from tests.unit.analysis.conftest import Build

QLORA_SWITCH = """
from dataclasses import dataclass, field
from transformers import AutoModelForCausalLM, BitsAndBytesConfig, Trainer, TrainingArguments
from peft import LoraConfig, get_peft_model
@dataclass
class LoraArguments:
    lora_r: int = 8
    q_lora: bool = False
model = AutoModelForCausalLM.from_pretrained(
    "meta-llama/Llama-2-7b-hf",
    quantization_config=BitsAndBytesConfig(load_in_4bit=True) if lora_args.q_lora else None,
)
model = get_peft_model(model, LoraConfig(r=lora_args.lora_r))
Trainer(model=model, args=TrainingArguments(per_device_train_batch_size=1)).train()
"""
DPO = """
from transformers import AutoModelForCausalLM
from trl import {trainer}
model = AutoModelForCausalLM.from_pretrained("meta-llama/Llama-3.2-1B")
{trainer}(model=model, {reference}args=DPOConfig(per_device_train_batch_size=2, max_length=1024, bf16=True)).train()
"""
SPEEDRUN = """
import torch
class Stage:
    def __init__(self, batch_size, train_max_seq_len): ...
STAGES = [Stage(batch_size=8 * 2048 * 8, train_max_seq_len=1024), Stage(batch_size=16 * 2048 * 8, train_max_seq_len=1024)]
class GPT(torch.nn.Module):
    def __init__(self, vocab_size, num_layers, model_dim, num_heads): ...
model = GPT(vocab_size=50304, num_layers=12, model_dim=768, num_heads=12)
model.cuda()
model.bfloat16()
model(x).backward()
"""
PLACEHOLDER = """
from transformers import AutoModel, Trainer, TrainingArguments
from peft import LoraConfig, get_peft_model
parser.add_argument("--base_path", default="checkpoints/base")
model = get_peft_model(AutoModel.from_pretrained(args.base_path), LoraConfig(r=8))
Trainer(model=model, args=TrainingArguments(per_device_train_batch_size=1)).train()
"""
DEMO = 'from transformers import AutoModel\nAutoModel.from_pretrained("{name}").generate()\n'


def analyzed(checkout: Build, files: Mapping[str, str]) -> Analysis:
    return analyze(checkout({"requirements.txt": "torch\ntransformers\n", **files}))


def said(analysis: Analysis, field: str) -> str | None:
    return value_of_best(analysis.findings, field)


@pytest.mark.parametrize(("option", "method", "bits"), [("False", "lora", None), ("True", "qlora", "4")])
def test_a_switch_that_is_off_wins_over_the_code_that_it_switches(
    checkout: Build, option: str, method: str, bits: str | None
) -> None:
    script = f"deepspeed train.py --q_lora {option} --lora_r 8\n"
    found = analyzed(checkout, {"train.py": QLORA_SWITCH, "train.sh": script})
    assert (said(found, "training.method"), said(found, "model.weight_bits")) == (method, bits)


def test_a_switch_is_what_the_program_starts_with_where_no_command_gives_it(checkout: Build) -> None:
    assert said(analyzed(checkout, {"train.py": QLORA_SWITCH}), "training.method") == "lora"


@pytest.mark.parametrize(
    ("trainer", "reference", "is_paired", "is_kept"),
    [
        ("DPOTrainer", "", True, True),
        ("DPOTrainer", "ref_model=None, ", True, True),
        ("SFTTrainer", "", False, False),
        ("OwnTrainer", "ref_model=other, ", False, True),
        ("OwnTrainer", "ref_model=None, ", False, False),
        ("ORPOTrainer", "", True, False),
        ("KTOTrainer", "", False, True),
    ],
)
def test_preferences_come_in_pairs_and_with_a_reference(
    checkout: Build, trainer: str, reference: str, is_paired: bool, is_kept: bool
) -> None:
    found = analyzed(checkout, {"train.py": DPO.format(trainer=trainer, reference=reference)})
    assert found.breakdown is not None
    terms = {term.name: term for term in found.breakdown.terms}
    assert f"batch {4 if is_paired else 2} x 1024 tokens" in terms["activations"].basis
    assert ("reference model" in terms) is is_kept
    if is_kept:
        assert terms["reference model"].gib == pytest.approx(1.236e9 * 2 / 2**30, rel=0.02)


def test_adapters_are_their_own_reference(checkout: Build) -> None:
    program = DPO.format(trainer="DPOTrainer", reference="") + "model = get_peft_model(model, LoraConfig(r=8))\n"
    found = analyzed(checkout, {"train.py": program})
    assert found.breakdown is not None
    assert "reference model" not in {term.name for term in found.breakdown.terms}


def test_a_configuration_that_names_the_stage_has_both(checkout: Build) -> None:
    config = "model_name_or_path: meta-llama/Llama-3.2-1B\nstage: dpo\nfinetuning_type: full\nper_device_train_batch_size: 1\n"
    found = analyzed(checkout, {"dpo.yaml": config, "README.md": "```\nllamafactory-cli train dpo.yaml\n```\n"})
    assert (said(found, "training.pairs"), said(found, "training.reference_model")) == ("on", "kept")


@pytest.mark.parametrize(("cards", "batch"), [(8, 32), (4, 64)])
def test_a_batch_of_tokens_is_divided_over_the_cards(checkout: Build, cards: int, batch: int) -> None:
    files = {"train.py": SPEEDRUN, "run.sh": f"torchrun --standalone --nproc_per_node={cards} train.py\n"}
    found = analyzed(checkout, files)
    assert found.breakdown is not None
    activations = next(term for term in found.breakdown.terms if term.name == "activations")
    assert f"batch {batch} x 1024 tokens" in activations.basis
    assert said(found, "training.batch_tokens") == str(16 * 2048 * 8)
    assert said(found, "training.precision") == "bf16"
    assert not [gap for gap in found.not_understood if "batch size" in gap]


def test_more_tokens_than_a_card_holds_are_taken_in_several_passes(checkout: Build) -> None:
    found = analyzed(checkout, {"train.py": SPEEDRUN})
    assert found.breakdown is not None
    activations = next(term for term in found.breakdown.terms if term.name == "activations")
    assert "batch 64 x 1024 tokens" in activations.basis


def test_the_only_model_that_a_checkout_loads_is_what_a_placeholder_stands_for(checkout: Build) -> None:
    files = {"finetune.py": PLACEHOLDER, "demo/chat.py": DEMO.format(name="THUDM/chatglm-6b")}
    found = analyzed(checkout, files)
    assert found.breakdown is not None
    assert "THUDM/chatglm-6b" in found.breakdown.terms[0].basis


def test_one_of_several_models_is_no_placeholders_meaning(checkout: Build) -> None:
    demos = {
        f"demo/{number}.py": DEMO.format(name=name)
        for number, name in enumerate(("THUDM/chatglm-6b", "meta-llama/Llama-2-7b-hf"))
    }
    assert analyzed(checkout, {"finetune.py": PLACEHOLDER, **demos}).breakdown is None


OFFLOADED = """
from transformers import AutoModelForCausalLM
from torch.distributed.fsdp import FullyShardedDataParallel as FSDP
from peft import LoraConfig, get_peft_model
model = AutoModelForCausalLM.from_pretrained("meta-llama/Llama-2-13b-hf", load_in_4bit=True)
model = FSDP(get_peft_model(model, LoraConfig(r=8)), use_cpu_offload=True, gradient_checkpointing=True)
model(x).backward()
"""


def test_a_figure_right_above_the_command_is_about_it_even_far_from_the_sum(checkout: Build) -> None:
    near = "# Own\n\nThis needs 16 GB of GPU memory:\n\n```\npython train.py --batch_size 1 --context_length 512\n```\n"
    far = near.replace("memory:\n", "memory.\n" + "\nMore words.\n" * 8)
    with_near = analyzed(checkout, {"train.py": OFFLOADED, "README.md": near})
    assert with_near.breakdown is not None
    assert with_near.breakdown.computed_gib is not None
    assert 2.5 < 16 / with_near.breakdown.computed_gib < 6
    with_far = analyzed(checkout, {"train.py": OFFLOADED, "README.md": far})
    assert with_far.breakdown is not None
    assert with_far.breakdown.weighed is None
    assert with_near.breakdown.required_gib > 1.5 * with_far.breakdown.required_gib


LORALIB = """
import torch
from net import Net, lora, mark_only_lora_as_trainable
with lora(r=8):
    model = Net.from_pretrained("meta-llama/Llama-2-7b-hf")
mark_only_lora_as_trainable(model)
model.cuda()(x).backward()
"""


def test_freezing_all_but_adapters_is_training_adapters(checkout: Build) -> None:
    net = "class Net: pass\ndef lora(r): ...\ndef mark_only_lora_as_trainable(model): ...\n"
    files = {"train.py": LORALIB, "net.py": net}
    assert said(analyzed(checkout, files), "training.method") == "lora"
    # The width of a quantizer that the network could use is not this run's.
    files["net.py"] += "class Quantized:\n    def __init__(self, bits: int = 4): ...\n"
    assert said(analyzed(checkout, files), "training.method") == "lora"
    files["train.py"] = LORALIB.replace("mark_only_lora_as_trainable(model)\n", "")
    assert said(analyzed(checkout, files), "training.method") == "full"


SWITCHED = """
from dataclasses import dataclass
from transformers import AutoModelForCausalLM, Trainer, TrainingArguments
from peft import LoraConfig, get_peft_model
@dataclass
class TrainingOptions(TrainingArguments):
    lora_enable: bool = False
model = AutoModelForCausalLM.from_pretrained("meta-llama/Llama-2-7b-hf")
if training_args.lora_enable:
    model = get_peft_model(model, LoraConfig(r=8))
if __name__ == "__main__":
    Trainer(model=model, args=training_args).train()
"""


@pytest.mark.parametrize(("given", "method"), [("", "full"), (" --lora_enable True", "lora")])
def test_a_switch_for_adapters_is_what_the_command_says(checkout: Build, given: str, method: str) -> None:
    files = {"train.py": SWITCHED, "README.md": f"# T\n```\npython train.py{given}\n```\n"}
    assert said(analyzed(checkout, files), "training.method") == method


CONFIGURED = """
from transformers import AutoModelForCausalLM, Trainer, TrainingArguments
from tool import ModelConfig
config = ModelConfig(model_path="meta-llama/Llama-2-13b-hf")
judge = JudgeConfig(model_path="meta-llama/Llama-2-70b-hf")
model = AutoModelForCausalLM.from_pretrained(config.model_path)
Trainer(model=model, args=TrainingArguments(per_device_train_batch_size=1)).train()
"""


def test_the_part_of_a_configuration_that_is_about_the_model_names_it(checkout: Build) -> None:
    assert said(analyzed(checkout, {"train.py": CONFIGURED}), "model.id") == "meta-llama/Llama-2-13b-hf"


BY_HAND = """
import torch
def main(attn_implementation: str = "eager"):
    scores = (q @ k.transpose(-1, -2)).masked_fill(mask, -1e9).softmax(-1)
    model.cuda()(x).backward()
if __name__ == "__main__":
    main()
"""


@pytest.mark.parametrize(("kind", "expected"), [("eager", "eager"), ("sparse_block", None), ("flash", None)])
def test_attention_to_a_part_of_the_text_keeps_no_scores(checkout: Build, kind: str, expected: str | None) -> None:
    files = {"train.py": BY_HAND, "README.md": f"# T\n```\npython train.py --attn_implementation {kind}\n```\n"}
    assert said(analyzed(checkout, files), "training.attention") == expected


SHARDED = """
import deepspeed
from transformers import AutoModelForCausalLM
model = AutoModelForCausalLM.from_pretrained("meta-llama/Llama-2-7b-hf")
engine, *_ = deepspeed.initialize(model=model)
engine.backward(loss)
"""
OFFLOADING = '{"zero_optimization": {"stage": 3, "offload_optimizer": {"device": "cpu"}}}'


@pytest.mark.parametrize(("given", "kept"), [("", None), (" --deepspeed_config ds_offload.json", "optimizer")])
def test_only_the_configuration_that_is_named_moves_weights_away(checkout: Build, given: str, kept: str | None) -> None:
    files = {
        "train.py": SHARDED,
        "ds_offload.json": OFFLOADING,
        "README.md": f"# T\n```\ndeepspeed train.py{given}\n```\n",
    }
    assert said(analyzed(checkout, files), "training.offload") == kept


def test_representation_finetuning_trains_adapters(checkout: Build) -> None:
    code = (
        "import pyreft, transformers\nmodel = transformers.AutoModelForCausalLM.from_pretrained('meta-llama/Llama-2-7b-hf')\n"
        "model = pyreft.get_reft_model(model, config)\npyreft.ReftTrainerForCausalLM(model=model, args=args).train()\n"
    )
    assert said(analyzed(checkout, {"train.py": code}), "training.method") == "lora"


def test_quantized_weights_are_not_trained_themselves(checkout: Build) -> None:
    code = (
        "import torch\nfrom transformers import AutoModelForCausalLM\n"
        "model = AutoModelForCausalLM.from_pretrained('meta-llama/Llama-2-7b-hf'{bits})\nmodel.cuda()(x).loss.backward()\n"
    )
    for bits, method in (("", "full"), (", load_in_8bit=True", "lora"), (", load_in_4bit=True", "qlora")):
        assert said(analyzed(checkout, {"train.py": code.format(bits=bits)}), "training.method") == method


@pytest.mark.parametrize(
    ("option", "length"), [("", "4096"), ("parser.add_argument('--max_length', default=256)\n", "256")]
)
def test_texts_are_as_long_as_a_network_holds_where_nothing_says_shorter(
    checkout: Build, option: str, length: str
) -> None:
    program = f"import torch\n{option}loss.backward()\nif __name__ == '__main__': pass\n"
    config = "model:\n  d_model: 4096\n  n_layers: 32\n  n_heads: 32\n  max_sequence_length: 4096\nbatch_size: 2\n"
    readme = "```\npython train.py configs/net.yaml\n```\n"
    analysis = analyzed(checkout, {"train.py": program, "configs/net.yaml": config, "README.md": readme})
    assert value_of_best(analysis.findings, "training.sequence_length") == length


TRANSLATOR = (
    "import argparse\nimport torch\nfrom torch.nn import Transformer\nparser = argparse.ArgumentParser()\n"
    "parser.add_argument('--batch_size', default=128, type=int)\nparser.add_argument('--{name}', default=100, type=int)\n"
    "args = parser.parse_args()\nnet = Transformer(512, 8).cuda()\nloss(net(x, y)).backward()\n"
    "torch.optim.Adam(net.parameters()).step()\n"
)


@pytest.mark.parametrize("name", ["maxlen1", "max_src_len", "max_token_seq_len", "max_sent_len"])
def test_translators_name_the_length_of_a_sentence_in_their_own_ways(checkout: Build, name: str) -> None:
    analysis = analyze(checkout({"train.py": TRANSLATOR.format(name=name)}))
    assert value_of_best(analysis.findings, "training.sequence_length") == "100"


@pytest.mark.parametrize(
    ("wrap", "expected"),
    [
        ("if FSDPOption.OFFLOAD in self.args.fsdp:\n            cpu_offload = CPUOffload(offload_params=True)\n        else:\n            cpu_offload = CPUOffload(offload_params=False)", None),
        ("cpu_offload = CPUOffload(offload_params=True)", "parameters"),
    ],
)  # fmt: skip
def test_a_trainer_that_offloads_on_a_condition_of_its_own_does_not(
    checkout: Build, wrap: str, expected: str | None
) -> None:
    trainer = f"import torch\nfrom torch.distributed.fsdp import CPUOffload, FullyShardedDataParallel as FSDP\n\nclass Trainer:\n    def wrap(self, model):\n        {wrap}\n        return FSDP(model, cpu_offload=cpu_offload)\n"
    program = (
        "import argparse\nfrom transformers import AutoModelForCausalLM\nfrom base_trainer import Trainer\n"
        "model = AutoModelForCausalLM.from_pretrained('facebook/opt-2.7b')\nTrainer(model).train()\nloss.backward()\noptimizer.step()\n"
    )
    files = {"train.py": program, "base_trainer.py": trainer, "run.sh": "torchrun --nproc_per_node=2 train.py\n"}
    findings = analyze(checkout(files)).findings
    assert next((item.value for item in findings if item.field == "training.offload"), None) == expected
