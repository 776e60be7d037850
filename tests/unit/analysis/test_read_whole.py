"""What of a program is this run's: the network that it builds, the batch that it takes, the modules that it imports itself."""

from __future__ import annotations

import pytest

from gpu_lol_action.analysis.answer.assemble import analyze
from gpu_lol_action.analysis.media.question import built_instead
from gpu_lol_action.analysis.programs.import_graph import import_closure
from gpu_lol_action.domain.finding import Confidence, Evidence, Finding
from gpu_lol_action.estimation.known_models import ModelFacts
from tests.unit.analysis.conftest import Build

CLUSTERS = """
import click
import torch

@click.command()
@click.option("--batch-size", type=int, default=4096, help="for k-means")
def cluster(batch_size):
    ...

@click.command()
def convert():
    from transformers import AutoModel
    AutoModel.from_pretrained("openai/whisper-base").cuda().generate(x)

if __name__ == "__main__":
    convert()
"""


def test_thousands_at_a_time_are_no_models(checkout: Build) -> None:
    analysis = analyze(checkout({"app.py": CLUSTERS}))
    assert analysis.breakdown is not None
    assert analysis.spec.hardware.gpu_count == 1
    assert analysis.breakdown.expected_gib < 4


def test_what_a_script_imports_itself_is_no_sibling_of_what_it_names(checkout: Build) -> None:
    others = {f"zoo/module{i}.py": "import torch\n" for i in range(14)}
    files = {
        **others,
        "zoo/gpt.py": "import torch\nclass GPT(torch.nn.Module): ...\n",
        "zoo/loader.py": "import torch\nclass DataLoader: ...\n",
        "zoo/tools.py": "".join(f"from zoo.module{i} import x{i}\n" for i in range(14)),
        "train.py": "import torch\nfrom zoo.gpt import GPT\nfrom zoo.loader import DataLoader\nfrom zoo.tools import run\n"
        "if __name__ == '__main__':\n    loss.backward()\n",
    }
    tree = checkout(files)
    script = tree.find("train.py")
    assert script is not None
    followed = {source.path for source in import_closure(tree, script)}
    assert {"zoo/gpt.py", "zoo/loader.py"} <= followed
    assert "zoo/module3.py" not in followed


@pytest.mark.parametrize(
    ("layers", "why", "shape_b", "is_built"),
    [
        (Confidence.MEDIUM, "22 layers", 0.0025, True),
        (Confidence.MEDIUM, "22 layers", 0.0001, False),  # they agree
        (Confidence.HIGH, "22 layers", 0.0025, False),  # the command says the numbers
        (Confidence.MEDIUM, "22 layers; 3 layers could not be sized", 0.0025, False),
    ],
)
def test_numbers_far_from_the_network_that_is_built_are_of_another(
    layers: Confidence, why: str, shape_b: float, *, is_built: bool
) -> None:
    where = Evidence("train.py", 1)
    findings = (
        Finding("media.own_network", "GPT", why, Confidence.HIGH, where),
        Finding("media.own_parameters", "85728", why, Confidence.HIGH, where),
        Finding("model.layers", "3", "said", layers, Evidence("model.py", 9)),
        Finding("training.method", "full", "said", Confidence.MEDIUM, where),
    )
    built = built_instead(findings, ModelFacts("own transformer", "llm", shape_b))
    assert (built is not None and built.name == "GPT") is is_built
