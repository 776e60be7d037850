"""Statements on hardware in documents, tables, schedulers' orders and remarks; and how they are weighed against the sum."""

from __future__ import annotations

import pytest

from gpu_lol_action.analysis.answer.assemble import analyze
from gpu_lol_action.analysis.documents.documented_amounts import memory_phrases
from gpu_lol_action.analysis.documents.documented_phrases import CardPhrase, card_phrases, gpu_number, purpose
from gpu_lol_action.analysis.formats import cloud_instances
from gpu_lol_action.analysis.runs import named_hardware
from gpu_lol_action.analysis.runs.runs import primary_run
from gpu_lol_action.analysis.stated import declared_hardware, documented
from gpu_lol_action.analysis.stated.marked_statements import on_the_same_count
from gpu_lol_action.analysis.stated.reconcile import headline, reconcile, statements
from gpu_lol_action.analysis.stated.stated_sentences import statements_of
from gpu_lol_action.domain.card_sizes import sold_gb
from gpu_lol_action.domain.finding import Confidence, Evidence, Finding

TRAIN = "import torch\nloss = torch.nn.Linear(2, 2)(torch.ones(2)).sum()\nloss.backward()\n"


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("Requires at least 24 GB of GPU memory.", [(24, True)]),
        ("This config uses about 21GB VRAM", [(21, False)]),
        ("It takes 11.5G GPU memory for 7B and about 23G GPU memory for 13B", [(11.5, False), (23, False)]),
        ("模型推理至少需要 13GB 显存", [(13, True)]),
        ("needs 64 GB of system memory", []),
        ("use the CPU if your system has less than 32GB of unified memory", []),
        ("on a MacBook it needs 16 GB of memory", []),
        ("needs 64 GB of RAM and a 100 GB disk", []),
        ("an A100 80GB GPU", []),
        ("reduces the memory by 3 GB of VRAM", []),
        ("saves 10 GB of memory", []),
        ("300B tokens, 16bit, batch 256", []),
        ("requires 900 GB of GPU memory", []),
        ("Finetune Llama-2 70B on Dual 24GB GPUs", [(24, False)]),
        ("It is recommended to use GPUs with 40GB to train T0(3B) and 80GB to train T0", [(40, True)]),
        ("GPUs with 40GB links to each other", []),
        ("10000 residues in bf16 with 61GB memory on a Nvidia A100(80GB)", [(61, False)]),
        ("with 61GB memory on board", []),
        ("a 65B model on a single 48 GB GPU", [(48, False)]),
        ("MovieNet can handle 10K frames on a 24GB graphics card.", [(24, False)]),
        ("- [x] Local gradio demo supports 12GB graphic card now", [(12, False)]),
        ("it is required to fit a 24GB card", [(24, True)]),
        ("一张24G显卡即可训练", [(24, False)]),
        ("supports 16 GB SD cards", []),
        ("so you will need a GPU with plenty of memory (24GB).", [(24, True)]),
        ("- U-Net (`n_feat=32`): 2x 16Gb GPUs", [(16, False)]),
        ("results within the memory budget of 16GB and 1 GPU card", [(16, False)]),
        ("a memory budget of 16GB for the CPU's cache", []),
        ("we recommend 8GB+ RAM on GPU for the small checkpoint", [(8, True)]),
        ("A GPU with 24GB or more HBM should work for most datasets.", [(24, True)]),
        ("an NVIDIA GPU with at least 16 GB of DRAM", [(16, True)]),
        ("NVIDIA GPU with Compute Compatibility >= 75 and memory > 6GB", [(6, True)]),
        ("The training also works on a GPU card with 12 GB", [(12, False)]),
        ("it runs on an A100 graphics card with 80 GB", []),
        ("this brings the memory consumption down to ~8 GB", [(8, False)]),
        ("decreases memory usage by 9 GB", []),
        ("CPU memory usage is 30 GB", []),
        # More than a card holds, and no card spoken of: the machine's.
        ("you would need around 200GB of memory", []),
        ("requires 320GB of GPU memory", [(320, True)]),
        ("Each run requires less than 128GB CPU memory and less than 12GB GPU memory.", [(12, True)]),
        ("runs in 3.5GB of VRAM", [(3.5, False)]),
        ("runs on a single A100 80G GPU", []),
        ("INT4 量化级别下最低只需 6GB 显存", [(6, False)]),
        ("- GPU Memory >= 6G", [(6, True)]),
        ("- 35GiB VRAM per GPU w minimal context length", [(35, False)]),
        ("56 GB of GPU memory for each card", [(56, False)]),
        ("8 GB of data per GPU", []),
        ("Most models are trainable on 24G GPU, many on 16G with optimizations", [(24, False)]),
        ("The runtime for 1200 steps on CPU (3.5GHz Intel Core i7, 16GB memory) is about 4 minutes.", []),
        ("an Intel Core i7 and a GPU with 24GB of VRAM", [(24, False)]),
        ("(requires 8 x GPU 32GB., If you don't have this, reduce the batch size )", [(32, True)]),
    ],
)
def test_amount_that_a_sentence_asks_for(line, expected):
    assert [(phrase.size_gb, phrase.is_demanded) for phrase in memory_phrases(line)] == expected


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("trained on 8xA100 80GB", [CardPhrase("A100-80GB", 8, True, True)]),
        ("We used 4 A100 (40G) GPUs", [CardPhrase("A100", 4, True, True)]),
        ("runs on a single RTX 4090", [CardPhrase("RTX4090", 1, False, True)]),
        (
            "intelligible speech by ~20k steps (~1.5h on a 2080 Ti)",
            [CardPhrase("RTX2080Ti", None, False, True, is_had=True)],
        ),
        ("about 12 hrs on one V100", [CardPhrase("V100", 1, False, True, is_had=True)]),
        ("a 3d convolution on a V100", [CardPhrase("V100", None, False, False)]),
        ("its training code runs within hours on a single RTX 4090", [CardPhrase("RTX4090", 1, False, True)]),
        ("trained on 4 NVIDIA TITAN X (Pascal) GPUs", [CardPhrase("TITAN-X", 4, False, True)]),
        ("we trained with a Titan V (12GB)", [CardPhrase("TITAN-V", None, True, True)]),
        ("trained on a GeForce RTX 3080 Ti", [CardPhrase("RTX3080Ti", None, False, True)]),
        (
            "RTX 2080 or better is required, an RTX 2080 Ti recommended",
            [CardPhrase("RTX2080", None, False, True, True)],
        ),
        ("Run it on 4 A100-80GB nodes (32 GPUs)", [CardPhrase("A100-80GB", 8, True, True)]),
        ("trained on two A100 nodes", [CardPhrase("A100", None, False, True)]),
        ("The profiling runs on a single A100-80GB", [CardPhrase("A100-80GB", 1, True, False)]),
        ("a V100 is enough", [CardPhrase("V100", None, False, False)]),
        ("speed on A100: 3 ms", [CardPhrase("A100", None, False, False)]),
        ("trains on A100 GPUs with **80 GB** of memory", [CardPhrase("A100-80GB", None, True, True)]),
        ("trained with two 24GB RTX3090", [CardPhrase("RTX3090", 2, True, True)]),
        ("The training command using 2 80G-A100 GPUs is:", [CardPhrase("A100-80GB", 2, True, True)]),
        ("set --num-workers 8", []),
        ("takes 6 hours on a 32GB V100", [CardPhrase("V100-32GB", None, True, True)]),
        ("an A100 Graphics card with 80 GB of memory", [CardPhrase("A100-80GB", None, True, False)]),
        ("BA100X", []),
        ("All models are trained on A100s.", [CardPhrase("A100", None, False, True)]),
        ("it requires the 80GB A100s", [CardPhrase("A100-80GB", None, True, True, True)]),
        ("experiments are run on either 8 or 4, 80GB A100s or H100s", [CardPhrase("A100-80GB", 4, True, True)]),
        ("Trained on `4` NVIDIA `A100` GPUs", [CardPhrase("A100", 4, False, True)]),
        ("We train on **8** A100 GPUs", [CardPhrase("A100", 8, False, True)]),
        ("use `--gpus 8` with A100", [CardPhrase("A100", None, False, True)]),
        ("trained on 8 Maxwell TITAN X GPUs", [CardPhrase("TITAN-X", 8, False, True)]),
        ("trained on 32x NVIDIA 32GB V100 GPUs", [CardPhrase("V100-32GB", 32, True, True)]),
        ("This has been tested on 8xA100, 40GB GPUs", [CardPhrase("A100", 8, True, True)]),
        ("In Table 4, A100s are compared", [CardPhrase("A100", None, False, False)]),
    ],
)
def test_cards_that_a_sentence_names(line, expected):
    assert list(card_phrases(line)) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Fine-tuning", "training"),
        ("Inference", "inference"),
        ("Train and infer", ""),
        ("Install", ""),
        ("微调", "training"),
    ],
)
def test_purpose_of_a_heading(text, expected):
    assert purpose(text) == expected


