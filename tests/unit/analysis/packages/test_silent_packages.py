"""What transformers asks for and no program imports: accelerate and bitsandbytes."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import pytest

from gpu_lol_action.analysis.files.checkout import Checkout
from gpu_lol_action.analysis.packages import packages

Build = Callable[[Mapping[str, str]], Checkout]

TRAINS = "import torch\nfrom transformers import Trainer\nTrainer(model=net).train()\n"
LOADS = "from transformers import AutoModelForCausalLM\nnet = AutoModelForCausalLM.from_pretrained('org/net', device_map='auto')\nnet.generate()\n"
README = {"README.md": "```bash\npython train.py\n```\n"}


def found(tree: Checkout) -> list[str]:
    return [f.value for f in packages.detect(tree) if f.field == "dependencies.requirements"]


@pytest.mark.parametrize(
    "program",
    [
        TRAINS,
        "import transformers\nclass Own(transformers.Trainer):\n    pass\ntrainer = Own()\ntrainer.train()\n",
        (
            "from dataclasses import dataclass\nimport transformers\n@dataclass\nclass Args(transformers.TrainingArguments):\n    a: int = 1\n"
            "transformers.Trainer(args=Args()).train()\n"
        ),
        LOADS,
    ],
)
def test_what_transformers_asks_for_is_installed(checkout: Build, program: str) -> None:
    assert found(checkout({**README, "train.py": program}))[-1] == "accelerate"
    finding = next(f for f in packages.detect(checkout({})) if f.value == "accelerate")
    assert finding.evidence.path == "train.py"
    assert "needs it and no list names it" in finding.why


def test_a_list_that_forgets_it_is_completed(checkout: Build) -> None:
    files = {**README, "train.py": TRAINS, "requirements.txt": "torch\ntransformers>=4.28\n"}
    assert found(checkout(files)) == ["torch", "transformers>=4.28", "accelerate"]


@pytest.mark.parametrize(
    "list_",
    [
        "transformers[torch]",  # brings it
        "transformers\npeft",
        "transformers==4.28.1",  # trains without it
        "transformers~=4.20.0",
        "transformers>=4,<4.30",
        "transformers\naccelerate==0.20",
    ],
)
def test_it_is_not_named_where_it_comes_along_or_nothing_asks_for_it(checkout: Build, list_: str) -> None:
    files = {**README, "train.py": TRAINS, "requirements.txt": f"torch\n{list_}\n"}
    assert "accelerate" not in found(checkout(files))


@pytest.mark.parametrize(
    "program",
    [
        TRAINS.replace("from transformers", "from lightning"),  # another library's
        LOADS.replace("device_map='auto'", "device_map=None"),
        LOADS.replace(", device_map='auto'", ""),
        "from transformers import AutoConfig, AutoModel\nAutoConfig.from_pretrained('org/net', device_map='cuda')\nAutoModel.from_pretrained('a/b')\n",
        LOADS.replace(", device_map='auto'", "")
        + "def tune():\n    from transformers import Trainer\n",  # only now and then
    ],
)
def test_other_programs_do_without_it(checkout: Build, program: str) -> None:
    assert "accelerate" not in found(checkout({**README, "train.py": program}))


BITS = "from transformers import AutoModelForCausalLM, BitsAndBytesConfig\n{}net.generate()\nif __name__ == '__main__': pass\n"
TUNES = (
    "import argparse\nfrom transformers import Trainer, TrainingArguments, HfArgumentParser\nTrainer(model=net).train()\n"
    "if __name__ == '__main__': pass\n"
)


@pytest.mark.parametrize(
    ("lines", "is_needed"),
    [
        ("net = AutoModelForCausalLM.from_pretrained('org/net', load_in_8bit=True)\n", True),
        (
            "net = AutoModelForCausalLM.from_pretrained('org/net', quantization_config=BitsAndBytesConfig(load_in_4bit=True))\n",
            True,
        ),
        ("net = AutoModelForCausalLM.from_pretrained('org/net', load_in_8bit=False)\n", False),
        ("net = AutoModelForCausalLM.from_pretrained('org/net', load_in_8bit=args.int8)\n", False),
        (
            (
                "import argparse\nparser = argparse.ArgumentParser()\nparser.add_argument('--int8', action='store_true')\n"
                "args = parser.parse_args()\nif args.int8:\n    net = AutoModelForCausalLM.from_pretrained('org/net', load_in_8bit=True)\n"
            ),
            False,
        ),
    ],
)
def test_weights_in_few_bits_need_what_quantizes_them(checkout: Build, lines: str, is_needed: bool) -> None:
    files = {**README, "train.py": BITS.format(lines), "requirements.txt": "torch\ntransformers\naccelerate\n"}
    assert ("bitsandbytes" in found(checkout(files))) is is_needed


@pytest.mark.parametrize(
    ("optimizer", "is_needed"), [("paged_adamw_8bit", True), ("adamw_bnb_8bit", True), ("adamw_torch", False)]
)
def test_an_optimizer_in_few_bits_needs_it_too(checkout: Build, optimizer: str, is_needed: bool) -> None:
    readme = {"README.md": f"```bash\npython train.py --optim {optimizer}\n```\n"}
    files = {**readme, "train.py": TUNES, "requirements.txt": "torch\ntransformers\naccelerate\n"}
    assert ("bitsandbytes" in found(checkout(files))) is is_needed


@pytest.mark.parametrize(
    ("tokenizer", "list_", "is_needed"),
    [
        ("LlamaTokenizer", "torch\ntransformers\n", True),
        ("T5Tokenizer", "torch\ntransformers==4.20\n", True),
        ("LlamaTokenizerFast", "torch\ntransformers\n", False),
        ("CpmTokenizer", "torch\ntransformers\n", True),
        ("AutoTokenizer", "torch\ntransformers\n", False),
        ("T5Tokenizer", "torch\ntransformers[sentencepiece]\n", False),
        ("T5Tokenizer", "torch\ntransformers\nsentencepiece==0.1.99\n", False),
    ],
)
def test_tokenizers_of_pieces_need_sentencepiece(checkout: Build, tokenizer: str, list_: str, is_needed: bool) -> None:
    program = f"from transformers import AutoModel, {tokenizer}\nwords = {tokenizer}.from_pretrained('org/net')\nnet.generate()\n"
    requirements = found(checkout({**README, "train.py": program, "requirements.txt": list_}))
    assert ("sentencepiece" in requirements) is is_needed


@pytest.mark.parametrize(
    ("made", "is_needed"),
    [
        ("from transformers import CpmTokenizer\nwords = CpmTokenizer(vocab_file='a.model')\n", True),
        ("import transformers\nfrom words import GemmaTokenizer\nwords = GemmaTokenizer('a.json')\n", False),
        ("import transformers\n# words = T5Tokenizer(file)\n", False),
        ("import transformers\nwords = transformers.T5Tokenizer('a.model')\n", True),
        ("from net import Base\nclass T5Tokenizer(Base):\n    pass\n", False),
    ],
)
def test_a_tokenizer_of_pieces_may_be_made_of_a_file(checkout: Build, made: str, is_needed: bool) -> None:
    files = {**README, "train.py": f"{made}net.generate()\n", "requirements.txt": "torch\ntransformers\n"}
    assert ("sentencepiece" in found(checkout(files))) is is_needed


@pytest.mark.parametrize(
    ("name", "list_", "is_needed"),
    [
        ("AutoModelForCausalLM", "transformers==4.25.1\n", True),
        ("BertModel", "transformers\n", True),
        ("TFBertModel", "transformers\n", False),
        ("AutoTokenizer", "transformers\n", False),
        ("PreTrainedModel", "transformers\n", False),  # a word for types
        ("AutoModelForCausalLM", "transformers\ntensorflow\n", False),
    ],
)
def test_models_of_transformers_are_pytorch_s(checkout: Build, name: str, list_: str, is_needed: bool) -> None:
    program = f"from transformers import {name}\nnet = {name}.from_pretrained('org/net')\nnet.generate()\n"
    assert ("torch" in found(checkout({**README, "train.py": program, "requirements.txt": list_}))) is is_needed


@pytest.mark.parametrize(("options", "is_needed"), [(" --offload", True), ("", False)])
def test_moving_weights_to_main_memory_needs_accelerate(checkout: Build, options: str, is_needed: bool) -> None:
    program = (
        "import argparse\nfrom diffusers import DiffusionPipeline\nparser = argparse.ArgumentParser()\n"
        "parser.add_argument('--offload', action='store_true')\nargs = parser.parse_args()\n"
        "pipe = DiffusionPipeline.from_pretrained('org/net')\nif args.offload:\n    pipe.enable_model_cpu_offload()\npipe('a')\n"
    )
    files = {
        "README.md": f"```bash\npython train.py{options}\n```\n",
        "train.py": program,
        "requirements.txt": "torch\ndiffusers\n",
    }
    assert ("accelerate" in found(checkout(files))) is is_needed


@pytest.mark.parametrize(
    ("line", "is_needed"),
    [
        ("pipe = DiffusionPipeline.from_pretrained('o/net')", True),
        ("pipe = diffusers.StableDiffusionXLPipeline.from_pretrained('o/net')", True),
        ("pipe = DDPMPipeline.from_pretrained('o/net')", False),
        ("model = UNet2DModel.from_pretrained('o/net')", False),
    ],
)
def test_pipelines_encode_their_prompts_with_transformers(checkout: Build, line: str, is_needed: bool) -> None:
    text = f"import diffusers\nfrom diffusers import DiffusionPipeline, DDPMPipeline, UNet2DModel\n{line}\npipe.to('cuda')\n"
    found = packages.detect(checkout({"README.md": "```\npython draw.py\n```\n", "draw.py": text}))
    assert ("transformers" in [f.value for f in found if f.field == "dependencies.requirements"]) is is_needed


@pytest.mark.parametrize(
    ("search", "is_needed"),
    [
        ("trainer.hyperparameter_search(backend='optuna', n_trials=3)", True),
        ("trainer.hyperparameter_search(direction='maximize')", True),  # the first of the searchers that are there
        ("trainer.hyperparameter_search(backend='ray')", False),
        ("hyperparameter_search(net)", False),
        ("trainer.train()", False),
    ],
)
def test_a_trainer_s_search_for_hyperparameters_needs_optuna(checkout: Build, search: str, *, is_needed: bool) -> None:
    program = f"import torch\nfrom transformers import Trainer\ntrainer = Trainer(model=net)\n{search}\n"
    assert ("optuna" in found(checkout({**README, "train.py": program}))) is is_needed


@pytest.mark.parametrize(
    ("call", "is_needed"),
    [
        ("AutoModel.from_pretrained('org/net', attn_implementation='flash_attention_2')", True),
        ("AutoModel.from_config(config, use_flash_attention_2=True)", True),
        ("AutoModel.from_pretrained('org/net', attn_implementation='sdpa')  # not flash_attention_2", False),
        ("AutoModel.from_pretrained('org/net', use_flash_attention_2=False)", False),
        ("show('flash_attention_2')", False),
    ],
)
def test_weights_that_attend_by_flash_attention_need_it(checkout: Build, call: str, *, is_needed: bool) -> None:
    program = f"import torch\nfrom transformers import AutoModel\nnet = {call}\nloss.backward()\n"
    files = {**README, "train.py": program, "requirements.txt": "torch\ntransformers\n"}
    assert ("flash-attn" in found(checkout(files))) is is_needed


@pytest.mark.parametrize(
    ("config", "is_needed"), [('{"zero_optimization": {"stage": 3}}', True), ('{"stage": 3}', False)]
)
def test_a_stand_in_for_an_optimizer_beside_its_configuration_needs_deepspeed(
    checkout: Build, config: str, *, is_needed: bool
) -> None:
    program = (
        "import argparse\nimport torch\nimport transformers\nfrom accelerate.utils import DummyOptim\n"
        "parser = argparse.ArgumentParser()\nparser.add_argument('--deepspeed', action='store_true')\nargs = parser.parse_args()\n"
        "if args.deepspeed:\n    optimizer = DummyOptim(net.parameters(), lr=1e-4)\nloss.backward()\n"
    )
    files = {**README, "train.py": program, "requirements.txt": "torch\ntransformers\naccelerate\n"}
    assert ("deepspeed" in found(checkout({**files, "zero.json": config}))) is is_needed


STUB = "import warnings\nfrom diffusers import StableDiffusionImg2ImgPipeline\nwarnings.warn('moved')\n"


def test_a_pipeline_that_is_imported_needs_transformers_though_nothing_is_started(checkout: Build) -> None:
    assert "transformers" in found(checkout({"image.py": STUB}))
    assert "transformers" in found(checkout({"image.py": f"{STUB}StableDiffusionImg2ImgPipeline.from_config({{}})\n"}))


@pytest.mark.parametrize("name", ["DDPMPipeline", "DiffusionPipeline", "UNet2DModel"])
def test_what_reads_no_prompt_needs_no_transformers(checkout: Build, name: str) -> None:
    assert "transformers" not in found(checkout({"image.py": STUB.replace("StableDiffusionImg2ImgPipeline", name)}))


@pytest.mark.parametrize(
    ("more", "is_needed"), [({}, True), ({"requirements.txt": "torch\ntransformers\nnltk\ntqdm\n"}, False)]
)
def test_without_a_list_the_scripts_beside_the_run_are_served_too(
    checkout: Build, more: Mapping[str, str], *, is_needed: bool
) -> None:
    first = "import torch\nfrom transformers import AutoModel\nAutoModel.from_pretrained('org/net')\nloss.backward()\n"
    files = {**README, "train.py": first, "judge.py": LOADS, **more}
    assert ("accelerate" in found(checkout(files))) is is_needed
