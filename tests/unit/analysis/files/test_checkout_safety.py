"""Trees made to escape, to crash or to cost: each is answered, and what was not read is named with its reason."""

from __future__ import annotations

import contextlib
import json
import os
import socket
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from gpu_lol_action.analysis.answer.as_json import analysis_json
from gpu_lol_action.analysis.answer.assemble import analyze
from gpu_lol_action.analysis.files import checkout as checkout_module
from gpu_lol_action.analysis.files import tree as tree_module
from gpu_lol_action.analysis.files.checkout import Checkout, read_checkout
from gpu_lol_action.analysis.files.effort import Effort
from gpu_lol_action.analysis.formats.paths import Role

PROGRAM = "import torch\nmodel.cuda()\nloss.backward()\n"
MOST_SECONDS = 10.0
"""Of processor time for one hostile file of the largest size that is read; each takes under two where it was measured."""


def told(root: Path) -> list[str]:
    """Return what an analysis says it did not understand, after having read the tree in bounded time."""
    (root / "train.py").write_text(PROGRAM, encoding="utf-8")
    began = time.process_time()
    found = analyze(read_checkout(root))
    assert time.process_time() - began < MOST_SECONDS
    answer = analysis_json(found)
    assert answer["workload_type"] == "training"
    json.dumps(answer, ensure_ascii=False).encode("utf-8")  # what cannot be encoded could not be posted
    assert all("\n" not in line for line in found.not_understood)
    return list(found.not_understood)


def has(notes: list[str], path: str, reason: str) -> bool:
    return any(path in note and reason in note for note in notes)


def outside(root: Path) -> Path:
    folder = root.parent / f"{root.name}-outside"
    folder.mkdir()
    (folder / "secret.py").write_text("import vllm\nvllm.LLM('meta-llama/Llama-2-70b-hf')\n", encoding="utf-8")
    return folder


def test_links_of_every_kind_lead_nowhere(tmp_path: Path) -> None:
    far = outside(tmp_path)
    links = {
        "file.py": far / "secret.py",
        "folder": far,
        "loop": tmp_path,
        "itself.py": Path("itself.py"),
        "up": Path(".."),
        "gone.py": Path("no/such/place"),
        "README.md": Path("/etc/passwd"),
        "root": Path("/"),
        ".gitmodules": far / "secret.py",
    }
    for name, target in links.items():
        (tmp_path / name).symlink_to(target)
    notes = told(tmp_path)
    assert has(notes, ".gitmodules, README.md, file.py and 6 more", tree_module.LINK)
    assert [source.path for source in read_checkout(tmp_path).sources] == ["train.py"]


def test_a_folder_that_becomes_a_link_after_it_was_listed_leads_nowhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    far = outside(tmp_path)
    (tmp_path / "package").mkdir()
    (tmp_path / "package" / "secret.py").write_text("import torch\n", encoding="utf-8")
    (tmp_path / "a.py").write_text("import torch\n", encoding="utf-8")
    listed = tree_module.list_tree

    def then_swapped(tree: tree_module.Tree) -> tuple[list[str], list[tree_module.LeftOut]]:
        answer = listed(tree)
        (tmp_path / "package").rename(tmp_path / "was")
        (tmp_path / "package").symlink_to(far)
        (tmp_path / "a.py").unlink()
        tree.close()
        return answer

    monkeypatch.setattr(checkout_module, "list_tree", then_swapped)
    found = read_checkout(tmp_path)
    assert found.sources == ()
    assert found.notes == (f"{tree_module.UNREADABLE}: a.py, package/secret.py",)


def test_what_is_no_file_is_never_opened(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    os.mkfifo(tmp_path / "pipe.py")
    os.mkfifo(tmp_path / ".gpu-lol.yaml")
    monkeypatch.chdir(tmp_path)  # a socket's path must be short
    with socket.socket(socket.AF_UNIX) as server:
        server.bind("socket.yaml")
        with contextlib.suppress(PermissionError):  # devices are root's to make
            os.mknod(tmp_path / "zero.json", 0o600 | 0o020000, os.makedev(1, 5))
        notes = told(tmp_path)
    assert has(notes, "pipe.py", tree_module.SPECIAL)
    assert has(notes, ".gpu-lol.yaml", tree_module.SPECIAL)


def test_a_sparse_file_of_ten_gigabytes_is_not_read(tmp_path: Path) -> None:
    for name in ("model.py", "data.json", "big.ipynb", "requirements.txt"):
        with (tmp_path / name).open("wb") as file:
            file.truncate(10 * 2**30)
    notes = told(tmp_path)
    assert has(notes, "data.json, model.py, requirements.txt", "over 512 KiB, so not read")
    assert has(notes, "big.ipynb", "over 16384 KiB, so not read")


def test_folders_five_hundred_deep_are_not_entered(tmp_path: Path) -> None:
    (tmp_path / "/".join(["d"] * 500)).mkdir(parents=True)
    assert has(told(tmp_path), "/".join(["d"] * (tree_module.MAX_DEPTH + 1)), tree_module.DEEP)


def test_a_crowded_folder_is_left_whole_whatever_the_order_of_the_disk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tree_module, "MAX_ENTRIES", 50)
    (tmp_path / "many").mkdir()
    for number in range(51):
        (tmp_path / "many" / f"{number}.py").touch()
    assert has(told(tmp_path), "many", tree_module.UNREADABLE)
    for number in range(60):
        (tmp_path / "many" / f"{number}.py").unlink(missing_ok=True)
        (tmp_path / f"few{number % 30}").mkdir(exist_ok=True)
        (tmp_path / f"few{number % 30}" / f"{number}.py").touch()
    found = read_checkout(tmp_path)
    assert any(note.startswith(tree_module.CROWDED) for note in found.notes)