def found(tree, field):
    return [
        (finding.field, finding.value, finding.evidence.line)
        for finding in documented.detect(tree, primary_run(tree))
        if finding.field.endswith(field)
    ]


def how_sure(tree, field):
    said = documented.detect(tree, primary_run(tree))
    return [(finding.value, finding.confidence) for finding in said if finding.field == field]


def test_heading_says_what_a_figure_is_for(checkout):
    readme = "# Model\n\n## Fine-tuning\n\nNeeds 40 GB of VRAM.\n\n## Inference\n\nNeeds 16 GB of VRAM.\n"
    tree = checkout({"README.md": readme, "train.py": TRAIN})
    assert found(tree, "memory_gb") == [
        ("documented.training.memory_gb", "40", 5),
        ("documented.inference.memory_gb", "16", 9),
    ]


def test_columns_and_whole_tables_of_memory_are_read(checkout):
    readme = """# M

| Model | Params | Required VRAM | Speed |
|:-----:|:------:|:-------------:|:-----:|
| small | 244 M  |     ~2 GB     | ~4x   |
| large | 1550 M |     ~10 GB    | 1x    |

### Hardware requirement

| Method | 7B | 13B |
| ------ | -- | --- |
| LoRA   | 16GB | 32GB |

| Setting | Peak memory (MB) | CPU RAM |
|---|---|---|
| fp16 | 20480 | 64 GB |
"""
    tree = checkout({"README.md": readme, "train.py": TRAIN})
    values = [(value, line) for _, value, line in found(tree, "memory_gb")]
    assert values == [("2", 5), ("10", 6), ("16", 12), ("32", 12), ("20", 16)]


