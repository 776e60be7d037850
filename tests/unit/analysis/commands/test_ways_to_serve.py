"""The same server of a model, kept where people keep servers: each is heard with its model, its cards and its length."""

from __future__ import annotations

import json

import pytest

from gpu_lol_action.analysis.answer.assemble import analyze
from gpu_lol_action.analysis.commands.launch_commands import launch_commands
from gpu_lol_action.domain.finding import Confidence
from tests.unit.analysis.conftest import Build

MODEL = "Qwen/Qwen2.5-14B-Instruct"
OPTIONS = "--tensor-parallel-size 2 --max-model-len 16384"
SERVE = f"vllm serve {MODEL} {OPTIONS}"
NAMED = "vllm serve $MODEL -tp $TP --max-model-len $LENGTH"
VARIABLES = f"MODEL={MODEL}\nTP=2\nLENGTH=16384\nHF_TOKEN=hf_abcdefghijklmnop\n"
COMPOSE = "services:\n  llm:\n    image: vllm/vllm-openai:latest\n    command: --model {} -tp {} --max-model-len {}\n"
ASKED = COMPOSE.format("${MODEL}", "${TP:-2}", "${LENGTH}")
POD = "kind: Pod\nspec:\n  containers:\n  - name: a\n    image: vllm/vllm-openai:latest\n"
ENTRIES = f"    env:\n    - name: MODEL\n      value: {MODEL}\n    - name: TP\n      value: '2'\n    - name: LENGTH\n      value: '16384'\n"
TEXT_GENERATION = "ghcr.io/huggingface/text-generation-inference:3.0"


def cells(*texts: str) -> str:
    listed = [
        {"cell_type": "code", "source": text, "metadata": {}, "outputs": [], "execution_count": None} for text in texts
    ]
    return json.dumps({"cells": listed, "metadata": {}, "nbformat": 4, "nbformat_minor": 5})


