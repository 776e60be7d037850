"""Looks at a program's text that stand for its syntax tree: they may say "perhaps" too often, and never "no" where the tree says yes."""

from __future__ import annotations

import codecs
import random
import re

import pytest

from gpu_lol_action.analysis.formats.texts import import_lines, may_define, may_give, text_of
from gpu_lol_action.analysis.networks.programs import _outline_of
from gpu_lol_action.analysis.python.code import PythonCode

GIVES = [
    "learning_rate = 1e-4\n",
    "learning_rate: float = 1e-4\n",
    "cfg.learning_rate = 1e-4\n",
    'cfg["learning_rate"] = 1e-4\n',
    "cfg = {'learning_rate': 1e-4}\n",
    "def train(learning_rate=1e-4):\n    pass\n",
    "def train(*, learning_rate: float\n          = 1e-4):\n    pass\n",
    "(learning_rate) = 1e-4\n",
    "learning_rate \\\n  = 1e-4\n",
    'parser.add_argument("--learning-rate", default=1e-4)\n',
    'parser.add_argument("--learning_rate", "-l", default=1e-4)\n',
    'parser.add_argument("-l", dest="learning_rate", default=1e-4)\n',
    '@click.option("--learning-rate/--no-learning-rate", default=True)\ndef main():\n    pass\n',
    "flags.DEFINE_float('learning_rate', 1e-4, 'help')\n",
    "a = learning_rate = 1e-4\n",
]


@pytest.mark.parametrize("text", GIVES)
def test_whatever_the_tree_reads_a_default_from_may_give_it(text: str) -> None:
    assert any(default.name == "learning_rate" for default in PythonCode(text).defaults)
    for content in (
        text,
        text.encode(),
        codecs.BOM_UTF8 + text.encode(),
        text.encode("utf-16"),
        text.replace("\n", "\r\n").encode(),
    ):
        assert may_give(content, "learning_rate")
        asked = PythonCode(content).default("learning_rate")
        assert asked is not None
        assert asked.text in ("0.0001", "True")


@pytest.mark.parametrize(
    "text",
    [
        "rate = learning_rates\n",
        "if learning_rate == 3:\n    pass\n",
        "my_learning_rate = 3\n",
        "print(learning_rate)\n",
        "",
    ],
)
def test_a_name_that_is_only_used_is_given_nothing(text: str) -> None:
    assert not may_give(text, "learning_rate")
    assert not may_give(text.encode(), "learning_rate")
    assert PythonCode(text).default("learning_rate") is None


@pytest.mark.parametrize(
    ("text", "default"),
    [
        ("logger = logging.getLogger(__name__)\n", None),
        ("logger = get_logger(__name__, level='INFO')", None),
        ("self.logger = loggers[0].of(name).made(here)\n", None),
        ('logger = os.environ.get("LOGGER", "none")\n', "none"),
        ('logger = str("none")\n', "none"),
        ('logger = open_it(), "none"\n', "none"),
        ('def main(\n    logger=str("none")\n):\n    pass\n', "none"),
        ('logger = get_logger(__name__) or "none"\n', "none"),
        ('def main(logger="wandb"):\n    logger = logging.get_logger()\n', "wandb"),
        ('logger: str = "wandb"\n', "wandb"),
    ],
)
def test_what_only_a_call_tells_is_given_nothing(text: str, default: str | None) -> None:
    for content in (text, text.encode(), text.replace("\n", "\r\n").encode()):
        asked = PythonCode(content).default("logger")
        assert (asked.text if asked is not None else None) == default
        assert may_give(content, "logger") is (default is not None)


@pytest.mark.parametrize(
    "text",
    [
        'parser.add_argument("--learning" "-rate", default=1e-4)\n',
        'parser.add_argument("--learning\\x2drate", default=1e-4)\n',
    ],
)
def test_a_name_from_pieces_is_missed_and_nothing_else_takes_its_place(text: str) -> None:
    """The one miss: the answer is "nothing is said", as for a program that reads the value from elsewhere; never another value."""
    asked = PythonCode(text + 'parser.add_argument("--warmup", default=7)\n')
    assert asked.default("learning_rate") is None
    warmup = asked.default("warmup")
    assert warmup is not None
    assert warmup.text == "7"


