"""Services after FastChat's hold their model in workers; what stands before them hands on questions."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import pytest

from gpu_lol_action.analysis.answer.assemble import analyze
from gpu_lol_action.analysis.files.checkout import Checkout
from gpu_lol_action.analysis.runs.runs import primary_run
from gpu_lol_action.domain.spec import WorkloadType

Build = Callable[[Mapping[str, str]], Checkout]

PAGE = (
    "import gradio, requests\nfrom omni.model import load\nif __name__ == '__main__':\n    gradio.Blocks().launch()\n"
)
WORKER = "import torch\nfrom omni.model import load\nif __name__ == '__main__':\n    load('x').cuda().generate(torch.ones(1))\n"
MODEL = "from transformers import AutoModelForCausalLM\ndef load(path):\n    return AutoModelForCausalLM.from_pretrained(path)\n"
FILES = {
    "omni/__init__.py": "",
    "omni/model.py": MODEL,
    "omni/gradio_web_server.py": PAGE,
    "omni/model_worker.py": WORKER,
}


def test_the_worker_is_what_runs_the_model(checkout: Build) -> None:
    readme = (
        "```\npython -m omni.gradio_web_server --port 8000\n```\n\n"
        "```\npython -m omni.model_worker --model-path Llama-3.1-8B-Omni\n```\n"
    )
    tree = checkout({"README.md": readme, **FILES})
    run = primary_run(tree)
    assert run is not None
    assert (run.command and run.command.target, run.evidence.line) == ("omni.model_worker", 6)
    assert "Llama-3.1-8B-Omni" in [f.value for f in analyze(tree).findings if f.field == "model.id"]


def test_a_page_without_workers_is_the_run(checkout: Build) -> None:
    tree = checkout({"README.md": "```\npython -m omni.gradio_web_server --port 8000\n```\n", **FILES})
    run = primary_run(tree)
    assert run is not None
    assert run.command is not None
    assert run.command.target == "omni.gradio_web_server"


@pytest.mark.parametrize(
    ("command", "workload"),
    [
        ("parlai train_model --model transformer/biencoder -t convai2", WorkloadType.TRAINING),
        ("parlai interactive -m bart -mf zoo:bart/model", WorkloadType.INFERENCE),
        ("parlai display_data -t convai2", WorkloadType.CPU_ONLY),
    ],
)
def test_parlai_trains_and_talks_by_its_verbs(checkout: Build, command: str, workload: WorkloadType) -> None:
    result = analyze(checkout({"README.md": f"# Talk\n\n```\n{command}\n```\n"}))
    assert result.spec.meta.workload_type is workload
    if workload is not WorkloadType.CPU_ONLY:
        assert "parlai" in result.spec.dependencies.requirements


def test_who_hears_with_whisper_for_a_language_model_loads_that_one_at_16_bit(checkout: Build) -> None:
    text = (
        "import torch, whisper\nfrom transformers import AutoModelForCausalLM\n"
        "model = AutoModelForCausalLM.from_pretrained('meta-llama/Llama-3.1-8B', torch_dtype=torch.float16).cuda()\n"
        "speech = whisper.pad_or_trim(whisper.load_audio('a.wav'))\nmodel.generate(speech)\n"
    )
    result = analyze(checkout({"talk.py": text}))
    assert result.breakdown is not None
    assert 14 < result.breakdown.expected_gib < 18


@pytest.mark.parametrize("trainer", ["spm.SentencePieceTrainer.train", "BpeTrainer.train", "UnigramTrainer.train"])
def test_who_trains_a_tokenizer_trains_no_network(checkout: Build, trainer: str) -> None:
    text = f"import tensorflow as tf\nimport sentencepiece as spm\n{trainer}(input='a.txt', vocab_size=1000)\nprint(tf.ones(1))\n"
    assert analyze(checkout({"pieces.py": text})).spec.meta.workload_type is not WorkloadType.TRAINING


@pytest.mark.parametrize(
    ("taken", "is_run"),
    [
        ("from transformers.models.t5.modeling_t5 import T5ForConditionalGeneration\n", True),
        ("from transformers.models.auto import AutoTokenizer\n", False),
    ],
)
def test_who_takes_a_network_from_a_part_of_transformers_trains_it(
    checkout: Build, taken: str, *, is_run: bool
) -> None:
    text = (
        f"{taken}from transformers.training_args_seq2seq import Seq2SeqTrainingArguments\n" * is_run
        + f"{taken}from tokenizers import AddedToken\nfrom parts import OurTrainer\nif __name__ == '__main__':\n    OurTrainer().train()\n"
    )
    files = {
        "README.md": "# T\n## Training\n```\npython run.py\n```\n## Serve\n```\npython serve.py\n```\n",
        "run.py": text,
    }
    serve = "from transformers import pipeline\nif __name__ == '__main__':\n    pipeline('text-generation', model='gpt2')('x')\n"
    run = primary_run(checkout({**files, "serve.py": serve}))
    assert run is not None
    assert run.shown == ("python run.py" if is_run else "python serve.py")
