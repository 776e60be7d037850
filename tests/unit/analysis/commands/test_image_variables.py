"""What runs an image's own command gives it variables: by a line, a file or a pod; other images' are theirs."""

from __future__ import annotations

import pytest

from gpu_lol_action.analysis.answer.as_json import analysis_json
from gpu_lol_action.analysis.answer.assemble import analyze
from gpu_lol_action.analysis.formats.surest import value_of_best
from tests.unit.analysis.conftest import Build

SERVE = 'import os\nfrom vllm import LLM\nllm = LLM(model=os.environ["BRAIN"], max_model_len=int(os.environ["REACH"]))\nllm.generate("a")\n'
IMAGE = 'FROM pytorch/pytorch:2.6.0-cuda12.4-cudnn9-runtime\nRUN pip install vllm\nCOPY . .\n{sets}CMD ["python3", "serve.py"]\n'
GIVEN = "-e BRAIN=Qwen/Qwen2.5-7B-Instruct -e REACH=4096 -e HF_TOKEN=hf_abcdefghij"
FILE = "BRAIN=Qwen/Qwen2.5-7B-Instruct\nREACH=4096\nHF_TOKEN=hf_abcdefghij\n"
BUILD = "docker build -t lab/serve:1 .\n"
POD = """apiVersion: v1
kind: Pod
spec:
  containers:
    - name: serve
      image: lab/serve:1
      env:
        - name: BRAIN
          value: Qwen/Qwen2.5-7B-Instruct
        - name: REACH
          value: "4096"
"""
TOLD = {
    "a document": {"README.md": f"```bash\n{BUILD}docker run --gpus all {GIVEN} -p 80:80 lab/serve:1\n```\n"},
    "a script": {"run.sh": f"{BUILD}docker run --rm --gpus all \\\n  {GIVEN} \\\n  lab/serve:1\n"},
    "a file": {"run.env": FILE, "run.sh": f"{BUILD}docker run --gpus all --env-file run.env lab/serve:1\n"},
    "a file's example": {
        ".env.example": FILE,
        "README.md": f"```bash\n{BUILD}docker run --gpus all --env-file=.env lab/serve:1\n```\n",
    },
    "a pod": {"pod.yaml": POD},
}


def said(checkout: Build, files: dict[str, str], sets: str = "") -> tuple[str | None, str | None]:
    found = analyze(checkout({"serve.py": SERVE, "Dockerfile": IMAGE.format(sets=sets), **files}))
    assert "hf_abcdefghij" not in str(analysis_json(found))
    best = [value_of_best(found.findings, field) for field in ("model.id", "serving.context_length")]
    return best[0], "4096" if "4096" in str(found.breakdown) else None


@pytest.mark.parametrize("way", TOLD)
def test_an_images_own_command_has_what_it_is_given(checkout: Build, way: str) -> None:
    assert said(checkout, TOLD[way]) == ("Qwen/Qwen2.5-7B-Instruct", "4096")


@pytest.mark.parametrize("way", ["a document", "a file"])
def test_what_it_is_given_goes_before_the_images_own(checkout: Build, way: str) -> None:
    assert said(checkout, TOLD[way], "ENV BRAIN=Qwen/Qwen2.5-3B-Instruct\n")[0] == "Qwen/Qwen2.5-7B-Instruct"


UNTOLD = {
    "another image": {"run.sh": f"{BUILD}docker run {GIVEN} somebody/else\n"},
    "another command": {"run.sh": f"{BUILD}docker run {GIVEN} lab/serve:1 bash\n"},
    "two values": {"run.sh": f"{BUILD}docker run {GIVEN} lab/serve:1\ndocker run {GIVEN.replace('7B', '3B')} lab/serve:1\n"},
    "two pods": {"pod.yaml": POD, "other.yaml": "kind: Pod\n"},
    "a server's pod": {"pod.yaml": POD.replace("lab/serve:1", "vllm/vllm-openai:latest")},
    "a second image": {"train/Dockerfile": 'FROM python\nCMD ["a"]\n', "run.sh": f"{BUILD}docker run {GIVEN} lab/serve:1\n"},
}  # fmt: skip


OF_ANOTHER = {
    "a folder's image": {"run.sh": f"{BUILD}docker build -t judge ./judge\ndocker run {GIVEN} judge\n"},
    "another program of the image": {"run.sh": f"{BUILD}docker run --entrypoint ./judge.sh {GIVEN} lab/serve:1\n"},
    "only the second of two runs": {"run.sh": f"{BUILD}docker run lab/serve:1\ndocker run {GIVEN} lab/serve:1\n"},
    "another deployment's": {"build.sh": BUILD, "judge.yaml": POD.replace("lab/serve:1", "lab/judge:2")},
    "two deployments'": {"a.yaml": POD, "b.yaml": POD.replace("7B", "3B")},
    "a service of another file": {
        "compose.yaml": "services:\n  judge:\n    build:\n      context: .\n      dockerfile: Dockerfile.judge\n    environment:\n      - BRAIN=Qwen/Qwen2.5-7B-Instruct\n",
    },
    "a service with another command": {
        "compose.yaml": "services:\n  judge:\n    build: .\n    command: python3 judge.py\n    environment:\n      - BRAIN=Qwen/Qwen2.5-7B-Instruct\n",
    },
}  # fmt: skip


@pytest.mark.parametrize("way", OF_ANOTHER)
def test_what_other_images_and_programs_are_given_is_theirs(checkout: Build, way: str) -> None:
    assert said(checkout, OF_ANOTHER[way], "RUN python3 judge.py --help\n")[0] != "Qwen/Qwen2.5-7B-Instruct"


def test_of_two_services_the_one_without_a_command_is_the_images_own(checkout: Build) -> None:
    composed = (
        "services:\n  api:\n    build: .\n    environment:\n      - BRAIN=Qwen/Qwen2.5-7B-Instruct\n"
        "  move:\n    build: .\n    command: python3 serve.py\n    environment:\n      - BRAIN=Qwen/Qwen2.5-3B-Instruct\n"
    )
    assert said(checkout, {"compose.yaml": composed})[0] == "Qwen/Qwen2.5-7B-Instruct"


@pytest.mark.parametrize("way", [way for way in UNTOLD if way not in {"two pods", "a server's pod"}])
def test_what_another_is_given_is_not_its(checkout: Build, way: str) -> None:
    assert said(checkout, UNTOLD[way])[0] != "Qwen/Qwen2.5-7B-Instruct"
