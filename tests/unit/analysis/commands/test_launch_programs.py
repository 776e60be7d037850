"""Tools that run a model from a shell are started by programs as well."""

from __future__ import annotations

import pytest

from gpu_lol_action.analysis.answer.assemble import analyze
from tests.unit.analysis.conftest import Build

HEAD = "import os\nimport subprocess\nimport sys\n\npath = sys.argv[1]\n"


def workload(checkout: Build, program: str, package: str = "openai-whisper") -> tuple[str | None, str | None]:
    found = analyze(checkout({"requirements.txt": f"{package}\n", "run.py": HEAD + program})).findings
    values = (next((f.value for f in found if f.field == field), None) for field in ("workload", "model.id"))
    return next(values), next(values)


@pytest.mark.parametrize(
    "program",
    [
        'subprocess.run(["whisper", "a.mp3", "--model", "large-v3"], check=True)\n',
        'subprocess.Popen(["whisper", path, "--model", "large-v3"])\n',
        'command = ["whisper", path, "--model", "large-v3"]\nsubprocess.check_call(command)\n',
        'subprocess.run("whisper a.mp3 --model large-v3", shell=True)\n',
        'os.system("whisper a.mp3 --model large-v3")\n',
        "SIZE = 'large-v3'\nsubprocess.run(['whisper', path, '--model', SIZE])\n",
    ],
)
def test_a_process_that_transcribes_runs_its_model(checkout: Build, program: str) -> None:
    assert workload(checkout, program) == ("inference", "openai/whisper-large-v3")


@pytest.mark.parametrize(
    "program",
    [
        'subprocess.run(["whisper", "a.mp3", "--model", "large-v3", "--device", "cpu"])\n',
        'subprocess.run(["whisper", "--help"])\n',
        'subprocess.run(["echo", "whisper", "a.mp3"])\n',
        'print("whisper a.mp3 --model large-v3")\nsubprocess.run(["ls"])\n',
    ],
)
def test_what_runs_no_model_on_a_card_says_nothing(checkout: Build, program: str) -> None:
    assert workload(checkout, program)[0] != "inference"


def test_a_process_of_ultralytics_trains(checkout: Build) -> None:
    program = (
        'subprocess.run(["yolo", "detect", "train", "model=yolov8x.pt", "data=a.yaml", "imgsz=1280", "batch=16"])\n'
    )
    assert workload(checkout, program, "ultralytics")[0] == "training"
