"""The shape of a transformer: layers, width, vocabulary and heads that the run builds or a config.json states."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from gpu_lol_action.analysis.documents.wordless import wordless
from gpu_lol_action.analysis.files.checkout import Checkout, Source
from gpu_lol_action.analysis.files.configuration import read_settings
from gpu_lol_action.analysis.files.setting import Setting
from gpu_lol_action.analysis.formats.paths import Form
from gpu_lol_action.analysis.models import mixture_shapes
from gpu_lol_action.analysis.models.model_loads import is_helper_place
from gpu_lol_action.analysis.networks.vocabularies import CHARACTERS, counts_letters
from gpu_lol_action.analysis.runs.entry_points import Run, import_closure
from gpu_lol_action.analysis.runs.settings import Found, Scope, look_up_number, scope_of
from gpu_lol_action.domain.finding import Confidence, Evidence, Finding
from gpu_lol_action.domain.patterns import regex

_BUILT = regex(r"\b([A-Z]\w{0,60})\([^()]{0,300}\*\*(\w{1,40})")
_LOADED = regex(r"\b(\w{1,40})\s*=\s*json\.loads?\(")
_SHAPES = {
    "model.layers": (
        ("n_layer", "num_layers", "num_hidden_layers", "n_layers", "num_blocks", "n_blocks", "depth", "layers"),
        1,
        400,
    ),
    "model.hidden_size": (
        (
            "n_embd",
            "hidden_size",
            "d_model",
            "hidden_width",
            "model_dim",
            "embed_dim",
            "emb_dim",
            "embedding_dim",
            "dim_model",
            "n_embed",
            "dim",
            "hidden_dim",
        ),
        16,
        65536,
    ),
    "model.vocabulary": (("vocab_size", "n_vocab", "padded_vocab_size"), 100, 2_000_000),
    "model.attention_heads": (("n_head", "num_attention_heads", "n_heads", "num_heads"), 1, 512),
}


# Beside layers in one call, a vocabulary: ``PaLM(num_tokens=256, dim=512, depth=8)``; elsewhere a number of words in a text.
_BESIDE = {"model.vocabulary": ("num_tokens",)}
# What only recurrent layers are told, in a section of their own; a width of `d_model` beside it is of blocks that read both ways.
_RECURRENT, _BOTH_WAYS = ("rnn_type", "cell_type"), ("bidirectional",)
_OF_BLOCKS = ("d_model",)
_GRAPHS = frozenset({"torch_geometric", "dgl", "ogb", "torch_sparse", "torch_scatter"})
# Toolboxes for pictures: layers and widths in their configurations are those of a head or an encoder among other parts.
_TOOLBOXES = frozenset({"mmcv", "mmengine", "mmdet", "mmdet3d", "mmseg", "mmpose", "mmaction", "detectron2"})


NEAR = 2
"""Folders above a config.json up to which it may be the model's that this project is about; further down lie those of parts and examples."""
DRAFT_LAYERS = "1"
"""Of a head that drafts for a language model, which is loaded beside it: its configuration says nothing of that one."""


def shape_of_config(checkout: Checkout, run: Run | None) -> Iterator[Finding]:
    """Yield the shape of a model whose config.json lies in the checkout: near its root, or below the folder of the run's program."""
    folder = run.script.folder if run is not None and run.script is not None else ""
    for source in checkout.of(Form.JSON)[:50]:
        if source.name != "config.json":
            continue
        if source.depth > NEAR and not (folder and f"{source.folder}/".startswith(f"{folder}/")):
            continue
        settings = {setting.key: setting for setting in read_settings(source)}
        if not {"hidden_size", "num_hidden_layers"} <= settings.keys():
            continue
        if settings["num_hidden_layers"].text == DRAFT_LAYERS:
            continue
        for field, (keys, _, _) in _SHAPES.items():
            setting = next((settings[key] for key in keys if key in settings), None)
            if setting is not None:
                yield Finding(
                    field, setting.text, f"`{setting.key}` in config.json", Confidence.MEDIUM, setting.evidence
                )
        return


