"""Which member of a family a path of weights means that says no more than a word for its size."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import pytest

from gpu_lol_action.analysis.files.checkout import Checkout
from gpu_lol_action.analysis.models.model_families import guess_family
from gpu_lol_action.analysis.runs.runs import primary_run

Build = Callable[[Mapping[str, str]], Checkout]
TUNES = (
    "import argparse\nfrom transformers import WhisperForConditionalGeneration, Seq2SeqTrainer\n"
    "p = argparse.ArgumentParser()\np.add_argument('--model_name')\np.add_argument('--output_dir')\nargs = p.parse_args()\n"
    "model = WhisperForConditionalGeneration.from_pretrained(args.model_name)\nSeq2SeqTrainer(model=model).train()\n"
)


@pytest.mark.parametrize(
    ("options", "model"),
    [
        ("--model_name me/whisper-hindi-base", "openai/whisper-base"),
        ("--model_name me/whisper-large-v2-telugu", "openai/whisper-large-v3"),  # of the same size
        ("--model_name /data/weights/whisper_small/", "openai/whisper-small"),
        # The last word for a size is that of the weights: a name may begin with that of a data set.
        ("--model_name me/tiny-whisper-medium", "openai/whisper-medium"),
        # Neither a word before the family's, nor one of another family, nor where the results go.
        ("--model_name me/base-whisper", "openai/whisper-large-v3"),
        ("--model_name me/wav2vec-small", "openai/whisper-large-v3"),
        ("--model_name me/hindi --output_dir out/whisper-base", "openai/whisper-large-v3"),
        ("--model_name me/whisper-huge", "openai/whisper-large-v3"),
    ],
)
def test_a_word_for_the_size_says_which_member(checkout: Build, options: str, model: str) -> None:
    tree = checkout({"README.md": f"```\npython train.py {options}\n```\n", "train.py": TUNES})
    assert [found.value for found in guess_family(tree, primary_run(tree))] == [model]
