"""Batches that are counted in tokens: as many sentences as have so many, not so many sentences."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import pytest

from gpu_lol_action.analysis.answer.assemble import analyze
from gpu_lol_action.analysis.files.checkout import Checkout
from gpu_lol_action.analysis.runs.runs import primary_run
from gpu_lol_action.analysis.training.training import detect

Build = Callable[[Mapping[str, str]], Checkout]
TRANSLATE = """
import argparse
import torch
import torch.nn as nn
from torchtext.data import BucketIterator

class Positions(nn.Module):
    def __init__(self, width, longest=5000):
        super().__init__()
        self.register_buffer("table", torch.zeros(longest, width))

    def forward(self, x):
        return x + self.table[:x.shape[1]]

class Net(nn.Module):
    def __init__(self, words):
        super().__init__()
        self.embed = nn.Embedding(words, 512)
        self.positions = Positions(512)
        self.layers = nn.ModuleList([nn.TransformerEncoderLayer(512, 8) for _ in range(6)])
        self.head = nn.Linear(512, words)

    def forward(self, tokens):
        x = self.positions(self.embed(tokens))
        for layer in self.layers:
            x = layer(x)
        return self.head(x)

parser = argparse.ArgumentParser()
parser.add_argument("--batch_size", type=int, {rest})
args = parser.parse_args()
net = Net(len(vocab)).cuda()
optimizer = torch.optim.Adam(net.parameters())
for batch in BucketIterator(texts, batch_size=args.batch_size{counter}):
    loss = nn.functional.cross_entropy(net(batch.src).flatten(0, 1), batch.trg.flatten())
    loss.backward()
    optimizer.step()
"""


def found(files: Checkout) -> dict[str, str]:
    return {finding.field: finding.value for finding in detect(files, primary_run(files))}


@pytest.mark.parametrize(
    ("rest", "counter", "is_counted"),
    [
        ('help="target number of tokens in a src/trg batch", default=1500', "", True),
        ('default=1500, help="batch size, counted in tokens"', "", True),
        ('default=1500, help="maximum number of tokens per batch"', "", True),
        ("default=1500", ", batch_size_fn=size_of", True),
        ('default=1500, help="number of sentences in a batch"', "", False),
        ('default=1500, help="samples; tokens that are too many are cut"', "", False),
        ("default=1500", "", False),
    ],
)
def test_a_batch_is_counted_in_tokens_where_its_option_or_a_counter_says_so(
    checkout: Build, rest: str, counter: str, is_counted: bool
) -> None:
    program = TRANSLATE.replace("{rest}", rest).replace("{counter}", counter)
    assert ("training.card_tokens" in found(checkout({"train.py": program}))) is is_counted


def test_so_many_tokens_need_a_part_of_what_so_many_sentences_would(checkout: Build) -> None:
    program = TRANSLATE.replace("{rest}", 'default=1500, help="number of tokens in a batch"').replace("{counter}", "")
    analysis = analyze(checkout({"train.py": program}))
    assert (analysis.spec.hardware.vram_required_gb or 99) <= 12
    assert not any("upper bound" in sentence for sentence in analysis.not_understood)


@pytest.mark.parametrize(
    ("files", "tokens"),
    [
        ({"run.sh": "fairseq-train data-bin --arch transformer_iwslt_de_en --max-tokens 4096\n"}, "4096"),
        ({"run.sh": "fairseq-train data-bin --arch transformer_iwslt_de_en --batch-size 32\n"}, None),
        ({"run.sh": "python train.py --config c.yaml\n", "c.yaml": "batch_type: token\nbatch_size: 2048\n"}, "2048"),
        ({"run.sh": "python train.py --config c.yaml\n", "c.yaml": "batch_type: sentence\nbatch_size: 2048\n"}, None),
        ({"run.sh": "python train.py --config c.yaml\n", "c.yaml": "batch_size: 2048  # in tokens\n"}, "2048"),
        ({"run.sh": "python train.py --max_tokens 512\n"}, None),  # what is generated, as far as anybody knows
    ],
)
def test_configurations_and_fairseq_say_it_in_their_words(
    checkout: Build, files: Mapping[str, str], tokens: str | None
) -> None:
    program = "import torch\nimport torch.nn as nn\nnet = nn.Linear(8, 8).cuda()\nloss.backward()\noptimizer.step()\n"
    own = {"train.py": program} if "train.py" in files["run.sh"] else {}
    assert found(checkout({**own, **files})).get("training.card_tokens") == tokens


@pytest.mark.parametrize(("switch", "tokens"), [("True", "1024"), ("False", None)])
def test_a_switch_says_that_batches_are_counted_in_tokens(checkout: Build, switch: str, tokens: str | None) -> None:
    program = TRANSLATE.format(rest="default=8", counter="") + ""
    program = program.replace(
        "args = parser", 'parser.add_argument("--in_tokens", type=bool, default=False)\nargs = parser'
    )
    command = f"python train.py --batch_size 1024 --in_tokens {switch}"
    tree = checkout({"train.py": program, "README.md": f"```\n{command}\n```\n"})
    found = {f.field: f.value for f in detect(tree, primary_run(tree))}
    assert found.get("training.card_tokens") == tokens
