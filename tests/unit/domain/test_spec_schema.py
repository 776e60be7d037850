from __future__ import annotations

from pathlib import Path

import jsonschema
import pytest
import yaml

from gpu_lol_action.domain.spec_schema import build_schema, key_table, schema_text
from gpu_lol_action.domain.spec_yaml import parse_spec

ROOT = Path(__file__).parents[3]


@pytest.mark.docs
def test_published_schema_is_what_the_key_table_gives() -> None:
    assert (ROOT / "docs/gpu-lol.schema.json").read_text(encoding="utf-8") == schema_text()


@pytest.mark.docs
def test_spec_document_shows_the_key_table() -> None:
    assert key_table() in (ROOT / "docs/spec.md").read_text(encoding="utf-8")


@pytest.mark.docs
def test_example_in_the_spec_document_is_valid() -> None:
    text = (ROOT / "docs/spec.md").read_text(encoding="utf-8")
    example = text.partition("```yaml\n")[2].partition("```")[0]
    jsonschema.validate(yaml.safe_load(example), build_schema())
    assert parse_spec(example).needs_gpu


def test_schema_is_valid_and_refuses_what_the_reader_refuses() -> None:
    schema = build_schema()
    jsonschema.Draft202012Validator.check_schema(schema)
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate({"hardware": {"vram": 3}}, schema)
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate({"hardware": {"gpu_count": 99}}, schema)
