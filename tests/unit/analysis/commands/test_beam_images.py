"""What Beam's programs name for their images."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import pytest

from gpu_lol_action.analysis.files.checkout import Checkout
from gpu_lol_action.analysis.packages import packages

Build = Callable[[Mapping[str, str]], Checkout]

WORK = "\n@function(image=image, gpu='A10G')\ndef work():\n    import torch\n    loss.backward()\n"


def found(tree: Checkout) -> set[str]:
    return {f.value for f in packages.detect(tree) if f.field == "dependencies.requirements"}


@pytest.mark.parametrize(
    ("image", "wanted"),
    [
        ("Image(python_version='python3.11', python_packages=['torch', 'bitsandbytes'])", {"torch", "bitsandbytes"}),
        ("Image().add_python_packages(['torch', 'peft==0.9'])", {"torch", "peft==0.9"}),
        ("Image(python_packages='requirements.txt')", {"torch"}),
    ],
)
def test_an_images_packages_are_a_list(checkout: Build, image: str, wanted: set[str]) -> None:
    program = f"from beam import Image, function\nimage = {image}{WORK}"
    assert found(checkout({"app.py": program})) == {*wanted, "beam-client"}


def test_an_image_of_somebody_else_is_none(checkout: Build) -> None:
    program = f"from own import Image, function\nimage = Image(python_packages=['peft']){WORK}"
    assert "peft" not in found(checkout({"app.py": program}))
