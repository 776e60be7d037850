from __future__ import annotations

import contextlib
import json
import os
import random
from collections.abc import Iterator
from pathlib import Path

import pytest

from gpu_lol_action.analysis.answer.as_json import analysis_json
from gpu_lol_action.analysis.answer.assemble import analyze
from gpu_lol_action.analysis.files import checkout as checkout_module
from gpu_lol_action.analysis.files import tree as tree_module
from gpu_lol_action.analysis.files.checkout import Source, read_checkout
from gpu_lol_action.analysis.files.configuration import read_settings
from gpu_lol_action.analysis.formats.paths import Form, Role

EXAMPLES = Path(__file__).parents[4] / "examples"


def write(root: Path, files: dict[str, str]) -> Path:
    for path, text in files.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text, encoding="utf-8")
    return root


def test_roles_say_what_a_file_may_speak_for(tmp_path: Path) -> None:
    files = {
        "train.py": "import torch\n",
        "tests/test_train.py": "import vllm\n",
        "src/conftest.py": "import vllm\n",
        "third_party/apex/setup.py": "import vllm\n",
        "node_modules/x/a.py": "import vllm\n",
        "docs/conf.py": "import vllm\n",
        "README.md": "hello\n",
        "requirements.txt": "torch\n",
        "poetry.lock": "vllm\n",
        "data/train.csv": "a,b\n",
    }
    found = {source.path: source.role for source in read_checkout(write(tmp_path, files)).sources}
    assert found == {
        "README.md": Role.DOCUMENTATION,
        "docs/conf.py": Role.ASIDE,
        "requirements.txt": Role.PACKAGES,
        "src/conftest.py": Role.ASIDE,
        "tests/test_train.py": Role.ASIDE,
        "train.py": Role.WORKLOAD,
    }


def test_links_and_special_files_are_never_followed(tmp_path: Path) -> None:
    outside = write(tmp_path / "outside", {"secret.py": "import vllm\n"})
    inside = write(tmp_path / "inside", {"a.py": "import torch\n"})
    (inside / "link.py").symlink_to(outside / "secret.py")
    (inside / "folder").symlink_to(outside)
    (inside / "loop").symlink_to(inside)
    os.mkfifo(inside / "pipe.py")
    (inside / ".gpu-lol.yaml").symlink_to(outside / "secret.py")
    found = read_checkout(inside)
    assert [source.path for source in found.sources] == ["a.py"]
    assert found.spec_text is None
    assert found.files_skipped >= 4


def test_bounds_hold_and_are_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checkout_module, "MAX_FILES", 5)
    monkeypatch.setattr(checkout_module, "MAX_FILE_BYTES", 1000)
    monkeypatch.setattr(tree_module, "MAX_DEPTH", 2)
    files = {f"a{n}.py": "x = 1\n" for n in range(9)} | {"big.py": "#" * 2000, "a/b/c/d.py": "y = 1\n"}
    found = read_checkout(write(tmp_path, files))
    assert len(found.sources) == 5
    assert found.files_skipped == 6
    assert found.notes == (
        f"{checkout_module.TOO_MANY}: a5.py, a6.py, a7.py and 2 more",
        f"{tree_module.DEEP}: a/b/c",
    )


@pytest.mark.parametrize(
    "text",
    [
        "(" * 3000 + ")" * 3000,
        "+".join(["1"] * 30000),
        "x = " + "[" * 500,
        "def broken(:\n",
        "\x00\x01",
        "print 'python 2'",
        "a" * 400_000,
        "x=" + "-" * 20000 + "1",
    ],
)
def test_a_hostile_program_is_answered(tmp_path: Path, text: str) -> None:
    found = read_checkout(write(tmp_path, {"a.py": text, "b.py": "import torch\n"}))
    assert [source.path for source in found.sources] == ["a.py", "b.py"]
    assert analyze(found).files_read == 2


