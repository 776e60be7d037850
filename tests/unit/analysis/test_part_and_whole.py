"""A part that was understood does not stand for the whole: what documents, tables, processors and schedulers say of the run."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import pytest

from gpu_lol_action.analysis.answer.assemble import analyze, detect_all
from gpu_lol_action.analysis.files.checkout import Checkout
from gpu_lol_action.domain.analysis import Analysis
from gpu_lol_action.domain.finding import Finding

Build = Callable[[Mapping[str, str]], Checkout]
NET = """import torch
from torch import nn
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(512, 512)
    def forward(self, x):
        return self.layer(x)
"""
LOOP = """if __name__ == '__main__':
    net = nn.DataParallel(Net().cuda())
    optimizer = torch.optim.Adam(net.parameters())
    for x, y in loader:
        nn.functional.mse_loss(net(x.cuda()), y.cuda()).backward()
        optimizer.step()
"""
SHOW = """if __name__ == '__main__':
    net = Net().cuda()
    net.load_state_dict(torch.load("net.pt"))
    net.eval()
    with torch.no_grad():
        print(net(x))
"""
OPEN = NET.replace("nn.Linear(512, 512)", "nn.Linear(config.a, config.b)")
TRAIN = "```\npython train.py\n```\n"
RUN = "```\npython run.py\n```\n"


def found(tree: Checkout, field: str) -> list[Finding]:
    return [finding for finding in detect_all(tree) if finding.field == field]


def size(analysis: Analysis) -> int:
    return analysis.spec.hardware.vram_required_gb or 0


def test_a_single_demand_is_believed_far_over_the_sum(checkout: Build) -> None:
    said = "# Net\nTraining requires 80 GB of GPU memory.\n" + TRAIN
    assert size(analyze(checkout({"train.py": NET + LOOP, "README.md": said}))) == 80


def test_a_demand_below_a_surely_known_model_is_of_another(checkout: Build) -> None:
    code = "from transformers import AutoModelForCausalLM as A\nif __name__ == '__main__':\n    A.from_pretrained('meta-llama/Llama-2-13b-hf', torch_dtype='float16').cuda().generate(x)\n"
    said = "# Chat\nInference requires only 3 GB of VRAM with the small model.\n" + RUN
    assert size(analyze(checkout({"run.py": code, "README.md": said}))) >= 32


def test_items_of_requirements_are_demands(checkout: Build) -> None:
    said = "# Net\n## Minimum requirements\n- 16GB vRAM for the base\n- `xformers`\n"
    (one,) = found(checkout({"run.py": OPEN + SHOW, "README.md": said + RUN}), "documented.memory_gb")
    assert (one.value, one.why) == ("16", "the documentation asks for 16 GB of GPU memory")
    plain = said.replace("Minimum requirements", "Files")
    assert not found(checkout({"run.py": OPEN + SHOW, "README.md": plain + RUN}), "documented.memory_gb")


def test_a_folded_section_is_a_heading(checkout: Build) -> None:
    table = "\n| Precision | 15 s video |\n|---|---|\n| BF16 | 31.5 GB |\n"
    said = f"# Net\n{RUN}<details>\n<summary>Minimum GPU memory requirements</summary>\n{table}</details>\n"
    assert found(checkout({"run.py": OPEN + SHOW, "README.md": said}), "documented.memory_gb")[0].value == "31.5"


@pytest.mark.parametrize("said", ["We trained on 8 A100 80GB GPUs.", "A picture takes 60 ms on an A100."])
def test_cards_that_trained_or_were_timed_say_nothing_of_inference(checkout: Build, said: str) -> None:
    assert size(analyze(checkout({"run.py": OPEN + SHOW, "README.md": f"# Net\n{said}\n{RUN}"}))) == 12


def test_cards_that_trained_more_than_was_recognized_move_the_figure(checkout: Build) -> None:
    """What was understood is a small part: who runs the whole needs more than that, and less than it was trained on."""
    said = f"# Net\n{RUN}\n## Training\n"
    assert size(analyze(checkout({"run.py": NET + SHOW, "README.md": said}))) == 12
    assert size(analyze(checkout({"run.py": NET + SHOW, "README.md": f"{said}We trained on four A100 GPUs.\n"}))) == 24


@pytest.mark.parametrize(
    ("trained", "expected"),
    [
        ("The model was trained on five A100 nodes and each node has four GPUs (80G).", 24),
        ("The training requires at least 30 GB of VRAM.", 32),  # as large as cards are
    ],
)
def test_the_size_of_a_card_that_trained_is_no_amount_that_running_it_takes(
    checkout: Build, trained: str, expected: int
) -> None:
    said = f"# Net\n{RUN}\n## Training\n{trained}\n"
    assert size(analyze(checkout({"run.py": NET + SHOW, "README.md": said}))) == expected


def test_what_a_scheduler_is_asked_for_is_no_need_of_a_known_network(checkout: Build) -> None:
    script = "#!/bin/bash\n#SBATCH --gres=gpu:a100:1\npython train.py --batch_size 8\n"
    analysis = analyze(checkout({"train.py": NET + LOOP, "submit.sh": script}))
    assert size(analysis) == 8
    assert analysis.breakdown is not None


def test_a_class_starts_with_small_sides_where_documents_tell_a_large_model(checkout: Build) -> None:
    said = "# Speech\nThe flagship model has 4B parameters.\n" + RUN
    assert (analyze(checkout({"run.py": NET + SHOW, "README.md": said})).spec.hardware.needed_gib or 0) >= 8
    assert (
        analyze(checkout({"run.py": NET + SHOW, "README.md": "# Speech\n" + RUN})).spec.hardware.needed_gib or 99
    ) < 4


def test_a_module_does_not_give_the_shape_of_a_network_that_could_not_be_sized(checkout: Build) -> None:
    part = "from torch import nn\nclass Pitch(nn.Module):\n    def __init__(self, num_layers=12, hidden_size=2048, num_heads=8):\n        super().__init__()\n"
    layers = "nn.Sequential(nn.Linear(512, 512), nn.Conv1d(config.a, config.b, 3), nn.Conv1d(config.b, config.a, 3))"
    code = "from part import Pitch\n" + NET.replace("nn.Linear(512, 512)", layers) + LOOP
    assert "own transformer" not in str(analyze(checkout({"train.py": code, "part.py": part})).breakdown)


def test_rows_of_a_table_are_no_settings(checkout: Build) -> None:
    rows = [f'    {{"res": {768 + 256 * i}, "total_vram": 79, "bs": {35 - i}}},\n' for i in range(3)]
    tree = {"run.py": "from sizes import TABLE\n" + NET + SHOW, "sizes.py": f"TABLE = [\n{''.join(rows)}]\n"}
    assert not found(checkout(tree), "training.batch_size")


CHOSEN = """import sys, argparse
from transformers import AutoModel, BitsAndBytesConfig
def load(path, dtype):
    config = BitsAndBytesConfig(
        load_in_4bit=True,
    ) if dtype == "int4" else None
    return AutoModel.from_pretrained(path, quantization_config=config)
