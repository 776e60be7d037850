"""Models that nothing names outright: constants of imported files, the family of a class; and assumptions that must stay rentable."""

from __future__ import annotations

import pytest

from gpu_lol_action.analysis.answer.assemble import analyze, detect_all
from gpu_lol_action.analysis.formats.surest import value_of_best
from gpu_lol_action.analysis.memory.memory_model import model_of
from gpu_lol_action.domain.finding import Confidence
from tests.unit.analysis.conftest import Build


def values(tree, field):
    return [finding.value for finding in detect_all(tree) if finding.field == field]


def test_constant_of_an_imported_file_names_the_model(checkout):
    tree = checkout({
        "train.py": "from settings import DEFAULT_INPUT_MODEL\nfrom transformers import AutoModelForCausalLM, Trainer\n"
        "model = AutoModelForCausalLM.from_pretrained(DEFAULT_INPUT_MODEL)\nTrainer(model=model).train()\n",
        "settings.py": "DEFAULT_INPUT_MODEL = 'EleutherAI/pythia-6.9b'\nTEACHER_MODEL = 'meta-llama/Llama-2-70b-hf'\n",
    })  # fmt: skip
    assert values(tree, "model.id") == ["EleutherAI/pythia-6.9b"]


@pytest.mark.parametrize(
    ("code", "family"),
    [
        ("from transformers import LlamaForCausalLM\nm = LlamaForCausalLM.from_pretrained(path)\nm.generate()", "meta-llama/Llama-2-7b-hf"),
        ("from diffusers import StableDiffusionXLPipeline\np = StableDiffusionXLPipeline.from_pretrained(path)", "stabilityai/stable-diffusion-xl-base-1.0"),
        ("from transformers import AutoModelForCausalLM\nm = AutoModelForCausalLM.from_pretrained(path)\nm.generate()", "meta-llama/Llama-2-7b-hf"),
        ("import torch\nm = torch.nn.Linear(2, 2)\nm(x).sum().backward()", None),
        ("from transformers import LlamaTokenizer\nt = LlamaTokenizer.from_pretrained(path)\nm.generate()", None),
    ],
)  # fmt: skip
def test_class_tells_the_family(checkout, code, family):
    assert values(checkout({"main.py": code + "\n"}), "model.family") == ([family] if family else [])


LADDER = (
    "from transformers import Trainer\nfrom ours import {names}\nif 'mixtral' in path:\n    m = LlavaMixtralForCausalLM.from_pretrained(path)\n"
    "elif 'mistral' in path:\n    m = LlavaMistralForCausalLM.from_pretrained(path)\n"
)
ROUNDED = "elif 'qwen' in path:\n    m = LlavaQwenForCausalLM.from_pretrained(path)\nelse:\n    m = LlavaLlamaForCausalLM.from_pretrained(path)\n"


@pytest.mark.parametrize(
    ("more", "family"), [(ROUNDED, "mistralai/Mistral-7B-v0.1"), ("", "mistralai/Mixtral-8x7B-v0.1")]
)
def test_of_many_families_the_exception_is_not_the_usual_one(checkout: Build, more: str, family: str) -> None:
    program = f"{LADDER.format(names='x')}{more}Trainer(model=m).train()\n"
    assert values(checkout({"train.py": program}), "model.family") == [family]


@pytest.mark.parametrize(
    ("program", "vocabulary"),
    [
        ("model = PaLM(num_tokens = 256, dim = 512, depth = 8)", ["256"]),
        ("depth = 8\ndim = 512\nnum_tokens = 256\nmodel = PaLM(dim, depth)", []),
    ],
)
def test_tokens_beside_layers_are_a_vocabulary(checkout: Build, program: str, vocabulary: list[str]) -> None:
    text = f"import torch\nfrom palm import PaLM\n{program}\nmodel(x).backward()\noptimizer.step()\n"
    assert values(checkout({"train.py": text}), "model.vocabulary") == vocabulary


