"""Commands of libraries that are used from a shell: what they run, with which model, and that a sentence with such a name is none."""

from __future__ import annotations

import time

import pytest

from gpu_lol_action.analysis.answer.assemble import analyze
from gpu_lol_action.domain.analysis import Analysis
from tests.unit.analysis.conftest import Build


def started(checkout: Build, command: str, listed: str = "") -> Analysis:
    files = {"run.sh": f"#!/bin/bash\n{command}\n"}
    return analyze(checkout({**files, "requirements.txt": f"{listed}\n"} if listed else files))


def value(found: Analysis, field: str) -> str:
    return next((f.value for f in found.findings if f.field == field), "")


@pytest.mark.parametrize(
    ("command", "listed", "model"),
    [
        ("whisper talk.mp3 --model large-v3 --device cuda", "openai-whisper", "openai/whisper-large-v3"),
        ("whisper $AUDIO", "openai-whisper", "openai/whisper-large-v3-turbo"),
        ("whisper-ctranslate2 a.wav --model medium.en", "whisper-ctranslate2", "openai/whisper-medium"),
        ("whisperx data/a.wav --diarize", "whisperx", "openai/whisper-small"),
        ("esm-fold -i f.fasta -o out", "fair-esm[esmfold]", "facebook/esmfold_v1"),
        ("aphrodite run meta-llama/Llama-3.1-8B-Instruct", "aphrodite-engine", "meta-llama/Llama-3.1-8B-Instruct"),
        ('lighteval vllm "model_name=HuggingFaceH4/zephyr-7b-beta,dtype=float16" "a|b|0|0"', "lighteval[vllm]",
         "HuggingFaceH4/zephyr-7b-beta"),
        ("boltz predict in.yaml --use_msa_server", "boltz", ""),
        ("chai-lab fold in.fasta out/", "chai_lab", ""),
        ("colabfold_batch in.fasta out/ --num-models 5", "colabfold[alphafold]", ""),
        ('tts --text "hi" --model_name tts_models/en/ljspeech/vits --use_cuda true', "coqui-tts", "tts_models/en/ljspeech/vits"),
        ("docker run --gpus all -p 8080:80 ghcr.io/huggingface/text-embeddings-inference:1.5 --model-id BAAI/bge-large-en-v1.5",
         "", "BAAI/bge-large-en-v1.5"),
    ],
)  # fmt: skip
def test_what_runs_a_model_on_a_card_is_heard(checkout: Build, command: str, listed: str, model: str) -> None:
    found = started(checkout, command, listed)
    assert found.proposed.meta.workload_type.value == "inference"
    assert value(found, "model.id") == model


@pytest.mark.parametrize(
    "line",
    ["whisper is what we use", "tts for everybody", "boltz is a predictor", "demucs separates stems", "aphrodite"],
)
def test_a_sentence_that_begins_with_such_a_name_starts_nothing(checkout: Build, line: str) -> None:
    found = analyze(checkout({"README.md": f"# Notes\n\n```\n{line}\n```\n"}))
    assert not found.proposed.needs_gpu


@pytest.mark.parametrize(
    ("command", "kind"),
    [
        (
            "docker run --gpus=1 nvcr.io/nvidia/tritonserver:24.05-py3 tritonserver --model-repository=/models",
            "inference",
        ),
        ("docker run --rm --gpus all our/trainer:latest --epochs 3", "inference"),
        ("docker run our/service:latest", "cpu-only"),
    ],
)
def test_a_script_that_gives_a_container_a_card_needs_one(checkout: Build, command: str, kind: str) -> None:
    assert started(checkout, command).proposed.meta.workload_type.value == kind


@pytest.mark.parametrize(
    "package", ["cudf-cu12", "cuml-cu11", "TTS", "FlagEmbedding", "aphrodite-engine", "whisper-ctranslate2"]
)
def test_packages_for_cards_are_known_by_the_names_that_pip_has(checkout: Build, package: str) -> None:
    assert analyze(checkout({"requirements.txt": f"{package}\n"})).proposed.needs_gpu


