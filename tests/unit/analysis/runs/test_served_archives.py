"""What TorchServe serves is what the configuration says that a document has packed into its archive."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import pytest

from gpu_lol_action.analysis.answer.assemble import analyze, detect_all
from gpu_lol_action.analysis.files.checkout import Checkout
from gpu_lol_action.analysis.formats.surest import best, value_of_best
from gpu_lol_action.analysis.models.model_loads import model_name

Build = Callable[[Mapping[str, str]], Checkout]
PACKED = "# Serve\n```bash\ntorch-model-archiver --model-name m --handler vllm_handler \\\n  --config-file model-config.yaml\ntorchserve --start --models m\n```\n```bash\npython ../../utils/infer.py -m m\n```\n"
CONFIG = """\
minWorkers: 1
deviceType: "gpu"
handler:
    model_path: "model/models--meta-llama--Llama-3.1-8B-Instruct/snapshots/0123abcd"
    vllm_engine_config:
        max_model_len: 512
"""


def test_the_packed_configuration_names_model_and_length(checkout: Build) -> None:
    tree = checkout({"README.md": PACKED, "model-config.yaml": CONFIG, "prompt.json": "{}"})
    findings = detect_all(tree)
    assert value_of_best(findings, "model.id") == "meta-llama/Llama-3.1-8B-Instruct"
    assert value_of_best(findings, "serving.engine") == "vllm"
    assert value_of_best(findings, "training.sequence_length") == "512"
    # 15 GiB of weights, in the share of the card that the engine takes.
    assert 17 <= (analyze(tree).spec.hardware.vram_required_gb or 0) <= 24


def test_a_program_that_computes_itself_is_not_told_by_another_servers_configuration(checkout: Build) -> None:
    own = "import torch\nfrom transformers import AutoModel\nif __name__ == '__main__':\n    AutoModel.from_pretrained('bert-base-uncased').cuda()(1)\n"
    findings = detect_all(checkout({"README.md": PACKED, "model-config.yaml": CONFIG, "utils/infer.py": own}))
    assert best(findings, "serving.engine") is None


def test_the_launcher_for_language_models_is_a_server(checkout: Build) -> None:
    command = "python -m ts.llm_launcher --model_id meta-llama/Llama-3.1-8B-Instruct --disable_token_auth"
    findings = detect_all(checkout({"README.md": f"# Serve\n```\n{command}\n```\n", "requirements.txt": "vllm\n"}))
    assert value_of_best(findings, "workload") == "inference"
    assert value_of_best(findings, "serving.engine") == "vllm"


@pytest.mark.parametrize(
    ("path", "named"),
    [
        ("/data/hub/models--Qwen--Qwen2.5-7B-Instruct/snapshots/0a1b", "Qwen/Qwen2.5-7B-Instruct"),
        ("models--meta-llama--Llama-3.1-8B-Instruct", "meta-llama/Llama-3.1-8B-Instruct"),
        ("models--nobody--unheard-of", None),
    ],
)
def test_a_folder_of_the_hubs_cache_names_its_model(path: str, named: str | None) -> None:
    assert model_name(path) == named