def shape_of_run(checkout: Checkout, run: Run | None) -> list[Finding]:
    """Return layers, width and vocabulary that the run builds a transformer with.

    Layers and width have to stand together, in what the run starts with or in one file: those of two files are two models'.
    """
    reached = import_closure(checkout, run.script) if run is not None and run.script is not None else ()
    is_of_parts = bool(reached and reached[0].code and reached[0].code.imported() & _TOOLBOXES)
    of_graphs = [source for source in reached if source.code is not None and source.code.imported() & _GRAPHS]
    if of_graphs and of_graphs[0] is reached[0]:
        return []  # layers of a network of graphs
    scope = scope_of(checkout, run)
    for part in _places(scope, run):
        found = [finding for finding in _dimensions(part) if not _is_of_an_mlp(finding)]
        if {"model.layers", "model.hidden_size"} <= {finding.field for finding in found}:
            if _is_of_a_checkpoint(reached, part):
                return []
            if _is_of_an_eye(checkout, part):
                continue
            known = {finding.field for finding in found}
            found += [finding for finding in _dimensions(scope) if finding.field not in known]
            found += mixture_shapes.detect(part, next(finding for finding in found if finding.field == "model.layers"))
            fields = {finding.field for finding in found}
            if is_of_parts and ("model.vocabulary" not in fields or _is_of_two_parts(part)):
                return []
            is_told = bool({"model.vocabulary", "model.attention_heads"} & fields)
            # A transformer over graphs says how many heads it has; what else a module of graphs builds passes messages.
            found += wordless(checkout, reached, found[0].evidence) if "model.vocabulary" not in fields else []
            return _of_letters(reached, found) if is_told or not of_graphs else []
    return []


def _of_letters(reached: Sequence[Source], found: list[Finding]) -> list[Finding]:
    """Return the shape with a vocabulary of characters where the run's data numbers these: what a class starts with is then replaced."""
    counting = next((source for source in reached if counts_letters(source)), None)
    if counting is None:
        return found
    why, where = "the program numbers the characters of its text", Evidence(counting.path)
    return [
        replace(each, value=str(CHARACTERS), why=why, evidence=where)
        if each.field == "model.vocabulary" and each.confidence is not Confidence.HIGH
        else each
        for each in found
    ]


def _is_of_a_checkpoint(reached: Sequence[Source], part: Scope) -> bool:
    """Whether the class whose fields begin with this shape is built with what a file beside the weights says (``ModelArgs(**json.load(f))``)."""
    keys, low, high = _SHAPES["model.layers"]
    layers = look_up_number(part, keys, low, high)
    owner = layers.setting.owner if layers is not None else ""
    if layers is None or layers.confidence is Confidence.HIGH or not owner.isidentifier():
        return False
    for source in reached:
        if owner not in source.text or "json.load" not in source.text:
            continue
        handed = {found[2] for found in _BUILT.finditer(source.text) if found[1] == owner}
        if handed & set(_LOADED.findall(source.text)):
            return True
    return False


def _is_of_an_eye(checkout: Checkout, part: Scope) -> bool:
    """Whether a configuration of a language model that sees says this shape of the tower for its pictures (``CONFIG_MAPPING["clip_vision_model"]``)."""
    keys, low, high = _SHAPES["model.layers"]
    layers = look_up_number(part, keys, low, high)
    if layers is None or layers.confidence is Confidence.HIGH or "." not in layers.setting.path:
        return False
    source = checkout.find(layers.evidence.path)
    if source is None or not (source.mentions("vision_config") and source.mentions("text_config")):
        return False
    beside = _section_of(part, layers.setting)
    return beside is not None and next(beside.under(("patch_size",)), None) is not None


def _is_of_an_mlp(finding: Finding) -> bool:
    """Whether a width is that inside of some network's layers: `hidden_dim` is a model's own in a configuration alone."""
    return finding.why.startswith("`hidden_dim`") and not finding.evidence.path.endswith((".json", ".yaml", ".yml"))


