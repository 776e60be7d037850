"""Numbers that have a run's words and are not the run's: of a filter, of a list that is cut into parts, of a tool by its file."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import pytest

from gpu_lol_action.analysis.answer.assemble import analyze
from gpu_lol_action.analysis.files.checkout import Checkout

Build = Callable[[Mapping[str, str]], Checkout]


def test_a_filters_longest_sample_is_no_length_of_texts(checkout: Build) -> None:
    files = {
        "run.sh": "torchrun --nproc_per_node=2 train.py --config conf/net.yaml\n",
        "train.py": "import torch\nif __name__ == '__main__':\n    loss.cuda().backward()\n",
        "conf/net.yaml": "dataset_conf:\n  filter_conf:\n    max_length: 40960\n  batch_conf:\n    batch_size: 4\nencoder_conf:\n  num_blocks: 12\n",
    }
    assert not [f for f in analyze(checkout(files)).findings if f.field == "training.sequence_length"]
    files["conf/net.yaml"] = files["conf/net.yaml"].replace("filter_conf", "text_conf")
    assert [f.value for f in analyze(checkout(files)).findings if f.field == "training.sequence_length"] == ["40960"]


@pytest.mark.parametrize(("batch", "found"), [(512, []), (16, ["16"])])
def test_a_list_cut_into_parts_is_no_batch_of_answers(checkout: Build, batch: int, found: list[str]) -> None:
    text = (
        "from transformers import AutoModelForCausalLM\nclass Questions:\n"
        f"    def __init__(self, data, batch_size={batch}):\n        self.batch_size = batch_size\n"
        "if __name__ == '__main__':\n    model = AutoModelForCausalLM.from_pretrained('Qwen/Qwen2.5-7B').cuda()\n    model.generate(x)\n"
    )
    assert [f.value for f in analyze(checkout({"ask.py": text})).findings if f.field == "training.batch_size"] == found


@pytest.mark.parametrize(("program", "state"), [("swift/cli/sft.py", ["on"]), ("mine/sft.py", [])])
def test_ms_swift_started_by_its_file_checkpoints(checkout: Build, program: str, state: list[str]) -> None:
    tree = checkout({"train.sh": f"deepspeed {program} --model Qwen/Qwen2.5-7B-Instruct --learning_rate 1e-4\n"})
    assert [f.value for f in analyze(tree).findings if f.field == "training.gradient_checkpointing"] == state


@pytest.mark.parametrize(("length", "found"), [(40960, []), (1024, ["1024"])])
def test_what_a_network_could_read_is_not_what_an_answer_takes(checkout: Build, length: int, found: list[str]) -> None:
    text = (
        f"import torch\nCONFIG = {{'context_length': {length}, 'n_layers': 28, 'emb_dim': 1024}}\n"
        "model = torch.load('x.pt').cuda()\nif __name__ == '__main__':\n    print(model.generate(x))\n"
    )
    result = analyze(checkout({"answer.py": text}))
    assert [f.value for f in result.findings if f.field == "training.sequence_length"] == found