def test_first_head_may_name_the_table_and_rules_may_be_short(checkout):
    table = (
        "# Net\n\n| GPU Memory | FP32 | FP16 |\n|:-:|:-:|:-:|\n| Inference | 4.8GB | 3.5GB |\n| Training | 38.2GB (A100) | 28.5GB |\n\n"
        "| Memory | Speed |\n|-|-|\n| 12 GB | 20 GB/s |\n"
    )
    tree = checkout({"README.md": table})
    said = [(f.field, f.value, f.evidence.line) for f in documented.detect(tree, None) if f.field.endswith("memory_gb")]
    assert said == [
        ("documented.inference.memory_gb", "4.8", 5),
        ("documented.inference.memory_gb", "3.5", 5),
        ("documented.training.memory_gb", "38.2", 6),
        ("documented.training.memory_gb", "28.5", 6),
        ("documented.memory_gb", "12", 10),
    ]


def test_columns_of_cards_are_read_for_what_their_heads_name(checkout):
    rows = "| file | WER | Inference GPUs | Training GPUs |\n|---|---|---|---|\n| a.yaml | 2.1 | 1xRTX3090 24GB | 2xV100 32GB |\n"
    tree = checkout({"README.md": "# Results\n" + rows, "train.py": TRAIN})
    assert how_sure(tree, "documented.training.card") == [("V100-32GB", Confidence.MEDIUM)]
    assert how_sure(tree, "documented.inference.card") == [("RTX3090", Confidence.MEDIUM)]
    assert how_sure(tree, "documented.gpu_count") == [("2", Confidence.LOW)]


def test_cards_of_a_table_of_speeds_are_only_named(checkout):
    rows = "| GPU | Throughput (img/s) |\n|---|---|\n| 8xA100 80GB | 9000 |\n"
    tree = checkout({"README.md": rows, "train.py": TRAIN})
    assert how_sure(tree, "documented.card") == [("A100-80GB", Confidence.LOW)]
    assert how_sure(tree, "documented.gpu_count") == []


def test_cards_of_a_column_of_types_and_counts(checkout):
    rows = "| Model | Precision | GPU Type and Count |\n|---|---|---|\n| Big | FP8 | H100 x 8 |\n"
    tree = checkout({"README.md": rows, "train.py": TRAIN})
    assert how_sure(tree, "documented.card") == [("H100", Confidence.MEDIUM)]
    assert how_sure(tree, "documented.gpu_count") == [("8", Confidence.LOW)]


def test_a_table_of_usage_counts_tokens_beside_it(checkout):
    rows = "| Quantization | Peak Usage for 2048 Tokens |\n|---|---|\n| BF16 | 22.60GB |\n"
    tree = checkout({"README.md": "## GPU memory usage\n" + rows, "train.py": TRAIN})
    assert how_sure(tree, "documented.memory_gb") == [("22.6", Confidence.MEDIUM)]
    speeds = rows.replace("Peak Usage for", "Speed at")
    tree = checkout({"README.md": "## GPU memory and speed\n" + speeds, "train.py": TRAIN})
    assert how_sure(tree, "documented.memory_gb") == []


def test_memory_of_a_cloud_s_machine_is_not_the_card_s(checkout):
    rows = "| Instance | GPUs | vCPUs | Memory (GB) |\n|---|---|---|---|\n| p4d | 8 x A100 (40GB) | 96 | 1152 |\n"
    tree = checkout({"README.md": "Tested on:\n" + rows, "train.py": TRAIN})
    assert how_sure(tree, "documented.memory_gb") == []
    assert how_sure(tree, "documented.card") == [("A100", Confidence.MEDIUM)]


def test_the_document_that_starts_the_run_speaks_whatever_its_name(checkout):
    text = "The training command using 2 32G-V100 GPUs is:\n```\npython train.py --lr 1\n```\n"
    tree = checkout({"RESULTS.md": text, "NOTES.md": "needs 80 GB of GPU memory", "train.py": TRAIN})
    assert how_sure(tree, "documented.training.card") == [("V100-32GB", Confidence.MEDIUM)]
    assert how_sure(tree, "documented.memory_gb") == []


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("configs/train_16g.json", ("documented.memory_gb", "16")),
        ("configs/v100-32g.json", ("documented.card", "V100-32GB")),
        ("configs/8xA100_base.json", ("documented.card", "A100")),
        ("configs/model_7g.json", None),
        ("configs/base.json", None),
    ],
)
def test_a_configuration_s_name_may_say_the_card(checkout, name, expected):
    tree = checkout({"README.md": f"```\npython train.py --config {name}\n```\n", name: "{}", "train.py": TRAIN})
    said = [(f.field, f.value) for f in named_hardware.detect(tree, primary_run(tree))]
    assert said == ([expected] if expected else [])


def test_documents_near_the_run_speak_and_others_do_not(checkout):
    tree = checkout({
        "README.md": "# M\nRun `python examples/a/train.py`. It needs 30 GB of VRAM.\n",
        "examples/a/train.py": TRAIN,
        "examples/a/README.md": "Training needs 12 GB of VRAM.\n",
        "examples/b/README.md": "Needs 79 GB of VRAM.\n",
        "CHANGELOG.md": "Now needs 70 GB of VRAM.\n",
    })  # fmt: skip
    assert sorted(value for _, value, _ in found(tree, "memory_gb")) == ["12", "30"]


