"""A comma that a setup.py misses joins two dependencies to one that nobody knows."""

from __future__ import annotations

import pytest

from gpu_lol_action.analysis.answer.assemble import analyze

SETUP = "from setuptools import setup\nsetup(name='lab', install_requires=[{}])\n"
RUN = "import torch\nmodel = torch.nn.Linear(4, 4).cuda()\n"


def _listed(checkout, texts):
    found = analyze(checkout({"setup.py": SETUP.format(texts), "train.py": RUN}))
    return set(found.spec.dependencies.requirements or ()), [gap for gap in found.not_understood if "comma" in gap]


@pytest.mark.parametrize(
    ("texts", "names"),
    [
        ("'torch', 'pandas>=0.23.4,<2.0.0' 'scipy>=1.2.0'", {"torch", "pandas>=0.23.4,<2.0.0", "scipy>=1.2.0"}),
        ("\n    'torch',\n    'tqdm'\n    # for tables\n    'pandas',\n", {"torch", "tqdm", "pandas"}),
        ("'torch' 'tqdm' 'einops'", {"torch", "tqdm", "einops"}),
    ],
)
def test_two_known_names_without_a_comma_are_two_packages(checkout, texts, names):
    requirements, said = _listed(checkout, texts)
    assert names <= requirements
    assert len(said) == 1
    assert "setup.py:" in said[0]


@pytest.mark.parametrize(
    ("texts", "kept"),
    [
        ("'torch', 'clip @ git+https://github.com/openai/' 'CLIP.git'", "clip @ git+https://github.com/openai/CLIP.git"),
        ("'torch', 'tqdm' '>=4.60'", "tqdm>=4.60"),
        ("'torch', 'nobody' 'knows'", "nobodyknows"),
        ("'torch', 'scikit-' 'learn'", "scikit-learn"),
    ],
)  # fmt: skip
def test_one_text_over_two_literals_stays_one(checkout, texts, kept):
    requirements, said = _listed(checkout, texts)
    assert kept in requirements
    assert not said


def test_columns_count_bytes_and_a_long_name_is_one_literal(checkout):
    requirements, said = _listed(checkout, "u'torch', r'tqdm', '''einops''', 'ä' if 0 else 'pandas' 'scipy'")
    assert {"torch", "tqdm", "einops"} <= requirements
    assert not said
