"""Networks that read texts: vocabularies that only data tell, sentences padded as they come, methods in place of ``forward``."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import pytest

from gpu_lol_action.analysis.answer.assemble import Analysis, analyze
from gpu_lol_action.analysis.files.checkout import Checkout

Build = Callable[[Mapping[str, str]], Checkout]
WORDS = 32_000
NET = """import torch
from torch import nn

class Net(nn.Module):
    def __init__(self, vocab_size, width=64):
        super().__init__()
        self.table = nn.Embedding(vocab_size, width)
        self.head = nn.Linear(width, vocab_size)

    def forward(self, x):
        return self.head(self.table(x))
"""
STEP = "opt = torch.optim.Adam(net.parameters())\nloss = net(x).mean()\nloss.backward()\nopt.step()\n"


def value(analysis: Analysis, field: str) -> str:
    found = [f for f in analysis.findings if f.field == field]
    return max(found, key=lambda f: f.confidence).value if found else ""


@pytest.mark.parametrize("size", ["len(tokenizer)", "tokenizer.get_vocab_size()", "len(data.vocab)", "data.vocab_size", "len(word_to_ix)"])  # fmt: skip
def test_a_vocabulary_that_only_data_tell_is_of_the_usual_size(checkout: Build, size: str) -> None:
    program = f"{NET}from mine import read\ntokenizer, data, word_to_ix = read()\nnet = Net({size}).cuda()\n{STEP}"
    analysis = analyze(checkout({"train.py": program}))
    assert value(analysis, "media.own_parameters") == str(WORDS * 64 * 2 + WORDS)


@pytest.mark.parametrize("held", ["chars", "all_characters", "letters"])
def test_a_vocabulary_of_characters_is_small(checkout: Build, held: str) -> None:
    program = f"{NET}text = open('input.txt').read()\n{held} = sorted(list(set(text)))\nvocab_size = len({held})\nnet = Net(vocab_size).cuda()\n{STEP}"
    analysis = analyze(checkout({"train.py": program}))
    assert value(analysis, "media.own_parameters") == str(128 * 64 * 2 + 128)


def test_a_vocabulary_that_the_program_says_stands(checkout: Build) -> None:
    analysis = analyze(checkout({"train.py": f"{NET}vocab_size = 500\nnet = Net(vocab_size).cuda()\n{STEP}"}))
    assert value(analysis, "media.own_parameters") == str(500 * 64 * 2 + 500)


def test_sizes_of_other_things_stay_unknown(checkout: Build) -> None:
    program = f"{NET}from mine import read\nclasses = read()\nnet = Net(len(classes)).cuda()\n{STEP}".replace(
        "vocab_size", "count"
    )
    assert value(analyze(checkout({"train.py": program})), "media.own_parameters") in {"", "0"}


def test_what_a_star_imports_has_the_values_of_its_module(checkout: Build) -> None:
    files = {
        "conf.py": "width = 96\n",
        "data.py": "from conf import *\nvocab_size = 1000\n",
        "train.py": f"from data import *\n{NET}net = Net(vocab_size, width).cuda()\n{STEP}",
    }
    assert value(analyze(checkout(files)), "media.own_parameters") == str(1000 * 96 * 2 + 1000)


def test_stars_that_import_each_other_come_to_an_end(checkout: Build) -> None:
    files = {"one.py": "from two import *\n", "two.py": "from one import *\n"}
    files["train.py"] = f"from one import *\n{NET}net = Net(700, missing).cuda()\n{STEP}"
    assert analyze(checkout(files)).spec.hardware.gpu_count == 1


def test_a_network_without_forward_is_run_by_its_methods(checkout: Build) -> None:
    program = """import torch
from torch import nn

class Translator(nn.Module):
    def __init__(self, vocab_size, width=64):
        super().__init__()
        self.source = nn.Embedding(vocab_size, width)
        self.target = nn.Embedding(vocab_size, width)
        self.head = nn.Linear(width, vocab_size)

    def encode(self, src):
        return self.source(src)

    def decode(self, encoder_output, tgt):
        return self.target(tgt) + encoder_output

    def project(self, x):
        return self.head(x)

