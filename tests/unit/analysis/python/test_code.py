from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpu_lol_action.analysis.python.code import ParseBudget, PythonCode, read_python
from gpu_lol_action.analysis.python.scan import MANY_NAMES


def resolved(program: str, call: str, keyword: str) -> str | None:
    code = read_python(program)
    found = next(item for item in code.calls if item.last == call)
    return code.resolve(found.keyword(keyword))


@pytest.mark.parametrize(
    ("program", "value"),
    [
        ("f(x=4 * 1024)", "4096"),
        ("f(x=2**20)", "1048576"),
        ("f(x=1e-4)", "0.0001"),
        ("N = 12 * 8\nf(x=N)", "96"),
        ("p.add_argument('--batch-size', default=16)\nf(x=args.batch_size)", "16"),
        ("p.add_argument('-b', '--bs', dest='size', default=3)\nf(x=args.size)", "3"),
        ("p.add_argument('--fast', action='store_true')\nf(x=args.fast)", "False"),
        ("class C:\n  model: str = 'a/b'\nf(x=config.model)", "a/b"),
        ("class C:\n  size: int = field(default=7)\nf(x=c.size)", "7"),
        ("def main(model='a/b'):\n  f(x=model)", "a/b"),
        ("def main(*, model='a/b'):\n  f(x=model)", "a/b"),
        ("f(x=os.environ.get('M', 'a/b'))", "a/b"),
        ("f(x=int(os.getenv('N', '5')))", "5"),
        ("M = os.path.expandvars(os.path.expanduser(os.getenv('M', 'a/b')))\nf(x=M)", "a/b"),
        ("f(x=torch.bfloat16)", "torch.bfloat16"),
        ("f(x=['q', 'v'])", "q,v"),
        ("CONFIG = {'lr': 1e-3, 'batch': 4}\nf(x=batch)", "4"),
        ("flags.DEFINE_integer('n', 9, '')\nf(x=FLAGS.n)", "9"),
        ("f(x=9 ** 99 ** 99)", None),
        ("f(x=unknown)", None),
        ("f(x=10 // 0)", None),
    ],
)
def test_values_are_followed_to_what_a_program_starts_with(program: str, value: str | None) -> None:
    assert resolved(program, "f", "x") == value


def test_imports_know_whether_they_always_run() -> None:
    program = "import torch\ntry:\n  import vllm\nexcept ImportError:\n  pass\ndef f():\n  import jax\n"
    found = {item.module: item.is_optional for item in read_python(program).imports}
    assert found == {"torch": False, "vllm": True, "jax": True}


def test_the_main_guard_is_no_condition() -> None:
    code = read_python("if __name__ == '__main__':\n  import torch\n")
    assert code.has_main
    assert not code.imports[0].is_optional


def test_strings_that_look_like_code_are_none() -> None:
    assert read_python("x = 'import torch; model.from_pretrained(\"a/b\")'").calls == ()


@given(st.text(max_size=300))
def test_any_text_is_read(text: str) -> None:
    assert isinstance(read_python(text), PythonCode)


def product(depth: int) -> str:
    return "1" + "0" * 14 if depth == 0 else f"({product(depth - 1)}*{product(depth - 1)})"


@pytest.mark.parametrize(
    "expression",
    ["0x" + "f" * 5000, "-0x" + "f" * 5000, f"{product(6)}/3", f"{product(6)}+1.5", product(9), f"{product(6)}-1e14"],
)
def test_numbers_that_python_would_not_write_out_or_divide_are_no_values(expression: str) -> None:
    assert resolved(f"f(x={expression})", "f", "x") is None


NAMES = ("fit", "generate", "*Trainer")


@pytest.mark.parametrize(
    ("program", "lines"),
    [
        ("model.fit(1)", [1]),
        ("x = [\n  model.fit (1),\n  model.fit \\\n  (2)]", [2, 3]),
        ("(model.fit)(1)", [1]),
        ("(model.fit  # now\n)(1)", [1]),
        ("models.fit[0](1)", [1]),
        ("SFTTrainer(model)\nTrainers(model)", [1]),
        ("refit(1)\nfits(1)\nfit_all(1)\nfit.one(1)", []),
        ("from trl import SFTTrainer\nclass Mine(SFTTrainer):\n  def fit(self): pass\n  run = fit", []),
        ("'''fit(1)'''  # generate(1)\ndef generate(): pass", []),
        ("b.generate(1); a.fit(generate(2))\nfit(3)", [1, 1, 1, 2]),
        ("x=-fit(1)\ny={2:~fit\t\f(3)}\n@fit(4)\ndef f(): pass", [1, 2, 3]),
        ("(\n  fit\n  # one\n  # two\n  (1))", [2]),
        ('f("""a [""", *fit(1))', [1]),
    ],
)
def test_calls_by_name_are_found_with_and_without_a_tree(program: str, lines: list[int]) -> None:
    fresh, parsed = read_python(program), read_python(program)
    said = [call for call in parsed.calls if call.last in NAMES or call.last.endswith("Trainer")]
    assert list(fresh.calls_named(*NAMES)) == list(parsed.calls_named(*NAMES)) == said
    # Many names are looked for in another way.
    assert list(read_python(program).calls_named(*NAMES, *(f"other_{n}" for n in range(MANY_NAMES)))) == said
    assert [call.line for call in said] == lines


def test_a_program_that_only_mentions_names_is_not_parsed() -> None:
    budget = ParseBudget(1000)
    code = PythonCode("from trl import SFTTrainer\n\n\ndef generate(trainer: SFTTrainer): return trainer\n", (), budget)
    assert code.calls_named(*NAMES) == ()
    assert budget.taken_bytes == 0


def test_an_option_is_the_default_before_an_assignment_of_the_same_name() -> None:
    code = read_python("size = 1\np.add_argument('--size', default=2)\nsize = 3\np.add_argument('--size', default=4)")
    found = code.default("size")
    assert found is not None
    assert (found.text, found.line, code.default("other")) == ("2", 2, None)


@pytest.mark.parametrize(
    ("program", "has_main"),
    [
        ("if type(x).__name__ == 'X':\n  pass\n", False),
        ("if x . __name__ == '__main__':\n  pass\n", False),
        ("if my__name__ == '__main__':\n  pass\n", False),
        ("if type(x).__name__ == 'X':\n  pass\nif __name__ == '__main__':\n  pass\n", True),
    ],
)
def test_a_name_of_something_else_is_no_main_guard_and_needs_no_tree(program: str, has_main: bool) -> None:
    budget = ParseBudget(1000)
    code = PythonCode(program, (), budget)
    assert code.has_main is has_main
    assert budget.taken_bytes == 0
    assert read_python(program).has_main is has_main
