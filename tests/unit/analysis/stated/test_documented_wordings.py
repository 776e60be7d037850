"""Ways in which documents word what hardware is needed: without a verb, in other units and languages, as a cloud's machine."""

from __future__ import annotations

import pytest

from gpu_lol_action.analysis.answer.assemble import analyze
from gpu_lol_action.analysis.documents.documented_amounts import memory_phrases
from gpu_lol_action.analysis.documents.documented_phrases import card_phrases, gpus_of_size
from gpu_lol_action.analysis.stated import documented
from gpu_lol_action.analysis.stated.stated_sentences import statements_of
from gpu_lol_action.domain.finding import Confidence, Evidence
from tests.unit.analysis.conftest import Build


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("VRAM: 24GB+", [24]),
        ("- **GPU memory**: 24 GB", [24]),
        ("* GPU: NVIDIA with 24GB+ VRAM", [24]),
        ("need approximately 24 gigabytes of GPU memory", [24]),
        ("A graphics card with 24 GB RAM", [24]),
        ("An NVIDIA GPU with CUDA support and 24GB of memory", [24]),
        ("GPUs: 4x24GB", [24]),
        ("4 GPUs x 24GB", [24]),
        ("Training on 24GB VRAM", [24]),
        ("Takes 24 GB on an A100", [24]),
        ("# LoRA SFT (1x48GB @ 24GiB)", [24]),
        ("# FFT (8x80GB @ ~24GiB/GPU)", [24]),
        ("# FFT (8x80GB)", []),
        ("# FFT (8x80GB @ 24 it/s)", []),
        ("需要24GB显存", [24]),
        ("显存 24G 以上", [24]),
        ("VRAM 24GB以上が必要です", [24]),
        ("Mindestens 24 GB VRAM", [24]),
        ("It has been trained on 8 A100 GPUs with 80GB memory", []),  # the cards, not what was taken
        ("If your GPU has less than 24 GB of memory, lower the batch size", [24]),
        ("if the VRAM of your card is below 24G", [24]),
        ("如果显存不足24G则可以打开下面的选项", [24]),
        ("For this, 24G memory should be enough", [24]),
        ("works with 24 GB VRAM, but does not work with 8GB VRAM", [24]),
        ("It doesn't fit on a 16GB GPU", []),
        ("This will OOM on a 16GB GPU", []),
        ("needs 24GB VRAM, 16 GB VRAM will not be enough", [24]),
        ("does not run on a GPU with less than 24GB of memory", [24]),
        ("Less than 24 GB of VRAM is not enough", [24]),
        ("Training runs out of memory on cards with under 24 GB of VRAM", [24]),
        ("memory: 24 GB", []),
        ("RAM: 64GB+", []),
        ("the file has 24 gigabytes", []),
    ],
)
def test_amounts_are_read_in_other_wordings(line: str, expected: list[float]) -> None:
    assert [phrase.size_gb for phrase in memory_phrases(line)] == expected


@pytest.mark.parametrize(
    ("line", "heading", "expected"),
    [
        ("24GB of GPU RAM", "Requirements", [24]),
        ("2. 20-24GB VRAM", "Hardware requirements", [24]),
        ("24 GB of video memory", "Hardware", [24]),
        ("24 GB of graphics memory", "Prerequisites", [24]),
        ("64 GB of RAM", "Requirements", []),
        ("24GB of GPU RAM", "News", []),
    ],
)
def test_a_few_words_under_a_heading_on_requirements_ask_for_what_they_name(
    line: str, heading: str, expected: list[float]
) -> None:
    assert [phrase.size_gb for phrase in memory_phrases(line, heading)] == expected


