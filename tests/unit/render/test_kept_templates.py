"""Compiled templates are kept like compiled modules, and are never older than what they were made of."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import jinja2
import pytest

from gpu_lol_action.render import kept_templates, markdown, templating
from gpu_lol_action.render.kept_templates import KeptTemplates
from gpu_lol_action.render.templating import fill


@pytest.fixture
def kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    folder, templates = tmp_path / "kept", tmp_path / "templates"
    folder.mkdir()
    templates.mkdir()
    (templates / "greeting.md.j2").write_text("Hello {{ name | inline }}\n")
    monkeypatch.setattr(kept_templates, "kept_templates", lambda: KeptTemplates(str(folder)))
    monkeypatch.setattr(templating, "templates_folder", lambda: templates)
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    templating._environment.cache_clear()
    yield folder
    templating._environment.cache_clear()


def greet(name: str = "you") -> str:
    """Fill the greeting as a new process does, which has compiled nothing yet."""
    templating._environment.cache_clear()
    return fill("greeting.md.j2", name=name)


def test_a_kept_template_is_not_compiled_again(kept: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert greet() == "Hello you"
    assert len(list(kept.iterdir())) == 1
    monkeypatch.setattr(jinja2.Environment, "compile", lambda *_, **__: pytest.fail("it was compiled again"))
    assert greet("me") == "Hello me"


def test_a_changed_template_is_compiled_anew(kept: Path) -> None:
    greet()
    (templating.templates_folder() / "greeting.md.j2").write_text("Good day, {{ name | inline }}\n")
    assert greet() == "Good day, you"


def test_changed_filters_compile_anew(kept: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    greet()
    newer = tmp_path / "markdown.py"
    newer.write_bytes(Path(str(markdown.__file__)).read_bytes())
    os.utime(newer, ns=(1, 1))
    monkeypatch.setattr(markdown, "__file__", str(newer))
    greet()
    assert len(list(kept.iterdir())) == 2


def test_what_is_no_code_is_compiled_anew(kept: Path) -> None:
    greet()
    next(kept.iterdir()).write_bytes(b"j2 and what somebody else wrote")
    assert greet() == "Hello you"


def test_nothing_is_written_where_python_writes_no_code(kept: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    assert greet() == "Hello you"
    assert not list(kept.iterdir())


def test_a_folder_that_cannot_be_written_is_no_error(kept: Path) -> None:
    kept.rmdir()
    kept.write_text("a file is in its place")
    assert greet() == "Hello you"