@pytest.mark.parametrize(
    ("path", "text", "card", "count"),
    [
        ("run.sh", "#SBATCH --gres=gpu:a100:4\npython train.py\n", "A100", "4"),
        ("run.sh", "#SBATCH --gpus-per-node=v100-32g:2\npython train.py\n", "V100-32GB", "2"),
        ("run.sh", "#SBATCH --constraint=a100_80gb\npython train.py\n", "A100-80GB", None),
        ("run.sh", '#SBATCH --constraint="[a100_80gb|a6000|a5000]"\npython train.py\n', "RTXA5000", None),
        ("run.sh", '#SBATCH -C "h200|some-node|a100_80gb"\npython train.py\n', "A100-80GB", None),
        ("task.yaml", "resources:\n  accelerators: H100:8\nrun: |\n  python train.py\n", "H100", "8"),
        ("job.yaml", "instance_type: ml.g5.12xlarge\n", "A10G", "4"),
        ("cluster.yaml", "vm: Standard_ND96amsr_A100_v4\n", "A100-80GB", "8"),
        ("train.py", TRAIN + "stub.function(gpu='A10G')\n", "A10G", None),
        ("train.py", TRAIN + "parser.add_argument('--volta', help='Request 8 V100 GPUs to train')\n", "V100", None),
    ],
)
def test_hardware_that_a_scheduler_is_asked_for(checkout, path, text, card, count):
    tree = checkout({"train.py": TRAIN, "README.md": "```\npython train.py\n```\n", path: text})
    findings = declared_hardware.detect(tree, primary_run(tree))
    assert [finding.value for finding in findings if finding.field == "documented.card"] == [card]
    assert next((finding.value for finding in findings if finding.field == "documented.gpu_count"), None) == count


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("# 18GiB * 2", "18"),
        ("# 2 x 24 GB", "24"),
        ("# ~40G*8", "40"),
        ("# 18 * 2", None),
        # With how fast it was, and of one card.
        ("# 4 * 42GiB, 3.05s/it", "42"),
        ("# 28s/it; 4 * 75GiB", "75"),
        ("# GPU Memory: 8 * 40GiB, Training Speed 26s/it", "40"),
        ("# with padding_free: 4 * 47GiB, 1.90s/it", "47"),
        ("# Using the kernel and packing: 4 * 42GB, 1 hour 35 minutes", "42"),
        ("# 38GiB", "38"),
        ("# 17.2GiB", "17.2"),
        ("# 50GiB; 6h", "50"),
        # Sizes of other things, on other machines.
        ("# 38 s", None),
        ("# download: 38GB", None),
        ("# download: 2 * 38GB", None),
        ("# without padding_free: 4 * 57GiB 3.32s/it", None),
        ("# 38GB of data", None),
        ("X=1 # 38GB", None),
        ("# 16 * 64GiB Ascend A3", None),
    ],
)
def test_remark_of_memory_and_cards_alone(checkout, text, expected):
    tree = checkout({"run.sh": f"{text}\npython train.py\n", "train.py": TRAIN})
    findings = declared_hardware.detect(tree, primary_run(tree))
    assert next((finding.value for finding in findings if finding.field == "documented.memory_gb"), None) == expected


@pytest.mark.parametrize(
    ("command", "expected"), [("python train.py", None), ("python train.py --use_8bit_adam --lr 1", "16")]
)
def test_remark_on_a_switch_that_is_off_is_of_no_run(checkout, command, expected):
    program = TRAIN + (
        "import argparse\nparser = argparse.ArgumentParser()\nparser.add_argument('--use_8bit_adam', action='store_true')\n"
        "args = parser.parse_args()\n# Use 8-bit Adam to fine-tune the model on 16GB GPUs\nif args.use_8bit_adam:\n    import bitsandbytes\n"
    )
    tree = checkout({"run.sh": f"{command}\n", "train.py": program})
    findings = declared_hardware.detect(tree, primary_run(tree))
    assert next((finding.value for finding in findings if finding.field == "documented.memory_gb"), None) == expected


@pytest.mark.parametrize(
    ("remark", "confidence"),
    [
        ("# this script should take around 14GB VRAM", Confidence.MEDIUM),
        ("# needs around 14GB VRAM with this batch size", Confidence.LOW),  # one of many settings
    ],
)
def test_remark_on_the_whole_program_says_more_than_one_on_a_setting(checkout, remark, confidence):
    tree = checkout({"train.py": f"{remark}\n{TRAIN}"})
    findings = declared_hardware.detect(tree, primary_run(tree))
    said = [finding for finding in findings if finding.field == "documented.memory_gb"]
    assert [(finding.value, finding.confidence) for finding in said] == [("14", confidence)]


def test_figure_for_quantized_weights_says_nothing_of_others(checkout):
    readme = "# M\nAfter INT4 quantization it needs only 6 GB of GPU memory.\n"
    tree = checkout({"README.md": readme, "train.py": TRAIN})
    (finding,) = documented.detect(tree, primary_run(tree))
    assert finding.field == "documented.quantized.memory_gb"
    assert reconcile(14, statements([finding], trains=False), is_rough=False) is None
    assert reconcile(7, statements([finding], trains=False, is_quantized=True), is_rough=False).required_gib == 7


def test_what_is_not_quantized_is_no_quantized_figure(checkout):
    tree = checkout(
        {"README.md": "We do not support quantization, so it needs a GPU with 24GB of memory.\n", "train.py": TRAIN}
    )
    assert found(tree, "memory_gb") == [("documented.memory_gb", "24", 1)]


def test_a_project_says_its_memory_where_it_describes_itself(checkout):
    setup = "import setuptools\nsetuptools.setup(name='thin', description='Runs large models '\n    'on a single 4GB GPU')\n"
    assert found(checkout({"setup.py": setup, "train.py": TRAIN}), "memory_gb") == [("documented.memory_gb", "4", 2)]


def test_a_pyproject_says_it_too_and_deeper_ones_say_nothing(checkout):
    said = '[project]\nname = "thin"\ndescription = "Needs 6GB of VRAM."\n'
    tree = checkout({"pyproject.toml": said, "other/pyproject.toml": said.replace("6GB", "9GB"), "train.py": TRAIN})
    assert [value for _, value, _ in found(tree, "memory_gb")] == ["6"]


