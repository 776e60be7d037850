"""JUnit reports: the dialects of those who write them, and what somebody may send who means harm."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpu_lol_action.domain.smoke import TestReport
from gpu_lol_action.launch.junit import MOST_BYTES, parse_junit

PYTEST = b"""<?xml version="1.0" encoding="utf-8"?>
<testsuites name="pytest tests"><testsuite name="pytest" errors="1" failures="1" skipped="1" tests="5" time="3.2">
<testcase classname="tests.gpu.test_step.TestStep" name="test_loss[bf16-2]" time="2.5"/>
<testcase classname="tests.gpu.test_step" name="test_grad" time="0.25"><failure message="AssertionError: assert 3 == 4&#10; +  where 3 = f()">def test_grad():
&gt;       assert f() == 4
E       assert 3 == 4

tests/gpu/test_step.py:12: AssertionError
src/model.py:7: in f</failure></testcase>
<testcase classname="tests.gpu.test_step" name="test_skip" time="0.0"><skipped type="pytest.skip" message="no"/></testcase>
<testcase classname="tests.gpu.test_step" name="test_fixture" time="0.1"><error message="failed on setup with &quot;OSError&quot;">conftest.py:3: OSError</error></testcase>
<testcase classname="" name="tests.test_broken" time="0.0"><error message="collection failure">tests/test_broken.py:1: in &lt;module&gt;
    import nothing