def test_a_class_for_any_language_model_says_no_size_where_options_name_one(checkout):
    loads = "from transformers import AutoModelForCausalLM\ndef load(name):\n    return AutoModelForCausalLM.from_pretrained(name)\n"
    train = (
        "import torch, fire\nfrom loading import load\ndef main(weak_model_size: str = 'gpt2', strong_model_size: str = 'gpt2-xl'):\n"
        "    model = load(strong_model_size).cuda()\n    loss.backward()\nif __name__ == '__main__':\n    fire.Fire(main)\n"
    )
    analysis = analyze(checkout({"train.py": train, "loading.py": loads}))
    assert analysis.breakdown is not None
    assert "gpt2-xl" in analysis.breakdown.terms[0].basis


def test_family_is_used_and_said_where_nothing_is_named(checkout):
    analysis = analyze(checkout({
        "serve.py": "from transformers import LlamaForCausalLM\nimport sys\nm = LlamaForCausalLM.from_pretrained(sys.argv[1])\nm.generate()\n"
    }))  # fmt: skip
    assert 13 <= analysis.spec.hardware.vram_required_gb <= 24
    assert any("the usual one of its family" in gap for gap in analysis.not_understood)


def test_named_model_wins_over_the_family(checkout):
    analysis = analyze(checkout({
        "serve.py": "from transformers import LlamaForCausalLM\nm = LlamaForCausalLM.from_pretrained('meta-llama/Llama-2-13b-hf')\nm.generate()\n"
    }))  # fmt: skip
    assert analysis.spec.hardware.vram_required_gb > 24
    assert not any("family" in gap for gap in analysis.not_understood)


def test_class_for_any_model_is_no_family_where_its_call_names_the_model(checkout):
    code = "from transformers import AutoModelForCausalLM as A, AutoModelForCausalLM\nNAMES = {'small': 'openai-community/gpt2'}\n"
    tree = checkout({"main.py": code + "m = AutoModelForCausalLM.from_pretrained(NAMES['small'])\nm.generate()\n"})
    assert values(tree, "model.family") == []


def test_text_encoder_is_not_the_video_model_whose_files_say_their_family(checkout):
    tree = checkout({
        "demo.py": "from mochi_preview.pipelines import Pipeline\nimport torch\nPipeline().generate()\n",
        "mochi_preview/pipelines.py": "from transformers import T5EncoderModel\nt5_model = 'google/t5-v1_1-xxl'\n"
        "class Pipeline:\n    def __init__(self):\n        self.t5 = T5EncoderModel.from_pretrained(t5_model)\n",
        "mochi_preview/__init__.py": "",
    })  # fmt: skip
    need = analyze(tree)
    assert need.spec.hardware.vram_required_gb >= 40
    assert any("mochi" in gap for gap in need.not_understood)


def test_main_module_of_a_package_is_beside_nothing_though_its_name_says_so(checkout):
    main = "from transformers import BlipForConditionalGeneration as B\nB.from_pretrained('Salesforce/blip-image-captioning-large')\n"
    tree = checkout({
        "run.py": "from clip_teller import clip_teller\nimport torch\nif __name__ == '__main__':\n    clip_teller.model.generate(1)\n",
        "clip_teller/__init__.py": "",
        "clip_teller/clip_teller.py": main,
    })  # fmt: skip
    found = [f for f in detect_all(tree) if f.field == "model.id"]
    assert [(f.value, f.confidence.name) for f in found] == [("Salesforce/blip-image-captioning-large", "MEDIUM")]


def test_encoder_of_an_imported_file_is_not_the_model(checkout):
    tree = checkout({
        "demo.py": "from model import Chat\nimport torch\nchat = Chat()\nchat.generate()\n",
        "model.py": "from transformers import LlamaForCausalLM, BertModel\n"
        "class Chat:\n    def __init__(self, path=None):\n        self.q = BertModel.from_pretrained('bert-base-uncased')\n"
        "        self.llm = LlamaForCausalLM.from_pretrained(path)\n",
    })  # fmt: skip
    assert analyze(tree).spec.hardware.vram_required_gb > 10


