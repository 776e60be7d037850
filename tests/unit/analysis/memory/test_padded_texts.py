"""Lengths that are a limit, or none of the data's: texts that are padded to the longest of a batch, samples that are drawn."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import pytest

from gpu_lol_action.analysis.answer.assemble import analyze
from gpu_lol_action.analysis.files.checkout import Checkout
from gpu_lol_action.analysis.runs.runs import primary_run
from gpu_lol_action.analysis.training.training import detect

Build = Callable[[Mapping[str, str]], Checkout]
GPT = """
import torch
from torch.utils.data import DataLoader
from model import GPT

CONFIG = {"vocab_size": 50257, "context_length": 1024, "emb_dim": 1024, "n_layers": 24, "n_heads": 16}
batch_size = 8
{collate}
model = GPT(CONFIG).cuda()
optimizer = torch.optim.AdamW(model.parameters())
for batch in DataLoader(instructions, batch_size=batch_size, collate_fn=collate):
    loss = model(batch)
    loss.backward()
    optimizer.step()
"""
MODEL = "import torch\nclass GPT(torch.nn.Module):\n    pass\n"
BY_HAND = "def collate(batch):\n    longest = max(len(item) + 1 for item in batch)\n    return batch\n"
NOT_A_BATCH = "def collate(batch):\n    widest = max(len(name) for name in columns)\n    return batch\n"


@pytest.mark.parametrize(("collate", "is_padded"), [(BY_HAND, True), (NOT_A_BATCH, False), ("", False)])
def test_a_limit_is_no_length_where_texts_are_padded_to_the_longest(
    checkout: Build, collate: str, is_padded: bool
) -> None:
    files = checkout({"train.py": GPT.replace("{collate}", collate), "model.py": MODEL})
    analysis = analyze(files)
    assert analysis.breakdown is not None
    basis = next(term.basis for term in analysis.breakdown.terms if term.name == "activations")
    assert ("256 tokens" in basis) is is_padded
    assert any("of the 1024 that are the most" in sentence for sentence in analysis.not_understood) is is_padded


def test_what_another_module_pads_is_not_this_program_s_text(checkout: Build) -> None:
    program = GPT.replace("{collate}", "import helpers\n")
    analysis = analyze(checkout({"train.py": program, "model.py": MODEL, "helpers.py": BY_HAND}))
    assert analysis.breakdown is not None
    assert any("1024 tokens" in term.basis for term in analysis.breakdown.terms)


@pytest.mark.parametrize(
    ("line", "length"),
    [
        ("inp = torch.randint(32000, (8, 256), device='cuda')", "256"),
        ("inp = torch.randint(0, 32000, size=(8, 256)).cuda()", "256"),
        ("inp = torch.randint(32000, (8,))", "32768"),
        ("from torch.utils.data import DataLoader\nlabels = torch.randint(10, (8, 256))", "32768"),
    ],
)
def test_samples_that_a_program_draws_are_as_long_as_it_draws_them(checkout: Build, line: str, length: str) -> None:
    program = f"import torch\nfrom model import Net\nnet = Net().cuda()\n{line}\nnet(inp).sum().backward()\noptimizer.step()\n"
    model = "import torch\nclass Args:\n    max_seq_len: int = 32768\nclass Net(torch.nn.Module):\n    pass\n"
    files = checkout({"train.py": program, "model.py": model})
    found = {finding.field: finding.value for finding in detect(files, primary_run(files))}
    assert found["training.sequence_length"] == length


@pytest.mark.parametrize(
    ("code", "length"),
    [
        ("p.add_argument('--max_len', type=int, default=384)", "384"),
        ("MAX_LEN = 384", "384"),
        ("def positions(width, max_len=5000):\n    return width", None),
        ("class Positions(torch.nn.Module):\n    def __init__(self, width):\n        self.max_len = 5000", None),
    ],
)
def test_the_length_of_a_text_is_no_table_of_positions(checkout: Build, code: str, length: str | None) -> None:
    program = f"import argparse\nimport torch\np = argparse.ArgumentParser()\n{code}\nnet = torch.nn.Linear(8, 8).cuda()\nloss.backward()\noptimizer.step()\n"
    files = checkout({"train.py": program})
    found = {finding.field: finding.value for finding in detect(files, primary_run(files))}
    assert found.get("training.sequence_length") == length


@pytest.mark.parametrize(
    ("called", "is_padded"), [("data = Messages('a.csv')", True), ("data = rows_of('a.csv')", False)]
)
def test_what_the_program_calls_of_another_module_pads_its_texts(
    checkout: Build, called: str, *, is_padded: bool
) -> None:
    helpers = (
        "class Messages:\n    def __init__(self, path):\n        self.texts = open(path).readlines()\n"
        "    def longest(self):\n        return max(len(text) for text in self.texts)\n\ndef rows_of(path):\n    return []\n"
    )
    program = GPT.replace("{collate}", f"from helpers import Messages, rows_of\n{called}\n")
    analysis = analyze(checkout({"train.py": program, "model.py": MODEL, "helpers.py": helpers}))
    assert analysis.breakdown is not None
    assert any("256 tokens" in term.basis for term in analysis.breakdown.terms) is is_padded


CAPTIONS = """
import torch
from transformers import {kind}
from torch.utils.data import DataLoader