def test_files_that_may_not_be_read_are_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # Permissions do not bind root, as which tests may run: the system's refusal is what counts.
    (tmp_path / "closed.py").write_text("import vllm\n", encoding="utf-8")
    (tmp_path / "closed").mkdir()
    really = os.open

    def refused(path: str, *rest: int, **named: int) -> int:
        if os.fspath(path).startswith("closed"):
            raise PermissionError(13, "Permission denied")
        return really(path, *rest, **named)

    monkeypatch.setattr(os, "open", refused)
    assert has(told(tmp_path), "closed, closed.py", tree_module.UNREADABLE)


def test_a_file_that_grows_while_it_is_read_is_not_taken_in_part(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "grows.py"
    path.write_text("import torch\n", encoding="utf-8")
    really = os.fstat

    def then_grown(handle: int) -> os.stat_result:
        details = really(handle)
        if details.st_ino == path.stat().st_ino:
            path.write_bytes(b"#" * (checkout_module.MAX_FILE_BYTES + 1))
        return details

    monkeypatch.setattr(os, "fstat", then_grown)
    assert has(told(tmp_path), "grows.py", tree_module.UNREADABLE)


def test_names_that_are_no_text_are_named_in_plain_letters(tmp_path: Path) -> None:
    for name in (b"\xff\xfe.py", b"line\nfeed.py", "b\u202e.py".encode()):
        (tmp_path / os.fsdecode(name)).write_bytes(b"import vllm\n")
    notes = told(tmp_path)
    assert has(notes, r"\udcff\udcfe.py, b\u202e.py, line\nfeed.py", tree_module.BAD_NAME)


def test_submodules_and_repositories_inside_are_other_peoples(tmp_path: Path) -> None:
    for folder in ("apex", "libs/with space", "clone"):
        (tmp_path / folder).mkdir(parents=True)
        (tmp_path / folder / "a.py").write_text("import vllm\n", encoding="utf-8")
    (tmp_path / "clone" / ".git").mkdir()
    (tmp_path / ".gitmodules").write_text(
        '[submodule "apex"]\n\tpath = apex\n[submodule "x"]\n\tpath = "libs/with space"\n[submodule "y"]\n\tpath = ../up\n',
        encoding="utf-8",
    )
    notes = told(tmp_path)
    assert has(notes, "apex, libs/with space", tree_module.SUBMODULE)
    assert has(notes, "clone", tree_module.REPOSITORY)


def test_a_pointer_of_lfs_is_no_configuration(tmp_path: Path) -> None:
    pointer = f"version https://git-lfs.github.com/spec/v1\noid sha256:{'0' * 64}\nsize 12345\n"
    (tmp_path / "config.json").write_text(pointer, encoding="utf-8")
    assert has(told(tmp_path), "config.json", checkout_module.LFS_POINTER)


@pytest.mark.parametrize("encoding", ["utf-16", "utf-8-sig", "utf-32", "utf-16-be"])
def test_a_list_of_packages_is_read_in_the_encoding_that_it_declares(tmp_path: Path, encoding: str) -> None:
    mark = "\ufeff" if encoding == "utf-16-be" else ""
    (tmp_path / "requirements.txt").write_bytes(f"{mark}torch==2.6.0\r\ntransformers\r\n".encode(encoding))
    assert told(tmp_path) == ["no model of a known size was recognized; 12 GiB were assumed"]
    answer = analysis_json(analyze(read_checkout(tmp_path)))
    assert answer["requirements"] == ["torch==2.6.0", "transformers"]


@pytest.mark.parametrize(
    ("name", "content", "reason"),
    [
        ("latin.py", "# caf\xe9\nimport torch\n".encode("latin-1"), checkout_module.NOT_TEXT),
        ("nul.py", b"import torch\x00\n", "not valid Python 3, so not understood"),
        ("half.yaml", b"a: \xc3\nb: 1\n", checkout_module.NOT_TEXT),
        ("lone.json", b'{"model_name": "\\ud800", "a": 1}', ""),
        ("lone.yaml", b'model_name: "\\ud800"\n', ""),
        ("cut.md", b"x" * 9000, checkout_module.LONG_LINES),
        ("controls.yaml", b"a: \x01\x02\n", ""),
        ("setup.cfg", b"[options]\ninstall_requires =\n" + b"\\\n" * 250_000, checkout_module.MANY_LINES),
        ("pyproject.toml", b"a = " + b"1" * 100_000, ""),
    ],
)
def test_broken_encodings_are_read_with_replacements(tmp_path: Path, name: str, content: bytes, reason: str) -> None:
    (tmp_path / name).write_bytes(content)
    notes = told(tmp_path)
    assert not reason or has(notes, name, reason)


@pytest.mark.parametrize(
    "text",
    [
        "x = " + "(" * 5000 + ")" * 5000,
        "x = " + "+".join(["1"] * 200_000),
        "x = a" + ".b" * 200_000,
        "x = a" + "()" * 200_000,
        "x = a" + "[0]" * 130_000,
        "x = " + "-" * 400_000 + "1",
        "x = " + "not " * 100_000 + "1",
        "x = " + "lambda:" * 60_000 + "1",
        "x = " + "1 if y else " * 30_000 + "1",
        "if a: b\n" + "elif a: b\n" * 40_000,
        "import a" + ".a" * 200_000,
        "from a" + ".a" * 200_000 + " import b",
        "import \\\n" + "a.\\\n" * 100_000 + "a",
        'x = f"' + "{x}" * 120_000 + '"',
        "x = " + "f'{x!r:>{w}}' " * 30_000,
        "x = (" + "f'{x}'\n" * 60_000 + ")",
        "a;" * 250_000,
        "x = [" + "a," * 250_000 + "]",
        "9" * 500_000,
        "x = 0x" + "f" * 500_000,
        "\n".join(" " * depth + "if x:" for depth in range(700)),
        "'''" * 100_001,
        '"' * 500_001,
        "'\\" * 250_000,
        "import a, " * 50_000,
        "from . import (" * 30_000,
        "if __name__" * 40_000,
        "def " * 120_000 + "backward(",
        "\x0c" * 500_000,
        "\\\n" * 250_000,
        "#" * 500_000,
        "import " * 70_000,
    ],
    ids=lambda text: f"{text[:24]!r}x{len(text)}",
)
def test_programs_made_to_crash_or_stall_the_parser_are_answered(tmp_path: Path, text: str) -> None:
    (tmp_path / "hostile.py").write_text("import torch\nloss.backward()\n" + text, encoding="utf-8")
    told(tmp_path)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("x = " + "-" * 40_000 + "1", "nested too deeply to parse"),
        ("import a" + ".a" * 2000, "made so that parsing takes long"),
        ("def broken(:\n" * 40, "not valid Python 3"),
    ],
)
def test_a_program_that_was_not_parsed_is_named_with_the_reason(tmp_path: Path, text: str, reason: str) -> None:
    (tmp_path / "hostile.py").write_text(text + "\n" + PROGRAM, encoding="utf-8")
    assert has(told(tmp_path), "hostile.py", f"{reason}, so not understood")