def test_assumption_never_asks_for_what_nobody_rents(checkout):
    code = (
        "from transformers import AutoModelForCausalLM, Trainer, TrainingArguments\n"
        "model = AutoModelForCausalLM.from_pretrained('meta-llama/Llama-2-7b-hf')\n"
        "Trainer(model=model, args=TrainingArguments(per_device_train_batch_size=12, {})).train()\n"
    )
    run = "```\ntorchrun --nproc_per_node 8 train.py\n```\n"
    assumed = analyze(checkout({"train.py": code.format("max_seq_length=4096"), "README.md": run}))
    assert assumed.spec.hardware.vram_required_gb <= 80
    assert any("gradient checkpointing is assumed" in gap for gap in assumed.not_understood)
    default = code.format("max_seq_length=4096, gradient_checkpointing=False")
    assert analyze(checkout({"train.py": default, "README.md": run})).spec.hardware.vram_required_gb <= 80
    run = run.replace("train.py", "train.py --gradient_checkpointing False")
    stated = analyze(
        checkout(
            {"train.py": code.format("max_seq_length=4096, gradient_checkpointing=False, bf16=True"), "README.md": run}
        )
    )
    # What somebody decided is set aside only where no card at all would hold it, and that is said.
    assert stated.spec.hardware.vram_required_gb <= 141
    assert any("against what was read" in gap for gap in stated.not_understood)


def test_number_format_of_an_array_is_not_the_models(checkout):
    code = "import torch\nx = torch.zeros(2, dtype=torch.float32)\nloss = torch.nn.Linear(2, 2)(x).sum()\nloss.backward()\n"
    assert values(checkout({"train.py": code}), "training.precision") == []
    assert values(
        checkout({"train.py": code + "with torch.autocast('cuda', dtype=torch.bfloat16):\n    pass\n"}),
        "training.precision",
    ) == ["bf16"]


def test_train_type_names_qlora(checkout):
    tree = checkout({
        "train.py": "import argparse\nfrom transformers import AutoModelForCausalLM\np = argparse.ArgumentParser()\n"
        "p.add_argument('--train_type', default='full')\nAutoModelForCausalLM.from_pretrained('meta-llama/Llama-2-7b-hf')\nloss.backward()\n",
        "README.md": "```\npython train.py --train_type qlora\n```\n",
    })  # fmt: skip
    assert values(tree, "training.method") == ["qlora"]


@pytest.mark.parametrize(
    ("call", "model"),
    [
        ("whisper.load_model('medium', download_root='w')", ["openai/whisper-medium"]),
        ("whisper.load_model('base.en')", ["openai/whisper-base"]),
        ("whisper.load_model(path)", []),
        ("other.load_model('medium')", []),
    ],
)
def test_whisper_is_loaded_by_its_size(checkout, call, model):
    tree = checkout({"main.py": f"import whisper, other\nm = {call}\nm.cuda().transcribe('a')\n"})
    assert values(tree, "model.id") == model


def test_default_of_a_module_about_text_encoders_names_no_model(checkout):
    files = {
        "requirements.txt": "torch\n",
        "train.py": "import torch\nfrom net.text_encoder import Embedder\nif __name__ == '__main__':\n    Embedder()\n    loss.cuda().backward()\n",
        "net/text_encoder.py": "class Embedder:\n    def __init__(self, model_dir='t5-v1_1-xxl'):\n        self.model_dir = model_dir\n",
    }
    found = [f for f in analyze(checkout(files)).findings if f.field == "model.id"]
    assert {f.confidence for f in found if f.value == "t5-v1_1-xxl"} == {Confidence.LOW}


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("Evo('evo-1-131k-base')", "evo-1-131k-base"),
        ("Evo(path)", None),
        ("Evo('evo')", None),  # its own word, no model
        ("Encoder('evo-1-131k-base')", None),  # a part may be given any model's name
        ("evo('evo-1-131k-base')", None),
    ],
)
def test_a_class_of_the_model_s_own_name_is_told_which_it_is(checkout, line, expected):
    tree = checkout(
        {"sample.py": f"import torch\nfrom evo import Evo, Encoder, evo\nmodel = {line}.cuda()\nmodel(x)\n"}
    )
    assert values(tree, "model.id") == ([expected] if expected else [])


