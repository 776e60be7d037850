"""Whether a program gives a name a value, by a look at the places: never "no" where the tree says yes, and "no" for prose and calls."""

from __future__ import annotations

import random
from array import array

import pytest

from gpu_lol_action.analysis.python.code import PythonCode
from gpu_lol_action.analysis.python.gives import scan_gives
from gpu_lol_action.analysis.python.scan import Quoted


def gives(text: str, name: str = "model") -> bool:
    return scan_gives(text, Quoted(text, array("I")), name)


@pytest.mark.parametrize(
    "text",
    [
        '"""The model: a copy of the model\'s config, model = "a"."""\n',
        "# model = 3\nx = 1\n",
        "prefix = 'model'\n",
        'kept = {"self", "model", "args"}\n',
        'kept = config["model"]\n',
        "if 'model' in config:\n    x = 1\n",
        "if model:\n    pass\n",
        "def of(model):\n    x = 1\n",
        'def of(model: "nn.Module", **kept):\n    x = 1\n',
        "def of(\n    model: dict[str, list[int]],\n    kept: int = 3,\n):\n    pass\n",
        "for x in (a, model):  # each\n    x = 1\n",
        "part = rows[model:]\n",
        "if (model := made):\n    pass\n",
        "model = made(\n    config,  # of (all\n    ')', x[1],\n)\n",
        "model = a.b[0](c).made(d(e), f(g(h)))  # made\nx = 1\n",
        "share = model / 2\n",
    ],
)
def test_what_gives_no_value_needs_no_tree(text: str) -> None:
    assert not any(default.name == "model" for default in PythonCode(text).defaults)
    assert not gives(text)


@pytest.mark.parametrize(
    "text",
    [
        "model = 'gpt2'\n",
        "model: str = 'gpt2'\n",
        "def of(model: Literal['a', \"b=c\"] = 'gpt2'):\n    pass\n",
        "def of(\n    model: str\n    = 'gpt2',\n):\n    pass\n",
        "def of(\n    model: str |\n    None = 'gpt2',\n):\n    pass\n",
        "def of(\n    model: str  # which\n    | None = 'gpt2',\n):\n    pass\n",
        "config = {'model': 'gpt2'}\n",
        'config["model"] = "gpt2"\n',
        "(model): str = 'gpt2'\n",
        "model = str(\n    'gpt2'\n)\n",
        "model = made(config) or 'gpt2'\n",
        "model = (\n    'gpt2'\n)\n",
        'parser.add_argument(\n    "--model", default="gpt2"\n)\n',
        'DEFINE_string(\n    "model"\n    , "gpt2", "")\n',
        "@option('--model/--no-model', default=True)\ndef main():\n    pass\n",
    ],
)
def test_what_gives_a_value_is_left_to_the_tree(text: str) -> None:
    assert any(default.name == "model" for default in PythonCode(text).defaults)
    assert gives(text)


STATEMENTS = ["lr = {e}", "lr: {t} = {e}", "lr: {t}", "def f(a, lr={e}, b=2): pass", "def f(\n    a, lr: {t}={e}\n): pass", "d = {{'lr': {e}}}",
              "def f(lr: {t},  # lr\n      b: {t} = {e}): pass", "d['lr'] = {e}", "d['lr']: {t} = {e}", "if lr: x = {e}", "f(lr={e})", "x = {e}",
              "a = lr = {e}", "(lr) = {e}", "(lr): {t} = {e}", "p.add_argument('--lr', default={e})", "p.add_argument(\n  '--lr'\n)", "x.lr = {e}",
              "for lr in {e}: x = 1", "lr += {e}", "lr \\\n = {e}", "lr = \\\n {e}", "class A:\n    lr: {t} = {e}", "(\n  lr\n) = {e}"]  # fmt: skip
EXPRESSIONS = ["1", "'x'", "f(1)", "f(g(1), 'a)')", "lr", "'lr'", "{'lr': 1}", "f(1) or 2", "f(\n 1,  # (\n)", "int(1)", "int(\n 1\n)", "x.get('lr', 3)",
               "f(1)[2]", "[1, 2]", "x[lr:]", "(lambda lr: 1)", "(1)", "(f(x) if y else 3)", "f(1), 2", "'lr' 'x'", "f'lr'", "f(x).y(z)", "d['lr']",
               '"""lr"""', "f(1)  # lr = 1", "f (1) . g (2)", "('lr'\n)"]  # fmt: skip
TYPES = ["int", "Literal['a=b', \"c\"]", "dict[str, int]", "Union[\n int,\n str]", "'lr'", "A[(1, 2)]"]


def test_looks_agree_with_the_tree_on_programs_at_random() -> None:
    draw = random.Random(2)  # noqa: S311  no secret is drawn
    given = spared = 0
    for _ in range(8000):
        lines = [
            draw.choice(STATEMENTS).format(e=draw.choice(EXPRESSIONS), t=draw.choice(TYPES))
            for _ in range(draw.randint(1, 2))
        ]
        text = draw.choice(["\n", "\n\n", "  # lr: x\n", '\n"""lr: int = 3"""\n', "; y = 2\n"]).join([*lines, ""])
        code = PythonCode(text)
        if any(default.name == "lr" for default in code.defaults):
            given += 1
            assert gives(text, "lr"), text
        elif not code.is_broken:
            spared += not gives(text, "lr")
    assert given > 1000
    assert spared > 1000


def test_a_name_that_stands_everywhere_takes_no_time() -> None:
    """A look at each of ten thousand open brackets from each of ten thousand places would take minutes."""
    assert gives("model: [" * 50_000)
    assert not gives('"""' + "model: x\n" * 50_000 + '"""')
    assert gives("parser.add_argument()\n" + '"model" ' * 50_000)