def test_quantized_weights_of_the_next_sentence_are_its_own(checkout):
    readme = "# M\nIt needs about 13GB of GPU memory. If yours is limited, load it quantized in INT4, which needs 6GB of GPU memory.\n"
    tree = checkout({"README.md": readme, "train.py": TRAIN})
    assert found(tree, "memory_gb") == [("documented.memory_gb", "13", 2), ("documented.quantized.memory_gb", "6", 2)]


def test_card_that_is_required_weighs_more_than_one_that_was_used(checkout):
    readme = "# M\n## Training\nDeepSpeed ZeRO-3 (requires A100 (80GB))\n"
    findings = documented.detect(tree := checkout({"README.md": readme, "train.py": TRAIN}), primary_run(tree))
    assert reconcile(33, statements(findings, trains=True), is_rough=False).required_gib == 69


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("For results in the paper, we use Nvidia 3090 GPUs.", Confidence.MEDIUM),
        ("It was tested with 12 vCPUs, a disk of 3 TB, and an A100 GPU.", Confidence.MEDIUM),
        ("If you use a V100, install another version.", Confidence.LOW),
        ("We test the throughput on an H100.", Confidence.LOW),
        ("weights of nets/net-finetuned-lora-V100 are used", Confidence.LOW),
    ],
)
def test_the_card_that_the_authors_had(line, expected):
    (finding,) = statements_of(line, "", Evidence("README.md", 1))
    assert finding.confidence is expected


def test_cells_in_mebibytes_ranges_and_words_behind_an_amount(checkout):
    rows = "| Method | VRAM | Mem (GB) |\n|---|---|---|\n| a | 4525MB | 5.2 |\n| b | ~2-6GB | 7 |\n| c | 18.3GB & 75s (`per_frame=True`) | 8 |\n"
    tree = checkout({"README.md": rows, "train.py": TRAIN})
    assert [value for _, value, _ in found(tree, "memory_gb")] == ["4.42", "5.2", "6", "7", "18.3", "8"]


def said(*pairs):
    findings = [
        Finding(field, value, "", confidence, Evidence("README.md", n))
        for n, (field, value, confidence) in enumerate(pairs, 1)
    ]
    return statements(findings, trains=True)


MEDIUM, LOW, HIGH = Confidence.MEDIUM, Confidence.LOW, Confidence.HIGH


@pytest.mark.parametrize(
    ("computed", "stated", "expected"),
    [
        (10, [], None),
        # Who measured counted what the sum does not know of.
        (10, [("documented.training.memory_gb", "24", MEDIUM)], 23),
        (10, [("documented.training.memory_gb", "13", MEDIUM)], 13),
        # 20 ** 0.3 * 13 ** 0.7
        (20, [("documented.training.memory_gb", "13", MEDIUM)], 15),
        # A remark is no measurement.
        (10, [("documented.training.memory_gb", "13", LOW)], 11),
        # What is demanded is a card of that size, which offers a little less.
        (10, [("documented.training.memory_gb", "24", HIGH)], 23),
        (60, [("documented.training.memory_gb", "80", HIGH)], 79),
        (10, [("documented.training.memory_gb", "13", HIGH)], 13),
        # The nearest of several settings is the one that is computed.
        (13, [("documented.memory_gb", "6", MEDIUM), ("documented.memory_gb", "13", MEDIUM), ("documented.memory_gb", "30", MEDIUM)], 13),
        # Another run's: too far off.
        (41, [("documented.memory_gb", "112", HIGH)], None),
        # It ran on that card, so it fits there.
        (30, [("documented.training.card", "RTX4090", MEDIUM)], 23),
        # 13 ** 0.3 * 39.5 ** 0.7
        (13, [("documented.training.card", "A100", MEDIUM)], 28),
        # A smaller card that is only named disproves nothing.
        (30, [("documented.card", "RTX4090", LOW)], None),
        # What is stated for inference says nothing of training.
        (10, [("documented.inference.memory_gb", "12", HIGH)], None),
        # Several cards' memory added up.
        (51, [("documented.training.card", "A100-80GB", MEDIUM), ("documented.training.memory_gb", "112", HIGH)], 69),
        # A card named once beside one that is named often.
        (20, [("documented.card", "A100", MEDIUM), ("documented.card", "A100", MEDIUM), ("documented.card", "H100", MEDIUM)], 32),
    ],
)  # fmt: skip
def test_sum_and_statement_are_averaged_as_factors(computed, stated, expected):
    agreed = reconcile(computed, said(*stated), is_rough=False)
    assert (agreed.required_gib if agreed else None) == expected


def test_card_beside_the_count_of_the_run_is_the_one_it_took():
    findings = [
        Finding("documented.training.card", "A10", "", MEDIUM, Evidence("README.md", 1)),
        Finding("documented.training.card", "A10", "", MEDIUM, Evidence("README.md", 2)),
        Finding("documented.training.card", "A100-80GB", "", MEDIUM, Evidence("README.md", 3)),
        Finding("documented.gpu_count", "4", "", MEDIUM, Evidence("README.md", 3)),
        Finding("documented.gpu_count", "2", "", MEDIUM, Evidence("README.md", 1)),
    ]
    stated = statements(findings, trains=True)
    assert reconcile(30, on_the_same_count(stated, findings, 4), is_rough=False).evidence.line == 3
    assert reconcile(30, on_the_same_count(stated, findings, 8), is_rough=False).evidence.line == 1
    # The sum of a run that its authors fitted there cannot be over what any card holds.
    assert reconcile(400, on_the_same_count(stated, findings, 4), is_rough=False).required_gib == 79
    assert reconcile(400, on_the_same_count(stated, findings, 8), is_rough=False) is None