WAYS = {
    "a script": {"serve.sh": SERVE},
    "docker, with variables of its own": {
        "README.md": f'```bash\ndocker run --gpus all --env "HF_TOKEN=<secret>" -e LANG=C -p 8000:8000 vllm/vllm-openai:latest --model {MODEL} {OPTIONS}\n```\n'
    },
    "a file of variables that a script reads": {".env": VARIABLES, "serve.sh": f"set -a\nsource .env\n{NAMED}\n"},
    "one that is exported": {
        ".env": VARIABLES,
        "serve.sh": f"if [ -f .env ]; then\n  export $(grep -v '^#' .env | xargs)\nfi\n{NAMED}\n",
    },
    "one that is to be copied": {".env.example": VARIABLES, "serve.sh": f". .env\n{NAMED}\n"},
    "Compose's": {".env": VARIABLES, "docker-compose.yml": ASKED},
    "Compose's, to be copied": {"env.example": VARIABLES, "docker-compose.yml": ASKED},
    "a service's file": {
        "llm.env": VARIABLES,
        "compose.yaml": f"services:\n  llm:\n    image: vllm/vllm-openai\n    env_file: llm.env\n    entrypoint: sh -c '{NAMED.replace('$', '$$')}'\n",
    },
    "a service's variables": {
        "compose.yaml": f"services:\n  llm:\n    image: vllm/vllm-openai\n    environment:\n      MODEL: {MODEL}\n      TP: 2\n      LENGTH: 16384\n    entrypoint: sh -c '{NAMED.replace('$', '$$')}'\n"
    },
    "a fragment of Compose": {
        "compose.yaml": f"x-llm: &llm\n  image: vllm/vllm-openai\n\nservices:\n  llm:\n    <<: *llm\n    command: --model {MODEL} {OPTIONS}\n"
    },
    "a pod's variables": {
        "pod.yaml": f'{POD}    command: ["vllm", "serve", "$(MODEL)"]\n    args: ["-tp", "$(TP)", "--max-model-len", "$(LENGTH)"]\n{ENTRIES}'
    },
    "a pod's shell": {"pod.yaml": f'{POD}{ENTRIES}    command: ["/bin/sh", "-c"]\n    args: ["{NAMED}"]\n'},
    "a pod's script": {
        "pod.yaml": f"{POD}{ENTRIES}    command: ['bash', '-c']\n    args:\n    - |\n      set -e\n      export HF_HOME=/cache\n      pip install hf_transfer\n      vllm serve $MODEL \\\n        -tp $TP \\\n        --max-model-len $LENGTH\n"
    },
    "the second of two pods": {
        "pods.yaml": f"kind: Pod\nspec:\n  containers:\n  - name: web\n    image: nginx\n    args: ['-g', 'daemon off;']\n---\n{POD}    args: ['--model', '{MODEL}', '-tp', '2', '--max-model-len', '16384']\n"
    },
    "KServe": {
        "service.yaml": f"kind: InferenceService\nspec:\n  predictor:\n    model:\n      modelFormat:\n        name: huggingface\n      args:\n        - --model_id={MODEL}\n        - --tensor-parallel-size=2\n        - --max-model-len=16384\n"
    },
    "KServe, with a place": {
        "service.yaml": f"kind: InferenceService\nspec:\n  predictor:\n    model:\n      modelFormat:\n        name: huggingface\n      storageUri: hf://{MODEL}\n      args: ['-tp', '2', '--max-model-len=16384']\n"
    },
    "an image's variables": {
        "Dockerfile": f"FROM ubuntu\nENV MODEL={MODEL} \\\n    # how many\n    TP=2\nENV LENGTH 16384\nCMD {NAMED}\n"
    },
    "an image's script": {
        "Dockerfile": f'FROM ubuntu\nENV MODEL={MODEL} TP="2" LENGTH=16384\nENTRYPOINT ["bash", "/start.sh"]\n',
        "start.sh": f"exec {NAMED}\n",
    },
    "an image's shell": {"Dockerfile": f'FROM ubuntu\nENTRYPOINT ["/bin/bash", "-c"]\nCMD ["{SERVE}"]\n'},
    "a case": {
        "serve.sh": f'case "${{1:-14b}}" in\n  7b) MODEL=Qwen/Qwen2.5-7B-Instruct; TP=1; LENGTH=512;;\n  14b) MODEL={MODEL}; TP=2; LENGTH=16384 ;;\nesac\n{NAMED}\n'
    },
    "in thousands": {"serve.sh": SERVE.replace("16384", "16K") + "\n"},
    "fetched before": {
        "serve.sh": f'hf download {MODEL} \\\n  --local-dir "./weights"\nvllm serve ./weights/ {OPTIONS}\n'
    },
    "a unit": {
        "deploy/llm.service": f"[Service]\nEnvironment=HF_HOME=/cache\nEnvironment=MODEL={MODEL}\nExecStart=/opt/venv/bin/vllm serve ${{MODEL}} \\\n  {OPTIONS}\nRestart=always\n"
    },
    "a Procfile": {"Procfile": f"web: {SERVE}\n"},
    "supervisord": {"supervisord.conf": f"[supervisord]\nnodaemon=true\n\n[program:llm]\ncommand={SERVE}\n"},
    "a Taskfile": {
        "Taskfile.yml": f"version: '3'\nvars:\n  MODEL: {MODEL}\ntasks:\n  serve:\n    vars:\n      TP: 2\n    cmds:\n      - vllm serve {{{{.MODEL}}}} -tp {{{{.TP}}}} --max-model-len 16384\n"
    },
    "a notebook's helper": {
        "a.ipynb": cells(
            f'from sglang.utils import launch_server_cmd\nprocess, port = launch_server_cmd("""\npython -m sglang.launch_server --model-path {MODEL} \\\n  --tp 2 --context-length 16384\n""")'
        )
    },
    "Ray's configuration": {
        "README.md": "```\nserve run serve_config.yaml\n```\n",
        "serve_config.yaml": f"applications:\n- name: llm\n  import_path: ray.serve.llm:build_openai_app\n  args:\n    llm_configs:\n    - model_loading_config:\n        model_id: mine\n        model_source: {MODEL}\n      engine_kwargs:\n        tensor_parallel_size: 2\n        max_model_len: 16384\n",
    },
    "tmux": {"serve.sh": f'tmux new-session -d -s vllm "{SERVE}"\n'},
    "tmux, sent": {"serve.sh": f'tmux send-keys -t vllm "{SERVE}" C-m\n'},
    "screen": {"serve.sh": f'screen -dmS vllm bash -c "{SERVE}"\n'},
    "a notebook's names": {
        "a.ipynb": cells(f"MODEL = '{MODEL}'\ntp = 2", "!nohup vllm serve {MODEL} -tp {tp} --max-model-len 16384 &")
    },
    "a notebook's process": {
        "a.ipynb": cells(
            f"import subprocess\nMODEL = '{MODEL}'\nsubprocess.Popen(['vllm', 'serve', MODEL, '-tp', '2', '--max-model-len', '16384'])"
        )
    },
}


def said(tree: dict[str, str], checkout: Build) -> dict[str, str]:
    fields = {"model.id": "model", "hardware.gpu_count": "cards", "training.sequence_length": "length"}
    found: dict[str, str] = {}
    for finding in analyze(checkout(tree)).findings:
        if finding.field in fields:
            found.setdefault(fields[finding.field], finding.value)
    return found