texts = [row["{key}"] for row in rows]
model = {kind}.from_pretrained("gpt2").cuda()
optimizer = torch.optim.AdamW(model.parameters())
for batch in DataLoader(texts, batch_size=40):
    model(**batch).loss.backward()
    optimizer.step()
"""


@pytest.mark.parametrize(
    ("key", "kind", "tokens"),
    [("caption", "GPT2LMHeadModel", ["128"]), ("text", "GPT2LMHeadModel", []), ("caption", "CLIPTextModel", [])],
)
def test_captions_are_a_sentence_or_two(checkout: Build, key: str, kind: str, tokens: list[str]) -> None:
    files = checkout({"train.py": CAPTIONS.replace("{key}", key).replace("{kind}", kind)})
    found = detect(files, primary_run(files))
    assert [f.value for f in found if f.field == "training.sequence_length"] == tokens


SOUNDS = """
import torch
from torch.nn.utils.rnn import pad_sequence
from ours import Voice
model = Voice(d_model=512, num_layers=12, num_heads=8, max_seq_len=8192).cuda()
optimizer = torch.optim.AdamW(model.parameters())
for spectra in load(batch_size=32, n_mels=100):
    model(pad_sequence(spectra)).loss.backward()
    optimizer.step()
"""


@pytest.mark.parametrize(("helper", "is_wordless"), [("", True), ("vocab_size = 40000\n", False)])
def test_who_writes_spectra_has_no_logits_over_words(checkout: Build, helper: str, *, is_wordless: bool) -> None:
    ours = "import torch\nclass Voice(torch.nn.Module):\n    pass\n"
    breakdown = analyze(checkout({"train.py": SOUNDS, "ours.py": helper + ours})).breakdown
    assert breakdown is not None
    terms = {term.name: term.basis for term in breakdown.terms}
    assert ("logits" not in terms) is is_wordless
    assert ("32 x 1024 tokens" in terms["activations"]) is is_wordless


@pytest.mark.parametrize("beside", ["document", "conversations", "text"])
def test_captions_beside_longer_texts_say_no_length(checkout: Build, beside: str) -> None:
    program = CAPTIONS.replace("{key}", "caption").replace("{kind}", "GPT2LMHeadModel")
    files = checkout({"train.py": program.replace('row["caption"]', f'row["caption"] + row["{beside}"]')})
    found = detect(files, primary_run(files))
    assert [f.value for f in found if f.field == "training.sequence_length"] == []


WRITES = "from torch.nn.functional import cross_entropy\nloss = cross_entropy(out, words)\n"
READS = "from ours_text import Tokenizer\n"


@pytest.mark.parametrize(("more", "is_wordless"), [(READS, True), (WRITES, True), (READS + WRITES, False)])
def test_what_listens_writes_words_and_what_speaks_reads_them(checkout: Build, more: str, *, is_wordless: bool) -> None:
    ours = f"import torch\n{more}class Voice(torch.nn.Module):\n    pass\n"
    breakdown = analyze(checkout({"train.py": SOUNDS, "ours.py": ours})).breakdown
    assert breakdown is not None
    assert ("logits" not in {term.name for term in breakdown.terms}) is is_wordless
