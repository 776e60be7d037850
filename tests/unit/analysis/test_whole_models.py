"""A part that was understood does not stand for the whole: own classes, own configurations, adapters and offloading of others."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import pytest

from gpu_lol_action.analysis.assemble import analyze
from gpu_lol_action.analysis.checkout import Checkout
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
    ("guard", "method"), [("if peft_config is not None:\n            ", "full"), ("if True:\n            ", "lora")]
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