@pytest.mark.parametrize(
    ("line", "card", "count"),
    [
        ("designed to run on an 8xH100 GPU node", "H100", 8),
        ("a single 8xA100 machine", "A100", 8),
        ("trained on 4 A100 nodes", "A100", None),  # so many machines
        ("we used a g5.12xlarge", "A10G", 4),
        ("an AWS p3.2xlarge instance", "V100", 1),
        ("launch a `Standard_NC24ads_A100_v4`", "A100-80GB", 1),
        ("trained on a g2-standard-48 for a day", "L4", 4),
        ("tested on GH200", "GH200", None),
        ("trained using 4 32-GB V100 GPUs", "V100-32GB", 4),
        ("kick off runs/speedrun.sh on 8xH100", "H100", 8),
    ],
)
def test_cards_are_read_in_other_wordings(line: str, card: str, count: int | None) -> None:
    assert [(phrase.card, phrase.count) for phrase in card_phrases(line)] == [(card, count)]


@pytest.mark.parametrize(
    ("line", "is_demanded"),
    [
        ("We recommend a large GPU (RTX 3090 or higher).", True),
        ("Training runs on a V100 or better.", True),
        ("We recommend an RTX 3090.", False),
        ("Training requires an A100.", True),
        ("You will need at least one A100 to train it.", True),
        ("An A100 GPU is needed to train the model.", True),
        ("Runs at 30 FPS on an RTX 3090 or better.", False),
        ("For this use an A100 or a smaller model.", False),
    ],
)
def test_the_least_card_that_is_taken_is_asked_for(line: str, is_demanded: bool) -> None:
    (phrase,) = card_phrases(line)
    assert phrase.is_demanded is is_demanded
    assert phrase.is_had >= is_demanded


@pytest.mark.parametrize("line", ["FP8 needs an H100.", "The kernels of flash attention require an A100."])
def test_what_a_number_format_takes_is_not_what_the_work_does(line: str) -> None:
    assert not any(phrase.is_had for phrase in card_phrases(line))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "If your GPU has less than 40 GB of memory, set this variable. It then takes about 17 GB of GPU memory.",
            {"documented.memory_gb": "40", "documented.offloaded.memory_gb": "17"},
        ),
        (
            "The GPU memory that it takes can be reduced to 5 GB.",
            {"documented.offloaded.memory_gb": "5"},
        ),
    ],
)
def test_what_a_saving_leaves_is_not_what_the_run_takes(checkout: Build, text: str, expected: dict[str, str]) -> None:
    found = documented.detect(checkout({"README.md": f"# N\n{text}\n"}), None)
    assert {f.field: f.value for f in found if f.field.endswith("memory_gb")} == expected


def test_an_abbreviation_ends_no_sentence(checkout: Build) -> None:
    text = "Everything was trained on our own machine, i.e. 4 V100 GPUs\nwith 32GB, as said above."
    (card,) = (
        f for f in documented.detect(checkout({"README.md": f"# N\n{text}\n"}), None) if f.field.endswith("card")
    )
    assert card.confidence is Confidence.MEDIUM


def test_a_count_in_a_word_stands_where_its_sentence_names_the_rest(checkout: Build) -> None:
    text = "We tried several things with this.\nA smaller one was trained on a single 16GB GPU."
    found = documented.detect(checkout({"README.md": f"# N\n{text}\n"}), None)
    assert {f.field.rpartition(".")[2]: f.evidence.line for f in found if f.value in {"1", "16"}} == {
        "memory_gb": 3,
        "gpu_count": 3,
    }


def test_a_name_that_begins_like_a_measure_is_none() -> None:
    (phrase,) = card_phrases("run speedrun.sh on 8xH100")
    assert phrase.is_run


