"""OpenAI's package loads its models by their sizes, at 32 bit, whatever a program calls it."""

from __future__ import annotations

import pytest

from gpu_lol_action.analysis.answer.assemble import analyze
from tests.unit.analysis.conftest import Build


def told(checkout: Build, program: str) -> tuple[str | None, str | None]:
    files = {"requirements.txt": "openai-whisper\n", "run.py": f'{program}\nprint(model.transcribe("a.mp3")["text"])\n'}
    found = analyze(checkout(files)).findings
    values = (next((f.value for f in found if f.field == field), None) for field in ("model.id", "media.runtime"))
    return next(values), next(values)


@pytest.mark.parametrize(
    "program",
    [
        'import whisper\nmodel = whisper.load_model("base")',
        'import whisper as w\nmodel = w.load_model("base")',
        'from whisper import load_model\nmodel = load_model("base")',
        'from whisper import load_model as load\nimport whisper\nmodel = whisper.load_model("base")',
    ],
)
def test_the_package_is_known_by_any_name(checkout: Build, program: str) -> None:
    assert told(checkout, program) == ("openai/whisper-base", "openai-whisper")


@pytest.mark.parametrize(
    "program",
    [
        'from keras.models import load_model\nmodel = load_model("base")',
        'import whisperx as whisper\nmodel = whisper.load_model("base")',
        'from mine import load_model\nimport whisper\nmodel = load_model("base")',
    ],
)
def test_another_package_is_not_openais(checkout: Build, program: str) -> None:
    assert told(checkout, program)[1] is None


@pytest.mark.parametrize(
    ("command", "runtime"),
    [("whisper a.mp3 --model base", "openai-whisper"), ("whisper-ctranslate2 a.mp3 --model base", None)],
)
def test_its_command_loads_them_alike(checkout: Build, command: str, runtime: str | None) -> None:
    found = analyze(checkout({"requirements.txt": "openai-whisper\n", "run.sh": f"{command}\n"})).findings
    assert next((f.value for f in found if f.field == "media.runtime"), None) == runtime