def test_what_the_program_names_is_the_model_where_a_class_of_data_sounds_like_one(checkout: Build) -> None:
    program = (
        "import torch\nfrom lab.data import Alpaca2k\nfrom lab.model import Net\n"
        "if __name__ == '__main__':\n    data = Alpaca2k()\n    net = Net(checkpoint_dir='EleutherAI/pythia-160m')\n"
        "    torch.optim.AdamW(net.parameters())\n    net(data).backward()\n"
    )
    model = model_of(detect_all(checkout({"train.py": program, "requirements.txt": "torch\n"})), {})

    assert model is not None
    assert model.name == "EleutherAI/pythia-160m"


def test_of_two_language_models_in_one_program_the_named_one_is_no_helper(checkout: Build) -> None:
    program = (
        "import torch\nfrom transformers import LlamaForCausalLM\nfrom lab.model import Net\n\n"
        "def convert(path):\n    return LlamaForCausalLM.from_pretrained(path)\n\n"
        "if __name__ == '__main__':\n    net = Net(checkpoint_dir='EleutherAI/pythia-160m')\n"
        "    torch.optim.AdamW(net.parameters())\n    net(1).backward()\n"
    )
    model = model_of(detect_all(checkout({"train.py": program, "requirements.txt": "torch\n"})), {})

    assert model is not None
    assert model.name == "EleutherAI/pythia-160m"


@pytest.mark.parametrize("loader", ["SentenceTransformer", "CrossEncoder", "SparseEncoder"])
def test_what_a_program_takes_where_nobody_says_another(checkout: Build, loader: str) -> None:
    program = (
        f"import sys\nfrom sentence_transformers import {loader}, {loader}Trainer\n"
        "name = sys.argv[1] if len(sys.argv) > 1 else 'distilbert-base-uncased'\n"
        f"model = {loader}(name)\n{loader}Trainer(model=model).train()\n"
    )
    found = detect_all(checkout({"train.py": program}))
    model = model_of(found, {})

    assert model is not None
    assert model.name == "distilbert/distilbert-base-uncased"
    assert value_of_best(found, "training.method") == "full"


def test_a_choice_that_is_known_is_not_the_other_one(checkout: Build) -> None:
    program = (
        "from transformers import AutoModel, Trainer\nSMALL = 'distilbert-base-uncased'\n"
        "name = SMALL if True else 'bert-large-uncased'\nmodel = AutoModel.from_pretrained(name)\nTrainer(model=model).train()\n"
    )
    model = model_of(detect_all(checkout({"train.py": program})), {})

    assert model is not None
    assert model.name == "distilbert/distilbert-base-uncased"


def test_the_other_branch_of_a_number_is_a_special_case(checkout: Build) -> None:
    program = (
        "import torch\n\ndef kernel(x):\n    batch_size = x.size(0) if x.ndim == 3 else 1\n    return batch_size\n\n"
        "if __name__ == '__main__':\n    loss.cuda().backward()\n"
    )
    assert value_of_best(detect_all(checkout({"train.py": program})), "training.batch_size") is None


ANY = "from transformers import AutoModelForCausalLM, Trainer\nm = AutoModelForCausalLM.from_pretrained(args.path)\nTrainer(model=m).train()\n"
LLAMA = ANY.replace("AutoModelForCausalLM", "LlamaForCausalLM")


