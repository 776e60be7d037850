"""Networks that a program takes from a library by a name are those that the run says, wherever it says so."""

from __future__ import annotations

import pytest

from gpu_lol_action.analysis.answer.assemble import analyze
from tests.unit.analysis.conftest import Build

LOOP = """import torch
from torchvision import models
{before}
model = {call}.cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for x, y in torch.utils.data.DataLoader(data, batch_size=32):
    torch.nn.functional.cross_entropy(model(x.cuda()), y.cuda()).backward()
    optimizer.step()
"""
PARSER = "import argparse\np = argparse.ArgumentParser()\np.add_argument('--zoo', default='resnet18')\nargs = p.parse_args()\n"
CALLS = (
    "models.__dict__[{name}](weights=None)",
    "getattr(models, {name})(weights=None)",
    "vars(models)[{name}]()",
    "models.get_model({name})",
)


def built(checkout: Build, files: dict[str, str]) -> str | None:
    found = analyze(checkout({"requirements.txt": "torchvision\n", **files}))
    assert found.spec.hardware is not None
    return next((f.value for f in found.findings if f.field == "media.network"), None)


@pytest.mark.parametrize("call", CALLS)
def test_a_name_that_is_written_is_the_networks(checkout: Build, call: str) -> None:
    text = LOOP.format(before="", call=call.format(name='"resnet152"'))
    assert built(checkout, {"train.py": text}) == "resnet152"


@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize(
    ("before", "name", "other"),
    [
        (PARSER, "args.zoo", {"run.sh": "python train.py --zoo resnet152\n"}),
        ("from settings import ZOO\n", "ZOO", {"settings.py": "ZOO = 'resnet152'\n"}),
        ("import yaml\ncfg = yaml.safe_load(open('c.yaml'))\n", "cfg['zoo']", {"c.yaml": "zoo: resnet152\n"}),
    ],
)
def test_a_name_is_followed_to_where_it_is_written(
    checkout: Build, call: str, before: str, name: str, other: dict[str, str]
) -> None:
    text = LOOP.format(before=before, call=call.format(name=name))
    assert built(checkout, {"train.py": text, **other}) == "resnet152"


def test_kerass_networks_have_names_of_their_own(checkout: Build) -> None:
    call = "getattr(tf.keras.applications, 'ResNet152V2')(weights=None)"
    text = LOOP.format(before="import tensorflow as tf\n", call=call)
    assert built(checkout, {"train.py": text}) == "resnet152"


@pytest.mark.parametrize(
    "call", ["models.__dict__[{name}]()", "getattr(models, {name})()", "getattr(own, {name})()", "registry[{name}]()"]
)
def test_a_package_of_the_projects_own_may_mean_another_network_by_the_name(checkout: Build, call: str) -> None:
    text = LOOP.format(before="", call=call.format(name='"resnet152"'))
    text = text.replace("from torchvision import models", "import models\nimport own\nfrom models import registry")
    assert built(checkout, {"train.py": text}) is None


@pytest.mark.parametrize("name", ["chosen()", "ZOO[0]", "'my_net'"])
def test_a_name_that_nothing_tells_is_no_network(checkout: Build, name: str) -> None:
    text = LOOP.format(before="", call=CALLS[0].format(name=name))
    assert built(checkout, {"train.py": text}) is None
