"""A part that was understood does not stand for the whole: own classes, own configurations, adapters and offloading of others."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import pytest

from gpu_lol_action.analysis.answer.assemble import analyze
from gpu_lol_action.analysis.files.checkout import Checkout
from gpu_lol_action.domain.analysis import Analysis

Build = Callable[[Mapping[str, str]], Checkout]
START = "    loss.cuda().backward()\n    optimizer.step()\n"


def value(analysis: Analysis, field: str) -> str | None:
    return next((finding.value for finding in analysis.findings if finding.field == field), None)


def test_a_class_of_the_programs_own_is_of_its_bases_family(checkout: Build) -> None:
    files = {
        "train.py": "import torch\nfrom reader import FusedReader\nif __name__ == '__main__':\n"
        f"    net = FusedReader.from_pretrained(args.reader)\n{START}",
        "reader.py": "import transformers\nclass FusedReader(transformers.T5ForConditionalGeneration):\n    pass\n"
        "class Retriever(transformers.BertModel):\n    pass\n",
        "requirements.txt": "torch\ntransformers\n",
    }
    assert value(analyze(checkout(files)), "model.family") == "google/flan-t5-large"


CONFIG = (
    "class {name}:\n    def __init__(self, vocab_size=184622, hidden_size=4096, num_hidden_layers=32,"
    " num_attention_heads=32):\n        pass\n"
)


@pytest.mark.parametrize(("path", "is_told"), [("net/configuration_net.py", True), ("net/things.py", False)])
def test_unknown_weights_have_the_shape_of_their_own_configuration(checkout: Build, path: str, is_told: bool) -> None:
    module = path.removesuffix(".py").replace("/", ".")
    files = {
        "train.py": f"import torch\nfrom {module} import NetConfig\nfrom transformers import AutoModelForCausalLM\nif __name__ == '__main__':\n"
        f"    net = AutoModelForCausalLM.from_pretrained(args.model_name_or_path)\n{START}",
        path: CONFIG.format(name="NetConfig"),
        "README.md": "```bash\npython train.py --model_name_or_path someone/net-base\n```\n",
        "requirements.txt": "torch\ntransformers\n",
    }
    breakdown = analyze(checkout(files)).breakdown
    assert (breakdown is not None) is is_told


TRAINER = (
    "from peft import get_peft_model\nclass OwnTrainer:\n"
    "    def __init__(self, model, peft_config=None):\n        {guard}model = get_peft_model(model, peft_config)\n"
)


@pytest.mark.parametrize(
    ("guard", "method"),
    [
        ("if peft_config is not None:\n            ", "full"),
        ("if True:\n            ", "lora"),
        (
            "if a:\n            b = 1\n        elif peft_available() and peft_config is not None:\n            if a:\n                b = 2\n\n            # given ones\n            ",
            "full",
        ),
        ("if peft_config is not None:\n            b = 1\n        ", "lora"),  # which ends above
    ],
)
def test_a_trainer_that_could_put_on_adapters_puts_on_none(checkout: Build, guard: str, method: str) -> None:
    files = {
        "train.py": "import torch\nfrom own_trainer import OwnTrainer\nfrom transformers import AutoModelForCausalLM\nif __name__ == '__main__':\n"
        f"    net = AutoModelForCausalLM.from_pretrained('facebook/opt-1.3b')\n    OwnTrainer(net).train()\n{START}",
        "own_trainer.py": TRAINER.format(guard=guard),
        "requirements.txt": "torch\ntransformers\npeft\n",
    }
    assert value(analyze(checkout(files)), "training.method") == method


OFFLOADS = "def config():\n    return {'zero_optimization': {'offload_param': {'device': 'cpu'}, 'stage': 3}}\n"


@pytest.mark.parametrize(("options", "is_offloaded"), [("", True), ("--deepspeed zero3.json ", False)])
def test_a_configuration_that_is_named_is_the_one_that_counts(
    checkout: Build, options: str, is_offloaded: bool
) -> None:
    files = {
        "train.py": "import torch\nfrom settings import config\nfrom transformers import AutoModelForCausalLM\nif __name__ == '__main__':\n"
        f"    net = AutoModelForCausalLM.from_pretrained('facebook/opt-1.3b')\n{START}",
        "settings.py": OFFLOADS,
        "zero3.json": '{"zero_optimization": {"stage": 3}}',
        "README.md": f"```bash\ntorchrun --nproc_per_node 2 train.py {options}--lr 1\n```\n",
        "requirements.txt": "torch\ntransformers\ndeepspeed\n",
    }
    assert (value(analyze(checkout(files)), "training.offload") is not None) is is_offloaded


def test_what_full_shard_says_wins_over_a_trainer_that_could_offload(checkout: Build) -> None:
    files = {
        "train.py": "import torch\nfrom own import wrap\nfrom transformers import AutoModelForCausalLM\nif __name__ == '__main__':\n"
        f"    net = AutoModelForCausalLM.from_pretrained('facebook/opt-1.3b')\n{START}",
        "own.py": "def wrap(model):\n    return FSDP(model, CPUOffload(offload_params=True))\n",
        "README.md": '```bash\ntorchrun --nproc_per_node 2 train.py --fsdp "full_shard auto_wrap"\n```\n',
        "requirements.txt": "torch\ntransformers\n",
    }
    assert value(analyze(checkout(files)), "training.offload") is None


@pytest.mark.parametrize(("dtype", "low", "high"), [("torch.bfloat16", 13, 17), ("args.dtype", 4, 17)])
def test_an_amount_that_cannot_hold_the_weights_is_another_runs(
    checkout: Build, dtype: str, low: int, high: int
) -> None:
    files = {
        "chat.py": "import torch\nfrom transformers import AutoModelForCausalLM\nif __name__ == '__main__':\n"
        f"    net = AutoModelForCausalLM.from_pretrained('mistralai/Mistral-7B-v0.1', torch_dtype={dtype}).cuda()\n    net.generate(x)\n",
        "README.md": "## Chat\n```bash\npython chat.py\n```\n## Smaller weights\nIt only requires 5 GB of GPU memory.\n",
        "requirements.txt": "torch\ntransformers\n",
    }
    analysis = analyze(checkout(files))
    assert analysis.breakdown is not None
    assert low <= analysis.breakdown.required_gib <= high


@pytest.mark.parametrize(
    ("dtype", "said", "low", "high"),
    [
        ("torch.float32", "It only requires 10 GB of GPU memory.", 48, 80),
        ("torch.float32", "It was run on one RTX 3080.", 48, 80),
        # What makes weights of 16 bit smaller, or moves them, does not always show: the card ran them.
        ("torch.float16", "It was run on one RTX 4090.", 20, 24),
    ],
)
def test_weights_of_32_bit_are_not_run_on_what_holds_less_than_half(
    checkout: Build, dtype: str, said: str, low: int, high: int
) -> None:
    files = {
        "chat.py": "import torch\nfrom transformers import AutoModelForCausalLM\nif __name__ == '__main__':\n"
        f"    net = AutoModelForCausalLM.from_pretrained('meta-llama/Llama-2-13b-hf', torch_dtype={dtype}).cuda()\n    net.generate(x)\n",
        "README.md": f"## Chat\n```bash\npython chat.py\n```\n{said}\n",
        "requirements.txt": "torch\ntransformers\n",
    }
    analysis = analyze(checkout(files))
    assert analysis.breakdown is not None
    assert low <= analysis.breakdown.required_gib <= high


@pytest.mark.parametrize(("said_gb", "is_believed"), [(5, False), (12, True), (34, True)])
def test_a_training_is_not_given_what_holds_it_at_no_width(checkout: Build, said_gb: int, is_believed: bool) -> None:
    files = {
        "train.py": "import torch\nfrom peft import LoraConfig, get_peft_model\nfrom transformers import AutoModelForCausalLM, Trainer\n"
        "model = AutoModelForCausalLM.from_pretrained('Qwen/Qwen2.5-14B', torch_dtype=torch.bfloat16)\n"
        "model = get_peft_model(model, LoraConfig(r=8))\nTrainer(model=model).train()\n",
        "README.md": f"## Installation\nThe example needs {said_gb} GB of GPU memory.\n",
        "requirements.txt": "torch\ntransformers\npeft\n",
    }
    analysis = analyze(checkout(files))
    assert analysis.breakdown is not None
    assert (analysis.breakdown.weighed is not None) is is_believed


def test_a_script_among_trials_is_a_variant_of_the_others(checkout: Build) -> None:
    files = {
        "train.py": f"import torch\nif __name__ == '__main__':\n{START}",
        "scripts/train/debug/a.sh": "python train.py --lr 1 --size small\n",
        "scripts/train/whole/b.sh": "torchrun --nproc_per_node 8 train.py --size large\n",
        "requirements.txt": "torch\n",
    }
    assert value(analyze(checkout(files)), "entry_point") == "torchrun train.py"


@pytest.mark.parametrize("kind", ["freeze", "ptuning", "prefix_tuning"])
def test_ways_to_train_few_of_the_weights_are_no_full_training(checkout: Build, kind: str) -> None:
    files = {
        "train.py": "import torch\nfrom transformers import AutoModelForCausalLM\nif __name__ == '__main__':\n"
        f"    net = AutoModelForCausalLM.from_pretrained('facebook/opt-6.7b')\n{START}",
        "README.md": f"```bash\npython train.py --train_type {kind}\n```\n",
        "requirements.txt": "torch\ntransformers\n",
    }
    assert value(analyze(checkout(files)), "training.method") == "lora"


CHAT = (
    "import torch\nfrom transformers import AutoModel, AutoTokenizer\n"
    "model_name_or_path = 'someone/Talker'\n"
    "net = {owner}.from_pretrained(model_name_or_path, trust_remote_code=True).half().cuda()\n"
    "if __name__ == '__main__':\n    answer = net.{verb}(tokenizer, question)\n"
)


@pytest.mark.parametrize(
    ("owner", "verb", "family"),
    [
        ("AutoModel", "chat", "THUDM/chatglm-6b"),
        ("AutoModel", "stream_chat", "THUDM/chatglm-6b"),
        ("AutoModel", "forward", None),
    ],
)
def test_a_model_of_unknown_size_that_chats_is_of_the_usual_size(
    checkout: Build, owner: str, verb: str, family: str | None
) -> None:
    files = {
        "chat.py": CHAT.format(owner=owner, verb=verb),
        "README.md": "```bash\npython chat.py\n```\n",
        "requirements.txt": "torch\ntransformers\n",
    }
    analysis = analyze(checkout(files))
    assert value(analysis, "model.family") == family
    assert (analysis.breakdown is not None) is (family is not None)


def test_a_class_of_a_known_family_tells_the_size_of_unknown_weights(checkout: Build) -> None:
    files = {
        "chat.py": "import torch\nfrom transformers import LlamaForCausalLM\nmodel_id = 'someone/Talker'\n"
        "net = LlamaForCausalLM.from_pretrained(model_id, torch_dtype=torch.float16).cuda()\n"
        "if __name__ == '__main__':\n    net.generate(question)\n",
        "requirements.txt": "torch\ntransformers\n",
    }
    breakdown = analyze(checkout(files)).breakdown
    assert breakdown is not None
    assert 12 < breakdown.expected_gib < 18


@pytest.mark.parametrize(
    ("title", "low", "high"),
    [
        ("# Net-13B", 24, 32),
        ("<h1 align='center'>Net-13B</h1>", 24, 32),
        ("# Net-7B and Net-13B", 12, 18),
        ("# Net", 12, 18),
    ],
)
def test_the_title_says_the_size_of_the_one_model(checkout: Build, title: str, low: int, high: int) -> None:
    files = {
        "chat.py": "import torch\nfrom transformers import AutoModelForCausalLM\n"
        "net = AutoModelForCausalLM.from_pretrained(args.path, torch_dtype=torch.float16).cuda()\n"
        "if __name__ == '__main__':\n    net.generate(question)\n",
        "README.md": f"{title}\n\n```bash\npython chat.py\n```\n",
        "requirements.txt": "torch\ntransformers\n",
    }
    breakdown = analyze(checkout(files)).breakdown
    assert breakdown is not None
    assert low <= breakdown.expected_gib <= high


@pytest.mark.parametrize(("default", "bits"), [("False", None), ("True", "4")])
def test_a_loader_that_offers_four_bits_loads_none(checkout: Build, default: str, bits: str | None) -> None:
    files = {
        "chat.py": "from loader import load\nif __name__ == '__main__':\n    net = load(args.path)\n    net.generate(x)\n",
        "loader.py": "import torch\nfrom transformers import AutoModelForCausalLM, BitsAndBytesConfig\n"
        f"def load(path, load_4bit={default}):\n    kwargs = {{}}\n    if load_4bit:\n"
        "        kwargs['quantization_config'] = BitsAndBytesConfig(load_in_4bit=True)\n"
        "    return AutoModelForCausalLM.from_pretrained(path, **kwargs).cuda()\n",
        "requirements.txt": "torch\ntransformers\n",
    }
    assert value(analyze(checkout(files)), "model.weight_bits") == bits


@pytest.mark.parametrize(("where", "batch"), [("parameter", None), ("program", "32")])
def test_a_helpers_batch_is_not_how_many_are_answered_at_once(checkout: Build, where: str, batch: str | None) -> None:
    own = "parser.add_argument('--batch_size', type=int, default=32)\n" if where == "program" else ""
    files = {
        "chat.py": "import argparse\nimport torch\nfrom helper import shorten\nfrom transformers import AutoModelForCausalLM\n"
        f"parser = argparse.ArgumentParser()\n{own}"
        "net = AutoModelForCausalLM.from_pretrained('facebook/opt-1.3b').cuda()\n"
        "if __name__ == '__main__':\n    net.generate(shorten(question))\n",
        "helper.py": "def shorten(texts, batch_size=32):\n    return texts[:batch_size]\n",
        "requirements.txt": "torch\ntransformers\n",
    }
    assert value(analyze(checkout(files)), "training.batch_size") == batch


def test_a_need_for_short_samples_is_no_need_of_sampling(checkout: Build) -> None:
    files = {
        "train.py": f"import torch\nfrom transformers import AutoModelForCausalLM\nnet = AutoModelForCausalLM.from_pretrained('gpt2')\nif __name__ == '__main__':\n{START}",
        "README.md": "## Prerequisites\nA GPU with >= 16 GB of VRAM (less may do for smaller sample lengths).\n## Run\n```bash\npython train.py\n```\n",
        "requirements.txt": "torch\ntransformers\n",
    }
    fields = {finding.field for finding in analyze(checkout(files)).findings}
    assert "documented.memory_gb" in fields
    assert "documented.inference.memory_gb" not in fields


def test_cards_of_a_training_are_not_those_over_which_an_answer_is_spread(checkout: Build) -> None:
    files = {
        "chat.py": "import torch\nfrom transformers import AutoModelForCausalLM\n"
        "net = AutoModelForCausalLM.from_pretrained('facebook/opt-6.7b', torch_dtype=torch.float16, device_map='auto')\n"
        "if __name__ == '__main__':\n    net.generate(question)\n",
        "README.md": "## Chat\n```bash\npython chat.py\n```\n## Fine-tuning\nWe fine-tuned the model on 8 * A100 80GB with DeepSpeed.\n",
        "requirements.txt": "torch\ntransformers\n",
    }
    assert analyze(checkout(files)).spec.hardware.gpu_count == 1


@pytest.mark.parametrize(
    ("heading", "sentence", "is_stated"),
    [
        ("CPU deployment", "Loading the model requires 60 GB of memory.", False),
        ("CPU deployment", "On a GPU it requires 24 GB of memory.", True),
        ("CPU and GPU", "Loading the model requires 60 GB of memory.", True),
        ("Deployment", "Loading the model requires 60 GB of memory.", True),
    ],
)
def test_memory_under_a_heading_on_cpus_is_the_machines(
    checkout: Build, heading: str, sentence: str, is_stated: bool
) -> None:
    files = {
        "chat.py": "import torch\nfrom transformers import AutoModelForCausalLM\n"
        "net = AutoModelForCausalLM.from_pretrained('facebook/opt-13b', torch_dtype=torch.float16).cuda()\n"
        "if __name__ == '__main__':\n    net.generate(question)\n",
        "README.md": f"## Chat\n```bash\npython chat.py\n```\n## {heading}\n{sentence}\n",
        "requirements.txt": "torch\ntransformers\n",
    }
    fields = {finding.field for finding in analyze(checkout(files)).findings}
    assert any(field.endswith("memory_gb") and field.startswith("documented") for field in fields) is is_stated


def test_an_amount_that_no_card_holds_is_no_need_of_this_run(checkout: Build) -> None:
    files = {
        "chat.py": "import torch\nfrom transformers import AutoModelForCausalLM\n"
        "net = AutoModelForCausalLM.from_pretrained('facebook/opt-6.7b', torch_dtype=torch.float16).cuda()\n"
        "if __name__ == '__main__':\n    net.generate(question)\n",
        "README.md": "# Press\nInference on a million tokens requires up to 330GB of GPU memory.\n## Run\n```bash\npython chat.py\n```\n",
        "requirements.txt": "torch\ntransformers\n",
    }
    assert (analyze(checkout(files)).spec.hardware.vram_required_gb or 0) < 48


def test_a_document_that_links_to_it_says_its_size(checkout: Build) -> None:
    readme = "# Sees\nThe weights: [Sees-38B](https://huggingface.co/me/Sees-38B)\n```bash\npython chat.py\n```\n"
    program = CHAT.format(owner="AutoModel", verb="chat").replace("'someone/Talker'", "args.weights")
    breakdown = analyze(checkout({"chat.py": program, "README.md": readme, "requirements.txt": "torch\n"})).breakdown
    assert breakdown is not None
    assert 60 < breakdown.expected_gib < 90
