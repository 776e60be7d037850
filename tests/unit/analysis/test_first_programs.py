"""The first program of a guide, as people write it down: what it loads, trains and starts is told whatever library it is of."""

from __future__ import annotations

import pytest

from gpu_lol_action.analysis.answer.assemble import analyze
from gpu_lol_action.domain.analysis import Analysis
from tests.unit.analysis.conftest import Build

EMBEDS_AND_ANSWERS = """
import torch
from sentence_transformers import SentenceTransformer
from transformers import AutoModelForCausalLM
embedder = SentenceTransformer("BAAI/bge-large-en-v1.5", device="cuda")
llm = AutoModelForCausalLM.from_pretrained("mistralai/Mistral-7B-Instruct-v0.2", torch_dtype=torch.float16, device_map="auto")
print(llm.generate())
"""
HEARS_AND_ANSWERS = """
import torch, whisper
from transformers import AutoModelForCausalLM
ears = whisper.load_model("large-v3")
llm = AutoModelForCausalLM.from_pretrained("meta-llama/Llama-3.1-8B-Instruct", torch_dtype=torch.float16, device_map="auto")
print(llm.generate(ears.transcribe("a.wav")))
"""
KERAS_HUB = """
import keras, keras_hub
gemma = keras_hub.models.GemmaCausalLM.from_preset("gemma2_2b_en")
{adapters}
gemma.compile(optimizer=keras.optimizers.AdamW(5e-5), loss="sparse_categorical_crossentropy")
gemma.preprocessor.sequence_length = 512
gemma.fit(data, epochs=1, batch_size=1)
"""
LIGHTNING = """
import lightning as L, timm, torch
from lightning.pytorch.cli import LightningCLI
class Net(L.LightningModule):
    def __init__(self, name: str = "resnet50"):
        super().__init__()
        self.net = timm.create_model(name)
    def training_step(self, batch, index):
        return torch.nn.functional.cross_entropy(self.net(batch[0]), batch[1])
    def configure_optimizers(self):
        return torch.optim.AdamW(self.parameters())
if __name__ == "__main__":
    LightningCLI(Net)
"""
CONFIG = "trainer:\n  devices: 4\n  precision: bf16-mixed\nmodel:\n{model}data:\n  batch_size: 64\n"


def said(analysis: Analysis, field: str) -> str | None:
    return next((finding.value for finding in analysis.findings if finding.field == field), None)


@pytest.mark.parametrize(
    ("program", "beside", "card_gb"), [(EMBEDS_AND_ANSWERS, "bge-large", 20), (HEARS_AND_ANSWERS, "whisper", 24)]
)
def test_the_larger_of_two_models_of_several_kinds_is_the_run_s(
    checkout: Build, program: str, beside: str, card_gb: int
) -> None:
    lists = "torch\ntransformers\nsentence-transformers\nopenai-whisper\n"
    found = analyze(checkout({"main.py": program, "requirements.txt": lists}))
    assert found.breakdown is not None
    terms = {term.name: term for term in found.breakdown.terms}
    assert beside in terms["models beside"].basis
    assert terms["weights"].gib > 13
    assert found.spec.hardware.vram_required_gb == card_gb


def test_what_is_not_on_the_card_is_no_larger_model(checkout: Build) -> None:
    config = EMBEDS_AND_ANSWERS.replace(
        'AutoModelForCausalLM.from_pretrained("mistralai/Mistral-7B-Instruct-v0.2", torch_dtype=torch.float16, device_map="auto")',
        'AutoConfig.from_pretrained("meta-llama/Llama-2-70b-hf")',
    )
    assert "AutoConfig.from_pretrained" in config
    found = analyze(checkout({"main.py": config, "requirements.txt": "torch\ntransformers\nsentence-transformers\n"}))
    assert (found.spec.hardware.gpu_count, found.spec.hardware.vram_required_gb) == (1, 12)


