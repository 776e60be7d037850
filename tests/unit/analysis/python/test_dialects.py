"""Programs for former and later Pythons are read for what they call; lines stay where they are."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping

import pytest

from gpu_lol_action.analysis.answer.assemble import analyze
from gpu_lol_action.analysis.files.checkout import Checkout
from gpu_lol_action.analysis.python.syntax import BROKEN, parse_program
from gpu_lol_action.domain.spec import WorkloadType

Build = Callable[[Mapping[str, str]], Checkout]


@pytest.mark.parametrize(
    "line",
    [
        "print 'loss', loss",
        'if x: print "loss %f" % loss',
        "print loss,",
        "print >>out, 'a', b",
        "print('a'), 3L; print b",
        "x = target.cuda(async=True)",
        "x = a <> b",
        "mode = 0755",
        "n = 10L",
        "s = `x`",
        "raise ValueError, 'no'",
        "def first[T](items: list[T]) -> T: return items[0]",
        "class Box[T: (int, list[int])]: pass",
        "type Pair = tuple[int, int]",
        'exec "x = 1"',
    ],
)
def test_a_statement_of_another_python_is_parsed(line: str) -> None:
    tree = parse_program(f"import torch\n{line}\nloss.backward()\n")
    assert isinstance(tree, ast.Module)
    assert isinstance(tree.body[-1], ast.Expr)
    assert tree.body[-1].lineno == 3


def test_an_error_that_is_caught_by_a_comma_and_tabs_beside_blanks() -> None:
    tree = parse_program("try:\n    f()\nexcept (A, B), e:\n\tg()\n        \nif x:\n        a()\n\tb()\n")
    assert isinstance(tree, ast.Module)
    assert isinstance(tree.body[0], ast.Try)
    assert tree.body[0].handlers[0].name == "e"


@pytest.mark.parametrize("text", ["def f(:\n", "{{name}} = 1\n", "print 'a\n"])
def test_what_no_python_takes_stays_broken(text: str) -> None:
    assert parse_program(text) == BROKEN


def test_a_training_of_former_days_is_one(checkout: Build) -> None:
    code = "import torch\ndef main():\n    for i, (x, y) in enumerate(loader):\n        y = y.cuda(async=True)\n        loss = net(x)\n        loss.backward()\n        print 'loss', loss\nif __name__ == '__main__':\n    main()\n"
    analysis = analyze(checkout({"main.py": code, "README.md": "```\npython main.py\n```\n"}))
    assert analysis.spec.meta.workload_type is WorkloadType.TRAINING
    assert not any("not valid Python" in gap for gap in analysis.not_understood)
