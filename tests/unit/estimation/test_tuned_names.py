"""Fine-tuned encoders are found by the known model whose name and size theirs keeps; what only looks like one is not."""

from __future__ import annotations

import pytest

from gpu_lol_action.estimation.model_facts import find_model
from gpu_lol_action.estimation.tuned_names import known_part

KNOWN = frozenset(
    {"bert-base-uncased", "bert-base-cased", "roberta-base", "xlm-roberta-base", "whisper-large", "whisper-large-v3"}
)


@pytest.mark.parametrize(
    ("name", "part"),
    [
        ("deepset/roberta-base-squad2", "roberta-base"),
        ("jplu/tf-xlm-roberta-base", "xlm-roberta-base"),
        ("princeton-nlp/sup-simcse-bert-base-uncased", "bert-base-uncased"),
        ("dbmdz/bert-base-german-cased", "bert-base-cased"),
        ("owner/hubert_bert_base", "bert-base-cased"),
        ("mirror/faster-whisper-large-v3-turbo", "whisper-large-v3"),
        ("owner/roberta-tiny", None),
        ("owner/roberta-base-lora", None),
        ("owner/tiny-bert-base-cased", None),
        ("owner/database-model", None),
        ("owner/base-model", None),
        ("", None),
    ],
)
def test_longest_known_name_with_a_size_is_found(name: str, part: str | None) -> None:
    assert known_part(name, KNOWN) == part


@pytest.mark.parametrize(
    ("name", "parameters_b"),
    [
        ("deepset/roberta-base-squad2", 0.1246),
        ("dbmdz/bert-large-cased-finetuned-conll03-english", 0.3336),
        ("jonatasgrosman/wav2vec2-large-xlsr-53-english", 0.3155),
        ("microsoft/beit-base-finetuned-ade-640-640", 0.0865),
    ],
)
def test_such_a_model_has_the_size_of_the_one_it_is_tuned_from(name: str, parameters_b: float) -> None:
    facts = find_model(name)
    assert facts is not None
    assert (facts.name, facts.parameters_b) == (name, parameters_b)
    assert facts.note.startswith("a version of ")


@pytest.mark.parametrize(
    "name", ["data/roberta-base/train.json", "./models/roberta-base-x", "/mnt/roberta-base-x", "roberta-base-x"]
)
def test_a_path_or_a_bare_word_is_no_id(name: str) -> None:
    assert find_model(name) is None


def test_a_size_in_the_name_says_more() -> None:
    facts = find_model("owner/llama-7b-roberta-base-router")
    assert facts is not None
    assert facts.parameters_b == 6.738


def test_a_long_name_takes_no_long_time() -> None:
    assert known_part("o/" + "-".join(["bert", "x"] * 500) + "-base", KNOWN) is None
