"""Numbers of cards in documents: ranges, cases that may be, what is no card's number, and whose statement it is."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping

import pytest

from gpu_lol_action.analysis.answer.assemble import analyze, detect_all
from gpu_lol_action.analysis.documents.documented_phrases import (
    card_phrases,
    count_of,
    gpu_number,
    gpus_of_size,
    purpose,
)
from gpu_lol_action.analysis.files.checkout import Checkout
from gpu_lol_action.analysis.gpu_counts.gpu_count import detect
from gpu_lol_action.analysis.runs.runs import primary_run
from gpu_lol_action.analysis.stated.documented import detect as documented
from gpu_lol_action.domain.finding import Confidence

Build = Callable[[Mapping[str, str]], Checkout]
TRAIN = "import torch\nif __name__ == '__main__':\n    loss.cuda().backward()\n    opt.step()\n"
SPREAD = TRAIN + "    torch.nn.DataParallel(model)\n"
USE = "# Use\n```\npython train.py\n```\n"


def counted(tree: Checkout) -> str | None:
    return next((f.value for f in detect(tree, primary_run(tree)) if f.field == "hardware.gpu_count"), None)


@pytest.mark.parametrize(
    ("text", "count"),
    [
        # Of a range the smaller number is meant.
        ("Training takes 1-2 GPUs.", 1),
        ("Training takes 1–2 GPUs.", 1),
        ("Training takes 2 ~ 4 GPUs.", 2),
        ("We used four to eight GPUs.", 4),
        ("Use one or two GPUs.", 1),
        ("训练需要1~2张显卡", 1),
        ("需要2到4卡", 2),
        ("需要两至四张GPU", 2),
        # Words and spellings.
        ("single-GPU training", 1),
        ("a pair of GPUs", 2),
        ("dual GPUs", 2),
        ("8GPU", 8),
        ("two NVIDIA GPUs", 2),
        ("单卡训练", 1),
        ("8卡训练", 8),
        ("使用4块GPU", 4),
        # What only looks like a number of cards, or like a range.
        ("multi-GPU training", None),
        ("GPT-2 GPUs", None),
        ("v1.8 GPUs", None),
        ("compute capability 7.0 GPUs", None),
        ("128 GPUs", None),
        ("使用3090卡", None),
        ("2卡片", None),
        ("第一张显卡", None),
        ("Table 3 - 8 GPUs", 8),
        ("no number of GPUs", None),
    ],
)
def test_a_number_of_cards_is_read(text: str, count: int | None) -> None:
    assert gpu_number(text) == count


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("训练仅使用1~2张V100", 1),
        ("trained with 1-2 V100", 1),
        ("trained with two to four A100 GPUs", 2),
        ("trained with three A100 GPUs", 3),
        ("训练使用8张A100", 8),
        ("trained on V100 (32GB) x 4", 4),
        ("2xRTX-8000 48GB", 2),
        ("2xRTX6000 24GB", 2),
        ("2xRTX6000 48GB", None),  # some card of that name: not the one with 24 GB
        ("trained on 2 x V100", 2),
        ("trained on an A100", None),
        ("trained on A100-80GB", None),
    ],
)
def test_a_number_of_named_cards_is_read(text: str, count: int | None) -> None:
    assert next((phrase.count for phrase in card_phrases(text)), None) == count


@pytest.mark.parametrize(
    ("word", "count"),
    [("8", 8), ("Pair  of", 2), ("4-8", 4), ("8 to 4", 4), ("1或2", 1), ("0-2", 2), ("0", None), ("65", None), ("", None)],
)  # fmt: skip
def test_a_word_is_a_number(word: str, count: int | None) -> None:
    assert count_of(word) == count


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("GPU memory: ≥3×80GB", 3),
        ("VRAM: 2x24 GB", 2),
        ("- full fine-tuning of all layers (8x80GB uses ~78GiB/gpu)", 8),
        ("fits on 4x24GB cards", 4),
        ("显存 2 * 24GB", 2),
        ("VRAM: 24 GB", None),
        ("disk: 3x80GB", None),
        ("VRAM is low. 3x80GB", None),
        ("a machine with 4x32GB RAM and a GPU", None),
        ("crops of 8x80 for the GPU", None),
    ],
)
def test_a_memory_multiplied_counts_cards(text: str, count: int | None) -> None:
    assert gpus_of_size(text) == count


def test_hostile_sentences_count_nothing() -> None:
    for text in (
        "1-" * 2000,
        "1 to " * 800,
        "pair " * 800,
        "VRAM " * 800,
        "8 x " * 1000,
        "一到" * 2000,
        "one or " * 600,
    ):
        assert gpu_number(text) is None
        assert gpus_of_size(text) is None
        assert list(card_phrases(text)) == []


def trained(text: str, program: str = SPREAD) -> dict[str, str]:
    return {"train.py": program, "README.md": f"# Training\n{text}\n\n{USE}"}


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("We train on 8 GPUs.", "8"),
        ("We trained on 64 A100 GPUs.", "8"),  # of eight machines
        ("To train with `2` GPUs on one node:", "2"),
        ("We train on **4** GPUs.", "4"),
        ("We train on `N` GPUs.", None),
        ("We trained on 24 A100 GPUs.", "8"),
        # What no machine has.
        ("We train on 15 GPUs.", None),
        ("We train on 20 GPUs.", None),
        ("Training takes 15 GPUs of the cluster.\n\nWe train with 8 V100.\n\nWe trained with 8 V100.", "8"),
        # A case that may be speaks where nothing else does.
        ("If you train on 4 GPUs, lower the rate.\n\nWe train on 2 GPUs.", "2"),
        ("Assuming that you train on 4 GPUs, lower the rate.\n\nWe train on 2 GPUs.", "2"),
        ("如果使用4张显卡训练。\n\n训练使用2张V100。", "2"),
        ("If you train on 4 GPUs, lower the rate.", "4"),
        ("If in doubt, ask us. We train on 4 GPUs.\n\nLast year we trained on 2 GPUs.", "4"),
        # What cannot be.
        (
            "Only multi-gpu training is there; 1-gpu training is not supported.\n\nTo train in an 8-gpu machine, run this.",
            "8",
        ),
        # What one card does as well.
        ("Distributed training is recommended even on single GPU node.", None),
        ("To train in a non-distributed environment, i.e. on a single GPU, leave it out.", None),
        ("Train on a single GPU.", "1"),
        ("export batch_size=256  # batch size for a single gpu\n\nThe model is trained on 4 NVIDIA A100 GPUs.", "4"),
        ("We train with a batch size of 16 on a single GPU.", "1"),
        ("Training on 2 GPUs is not supported.", None),
        ("Training on 2 GPUs is supported; on TPUs it is not supported.", "2"),
        # How the work is divided, whatever the number.
        ("For example, training on 2 GPUs with a batch of 32, each GPU will see 16 samples.", None),
        ("For example, to train on 2 GPUs run this.", "2"),
        # Inference, and what begins with it.
        ("Test the trained model on 2 GPUs.", None),
        ("To evaluate the fine-tuned model: 2 GPUs.", None),
        ("Each run used 4 GPUs.", "4"),
        # The number that most statements name.
        ("We trained on 2 V100.\n\nWe train on 4 V100.\n\nAll training was done with 4 V100.", "4"),
    ],
)
def test_a_statement_on_training_counts(checkout: Build, text: str, count: str | None) -> None:
    assert counted(checkout(trained(text))) == count


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("The model was trained with 4 V100 GPUs.", "4"),
        ("We performed 45 epochs of training using 8 X A6000 48GB.", "8"),
        ("We train it on 4 V100 GPUs.", "4"),
        # Cards of no kind, one card, what could be, what another document says, what was not trained.
        ("The model was trained with 4 GPUs.", None),
        ("The model was trained with 1 V100 GPU.", None),
        ("If it was trained with 4 V100 GPUs, lower the rate.", None),
        ("It trains with 4 V100 GPUs.", None),
    ],
)
def test_a_program_that_does_not_spread_takes_what_it_was_trained_with(
    checkout: Build, text: str, count: str | None
) -> None:
    assert counted(checkout(trained(text, TRAIN))) == count


@pytest.mark.parametrize(
    ("head", "count"),
    [
        ("| GPUs | Samples/sec | Epoch time | AUC |\n|---|---|---|---|\n| 8xA100 | 9 | 7m | 0.8 |\n", "8"),
        ("| GPUs | Samples/sec | Time to train |\n|---|---|---|\n| 8xA100 | 9 | 7m |\n", "8"),
        # How fast something is names cards on which it was measured.
        ("| GPUs | Samples/sec | Accuracy |\n|---|---|---|\n| 8xA100 | 9 | 0.8 |\n", None),
    ],
)
def test_how_long_an_epoch_took_is_told_of_a_training(checkout: Build, head: str, count: str | None) -> None:
    assert counted(checkout({"train.py": SPREAD, "README.md": f"# Net\n\n{head}"})) == count


SPREADS_OVER_RANKS = [
    "sb.utils.distributed.ddp_init_group(run_opts)",
    "opt = hvd.DistributedOptimizer(opt)",
    "tape = hvd.DistributedGradientTape(tape)",
]


@pytest.mark.parametrize("line", SPREADS_OVER_RANKS)
def test_a_program_that_a_launcher_may_spread_takes_the_documented_count(checkout: Build, line: str) -> None:
    table = "| config | GPUs |\n|---|---|\n| train_small.yaml | 2xV100 32GB |\n"
    files = {"train.py": f"{TRAIN}    {line}\n", "README.md": f"# Results\n\n{table}"}
    assert counted(checkout(files)) == "2"
    assert counted(checkout({**files, "train.py": TRAIN})) is None


def between_cells(*texts: str) -> str:
    prose = [{"cell_type": "markdown", "source": [text]} for text in texts]
    code = {"cell_type": "code", "source": SPREAD.splitlines(keepends=True)}
    return json.dumps({"cells": [*prose, code]}, indent=1)


@pytest.mark.parametrize(
    ("texts", "count"),
    [
        (["This notebook uses **4 x A100 NVIDIA GPUs** to fine-tune it."], "4"),
        (["Create a job on **4 GPUs**."], "4"),
        (["It splits the job into 2 GPUs.", "We fine-tune on 8 A100 GPUs."], "8"),
        (["Inference on 2 A100 GPUs is fast."], None),
        (["If you have 4 A100 GPUs, raise the batch."], None),
        (["It runs on GPUs."], None),
    ],
)
def test_what_an_author_says_between_the_cells_counts(checkout: Build, texts: list[str], count: str | None) -> None:
    assert counted(checkout({"tune.ipynb": between_cells(*texts)})) == count


def test_another_document_says_nothing_of_what_was_trained(checkout: Build) -> None:
    files = {"train.py": TRAIN, "README.md": USE, "docs/train_big.md": "It was trained with 4 V100 GPUs.\n"}
    assert counted(checkout(files)) is None


def test_a_heading_over_requirements_says_what_a_number_is_for(checkout: Build) -> None:
    text = "# {}\nYou need 4 GPUs.\n\n" + USE
    assert counted(checkout({"train.py": SPREAD, "README.md": text.format("Hardware requirements")})) == "4"


def test_another_heading_says_nothing_of_training(checkout: Build) -> None:
    assert counted(checkout({"train.py": SPREAD, "README.md": "# Thanks\nYou gave us 4 GPUs.\n\n" + USE})) is None


@pytest.mark.parametrize(
    ("line", "counts"),
    [
        ("./prepare.sh 15 GPU Spark", []),
        ("bash tools/prepare.sh 2 GPU", []),
        ("$ prepare 2 GPU", []),
        ("tools/prepare.py 4 GPUs", []),
        ("./train.sh  # on 4 GPUs", ["4"]),
        ("./train.sh 2 GPU  # on 4 GPUs", []),
        ("# on 4 GPUs", ["4"]),
        ("4 GPUs", ["4"]),
        ("./train.sh  # on 4 V100", ["4"]),
    ],
)
def test_arguments_of_a_command_count_no_cards(checkout: Build, line: str, counts: list[str]) -> None:
    tree = checkout({"train.py": TRAIN, "README.md": f"# Start\n```\n{line}\npython train.py\n```\n"})
    found = documented(tree, primary_run(tree))
    assert [f.value for f in found if f.field == "documented.gpu_count"] == counts


@pytest.mark.parametrize(
    ("item", "counts"),
    [
        ("- [other](https://github.com/them/other): trained with 4 V100 GPUs", []),
        ("- **[other](https://github.com/them/other/)** needs 4 GPUs", []),
        ("- [Our script](https://github.com/us/ours/blob/main/train.py) takes 4 V100 GPUs", ["4"]),
        ("- [Guide](docs/guide.md) takes 4 V100 GPUs", ["4"]),
        ("- We took 4 V100 GPUs, see [other](https://github.com/them/other)", ["4"]),
    ],
)
def test_an_item_that_begins_with_another_repository_speaks_of_that(
    checkout: Build, item: str, counts: list[str]
) -> None:
    tree = checkout({"train.py": TRAIN, "README.md": f"# Related\n{item}\n\n{USE}"})
    found = documented(tree, primary_run(tree))
    assert [f.value for f in found if f.field == "documented.gpu_count"] == counts


def test_a_trainings_configuration_that_lies_about_divides_no_inference(checkout: Build) -> None:
    code = "from transformers import AutoModelForCausalLM as A\nif __name__ == '__main__':\n    A.from_pretrained('org/net-7b', torch_dtype='float16').cuda().generate(x)\n"
    config = "deepspeed_config:\n  deepspeed_config_file: context/zero3_offload.json\ndistributed_type: DEEPSPEED\nnum_machines: 2\nnum_processes: 16\nmain_training_function: main\nuse_cpu: false\nsame_network: true\n"
    said = "# Demo\n```\npython demo.py\n```\n# Training\nWe trained it on 8 A100 GPUs.\n"
    tree = checkout({"demo.py": code, "context/accelerate_configs/two_node.yaml": config, "README.md": said})
    sharding = [f for f in detect_all(tree) if f.field == "training.sharding"]
    assert [f.confidence for f in sharding] == [Confidence.LOW]
    assert analyze(tree).spec.hardware.gpu_count == 1


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("Minimum requirement for now: 24 GB GPU memory", None),
        ("needs a 16 GiB GPU", None),
        ("on 8 NVIDIA GPUs", 8),
        ("on 4 Tesla GPUs", 4),
    ],
)
def test_memory_of_a_card_counts_none(text: str, count: int | None) -> None:
    assert gpu_number(text) == count


def test_a_launched_worker_of_a_model_is_inference() -> None:
    assert purpose("#### Launch a model worker (Multiple GPUs, when GPU VRAM <= 24GB)") == "inference"
    assert purpose("Each worker loads a part of the data") == ""


def test_one_card_that_is_said_for_an_inference_stays(checkout: Build) -> None:
    code = "from transformers import AutoModelForCausalLM as A\nif __name__ == '__main__':\n    A.from_pretrained('org/net-72b', torch_dtype='float16').cuda().generate(x)\n"
    config = "deepspeed_config:\n  deepspeed_config_file: context/zero3_offload.json\ndistributed_type: DEEPSPEED\nnum_machines: 2\nnum_processes: 16\nmain_training_function: main\nuse_cpu: false\nsame_network: true\n"
    said = "# Single GPU inference\nIt runs on 1 GPU.\n```\npython demo.py --offload_model\n```\n"
    tree = checkout({"demo.py": code, "context/accelerate_configs/two_node.yaml": config, "README.md": said})
    assert analyze(tree).spec.hardware.gpu_count == 1


def test_an_option_for_the_cards_starts_with_their_number(checkout: Build) -> None:
    program = f"import argparse\np = argparse.ArgumentParser()\np.add_argument('-g', '--nr_gpu', type=int, default=8)\n{TRAIN}"
    assert counted(checkout({"train.py": program, "README.md": USE})) == "8"


@pytest.mark.parametrize(
    ("told", "expected"),
    [
        ("The models were trained on an instance with this:\n- 2x H100 80GB\n- RAM: 256 GB", "2"),
        ("Training of the large ranker requires 2x H100 GPUs.", "2"),
        # What introduces the list does not speak of a training that was done, or nothing introduces it.
        ("These can be had from many clouds:\n- 2x H100 80GB", None),
        ("The models were trained for a week.\n- 2x H100 80GB", None),
    ],
)
def test_what_introduces_a_list_says_what_its_cards_were_for(checkout: Build, told: str, expected: str | None) -> None:
    tree = checkout(
        {"README.md": f"# Ranker\n## Setup\n{told}\n## Use\n```\npython train.py\n```\n", "train.py": SPREAD}
    )
    assert counted(tree) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Pretrain on eight cards", "training"),
        ("The network was trained there", "training"),
        ("Evaluate the pretrained checkpoint", "inference"),
        ("Download our trained models", ""),
        ("Serve the pretrained language model", "inference"),
    ],
)
def test_what_was_trained_before_is_no_training(text: str, expected: str) -> None:
    assert purpose(text) == expected


ROWS = "| Model | Score | GPUs |\n|---|---|---|\n| large | 2.0 | {} |\n| small | 3.0 | {} |\n"


@pytest.mark.parametrize(
    ("rows", "program", "expected"),
    [
        (("8xA100 80GB", "8xA100 80GB"), "ddp", "8"),
        (("8xA100 80GB", "4xA100 80GB"), "ddp", None),  # of several recipes
        (("8xA100 80GB", "8xA100 80GB"), "alone", None),
        (("1xA100 80GB", "1xA100 80GB"), "ddp", None),
    ],
)
def test_the_results_of_a_recipe_name_its_cards(
    checkout: Build, rows: tuple[str, str], program: str, expected: str | None
) -> None:
    spread = "    torch.nn.parallel.DistributedDataParallel(model)\n" if program == "ddp" else ""
    readme = f"# Recipe\n## How to run\n```\npython train.py hparams.yaml\n```\n## Results\n{ROWS.format(*rows)}"
    assert counted(checkout({"README.md": readme, "train.py": TRAIN + spread})) == expected


@pytest.mark.parametrize(
    ("sentence", "expected"),
    [("Training requires 8 Tesla V100 for 7 days.", "8"), ("Others have 8 Tesla V100.", None)],
)
def test_what_training_requires_is_its_count(checkout: Build, sentence: str, expected: str | None) -> None:
    program = TRAIN + "    torch.nn.parallel.DistributedDataParallel(model)\n"
    readme = f"# Recipe\n## How to run\n```\npython train.py\n```\n## Advice\n{sentence}\n"
    assert counted(checkout({"README.md": readme, "train.py": program})) == expected


@pytest.mark.parametrize(
    ("files", "workload", "cards"),
    [
        # Models and settings alone, without anything to start: the document says on what they were trained.
        (
            {
                "models.py": "import torch\nfrom torch import nn\nclass Net(nn.Module):\n    def mask(self):\n        return torch.ones(3).cuda()\n"
            },
            "training",
            8,
        ),
        ({"config.yaml": "lr: 0.1\n", "requirements.txt": "torch\n"}, "training", 8),
        ({"run.sh": "echo\n"}, "cpu-only", 0),
    ],
)
def test_what_was_trained_on_counted_cards_needs_as_many(
    checkout: Build, files: dict[str, str], workload: str, cards: int
) -> None:
    said = {
        "README.md": "# Places\n\nThe models were trained using 8xV100 NVIDIA GPU with distributed data parallel.\n"
    }
    found = analyze(checkout({**said, **files})).spec
    assert (found.meta.workload_type.value, found.hardware.gpu_count) == (workload, cards)


@pytest.mark.parametrize(
    ("said", "cards"),
    [
        ("## Hardware\n\n- NVIDIA A100-SXM4-40GB\n", 1),
        ("## Results\n\nAn NVIDIA A100 is faster.\n", 0),  # only named
        ("## Software\n\n- Ubuntu 20.04\n", 0),
    ],
)
def test_settings_whose_document_says_what_they_ran_on_need_a_card(checkout: Build, said: str, cards: int) -> None:
    files = {"config/base.py": "lr = 0.1\nbatch = 4\n", "config/requirements.txt": "torch\n"}
    found = analyze(checkout({"README.md": f"# Longformer\n\n{said}", **files})).spec
    assert found.hardware.gpu_count == cards


@pytest.mark.parametrize(
    ("text", "count"),
    [
        # A program that can be spread takes what its document says was used, or is asked for.
        ("We utilize 4 V100 GPUs for training.", "4"),
        ("All experiments are performed on 4 RTX 3090 GPUs.", "4"),
        ("Training needs 4 V100 GPUs.", "4"),
        # A sentence that was broken over two lines is one.
        ("The models are trained with a batch size of ten and the schedule below, on two\nV100 (32G) GPUs.", "2"),
        # What could be done, and what is done with the trained model.
        ("Training can use 4 V100 GPUs.", None),
        ("For example, use 4 V100 GPUs for training.", None),
        ("For inference we use 4 V100 GPUs.", None),
    ],
)
def test_a_program_that_can_be_spread_takes_what_was_used(checkout: Build, text: str, count: str | None) -> None:
    spread = TRAIN + "    torch.distributed.init_process_group('nccl')\n"
    readme = f"# Net\n{text}\n\n# Use\n```\npython train.py\n```\n"
    assert counted(checkout({"README.md": readme, "train.py": spread})) == count


def test_cards_under_a_heading_on_hardware_are_asked_for(checkout: Build) -> None:
    spread = TRAIN + "    torch.distributed.init_process_group('nccl')\n"
    text = "# Net\n## Hardware requirements\n- **Minimum:** 4x RTX 6000 Ada (48GB each)\n## Use\n```\npython train.py\n```\n"
    assert counted(checkout({"README.md": text, "train.py": spread})) == "4"


def test_what_others_took_on_several_machines_does_not_outvote_one_machine(checkout: Build) -> None:
    text = (
        "We trained on 4 V100. Others trained on 32 A100.\n\nTheirs was trained on 64 A100, that one trained on 48 A40."
    )
    assert counted(checkout(trained(text))) == "4"
    assert counted(checkout(trained("We trained on 32 A100."))) == "8"


def test_one_gpu_that_is_asked_for_is_one_whatever_numbers_the_program_has(checkout: Build) -> None:
    program = TRAIN + "    a = a.to('cuda:0')\n    b = b.to('cuda:1')\n"
    readme = "# Net\n{}\n# Use\n```\npython train.py\n```\n"
    plain = checkout({"README.md": readme.format("It trains."), "train.py": program})
    assert counted(plain) == "2"
    asked = "Training requires only one GPU with 24GB of memory."
    assert counted(checkout({"README.md": readme.format(asked), "train.py": program})) == "1"


@pytest.mark.parametrize(
    ("purpose_said", "count"),
    [
        # A paragraph on both programs: the card is for the one that runs the model, and tells nothing of the training.
        ("`train.py` is used to train the model. Please have at least one A100 (80GB) to support the inference of `test.py`.", None),
        ("The model of `src` was trained on 4 A100 (80GB) GPUs.", "4"),
    ],
)  # fmt: skip
def test_cards_for_inference_are_none_of_a_training(checkout: Build, purpose_said: str, count: str | None) -> None:
    program = "import torch\nfrom torch.nn.parallel import DistributedDataParallel\nif __name__ == '__main__':\n    m = DistributedDataParallel(model)\n    loss.cuda().backward()\n    opt.step()\n"
    assert counted(checkout({"README.md": f"# A\n\n{purpose_said}\n", "src/train.py": program})) == count


@pytest.mark.parametrize(
    ("said", "count"),
    [
        ("`train.py` is used to train the model. Please have at least one A100 (80GB) to support the inference of `test.py`.", 4),
        ("The model of `src` was trained on one A100 (80GB).", 1),
    ],
)  # fmt: skip
def test_a_divided_training_is_not_put_on_the_card_of_the_inference(checkout: Build, said: str, count: int) -> None:
    program = (
        "import torch\nfrom transformers import AutoModelForCausalLM, Trainer, TrainingArguments\n"
        "from torch.distributed.fsdp import FullyShardedDataParallel as FSDP\n"
        "if __name__ == '__main__':\n    model = FSDP(AutoModelForCausalLM.from_pretrained('meta-llama/Llama-2-13b-hf'))\n"
        "    Trainer(model=model, args=TrainingArguments(fp16=True, gradient_checkpointing=True)).train()\n"
    )
    tree = checkout({"README.md": f"# A\n\n{said}\n", "src/train.py": program})
    assert analyze(tree).spec.hardware.gpu_count == count