@pytest.mark.parametrize(
    ("line", "count"),
    [
        ("GPUs: 4x24GB", 4),
        ("GPU memory: 3 × 80 GB", 3),
        ("CPUs: 4x24GB", None),
        ("# QLoRA FSDP2 (2x48GB @ ~29GiB/GPU)", 2),
        ("full finetune w/ FSDP (8x80GB uses ~78GiB/gpu)", 8),
        ("Put in 2x48GB of RAM", None),
    ],
)
def test_counts_of_cards_by_which_memory_is_multiplied(line: str, count: int | None) -> None:
    assert gpus_of_size(line) == count


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "| Model | GPU | #GPUs |\n|---|---|---|\n| a | A100 80GB | 8 |\n",
            [("card", "A100-80GB"), ("gpu_count", "8")],
        ),
        ("| Model | # GPU | GPU type |\n|---|---|---|\n| a | 4 | V100 |\n", [("card", "V100"), ("gpu_count", "4")]),
        ("| Model | Num GPUs |\n|---|---|\n| a | 8 |\n| b | 8 |\n", [("gpu_count", "8")]),
        ("| Model | Num GPUs |\n|---|---|\n| a | 1 |\n| b | 8 |\n", []),
        ("| Model | #GPUs |\n|---|---|\n| a | 8 |\n\n| Model | #GPUs |\n|---|---|\n| b | 1 |\n", []),
        ("| Item | Value |\n|---|---|\n| GPU | NVIDIA A100 80GB |\n", [("card", "A100-80GB")]),
        ("| Scale | Train H100 hours |\n|---|---|\n| a | 26 |\n| b | 240 |\n", [("card", "H100")]),
        ("| Scale | H100 hours |\n|---|---|\n| a | 26 |\n", []),
        ("+---+-------+\n| M | VRAM  |\n+===+=======+\n| a | 24GB  |\n+---+-------+\n", [("memory_gb", "24")]),
        ("| Model | VRAM |\n|---|---|\n| a | 2x24GB |\n", [("memory_gb", "24")]),
        ("GPU requirements:\n- 7B: 24GB\n- 13B: 40GB\n", [("memory_gb", "24"), ("memory_gb", "40")]),
        ("Memory requirements:\n* LoRA: 24 GB\n", [("memory_gb", "24")]),
        ("Downloads:\n- 7B: 14GB\n", []),
    ],
)
def test_tables_and_lists_state_hardware(checkout: Build, text: str, expected: list[tuple[str, str]]) -> None:
    found = documented.detect(checkout({"README.md": f"# N\n## Notes\n{text}\n"}), None)
    said = {(f.field.rpartition(".")[2], f.value) for f in found if f.field.startswith("documented.")}
    assert {pair for pair in said if pair[0] != "silence"} == set(expected)


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("You may need a machine with 4 GPUs, 64GB memory, and PyTorch.", []),
        ("a server that has two GPUs and 128 GB memory is needed", []),
        ("You need 4 GPUs with 64GB memory each.", [64]),
        ("needs a GPU with 24 GB memory", [24]),
    ],
)
def test_what_stands_behind_the_gpus_of_a_machine_is_its_own(line: str, expected: list[float]) -> None:
    assert [phrase.size_gb for phrase in memory_phrases(line)] == expected


@pytest.mark.parametrize(
    ("line", "card"),
    [
        ("- Tested GPUs: A100(80G) / RTX4090D (24G) / V100(16G)", "V100"),
        ("It was tested on A100, RTX 3090 and T4 cards.", "T4"),
        ("It was tested on an A100.", "A100"),
        ("The A100 is larger than the T4.", "A100"),  # nobody ran it there
    ],
)
def test_of_the_cards_that_it_was_tested_on_the_smallest_will_do(line: str, card: str) -> None:
    assert [phrase.card for phrase in card_phrases(line)] == [card]


@pytest.mark.parametrize(
    ("heading", "line", "confidence"),
    [
        ("### Hardware", "A100 SXM 80G x4", Confidence.MEDIUM),
        ("## 1.1 Compute", "- 2x H100 80GB", Confidence.MEDIUM),
        ("## Training hardware", "4 x A6000 48GB", Confidence.MEDIUM),
        ("### 3. 硬件环境", "- 加速卡型号: NVIDIA A100-SXM4-40GB", Confidence.MEDIUM),
        ("- ##### 硬件环境", "    - 机器、加速卡型号: NVIDIA_A100-SXM4-40GB", Confidence.MEDIUM),
        ("## 实验结果", "- NVIDIA A100-SXM4-40GB", Confidence.LOW),
        ("## Results", "4 x A6000 48GB", Confidence.LOW),
        ("### Hardware", "an A100", Confidence.LOW),  # neither how many nor how large
    ],
)
def test_a_chapter_on_hardware_tells_what_was_used(
    checkout: Build, heading: str, line: str, confidence: Confidence
) -> None:
    found = documented.detect(checkout({"README.md": f"# Net\n{heading}\n\n{line}\n"}), None)
    assert [f.confidence for f in found if f.field.endswith("card")] == [confidence]


