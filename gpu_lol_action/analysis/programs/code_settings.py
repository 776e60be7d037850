"""A program's values as settings, and which entries of its registries (tables of models and shapes) a run does not mean."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

from gpu_lol_action.analysis.files.checkout import Source
from gpu_lol_action.analysis.files.effort import remembered
from gpu_lol_action.analysis.files.setting import Setting, fold_key
from gpu_lol_action.analysis.programs.hosted_calls import MODEL_WORDS, asks_elsewhere, is_request, lines_of_services
from gpu_lol_action.analysis.python.code import PythonCode
from gpu_lol_action.analysis.python.defaults import Call, Default, Given
from gpu_lol_action.analysis.python.names import Names
from gpu_lol_action.analysis.python.values import STARRED, Value
from gpu_lol_action.analysis.python.walk import ENTRY, LEAST_ENTRIES, PAIR
from gpu_lol_action.domain.finding import Evidence
from gpu_lol_action.domain.patterns import regex

# What tells one model from another: where several functions or classes of a file set it, each is one model of many.
TELLING = frozenset({
    "n_layer", "num_layers", "num_hidden_layers", "n_layers", "num_blocks", "n_blocks", "depth", "n_embd", "hidden_size", "d_model",
    "model_dim", "embed_dim", "emb_dim", "dim", "model_name", "model", "model_id", "model_name_or_path", "model_path", "repo_id", "base_model",
    "pretrained_model_name_or_path", "arch",
})  # fmt: skip
# Functions that build something for tests: their numbers are nobody's run.
FOR_TRIALS = regex(r"(?:^|[._])(?:debug(?:_?model)?|dummy|unit_?tests?|smoke|toy)(?:$|[._])", re.IGNORECASE)
# A plot has a title, and is so many pixels wide, as a field of a page is: no picture that a network sees.
_SIDES = frozenset({"width", "height"})
_OF_A_PLOT = ("title", "xlabel", "xaxis", "xaxis_title", "legend", "win")
_DRAWS = frozenset({"update_layout", "Layout", "IFrame", "plotly_chart", "altair_chart", "set_window_size"})
_PAGES = ("gr.", "st.", "gradio.", "streamlit.")
_OVER_DATA = frozenset({"map", "map_batches"})
_LOADER = regex(r"(?:Data|_|^)[Ll]oader$")
_JUDGED = regex(r"(?:\w+\.)*_?(?:val|valid|validation|test|eval|dev|cv|tt|check)(?:_?(?:data_?)?(?:set|source|ds))?$")
_NUMBERS = frozenset({"dtype", "torch_dtype"})
# Parts of a pipeline that are kept at 32 bit beside weights at 16: what they are given is not what the whole computes in.
_PART = regex(r"(?:^|\.)(?:Autoencoder\w{0,30}|\w{0,20}VAE|CLIPVision\w{0,30})\.from_\w{1,20}$")
_LIKE_TORCH = frozenset({"torch", "torch_geometric", "monai", "dgl", "torchdata"})
_SPLITS = regex(r"(?i)tokeni[sz]er|sentence_?piece|\bbpe")
_NO_SETTINGS = frozenset({"add_argument", "add_option", "field", "Field", "option", "Option", "Argument"})


@remembered
def code_settings(source: Source) -> tuple[Setting, ...]:
    """Return a program's settings: arguments of constructors first, then options' defaults, then the rest."""
    code = source.code
    if code is None:
        return ()
    arguments = _arguments(source)
    typed = [s for s in arguments if s.path[:1].isupper()]
    other = [s for s in arguments if not s.path[:1].isupper()]
    options = [_default(source, item, item.text) for item in code.defaults if item.is_option]
    on_cpu = {d.owner for d in code.defaults if d.is_parameter and d.name == "device" and d.text == "cpu"}
    starts = [d for d in code.defaults if not (d.is_parameter and d.name in _NUMBERS and d.owner in on_cpu)]
    plain = [_default(source, item, item.text) for item in starts if not item.is_option]
    if near := lines_of_services(source):
        plain = [s for s in plain if s.key not in MODEL_WORDS or s.evidence.line not in near]
    return (*typed, *options, *plain, *other)


def _arguments(source: Source) -> tuple[Setting, ...]:
    """Return what calls give by name."""
    return tuple(setting for setting, _ in given_by_name(source) if setting.text)


@remembered
def given_by_name(source: Source) -> tuple[tuple[Setting, Value], ...]:
    """Return what calls give by name, each with the value as it is written; without a text where this program alone does not tell it."""
    code = source.code
    if code is None:
        return ()
    found: list[tuple[Setting, Value]] = []
    parameters = {(item.owner, item.name) for item in code.defaults if item.is_parameter}
    judging = _loaders_beside_training(code)
    is_client = asks_elsewhere(source)
    placed = _placed_batches(code, judging)
    for call in code.calls:
        if call.last in _OVER_DATA or call.last in _NO_SETTINGS or FOR_TRIALS.search(call.owner):
            continue  # `dataset.map(f, batched=True, batch_size=1000)` hands rows to a function
        for key, value in (*call.keywords, *placed.get(call, ())):
            if is_client and key in MODEL_WORDS and is_request(call):
                continue
            if key == "batch_size" and call.line in judging:
                continue
            if key == "vocab_size" and _SPLITS.search(call.name) is not None:
                continue  # of a tokenizer that is learned; the network beside it may have another size
            if key in _SIDES and (
                call.last in _DRAWS or call.keyword(*_OF_A_PLOT) is not None or call.name.startswith(_PAGES)
            ):
                continue
            text = code.resolve(value, call.owner)
            if key in _NUMBERS and (_is_on_cpu(code, call) or _is_beside_the_whole(code, call, key)):
                continue  # how wide numbers are in main memory, or a picture's encoder
            if text is None and not value.is_open:
                continue
            where = Evidence(source.path, call.line)
            # `DataLoader(batch_size=batch_size)` hands on the parameter of the function that it stands in.
            is_handed = value.reference == key and (call.owner, key) in parameters
            path = f"{call.last}.{fold_key(key)}"
            found.append((Setting(fold_key(key), path, text or "", where, call.owner, is_handed), value))
    return tuple(found)


def _placed_batches(code: PythonCode, judging: frozenset[int]) -> dict[Call, Sequence[tuple[str, Value]]]:
    """Return the batches that loaders are given by their places; nothing where those that do not judge are given several."""
    calls = [*code.calls_named("DataLoader"), *(code.calls_named("batch") if "tensorflow" in code.imported() else ())]
    found = {call: given for call in calls if call.line not in judging and (given := _batch_by_place(call, code))}
    return found if len({given[0][1] for given in found.values()}) == 1 else {}


def _batch_by_place(call: Call, code: PythonCode) -> Sequence[tuple[str, Value]]:
    """Return the batch that a loader is given by its place: PyTorch's in the second one, ``batch(32)`` of a data set of TensorFlow's."""
    is_loader = call.last == "DataLoader" and _is_of_library(call, code)
    place = 1 if is_loader else 0 if call.last == "batch" and "tensorflow" in code.imported() else None
    if place is None or len(call.arguments) <= place or call.keyword("batch_size") is not None:
        return ()
    return (("batch_size", call.arguments[place]),) if STARRED not in call.arguments[: place + 1] else ()


def _is_of_library(call: Call, code: PythonCode) -> bool:
    """Whether a loader is PyTorch's, or of a library that follows it: a project's own of that name may take anything there."""
    if "." in call.name:
        return "torch" in code.imported()
    taken = [each.module.partition(".")[0] for each in code.imports if call.last in each.names]
    return bool(taken) and _LIKE_TORCH.issuperset(taken)


def _is_on_cpu(code: PythonCode, call: Call) -> bool:
    placed = call.keyword("device")
    return placed is not None and code.resolve(placed, call.owner) == "cpu"


def _is_beside_the_whole(code: PythonCode, call: Call, key: str) -> bool:
    """Whether a part of a pipeline is loaded (``AutoencoderKLWan.from_pretrained``), and the pipeline is told its own numbers."""
    if _PART.search(call.name) is None:
        return False
    loaded = code.calls_named("from_pretrained", "from_single_file")
    return any(c.keyword(key) is not None and _PART.search(c.name) is None for c in loaded)


def _loaders_beside_training(code: PythonCode) -> frozenset[int]:
    """Return the lines of loaders that validate or test, where another one feeds the training."""
    loaders = [
        call
        for call in code.calls
        if _LOADER.search(call.last) and (call.keyword("batch_size") is not None or _batch_by_place(call, code))
    ]
    judging = {
        c.line
        for c in loaders
        if any(_JUDGED.match(a.reference or "") for a in (*c.arguments[:1], c.keyword("dataset")) if a)
    }
    return frozenset(judging) if len(judging) < len({call.line for call in loaders}) else frozenset()


def _default(source: Source, item: Default | Given, text: str) -> Setting:
    key = fold_key(item.name)
    return Setting(key, key, text, Evidence(source.path, item.line), item.owner, item.is_parameter)


@remembered
def given_arguments(source: Source) -> frozenset[tuple[str, str]]:
    """Return what a program's calls give by name: the function's last word, and the argument's key."""
    calls = source.code.calls if source.code is not None else ()
    return frozenset((call.last, fold_key(key)) for call in calls for key, _ in call.keywords)


