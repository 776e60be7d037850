from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from gpu_lol_action.render.marker import Marker, build_marker, marker_prefix, parse_marker


def test_marker_can_be_read_back() -> None:
    line = build_marker("environment", pr=128, name="gl-k3x9-128", profile="", ended=None)
    assert line == "<!-- gpu-lol v1 environment pr=128 name=gl-k3x9-128 -->"
    assert parse_marker(f"{line}\r\nbody") == Marker("environment", {"pr": "128", "name": "gl-k3x9-128"})


@given(st.text(max_size=200))
def test_marker_stays_one_comment_whatever_the_value(value: str) -> None:
    line = build_marker("reply", to=value)
    assert "\n" not in line
    assert line.endswith(" -->")
    assert "--" not in line.removeprefix("<!--").removesuffix("-->")
    assert parse_marker(line) is not None


def test_prefix_finds_this_number_and_no_longer_one() -> None:
    prefix = marker_prefix("proposal", pr=12)
    assert build_marker("proposal", pr=12, head="abc").startswith(prefix)
    assert not build_marker("proposal", pr=128, head="abc").startswith(prefix)


def test_foreign_text_is_no_marker() -> None:
    for body in (
        "",
        "hello",
        "<!-- gpu-lol v2 proposal -->",
        "x <!-- gpu-lol v1 proposal -->",
        "<!-- gpu-lol v1 a b=c d -->",
    ):
        assert parse_marker(body) is None
