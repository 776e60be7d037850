"""Ways to write a checkout anew that do not change what its programs do. Nothing of it is executed."""

from __future__ import annotations

import ast
import io
import json
import re
import shutil
import subprocess
import sys
import textwrap
import tokenize
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from types import MappingProxyType

import yaml

MAX_BYTES = 400_000
NAMES = MappingProxyType(
    {"model": "subject", "net": "subject_net", "optimizer": "updater", "loss": "objective", "args": "given", "cfg": "chosen",
     "config": "settings_", "trainer": "driver", "pipe": "drawer", "pipeline": "drawer_", "tokenizer": "splitter",
     "dataloader": "feeder", "train_loader": "feeder_", "scheduler": "pacer", "scaler": "stretcher", "accelerator": "booster",
     "criterion": "judge", "device": "place", "parser": "reader", "dtype": "kind_", "llm": "writer"}
)  # fmt: skip
"""Usual names of variables, and others that stand for them."""
PROJECTS = ("setup.py", "pyproject.toml", "setup.cfg", "environment.yml", "environment.yaml")
# What is no line of a paragraph: items, tables, headings, markup, code by its indent.
_APART = re.compile(r"\s*(?:[-*+>#|<`~\[!=:$]|\d+[.)]|\.\.)|    |\t")
_WIDTH = 60


def files_of(folder: Path, *endings: str) -> Iterator[Path]:
    """Yield the files with these endings that are texts and not too large, by path."""
    for path in sorted(folder.rglob("*")):
        is_meant = path.name.lower().endswith(endings) and path.is_file() and not path.is_symlink()
        if is_meant and path.stat().st_size < MAX_BYTES:
            yield path


def rewrite(folder: Path, endings: tuple[str, ...], change: Callable[[str], str | None]) -> None:
    """Write each file with these endings as ``change`` has it; as it was where that is None, or the file is no text."""
    for path in files_of(folder, *endings):
        try:
            text = path.read_text(encoding="utf-8")
        except UnicodeDecodeError:
            continue
        other = change(text)
        if other is not None:
            path.write_text(other, encoding="utf-8")


def formatted(length: int) -> Callable[[Path], None]:
    """Return what breaks the lines of programs at a length, as `ruff format` does."""

    def write(folder: Path) -> None:
        words = ["ruff", "format", "--isolated", "--no-cache", "--quiet", "--line-length", str(length), str(folder)]
        subprocess.run([str(Path(sys.executable).parent / words[0]), *words[1:]], capture_output=True, check=False)

    return write


def without_remarks(text: str) -> str | None:
    """Return a program without its remarks; None where it is none."""
    try:
        words = list(tokenize.generate_tokens(io.StringIO(text).readline))
    except (tokenize.TokenError, SyntaxError):
        return None
    lines = text.splitlines(keepends=True)
    for word in words:
        if word.type == tokenize.COMMENT:
            row, start = word.start
            line = lines[row - 1]
            lines[row - 1] = line[:start].rstrip() + line[word.end[1] :]
    return "".join(lines)


def unparsed(text: str) -> str | None:
    """Return a program as its syntax tree says it; None where it has none."""
    try:
        return ast.unparse(ast.parse(text)) + "\n"
    except (SyntaxError, ValueError, RecursionError):
        return None


def renamed(text: str) -> str | None:
    """Return a program, as its tree says it, with other names for usual variables: not for parameters, members, or what is imported."""
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError):
        return None
    stored: set[str] = set()
    kept: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            stored.add(node.id)
        elif isinstance(node, ast.arg):
            kept.add(node.arg)
        elif isinstance(node, (ast.Global, ast.Nonlocal)):
            kept.update(node.names)
        elif isinstance(node, ast.alias):
            kept.add((node.asname or node.name).split(".")[0])
        elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            kept.add(node.name)
        elif isinstance(node, ast.ClassDef):
            members = [each for each in node.body if isinstance(each, (ast.Assign, ast.AnnAssign))]
            kept.update(n.id for each in members for n in ast.walk(each) if isinstance(n, ast.Name))
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and node.id in stored - kept:
            node.id = NAMES.get(node.id, node.id)
    return ast.unparse(tree) + "\n"