@pytest.mark.parametrize(
    ("line", "cards"),
    [
        ("It ran on NVIDIA_A100-SXM4-40GB.", ["A100"]),
        ("device: Tesla_V100-SXM2-32GB", ["V100-32GB"]),
        ("GEFORCE_RTX_3090", []),  # neither a blank nor a hyphen in the card's own name
        ("my_nvidia_a100_box", []),  # the name of something else
    ],
)
def test_a_makers_name_may_be_bound_to_the_cards(line: str, cards: list[str]) -> None:
    assert [phrase.card for phrase in card_phrases(line)] == cards


def test_a_card_with_so_much_gpu_memory_is_one_of_that_size() -> None:
    assert [phrase.is_sized for phrase in card_phrases("Train it on A100 with 40G GPU memory.")] == [True]


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("训练采用了一台80G的H100,一共100个step", ("H100", None, True)),
        ("我们使用8张80G的A100训练", ("A100-80GB", 8, True)),
        ("在单张RTX3090上微调", ("RTX3090", 1, True)),
        ("支持A100和H100", ("A100", None, False)),
    ],
)
def test_chinese_has_no_blanks_around_a_card(line: str, expected: tuple[str, int | None, bool]) -> None:
    assert [(phrase.card, phrase.count, phrase.is_run) for phrase in card_phrases(line)] == [expected]


@pytest.mark.parametrize("line", ["the A1000 of fooA100", "an A100x"])
def test_a_part_of_a_word_is_no_card(line: str) -> None:
    assert list(card_phrases(line)) == []


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        # On what it ran, however that is said.
        ("Everything in the paper ran on a single consumer-grade RTX 5080.", [("RTX5080", 1)]),
        ("I run the codes on an RTX 3090.", [("RTX3090", None)]),
        ("We utilize 4 V100 GPUs for it.", [("V100", 4)]),
        ("It takes about 20 hours for the 13B model on 8x A100 (80G).", [("A100-80GB", 8)]),
        ("It takes ~30 mins on a single 3090.", [("RTX3090", 1)]),
        ("Run it in Colab with a T4.", [("T4", None)]),
        ("Select Runtime -> Change runtime type -> T4 GPU.", [("T4", None)]),
        ("Launch it on a GPU pod (an L40S is recommended).", [("L40S", None)]),
        ("4 x A100 40GB for training", [("A100", 4)]),
        ("- **GPU** - 8x RTX 2080Ti", [("RTX2080Ti", 8)]),
        ("El modelo fue entrenado en una GPU Tesla T4.", [("T4", None)]),
        ("O modelo foi treinado em uma GPU Tesla T4.", [("T4", None)]),
        ("Модель обучалась на одной RTX 3090.", [("RTX3090", None)]),
        # How fast it is is told of another sentence.
        ("The simulator reaches 750 FPS. We trained on 4 V100.", [("V100", 4)]),
    ],
)
def test_cards_that_something_ran_on_are_believed(line: str, expected: list[tuple[str, int | None]]) -> None:
    found = [phrase for phrase in card_phrases(line) if phrase.is_run and (phrase.count or phrase.is_had)]
    assert [(phrase.card, phrase.count) for phrase in found] == expected


