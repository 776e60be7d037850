"""An answer does not hang on how a project is written: formatted, renamed, wrapped (`benchmarks/other_forms.py` asks real ones)."""

from __future__ import annotations

import importlib.util
import shutil
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from gpu_lol_action.analysis.answer.assemble import analyze
from gpu_lol_action.analysis.files.checkout import read_checkout
from gpu_lol_action.domain.analysis import Analysis

ROOT = Path(__file__).parents[2]
EXAMPLES = sorted(path for path in (ROOT / "examples").iterdir() if path.is_dir() and path.name != "hostile")
_SPEC = importlib.util.spec_from_file_location("other_forms_of_benchmarks", ROOT / "benchmarks" / "_other_forms.py")
assert _SPEC is not None
assert _SPEC.loader is not None
_MODULE = importlib.util.module_from_spec(_SPEC)
sys.modules[_SPEC.name] = _MODULE
_SPEC.loader.exec_module(_MODULE)
FORMS: Mapping[str, Callable[[Path], None]] = _MODULE.FORMS


def answered(folder: Path) -> tuple[Analysis, tuple[object, ...]]:
    analysis = analyze(read_checkout(folder))
    hardware, environment = analysis.spec.hardware, analysis.spec.environment
    wanted = (hardware.needed_gib, hardware.vram_required_gb, hardware.gpu_count, environment.base_image)
    return analysis, (analysis.spec.meta.workload_type, *wanted, *sorted(analysis.spec.dependencies.requirements))


@pytest.mark.parametrize(
    "form",
    ["lines-60", "lines-320", "no-remarks", "unparsed", "renamed", "joined", "wrapped", "yaml", "three-lists", "below"],
)
@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.name)
def test_another_form_gets_the_same_answer(example: Path, form: str, tmp_path: Path) -> None:
    copy = tmp_path / example.name
    shutil.copytree(example, copy)
    FORMS[form](copy)
    assert answered(copy)[1] == answered(example)[1]


def test_each_form_but_the_copy_writes_something_anew(tmp_path: Path) -> None:
    long = "the first line of a paragraph that is long enough to be wrapped at sixty\nand its second line"
    train = "# a remark\nmodel = Net()\nprint('a long line of a program', model, [1, 2, 3], {'and': 'so on', 'until': 'it is broken'})\n"
    files = {
        "train.py": train,
        "README.md": long,
        "config.yaml": "a: {b: 1} # c\n",
        "requirements.txt": "torch\neinops\n",
    }
    for form, write in FORMS.items():
        folder = tmp_path / form
        folder.mkdir()
        for name, text in files.items():
            (folder / name).write_text(text, encoding="utf-8")
        write(folder)
        now = {str(path.relative_to(folder)): path.read_text("utf-8") for path in folder.rglob("*") if path.is_file()}
        assert (now == files) is (form == "copy"), form
