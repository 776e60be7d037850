from __future__ import annotations

import json
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpu_lol_action.rehearsal.cloud_graphql import Field, GraphqlError, parse_operation, project

POD = {"id": "p1", "name": "x", "runtime": {"ports": [{"ip": "1.2.3.4", "type": "tcp"}]}, "machine": None}


def test_query_with_arguments_of_every_kind_is_read():
    text = """
    mutation Deploy {  # a comment, and commas are blanks
      pod: podFindAndDeployOnDemand(input: {name: "a \\"b\\"", gpuCount: 2, bid: 0.44, on: true, none: null, kind: SECURE,
        env: [{key: "A", value: "1"}]}) { id machine { podHostId } }
    }"""
    operation = parse_operation(text)
    (field,) = operation.fields
    assert operation.kind == "mutation"
    assert (field.name, field.alias) == ("podFindAndDeployOnDemand", "pod")
    assert field.arguments["input"] == {
        "name": 'a "b"',
        "gpuCount": 2,
        "bid": 0.44,
        "on": True,
        "none": None,
        "kind": "SECURE",
        "env": [{"key": "A", "value": "1"}],
    }
    assert field.selection == (Field("id", "id"), Field("machine", "machine", {}, (Field("podHostId", "podHostId"),)))


def test_shorthand_and_variables_are_read():
    assert parse_operation("{ myself { id } }").kind == "query"
    operation = parse_operation("query q($id: String!) { pod(input: {podId: $id}) { id } }", {"id": "p1"})
    assert operation.fields[0].arguments == {"input": {"podId": "p1"}}


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "{ }",
        "{ a } { b }",
        "subscription { a }",
        "{ a(x: ) }",
        "{ a(x: $y) }",
        "{ ...f }",
        "{ a @skip }",
        "{ a ; }",
        "query q($x",
    ],
)
def test_what_is_not_understood_is_an_error(text):
    with pytest.raises(GraphqlError):
        parse_operation(text)


@given(st.text())
def test_any_string_value_survives(value):
    operation = parse_operation(f"{{ a(x: {json.dumps(value)}) }}")
    assert operation.fields[0].arguments == {"x": value}


@given(st.text(max_size=60))
def test_any_text_is_read_or_refused(text):
    with suppress(GraphqlError):  # any other exception would fail the test
        assert parse_operation(text).fields


def test_answer_is_cut_to_the_selection():
    selection = (
        parse_operation("{ pods { key: id runtime { ports { ip } } machine { gpuDisplayName } } }").fields[0].selection
    )
    assert project([POD], selection, "pods") == [
        {"key": "p1", "runtime": {"ports": [{"ip": "1.2.3.4"}]}, "machine": None}
    ]


@pytest.mark.parametrize("query", ["{ pods { nonsense } }", "{ pods { id { x } } }", "{ pods { runtime } }"])
def test_field_that_is_not_there_is_an_error(query):
    with pytest.raises(GraphqlError):
        project([POD], parse_operation(query).fields[0].selection, "pods")
