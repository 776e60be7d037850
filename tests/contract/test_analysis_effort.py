"""What an analysis does not do: load what reads releases where none is told, and read the imports of every module of a library."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from gpu_lol_action.analysis.answer.assemble import analyze
from gpu_lol_action.analysis.files.checkout import read_checkout
from gpu_lol_action.analysis.python import code
from gpu_lol_action.analysis.python.scan import BlockReader, Import, Quoted, scan_imports

ROOT = Path(__file__).parents[2]
TRAINING = (
    "import numpy, torch\nmodel = torch.nn.Linear(8, 8).cuda()\nloss = model(numpy.ones(8)).sum()\nloss.backward()\n"
)
ANSWERING = (
    "import library.models.part_0\nfrom transformers import AutoModelForCausalLM\n"
    "print(AutoModelForCausalLM.from_pretrained('gpt2').cuda().generate())\n"
)
MODULES = 300
MOST_SCANNED = 100
"""Of a library of which one module is imported: that, what is started, and as many as tell that the library itself computes."""


def test_names_alone_need_no_reader_of_releases(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(TRAINING)
    (tmp_path / "README.md").write_text("```\npip install torch numpy\npython train.py\n```\n")
    program = (
        "import sys; from gpu_lol_action import cli; code = cli.main(sys.argv[1:])\n"
        "print('LOADED', sorted({'packaging', 'yaml', 'jinja2', 'difflib', 'subprocess'} & set(sys.modules)), file=sys.stderr); sys.exit(code)"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, "analyze", str(tmp_path), "--format", "json"],
        cwd=ROOT, env={"PYTHONPATH": str(ROOT)}, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0
    assert '"training"' in done.stdout
    assert done.stderr.strip().splitlines()[-1] == "LOADED []"


def test_of_a_library_only_what_is_started_is_followed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    package = tmp_path / "src" / "library" / "models"
    package.mkdir(parents=True)
    (tmp_path / "requirements.txt").write_text("torch\nnumpy\n")
    (tmp_path / "answer.py").write_text(ANSWERING)
    for number in range(MODULES):
        (package / f"part_{number}.py").write_text(
            f"from __future__ import annotations\nimport os\nimport torch\nfrom transformers import PreTrainedModel\n\n\ndef ran_{number}(x):\n    return torch.relu(x)\n"
        )
    scanned: list[str] = []
    original = scan_imports

    def counted(text: str, quoted: Quoted, read_block: BlockReader) -> tuple[Import, ...] | None:
        scanned.append(text)
        return original(text, quoted, read_block)

    monkeypatch.setattr(code, "scan_imports", counted)
    found = analyze(read_checkout(tmp_path))
    assert [each.value for each in found.findings if each.field == "workload"][:1] == ["inference"]
    assert 0 < len(scanned) <= MOST_SCANNED
