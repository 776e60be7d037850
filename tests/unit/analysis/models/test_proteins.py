"""Models of proteins are taken from their own package by a function, or a text, of their name."""

from __future__ import annotations

import pytest

from gpu_lol_action.analysis.answer.assemble import analyze
from tests.unit.analysis.conftest import Build

RUN = "import torch\n{lines}\nconvert = alphabet.get_batch_converter()\nwith torch.no_grad():\n    out = model.cuda()(convert(data)[2].cuda())\n"


def loaded(checkout: Build, lines: str) -> tuple[str | None, str]:
    found = analyze(checkout({"requirements.txt": "torch\nfair-esm\n", "run.py": RUN.format(lines=lines)}))
    return next((f.value for f in found.findings if f.field == "model.id"), None), found.spec.meta.workload_type.value


@pytest.mark.parametrize(
    "lines",
    [
        "import esm\nmodel, alphabet = esm.pretrained.esm2_t36_3B_UR50D()",
        "from esm import pretrained\nmodel, alphabet = pretrained.esm2_t36_3B_UR50D()",
        "from esm.pretrained import esm2_t36_3B_UR50D\nmodel, alphabet = esm2_t36_3B_UR50D()",
        "from esm import pretrained\nmodel, alphabet = pretrained.load_model_and_alphabet('esm2_t36_3B_UR50D')",
        "import esm\nNAME = 'esm2_t36_3B_UR50D'\nmodel, alphabet = esm.pretrained.load_model_and_alphabet(NAME)",
    ],
)
def test_a_function_of_the_package_names_its_model(checkout: Build, lines: str) -> None:
    name, workload = loaded(checkout, lines)
    assert name is not None
    assert name.endswith("esm2_t36_3B_UR50D")
    assert workload == "inference"


@pytest.mark.parametrize(
    "lines",
    [
        "import esm\nmodel, alphabet = esm.pretrained.esm9_t1_UR0()",
        "import mine\nmodel, alphabet = mine.pretrained.esm2_t36_3B_UR50D()",
    ],
)
def test_others_functions_name_none(checkout: Build, lines: str) -> None:
    assert loaded(checkout, lines)[0] is None
