"""What an older release needs as it was, which its metadata does not say, is bounded beside its pin."""

from __future__ import annotations

import pytest

from gpu_lol_action.analysis.package_lists.package_files import package_name
from gpu_lol_action.analysis.package_lists.paired_releases import with_paired_releases
from gpu_lol_action.domain.finding import Confidence, Evidence, Finding
from gpu_lol_action.domain.tables import table_rows


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
        (["streamlit==1.12.1", "altair"], ["streamlit==1.12.1", "altair<5", "pyarrow<26"]),
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
        (["pycocotools==2.0.7", "numpy>=1.20"], ["pycocotools==2.0.7", "numpy>=1.20,<2"]),
        (["imgaug", "opencv-python"], ["imgaug", "opencv-python", "numpy<2"]),
        (["datasets==2.12.0"], ["datasets==2.12.0", "numpy<2", "pyarrow<21", "fsspec<2023.10", "huggingface-hub<1"]),
        (["datasets", "numpy==1.26.4"], ["datasets", "numpy==1.26.4", "pyarrow<26"]),
        (["trl>=0.9", "numpy<1.24", "pyarrow"], ["trl>=0.9", "numpy<1.24", "pyarrow<26"]),
        (["pyarrow==14.0.2", "numpy"], ["pyarrow==14.0.2", "numpy<2"]),
        (["gradio==4.29.0"], ["gradio==4.29.0", "huggingface-hub<1", "starlette<1", "pydantic<2.11"]),
        (
            ["gradio==3.36.1", "pydantic==1.10.2"],
            ["gradio==3.36.1", "pydantic==1.10.2", "huggingface-hub<1", "starlette<1", "gradio-client<2"],
        ),
        (["transformers==4.31.0", "peft>=0.4"], ["transformers==4.31.0", "peft>=0.4,<0.14"]),
        (["transformers==4.31.0", "diffusers"], ["transformers==4.31.0", "diffusers<0.32"]),
        (["trl==0.7.4", "transformers>=4.31"], ["trl==0.7.4", "transformers>=4.31,<4.39"]),
        (["trl==0.7.4", "transformers", "peft"], ["trl==0.7.4", "transformers<4.39", "peft<0.14", "huggingface-hub<1"]),
        (["diffusers==0.32.0", "transformers"], ["diffusers==0.32.0", "transformers<5", "huggingface-hub<1"]),
        (["peft==0.17.1", "transformers"], ["peft==0.17.1", "transformers<5", "huggingface-hub<1"]),
        (["tensorflow==2.15.0", "datasets"], ["tensorflow==2.15.0", "datasets", "pyarrow<26"]),
        (["bitsandbytes==0.41.1", "torch"], ["bitsandbytes==0.41.1", "torch<2.4", "scipy"]),
        (
            ["bitsandbytes==0.41.1", "scipy>=1.7", "torch==2.0.1"],
            ["bitsandbytes==0.41.1", "scipy>=1.7", "torch==2.0.1"],
        ),
        (
            ["gensim==4.3.2", "bitsandbytes==0.41.1"],
            ["gensim==4.3.2", "bitsandbytes==0.41.1", "torch<2.4", "scipy<1.13"],
        ),
        (["torchtext", "torch>=2.2.0"], ["torchtext", "torch>=2.2.0,<2.4"]),
        (
            ["torchtext>=0.17", "transformers"],
            ["torchtext>=0.17", "transformers<5", "torch<2.4", "huggingface-hub<1"],
        ),
        (["torch==2.3.1", "transformers>=4.31"], ["torch==2.3.1", "transformers>=4.31,<5"]),
        (["torch==2.1.2", "transformers>=4.31"], ["torch==2.1.2", "transformers>=4.31,<4.56"]),
        (["torch<2.1", "transformers>=4.31"], ["torch<2.1", "transformers>=4.31,<4.50"]),
        (["torch==2.3.1", "peft==0.6.0"], ["torch==2.3.1", "peft==0.6.0", "transformers<5", "huggingface-hub<1"]),
        (["torch==1.13.1", "transformers"], ["torch==1.13.1", "transformers<4.48", "huggingface-hub<1"]),
        (["torch==2.4.1", "transformers"], ["torch==2.4.1", "transformers<5.8"]),
        (["torch==2.5.1", "transformers", "trl"], ["torch==2.5.1", "transformers<5.19", "trl<0.29"]),
        (["torch==2.2.2", "diffusers"], ["torch==2.2.2", "diffusers<0.36"]),
        (["torch==2.0.1", "diffusers>=0.20"], ["torch==2.0.1", "diffusers>=0.20,<0.32"]),
        (
            ["gradio==3.50.2", "diffusers==0.20.0"],
            ["gradio==3.50.2", "diffusers==0.20.0", "huggingface-hub<0.26", "starlette<1"],
        ),
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
        ["torch==2.1.0", "opencv-python==4.10.0.84"],
        ["torch==2.4.0", "numpy", "opencv-python"],
        ["pycocotools==2.0.8", "numpy"],
        ["numpy==1.26.4", "scipy"],  # nothing brings pyarrow
        ["numpy>=2", "datasets"],
        ["numpy", "datasets"],
        ["transformers==4.31.0"],  # nobody asks for peft
        ["transformers==4.44.0", "peft"],
        ["bitsandbytes==0.43.1"],
        ["diffusers==0.32.0"],  # of its pipelines without words
        ["tensorflow==2.15.0"],
        ["peft==0.15.2", "transformers"],
        ["gradio==5.49.1"],
        ["openai==0.28"],
        ["torchtext", "torch==2.1.0"],
        ["torch==2.6.0", "transformers", "diffusers", "trl"],
        ["torch==2.0.1", "transformers==4.31.0"],
        ["torch==2.0.1", "transformers>=5"],  # its authors' word
        ["torch==2.0.1"],  # nothing brings transformers
        ["torch>=2.0", "transformers"],
        ["torchtext", "torch>=2.6"],
        ["torchtext==0.9.1", "torch==1.8.1"],
        ["flask==2.3.0"],
        ["git+https://github.com/huggingface/diffusers.git@v0.21.4"],
    ],
)
def test_what_is_new_enough_or_bounded_stays(listed: list[str]) -> None:
    assert _paired(*listed) == listed


def test_of_two_bounds_of_one_package_the_lower_comes_first() -> None:
    """What was bounded once is settled, so the rows of a package stand in the order of their bounds."""
    rows = table_rows("paired_releases.csv")
    for needs in {row["needs"] for row in rows}:
        bounds = [tuple(map(int, (row["needs_below"] or "9999").split("."))) for row in rows if row["needs"] == needs]
        assert bounds == sorted(bounds), needs
    assert len({tuple(row.values()) for row in rows}) == len(rows)


def test_what_is_bounded_is_bounded_before_it_bounds_others() -> None:
    rows = table_rows("paired_releases.csv")
    for place, row in enumerate(rows):
        later = {other["needs"] for other in rows[place:]}
        # Each of these pairs bounds the other, in releases that do not meet.
        is_mutual = (row["package"], row["needs"]) in {
            ("pyarrow", "numpy"), ("diffusers", "transformers"), ("peft", "transformers"),
        }  # fmt: skip
        assert row["package"] not in later or is_mutual, row


def test_packages_are_written_as_the_index_does() -> None:
    rows = table_rows("paired_releases.csv")
    assert all(package_name(row[column]) == row[column] for row in rows for column in ("package", "needs"))