def _places(scope: Scope, run: Run | None) -> Iterator[Scope]:
    """Yield what may hold a shape: the run's own settings together, then each further file."""
    own = run.script.path if run is not None and run.script is not None else ""
    yield Scope(tuple(tier for tier in scope.tiers if tier[0] is Confidence.HIGH), scope.is_anothers)
    for confidence, settings in scope.tiers:
        if confidence is not Confidence.HIGH:
            files: dict[str, list[Setting]] = {}
            for setting in settings:
                if setting.evidence.path != own and is_helper_place(setting.evidence.path):
                    continue
                files.setdefault(setting.evidence.path, []).append(setting)
            kept = [found for found in files.values() if not _is_table(found)]
            yield from (Scope(((confidence, tuple(found)),), scope.is_anothers) for found in kept)


def _is_table(settings: Sequence[Setting]) -> bool:
    """Whether one function of a file builds one class in several widths, of which nothing says which is meant."""
    widths: dict[tuple[str, str], set[str]] = {}
    for setting in settings:
        if setting.key in _SHAPES["model.hidden_size"][0] and "." in setting.path and setting.owner:
            widths.setdefault((setting.owner, setting.path), set()).add(setting.text)
    return any(len(texts) > 1 for texts in widths.values())


def _dimensions(scope: Scope) -> Iterator[Finding]:
    keys, low, high = _SHAPES["model.layers"]
    layers = look_up_number(scope, keys, low, high)
    beside = _section_of(scope, layers.setting) if layers is not None else None
    is_called = layers is not None and "." in layers.setting.path
    if is_called and beside is not None and _is_recurrent(beside):
        return
    for field, (keys, low, high) in _SHAPES.items():
        close = (*keys, *_BESIDE.get(field, ())) if is_called else keys
        near = look_up_number(beside, close, low, high) if beside is not None else None
        number = near or look_up_number(scope, keys, low, high)
        if number is not None and field == "model.hidden_size" and _is_another(layers, number):
            continue
        if number is not None:
            why = f"`{number.setting.key}` is {number.text}"
            yield Finding(field, number.text, why, number.confidence, number.evidence)


def _is_of_two_parts(part: Scope) -> bool:
    """Whether layers and width are said in two sections of configurations: of a text's reader, and of what sees the picture."""
    numbers = (look_up_number(part, *_SHAPES[field]) for field in ("model.layers", "model.hidden_size"))
    sections = {found.setting.path.rpartition(".")[0] for found in numbers if found is not None}
    return len(sections - {""}) > 1


def _is_recurrent(beside: Scope) -> bool:
    """Whether a section is that of a recurrent network."""
    is_wide = next(beside.under(_OF_BLOCKS), None) is not None
    named = _RECURRENT if is_wide else (*_RECURRENT, *_BOTH_WAYS)
    return next(beside.under(named), None) is not None


def _is_another(layers: Found | None, width: Found) -> bool:
    """Whether a width is that of another model: set in another function of the program than the layers."""
    if layers is None or Confidence.HIGH in {layers.confidence, width.confidence}:
        return False
    return bool(layers.setting.owner and width.setting.owner) and layers.setting.owner != width.setting.owner


def _section_of(scope: Scope, setting: Setting) -> Scope | None:
    """Return what stands in the same section of the same file, or in the same class or function: a file may have several models.

    None where nothing is around the setting.
    """
    section = setting.path.rpartition(".")[0]
    if not section and not setting.owner:
        return None
    tiers = (
        (
            confidence,
            tuple(
                other
                for other in settings
                if other.evidence.path == setting.evidence.path
                and other.path.rpartition(".")[0] == section
                and (section or other.owner == setting.owner)
            ),
        )
        for confidence, settings in scope.tiers
    )
    return Scope(tuple(tiers), scope.is_anothers)