def test_an_amount_beside_the_count_of_the_run_is_that_of_each_card():
    line = Evidence("README.md", 6)
    count = Finding("documented.gpu_count", "4", "", Confidence.MEDIUM, line)
    asked = Finding("documented.memory_gb", "80", "", Confidence.HIGH, line)
    other = Finding("documented.memory_gb", "8", "", Confidence.MEDIUM, Evidence("README.md", 2))
    stated = on_the_same_count(statements([asked, other], trains=False), [count], 4)
    four = reconcile(6, stated, is_rough=True)
    assert four is not None
    assert four.finding is asked
    one = reconcile(6, on_the_same_count(statements([asked, other], trains=False), [count], 1), is_rough=True)
    assert one is not None
    assert one.finding is other


def test_an_amount_that_is_the_named_card_s_own_is_where_the_run_fitted():
    line = Evidence("README.md", 4)
    card = Finding("documented.training.card", "A100-80GB", "", MEDIUM, line)
    amount = Finding("documented.training.memory_gb", "80", "", MEDIUM, line)
    assert reconcile(120, statements([amount, card], trains=True), is_rough=False).required_gib == 80
    elsewhere = Finding("documented.training.memory_gb", "80", "", MEDIUM, Evidence("README.md", 9))
    assert reconcile(120, statements([elsewhere, card], trains=True), is_rough=False).required_gib > 80


def test_rough_sum_gives_way_to_what_is_asked_for():
    assert reconcile(30, said(("documented.memory_gb", "12", MEDIUM)), is_rough=True).required_gib == 14
    assert reconcile(5, said(("documented.memory_gb", "24", MEDIUM)), is_rough=True).required_gib == 23
    assert reconcile(5, said(("documented.memory_gb", "24", MEDIUM)), is_rough=False) is None


def test_who_demands_11_gb_is_not_content_with_a_10_gb_card():
    found = reconcile(6, said(("documented.memory_gb", "11", HIGH)), is_rough=False)
    assert found.required_gib == 11
    assert sold_gb(found.required_gib) == 12


def test_rough_sum_takes_what_is_demanded_or_the_middle_of_a_table_and_not_what_happens_to_be_near():
    demanded = said(("documented.memory_gb", "60", HIGH), ("documented.memory_gb", "20", MEDIUM))
    assert reconcile(23, demanded, is_rough=True).required_gib == 60
    assert reconcile(23, demanded, is_rough=False).required_gib == 21
    rows = said(*[("documented.training.memory_gb", size, MEDIUM) for size in ("28", "11", "13", "10", "3", "4")])
    assert reconcile(3, rows, is_rough=True).required_gib == 9
    assert reconcile(3, rows, is_rough=False).required_gib == 3


def test_headline_of_a_table_is_its_middle():
    rows = [("documented.training.memory_gb", size, MEDIUM) for size in ("28", "11", "13", "10", "3", "4")]
    assert headline(said(*rows)).memory_gib == 10
    assert headline(said(*rows, ("documented.memory_gb", "24", HIGH))).memory_gib == 24


def test_headline_is_what_is_demanded_then_the_card_named_most():
    card, other = ("documented.card", "V100", MEDIUM), ("documented.training.card", "A100", MEDIUM)
    assert (
        headline(said(card, ("documented.memory_gb", "9", MEDIUM), ("documented.memory_gb", "24", HIGH))).memory_gib
        == 24
    )
    assert headline(said(card, other)).finding.value == "A100"
    assert headline(said(("documented.inference.card", "L4", MEDIUM))).finding.value == "L4"
    assert headline(()) is None


def test_a_demand_goes_before_a_nearer_remark_where_the_sum_is_rough() -> None:
    where = Evidence("README.md", 3)
    remark = Finding("documented.memory_gb", "4", "the documentation speaks of 4 GB", Confidence.MEDIUM, where)
    demand = Finding("documented.memory_gb", "12", "the documentation asks for 12 GB", Confidence.HIGH, where)
    said = statements([remark, demand], trains=False)
    rough, sure = (reconcile(3, said, is_rough=is_rough) for is_rough in (True, False))
    assert rough is not None
    assert sure is not None
    assert rough.required_gib > 8
    assert sure.required_gib <= 4


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("we train with eight 80 GB GPUs", 8),
        ("you should have 8 80G GPU", 8),
        ("one 48GB GPU", 1),
        ("80 GB GPUs", None),
    ],
)
def test_a_size_may_stand_between_a_number_and_gpus(text: str, number: int | None) -> None:
    assert gpu_number(text) == number


def test_number_of_cards_may_stand_behind_their_name():
    (card,) = card_phrases("GPU V100 x8 (Mixed Precision) | gpu_mixed_precision | 1h 58m")
    assert (card.card, card.count) == ("V100", 8)
    (card,) = card_phrases("trained on A100-80GB (x4)")
    assert (card.card, card.count, card.is_sized) == ("A100-80GB", 4, True)
    (card,) = card_phrases("an RTX 4090 x2 speedup")
    assert card.count is None


def test_memory_that_a_program_printed_is_a_statement():
    (phrase,) = memory_phrases("- `Reserved memory: 22.5078 GB`")
    assert (round(phrase.size_gb, 1), phrase.is_demanded) == (22.5, False)

    (phrase,) = memory_phrases("Max memory allocated: 11.47 GB")
    assert (phrase.size_gb, phrase.is_demanded) == (11.47, False)