@pytest.mark.parametrize(
    ("command", "kind", "method"),
    [
        ("autotrain llm --train --model meta-llama/Llama-3.2-1B --data-path d --peft --quantization int4 --batch-size 4", "training", "qlora"),
        ("autotrain llm --train --model meta-llama/Llama-3.2-1B --data-path d --batch-size 4", "training", "full"),
        ("python unsloth-cli.py --model_name unsloth/llama-3-8b --load_in_4bit --r 64 --per_device_train_batch_size 4", "training", "qlora"),
        ("accelerate launch main.py --model bigcode/starcoder2-15b --tasks humaneval --precision bf16", "inference", ""),
        ("accelerate launch main.py --model gpt2 --tasks a,b --learning_rate 1e-4 --num_train_epochs 3", "training", "full"),
        ("xtuner train internlm2_5_chat_7b_qlora_oasst1_e3 --deepspeed deepspeed_zero2", "training", "qlora"),
    ],
)  # fmt: skip
def test_a_program_that_is_not_here_is_told_by_its_options(
    checkout: Build, command: str, kind: str, method: str
) -> None:
    found = started(checkout, command, "torch\ntransformers")
    assert (found.proposed.meta.workload_type.value, value(found, "training.method")) == (kind, method)


@pytest.mark.parametrize(
    ("recipe", "model"),
    [
        ("internlm2_5_chat_7b_qlora_oasst1_e3", "internlm2.5-chat-7b"),
        ("internlm2_chat_1_8b_full_custom_sft_e1", "internlm2-chat-1.8b"),
        ("llama2_70b_full_wizardlm_e1", "llama2-70b"),
        ("qlora_alpaca_e3", ""),
        ("my_dataset_7", ""),
    ],
)
def test_xtuner_s_recipes_name_their_models(checkout: Build, recipe: str, model: str) -> None:
    assert value(started(checkout, f"xtuner train {recipe}", "xtuner"), "model.id") == model


@pytest.mark.parametrize(
    ("recipe", "length"),
    [
        ("llama2_7b_qlora_oasst1_e3", "2048"),
        ("internlm_7b_qlora_oasst1_512_e3", "512"),
        ("phi3_mini_128k_instruct_qlora_alpaca_e3", "131072"),
        ("internlm2_chat_7b_full_finetune_custom_dataset_e1", "32768"),
    ],
)
def test_xtuner_s_recipes_say_their_step(checkout: Build, recipe: str, length: str) -> None:
    found = started(checkout, f"xtuner train {recipe}", "xtuner")
    assert (value(found, "training.batch_size"), value(found, "training.sequence_length")) == ("1", length)
    assert not any(gap.startswith(("no batch size", "no sequence length")) for gap in found.not_understood)


@pytest.mark.parametrize(
    "command",
    [
        "whisper a.mp3 --device cpu --model tiny",
        "demucs -d cpu song.mp3",
        "tts --text hi --model_name tts_models/en/x --use_cuda false",
        "boltz predict a.yaml --accelerator cpu",
        "colabfold_batch in.fasta out --msa-only",
    ],
)
def test_a_tool_that_is_told_the_cores_needs_no_card(checkout: Build, command: str) -> None:
    readme = f"# Use\n\n```\npip install openai-whisper demucs coqui-tts boltz\n{command}\n```\n"
    assert not analyze(checkout({"README.md": readme})).proposed.needs_gpu


@pytest.mark.parametrize(
    ("name", "text", "command"),
    [
        ("go.mod", "module github.com/a/whisper\n", "whisper encrypt secret.txt"),
        ("package.json", '{"name": "tts", "bin": {"tts": "index.js"}}', "tts --text hi"),
        ("README.md", "# Graphite's files\n", "whisper create /opt/graphite/x.wsp 60:1440"),
    ],
)
def test_another_program_of_such_a_name_is_none(checkout: Build, name: str, text: str, command: str) -> None:
    assert not analyze(checkout({name: text, "run.sh": f"#!/bin/bash\n{command}\n"})).proposed.needs_gpu