E   ModuleNotFoundError: No module named 'nothing'</error></testcase>
</testsuite></testsuites>"""


def read(data: bytes) -> TestReport:
    found = parse_junit(data)
    assert isinstance(found, TestReport), found
    return found


def refused(data: bytes) -> str:
    found = parse_junit(data)
    assert isinstance(found, str), found
    return found


def test_pytest_names_are_those_that_select_the_test_again() -> None:
    found = read(PYTEST)
    assert (found.passed, found.failed, found.skipped, found.total) == (1, 3, 1, 5)
    assert found.seconds == 2.85
    names = [case.name for case in found.failures]
    assert names == [
        "tests/gpu/test_step.py::test_grad",
        "tests/gpu/test_step.py::test_fixture",
        "tests/test_broken.py",
    ]
    assert found.failures[0].message == "AssertionError: assert 3 == 4"
    assert found.slowest[0].name == "tests/gpu/test_step.py::TestStep::test_loss[bf16-2]"
    assert [case.seconds for case in found.slowest] == [2.5, 0.25, 0.1]


def test_failure_is_placed_where_its_text_says_that_it_happened() -> None:
    found = read(PYTEST)
    places = [(case.path, case.line) for case in found.failures]
    assert places == [("tests/gpu/test_step.py", 12), ("conftest.py", 3), ("tests/test_broken.py", 1)]


def test_older_pytest_tells_file_and_line_and_counts_from_zero() -> None:
    case = (
        b'<testcase classname="t.test_a.TestA" name="test_x" file="t/test_a.py" line="9" time="1"><failure/></testcase>'
    )
    (failure,) = read(b'<testsuites><testsuite name="pytest">' + case + b"</testsuite></testsuites>").failures
    assert (failure.name, failure.path, failure.line) == ("t/test_a.py::TestA::test_x", "t/test_a.py", 10)


@pytest.mark.parametrize(
    ("case", "name", "place"),
    [
        # unittest-xml-reporting
        (
            b'<testcase classname="tests.test_a.Sums" name="test_one" file="tests/test_a.py" line="4" time="0.001"><failure message="1 != 2" type="AssertionError">Traceback:\n  File "/root/repo/tests/test_a.py", line 6, in test_one</failure></testcase>',
            "tests/test_a.py::Sums::test_one",
            ("tests/test_a.py", 4),
        ),
        # GoogleTest
        (
            b'<testcase name="Adds" file="kernels/add_test.cu" line="10" status="run" result="completed" time="0.5" classname="Kernels"><failure message="kernels/add_test.cu:14&#x0A;Expected equality" type=""/></testcase>',
            "Kernels::Adds",
            ("kernels/add_test.cu", 10),
        ),
        # go-junit-report
        (
            b'<testcase classname="example.com/gpu/kernel" name="TestAdd/large" time="0.010"><failure message="Failed">    kernel_test.go:21: got 3, want 4</failure></testcase>',
            "example.com/gpu/kernel::TestAdd/large",
            ("kernel_test.go", 21),
        ),
    ],
)
def test_dialects(case: bytes, name: str, place: tuple[str, int]) -> None:
    report = read(
        b'<testsuites><testsuite name="a"><testsuite name="b">' + case + b"</testsuite></testsuite></testsuites>"
    )
    (failure,) = report.failures
    assert failure.name == name
    assert (failure.path, failure.line) == place


def test_suite_alone_at_the_top_and_counts_that_lie() -> None:
    found = read(
        b'<testsuite tests="999" failures="0"><testcase name="a"><failure message="x"/><error message="y"/></testcase></testsuite>'
    )
    assert (found.total, found.failed) == (1, 1)
    assert found.failures[0].message == "x"


@pytest.mark.parametrize("text", ["NaN", "inf", "-1", "1e400", "", "abc", "0x10", "९e999", "9" * 300])
def test_seconds_that_are_none_are_no_time(text: str) -> None:
    found = read(f'<testsuite><testcase name="a" time="{text}"/></testsuite>'.encode())
    assert 0 <= found.seconds <= 30 * 86_400
    assert found.passed == 1


def test_thousands_are_grouped_by_some() -> None:
    assert read(b'<testsuite><testcase name="a" time="1,234.5"/></testsuite>').seconds == 1234.5


BOMB = b"""<?xml version="1.0"?><!DOCTYPE lolz [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;&a;&a;">]>
<testsuite><testcase name="&b;"/></testsuite>"""


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (BOMB, "document type"),
        (b'<!DOCTYPE x SYSTEM "file:///etc/passwd"><testsuite/>', "document type"),
        (b'<!DOCTYPE x [<!ENTITY e SYSTEM "http://127.0.0.1:9/">]><testsuite>&e;</testsuite>', "document type"),
        (b"<testsuite>" + b"<a>" * 100 + b"</a>" * 100 + b"</testsuite>", "deep"),
        (b"<html><body/></html>", "no JUnit"),
        (b"", "no XML"),
        (b"not at all", "no XML"),
        (b"<testsuite><testcase name='a'>", "no XML"),
        (b"<testsuite>&undefined;</testsuite>", "no XML"),
        (b'<?xml version="1.0" encoding="klingon"?><testsuite/>', "encoding"),
        (b'<?xml version="1.0" encoding="utf-7"?><testsuite/>', "encoding"),
        (b'<?xml version="1.0" encoding="zip"?><testsuite/>', "encoding"),
        (b"<testsuite><testcase name='\xff\xfe'/></testsuite>", "no XML"),
        (b" " * MOST_BYTES + b"<testsuite/>", "longer"),
    ],
)
def test_what_is_not_read_and_why(data: bytes, why: str) -> None:
    assert why in refused(data)


def test_control_characters_that_no_xml_may_hold_are_left_out() -> None:
    (failure,) = read(
        b"<testsuite><testcase name='a\x1b[31m\x00'><failure message='\x07b'/></testcase></testsuite>".replace(
            b"\x00", b""
        )
    ).failures
    assert (failure.name, failure.message) == ("a[31m", "b")


@pytest.mark.parametrize("encoding", ["utf-16", "iso-8859-1", "cp1252", "utf-8-sig"])
def test_encodings_that_people_use(encoding: str) -> None:
    declared = {"utf-8-sig": "utf-8"}.get(encoding, encoding)
    data = f'<?xml version="1.0" encoding="{declared}"?><testsuite><testcase name="größe"><failure/></testcase></testsuite>'
    assert read(data.encode(encoding)).failures[0].name == "größe"


def test_a_megabyte_of_tests_is_counted_and_little_of_it_kept() -> None:
    cases = b"".join(
        b'<testcase classname="a" name="t%d" time="0.001"><failure message="m"/></testcase>' % n for n in range(12_000)
    )
    found = read((b"<testsuite>" + cases)[: MOST_BYTES - 200].rpartition(b"<testcase")[0] + b"</testsuite>")
    assert found.failed > 10_000
    assert len(found.failures) == 10
    assert len(found.slowest) == 5


@pytest.mark.parametrize(
    "path", ["/etc/passwd", "../../x.py", "a/../b.py", "C:\\x.py", "a//b.py", "a\u202eb.py", "x" * 400]
)
def test_a_path_that_leaves_the_checkout_is_none(path: str) -> None:
    found = read(f'<testsuite><testcase name="a" file="{path}" line="3"><failure/></testcase></testsuite>'.encode())
    assert (found.failures[0].path, found.failures[0].line) == ("", 0)


@given(st.binary(max_size=400), st.integers(0, len(PYTEST)), st.integers(0, 60))
def test_whatever_is_sent_is_read_or_refused_in_one_line(noise: bytes, at: int, length: int) -> None:
    for data in (noise, PYTEST[:at] + noise[:length] + PYTEST[at + length :]):
        found = parse_junit(data)
        if isinstance(found, str):
            assert found
            assert "\n" not in found
        else:
            assert found.total >= 0
            assert all("\n" not in case.message for case in found.failures)
