"""Which version installs on which Python, and what stands in where the one that is asked for does not."""

from __future__ import annotations

import pytest
from packaging.version import Version

from gpu_lol_action.domain.tables import table_rows
from gpu_lol_action.estimation.wheel_ranges import PYTHONS, best_python, has_none, replaced, unmet, wheel_range


def nearest(requirement: str, python: str) -> str | None:
    found = replaced(requirement, python)
    return found.nearest if found is not None else None


@pytest.mark.parametrize(
    ("asked", "python", "instead"),
    [
        ("numpy==1.22.0", "3.11", "numpy==1.23.2"),
        ("numpy==1.13.*", "3.11", "numpy==1.23.2"),
        ("numpy~=1.19.0", "3.11", "numpy==1.23.2"),
        ("numpy<1.20", "3.11", "numpy==1.23.2"),
        ("numpy<=1.19.5,>=1.18", "3.10", "numpy==1.21.2"),
        ("numpy==1.26.4", "3.7", "numpy==1.21.6"),
        ("numpy>=2.1", "3.9", "numpy==2.0.2"),
        ("Scikit_Image==0.17.2", "3.11", "Scikit_Image==0.20.0"),
        ("ipython==8.7.0", "3.7", "ipython==7.34.0"),
        ("hydra-core==1.1.1", "3.11", "hydra-core==1.3.0"),
        ("tensorflow[and-cuda]==2.11.1", "3.11", "tensorflow[and-cuda]==2.12.0"),
        ("numpy==1.19.5 ; python_version < '3.12'", "3.11", 'numpy==1.23.2 ; python_version < "3.12"'),
    ],
)
def test_the_nearest_version_stands_in_for_one_that_has_no_build(asked: str, python: str, instead: str) -> None:
    assert nearest(asked, python) == instead


@pytest.mark.parametrize(
    ("asked", "python"),
    [
        ("numpy==1.23.2", "3.11"), ("numpy==1.26.4", "3.11"), ("numpy", "3.11"), ("numpy>=1.13", "3.11"), ("numpy<2", "3.11"),
        ("numpy~=1.22", "3.11"), ("numpy>=1.17,<2.0", "3.12"), ("numpy!=1.19.4", "3.11"),
        ("numpy==1.19.5 ; python_version < '3.9'", "3.11"), ("numpy==1.19.5 ; sys_platform == 'darwin'", "3.11"),
        ("numpy @ https://example.org/numpy-1.13.zip", "3.11"), ("git+https://github.com/numpy/numpy@v1.13", "3.11"),
        ("nobody-knows-this==0.1", "3.11"), ("numpy==1.13.3", "3.5"), ("numpy==1.13.3", ""), ("numpy==rubbish", "3.11"), ("==", "3.11"),
    ],
)  # fmt: skip
def test_what_installs_and_what_is_not_known_stays_as_it_is(asked: str, python: str) -> None:
    assert replaced(asked, python) is None


def test_what_stands_in_installs_itself_for_every_package_and_python() -> None:
    for row in table_rows("wheel_ranges.csv"):
        for python in PYTHONS:
            known = wheel_range(row["package"], python)
            for bound in (known.least, known.newest) if known is not None else ():
                assert bound is None or replaced(f"{row['package']}=={bound}", python) is None, (row, python)


def test_a_range_is_not_upside_down() -> None:
    for row in table_rows("wheel_ranges.csv"):
        for python in PYTHONS:
            known = wheel_range(row["package"], python)
            if known is not None and known.least is not None and known.newest is not None:
                assert known.least <= known.newest, (row["package"], python)


def test_the_first_python_on_which_most_installs_is_the_best() -> None:
    old = ["numpy==1.22.0", "scipy==1.7.3", "requests"]
    assert unmet(old, "3.11") == 2
    assert unmet(old, "3.10") == 0
    assert best_python(old, ("3.11", "3.12", "3.10", "3.9")) == "3.10"
    # 3.6 has builds of that numpy, and none of that PyTorch.
    assert best_python(["torch==2.5.1", "numpy==1.13.3"], ("3.11", "3.6")) == "3.11"
    assert best_python(["requests"], ("3.11", "3.10")) == "3.11"


@pytest.mark.parametrize(
    "marker", ['implementation_name === "pypy"', 'platform_python_implementation ~= "x"', 'python_version > "three"']
)
def test_a_marker_that_says_nothing_stops_nothing(marker: str) -> None:
    assert best_python([f"numpy==1.22.0; {marker}"], ("3.11", "3.10")) in {"3.11", "3.10"}


def test_a_python_for_which_a_package_has_nothing_is_no_way_out() -> None:
    pins = ["tensorflow==2.11.0", "numpy==1.22.0"]
    assert has_none("tensorflow==2.11.0", "3.14")
    assert has_none("Tensorflow", "3.14")
    assert not has_none("numpy", "3.11")
    assert unmet(pins, "3.14") == 2
    assert best_python(pins, ("3.14", "3.11", "3.10")) == "3.10"


def test_what_installs_and_does_not_load_is_none_either() -> None:
    assert has_none("fairseq==0.12.2", "3.11")
    assert not has_none("fairseq", "3.10")
    assert best_python(["fairseq"], ("3.12", "3.11", "3.10")) == "3.10"
    assert replaced("hydra-core==1.1.1", "3.10") is None
    assert replaced("hydra-core==1.3.2", "3.12") is None


def test_cells_are_read_as_bounds() -> None:
    assert wheel_range("numpy", "3.11") is not None
    both = wheel_range("numpy", "3.10")
    assert both is not None
    assert both.least == Version("1.21.2")
    assert wheel_range("tensorflow", "3.14") is None
    assert wheel_range("numpy", "2.7") is None


@pytest.mark.parametrize(
    ("asked", "instead"),
    [("opencv-python==4.5.1.48", "opencv-python==4.5.5.64"), ("opencv-python==4.9.0.80", None), ("vllm==0.6.6", None), ("vllm==0.8.5", None),
     ("torch==2.4.0", None), ("transformers==4.30.2", None), ("deepspeed==0.14.4", None), ("sglang==0.4.6.post1", None), ("jax==0.4.30", None)],
)  # fmt: skip
def test_what_many_pin_today_stays(asked: str, instead: str | None) -> None:
    assert nearest(asked, "3.11") == instead


@pytest.mark.parametrize(
    ("asked", "python", "instead"),
    [
        ("transformers==4.9.2", "3.11", "transformers==4.16.2"),
        ("transformers==2.5.1", "3.9", "transformers==4.0.1"),
        ("transformers[torch]==4.18.0", "3.11", "transformers[torch]==4.23.1"),
        ("transformers~=4.22.0", "3.12", "transformers==4.34.0"),
        ("transformers==4.9.2", "3.9", None),
        ("transformers==4.16.2", "3.12", None),
        ("transformers==4.30.2", "3.11", None),
        ("transformers==2.1.1", "3.11", None),
        ("transformers>=4.9", "3.12", None),
        ("transformers>=4.9,<4.20", "3.12", None),
        ("transformers<4.20", "3.12", None),
    ],
)
def test_transformers_gives_way_where_its_tokenizers_would_have_to_be_compiled(
    asked: str, python: str, instead: str | None
) -> None:
    assert nearest(asked, python) == instead
