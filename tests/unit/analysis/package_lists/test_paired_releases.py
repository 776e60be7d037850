"""What an older release needs as it was, which its metadata does not say, is bounded beside its pin."""

from __future__ import annotations

import pytest

from gpu_lol_action.analysis.package_lists.paired_releases import with_paired_releases
from gpu_lol_action.domain.finding import Confidence, Evidence, Finding


def _paired(*requirements: str) -> list[str]:
    where = Evidence("requirements.txt", 1)
    found = [Finding("dependencies.requirements", text, "", Confidence.HIGH, where) for text in requirements]
    return [finding.value for finding in with_paired_releases(found)]


@pytest.mark.parametrize(
    ("listed", "expected"),
    [
        (["diffusers==0.21.4"], ["diffusers==0.21.4", "huggingface-hub<0.26"]),
        (["diffusers[torch]==0.11.1", "huggingface_hub"], ["diffusers[torch]==0.11.1", "huggingface_hub<0.26"]),
        (["huggingface-hub>=0.16", "diffusers~=0.24.0"], ["huggingface-hub>=0.16,<0.26", "diffusers~=0.24.0"]),
        (["flask==1.1.2"], ["flask==1.1.2", "werkzeug<2.1", "jinja2<3.1", "itsdangerous<2.1"]),
        (["Flask==2.2.2"], ["Flask==2.2.2", "werkzeug<3"]),
        (["streamlit==1.12.1", "altair"], ["streamlit==1.12.1", "altair<5"]),
        (["torch==2.1.0", "numpy"], ["torch==2.1.0", "numpy<2"]),
        (["torch==2.1.0", "opencv-python"], ["torch==2.1.0", "opencv-python", "numpy<2"]),
        (["openai==1.30.1"], ["openai==1.30.1", "httpx<0.28"]),
        (["torch==2.1.0", "numpy>=1.20,<2.4"], ["torch==2.1.0", "numpy>=1.20,<2"]),
        (["diffusers==0.21.4", "huggingface-hub<1"], ["diffusers==0.21.4", "huggingface-hub<0.26"]),
        (["diffusers<0.20"], ["diffusers<0.20", "huggingface-hub<0.26"]),
        (["datasets", "transformers<4.46"], ["datasets", "transformers<4.46", "huggingface-hub<1"]),
        (["transformers>=4.3,<4.50", "huggingface_hub"], ["transformers>=4.3,<4.50", "huggingface_hub<1"]),
        (["transformers<=4.30"], ["transformers<=4.30", "huggingface-hub<1"]),
        (["transformers<5,!=4.40.0"], ["transformers<5,!=4.40.0", "huggingface-hub<1"]),
        (["torchtext", "torch>=2.2.0"], ["torchtext", "torch>=2.2.0,<2.4"]),
        (["torchtext>=0.17", "transformers"], ["torchtext>=0.17", "transformers", "torch<2.4"]),
        (["gradio==3.50.2", "diffusers==0.20.0"], ["gradio==3.50.2", "diffusers==0.20.0", "huggingface-hub<0.26"]),
    ],
)
def test_what_an_older_release_needs_is_bounded(listed: list[str], expected: list[str]) -> None:
    assert _paired(*listed) == expected


@pytest.mark.parametrize(
    "listed",
    [
        ["diffusers==0.29.0"],
        ["diffusers<0.30"],  # the newest below has mended it
        ["transformers==4.38.2"],  # a pin says itself what it needs
        ["transformers<6"],
        ["transformers>=4.31,<5"],  # and so does every release that this allows
        ["transformers; python_version<'3.9'"],
        ["diffusers>=0.21"],  # the newest is taken
        ["diffusers"],
        ["diffusers==0.21.4", "huggingface-hub==0.30.0"],  # two pins that exclude each other are their authors'
        ["diffusers==0.21.4", "huggingface-hub<0.25"],
        ["diffusers==0.21.4", "huggingface-hub>=0.27"],
        ["torch==2.1.0"],
        ["torch==2.1.0", "opencv-python==4.8.0.74"],
        ["torch==2.4.0", "numpy", "opencv-python"],
        ["openai==0.28"],
        ["torchtext", "torch==2.1.0"],
        ["torchtext", "torch>=2.6"],
        ["torchtext==0.9.1", "torch==1.8.1"],
        ["flask==2.3.0"],
        ["git+https://github.com/huggingface/diffusers.git@v0.21.4"],
    ],
)
def test_what_is_new_enough_or_bounded_stays(listed: list[str]) -> None:
    assert _paired(*listed) == listed
