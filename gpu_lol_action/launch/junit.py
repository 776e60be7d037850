"""JUnit XML as a machine sent it -> TestReport, or why it cannot be read; whoever wrote the tests wrote these bytes.

There is no standard: pytest, unittest, GoogleTest and Go each write a dialect. Common to them are ``testcase`` elements
with ``classname``, ``name`` and ``time``, and in them ``failure``, ``error`` or ``skipped``. Counts of suites are not
believed: they are counted here.
"""

from __future__ import annotations

import math

# Only expat itself is used, event by event: no tree grows, and a document type (so any entity) ends the reading.
import xml.parsers.expat  # nosec B407
from dataclasses import dataclass, field, replace
from heapq import nlargest
from typing import NoReturn

from gpu_lol_action.domain.smoke import TestCase, TestReport, TestStatus
from gpu_lol_action.launch.junit_names import Place, place_in, selector

MOST_BYTES = 1024 * 1024
MOST_DEPTH = 60
MOST_FAILURES = 10
MOST_SLOWEST = 5
_MOST_MESSAGE = 300
_MOST_TEXT = 64 * 1024
_LONGEST_SECONDS = 30 * 86_400.0
_BAD = {"failure", "error"}
# XML knows no control characters but these three; programs write them all the same.
_CONTROLS = bytes(code for code in range(32) if code not in (9, 10, 13))


class _RefusedError(Exception):
    """The document is of a kind that is not read."""


@dataclass(slots=True)
class _Open:
    """The test that is being read."""

    classname: str
    name: str
    seconds: float
    place: Place
    suite: str
    status: TestStatus = TestStatus.PASSED
    message: str = ""
    is_told: bool = False
    """Whether the text that is being read says why it failed."""
    text: list[str] = field(default_factory=list)
    size: int = 0


@dataclass(slots=True)
class _Reader:
    """Counts as the elements go by. Of the tests only those that are shown are kept."""

    counts: dict[TestStatus, int] = field(default_factory=lambda: dict.fromkeys(TestStatus, 0))
    seconds: float = 0.0
    failures: list[TestCase] = field(default_factory=list)
    slowest: list[TestCase] = field(default_factory=list)
    depth: int = 0
    suites: list[str] = field(default_factory=list)
    test: _Open | None = None

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        self.depth += 1
        if self.depth > MOST_DEPTH:
            raise _RefusedError(f"its elements lie more than {MOST_DEPTH} deep")
        kind = tag.rpartition(":")[2].lower()
        if self.depth == 1 and kind not in ("testsuites", "testsuite"):
            raise _RefusedError("it is no JUnit report")
        if kind == "testsuite":
            self.suites.append(attributes.get("name", ""))
        elif kind == "testcase" and self.test is None:
            self.test = _opened(attributes, self.suites[-1] if self.suites else "")
        elif self.test is not None:
            self._said(kind, attributes, self.test)

    @staticmethod
    def _said(kind: str, attributes: dict[str, str], test: _Open) -> None:
        if kind in _BAD:
            # A test may fail and then fail again as it is taken down: the first says what happened.
            test.is_told = test.status is not TestStatus.FAILED
            test.status = TestStatus.FAILED
            if test.is_told:
                test.message = attributes.get("message", "") or attributes.get("type", "")
        elif kind == "skipped" and test.status is TestStatus.PASSED:
            test.status = TestStatus.SKIPPED

    def text(self, data: str) -> None:
        test = self.test
        if test is not None and test.is_told and test.size < _MOST_TEXT:
            test.text.append(data)
            test.size += len(data)

    def end(self, tag: str) -> None:
        self.depth -= 1
        kind = tag.rpartition(":")[2].lower()
        if kind == "testsuite" and self.suites:
            self.suites.pop()
        elif kind in _BAD and self.test is not None:
            self.test.is_told = False
        elif kind == "testcase" and self.test is not None:
            self._count(self.test)
            self.test = None

    def _count(self, test: _Open) -> None:
        self.counts[test.status] += 1
        self.seconds = min(self.seconds + test.seconds, _LONGEST_SECONDS)
        case = TestCase(selector(test.classname, test.name, test.place, test.suite), test.status, test.seconds)
        if test.status is TestStatus.FAILED and len(self.failures) < MOST_FAILURES:
            self.failures.append(_told(case, test))
        self.slowest = nlargest(MOST_SLOWEST, [*self.slowest, case], key=lambda each: each.seconds)


def parse_junit(data: bytes) -> TestReport | str:
    """Return what a report says, or why it cannot be read: too long, no XML, no JUnit, or with a document type."""
    if len(data) > MOST_BYTES:
        return f"it is longer than {MOST_BYTES // 1024} KiB"
    if b"\0" not in data:  # with one it is UTF-16, where these bytes are halves of letters
        data = data.translate(None, _CONTROLS)
    reader = _Reader()
    try:
        _parser(reader).Parse(data, True)
    except _RefusedError as refused:
        return str(refused)
    except xml.parsers.expat.ExpatError as error:
        return f"it is no XML that can be read (line {error.lineno}: {xml.parsers.expat.ErrorString(error.code)})"
    except (ValueError, LookupError):
        return "it names an encoding that is not known here"
    counts = reader.counts
    return TestReport(
        passed=counts[TestStatus.PASSED],
        failed=counts[TestStatus.FAILED],
        skipped=counts[TestStatus.SKIPPED],
        seconds=round(reader.seconds, 3),
        failures=tuple(reader.failures),
        slowest=tuple(case for case in reader.slowest if case.seconds > 0),
    )


def _parser(reader: _Reader) -> xml.parsers.expat.XMLParserType:
    def refuse(*_: object) -> NoReturn:
        raise _RefusedError("it declares a document type, which no test runner does")

    parser = xml.parsers.expat.ParserCreate()
    parser.SetParamEntityParsing(xml.parsers.expat.XML_PARAM_ENTITY_PARSING_NEVER)
    parser.StartDoctypeDeclHandler = parser.EntityDeclHandler = parser.ExternalEntityRefHandler = refuse
    parser.StartElementHandler, parser.EndElementHandler = reader.start, reader.end
    parser.CharacterDataHandler = reader.text
    return parser


def _opened(attributes: dict[str, str], suite: str) -> _Open:
    def said(name: str) -> str:
        return attributes.get(name, "")[:1000]

    place = place_in(said("file"), said("line"), suite)
    return _Open(said("classname"), said("name"), _seconds(said("time")), place, suite[:1000])


def _told(case: TestCase, test: _Open) -> TestCase:
    text = "".join(test.text)[:_MOST_TEXT]
    message = _first_line(test.message) or _first_line(text)
    place = Place.best(text, test.place, case.name) or test.place
    return replace(case, message=message, path=place.path, line=place.line)


def _first_line(text: str) -> str:
    lines = (line.strip() for line in text[:_MOST_TEXT].splitlines())
    return next((line for line in lines if line), "")[:_MOST_MESSAGE]


def _seconds(text: str) -> float:
    """Return what a program calls seconds; zero for what is no number, less than nothing, or without an end."""
    try:
        found = float(text[:40].replace(",", ""))  # some group thousands
    except ValueError:
        return 0.0
    return min(found, _LONGEST_SECONDS) if math.isfinite(found) and found > 0 else 0.0
