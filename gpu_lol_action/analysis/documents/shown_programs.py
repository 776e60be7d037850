"""The program that a README shows in its text: what a repository is used for that publishes weights or a library alone.

Where no command and no program is nearer to the root, the first block of Python code of the root's README that trains or runs
a model is the run. It is read like any other program; its lines keep their numbers, so that evidence points into the README.
"""

from __future__ import annotations

from gpu_lol_action.analysis.files.checkout import Checkout, Source
from gpu_lol_action.analysis.files.effort import remembered
from gpu_lol_action.analysis.formats.gpu_libraries import GPU_MODULES
from gpu_lol_action.analysis.formats.paths import Form, Role
from gpu_lol_action.analysis.formats.texts import is_fence, without_remarks
from gpu_lol_action.analysis.programs.behavior import NO_NETWORK, Behavior, behavior_of
from gpu_lol_action.analysis.programs.import_graph import import_closure, targets_of
from gpu_lol_action.analysis.python.code import Call, read_python
from gpu_lol_action.domain.patterns import regex

MAX_BLOCKS = 12
_FENCE = regex(r"^\s*(?:```|~~~)\s*\{?\.?([\w+-]*)")
_TO_FILL_IN = regex(r"([(\[,=] ?)<[A-Za-z][\w .-]{0,60}>(?=[)\],\s]|$)")
_PUTS_BACK = ("push_to_hub", "save_to_disk", "to_parquet", "to_json")
# First words of methods by which a package's own model is asked.
_ASKS = frozenset({
    "generate", "predict", "infer", "inference", "transcribe", "synthesize", "translate", "caption", "restore", "upscale", "inpaint",
    "segment", "enhance", "separate", "recognize", "describe", "classify", "score", "chat", "answer", "tts", "summarize", "txt2img",
    "text2img", "img2img", "compress", "rerank", "embed", "denoise", "detect",
})  # fmt: skip
# A card that what is shown is put on.
_ON_A_CARD = regex(r"[\"']cuda|\.cuda\(")
_MOVES = frozenset({"to", "cuda", "half", "eval", "train", "load_state_dict", "append", "save", "format", "join", "add_argument", "parse_args", "open"})  # fmt: skip
_MODULES = frozenset(
    {"np", "torch", "os", "plt", "cv2", "nn", "pd", "tf", "jnp", "F", "json", "Image", "sys", "random"}
)
# `model = mine.Model(…)`, `model = compiled(Model(…))`
_MADE = regex(r"(?m)^\s{0,8}(\w{1,40}) = (?:\w{1,40}\((?=\w{1,40}\())?([\w.]{1,120})\(")
_PYTHON = frozenset({"python", "py", "python3", "pycon", "ipython"})


@remembered
def shown_program(checkout: Checkout) -> Source | None:
    """Return the first program of the root's README that trains or infers, as a source of its own; None without one."""
    documents = checkout.of(Form.MARKDOWN, roles=(Role.DOCUMENTATION,))
    readme = next((s for s in documents if s.depth == 0 and s.name.startswith("readme.")), None)
    if readme is None or not readme.mentions("import "):
        return None
    lines = readme.text.split("\n")
    lines = [line for _, line in without_remarks(enumerate(lines))] if "<!--" in readme.text else lines
    before: list[range] = []
    for block in _python_blocks(lines)[:MAX_BLOCKS]:
        # What a block imports, a later one uses.
        inset = {index: _inset(lines[each.start - 1]) for each in (*before, block) for index in each}
        text = "\n".join(_bare(line, inset[index]) if index in inset else "" for index, line in enumerate(lines))
        code = read_python(text)
        program = Source(readme.path, Form.PYTHON, Role.WORKLOAD, text, code, readme.effort)
        if shown_behavior(checkout, program)[0] is not Behavior.NEITHER and not _prepares(program):
            return program
        if not code.is_broken:  # what a program printed, or a command, is no code that a later block goes on from
            before.append(block)
    return None


def _prepares(program: Source) -> bool:
    """Whether what is shown works through a data set and puts it back: what is trained with it comes later."""
    code = program.code
    if code is None or not code.calls_named("load_dataset") or not code.calls_named(*_PUTS_BACK):
        return False
    return not code.calls_named("generate", "train", "fit", "backward")


