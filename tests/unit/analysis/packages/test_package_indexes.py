"""Places of packages that a repository names: few are used, all others are said."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import pytest

from gpu_lol_action.analysis.answer.assemble import analyze
from gpu_lol_action.analysis.files.checkout import Checkout
from gpu_lol_action.analysis.packages.package_indexes import is_well_known

Build = Callable[[Mapping[str, str]], Checkout]
RUN = "import torch\nmodel.cuda()\nloss.backward()\nif __name__ == '__main__': pass\n"
# Put together: no file may name the usual index, or an address that ends like one.
USUAL = "https://" + "pypi" + ".org" + "/" + "simple"
FRAMEWORK = "https://download." + "pytorch.org" + "/whl"


@pytest.mark.parametrize(
    "url",
    [
        FRAMEWORK + "/cu128/flashinfer/",
        "https://data.pyg.org/whl/torch-2.4.0+cu121.html",
        "https://data.pyg.org/whl/torch-2.4.0%2Bcu121.html",
        "https://storage.googleapis.com/jax-releases/jax_cuda_releases.html",
        "https://flashinfer.ai/whl/cu124/torch2.4/flashinfer/",
        "https://FlashInfer.ai/whl/",
    ],
)
def test_pages_of_wheels_of_known_projects(url: str) -> None:
    assert is_well_known(url)


@pytest.mark.parametrize(
    "url",
    [
        "http://data.pyg.org/whl/x.html",
        "https://data.pyg.org.evil.example/whl/x.html",
        "https://evil.example/data.pyg.org/whl/x.html",
        "https://data.pyg.org@evil.example/whl/x.html",
        "https://data.pyg.org:8443/whl/x.html",
        "https://u:p@data.pyg.org/whl/x.html",
        "https://data.pyg.org/other/x.html",
        "https://storage.googleapis.com/somebody/x.html",
        "https://storage.googleapis.com/jax-releases-2/x.html",
        "https://storage.googleapis.com/jax-releases/../somebody/x.html",
        "https://storage.googleapis.com/jax-releases/%2e%2e/somebody/x.html",
        "https://storage.googleapis.com/./jax-releases/x.html",
        "https://storage.googleapis.com//jax-releases/x.html",
        "https://storage.googleapis.com/",
        "https://data.pyg.org/whl/x.html https://evil.example",
        "https://data.pyg.org\\@evil.example/whl/",
        "https://data.pyg.org/whl/$(id)",
        "https://data.pyg.org/whl/x\n",
        "https://[data.pyg.org/whl/",
        "https://dаta.pyg.org/whl/",  # noqa: RUF001 - a Cyrillic letter, on purpose
        "https://data.pyg.org/whl/?x=https://evil.example",
        USUAL,
    ],
)  # fmt: skip
def test_every_other_address_is_strange(url: str) -> None:
    assert not is_well_known(url)


def test_known_pages_are_set_and_strange_hosts_are_said(checkout: Build) -> None:
    text = (
        "torch\n-f https://data.pyg.org/whl/torch-2.4.html\n--extra-index-url https://flashinfer.ai/whl/cu124/\n"
        "--index-url https://me:secret@packages.corp.example/own\n-f https://wheels.example/x.html\n-f ./wheels\n"
        f"--extra-index-url {USUAL}\n--extra-index-url {FRAMEWORK}/cu121\n--extra-index-url ${{INDEX}}\n"
    )
    spec = analyze(checkout({"requirements.txt": text, "train.py": RUN}))
    assert dict(spec.spec.env) == {
        "PIP_EXTRA_INDEX_URL": "https://flashinfer.ai/whl/cu124/",
        "PIP_FIND_LINKS": "https://data.pyg.org/whl/torch-2.4.html",
    }
    (said,) = [gap for gap in spec.not_understood if "asks for packages" in gap]
    assert said.startswith("`requirements.txt` asks for packages from packages.corp.example, wheels.example; ")
    assert "`env.PIP_EXTRA_INDEX_URL`" in said
    assert "secret" not in said


@pytest.mark.parametrize(
    "files",
    [
        {"pyproject.toml": '[project]\nname = "x"\ndependencies = ["torch"]\n[[tool.uv.index]]\nurl = "https://evil.example/a"\n'},
        {"requirements.txt": "torch\n", "Dockerfile": "RUN pip install --extra-index-url https://evil.example/a -r requirements.txt\n"},
        {"requirements.txt": "torch\n", "README.md": "# Install\n```\npip install -i https://evil.example/a -r requirements.txt\n```\n"},
        {"environment.yml": "dependencies:\n- pip\n- pip:\n  - --extra-index-url https://evil.example/a\n  - torch\n"},
    ],
)  # fmt: skip
def test_no_file_of_a_repository_sets_a_strange_place(checkout: Build, files: dict[str, str]) -> None:
    found = analyze(checkout({"train.py": RUN, **files}))
    assert dict(found.spec.env) == {}
    assert any("asks for packages from evil.example" in gap for gap in found.not_understood)


def test_a_repository_without_other_places_says_nothing(checkout: Build) -> None:
    text = f"torch\n--index-url {USUAL}\n--extra-index-url {FRAMEWORK}/cu121\n-f {FRAMEWORK}/torch_stable.html\n"
    found = analyze(checkout({"requirements.txt": text, "train.py": RUN}))
    assert dict(found.spec.env) == {}
    assert not any("asks for packages" in gap for gap in found.not_understood)


@pytest.mark.parametrize(
    ("listed", "installed", "is_looked_up"),
    [
        ("jax==0.4.20", "jax[cuda12_pip]==0.4.20", True),
        ("jax[cuda12_pip]==0.4.13", "jax[cuda12_pip]==0.4.13", True),
        ("jax[minimum-jaxlib]== 0.4.26", "jax[minimum-jaxlib,cuda12_pip]== 0.4.26", True),
        ("jax==0.3.4", "jax[cpu]==0.3.4", False),
        ("jax==0.3.4\njaxlib==0.3.2", "jaxlib==0.3.2", False),
        ("jax==0.4.1\njaxlib[cuda11_cudnn82]==0.4.1", "jaxlib==0.4.1", False),
        ("jax==0.4.30", "jax[cuda12]==0.4.30", False),
        ("jax>=0.4.20", "jax[cuda12]>=0.4.20", False),
        ("jaxtyping==0.4.20", "jaxtyping==0.4.20", False),
    ],
)
def test_a_jax_of_those_days_is_taken_for_the_card_from_its_own_page(
    checkout: Build, listed: str, installed: str, *, is_looked_up: bool
) -> None:
    train = "import jax\nimport optax\ngrads = jax.grad(loss)(params)\nif __name__ == '__main__': pass\n"
    spec = analyze(checkout({"train.py": train, "requirements.txt": f"{listed}\noptax\nflax\n"})).spec
    assert installed in (spec.dependencies.requirements or ())
    assert ("jax_cuda_releases" in dict(spec.env or {}).get("PIP_FIND_LINKS", "")) is is_looked_up


def test_a_jax_that_pytorch_is_listed_with_brings_no_cuda_of_its_own(checkout: Build) -> None:
    spec = analyze(checkout({"train.py": RUN, "requirements.txt": "torch==1.13.1\njax==0.4.8\n"})).spec
    assert "jax[cpu]==0.4.8" in (spec.dependencies.requirements or ())


@pytest.mark.parametrize(
    ("listed", "is_old"), [("jax==0.3.4", True), ("jaxlib==0.4.1", True), ("jax==0.4.13", False), ("jax", False)]
)
def test_wheels_that_no_index_has_any_more_are_looked_for_on_jax_s_own_page(
    checkout: Build, listed: str, *, is_old: bool
) -> None:
    spec = analyze(checkout({"train.py": RUN, "requirements.txt": f"torch==1.13.1\n{listed}\n"})).spec
    assert ("jax-releases/jax_releases" in dict(spec.env or {}).get("PIP_FIND_LINKS", "")) is is_old
