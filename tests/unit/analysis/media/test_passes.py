"""A step that runs its network on several samples before it goes back keeps what each of them leaves for the way back."""

from __future__ import annotations

import pytest

from gpu_lol_action.analysis.answer.assemble import Analysis, analyze
from gpu_lol_action.analysis.media.passes import MAX_DEPTH, MAX_FUNCTIONS
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


OTHER_STEPS = {
    "one of two ways": "\n\ndef mixed(net, mixes):\n    for a, b in loader():\n        (net(a) if not mixes else net(b)).mean().backward()\n\n\nmixed(net, False)\n",
    "one of several cases": "\n\ndef cased(net, kind):\n    for a, b in loader():\n        match kind:\n            case 1:\n                loss = net(a)\n            case _:\n                loss = net(b)\n        loss.backward()\n\n\ncased(net, 1)\n",
    "a gradient of its input": "\n\ndef attacked(net):\n    for a, b in loader():\n        g = torch.autograd.grad(net(a).mean(), a)[0]\n        net(a + g).mean().backward()\n\n\nattacked(net)\n",
}


@pytest.mark.parametrize("way", OTHER_STEPS)
def test_what_another_step_or_way_runs_does_not_count(checkout: Build, way: str) -> None:
    assert passes(analyze(checkout({"train.py": HEAD + OTHER_STEPS[way]}))) == []


def test_a_step_of_a_module_that_nobody_takes_does_not_count(checkout: Build) -> None:
    engine = "def pairs(net, optimizer):\n    net.train()\n    for a, b in load():\n        compare(net(a), net(b)).backward()\n        optimizer.step()\n"
    both = engine + "\n\ndef other(net):\n    return net\n"

    taken = analyze(
        checkout({"engine.py": both, "train.py": HEAD + "from engine import pairs\n\npairs(net, optimizer)\n"})
    )
    left = analyze(
        checkout(
            {"engine.py": both, "train.py": HEAD + "from engine import other\n\nother(net)\n" + ROUND + ONCE["one"]}
        )
    )

    assert (passes(taken), passes(left)) == (["2"], [])


def test_every_step_of_a_run_must_run_it_as_often(checkout: Build) -> None:
    once = HEAD + ROUND + ONCE["one"]
    both = (
        once
        + "\n\ndef pairs(net):\n    for a, b in loader():\n        compare(net(a), net(b)).backward()\n\n\npairs(net)\n"
    )

    assert passes(analyze(checkout({"train.py": both}))) == []


def test_a_frozen_network_keeps_nothing(checkout: Build) -> None:
    frozen = (
        HEAD.replace("net.parameters()", "head.parameters()")
        + "for p in net.parameters():\n    p.requires_grad = False\n"
    )

    assert passes(analyze(checkout({"train.py": frozen + ROUND + SEVERAL["a pair"][1]}))) == []


STEP = """import torch
from transformers import AutoModel, Trainer, TrainingArguments


class Spans(Trainer):
    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self.measure = torch.nn.CrossEntropyLoss()

    def masked(self, x):
        return x

    def compute_loss(self, model, inputs, return_outputs=False, **kwargs):
        out = model(**inputs)
        return self.measure(out.start, inputs["a"]) + self.measure(out.end, inputs["b"]) + self.masked(1) + self.masked(2)


Spans(AutoModel.from_pretrained("FacebookAI/roberta-large"), TrainingArguments("out"), train_dataset=rows).train()
"""


def test_a_loss_and_a_method_of_its_own_are_no_network(checkout: Build) -> None:
    assert passes(analyze(checkout({"train.py": STEP}))) == []


def test_bounds_hold(checkout: Build) -> None:
    """Without the bounds of functions and of blocks in one another these programs would tell two passes."""
    many = "".join(f"\n\ndef s{n}(net, a, b):\n    return n\n" for n in range(MAX_FUNCTIONS))
    last = "\n\ndef last(net, a, b):\n    compare(net(a), net(b)).backward()\n\n\nlast(net, 1, 2)\n"
    deep = (
        "".join(f"{'    ' * n}with place({n}):\n" for n in range(MAX_DEPTH + 2))
        + "    " * (MAX_DEPTH + 2)
        + "compare(net(1), net(2)).backward()\n"
    )

    assert passes(analyze(checkout({"train.py": HEAD + last}))) == ["2"]
    assert passes(analyze(checkout({"train.py": HEAD + many + last}))) == []
    assert passes(analyze(checkout({"train.py": HEAD + deep}))) == []


def test_what_is_let_go_of_is_looked_at_once(checkout: Build) -> None:
    row = "x" + ".detach()" * 600
    program = HEAD + ROUND + "".join(f"    a{n} = {row}\n" for n in range(30)) + ONCE["one"]

    assert passes(analyze(checkout({"train.py": program}))) == []