@pytest.mark.parametrize(
    ("text", "is_defined"),
    [
        ("class Net:\n    pass\n", True),
        ("class Net(nn.Module):\n    pass\n", True),
        ("async def Net():\n    pass\n", True),
        ("def  \\\n   Net():\n    pass\n", True),
        ("def" + " " * 200 + "Net():\n    pass\n", True),
        ("if fast:\n    class Net:\n        pass\n", True),
        ("x = 1; class_ = 2\nclass\tNet: pass\n", True),
        ("class Network:\n    pass\n", False),
        ("class MyNet:\n    pass\n", False),
        ("net = Net()\nmodels.Net(3)\n", False),
        ("subclass Net\n", False),
        ("", False),
    ],
)
def test_a_definition_is_seen_before_the_program_is_parsed(text: str, is_defined: bool) -> None:
    for content in (text, text.encode()):
        assert may_define(content, "Net") is is_defined
    if is_defined:
        outline = _outline_of(text, lambda _: False)
        assert "Net" in outline.classes or "Net" in outline.functions


def test_what_only_decoding_would_tell_may_be_defined() -> None:
    assert may_define("class Net: pass".encode("utf-16"), "Net")
    assert may_define(b"class Netz\xc3\xa9: pass", "Netzé")
    assert may_define("class Netzé: pass", "Netzé")
    assert not may_define("class Netzé: pass", "Net")


def test_looks_agree_with_the_tree_on_programs_at_random() -> None:
    """Texts of the pieces that matter, begun as a definition or an assignment is; many are no programs."""
    draw = random.Random(0)  # noqa: S311  no secret is drawn
    pieces = ["class ", "def ", "Net", "lr", "_", "é", "()", "(", ")", ":", "=", "==", "\n", "\\\n", "    ", "pass", "'", "--", "/", "1",
              " ", "if x:", "{", "}", ",", "#", " " * 50]  # fmt: skip
    defined = given = 0
    for _ in range(3000):
        start = draw.choice(["class Net", "def Net():", "lr=1", "lr :", "x", "if x: class Net"])
        text = start + "".join(draw.choice(pieces) for _ in range(draw.randint(1, 6)))
        outline = _outline_of(text, lambda _: False)
        if "Net" in outline.classes or "Net" in outline.functions:
            defined += 1
            assert may_define(text, "Net"), text
            assert may_define(text.encode(), "Net"), text
        if any(default.name == "lr" for default in PythonCode(text).defaults):
            given += 1
            assert may_give(text, "lr"), text
            assert may_give(text.encode(), "lr"), text
        if re.search(r"\b(?:class|def)[\s\\]+Net\b", text):
            assert may_define(text, "Net"), text
    assert defined > 50
    assert given > 20


def test_bytes_are_looked_into_as_their_text_is() -> None:
    text = "x = 'é'\nclass Net:\n    lr = 3\n"
    for content in (text.encode(), text.encode("latin-1")):
        assert may_define(content, "Net") is may_define(text_of(content), "Net")
        assert may_give(content, "lr") is may_give(text_of(content), "lr")


def test_lines_of_imports_hold_every_module_that_is_imported() -> None:
    draw = random.Random(1)  # noqa: S311  no secret is drawn
    pieces = ["import ", "from ", "a", "b.c", ".", " as ", ", ", "(", ")", "\n", "\\\n", "    ", "if x: ", "; ", "# import ", '"""', "try:\n    ",
              "\nexcept ImportError: pass\n", "x = 1"]  # fmt: skip
    imported = short = 0
    for _ in range(4000):
        start = draw.choice(
            ["import cog", "from cog import ", "from \\\n cog import x", "x = 1\nif x: import cog", "\timport"]
        )
        text = start + "".join(draw.choice(pieces) for _ in range(draw.randint(0, 6))) + "\nx = 'cog'\n"
        if "cog" in PythonCode(text).imported():
            imported += 1
            short += "x = 'cog'" not in import_lines(text)
            assert "cog" in import_lines(text), text
    assert imported > short > 100


def test_lines_of_imports_are_not_the_rest() -> None:
    assert (
        import_lines("import os\nx = 1\nfrom a import (\n    b,\n)\ny = 2\n") == "import os\nfrom a import (\n    b,\n)"
    )
    assert import_lines("") == ""
    assert import_lines("from a import (  # not b)\n    c,\n)\n'cog'\n") == "from a import (  # not b)\n    c,\n)"
    assert "cog" in import_lines("import cog".encode("utf-16"))


def test_lines_of_imports_take_time_as_the_text_is_long() -> None:
    """A thousand open parentheses, each of whose ends would be looked for behind a hundred thousand comments."""
    text = "import (#" + ")" * 200_000 + "\n" + "import (#)\n" * 20_000
    assert import_lines(text) == text