@pytest.mark.parametrize(
    ("text", "size", "is_demanded"),
    [
        ("A node with 4 GPUs, each has GPU mem larger than 60GB, is recommended.", 60, True),
        ("The script is set for an 8-GPU system, each with 80GB of VRAM.", 80, False),
        ("You'll need 8 GPUs each with 48 GB", 48, True),
        ("**For inference, 80GB*8 GPUs are required.**", 80, True),
        ("- Single GPU @ 48GB VRAM", 48, False),
        ("- 35GiB VRAM per GPU with a short context", 35, False),
        ("- GPU with 8GB of dedicated VRAM", 8, False),
        ("The large one requires 4 GB GPU-RAM", 4, True),
        ("You can run it with just **11GB** GPU memory!", 11, False),
        ("It runs on a GPU with as few as 12GB VRAM", 12, False),
        ("you should have 8 80G GPU", 80, True),
        ("With fp16 and a 48GB gpu, the input can be longer", 48, False),
        ("supports 93x480p within **24G VRAM**", 24, False),
    ],
)
def test_amount_of_each_card_in_further_words(text, size, is_demanded):
    (phrase,) = memory_phrases(text)
    assert (phrase.size_gb, phrase.is_demanded) == (size, is_demanded)


@pytest.mark.parametrize(
    "text",
    [
        "24GB of memory per GPU isn't quite right",
        "It is just that, 2GB memory",
        "Each of 4 GPUs reads 80GB of the data set",
        "tested on an A100, 40GB GPU",  # the card's own size
        "a 10 GB data set for GPUs",
    ],
)
def test_amount_beside_such_words_is_none_of_a_card(text):
    assert not list(memory_phrases(text))


def test_entry_of_news_speaks_for_another_model(checkout):
    text = "# Net\n* **`Feb 1, 2025`:** We release the large one, trained on H200x4 GPUs.\n- [2024/05/06] needs 48 GB of VRAM\n"
    found = documented.detect(checkout({"README.md": f"{text}## Use\nIt needs 8 GB of VRAM on 2 x A40 GPUs.\n"}), None)
    said = [(f.field, f.value, f.confidence) for f in found]
    assert ("documented.training.card", "H200", LOW) in said
    assert ("documented.memory_gb", "48", LOW) in said
    assert ("documented.memory_gb", "8", HIGH) in said
    assert [value for field, value, _ in said if field == "documented.gpu_count"] == ["2"]


def test_each_instance_has_a_word_by_which_its_line_is_found() -> None:
    for pattern, _, _ in cloud_instances._INSTANCES:
        assert any(part in pattern for part in cloud_instances._PARTS), pattern


@pytest.mark.parametrize(
    ("text", "size"),
    [
        ("We tested with 8 GPUs (80GB of VRAM).", "80"),
        ("We train with 16 GPUs with 40 GB each.", "40"),
        ("It runs on one GPU with 16GB memory.", "16"),
        ("It runs on one GPU with 16 layers and 2GB files.", None),
        ("It ran on one A40 GPU (48GB VRAM) for a night.", None),
    ],
)
def test_what_gpus_are_said_to_have_is_an_amount(text, size):
    found = [f.value for f in statements_of(text, "", Evidence("README.md", 1)) if f.field.endswith("memory_gb")]
    assert found == ([size] if size else [])


@pytest.mark.parametrize(
    ("starts", "amounts"),
    [
        ("python src/train.py", ["12"]),
        ("srun python -u ../src/train.py --lr 1", ["12"]),
        ("bash run.sh", ["12"]),
        ("python src/retrieval.py", []),
        ("python -W ignore ../../src/pretrain.py", []),
    ],
)
def test_a_job_speaks_for_the_program_that_it_starts(checkout, starts, amounts):
    job = f"#!/bin/bash\n#SBATCH --gres=gpu:4\n# smaller batch size, fits smaller GPUs (4*12GB GPUs)\n{starts}\n"
    tree = checkout({"src/train.py": TRAIN, "README.md": "```\npython src/train.py\n```\n", "jobs/run.slurm.sh": job,
                     "src/retrieval.py": "print(1)\n", "src/pretrain.py": "print(1)\n"})  # fmt: skip
    run = primary_run(tree)
    assert run is not None
    assert run.evidence.path == "README.md"
    found = declared_hardware.detect(tree, run)
    assert [item.value for item in found if item.field == "documented.memory_gb"] == amounts


@pytest.mark.parametrize(
    "files",
    [
        {"task.yaml": "resources:\n  accelerators: {M60:1, K40:1}\nrun: python train.py\n"},
        {
            "app.py": "import modal\napp = modal.App()\n@app.function(gpu='M60')\ndef train():\n    import torch\n    loss.backward()\n"
        },
        {"run.slurm": "#!/bin/bash\n#SBATCH --gres=gpu:titanx:2\npython train.py\n"},
    ],
)
def test_a_card_that_nobody_rents_may_be_asked_for(checkout, files):
    analysis = analyze(checkout({"train.py": TRAIN.replace(".sum()", ".sum().cuda()"), **files}))
    assert analysis.spec.hardware.vram_required_gb is not None