if __name__ == '__main__':
    parser = argparse.ArgumentParser()
    parser.add_argument("--dtype", default="bfloat16")
    args = parser.parse_args()
    load("Qwen/Qwen2.5-7B", args.dtype).cuda().generate(x)
"""


@pytest.mark.parametrize(("option", "bits"), [("", []), (" --dtype int4", ["4"])])
def test_an_expression_that_is_not_chosen_says_nothing(checkout: Build, option: str, bits: list[str]) -> None:
    tree = checkout({"run.py": CHOSEN, "README.md": f"```\npython run.py{option}\n```\n"})
    assert [finding.value for finding in found(tree, "model.weight_bits")] == bits


def test_numbers_on_the_processor_are_not_those_of_the_card(checkout: Build) -> None:
    code = NET + (
        "class Text:\n    def __init__(self, device='cpu', dtype=torch.float32):\n        pass\n"
        "if __name__ == '__main__':\n    text = TextModel(device='cpu', dtype=torch.float32)\n"
        "    model = ImageModel(device='cuda', dtype=torch.float16)\n    model.generate(x)\n"
    )
    precisions = found(checkout({"run.py": code, "README.md": RUN}), "training.precision")
    assert [finding.value for finding in precisions] == ["fp16"]


def test_torchpack_starts_processes(checkout: Build) -> None:
    said = "```\ntorchpack dist-run -np 8 python train.py configs/one.yaml\n```\n"
    assert analyze(checkout({"train.py": NET + LOOP, "README.md": said})).spec.hardware.gpu_count == 8


def test_a_count_in_a_module_is_not_what_is_started(checkout: Build) -> None:
    helper = "GPUS_PER_NODE = 8\ndef build_loader(num_gpus=1):\n    pass\n"
    tree = {"train.py": "import helper\n" + NET + LOOP, "helper.py": helper, "README.md": TRAIN}
    assert analyze(checkout(tree)).spec.hardware.gpu_count == 1


def test_the_count_that_most_sentences_on_training_name_is_taken(checkout: Build) -> None:
    said = (
        "# Net\n## News\nA version for two GPUs: stay tuned!\n## Training\nWith 2 GPUs the training takes longer.\n"
        "The first stage trains on 8 A100 GPUs.\nThe second stage trains on 8 A100 GPUs.\n"
    )
    assert analyze(checkout({"train.py": NET + LOOP, "README.md": said})).spec.hardware.gpu_count == 8


def test_a_fence_in_a_remark_does_not_turn_code_inside_out(checkout: Build) -> None:
    said = "# Net\n<!-- ```\nconda install ffmpeg\n```\n(optional) -->\n\n" + RUN
    analysis = analyze(checkout({"run.py": OPEN + SHOW, "train.py": NET + LOOP, "README.md": said}))
    assert (analysis.spec.meta.workload_type.value, analysis.first and analysis.first.command) == (
        "inference",
        "python run.py",
    )


def test_a_bold_line_is_a_heading(checkout: Build) -> None:
    said = "# Net\n## Install\n**Clone**\n```\ngit clone it\n```\n**Basic Usage**\n" + RUN
    tree = {"run.py": OPEN + SHOW, "lib/part.py": "import torch\n" + SHOW, "README.md": said}
    first = analyze(checkout(tree)).first
    assert first is not None
    assert first.command == "python run.py"


def test_a_gradient_that_is_looked_at_trains_nothing(checkout: Build) -> None:
    look = "for score in scores:\n    score.backward(retain_graph=True)\n"
    code = "import torch\nfrom torchvision.models import resnet50\nif __name__ == '__main__':\n    net = resnet50().cuda()\n    net.load_state_dict(torch.load('a'))\n"
    shown = code + "".join(f"    {line}\n" for line in look.splitlines())
    assert analyze(checkout({"run.py": shown, "README.md": RUN})).spec.meta.workload_type.value == "inference"
    stepped = shown + "        optimizer.step()\n"
    assert analyze(checkout({"run.py": stepped, "README.md": RUN})).spec.meta.workload_type.value == "training"


def test_one_stated_amount_is_believed_below_a_rough_sum(checkout: Build) -> None:
    layers = "nn.Sequential(*[nn.Linear(8192, 8192) for _ in range(120)])"
    tree = {"run.py": NET.replace("nn.Linear(512, 512)", layers) + SHOW}
    said = "# Net\nInference only takes around 6 GB of GPU memory.\n" + RUN
    assert size(analyze(checkout({**tree, "README.md": "# Net\n" + RUN}))) > 16
    assert size(analyze(checkout({**tree, "README.md": said}))) <= 12


def test_a_batch_of_a_world_of_machines_is_shared_by_all_their_cards(checkout: Build) -> None:
    code = (
        "import argparse\n" + NET + "parser = argparse.ArgumentParser()\n"
        "parser.add_argument('--batch-size', type=int, default=4096)\nparser.add_argument('--world-size', type=int, default=-1)\n"
        "parser.add_argument('--multiprocessing-distributed', action='store_true')\nargs = parser.parse_args()\n"
        "args.batch_size = int(args.batch_size / args.world_size)\n" + LOOP
    )
    said = "```\npython train.py --world-size {} --multiprocessing-distributed\n```\n"
    one, two = (analyze(checkout({"train.py": code, "README.md": said.format(world)})) for world in (1, 2))
    assert (two.spec.hardware.gpu_count, two.spec.hardware.num_nodes) == (8, 2)
    assert one.spec.hardware.num_nodes == 1