BOMB = "a: &a [x, x, x, x, x, x, x, x, x]\n" + "".join(
    f"{chr(98 + i)}: &{chr(98 + i)} [{', '.join(['*' + chr(97 + i)] * 9)}]\n" for i in range(9)
)


@pytest.mark.parametrize(
    ("name", "text", "reason"),
    [
        ("bomb.yaml", BOMB, ""),
        ("loop.yaml", "a: &a\n  b: *a\n", ""),
        ("tags.yaml", "a: !!python/object/apply:os.system [touch /tmp/x]\nb: !include /etc/passwd\n", ""),
        ("twice.yaml", "learning_rate: 1\nlearning_rate: 2\n? [1, 2]\n: 3\n", ""),
        ("deep.yaml", "[" * 60_000, "nested too deeply for a configuration"),
        ("stairs.yaml", "".join(f"{' ' * depth}a:\n" for depth in range(450)), "nested too deeply"),
        ("many.yaml", "learning_rate: 1\n" * 7000, ""),
        ("broken.yaml", "learning_rate: 1\noptimizer: [\n}", "not valid JSON or YAML"),
        ("large.yaml", "a: 1\n" * 60_000, "over 256 KiB, so not read as configuration"),
        ("deep.json", '{"a":' * 20_000, "nested too deeply for a configuration"),
        ("broken.json", '{"a": 1', "not valid JSON or YAML"),
        ("huge.json", '{"learning_rate": 1e999999, "optimizer": ' + "9" * 100_000 + "}", ""),
        ("key.json", '{"' + "k" * 50_000 + '": {' + ", ".join(f'"a{i}": 1' for i in range(4000)) + "}}", ""),
        ("twice.json", '{"optimizer": 1, "optimizer": 2, "learning_rate": {"optimizer": 3}}', ""),
    ],
)
def test_configurations_made_to_explode_are_answered(tmp_path: Path, name: str, text: str, reason: str) -> None:
    # Alone with a command, so that the configuration is what is asked: a program would speak first.
    (tmp_path / name).write_text(text, encoding="utf-8")
    began = time.process_time()
    checkout = read_checkout(tmp_path)
    found = analyze(checkout)
    assert time.process_time() - began < MOST_SECONDS
    assert not reason or has(list(found.not_understood), name, reason)
    assert len(json.dumps(analysis_json(found))) < 100_000