batch_size = 8
net = Translator(2000).cuda()
opt = torch.optim.Adam(net.parameters())
loss = net.project(net.decode(net.encode(x), y)).mean()
loss.backward()
"""
    analysis = analyze(checkout({"train.py": program}))
    assert int(value(analysis, "media.own_outputs")) >= 64 + 64 + 2000
    assert value(analysis, "media.own_sequence") == "yes"


def test_sentences_padded_to_the_longest_of_a_batch_are_short(checkout: Build) -> None:
    program = f"{NET}batch_size = 128\nnet = Net(8000).cuda()\n{STEP}"
    padded = f"from torchtext.data import BucketIterator\n{program}batches = BucketIterator.splits(data, batch_size=batch_size)\n"
    long, short = (analyze(checkout({"train.py": text})).breakdown for text in (program, padded))
    assert long is not None
    assert short is not None
    of = {t.name: t.gib for t in short.terms}, {t.name: t.gib for t in long.terms}
    assert of[0]["activations"] < 0.35 * of[1]["activations"]


BERT = """import tensorflow as tf

class BertConfig(object):
    def __init__(self, vocab_size, hidden_size=768, num_hidden_layers=12, num_attention_heads=12):
        self.hidden_size = hidden_size

class BertModel(object):
    def __init__(self, config, ids):
        self.table = tf.get_variable("word", [config.vocab_size, config.hidden_size])
"""


def test_a_forked_bert_has_no_logits_and_keeps_what_its_graph_computes(checkout: Build) -> None:
    program = (
        "import tensorflow as tf\nimport modeling\nflags = tf.flags\nflags.DEFINE_integer('train_batch_size', 32, '')\n"
        "flags.DEFINE_integer('max_seq_length', 128, '')\nmodel = modeling.BertModel(config=modeling.BertConfig.from_json_file(path), ids=ids)\n"
        "optimizer = tf.train.AdamOptimizer(1e-5)\ntrain_op = optimizer.minimize(loss)\n"
    )
    analysis = analyze(
        checkout({"run_ner.py": program, "modeling.py": BERT, "requirements.txt": "tensorflow-gpu==1.13\n"})
    )
    assert analysis.breakdown is not None
    terms = {term.name: term.gib for term in analysis.breakdown.terms}
    assert "logits" not in terms
    # The largest batch for 12 GB by BERT's README; about what is left of them by weights, Adam and context.
    assert 4 < terms["activations"] < 9


def test_a_librarys_defaults_are_not_the_shape_of_the_weights_that_are_loaded(checkout: Build) -> None:
    files = {
        "train.py": "import torch\nfrom model.modeling_albert import AlbertForLabels\nnet = AlbertForLabels.from_pretrained(config['dir']).cuda()\n"
        "opt = torch.optim.AdamW(net.parameters())\nloss.backward()\n",
        "model/modeling_albert.py": "from torch import nn\nfrom model.configuration_albert import AlbertConfig\nclass AlbertForLabels(nn.Module):\n    pass\n",
        "model/configuration_albert.py": "class AlbertConfig:\n    def __init__(self, vocab_size_or_config_json_file=30000, hidden_size=4096, num_hidden_layers=12):\n        pass\n",
    }
    analysis = analyze(checkout(files))
    assert analysis.breakdown is not None
    assert analysis.breakdown.expected_gib < 6


LAYERS = """import torch
from torch import nn