@pytest.mark.parametrize(
    "line",
    [
        "# docker run --gpus all would be needed, but we do not use it",
        "echo 'Test it with: docker run --rm --gpus all nvidia/cuda:11.0-base'",
        "docker run --rm --gpus all nvidia/cuda:11.0-base nvidia-smi",
        "alias dgpu='docker run --gpus all --rm -it'",
        'if [ "$GPU" = 1 ]; then docker run --gpus all x; else docker run x; fi',
        'if [ "$GPU" = 1 ]; then\n  docker run --gpus all x\nfi',
    ],
)
def test_a_script_that_only_speaks_of_containers_with_cards_needs_none(checkout: Build, line: str) -> None:
    assert not analyze(checkout({"tool.py": "import pandas\n", "t.sh": f"{line}\n"})).proposed.needs_gpu


@pytest.mark.parametrize(
    ("command", "listed"),
    [
        ("python evaluate.py --model meta-llama/Llama-2-70b-hf --epochs 1", "torch\ntransformers"),
        ("python simulate_client.py --epochs 5", "numpy"),
        ("python test.py --model_path x.pth --lr 1e-4 --epochs 100", "torch"),
    ],
)
def test_a_program_that_is_not_here_is_no_training_for_a_number_of_epochs(
    checkout: Build, command: str, listed: str
) -> None:
    found = analyze(checkout({"README.md": f"# Use\n\n```\n{command}\n```\n", "requirements.txt": f"{listed}\n"}))
    assert found.proposed.meta.workload_type.value != "training"


@pytest.mark.parametrize(
    "task", ["mnli --batch_size 32 --optimizer adamw", "nlvr,vqa --bs 32 --total_iters 1000", "pretrain --data x"]
)
def test_tasks_that_are_learned_are_no_evaluation(checkout: Build, task: str) -> None:
    found = started(checkout, f"torchrun --nproc_per_node 4 main.py --model bert-large-uncased --tasks {task}", "torch")
    assert found.proposed.meta.workload_type.value == "training"


@pytest.mark.parametrize(
    ("name", "text", "command"),
    [
        ("requirements.txt", "git+https://github.com/openai/whisper.git\n", "whisper talk.mp3 --model small"),
        ("requirements.txt", "whisper @ git+https://github.com/openai/whisper.git\n", "whisper talk.mp3"),
        ("pyproject.toml", '[project]\nname = "a"\nversion = "1"\ndependencies = ["openai-whisper", "ffmpeg-python"]\n', "whisper talk.mp3"),
        ("pyproject.toml", '[project]\nname = "a"\nversion = "1"\n[project.optional-dependencies]\nasr = ["openai-whisper>=20231117"]\n', "whisper talk.mp3"),
        ("setup.py", 'from setuptools import setup\nsetup(name="a", install_requires=["demucs","soundfile"])\n', "demucs song.mp3"),
        ("Dockerfile", "FROM python:3.11\nRUN pip install \\\n    torch \\\n    demucs \\\n    soundfile\n", "demucs song.mp3"),
        ("README.md", "# Use\n\n```\npip install tts\n```\n", "tts --text hi --model_name tts_models/en/ljspeech/vits"),
        ("environment.yml", "dependencies:\n  - python=3.11\n  - pip:\n      - demucs\n", "demucs song.mp3"),
    ],
)  # fmt: skip
def test_a_tool_is_installed_however_a_project_says_so(checkout: Build, name: str, text: str, command: str) -> None:
    found = analyze(checkout({name: text, "run.sh": f"#!/bin/bash\n{command}\n"}))
    assert found.proposed.meta.workload_type.value == "inference"


@pytest.mark.parametrize(
    "line",
    ["sudo -E docker run --gpus all img", "DOCKER_BUILDKIT=1 docker run --gpus all img", "cd a && docker run --gpus all img",
     "docker run \\\n  --gpus all \\\n  img"],
)  # fmt: skip
def test_a_container_that_is_started_by_the_way_is_started(checkout: Build, line: str) -> None:
    assert analyze(checkout({"t.sh": f"#!/bin/bash\n{line}"})).proposed.needs_gpu


def test_a_script_of_continued_lines_is_read_once(checkout: Build) -> None:
    long = "# docker run x \\\n" + " --gpus all \\\n" * 20_000
    started_at = time.process_time()
    assert not analyze(checkout({"t.sh": long})).proposed.needs_gpu
    assert time.process_time() - started_at < 20  # it was quadratic: a minute for 8,000 such lines