def test_thousands_of_configurations_cost_no_more_than_their_budget(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(checkout_module, "Effort", lambda: Effort(settings_bytes=1000))
    for number in range(50):
        (tmp_path / f"{number:02}.yaml").write_text("learning_rat: 1\n" * 10, encoding="utf-8")
    found = analyze(read_checkout(tmp_path))
    assert has(list(found.not_understood), "06.yaml, 07.yaml, 08.yaml and 41 more", "other files came first")


def cells(count: int) -> str:
    return json.dumps({"cells": [{"cell_type": "code", "source": ["import torch\n"]}] * count})


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("{", "not a notebook in valid JSON"),
        ("[" * 100_000, "not a notebook in valid JSON"),
        ('{"cells": {}}', ""),
        ('{"cells": [[], 1, null, {"cell_type": "code"}, {"cell_type": "code", "source": {"a": 1}}]}', ""),
        ('{"cells": [' + "{}," * 1_000_000 + "{}]}", "too many values"),
        ('{"nbformat": ' + "9" * 100_000 + "}", ""),
        (cells(20_000), ""),
    ],
    ids=["cut", "deep", "no list", "no cells", "braces", "digits", "many"],
)
def test_notebooks_that_are_none_are_answered(tmp_path: Path, text: str, reason: str) -> None:
    (tmp_path / "a.ipynb").write_text(text, encoding="utf-8")
    notes = told(tmp_path)
    assert not reason or has(notes, "a.ipynb", reason)


def test_a_notebook_full_of_pictures_is_read_for_its_code(tmp_path: Path) -> None:
    picture = {
        "cell_type": "code",
        "source": ["import jax\n"],
        "outputs": [{"data": {"image/png": "iVBORw0K" * 1_000_000}}],
    }
    (tmp_path / "a.ipynb").write_text(json.dumps({"cells": [picture]}), encoding="utf-8")
    source = read_checkout(tmp_path).by_path["a.ipynb"]
    assert source.code is not None
    assert source.code.imported() == {"jax"}
    assert len(source.content) < 100


def test_names_that_differ_only_in_case_are_two_files(tmp_path: Path) -> None:
    (tmp_path / "Train.py").write_text("import jax\n", encoding="utf-8")
    if (tmp_path / "train.py").exists():
        pytest.fail("this file system folds case: the test needs one that does not")
    told(tmp_path)
    found = read_checkout(tmp_path)
    assert [source.path for source in found.sources] == ["Train.py", "train.py"]
    assert found.find("Train.py") is not found.find("train.py")


def test_what_does_not_speak_for_the_workload_is_listed_and_not_read(tmp_path: Path) -> None:
    (tmp_path / "tests").mkdir()
    (tmp_path / "tests" / "test_a.py").write_text("import vllm\n" * 1000, encoding="utf-8")
    (tmp_path / "train.py").write_text(PROGRAM, encoding="utf-8")
    found = read_checkout(tmp_path)
    assert {source.path: source.role for source in found.sources}["tests/test_a.py"] is Role.ASIDE
    assert (found.files_read, found.bytes_read) == (1, len(PROGRAM))


@pytest.mark.parametrize("make", [lambda root: root / "nothing", lambda root: root / "file"], ids=["gone", "file"])
def test_a_root_that_is_no_folder_is_an_empty_checkout(tmp_path: Path, make: Callable[[Path], Path]) -> None:
    (tmp_path / "file").touch()
    found: Checkout = read_checkout(make(tmp_path))
    assert (found.sources, found.notes) == ((), (f"{tree_module.UNREADABLE}: .",))