def test_bytes_that_are_no_text_are_read_all_the_same(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_bytes(b"\xff\xfeimport torch\n")
    (tmp_path / os.fsdecode(b"\xff.py")).write_bytes(b"import vllm\n")
    (tmp_path / "b\u202e.py").write_bytes(b"import vllm\n")
    found = read_checkout(tmp_path)
    assert [source.path for source in found.sources] == ["a.py"]


def test_notebook_cells_are_code_with_lines_of_the_file(tmp_path: Path) -> None:
    cells = [
        {"cell_type": "markdown", "source": ["import vllm\n"]},
        {"cell_type": "code", "source": ["!pip install torch\n", "import torch\n"]},
        {"cell_type": "code", "source": "model.backward()\nx = 1"},
    ]
    text = json.dumps({"cells": cells}, indent=1)
    (source,) = read_checkout(write(tmp_path, {"a.ipynb": text})).sources
    assert source.form is Form.NOTEBOOK
    assert source.code is not None
    (imported,) = source.code.imports
    assert imported.module == "torch"
    assert "import torch" in text.split("\n")[imported.line - 1]


@pytest.mark.parametrize(
    "text", ["", "[]", "{", '{"cells": 3}', '{"cells": [1, {"cell_type": "code", "source": [3]}]}']
)
def test_a_broken_notebook_has_no_code(tmp_path: Path, text: str) -> None:
    (source,) = read_checkout(write(tmp_path, {"a.ipynb": text})).sources
    assert source.code is None or source.code.imports == ()


def test_the_order_in_which_a_disk_lists_files_does_not_matter(monkeypatch: pytest.MonkeyPatch) -> None:
    scan = os.scandir
    order = random.Random(7)  # noqa: S311 - the same disorder in every run

    @contextlib.contextmanager
    def shuffled(path: Path) -> Iterator[list[os.DirEntry[str]]]:
        with scan(path) as entries:
            found = list(entries)
        order.shuffle(found)
        yield found

    examples = sorted(path for path in EXAMPLES.iterdir() if path.is_dir())
    answers = {json.dumps([analysis_json(analyze(read_checkout(path))) for path in examples])}
    monkeypatch.setattr(os, "scandir", shuffled)
    for _ in range(5):
        answers.add(json.dumps([analysis_json(analyze(read_checkout(path))) for path in examples]))
    monkeypatch.undo()
    assert len(answers) == 1


def test_a_folder_in_the_place_of_the_spec_counts_as_no_spec(tmp_path: Path) -> None:
    (tmp_path / ".gpu-lol.yaml").mkdir()
    (tmp_path / "train.py").write_text("import torch\n", encoding="utf-8")
    assert read_checkout(tmp_path).spec_text is None


def test_lines_of_a_notebook_on_one_line_and_of_one_written_in_escapes_are_found_in_one_pass(tmp_path: Path) -> None:
    cell = {"cell_type": "code", "source": [f"x = {i}\n" for i in range(50_000)]}
    (tmp_path / "a.ipynb").write_text(json.dumps({"cells": [cell]}), encoding="utf-8")
    escaped = '{"cells": [{"cell_type": "code", "source": "' + "\\u005a\\n" * 60_000 + '"}]}' + "\n" * 1_000_000
    (tmp_path / "b.ipynb").write_text(escaped, encoding="utf-8")
    found = read_checkout(tmp_path)
    assert {s.path: s.text.count("\n") for s in found.sources} == {"a.ipynb": 50_001, "b.ipynb": 60_001}


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.yaml", "[" * 60_000),
        ("environment.yml", "{a: " * 30_000),
        ("b.yaml", 'batch_size: "\\UFFFFFFFF"\n'),
        ("Dockerfile", "\n \n" * 150_000),
        ("run.sh", "".join(f"v{i}=b\n" for i in range(30_000)) + "a\n" * 130_000),
        ("README.md", "```\n" + f"python {'a/' * 3900}b.py\n" * 60),
    ],
)
def test_files_made_to_take_long_are_answered(tmp_path: Path, name: str, text: str) -> None:
    root = write(tmp_path, {"train.py": "import torch\nloss.backward()\n", name: text})
    assert analysis_json(analyze(read_checkout(root)))


def test_settings_of_a_json_file_name_the_first_line_of_their_key() -> None:
    text = '{"a\\"b": 1,\n "hidden_size": 8, "x": {"hidden_size": 9},\n "\\u0061": 2}'
    found = read_settings(Source("config.json", Form.JSON, Role.WORKLOAD, text))
    assert {(s.path, s.evidence.line) for s in found} == {
        ('a"b', 0),
        ("hidden_size", 2),
        ("a", 0),
        ("x.hidden_size", 2),
    }


def test_what_two_commits_share_is_one_source_and_what_differs_is_two(tmp_path: Path) -> None:
    cell = {"cell_type": "code", "source": ["import torch\n"], "outputs": []}
    files = {
        "train.py": "import torch\n",
        "notes.ipynb": json.dumps({"cells": [cell], "nbformat": 4}),
        "README.md": "hello\n",
        "changed.py": "import jax\n",
        "changed.md": "one\n",
    }
    before = read_checkout(write(tmp_path / "before", files))
    after = read_checkout(
        write(tmp_path / "after", files | {"changed.py": "import jax \n", "changed.md": "two\n"}), before
    )
    shared = {source.path for source in after.sources if source is before.find(source.path)}
    assert shared == {"train.py", "notes.ipynb", "README.md"}
    assert [after.by_path[path].text for path in ("changed.py", "changed.md")] == ["import jax \n", "two\n"]


def test_a_file_is_read_whole_where_the_disk_gives_it_in_pieces(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = "".join(f"x{number} = {number}\n" for number in range(20_000))
    read = os.read
    monkeypatch.setattr(os, "read", lambda handle, size: read(handle, min(size, 1000)))
    (source,) = read_checkout(write(tmp_path, {"a.py": text})).sources
    assert source.text == text