def joined(text: str) -> str:
    """Return a document with each paragraph on one line."""
    lines: list[str] = []
    is_code = False
    for line in text.split("\n"):
        is_fence = line.lstrip().startswith(("```", "~~~"))
        is_code = is_code is not is_fence
        before = lines[-1] if lines else ""
        goes_on = (
            line.strip() and before.strip() and not before.endswith(("  ", "\\", ":", ">")) and "|" not in before + line
        )
        if goes_on and not (is_code or is_fence or _APART.match(line) or _APART.match(before)):
            lines[-1] = f"{before.rstrip()} {line.strip()}"
        else:
            lines.append(line)
    return "\n".join(lines)


def wrapped(text: str) -> str:
    """Return a document with long lines of prose broken."""
    lines: list[str] = []
    is_code = False
    for line in text.split("\n"):
        is_code = is_code is not line.lstrip().startswith(("```", "~~~"))
        if is_code or len(line) <= _WIDTH or _APART.match(line) or "|" in line or "http" in line or "`" in line:
            lines.append(line)
        else:
            lines += textwrap.wrap(line, _WIDTH, break_long_words=False, break_on_hyphens=False) or [line]
    return "\n".join(lines)


def restyled(text: str) -> str | None:
    """Return a configuration in YAML without remarks and in another style; None where it is none."""
    try:
        value = yaml.safe_load(text) if len(text) < MAX_BYTES // 8 else None
    except (yaml.YAMLError, ValueError, RecursionError):
        return None
    return yaml.safe_dump(value, sort_keys=False, width=200) if isinstance(value, (dict, list)) else None


def listed_as(kind: str) -> Callable[[Path], None]:
    """Return what writes a plain `requirements.txt` as another list: ``pyproject.toml``, ``environment.yml``, or three files."""

    def write(folder: Path) -> None:
        path = folder / "requirements.txt"
        if not path.is_file() or any((folder / name).exists() for name in PROJECTS):
            return
        rows = [row.partition(" #")[0].strip() for row in path.read_text("utf-8", "replace").splitlines()]
        rows = [row for row in rows if row and not row.startswith("#")]
        if any(row.startswith(("-", "git+", "http", ".", "/")) for row in rows):
            return
        path.unlink()
        if kind == "pyproject.toml":
            items = "".join(f"    {json.dumps(row)},\n" for row in rows)
            text = f'[project]\nname = "thing"\nversion = "1"\ndependencies = [\n{items}]\n'
            (folder / kind).write_text(text, encoding="utf-8")
        elif kind == "environment.yml":
            items = "".join(f"    - {json.dumps(row)}\n" for row in rows)
            (folder / kind).write_text(f"name: thing\ndependencies:\n  - pip\n  - pip:\n{items}", encoding="utf-8")
        else:
            half = len(rows) // 2
            (folder / "requirements").mkdir(exist_ok=True)
            (folder / "requirements/base.txt").write_text("\n".join(rows[:half]) + "\n", encoding="utf-8")
            (folder / "requirements/gpu.txt").write_text(
                "\n".join(["-r base.txt", *rows[half:]]) + "\n", encoding="utf-8"
            )
            path.write_text("-r requirements/gpu.txt\n", encoding="utf-8")

    return write


def put_below(folder: Path) -> None:
    """Put all that is in a folder into one of its own, beside a little else."""
    inner = folder.with_name(f"{folder.name}-inner")
    folder.rename(inner)
    folder.mkdir()
    shutil.move(inner, folder / "ml")
    (folder / "README.md").write_text("# Acme\n\nOur services. See the folders.\n", encoding="utf-8")
    (folder / "web").mkdir()
    (folder / "web/package.json").write_text('{"name": "web"}\n', encoding="utf-8")


PROGRAMS, DOCUMENTS = (".py",), (".md", ".markdown")
FORMS: Mapping[str, Callable[[Path], None]] = MappingProxyType(
    {
        "copy": lambda _: None,
        "lines-60": formatted(60),
        "lines-320": formatted(320),
        "no-remarks": lambda folder: rewrite(folder, PROGRAMS, without_remarks),
        "unparsed": lambda folder: rewrite(folder, PROGRAMS, unparsed),
        "renamed": lambda folder: rewrite(folder, PROGRAMS, renamed),
        "joined": lambda folder: rewrite(folder, DOCUMENTS, joined),
        "wrapped": lambda folder: rewrite(folder, DOCUMENTS, wrapped),
        "yaml": lambda folder: rewrite(folder, (".yaml", ".yml"), restyled),
        "pyproject": listed_as("pyproject.toml"),
        "conda": listed_as("environment.yml"),
        "three-lists": listed_as("requirements"),
        "below": put_below,
    }
)
"""Each form by its name: it writes a copy of a checkout anew, in place."""
