"""A step that runs its network on several samples before it goes back keeps what each of them leaves for the way back."""

from __future__ import annotations

import pytest

from gpu_lol_action.analysis.answer.assemble import Analysis, analyze
from tests.unit.analysis.conftest import Build

HEAD = """import torch
import torch.nn as nn
import torchvision
from somewhere import loader

net = torchvision.models.resnet50(num_classes=128).cuda()
teacher = torchvision.models.resnet50(num_classes=128).cuda()
optimizer = torch.optim.AdamW(net.parameters())
"""
ROUND = "for a, b, c in loader(batch_size=256):\n"
BACK = "    loss.backward()\n    optimizer.step()\n    optimizer.zero_grad()\n"
SEVERAL = {
    "a pair": (2, "    loss = compare(net(a), net(b))\n" + BACK),
    "a pair by two lines": (2, "    x = net(a.cuda())\n    y = net(b.cuda())\n    loss = compare(x, y)\n" + BACK),
    "an anchor and two": (3, "    loss = triplet(net(a), net(b), net(c))\n" + BACK),
    "with autocast": (2, "    with torch.autocast('cuda'):\n        loss = compare(net(a), net(b))\n    scaler.scale(loss).backward()\n    optimizer.step()\n"),
}  # fmt: skip
ONCE = {
    "an option's more": "    loss = net(a).mean()\n    if options.adversarial:\n        loss = loss + net(b).mean()\n"
    + BACK,
    "in one of two branches": "    if c is None:\n        loss = net(a).mean()\n    else:\n        loss = compare(net(a), net(b))\n"
    + BACK,
    "one": "    loss = compare(net(a), b)\n" + BACK,
    "either way": "    if c is None:\n        loss = net(a).mean()\n    else:\n        loss = net(b).mean()\n" + BACK,
    "back after each": "    net(a).mean().backward()\n    optimizer.step()\n    net(b).mean().backward()\n    optimizer.step()\n",
    "looked at without keeping": "    with torch.no_grad():\n        target = net(b)\n    loss = compare(net(a), target)\n"
    + BACK,
    "looked at and let go": "    loss = compare(net(a), net(b).detach())\n" + BACK,
    "a teacher beside it": "    loss = compare(net(a), teacher(b))\n" + BACK,
    "many in a row": "    loss = sum([net(a), net(b), net(c), net(a), net(b)]).mean()\n" + BACK,
    "what is judged afterwards": "    loss = net(a).mean()\n" + BACK + "print(net(a), net(b))\n",
}


def passes(analysis: Analysis) -> list[str]:
    return [each.value for each in analysis.findings if each.field == "media.passes"]


@pytest.mark.parametrize("way", SEVERAL)
def test_each_pass_before_the_way_back_counts(checkout: Build, way: str) -> None:
    count, step = SEVERAL[way]

    analysis = analyze(checkout({"train.py": HEAD + ROUND + step}))
    once = analyze(checkout({"train.py": HEAD + ROUND + ONCE["one"]}))

    assert passes(analysis) == [str(count)]
    assert analysis.spec.hardware.vram_required_gb > once.spec.hardware.vram_required_gb


@pytest.mark.parametrize("way", ONCE)
def test_what_keeps_nothing_for_the_way_back_does_not_count(checkout: Build, way: str) -> None:
    analysis = analyze(checkout({"train.py": HEAD + ROUND + ONCE[way]}))

    assert passes(analysis) == []


def test_a_generator_and_what_judges_it_are_two_networks(checkout: Build) -> None:
    gan = HEAD.replace("teacher", "judge") + "other = torch.optim.AdamW(judge.parameters())\n" + ROUND
    step = "    fake = net(a)\n    loss = judge(b).mean() - judge(fake).mean()\n" + BACK

    assert passes(analyze(checkout({"train.py": gan + step}))) == []


def test_a_step_of_lightning_goes_back_at_its_end(checkout: Build) -> None:
    program = """import lightning as L
import torch
import torchvision


class Pairs(L.LightningModule):
    def __init__(self):
        super().__init__()
        self.net = torchvision.models.resnet50()
        self.loss = torch.nn.CosineEmbeddingLoss()

    def training_step(self, batch, index):
        a, b, same = batch
        return self.loss(self.net(a), self.net(b), same)

    def validation_step(self, batch, index):
        return self.net(batch[0]), self.net(batch[1]), self.net(batch[2])

    def configure_optimizers(self):
        return torch.optim.AdamW(self.parameters())


L.Trainer().fit(Pairs(), load())
"""

    assert passes(analyze(checkout({"train.py": program}))) == ["2"]


def test_texts_are_compared_likewise(checkout: Build) -> None:
    program = """import torch
from somewhere import loader
from transformers import AutoModel

net = AutoModel.from_pretrained("FacebookAI/roberta-large").cuda()
optimizer = torch.optim.AdamW(net.parameters())
for a, b in loader(batch_size=64, max_length=256):
    loss = compare(net(**a).pooler_output, {other})
    loss.backward()
    optimizer.step()
"""

    pair = analyze(checkout({"train.py": program.format(other="net(**b).pooler_output")}))
    alone = analyze(checkout({"train.py": program.format(other="b")}))

    assert (passes(pair), passes(alone)) == (["2"], [])
    assert pair.spec.hardware.needed_gib > 1.5 * alone.spec.hardware.needed_gib


def test_deep_blocks_and_long_programs_are_looked_at_soon(checkout: Build) -> None:
    deep = "".join(f"{'    ' * n}if a > {n}:\n" for n in range(1, 60)) + "    " * 60 + "net(a)\n"
    many = "".join(f"\n\ndef step{n}(net, a, b):\n    compare(net(a), net(b)).backward()\n" for n in range(2000))
    ways = "".join("    if a:\n        net(a)\n    else:\n        net(b)\n" for _ in range(800))

    analysis = analyze(checkout({"train.py": HEAD + ROUND + deep + ways + BACK + many}))

    assert passes(analysis) in ([], ["2"])
