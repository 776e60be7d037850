"""Networks for sound that are trained on segments of a wave: a generator from frames, judges of the wave, lists in a configuration."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping

from gpu_lol_action.analysis.answer.assemble import analyze
from gpu_lol_action.analysis.files.checkout import Checkout

Build = Callable[[Mapping[str, str]], Checkout]
MODELS = """
import torch
import torch.nn.functional as F
from torch import nn

class Block(nn.Module):
    def __init__(self, channels, dilations):
        super().__init__()
        self.convs = nn.ModuleList([nn.Conv1d(channels, channels, 3, 1, dilation=d, padding=d) for d in dilations])

    def forward(self, x):
        for conv in self.convs:
            x = conv(F.leaky_relu(x, 0.1)) + x
        return x

class Plain(nn.Module):
    def __init__(self, channels, dilations):
        super().__init__()
        self.conv = nn.Conv1d(channels, channels, 1)

    def forward(self, x):
        return self.conv(x)

class Vocoder(nn.Module):
    def __init__(self, h):
        super().__init__()
        block = Block if h.kind == '1' else Plain
        self.pre = nn.Conv1d(h.num_mels, 64, 7, 1, padding=3)
        self.ups = nn.ModuleList([nn.ConvTranspose1d(64, 64, 2 * u, u, padding=u // 2) for u in h.upsample_rates])
        self.blocks = nn.ModuleList([block(64, d) for d in h.dilations])

    def forward(self, x):
        x = self.pre(x)
        for up, block in zip(self.ups, self.blocks):
            x = block(up(x))
        return x

class Judge(nn.Module):
    def __init__(self, period=2):
        super().__init__()
        self.period = period
        self.conv = nn.Conv2d(1, 32, (5, 1), (4, 1), padding=(2, 0))

    def one(self, x):
        b, c, t = x.shape
        return F.leaky_relu(self.conv(x.view(b, c, t // self.period, self.period)))

    def forward(self, y, y_hat):
        return self.one(y), self.one(y_hat)
"""
TRAIN = """
import argparse
import json
import torch
from models import Judge, Vocoder

def train(h):
    generator = Vocoder(h).cuda()
    judge = Judge().cuda()
    for batch in load(h):
        torch.mean(judge(batch, generator(batch))).backward()

def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('--config', default='config.json')
    train(AttrDict(json.load(open(parser.parse_args().config))))

if __name__ == '__main__':
    main()
"""
CONFIG = {
    "kind": "1", "batch_size": 16, "segment_size": 8192, "hop_size": 256, "num_mels": 80, "upsample_rates": [16, 16],
    "dilations": [[1, 3, 5], [1, 3, 5]],
}  # fmt: skip
FRAMES, WAVE = 8192 // 256, 8192


def own(tree: Checkout) -> tuple[int, int]:
    found = {
        f.field: int(f.value)
        for f in analyze(tree).findings
        if f.field in {"media.own_parameters", "media.own_outputs"}
    }
    return found["media.own_parameters"], found["media.own_outputs"]


def files(config: Mapping[str, object]) -> dict[str, str]:
    return {"train.py": TRAIN, "models.py": MODELS, "config.json": json.dumps(config), "requirements.txt": "torch\n"}


def test_a_generator_and_its_judge_are_counted_on_a_segment(checkout: Build) -> None:
    parameters, outputs = own(checkout(files(CONFIG)))
    conv = 64 * 64 * 3 + 64
    vocoder = 80 * 64 * 7 + 64 + 2 * (64 * 64 * 32 + 64) + 6 * conv
    assert parameters == vocoder + 32 * 5 + 32
    first, second = 64 * FRAMES * 16, 64 * WAVE
    # Each of three convolutions of a block keeps its own output, and what the leaky slope before it puts out.
    made = 64 * FRAMES + (1 + 3 * 2) * (first + second)
    judged = 2 * 2 * 32 * (WAVE // 2 // 4) * 2  # twice, with the slope, two folds wide
    assert abs(outputs - made - judged) < 0.01 * outputs


def test_a_number_in_quotes_is_the_same_setting(checkout: Build) -> None:
    blocks, _ = own(checkout(files(CONFIG)))
    plain, _ = own(checkout(files({**CONFIG, "kind": "2"})))
    assert blocks - plain == 6 * (64 * 64 * 3 + 64) - 2 * (64 * 64 + 64)


def test_a_longer_segment_keeps_more(checkout: Build) -> None:
    _, short = own(checkout(files(CONFIG)))
    _, long = own(checkout(files({**CONFIG, "segment_size": 32_768})))
    assert 3.9 < long / short < 4.1


def test_a_length_is_of_samples_where_the_program_has_hops(checkout: Build) -> None:
    config = {key: value for key, value in CONFIG.items() if key != "segment_size"}
    as_segment, as_length = own(checkout(files(CONFIG))), own(checkout(files({**config, "seq_len": 8192})))
    assert as_segment == as_length


def test_judges_by_name_in_a_dictionary_of_modules(checkout: Build) -> None:
    judges = """
class Judges(nn.Module):
    def __init__(self):
        super().__init__()
        self.parts = nn.ModuleDict()
        for place in range(3):
            self.parts[f"judge_{place}"] = nn.Conv1d(1, 16, 15, padding=7)

    def forward(self, x):
        return [part(x) for name, part in self.parts.items()]
"""
    train = TRAIN.replace("import Judge, Vocoder", "import Judges").replace("generator = Vocoder(h).cuda()", "")
    train = train.replace("judge = Judge().cuda()", "judge = Judges().cuda()").replace(
        "judge(batch, generator(batch))", "judge(batch)"
    )
    parameters, outputs = own(checkout({**files(CONFIG), "models.py": MODELS + judges, "train.py": train}))
    assert parameters == 3 * (15 * 16 + 16)
    assert outputs == 3 * 16 * WAVE


def test_a_program_whose_configuration_must_be_named_starts_with_the_one_beside_it(checkout: Build) -> None:
    train = TRAIN.replace("default='config.json'", "default=''")
    plain = {**files(CONFIG), "train.py": train}
    named = {key: text for key, text in plain.items() if key != "config.json"}
    small = json.dumps({**CONFIG, "batch_size": 4})
    analysis = analyze(checkout({**named, "config_v1.json": json.dumps(CONFIG), "config_v2.json": small}))
    batch = next(f for f in analysis.findings if f.field == "training.batch_size")
    assert (batch.value, batch.evidence.path) == ("16", "config_v1.json")
