"""GPU libraries that are there and that what is started does without: behind an option, on a phone, in a lesson, on a listed machine."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from gpu_lol_action.analysis.answer.assemble import analyze
from gpu_lol_action.domain.spec import WorkloadType
from tests.unit.analysis.conftest import Build

TOOL = (
    "import argparse\nimport cv2\np = argparse.ArgumentParser()\np.add_argument('--tracker', default='KCF')\n"
    "args = p.parse_args()\nTRACKER_TYPE = args.tracker\nif TRACKER_TYPE == 'SIAM':\n    from siam import Siam\n"
    "if __name__ == '__main__':\n    cv2.waitKey(0)\n"
)
SIAM = "import torch\nfrom elsewhere import load_net\nclass Siam:\n    net = torch.load('siam.pth', map_location='cuda')\n    net.generate()\n"
LABELS = {
    "README.md": "# Labels\n```\npython main.py\n```\n",
    "requirements.txt": "opencv-python\nnumpy\n",
    "main.py": TOOL,
    "siam.py": SIAM,
}


def kind(checkout: Build, files: Mapping[str, str]) -> WorkloadType | None:
    return analyze(checkout(files)).spec.meta.workload_type


def test_what_only_an_option_imports_is_left_off(checkout: Build) -> None:
    assert kind(checkout, LABELS) is WorkloadType.CPU_ONLY


@pytest.mark.parametrize(
    "change",
    [
        {"README.md": "# Labels\n```\npython main.py --tracker SIAM\n```\n"},
        {"main.py": TOOL.replace("default='KCF'", "default='SIAM'")},
        {"main.py": TOOL.replace("if TRACKER_TYPE == 'SIAM':\n    from", "from")},
        {"main.py": TOOL.replace("= args.tracker", "= choose(args)")},  # nobody knows what that gives
        {"requirements.txt": "opencv-python\ntorch\n"},
    ],
)
def test_what_is_asked_for_or_installed_is_used(checkout: Build, change: Mapping[str, str]) -> None:
    assert kind(checkout, {**LABELS, **change}) is WorkloadType.INFERENCE


CONVERT = "import {}\nfrom transformers import GPT2LMHeadModel\nmodel = GPT2LMHeadModel.from_pretrained('gpt2')\nmodel.generate({})\n"


@pytest.mark.parametrize(
    ("library", "given", "expected"),
    [
        ("coremltools", "x", WorkloadType.CPU_ONLY),
        ("coremltools", "x.to('cuda')", WorkloadType.INFERENCE),
        ("pandas", "x", WorkloadType.INFERENCE),
    ],
)
def test_a_program_that_converts_for_phones_stays_on_cores(
    checkout: Build, library: str, given: str, expected: WorkloadType
) -> None:
    files = {
        "README.md": "# App\n",
        "requirements.txt": "transformers\n",
        "weights/gpt2.py": CONVERT.format(library, given),
    }
    assert kind(checkout, files) is expected


AGENT = "import tensorflow as tf\nimport {gym}\nenv = {gym}.make('{world}')\n{more}\ntf.train.AdamOptimizer(1e-3).minimize(loss)\n"


@pytest.mark.parametrize(
    ("gym", "world", "more", "expected"),
    [
        ("gym", "CartPole-v0", "", WorkloadType.CPU_ONLY),
        ("gymnasium", "Pendulum-v1", "", WorkloadType.CPU_ONLY),
        ("gym", "PongNoFrameskip-v4", "", WorkloadType.TRAINING),
        ("gym", "CartPole-v0", "x = tf.layers.conv2d(x, 32, 8)", WorkloadType.TRAINING),
        ("gym", "CartPole-v0", "with tf.device('/gpu:0'): pass", WorkloadType.TRAINING),
        ("numpy", "CartPole-v0", "", WorkloadType.TRAINING),
    ],
)
def test_a_toy_world_needs_no_card(checkout: Build, gym: str, world: str, more: str, expected: WorkloadType) -> None:
    program = AGENT.format(gym=gym, world=world, more=more)
    assert kind(checkout, {"README.md": "# Lesson\n", "agent.py": program}) is expected


SERVER = "import torch\nmodel = torch.load('m.pth').cuda()\nif __name__ == '__main__':\n    model.generate()\n"
LISTED = "# Engine\n## {}\n{} CPU >= 4 cores\n{} RAM >= 16 GB\n{}\n## Start\n```\npython serve.py\n```\n"


@pytest.mark.parametrize(
    ("heading", "mark", "more", "expected"),
    [
        ("Prerequisites", "-", "- Docker >= 24", WorkloadType.CPU_ONLY),
        ("System requirements", "> -", "", WorkloadType.CPU_ONLY),
        ("Prerequisites", "-", "- NVIDIA GPU", WorkloadType.INFERENCE),
        ("Prerequisites", "-", "A GPU makes it faster.", WorkloadType.INFERENCE),
        ("Results", "-", "", WorkloadType.INFERENCE),
        ("Prerequisites", "With", "", WorkloadType.INFERENCE),  # a sentence tells of one machine of many
    ],
)
def test_a_machine_that_is_listed_without_a_gpu_needs_none(
    checkout: Build, heading: str, mark: str, more: str, expected: WorkloadType
) -> None:
    readme = LISTED.format(heading, mark, mark, more)
    assert kind(checkout, {"README.md": readme, "requirements.txt": "torch\n", "serve.py": SERVER}) is expected


def test_what_trains_is_not_told_by_such_a_list(checkout: Build) -> None:
    train = "import torch\nif __name__ == '__main__':\n    loss.cuda().backward()\n"
    readme = LISTED.format("Prerequisites", "-", "-", "").replace("serve", "train")
    assert kind(checkout, {"README.md": readme, "train.py": train}) is WorkloadType.TRAINING


ON_CPU = "import torch\nfrom net import Net\ndevice = torch.device('cpu')\nif __name__ == '__main__':\n    Net(device).generate()\n"
NET = "import torch\nclass Net(torch.nn.Module):\n    def __init__(self, device):\n        torch.load('a.pt', map_location=device)\n"


@pytest.mark.parametrize(
    ("program", "module", "expected"),
    [
        (ON_CPU, NET, WorkloadType.CPU_ONLY),
        (ON_CPU.replace("'cpu'", "'cuda'"), NET, WorkloadType.INFERENCE),
        (ON_CPU.replace("'cpu'", "'cuda' if given else 'cpu'"), NET, WorkloadType.INFERENCE),
        (ON_CPU, NET + "        self.cuda()\n", WorkloadType.INFERENCE),
        # Where results are looked at, as in detectron2's demos: the model lies where its library puts it.
        (ON_CPU.replace("device =", "cpu_device ="), NET, WorkloadType.INFERENCE),
        (ON_CPU.replace("Net(device).generate()", "loss(Net(device)).backward()"), NET, WorkloadType.TRAINING),
    ],
)
def test_a_program_that_hands_the_cpu_on_uses_no_card(
    checkout: Build, program: str, module: str, expected: WorkloadType
) -> None:
    files = {"README.md": "# P\n```\npython predict.py\n```\n", "predict.py": program, "net.py": module}
    # What another program beside it could do on a card is not asked for.
    assert kind(checkout, {**files, "eval.py": "import torch\nx = torch.ones(1).to(device)\n"}) is expected


REFERENCE = "import torch\nif __name__ == '__main__':\n    loss.cuda().backward()\n"


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        (
            "README.md",
            "```\npython train_net.py\nmvn clean install\njava -jar target/net.jar\n```\n",
            WorkloadType.CPU_ONLY,
        ),
        ("README.org", "#+begin_src\nnim c -d:danger train_net.nim\n#+end_src\n", WorkloadType.CPU_ONLY),
        ("README.md", "```\ncargo run --release\n```\nOr on a GPU.\n", WorkloadType.TRAINING),
        ("README.md", "```\ncargo install a-tool\npython train_net.py\n```\n", WorkloadType.TRAINING),
    ],
)
def test_python_beside_a_port_to_another_language_is_not_the_work(
    checkout: Build, name: str, text: str, expected: WorkloadType
) -> None:
    assert kind(checkout, {name: f"# Port\n{text}", "train_net.py": REFERENCE}) is expected


def test_a_command_of_another_language_says_nothing_of_much_python(checkout: Build) -> None:
    files = {f"part_{number}.py": REFERENCE for number in range(7)}
    assert kind(checkout, {"README.md": "# P\n```\ncargo build\n```\n", **files}) is WorkloadType.TRAINING