class Block(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.up = nn.Linear(width, width)

    def forward(self, x):
        return self.up(x)

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.table = nn.Embedding(1000, 64)
        self.layers = nn.ModuleDict()
        for place in range(4):
            self.layers[{key}] = Block(64)

    def forward(self, tokens):
        x = self.table(tokens)
        for layer in self.layers.values():
            x = layer(x)
        return x

net = Net().cuda()
"""


@pytest.mark.parametrize(("key", "layers"), [("str(place)", 4), ("f'{place}'", 4), ("str(0)", 1)])
def test_layers_under_numbers_that_are_spelled_are_each_one(checkout: Build, key: str, layers: int) -> None:
    analysis = analyze(checkout({"train.py": LAYERS.replace("{key}", key) + STEP}))
    assert value(analysis, "media.own_parameters") == str(1000 * 64 + layers * (64 * 64 + 64))


TABLE = """import torch
from torch import nn

class Positions(nn.Module):
    def __init__(self, width, most=5000):
        super().__init__()
        self.register_buffer("table", torch.zeros(most, width))

    def forward(self, x):
        return x + {part}

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(1000, 64)
        self.positions = Positions(64)
        self.head = nn.Linear(64, 1000)

    def forward(self, tokens):
        return self.head(self.positions(self.embed(tokens)))

net = Net().cuda()
"""


def test_a_table_of_positions_is_cut_to_those_of_the_text(checkout: Build) -> None:
    """A side of a tensor is where the slice ends: the text is not as long as the table."""

    def kept(part: str) -> int:
        return int(value(analyze(checkout({"train.py": TABLE.replace("{part}", part) + STEP})), "media.own_outputs"))

    cut = kept("self.table[:x.shape[1]]")
    assert cut == kept("self.table[:x.size(1)]")
    assert cut < 5000


def test_a_shape_is_of_one_class(checkout: Build) -> None:
    """Blocks that are handed a width by its name do not hide the one beside the layers."""
    model = "import torch\nfrom dataclasses import dataclass\n@dataclass\nclass Args:\n    dim: int = 1024\n    n_layers: int = 16\n    n_heads: int = 16\n    vocab_size: int = 32000\n"
    model += (
        "class Block(torch.nn.Module):\n    def __init__(self, args: Args):\n        self.norm = Norm(dim=args.dim)\n"
    )
    program = (
        "import torch\nfrom model import Args, Block\nnet = build(Args()).cuda()\nloss.backward()\noptimizer.step()\n"
    )
    analysis = analyze(checkout({"train.py": program, "model.py": model}))
    assert value(analysis, "model.hidden_size") == "1024"
    assert value(analysis, "model.layers") == "16"


def test_a_network_of_a_few_thousand_parameters_is_answered(checkout: Build) -> None:
    program = (
        "import torch\nfrom lab import Block\n\ndef test_block():\n    config = {'vocab_size': 257, 'emb_dim': 32, 'n_heads': 4, 'n_layers': 2}\n"
        "    Block(config).cuda().generate()\n\nif __name__ == '__main__':\n    test_block()\n"
    )
    answer = analyze(checkout({"demo.py": program, "requirements.txt": "torch\n"}))

    assert answer.breakdown is not None
    assert 0 < answer.breakdown.expected_gib < 2


def test_no_encoder_reads_a_million_tokens(checkout: Build) -> None:
    program = (
        "from sentence_transformers import CrossEncoder\n"
        "model = CrossEncoder('BAAI/bge-reranker-large', max_length=1_000_001)\nmodel.cuda().predict([('a', 'b')] * 32, batch_size=32)\n"
    )
    answer = analyze(checkout({"serve.py": program, "requirements.txt": "sentence-transformers\n"}))

    assert (answer.spec.hardware.vram_required_gb or 0) <= 24


@pytest.mark.parametrize(
    ("numbers", "words"),
    [
        ("{ch: i for i, ch in enumerate(unique)}", 128),
        ("{ c:i for i,c in enumerate(unique) }", 128),
        ("{word: i for i, word in enumerate(unique)}", WORDS),
    ],
)
def test_who_numbers_the_characters_of_a_text_knows_no_more(checkout: Build, numbers: str, words: int) -> None:
    data = f"class Texts:\n    def __init__(self, text):\n        unique = sorted(list(set(text)))\n        self.stoi = {numbers}\n        self.vocab_size = len(unique)\n"
    program = (
        f"{NET}from data import Texts\ndata = Texts(open('a.txt').read())\nnet = Net(data.vocab_size).cuda()\n{STEP}"
    )
    analysis = analyze(checkout({"train.py": program, "data.py": data}))
    assert value(analysis, "media.own_parameters") == str(words * 64 * 2 + words)