@pytest.mark.parametrize(
    ("start", "program", "family"),
    [
        ("run_sft_yi_6b.sh", ANY, "yi-6b"),
        ("train_vicuna13b.sh", ANY, "vicuna-13b"),
        ("run_qwen3_30_a3b_math.sh", ANY, "qwen3-30b-a3b"),
        ("Qwen3-235B-A22B.sh", ANY, "Qwen3-235b-A22B"),
        ("train_mixtral_8x7b.sh", ANY, "mixtral-8x7b"),
        ("finetune_13b.sh", LLAMA, "meta-llama/Llama-13b"),
        ("finetune.sh", LLAMA, "meta-llama/Llama-2-7b-hf"),
        ("option_13.sh", ANY, "meta-llama/Llama-2-7b-hf"),
    ],
)
def test_what_starts_a_run_is_called_by_its_model(checkout: Build, start: str, program: str, family: str) -> None:
    tree = checkout({start: "deepspeed main.py --path /base_model\n", "main.py": program})
    assert values(tree, "model.family") == [family]


@pytest.mark.parametrize(("kind", "family"), [("pretrain_vicuna7b", ["vicuna-7b"]), ("pretrain", [])])
def test_a_networks_kind_names_a_part_of_it(checkout: Build, kind: str, family: list[str]) -> None:
    program = f"import argparse, torch\nfrom lib import load\np = argparse.ArgumentParser()\np.add_argument('--model-type', default='{kind}')\na = p.parse_args()\nm = load(a.model_type).cuda()\nm.generate(x)\n"
    assert values(checkout({"demo.py": program}), "model.family") == family


def test_a_name_says_nothing_where_the_model_is_named(checkout: Build) -> None:
    tree = checkout({"run_yi_34b.sh": "deepspeed main.py --model_name_or_path Qwen/Qwen2.5-7B\n", "main.py": ANY})
    assert values(tree, "model.family") == []


ASKS = "import argparse, torch\nfrom builder import load\np = argparse.ArgumentParser()\np.add_argument('--{key}', default='{model}')\na = p.parse_args()\nm = load(a.{key}).cuda()\n"


@pytest.mark.parametrize(
    ("key", "model", "does", "named"),
    [
        ("model_name", "facebook/opt-350m", "m.generate()", []),
        ("model_name", "facebook/opt-350m", "loss.backward()\noptimizer.step()", ["facebook/opt-350m"]),
        ("model_name", "facebook/opt-1.3b", "m.generate()", ["facebook/opt-1.3b"]),
        ("lm_path", "anas-awadalla/mpt-1b-redpajama-200b", "loss.backward()", ["anas-awadalla/mpt-1b-redpajama-200b"]),
        ("lm_path", "data/4gram.arpa", "loss.backward()", []),
        ("lm_weight", "anas-awadalla/mpt-1b-redpajama-200b", "loss.backward()", []),
    ],
)
def test_a_default_that_is_there_to_be_tried_is_not_meant(
    checkout: Build, key: str, model: str, does: str, named: list[str]
) -> None:
    program = f"{ASKS.format(key=key, model=model)}{does}\n"
    assert values(checkout({"main.py": program}), "model.id") == named


@pytest.mark.parametrize(
    ("section", "layers"),
    [
        ("hidden_size: 256\n  num_layers: 2\n  rnn_type: lstm", []),
        ("hidden_size: 256\n  num_layers: 2\n  act: tanh", ["2"]),
    ],
)
def test_recurrent_layers_are_no_transformer(checkout: Build, section: str, layers: list[str]) -> None:
    program = "import torch, yaml\nfrom net import build\nm = build(yaml.safe_load(open('conf.yaml')))\nm(x).backward()\noptimizer.step()\n"
    files = {
        "train.py": program,
        "conf.yaml": f"predictor:\n  {section}\n",
        "run.sh": "python train.py --config conf.yaml\n",
    }
    assert values(checkout(files), "model.layers") == layers


