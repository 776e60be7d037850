from __future__ import annotations

import pytest

from gpu_lol_action.analysis.files.checkout import Source
from gpu_lol_action.analysis.programs.import_graph import is_imported
from gpu_lol_action.analysis.python.code import ParseBudget, PythonCode, read_python
from gpu_lol_action.analysis.python.tree import read_tree
from gpu_lol_action.analysis.runs.runs import all_runs
from tests.unit.analysis.conftest import Build

MISSING = "\n".join(f'        log("line {number} of why it is needed")' for number in range(8))
TRAIN = "import torch\nloss.backward()\n"

PROGRAMS = [
    "import os\nimport torch as t, numpy\n",
    "try:\n    import a\nexcept ImportError:\n    raise\n",
    "try:\n    import a\nexcept ImportError:\n    a = None\nimport b\n",
    f"def load():\n    try:\n        import a\n        from .b import c\n    except ImportError:\n{MISSING}\n        raise\n    import d\n",
    "def load():\n    if x:\n        try:\n            import a\n        except ImportError:\n            raise\n",
    "if x:\n    import a\nelse:\n    import b\nraise SystemExit\n",
    "try:\n    import a\nexcept A:\n    import b\nexcept B:\n    raise\nelse:\n    import c\nfinally:\n    import d\nimport e\n",
    "try:\n    try:\n        import a\n    except A:\n        import b\nexcept B:\n    sys.exit(1)\nimport c\n",
    "try:\n    import a\nexcept ImportError:\n    raise ImportError(\n'''\nlast\nimport x\n'''\n)\nimport b\n",
    "def f():\n    try:\n        import a\n    # import x\n\n    except ImportError:\n        exit()\n\n\ndef g(): pass\nimport h\n",
    "class A:\n    try:\n        import a\n    except ImportError:\n        raise\n    import b\n",
    "def f():\n    '''\n    >>> import x\n    >>> from y import z\n    one may import: w\n    '''\n    import a\n",
    "important = 1  # import x\nreimport = 2\nimport_a = 3\nimport a\n",
    "x = 1; import a\n",
    "if x: import a\n",
    "from a \\\n    import b\n",
    "'import x'; import a\n",
    "try:\n    import a\nexcept ImportError: raise\nfor x in y:\n    import b\nelse:\n    import c\n",
]


@pytest.mark.parametrize("program", PROGRAMS)
def test_the_text_says_the_same_imports_as_the_tree(program: str) -> None:
    assert read_python(program).imports == read_tree(program, lambda line: line, lambda _: False).imports


def test_a_try_statement_is_parsed_alone() -> None:
    budget = ParseBudget(10_000)
    guarded = "try:\n    import a\nexcept ImportError:\n    raise\n"
    code = PythonCode(guarded + "x = f(1, 2)\n" * 500, (), budget)
    assert [(item.module, item.line, item.is_optional) for item in code.imports] == [("a", 2, False)]
    assert budget.taken_bytes == len(guarded)


def test_a_try_statement_that_may_not_be_parsed_leaves_the_program_unread() -> None:
    code = PythonCode("try:\n    import a\nexcept ImportError:\n    raise\n", (), ParseBudget(10))
    assert code.imports == ()
    assert code.trouble is not None


def test_what_imports_say_does_not_depend_on_what_was_asked_before() -> None:
    program = f"import a\nx = '{'y' * 5000}'\n'''\nimport z\n'''\nimport b\nfit('generate(1)')\n"
    first, second = read_python(program), read_python(program)
    assert first.calls_named("generate") == ()
    assert [item.module for item in first.imports] == ["a", "b"]
    assert [item.module for item in second.imports] == ["a", "b"]
    assert second.calls_named("generate") == ()


def test_what_others_import_is_known_by_any_kind_of_import(checkout: Build) -> None:
    tree = checkout(
        {
            "pkg/__init__.py": "",
            "pkg/inner.py": "",
            "pkg/alone.py": "import inner_of_another\n",
            "pkg/user.py": "from . import inner\n",
            "main.py": "import pkg\n# alone\n",
        }
    )

    def found(path: str) -> Source:
        source = tree.find(path)
        assert source is not None
        return source

    paths = ("pkg/__init__.py", "pkg/inner.py", "pkg/alone.py", "pkg/user.py", "main.py")
    assert [is_imported(tree, found(path)) for path in paths] == [True, True, False, False, False]


def test_modules_of_a_library_are_not_parsed_where_something_is_made_to_be_started(checkout: Build) -> None:
    library = {f"lib/part/{name}.py": TRAIN for name in ("a", "b", "c")}
    user = {"lib/part/d.py": "from lib.part import a, b, c\n"}
    started = checkout({**library, **user, "train.py": f"{TRAIN}if __name__ == '__main__':\n    pass\n"})
    assert [run.evidence.path for run in all_runs(started)] == ["train.py"]
    assert started.bytes_parsed < 2 * len(TRAIN) + 40


def test_a_module_of_a_library_stands_for_it_where_nothing_is_made_to_be_started(checkout: Build) -> None:
    tree = checkout({"lib/part/a.py": TRAIN, "lib/part/__init__.py": ""})
    assert [run.evidence.path for run in all_runs(tree)] == ["lib/part/a.py"]