@pytest.mark.parametrize("line", ["The A100 is a card.", "It reaches 30 FPS on an RTX 3090.", "An A100 costs $3."])
def test_cards_that_are_only_named_are_not(line: str) -> None:
    assert not any(phrase.is_run and phrase.is_had for phrase in card_phrases(line))


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("It is recommended to use a GPU with 24+ GB of memory.", [24]),
        ("It needs GPUs with **12GB** memory each.", [12]),
        ("It targets a 32 GB GPU.", [32]),
        ("GPU memory footprint ≈ 9 GB", [9]),
        # What those may do who have more than is needed.
        ("If you have a GPU with 80GB memory, you can use a larger batch.", []),
        ("It needs 12 GB of VRAM. If you have 48 GB of VRAM, increase the batch size.", [12]),
        ("If your GPU has less than 16 GB of memory, disable the second network.", [16]),
        ("Users with 80GB cards can disable gradient checkpointing.", []),
        ("Training fits on a 24GB card, and with more memory you can increase the batch.", [24]),
        ("The parameters are tuned for a GPU with 24GB.", [24]),
        ("- small: ~24GB for training, comfortable on one node", [24]),
        ("## VRAM:- 16GB", [16]),
        ("- `large` - 1280x720, 60GB VRAM", [60]),
        ("min_gpu_memory: 20Gi is required", [20]),
        ("It runs on an A100 (80G), with a memory footprint of around 30GB.", [30]),
        ("Нужна видеокарта, объём видеопамяти не менее 40 ГБ", [40]),
        ("Требуется GPU (минимум 8 ГБ VRAM).", [8]),
        ("学習には16GB以上のVRAMが必要です。", [16]),
        ("單卡 24GB 顯存即可訓練", [24]),
        ("顯存至少 12GB", [12]),
        ("Une carte graphique avec 24 Go de mémoire est nécessaire.", [24]),
        ("São necessários pelo menos 16 GB de VRAM.", [16]),
        ("Servono almeno 16 GB di VRAM.", [16]),
        ("Cần ít nhất 16GB VRAM để huấn luyện.", [16]),
        ("Eğitim için en az 16 GB VRAM gerekir.", [16]),
        ("Er is minstens 16 GB VRAM nodig.", [16]),
        ("Potrzeba co najmniej 16 GB VRAM.", [16]),
        ("Il faut au moins 32 Go de RAM.", []),
        ("São necessários pelo menos 32 GB de RAM.", []),
        ("主記憶體至少需要 32GB", []),
        # Not of a card.
        ("You will need 13 logical CPUs and about 40 GB of memory. No GPU is required.", []),
        ("A server with 16 vCPUs and at least 64 GB of memory", []),
    ],
)
def test_further_wordings_of_amounts(line: str, expected: list[float]) -> None:
    found = statements_of(line, "", Evidence("README.md", 1))
    amounts = [float(f.value) for f in found if f.field.endswith("memory_gb") and f.confidence >= Confidence.MEDIUM]
    assert amounts == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        # A label with something in brackets behind it, and one in bold without a colon; a table stands below it, too.
        ("**Inference (with planning):**\n* 1 GPU with 10 GB VRAM\n", "documented.inference.memory_gb"),
        ("**Training**\n- needs 10 GB of VRAM\n", "documented.training.memory_gb"),
        ("Training:\n| Set | VRAM |\n|---|---|\n| a | 10 GB |\n", "documented.training.memory_gb"),
    ],
)
def test_labels_of_lists_and_tables(checkout: Build, text: str, expected: str) -> None:
    found = documented.detect(checkout({"README.md": f"# Net\n{text}"}), None)
    assert [f.field for f in found if f.field.endswith("memory_gb")] == [expected]


@pytest.mark.parametrize(
    ("line", "card"),
    [
        ("The model was trained on a Titan X.", "TITAN-X"),
        ("We use one TITAN RTX.", "TITAN-RTX"),
        ("Trained on a single Titan Xp", "TITAN-Xp"),
    ],
)
def test_a_titan_has_no_number_in_its_name(line: str, card: str) -> None:
    found = statements_of(line, "", Evidence("README.md", 1))
    assert card in [f.value for f in found if f.field.endswith("card") and f.confidence >= Confidence.MEDIUM]


def test_an_amount_counts_beside_a_card_that_only_has_as_much(checkout: Build) -> None:
    readme = "# Net\n## Training\n```\npython train.py\n```\nA GPU with 48GB memory (A6000, L40) is enough.\n"
    program = (
        "import torch\nfor x in d:\n    net(x).cuda().backward()\n    opt.step()\nif __name__ == '__main__': pass\n"
    )
    found = analyze(checkout({"README.md": readme, "train.py": program, "requirements.txt": "torch\n"}))
    assert found.proposed.hardware.vram_required_gb == 48