@pytest.mark.parametrize(
    ("line", "card", "count"),
    [
        ("We trained the model on 8 x A100 GPUs.", Confidence.MEDIUM, True),
        ("Thanks to X for providing 8 x A100 GPUs on which we trained the model.", Confidence.LOW, False),
        ("X generously provided A100(40G) x 8 workstations to train and serve the models.", Confidence.LOW, False),
        ("Thanks to checkpointing we trained the model on 8 x A100 GPUs.", Confidence.MEDIUM, True),
        ("感谢 X 提供 8 x A100 GPUs to train", Confidence.LOW, False),
    ],
)
def test_cards_that_somebody_is_thanked_for_are_only_named(line: str, card: Confidence, count: bool) -> None:
    found = list(statements_of(line, "", Evidence("README.md", 1)))
    assert [f.confidence for f in found if f.field.endswith("card")] == [card]
    assert any(f.field == "documented.gpu_count" for f in found) is count


def test_a_section_of_thanks_asks_for_nothing() -> None:
    line = "Training took 8 x A100 GPUs."
    said = [
        list(statements_of(line, heading, Evidence("README.md", 1))) for heading in ("Training", "Acknowledgements")
    ]
    assert [[f.field.rpartition(".")[2] for f in found] for found in said] == [["card", "gpu_count"], ["card"]]


@pytest.mark.parametrize(
    ("line", "card"),
    [
        ("Run it (for 8x A100/H100 GPUs)", "A100-80GB"),
        ("Run it on 8 A100 or H100 GPUs", "A100-80GB"),
        ("Run it on 8 A100 40GB or H100 GPUs", "A100"),
        ("Run it on 8 A100/V100 GPUs", "A100"),
    ],
)
def test_an_a100_that_an_h100_may_take_the_place_of_is_the_larger_one(line: str, card: str) -> None:
    assert next(card_phrases(line)).card == card


def test_what_ran_on_one_card_says_little_of_a_run_on_many() -> None:
    line = Evidence("README.md", 3)
    single = Finding("documented.training.card", "L4", "", MEDIUM, line)
    count = Finding("documented.gpu_count", "1", "", MEDIUM, line)
    stated = statements([single, count], trains=True)
    assert reconcile(55, on_the_same_count(stated, [count], 8), is_rough=False) is None
    one = reconcile(55, on_the_same_count(stated, [count], 1), is_rough=False)
    assert one is not None
    assert one.required_gib == 22


def test_an_amount_that_no_card_holds_is_not_taken_for_one() -> None:
    rows = [
        Finding("documented.training.memory_gb", str(size), "", MEDIUM, Evidence("README.md", size))
        for size in (6, 10, 20, 24, 240, 600, 1200)
    ]
    taken = headline(statements(rows, trains=True))
    assert taken is not None
    assert taken.memory_gib == 10
    assert headline(statements(rows[4:], trains=True)) is None


def test_a_star_that_markdown_writes_with_a_backslash_counts_cards(checkout):
    readme = "# Model\n\n## Training\n\nAll models were trained on 4 \\* A100 GPUs.\n"
    tree = checkout({"README.md": readme, "train.py": TRAIN})
    assert found(tree, "gpu_count") == [("documented.gpu_count", "4", 5)]


@pytest.mark.parametrize(
    ("more", "field"),
    [
        ("FPS | mAP", "documented.inference.memory_gb"),
        ("Inf time (fps) | box AP", "documented.inference.memory_gb"),
        ("Lr schd | Inf time (fps)", "documented.memory_gb"),  # what it took to train them
        ("box AP | mask AP", "documented.memory_gb"),
    ],
)
def test_memory_beside_frames_per_second_is_of_what_runs(checkout, more, field):
    readme = f"# Model\n\n| name | GPU Mem (MB) | {more} |\n|---|---|---|---|\n| D0 | 3072 | 36.2 | 33.1 |\n"
    tree = checkout({"README.md": readme, "train.py": TRAIN})
    assert found(tree, "memory_gb") == [(field, "3", 5)]


@pytest.mark.parametrize(
    ("line", "size"),
    [
        ("requires less than 4G graphics memory for inference", 4),
        ("NVIDIA GPU (>= 11G graphic memory) + CuDNN", 11),
        ("needs at least 8GB of video RAM", 8),
        ("needs 32GB RAM", None),
    ],
)
def test_memory_of_graphics_is_a_card_s(line: str, size: float | None) -> None:
    assert next((phrase.size_gb for phrase in memory_phrases(line)), None) == size


@pytest.mark.parametrize(
    ("heading", "confidence"),
    [
        ("Usage", Confidence.MEDIUM),
        ("xformers efficient attention", Confidence.LOW),
        ("Install flash-attention", Confidence.LOW),
        ("Training with FlashAttention", Confidence.MEDIUM),
        ("Apex-X: great nets", Confidence.MEDIUM),
    ],
)
def test_a_card_in_a_chapter_on_an_extension_is_what_its_builds_were_tried_on(checkout, heading, confidence):
    tree = checkout({"README.md": f"# Model\n\n## {heading}\n\nTested on A100 with CUDA 11.4.\n", "train.py": TRAIN})
    named = [f for f in documented.detect(tree, primary_run(tree)) if f.field.endswith("card")]
    assert [(finding.value, finding.confidence) for finding in named] == [("A100", confidence)]


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ("axolotl train x.yml  # ~83.1 GiB", [("documented.training.memory_gb", "83.1", 6)]),
        ("python generate.py # 12GB", [("documented.inference.memory_gb", "12", 6)]),
        ("wget https://host/weights.bin  # 24 GB", []),
        ("python download_weights.py  # 24 GB", []),
        ("axolotl train x.yml  # 3 GiB of weights come first", []),
    ],
)
def test_an_amount_alone_behind_a_command_is_what_that_takes(checkout, command, expected):
    tree = checkout({"README.md": f"# Model\n\nStart it:\n\n```bash\n{command}\n```\n", "train.py": TRAIN})
    assert found(tree, "memory_gb") == expected
