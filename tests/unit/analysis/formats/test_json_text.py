"""JSON with remarks and last commas, as people write it."""

from __future__ import annotations

import pytest

from gpu_lol_action.analysis.files.configuration import read_settings
from gpu_lol_action.analysis.formats.json_text import parse_json
from tests.unit.analysis.conftest import Build


@pytest.mark.parametrize(
    ("text", "held"),
    [
        ('{"a": 1}', {"a": 1}),
        ('{\n  "a": 1 // one\n  , "b": [1, 2,], /* two\n lines */ "c": {"d": null,},\n}', {"a": 1, "b": [1, 2], "c": {"d": None}}),
        ('{"a": "http://x", "b": "/* no */", "c": ",}", // "q\n}', {"a": "http://x", "b": "/* no */", "c": ",}"}),
        ('{"a": "\\"//\\"" // b\n}', {"a": '"//"'}),
    ],
)  # fmt: skip
def test_remarks_and_last_commas_are_left_out(text: str, held: object) -> None:
    assert parse_json(text) == held


@pytest.mark.parametrize("text", ["{", '{"a": 1 2}', '{"a": /* 1}', "// only a remark", "{a: 1} // x", '{"a": "//}'])
def test_what_is_broken_stays_broken(text: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        parse_json(text)


@pytest.mark.parametrize("text", ["/*" * 50_000, '"' * 99_999, "," * 99_999, ('"' + "a" * 3000) * 33])
def test_hostile_texts_end(text: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        parse_json(text)


def test_a_configuration_with_remarks_is_read(checkout: Build) -> None:
    tree = checkout(
        {"options/net.json": '{\n  "task": "net" // a task\n  , "batch_size": 32 // 16 | 32\n  , "gpu_ids": [0]\n}\n'}
    )
    source = tree.find("options/net.json")
    assert source is not None
    said = {(each.key, each.text, each.evidence.line) for each in read_settings(source)}
    assert {("batch_size", "32", 3), ("task", "net", 2)} <= said
    assert not source.effort.failures
