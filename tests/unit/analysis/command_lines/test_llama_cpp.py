"""llama.cpp's programs: which weights, how long a context, and whether a card computes at all."""

from __future__ import annotations

import pytest

from gpu_lol_action.analysis.answer.assemble import analyze
from gpu_lol_action.analysis.command_lines.llama_cpp import told_to_llama_cpp
from gpu_lol_action.analysis.command_lines.server_variables import in_plain_numbers
from tests.unit.analysis.conftest import Build

FILE, HUB = "Qwen2.5-14B-Instruct-Q5_K_M.gguf", "bartowski/Qwen2.5-14B-Instruct-GGUF"
IMAGE = "ghcr.io/ggml-org/llama.cpp:server-cuda"
ON_A_CARD = "-c 16384 -ngl 99"
PYTHON = "from llama_cpp import Llama\n\nllm = Llama.from_pretrained(repo_id='{}', filename='{}', n_ctx=16384, n_gpu_layers=-1)\nprint(llm('a'))\n"

WAYS = {
    "its server": {"serve.sh": f"llama-server -m models/{FILE} {ON_A_CARD}\n"},
    "a build": {"serve.sh": f"./build/bin/llama-cli --model models/{FILE} --ctx-size 16384 --n-gpu-layers all -p hi\n"},
    "the Hub": {"README.md": f"```bash\nllama-server -hf {HUB}:Q5_K_M {ON_A_CARD}\n```\n"},
    "the Hub's file": {"serve.sh": f"llama-server --hf-repo {HUB} --hf-file {FILE} {ON_A_CARD}\n"},
    "an image": {"README.md": f"```bash\ndocker run --gpus all -v ./models:/models {IMAGE} -m /models/{FILE} {ON_A_CARD}\n```\n"},
    "its variables": {
        "compose.yaml": f"services:\n  llm:\n    image: {IMAGE}\n    environment:\n      LLAMA_ARG_MODEL: /models/{FILE}\n      LLAMA_ARG_CTX_SIZE: 16384\n      LLAMA_ARG_N_GPU_LAYERS: 99\n"
    },
    "Python": {"run.py": PYTHON.format(HUB, "*Q5_K_M.gguf")},
    "Python, a file": {
        "run.py": f"from huggingface_hub import hf_hub_download\nfrom llama_cpp import Llama\n\npath = hf_hub_download(repo_id='{HUB}', filename='{FILE}')\nllm = Llama(model_path=path, n_ctx=16384, n_gpu_layers=-1)\nprint(llm('a'))\n"
    },
}  # fmt: skip


@pytest.mark.parametrize("files", WAYS.values(), ids=WAYS.keys())
def test_weights_of_five_bits_keep_room_for_their_context(checkout: Build, files: dict[str, str]) -> None:
    analysis = analyze(checkout(files))
    found = {f.field: f.value for f in reversed(analysis.findings)}
    assert "Qwen2.5-14B-Instruct" in found["model.id"]
    assert (found["model.weight_bits"], found["training.sequence_length"]) == ("5", "16384")
    assert analysis.spec.hardware.vram_required_gb in {16, 20, 24}


@pytest.mark.parametrize("layers", ["", "-ngl 0", "--n-gpu-layers 0"])
def test_without_layers_for_a_card_it_computes_on_cores(checkout: Build, layers: str) -> None:
    assert not analyze(checkout({"serve.sh": f"llama-server -m models/{FILE} -c 4096 {layers}\n"})).spec.needs_gpu


@pytest.mark.parametrize(
    ("tool", "options", "told"),
    [
        ("llama-server", {"hf": "a/B-7B-GGUF"}, {"model": "B-7B-Q4_K_M.gguf"}),
        ("llama-server", {"hf": "a/B-7B-GGUF:Q8_0", "m": "c.gguf"}, {"model": "c.gguf"}),
        ("llama-server", {"hf": "$REPO/$NAME"}, {}),
        ("vllm", {"m": "c.gguf", "c": "4096"}, {}),
    ],
)
def test_short_options_mean_what_they_mean_to_it_alone(
    tool: str, options: dict[str, str], told: dict[str, str]
) -> None:
    assert told_to_llama_cpp(tool, options) == told


@pytest.mark.parametrize(
    ("text", "number"), [("16K", "16384"), ("16k", "16000"), ("25.6k", "25600"), ("4096", None), ("16Ki", None)]
)
def test_vllm_counts_in_thousands(text: str, number: str | None) -> None:
    assert in_plain_numbers("vllm", {"max_model_len": text}).get("max_model_len") == number
    assert not in_plain_numbers("python", {"max_model_len": text})