@remembered
def shown_behavior(checkout: Checkout, program: Source) -> tuple[Behavior, Call | None]:
    """Return what a shown program does, and the call that says so; what it takes from the checkout's own package may use a GPU."""
    if program.code is None:
        return Behavior.NEITHER, None
    uses_gpu = any(
        source.code is not None and source.code.imported() & GPU_MODULES for source in import_closure(checkout, program)
    )
    behavior, call = behavior_of(program.code, uses_gpu=uses_gpu)
    if uses_gpu and behavior is not Behavior.TRAINS and (fitted := _fitted(checkout, program)) is not None:
        return Behavior.TRAINS, fitted
    if behavior is not Behavior.NEITHER or not uses_gpu:
        return behavior, call
    asked = next((call for call in program.code.calls if _asks_by_name(call)), None)
    if asked is None and _ON_A_CARD.search(program.text) is not None:
        asked = next((call for call in program.code.calls if _is_handed_work(program, call)), None)
    return (Behavior.INFERS, asked) if asked is not None else (behavior, call)


def _fitted(checkout: Checkout, program: Source) -> Call | None:
    """Return the call that fits what the program made of the checkout's own package (``model.fit(rows)``): nobody shows a model as trained for it."""
    if program.code is None or not program.mentions(".fit"):
        return None
    own = [item for item in program.code.imports if targets_of(checkout, program, item)]
    tops = {item.module.partition(".")[0] for item in own} | {name for item in own for name in item.names}
    fits = [call for call in program.code.calls_named("fit", "fit_online", "fit_offline") if call.name.count(".") == 1]
    made = _MADE.findall(program.text) if fits else []
    owners = {name: maker for name, maker in made if maker.partition(".")[0] in tops}
    return next((call for call in fits if _learns(call, owners.get(call.name.partition(".")[0], ""))), None)


def _learns(call: Call, maker: str) -> bool:
    """Whether a model of the package is fitted for longer than scikit-learn's are: a classifier's plain ``fit(x, y)`` may only hand its examples on."""
    if any(NO_NETWORK.search(name.rpartition(".")[2].lower()) for name in (maker, call.name.rpartition(".")[0])):
        return False  # an index, a scaler or a tokenizer takes its examples in, and trains nothing
    return bool(maker) and (not maker.endswith(("Classifier", "Regressor")) or bool(call.keywords))


def _asks_by_name(call: Call) -> bool:
    """Whether an object of the checkout's own package is asked for what a trained model does (``model.generate_text2img(…)``)."""
    return "." in call.name and call.last.partition("_")[0] in _ASKS and bool(call.arguments or call.keywords)


def _is_handed_work(program: Source, call: Call) -> bool:
    """Whether a call gives something to an object that the program made (``judge.main(folder)``), and not to a library's module."""
    owner, _, method = call.name.rpartition(".")
    imported = program.code.imported() if program.code is not None else frozenset()
    is_object = bool(owner) and "." not in owner and owner not in imported and owner not in _MODULES
    return is_object and method not in _MOVES and bool(call.arguments or call.keywords)


def is_shown(source: Source | None) -> bool:
    """Whether a program is one that a document shows, and no file of its own."""
    return source is not None and source.form is Form.PYTHON and source.name.startswith("readme.")


def _python_blocks(lines: list[str]) -> list[range]:
    """Return the fenced blocks of Python code as ranges of line indexes."""
    blocks: list[range] = []
    start: int | None = None
    is_python = False
    for index, line in enumerate(lines):
        found = _FENCE.match(line)
        if found is None or not is_fence(line, is_code=start is not None):
            continue
        if start is None:
            start, is_python = index + 1, found[1].lower() in _PYTHON
        else:
            if is_python:
                blocks.append(range(start, index))
            start = None
    return blocks


def _inset(fence: str) -> int:
    """Return how many blanks a fence stands from the margin: so do the lines of a block in an item of a list."""
    return len(fence) - len(fence.lstrip(" "))


def _bare(line: str, inset: int) -> str:
    """Return a line of code without the list's indent and a prompt, places to fill in as names (``set_image(<your_image>)``)."""
    own = line[min(inset, _inset(line)) :].removeprefix(">>> ").removeprefix("... ")
    return _TO_FILL_IN.sub(r"\1to_fill_in", own) if "<" in own else own
