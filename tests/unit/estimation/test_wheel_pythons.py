"""Old pins take the Python of their time."""

from __future__ import annotations

import pytest

from gpu_lol_action.estimation.wheel_pythons import newest_python


@pytest.mark.parametrize(
    ("requirements", "python"),
    [
        (["networkx==1.11", "numpy==1.11.2", "gensim==0.13.3"], "3.5"),
        (["numpy==1.21.4", "scikit-learn==1.0.1"], "3.9"),
        (["numpy == 1.22.0 ; sys_platform == 'linux'"], "3.10"),
        (["scikit_learn==0.23.2", "pandas==1.1.5", "numpy==1.18.5"], "3.8"),
        # What has wheels for the usual Python, or is not pinned, says nothing.
        (["numpy==1.26.4", "pandas==2.0.3", "scipy==1.10.1"], ""),
        (["numpy>=1.11", "pandas~=1.1.5", "numpy", "scipy<1.2"], ""),
        (["numpy==1.11.*", "pandas @ git+https://host.org/pandas==1.1.5", "mynumpy==1.11.2"], ""),
        ([], ""),
    ],
)
def test_the_newest_python_with_wheels(requirements: list[str], python: str) -> None:
    assert newest_python(requirements) == python