def test_an_evaluation_of_a_hosted_model_loads_none(checkout: Build) -> None:
    words = "--model local-completions --model_args model=meta-llama/Llama-3.1-70B,base_url=https://api.example/v1"
    readme = f"```\nlm_eval {words} --tasks mmlu\n```\n"
    assert said(analyze(checkout({"README.md": readme, "requirements.txt": "lm_eval\n"})), "model.id") is None


@pytest.mark.parametrize(
    ("words", "model", "count"),
    [
        ("--model hf --model_args pretrained=meta-llama/Llama-3.1-8B,dtype=bfloat16", "meta-llama/Llama-3.1-8B", 1),
        ("--model vllm --model_args pretrained=Qwen/Qwen2.5-32B-Instruct,tensor_parallel_size=2", "Qwen/Qwen2.5-32B-Instruct", 2),
        ("--model hf --model_args=pretrained=EleutherAI/pythia-6.9b", "EleutherAI/pythia-6.9b", 1),
    ],
)  # fmt: skip
def test_what_an_evaluation_hands_on_is_its_model(checkout: Build, words: str, model: str, count: int) -> None:
    readme = f"```\nlm_eval {words} --tasks mmlu --batch_size 8\n```\n"
    found = analyze(checkout({"README.md": readme, "requirements.txt": "lm-eval[vllm]\n"}))
    assert said(found, "model.id") == model
    assert found.spec.hardware.gpu_count == count
    assert found.breakdown is not None


@pytest.mark.parametrize(("asked", "precision", "checkpointing"), [("trl", "bf16", "on"), ("trl==0.16.0", None, None)])
def test_trls_command_starts_as_its_release_does(
    checkout: Build, asked: str, precision: str | None, checkpointing: str | None
) -> None:
    readme = "```\ntrl dpo --model_name_or_path Qwen/Qwen2.5-0.5B-Instruct --dataset_name a/b --output_dir o\n```\n"
    found = analyze(checkout({"README.md": readme, "requirements.txt": f"{asked}\n"}))
    assert said(found, "training.precision") == precision
    assert said(found, "training.gradient_checkpointing") == checkpointing


@pytest.mark.parametrize(("adapters", "method"), [("gemma.backbone.enable_lora(rank=4)", "lora"), ("", "full")])
def test_a_preset_of_keras_hub_is_loaded_and_tuned(checkout: Build, adapters: str, method: str) -> None:
    found = analyze(checkout({"main.py": KERAS_HUB.format(adapters=adapters), "requirements.txt": "keras-hub\njax\n"}))
    assert said(found, "model.id") == "gemma2_2b_en"
    assert said(found, "training.method") == method
    # Keras computes at 32 bit unless it is told otherwise.
    assert said(found, "model.weight_bits") == "32"
    assert found.breakdown is not None
    assert next(term.gib for term in found.breakdown.terms if term.name == "weights") == pytest.approx(7.45, abs=0.1)


def test_a_program_of_lightning_s_alone_hears_its_configuration(checkout: Build) -> None:
    program = "import timm, torch\ndef build(name='resnet50'):\n    return timm.create_model(name)\nnet = build().cuda()\nnet(x).backward()\n"
    files = {"train.py": program, "config.yaml": "model:\n  name: my-baseline\n", "requirements.txt": "timm\n",
             "README.md": "```\npython train.py --config config.yaml\n```\n"}  # fmt: skip
    assert said(analyze(checkout(files)), "media.network") == "resnet50"


@pytest.mark.parametrize(
    "model",
    ["  name: vit_large_patch16_224\n", "  class_path: main.Net\n  init_args:\n    name: vit_large_patch16_224\n"],
)
def test_a_configuration_of_lightnings_command_line_says_the_network(checkout: Build, model: str) -> None:
    files = {
        "main.py": LIGHTNING,
        "config.yaml": CONFIG.format(model=model),
        "README.md": "```\npython main.py fit --config config.yaml\n```\n",
        "requirements.txt": "lightning\ntimm\n",
    }
    found = analyze(checkout(files))
    assert said(found, "media.network") == "vit_large_patch16_224"
    assert found.breakdown is not None
    assert any(term.basis.startswith("vit_large_patch16_224, 64 x") for term in found.breakdown.terms)
