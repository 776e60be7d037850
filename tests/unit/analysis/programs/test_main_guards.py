"""What stands below a module's own guard is nothing of a run that imports the module."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping

import pytest

from gpu_lol_action.analysis.answer.assemble import analyze
from gpu_lol_action.analysis.files.checkout import Checkout
from gpu_lol_action.analysis.models.models import detect as models
from gpu_lol_action.analysis.programs.main_guards import started_alone
from gpu_lol_action.analysis.runs.runs import primary_run
from gpu_lol_action.domain.finding import Confidence

Build = Callable[[Mapping[str, str]], Checkout]
TRAIN = """import torch
import torchvision
from data import Pictures

net = torchvision.models.resnet50().cuda()
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for images, labels in Pictures():
    torch.nn.functional.cross_entropy(net(images), labels).backward()
    optimizer.step()
"""
DATA = """from torch.utils.data import DataLoader

class Pictures:
    pass

{guard}
    batch_size = 100
    for images, labels in DataLoader(Pictures(), batch_size=batch_size):
        print(images.shape)
{behind}"""


@pytest.mark.parametrize(
    ("guard", "behind", "lines"),
    [
        ('if __name__ == "__main__":', "", range(6, 10)),
        ("if __name__=='__main__' :", "", range(6, 10)),
        ('if (__name__ == "__main__"):', "# the end\n\n    x = 2\n", range(6, 13)),
        ('if __name__ == "__main__":', "\nsize = 3\n", range(6, 11)),
        ('if __name__ == "__main__":', 'x = 2\nif __name__ == "__main__":\n    y = 3\n', {*range(6, 10), 11, 12}),
        ("if True:", "", range(0)),
        ('def main():\n    if __name__ == "__main__":', "", range(0)),
    ],
)
def test_the_guarded_lines_of_a_module(checkout: Build, guard: str, behind: str, lines: Collection[int]) -> None:
    source = checkout({"data.py": DATA.format(guard=guard, behind=behind)}).find("data.py")
    assert source is not None
    assert started_alone(source) == set(lines)


def test_a_module_that_ends_without_a_line_feed(checkout: Build) -> None:
    source = checkout({"data.py": 'import torch\nif __name__ == "__main__":\n    main()'}).find("data.py")
    assert source is not None
    assert started_alone(source) == {2, 3}


@pytest.mark.parametrize(("guard", "batch"), [('if __name__ == "__main__":', None), ("if True:", "100")])
def test_what_a_module_is_tried_out_with_is_not_the_runs(checkout: Build, guard: str, batch: str | None) -> None:
    files = {
        "train.py": TRAIN,
        "data.py": DATA.format(guard=guard, behind=""),
        "README.md": "```\npython train.py\n```\n",
    }
    found = analyze(checkout(files)).findings
    assert next((f.value for f in found if f.field == "training.batch_size"), None) == batch


def test_what_the_started_program_does_below_its_guard_is_the_runs(checkout: Build) -> None:
    below = TRAIN.split("\n\n")[1].replace("\n", "\n    ")
    program = f'import torch\nimport torchvision\nbatch_size = 8\nif __name__ == "__main__":\n    batch_size = 16\n    {below}\n'
    found = analyze(checkout({"train.py": program, "README.md": "```\npython train.py\n```\n"})).findings
    assert next(f.value for f in found if f.field == "training.batch_size") in {"8", "16"}


def test_a_model_that_a_module_is_tried_out_with_is_a_hint_only(checkout: Build) -> None:
    module = """from transformers import AutoModelForCausalLM

def load(name):
    return AutoModelForCausalLM.from_pretrained(name)

if __name__ == "__main__":
    model = AutoModelForCausalLM.from_pretrained("Qwen/Qwen2.5-72B")
"""
    program = 'from model import load\nload("Qwen/Qwen2.5-7B").generate()\n'
    tree = checkout({"run.py": program, "model.py": module, "README.md": "```\npython run.py\n```\n"})
    found = {f.value: f.confidence for f in models(tree, primary_run(tree)) if f.field == "model.id"}
    assert found["Qwen/Qwen2.5-72B"] is Confidence.LOW
