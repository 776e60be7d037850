"""Entries of tables, also of entries that are tables or pairs themselves, and names that are taken apart."""

from __future__ import annotations

import pytest

from gpu_lol_action.analysis.python.code import read_python

TABLE = (
    'MODELS = {"a": {"id": "x/a", "size": 512}, "b": {"id": "x/b", "size": 1024}, "c-1": {"id": "x/c", "size": 9}}\n'
)
PAIRS = 'MODELS = {"a": (Small, "x/a"), "b": (Large, "x/b")}\n'
OBJECTS = 'MODELS = {"a": Model(id="x/a"), "b": Model(id="x/b")}\n'


@pytest.mark.parametrize(
    ("before", "given", "expected"),
    [
        (TABLE, 'MODELS["b"]["id"]', "x/b"),
        (TABLE, 'MODELS["c-1"]["id"]', "x/c"),
        (TABLE + 'name = "b"\n', 'MODELS[name]["size"]', "1024"),
        (TABLE + 'name = "b"\nrow = MODELS[name]\n', 'row["id"]', "x/b"),
        (TABLE + 'name = "b"\nrow = MODELS.get(name)\n', 'row.get("id")', "x/b"),
        (TABLE + 'name = "b"\n', 'MODELS[name].get("id", "x/none")', "x/b"),
        (TABLE + 'name = "z"\n', 'MODELS[name].get("id", "x/none")', "x/none"),
        (PAIRS + 'name = "b"\n', "MODELS[name][1]", "x/b"),
        (PAIRS + 'name = "b"\nkind, path = MODELS[name]\n', "path", "x/b"),
        (OBJECTS + 'name = "b"\n', "MODELS[name].id", "x/b"),
        ('class Model(str, Enum):\n    A = "x/a"\n    B = "x/b"\n', "Model.B.value", "x/b"),
        ("wide, high = 1216, 832\n", "high", "832"),
        ("SIZE = (832, 1216)\nhigh, wide = SIZE\n", "wide", "1216"),
        ("SIZE = (832, 1216)\n", "SIZE[1]", "1216"),
        # Nothing tells these.
        (TABLE, "MODELS[name()]['id']", None),
        (TABLE + 'name = "z"\n', 'MODELS[name]["id"]', None),
        ("SIZE = (832, 1216)\n", "SIZE[2]", None),
        ('NAMES = "one,two"\n', "NAMES[0]", None),
        ("first, *rest = 1, 2, 3\n", "first", None),
        ("a, b = 1, 2, 3\n", "a", None),
        ("config.B.value = 3\n", "config.B.value", "3"),
        ("loss = 3\n", "Loss.A.value", None),
    ],
)
def test_an_entry_is_found_by_all_its_keys(before: str, given: str, expected: str | None) -> None:
    code = read_python(f"{before}use({given})\n")
    (call,) = code.calls_named("use")
    assert code.resolve(call.arguments[0], call.owner) == expected


def test_a_program_starts_with_what_it_sets_at_once_and_not_with_what_it_takes_apart() -> None:
    code = read_python("wide, high = 1216, 832\nrow = load()\ndeep, long = row\n")
    assert [(each.name, each.text) for each in code.defaults] == [("wide", "1216"), ("high", "832")]


def test_tables_in_tables_are_bounded() -> None:
    inner = ", ".join(f'"k{key}": 1' for key in range(150))
    table = ", ".join(f'"t{key}": {{{inner}}}' for key in range(150))
    code = read_python(f"T = {{{table}}}\n")
    assert len(code.names().tables["T"]) < 1000