def placed_arguments(sources: Sequence[Source]) -> frozenset[tuple[str, str]]:
    """Return what programs' calls give each other's functions by place: the function's name, and its parameter's key."""
    placed: dict[str, set[tuple[str, ...]]] = {}
    for source in sources:
        for name, signature in source.code.signatures.items() if source.code is not None else ():
            placed.setdefault(name, set()).add(signature.placed)
    told = {name: next(iter(each)) for name, each in placed.items() if len(each) == 1}
    found = ((name, told[name][:many]) for source in sources for name, many in _placed(source) if name in told)
    return frozenset((name, fold_key(parameter)) for name, parameters in found for parameter in parameters)


@remembered
def _placed(source: Source) -> tuple[tuple[str, int], ...]:
    """Return how many arguments a program's calls give by place, by the function's last word."""
    found: dict[str, int] = {}
    for call in source.code.calls if source.code is not None else ():
        many = call.arguments.index(STARRED) if STARRED in call.arguments else len(call.arguments)
        if many > found.get(call.last, 0):
            found[call.last] = many
    return tuple(found.items())


def borrowed_settings(source: Source, constants: Names) -> tuple[Setting, ...]:
    """Return a program's defaults that are constants of the modules that it imports (``default=DEFAULT_MODEL``)."""
    if source.code is None:
        return ()
    own = source.code.names()
    known = Names({**constants.texts, **own.texts}, own.values, {**constants.tables, **own.tables}, own.own)
    found = ((item, known.resolve(item.value, item.owner)) for item in source.code.open_defaults)
    return tuple(_default(source, item, text) for item, text in found if text is not None)