@pytest.mark.parametrize("files", WAYS.values(), ids=WAYS.keys())
def test_a_server_is_heard_wherever_it_is_kept(checkout: Build, files: dict[str, str]) -> None:
    assert said(files, checkout) == {"model": MODEL, "cards": "2", "length": "16384"}


TOLD_BY_VARIABLES = {
    "docker": {"run.sh": f"docker run --gpus all -e MODEL_ID={MODEL} --env NUM_SHARD=2 {TEXT_GENERATION}\n"},
    "Compose": {
        "compose.yaml": f"services:\n  llm:\n    image: {TEXT_GENERATION}\n    environment:\n      - MODEL_ID={MODEL}\n      - NUM_SHARD=2\n"
    },
    "a pod": {
        "pod.yaml": f"kind: Pod\nspec:\n  containers:\n  - name: a\n    image: {TEXT_GENERATION}\n    env:\n    - name: MODEL_ID\n      value: {MODEL}\n    - name: NUM_SHARD\n      value: '2'\n"
    },
    "an image": {"Dockerfile": f"FROM {TEXT_GENERATION}\nENV MODEL_ID={MODEL} NUM_SHARD=2\n"},
    "a script": {
        "run.sh": f"export MODEL_ID={MODEL}\nexport NUM_SHARD=2\ntext-generation-launcher --max-total-tokens 4096\n"
    },
}


@pytest.mark.parametrize("files", TOLD_BY_VARIABLES.values(), ids=TOLD_BY_VARIABLES.keys())
def test_a_server_is_told_its_options_by_its_environment(checkout: Build, files: dict[str, str]) -> None:
    found = said(files, checkout)
    assert (found["model"], found["cards"]) == (MODEL, "2")


def test_its_command_says_it_before_its_environment_does(checkout: Build) -> None:
    text = f"services:\n  llm:\n    image: {TEXT_GENERATION}\n    environment:\n      MODEL_ID: Qwen/Qwen2.5-72B-Instruct\n    command: --model-id {MODEL}\n"
    assert said({"compose.yaml": text}, checkout)["model"] == MODEL


@pytest.mark.parametrize(
    ("files", "model"),
    [
        # Another variable of the container's; a file that nobody reads; a blank in what is to be copied.
        ({"pod.yaml": f'{POD}{ENTRIES}    args: ["--model", "$(OTHER)"]\n'}, None),
        ({"settings.env": VARIABLES, "serve.sh": f"{NAMED}\n"}, None),
        ({".env.example": VARIABLES.replace(MODEL, "<your-model>"), "serve.sh": f"source .env\n{NAMED}\n"}, None),
        # Where another model is fetched to; a unit of another kind; what a notebook sets twice is not known.
        ({"serve.sh": f"hf download {MODEL} --local-dir ./other\nvllm serve ./weights -tp 2\n"}, None),
        ({"llm.timer": f"[Timer]\nExecStart=vllm serve {MODEL}\n", "a.py": "import torch\n"}, None),
        ({"a.ipynb": cells(f"MODEL = '{MODEL}'\nMODEL = 'gpt2'", "!vllm serve {MODEL} -tp 2")}, "gpt2"),
    ],
)
def test_what_is_not_given_to_it_says_nothing(checkout: Build, files: dict[str, str], model: str | None) -> None:
    assert said(files, checkout).get("model") == model


def test_another_services_variables_are_at_most_a_guess(checkout: Build) -> None:
    text = f"services:\n  a:\n    image: ours\n    environment:\n      MODEL_ID: {MODEL}\n  b:\n    image: {TEXT_GENERATION}\n    command: --num-shard 2\n"
    sure = [f.confidence for f in analyze(checkout({"compose.yaml": text})).findings if f.field == "model.id"]
    assert max(sure, default=Confidence.LOW) is Confidence.LOW


def test_what_opens_something_is_never_put_into_a_command(checkout: Build) -> None:
    secrets = "MODEL=a/b\nAPI_KEY=abc123\nTOKEN=hf_abcdefghijklmnop\nLOGIN=sk-abcdefghijklmnop\nMAX_TOKENS=512\n"
    line = "vllm serve $MODEL --api-key $API_KEY --hf-token $TOKEN --login $LOGIN --max-tokens $MAX_TOKENS"
    files = {
        ".env": secrets,
        "serve.sh": f"source .env\n{line}\n",
        "compose.yaml": f"services:\n  a:\n    image: vllm/vllm-openai\n    env_file: .env\n    environment:\n      - API_KEY=abc123\n    command: sh -c '{line.replace('$', '$$')}'\n",
    }
    for command in launch_commands(checkout(files)):
        assert command.options["max_tokens"] == "512"
        assert not {"abc123", "hf_abcdefghijklmnop", "sk-abcdefghijklmnop"} & set(command.options.values())
