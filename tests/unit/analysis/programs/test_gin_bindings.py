"""What gin-config gives to a program's functions is what they work with, by whatever file or word of the command it is told."""

from __future__ import annotations

import pytest

from gpu_lol_action.analysis.answer.assemble import analyze
from tests.unit.analysis.conftest import Build

BODY = """
def {function}(arch="resnet18", qside=64, qbunch=2):
    cut = transforms.Compose([transforms.RandomResizedCrop(qside), transforms.ToTensor()])
    loader = DataLoader(datasets.ImageFolder("data", cut), batch_size=qbunch, shuffle=True)
    model = timm.create_model(arch, num_classes=100).cuda()
    optimizer = torch.optim.AdamW(model.parameters())
    for images, labels in loader:
        torch.nn.functional.cross_entropy(model(images.cuda()), labels.cuda()).backward()
        optimizer.step()

"""
HEAD = "import gin\nimport timm\nimport torch\nfrom torch.utils.data import DataLoader\nfrom torchvision import datasets, transforms\n\n"
END = "\nif __name__ == '__main__':\n    gin.parse_config_file('config.gin')\n    {function}()\n"
ABSL = (
    "\nfrom absl import app, flags\nF = flags.FLAGS\nflags.DEFINE_multi_string('gin_file', {start}, '')\n"
    "flags.DEFINE_multi_string('gin_param', None, '')\n\ndef main(_):\n"
    "    gin.parse_config_files_and_bindings(F.gin_file, F.gin_param)\n    {function}()\n\nif __name__ == '__main__':\n    app.run(main)\n"
)
TOLD = "train.arch = 'resnet50'\ntrain.qside = 384\ntrain.qbunch = 48\n"
OLD = TOLD.replace("48", "6")


def program(end: str = END, decorator: str = "@gin.configurable", function: str = "train", start: str = "None") -> str:
    return HEAD + decorator + BODY.format(function=function) + end.format(function=function, start=start)


def batch(checkout: Build, files: dict[str, str]) -> object:
    found = analyze(checkout(files)).findings
    return next((f.value for f in found if f.field == "training.batch_size"), None)


WAYS: dict[str, dict[str, str]] = {
    "a file": {"train.py": program(), "config.gin": TOLD},
    "a module before the name": {"train.py": program(), "config.gin": TOLD.replace("train.", "__main__.train.")},
    "a macro": {"train.py": program(), "config.gin": "B = 48\n" + TOLD.replace("= 48", "= %B")},
    "a macro that another file sets": {
        "train.py": program(), "config.gin": "include 'base/a.gin'\nB = 48\n", "base/a.gin": "B = 2\n" + TOLD.replace("= 48", "= %B"),
    },
    "a circle of files": {
        "train.py": program(), "config.gin": "include 'b.gin'\ninclude '../../x.gin'\n" + TOLD, "b.gin": "include 'config.gin'\n" + OLD,
    },
    "a name of gin's": {
        "train.py": program(decorator="@gin.configurable('fit')"), "config.gin": TOLD.replace("train.", "fit."),
    },
    "an odd name": {"train.py": program(function="qrun"), "config.gin": TOLD.replace("train.", "qrun.")},
    "a function that is handed to gin": {
        "train.py": program(decorator="", end="gin.external_configurable(train)\n" + END), "config.gin": TOLD,
    },
    "a block": {"train.py": program(), "config.gin": "train:\n  arch = 'resnet50'\n  qside = 384\n  qbunch = 48\n"},
    "several files, of which the last one counts": {
        "train.py": program(END.replace("file('config.gin')", "files_and_bindings(['a.gin', 'b.gin'], [])")),
        "a.gin": OLD, "b.gin": "train.qbunch = 48\n",
    },
    "what a flag starts with": {"train.py": program(ABSL, start="['c/a.gin']"), "c/a.gin": TOLD},
    "a flag": {"train.py": program(ABSL), "c/a.gin": TOLD, "run.sh": "python train.py --gin_file=c/a.gin\n"},
    "a binding of the command": {
        "train.py": program(ABSL), "c/a.gin": OLD,
        "run.sh": 'python train.py --gin_file=c/a.gin --gin_param="train.qbunch=48"\n',
    },
    "a macro of the command": {
        "train.py": program(ABSL), "c/a.gin": "B = 2\n" + TOLD.replace("= 48", "= %B"),
        "run.sh": "python train.py --gin_file=c/a.gin --gin.B=48\n",
    },
    "a call goes before it": {"train.py": program(END.replace("()", "(qbunch=48)")), "config.gin": OLD},
    "a scope that judges": {"train.py": program(), "config.gin": "eval/train.qbunch = 1\n" + TOLD},
}  # fmt: skip


@pytest.mark.parametrize("way", WAYS)
def test_what_gin_binds_is_what_the_function_gets(checkout: Build, way: str) -> None:
    assert batch(checkout, WAYS[way]) == "48"


@pytest.mark.parametrize(
    "files",
    [
        {"train.py": program(), "config.gin": "eval/train.qbunch = 48\n"},  # holds in that scope alone
        {"train.py": program(), "config.gin": "other.qbunch = 48\nanother.qbunch = 32\n"},
        {"train.py": program(), "config.gin": "train.qbunch = @make()\n"},
        {"train.py": program(), "config.gin": "train.arch = 'resnet18'\n", "other.gin": TOLD},
    ],
)
def test_what_is_bound_to_another_is_not_taken(checkout: Build, files: dict[str, str]) -> None:
    assert batch(checkout, files) not in {"48", "32"}


NET = """
@gin.configurable
class Net(nn.Module):
    def __init__(self, qwide=8, qdeep=2):
        super().__init__()
        self.body = nn.ModuleList([nn.Linear(qwide, qwide) for _ in range(qdeep)])

    def forward(self, x):
        for part in self.body:
            x = part(x)
        return x

gin.parse_config_file('config.gin')
net = Net({given}).cuda()
optimizer = torch.optim.AdamW(net.parameters())
for x, y in load():
    nn.functional.cross_entropy(net(x.cuda()), y.cuda()).backward()
    optimizer.step()
"""


@pytest.mark.parametrize(
    ("given", "config", "parameters"),
    [
        ("", "Net.qwide = 1000\nNet.qdeep = 3\n", 3_003_000),
        ("", "W = 1000\n__main__.Net.qwide = %W\nNet.qdeep = 3\n", 3_003_000),
        ("1000", "Net.qwide = 10\nNet.qdeep = 3\n", 3_003_000),
        ("", "Other.qwide = 1000\n", 144),
    ],
)
def test_what_gin_binds_is_what_a_network_is_built_with(
    checkout: Build, given: str, config: str, parameters: int
) -> None:
    text = "import gin\nimport torch\nfrom torch import nn\n" + NET.format(given=given)
    found = analyze(checkout({"train.py": text, "config.gin": config})).findings
    assert [f.value for f in found if f.field.endswith("own_parameters")] == [str(parameters)]