RECIPE = "batch_size: 4\nnumber_of_epochs: 30\nlr: 1.0\n"


@pytest.mark.parametrize(
    ("key", "model"), [("wav2vec2_hub", "facebook/wav2vec2-large-xlsr-53"), ("vocoder_hub", None), ("codec_hub", None)]
)
def test_a_recipe_names_the_place_of_its_encoder_on_the_hub(checkout: Build, key: str, model: str | None) -> None:
    files = {
        "README.md": "```\npython train.py hparams/train.yaml\n```\n",
        "hparams/train.yaml": f"{key}: facebook/wav2vec2-large-xlsr-53\n{RECIPE}",
        "train.py": "import torch\nloss.cuda().backward()\nopt.step()\n",
    }
    found = [f.value for f in detect_all(checkout(files)) if f.field == "model.id"]
    assert found[:1] == ([model] if model is not None else [])


def test_what_a_model_s_card_says_of_running_it_is_no_word_on_training_it(checkout: Build) -> None:
    program = "import torch\nfrom transformers import WhisperForConditionalGeneration\nnet = WhisperForConditionalGeneration.from_pretrained('openai/whisper-medium').cuda()\n"
    trained = analyze(checkout({"train.py": program + "net(x).loss.backward()\noptimizer.step()\n"})).breakdown
    assert trained is not None
    assert trained.required_gib > 12  # 769 million numbers with their states
    assert not any("names" in note for note in trained.notes)


LETTERS = """
class Letters:
    def __init__(self, text, block_size):
        chars = sorted(set(text))
        self.stoi = {ch: i for i, ch in enumerate(chars)}
        self.vocab_size = len(chars)
"""
PIECES = "class Letters:\n    def __init__(self, text, block_size):\n        self.vocab_size = 50257\n"
OWN_GPT = """
class GPTConfig:
    n_layer: int = 8
    n_embd: int = 512
    n_head: int = 8
    vocab_size: int = 50257
"""
SPELLS = """
import torch
from letters import Letters
from net import GPTConfig

if __name__ == '__main__':
    data = Letters(open('a.txt').read(), 128)
    config = GPTConfig()
    config.vocab_size = data.vocab_size
    model = build(config).cuda()
    loss = model(data)
    loss.backward()
    torch.optim.AdamW(model.parameters()).step()
"""


@pytest.mark.parametrize(("data", "vocabulary"), [(LETTERS, "128"), (PIECES, "50257")])
def test_characters_that_are_numbered_are_the_vocabulary(checkout: Build, data: str, vocabulary: str) -> None:
    tree = checkout({"train.py": SPELLS, "letters.py": data, "net.py": OWN_GPT})
    found = [f.value for f in analyze(tree).findings if f.field == "model.vocabulary"]
    assert found == [vocabulary]


BUILT = """
import torch
from transformers import LlamaConfig, LlamaForCausalLM
model = LlamaForCausalLM(LlamaConfig.from_pretrained("./models/language"))
model.load_state_dict(torch.load(path))
model.cuda().generate(prompt)
"""


@pytest.mark.parametrize(
    ("kind", "layers", "width", "model"),
    [
        ("llama", 40, 5120, "meta-llama/Llama-13b"),
        ("clip", 40, 5120, "meta-llama/Llama-2-7b-hf"),
        ("llama", 3, 64, "meta-llama/Llama-2-7b-hf"),
    ],
)
def test_the_configuration_beside_a_program_says_which_of_its_family_it_builds(
    checkout: Build, kind: str, layers: int, width: int, model: str
) -> None:
    config = f'{{"model_type": "{kind}", "num_hidden_layers": {layers}, "hidden_size": {width}, "vocab_size": 32000}}'
    tree = checkout(
        {
            "run/infer.py": BUILT,
            "run/models/language/config.json": config,
            "README.md": "```\npython run/infer.py\n```\n",
        }
    )
    assert values(tree, "model.family") == [model]
