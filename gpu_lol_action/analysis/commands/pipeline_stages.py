"""What the stages of a pipeline start: DVC's ``dvc.yaml``, MLflow's ``MLproject``."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from gpu_lol_action.analysis.files.checkout import Checkout, Source
from gpu_lol_action.analysis.files.configuration import read_settings
from gpu_lol_action.domain.patterns import regex

PIPELINES = frozenset({"dvc.yaml", "mlproject"})
"""Names of files that say what each stage starts (https://dvc.org/doc/user-guide/project-structure/dvcyaml-files,
https://mlflow.org/docs/latest/ml/projects/)."""

_COMMAND = regex(r"^(\s+)(?:cmd|command):\s*(.*)$")
_STAGE = regex(r"^(?:\s{2}|\t)([A-Za-z_][\w.@-]*):\s*$")
_FOLDER = regex(r"^\s+wdir:\s*[\"']?([\w./-]+)")
_GIVEN = regex(r"\{(\w+)\}|\$\{([\w.]+)\}")  # MLflow's and DVC's parameters: what they are called stays readable


def parameters(checkout: Checkout, source: Source) -> Mapping[str, str]:
    """Return what DVC puts into its stages: the values of ``params.yaml`` beside them, by their last words."""
    if source.name != "dvc.yaml":
        return {}
    beside = checkout.find(f"{source.folder}/params.yaml".lstrip("/"))
    settings = read_settings(beside) if beside is not None else ()
    return {setting.key: setting.text for setting in reversed(settings)}


def stage_lines(source: Source) -> Iterator[tuple[int, str, str]]:
    """Yield the commands of the stages with their line numbers, the stage's name as their section."""
    stage, folder, depth, block = "", "", -1, list[tuple[int, str]]()
    is_folded = False
    for number, line in enumerate([*source.text.split("\n"), ""], 1):
        bare, inner = line.strip(), len(line) - len(line.lstrip())
        if depth >= 0 and bare and (inner > depth or (inner == depth and bare.startswith("- "))):
            block.append((number, bare))
            continue
        if depth >= 0 and block:
            lines = [(block[0][0], " ".join(text for _, text in block))] if is_folded else block
            yield from ((place, _typed(text, folder), stage) for place, text in lines)
        depth, block = -1, []
        if (name := _STAGE.match(line)) is not None:
            stage, folder = name[1], ""
        elif (moved := _FOLDER.match(line)) is not None:
            folder = moved[1]
        elif (command := _COMMAND.match(line)) is not None:
            said = command[2].strip()
            if said in {"", "|", ">", "|-", ">-"}:
                depth, is_folded = len(command[1]), said.startswith(">")
            else:
                yield number, _typed(said, folder), stage


def _typed(text: str, folder: str) -> str:
    words = _GIVEN.sub(lambda m: f"${m[1] or m[2].rpartition('.')[2]}", text.removeprefix("- ").strip("\"'"))
    return f"cd {folder} && {words}" if folder else words