def constants_of(sources: Iterable[Source]) -> Names:
    """Return the constants and tables of modules: names in capitals, which others import."""
    texts: dict[str, str] = {}
    tables: dict[str, Mapping[str, Value]] = {}
    for source in sources:
        if source.code is not None:
            names = source.code.names()
            for name, text in names.texts.items():
                if name.isupper():
                    texts.setdefault(name, text)
            for name, table in names.tables.items():
                if name.isupper():
                    tables.setdefault(name, table)
    return Names(texts, {}, tables, {})


@remembered
def registry_entries(source: Source) -> frozenset[str]:
    """Return the owners of settings that are entries of a registry: a run takes one of them, and the others say nothing.

    Entries of a dictionary of like dictionaries are; so are functions and classes of which three or more set a model's shape
    or name, each in its own way (``def vit_base(): return ViT(depth=12)``).
    """
    entries: set[str] = set()
    told: dict[str, dict[str, str]] = {}
    for setting in code_settings(source):
        if setting.owner.startswith(ENTRY) and not setting.owner.startswith(PAIR):
            entries.add(setting.owner)
        elif setting.owner and setting.key in TELLING:
            told.setdefault(setting.key, {}).setdefault(setting.owner, setting.text)
    for by_owner in told.values():
        if len(set(by_owner.values())) >= LEAST_ENTRIES:
            entries.update(by_owner)
    return frozenset(entries)


def bare_name(text: str) -> str:
    """Return a name as it is compared: letters and digits, small."""
    return regex(r"[^a-z0-9]").sub("", text.lower())
