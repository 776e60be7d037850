"""What packages need of the system: libraries, programs, and compilers for those that are only source."""

from __future__ import annotations

import pytest

from gpu_lol_action.analysis.package_lists.system_packages import system_findings
from gpu_lol_action.domain.finding import Confidence, Evidence, Finding


def needed(*requirements: str) -> set[str]:
    where = Evidence("requirements.txt", 1)
    found = [Finding("dependencies.requirements", text, "", Confidence.HIGH, where) for text in requirements]
    return {finding.value for finding in system_findings(found)}


@pytest.mark.parametrize(
    ("requirement", "system"),
    [
        ("opencv-python>=4", {"libgl1", "libglib2.0-0"}),
        ("ultralytics==8.3.0", {"libgl1", "libglib2.0-0"}),
        ("mmcv-full<2", {"libgl1", "libglib2.0-0"}),
        ("psycopg2==2.9", {"libpq-dev", "build-essential"}),
        ("fairseq", {"build-essential"}),
        ("gymnasium[box2d,mujoco]>=1", {"swig", "build-essential"}),
        ("git+https://github.com/NVlabs/nvdiffrast.git", {"git"}),
        ("openai-whisper", {"ffmpeg"}),
    ],
)
def test_what_a_package_needs_of_the_system_is_said(requirement: str, system: set[str]) -> None:
    assert needed(requirement) == system


@pytest.mark.parametrize(
    "requirement", ["opencv-python-headless", "psycopg2-binary", "gym", "gymnasium[atari]", "torch"]
)
def test_what_brings_all_it_needs_needs_nothing(requirement: str) -> None:
    assert needed(requirement) == set()


def test_each_is_named_once() -> None:
    assert needed("pesq", "annoy", "opencv-python", "ultralytics") == {"build-essential", "libgl1", "libglib2.0-0"}
