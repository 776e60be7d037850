"""READMEs that stand for weights which lie elsewhere."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import pytest

from gpu_lol_action.analysis.answer.assemble import analyze
from gpu_lol_action.analysis.files.checkout import Checkout

Build = Callable[[Mapping[str, str]], Checkout]
HOME = "https://huggingface.co/"
FITS = "\n`sage-120b` fits into a single 80GB GPU (like NVIDIA H100).\n"


@pytest.mark.parametrize(
    ("readme", "others", "expected"),
    [
        (f"# Sage\n[large]({HOME}acme/sage-120b), [small]({HOME}acme/sage-20b)\n{FITS}", {}, ("inference", 80)),
        (f"# Sage\n[large]({HOME}acme/sage-120b)\n", {}, ("cpu-only", None)),
        # A list of others' models, and a project whose own work is something else.
        (f"# Good models\n[a]({HOME}acme/sage-120b), [b]({HOME}bmce/wise-7b)\n{FITS}", {}, ("cpu-only", None)),
        (f"# Sage\n[large]({HOME}acme/sage-120b)\n{FITS}", {"app.py": "print(1)\n"}, ("cpu-only", None)),
        # A client in another language asks a server.
        (f"# Sage\n[large]({HOME}acme/sage-120b)\n{FITS}\n```\nnpm install\n```\n", {}, ("cpu-only", None)),
        (f"# Sage\n[large]({HOME}acme/sage-120b)\n{FITS}", {"Cargo.toml": "[package]\n"}, ("cpu-only", None)),
        (f"# Words\n[data]({HOME}acme/words)\n{FITS}", {}, ("cpu-only", None)),
    ],
)
def test_a_readme_without_programs_runs_the_models_that_it_links_to(
    checkout: Build, readme: str, others: dict[str, str], expected: tuple[str, int | None]
) -> None:
    spec = analyze(checkout({"README.md": readme, **others})).spec
    assert (spec.meta.workload_type.value, spec.hardware.vram_required_gb) == expected
