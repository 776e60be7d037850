from __future__ import annotations

import gc
import weakref

from gpu_lol_action.analysis.files.checkout import Source
from gpu_lol_action.analysis.files.effort import remembered
from tests.unit.analysis.conftest import Build


def test_a_question_is_answered_once_per_file_and_words(checkout: Build) -> None:
    asked: list[tuple[str, str]] = []

    @remembered
    def question(source: Source, word: str, *, is_loud: bool = False) -> str | None:
        asked.append((source.path, word))
        return word.upper() if is_loud else None

    tree = checkout({"a.py": "", "b.py": ""})
    first, second = tree.sources
    assert [question(first, "x"), question(first, "x"), question(first, "x", is_loud=True)] == [None, None, "X"]
    assert question(second, "x") is None
    assert asked == [("a.py", "x"), ("a.py", "x"), ("b.py", "x")]
    again = checkout({"a.py": ""}).sources[0]
    assert question(again, "x") is None
    assert len(asked) == 4


def test_what_is_remembered_goes_with_its_checkout(checkout: Build) -> None:
    class Answer:
        """What a weak reference can point at."""

    @remembered
    def question(source: Source) -> Answer:
        return Answer()

    tree = checkout({"train.py": "import torch\n"})
    answer = weakref.ref(question(tree.sources[0]))
    gc.collect()
    assert answer() is not None
    del tree
    gc.collect()
    assert answer() is None
