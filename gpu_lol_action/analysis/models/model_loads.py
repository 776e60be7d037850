"""Models that programs load: what their loaders are given, by value or by a key of the configuration."""

from __future__ import annotations

import re
from collections.abc import Iterator

from gpu_lol_action.analysis.files.checkout import Checkout, Source
from gpu_lol_action.analysis.files.effort import remembered
from gpu_lol_action.analysis.models import clip_names
from gpu_lol_action.analysis.models.beside_policy import beside_policy
from gpu_lol_action.analysis.programs.taken_names import whole_name
from gpu_lol_action.analysis.python.chosen_calls import CHOSEN
from gpu_lol_action.analysis.python.code import Call
from gpu_lol_action.domain.finding import Confidence, Evidence, Finding
from gpu_lol_action.domain.patterns import regex
from gpu_lol_action.estimation.model_facts import find_model, is_known_model

MODEL_KEYS = (
    "model_source", "model_name_or_path", "base_model", "pretrained_model_name_or_path", "model_id", "model_name", "base_model_name_or_path",
    "pretrained_model_name", "pretrained_model", "model_path", "hf_model_id", "base_model_id", "base_model_name", "model",
    "checkpoint", "ckpt_dir", "llama_model", "backbone", "model_type", "arch", "init_from", "repo_id", "pretrain",
    "partial_pretrain", "pretrained", "model_id_or_path", "model_name_or_id", "llm_name_or_path", "hf_model", "hf_model_name",
    "diffusers_path", "dit", "dit_path",
)  # fmt: skip
LOADERS = frozenset({"from_pretrained", "from_preset", "LLM", "SentenceTransformer", "CrossEncoder", "SparseEncoder", "create_model", "load_model", "snapshot_download", "pipeline", "load_model_and_alphabet",
                      "AsyncEngineArgs", "EngineArgs", "WhisperModel", "from_single_file", "YOLO",
                      "ClassificationModel", "MultiLabelClassificationModel", "NERModel", "QuestionAnsweringModel", "Seq2SeqModel", "T5Model",
                      "LanguageModelingModel", "RetrievalModel", "from_model_id", "HuggingFaceLLM", "simple_evaluate"})  # fmt: skip
# sentence-transformers' first module: what is pooled behind it is the model.
_ENCODES = frozenset({"models.Transformer", "sentence_transformers.models.Transformer"})
_FILE_LOADERS = ("load", "load_file", "safe_open")
_WEIGHT_FILES = (".pth", ".pt", ".bin", ".safetensors", ".ckpt")
_SIZED = regex(r"\d[bB](?![a-z])")
_DENOISERS = frozenset({"transformer", "unet"})
_OF_PROTEINS, _OWNS_PROTEINS = "esm.pretrained.", "facebook/"
MAX_PATH = 300
SHORTEST_CLASS = 3
_FIRST_TEXT = regex(r"\(\s{0,20}[\"'](\w{3,40})")
_LAST_WORD = regex(r"\w{3,40}$")
# Two expressions, for each begins with plain letters: these are leapt to.
_OWNED = (regex(r"models\.[\w.]+\s*[(\[]"), regex(r"timm\.[\w.]+\s*[(\[]"))
NOT_MODELS = regex(r"okeniz|rocessor|xtractor|dataset|scheduler|vae|Config$|LoraModel|PeftModel", re.IGNORECASE)
# What looks at pictures for a network that draws them.
_JUDGES_PICTURES = regex(r"DepthEstimation|Segmentation|Detector$|ObjectDetection|CLIPModel|SafetyChecker")
# Models beside the one that the run is about.
HELPER_KEY = regex(
    r"tokeni|teacher|weak_|reward|scor(?:e|ing)|draft|judge|eval|embed|vae|clip|text_encoder|ref(?:erence)?_|critic|assistant|re_?prompt|prompt_?(?:re|en)"
)
_HELPER_PLACE = regex(
    r"condition|metric|eval|lpips|percep|loss|vae|clip|safety|caption|annotat|embed|tokeni|judge|reward|text_?enc"
)
# Models too small to be meant: what a program that takes any model starts with so that it can be tried.
PLACEHOLDER = regex(r"(?:^|/)opt-125m$|(?:^|[/-])tiny-(?:random|gpt2|llama-random)|-internal-testing/")
# What LLaVA's programs and their many heirs answer with until they are told the weights: nobody asks it anything.
TRIED = regex(r"(?:^|/)opt-350m$")
# OpenAI's package and faster-whisper know their models by size alone.
_WHISPER = frozenset({"whisper.load_model", "WhisperModel", "faster_whisper.WhisperModel"})
_WHISPER_SIZES = frozenset({"tiny", "base", "small", "medium", "large", "tiny.en", "base.en", "small.en", "medium.en"})
_UNKNOWN_FOLDER = regex(r"^(?:\$\{?\w{1,60}\}?|<[^<>/]{1,60}>|\{[^{}/]{1,60}\}|\[[^\[\]/]{1,60}\])(?=/)")
"""What stands before a path and nothing says (`$HDFS_ROOT/model/Qwen3-8B`, `<YOUR_FOLDER>/Qwen3-8B`): the rest names the model."""
_CACHED = regex(r"(?:^|/)models--([\w.-]{1,60}?)--([\w.-]{1,95}?)(?:/|$)")
"""A model's folder in the Hub's own cache (``models--meta-llama--Llama-3.1-8B/snapshots/0123abcd``); owners may have a single hyphen."""
# How clients of many companies name who hosts a model (LiteLLM's list of providers): none of these is an owner on the Hub.
_HOSTED_BY = regex(
    r"(?:groq|together_ai|fireworks_ai|bedrock|sagemaker|vertex_ai|azure|azure_ai|openrouter|deepinfra|anyscale|perplexity|xai|nvidia_nim|cloudflare|github_copilot|friendliai)/"
)
HUB_ID = regex(r"[A-Za-z0-9][\w.-]{0,95}/[A-Za-z0-9][\w.-]{0,95}")


# What is made is judged with networks of these folders: a loss's, a metric's.
_JUDGING_FOLDERS = regex(r"(?:^|/)(?:lpips|criteria|criterion|losses|loss|metrics)(?:$|/)")


def is_helper_place(path: str) -> bool:
    """Whether a module is about something beside the model (a metric, a text encoder): what it loads or builds is beside it."""
    folder, _, name = path.lower().rpartition("/")
    if name == "__init__.py":  # a package's first module speaks for the package
        folder, _, name = folder.rpartition("/")
        return _HELPER_PLACE.search(name) is not None
    if _JUDGING_FOLDERS.search(folder) is not None:
        return True
    stem = name.rpartition(".")[0]
    # A package's module of its own name is what the package is about.
    is_main = stem == folder.rpartition("/")[2] and not _HELPER_PLACE.fullmatch(stem)
    return not is_main and _HELPER_PLACE.search(name) is not None


def loads_of(source: Source, confidence: Confidence, given: frozenset[str] = frozenset()) -> Iterator[Finding]:
    """Yield the models that a program loads, as findings of that confidence. ``given``: options whose defaults do not count."""
    beside = {line for _, line in beside_policy(source)}
    for name, loader, line, is_part in _loaded_models(source, given):
        if line in beside:
            continue  # a trainer is given it to judge what it trains
        if loader in clip_names.LOADERS and confidence < Confidence.HIGH:
            continue  # what a module has of CLIP looks at pictures or texts for the model that the run is about
        # Who loads a part of a pipeline puts the rest together otherwise.
        sure = min(confidence, Confidence.MEDIUM) if is_part else confidence
        what = "a part of " if is_part else ""
        yield Finding("model.id", name, f"`{loader}` loads {what}`{name}`", sure, Evidence(source.path, line))


@remembered
def _loaded_models(source: Source, given: frozenset[str]) -> tuple[tuple[str, str, int, bool], ...]:
    """Return the models that a program loads, by what and on which line, and whether as a part of it."""
    if source.code is None:
        return ()
    found: list[tuple[str, str, int, bool]] = []
    is_drawn = source.mentions("UNet2DConditionModel")
    # Of these owners a constructor may have any name (`models.resnet50`); elsewhere only loaders are looked at.
    is_named = source.mentions("models.") or source.mentions("timm.")
    is_any = is_named and any(owned.search(source.text) for owned in _OWNED)
    # Most programs load something from some file, and few from a folder that is named for a model: the rest need not be parsed.
    loaders = (*sorted(LOADERS), *(_FILE_LOADERS if _may_name_a_folder(source) else ()))
    loaders = (*loaders, *clip_names.LAST_WORDS) if source.mentions("clip") else loaders
    for call in source.code.calls if is_any else source.code.calls_named(*loaders):
        if call.last in _FILE_LOADERS and call.name not in clip_names.LOADERS:
            found += [(name, call.last, call.line, False) for name in _of_folder(call)]
            continue
        if NOT_MODELS.search(call.name) or (is_drawn and _JUDGES_PICTURES.search(call.name)):
            continue
        for text in loaded_texts(call, source, given):
            name = model_name(text)
            if name is not None:
                loader = call.name if call.name in clip_names.LOADERS else call.last
                found.append((name, loader, call.line, call.keyword("subfolder") is not None))
    found += _proteins(source)
    # What a program loads of CLIP beside another model, or a network of its own, looks at pictures or texts for that.
    is_beside = any(each[1] not in clip_names.LOADERS for each in found) or source.mentions("nn.Module")
    found = [each for each in found if not is_beside or each[1] not in clip_names.LOADERS]
    # To ask for all calls of a program has it parsed: most name no class so.
    if _may_name_its_class(source.text):
        found += [(name, call.last, call.line, False) for call in source.code.calls if (name := _of_own_class(call))]
    return tuple(found)


def _proteins(source: Source) -> list[tuple[str, str, int, bool]]:
    """Return the models of proteins that a program takes from their package by a function of their name (``esm.pretrained.esm2_t36_3B_UR50D()``)."""
    if source.code is None or not source.mentions("esm") or not source.mentions("pretrained"):
        return []
    calls = [call for call in source.code.calls if whole_name(source, call.name).startswith(_OF_PROTEINS)]
    named = [(f"{_OWNS_PROTEINS}{call.last}", call) for call in calls]
    return [(name, call.last, call.line, False) for name, call in named if is_known_model(name)]


def _may_name_its_class(text: str) -> bool:
    """Whether a call's first text begins like what is called: a look at the text, which begins at a sign and is quick."""
    for found in _FIRST_TEXT.finditer(text):
        called = _LAST_WORD.search(text, max(0, found.start() - 40), found.start())
        if called is not None and found[1].lower().startswith(called[0].lower()):
            return True
    return False


def _of_own_class(call: Call) -> str | None:
    """Return the known model that a class of the model's own name is told to be (``Evo("evo-1-131k-base")``)."""
    text = call.arguments[0].text if call.arguments and call.last[:1].isupper() else None
    if text is None or len(call.last) < SHORTEST_CLASS or not text.lower().startswith(call.last.lower()):
        return None
    return text if text.lower() != call.last.lower() and is_known_model(text) else None


def _of_folder(call: Call) -> list[str]:
    """Return the model whose weights a call reads from a folder of its name (``torch.load("Meta-Llama-3-8B/consolidated.00.pth")``)."""
    text = (
        call.arguments[0].text if call.arguments else None
    )  # a literal: what an option starts with is a place to fill in
    if text is None or not text.endswith(_WEIGHT_FILES) or len(text) > MAX_PATH:
        return []
    folders = [part for part in text.split("/")[:-1] if _SIZED.search(part)]
    return [part for part in folders[-1:] if find_model(part) is not None]


def _may_name_a_folder(source: Source) -> bool:
    """Whether a program's text has what each folder of weights has that ``_of_folder`` takes: a file's ending, and a size."""
    return any(source.mentions(ending) for ending in _WEIGHT_FILES) and _SIZED.search(source.text) is not None


def loaded_texts(call: Call, source: Source, given: frozenset[str] = frozenset()) -> list[str]:
    """Return what a call may load: its first arguments and those by name, or a constructor that is a model's name."""
    if source.code is None:
        return []
    is_encoder = call.name in _ENCODES and source.mentions("sentence_transformers")
    is_owned = call.name.startswith(("models.", "torchvision.models.", "timm.")) and not is_encoder
    if is_owned and call.last not in LOADERS:
        # What is chosen by a name that stands for another is told with the network that is built.
        chosen = call.arguments[0].text if call.last == CHOSEN else call.last
        return [chosen] if chosen is not None else []
    if call.name in clip_names.LOADERS:
        text = source.code.resolve(call.arguments[0], call.owner) if call.arguments else None
        named = clip_names.published_clip(text) if text is not None else None
        return [named] if named is not None else []
    if call.last not in LOADERS and not is_encoder:
        return []
    if call.last == "simple_evaluate":  # lm-evaluation-harness hands all of a model's own words on in one text
        handed = source.code.resolve(call.keyword("model_args"), call.owner) or ""
        return [pair[11:] for pair in handed.split(",") if pair.startswith("pretrained=")]
    values = [*call.arguments[:2], *(value for key, value in call.keywords if key in MODEL_KEYS)]
    told = (value for value in values if given.isdisjoint({value.reference, *(part.reference for part in value.parts)}))
    names = source.code.names()
    told = (value for value in told if value.text is not None or given.isdisjoint(names.keys_of(value)))
    texts = [text for value in told if (text := source.code.resolve(value, call.owner)) is not None]
    if call.name in _WHISPER or (call.last == "load_model" and whole_name(source, call.name) in _WHISPER):
        return [f"openai/whisper-{text.removesuffix('.en')}" if text in _WHISPER_SIZES else text for text in texts]
    return texts


def _of_local_copy(path: str) -> str | None:
    """Return the model whose published name a local folder bears (``/data/stable-diffusion-xl-base-1.0``); None where it bears none.

    The denoiser of a pipeline lies in a folder of its own (``/hub/org/Net/transformer``).
    """
    folder, _, name = path.rstrip("/").rpartition("/")
    if name in _DENOISERS:
        pipeline = find_model("/".join(folder.split("/")[-2:]))
        return pipeline.name if pipeline is not None and pipeline.kind.startswith("diffusion") else None
    is_named = "-" in name or name.endswith((".safetensors", ".ckpt"))  # a file of weights as it is published
    return name if is_named and is_known_model(name) else None


def is_placeholder(checkout: Checkout, finding: Finding, *, infers: bool) -> bool:
    """Whether a program's default is there to be replaced; a command, a configuration or a call that names the model itself means it."""
    is_default = finding.evidence.path.endswith(".py") or "` loads `" in finding.why
    stands_for_any = PLACEHOLDER.search(finding.value) or (infers and TRIED.search(finding.value))
    return is_default and bool(stands_for_any) and not _is_meant(checkout, finding)


def _is_meant(checkout: Checkout, finding: Finding) -> bool:
    """Whether a real model is written where it is loaded, or is a constant of the program: no option that somebody will fill in."""
    source = checkout.find(finding.evidence.path)
    if source is None or source.code is None or find_model(finding.value) is None:
        return False
    calls = [call for call in source.code.calls_named(*sorted(LOADERS)) if call.line == finding.evidence.line]
    values = [value for call in calls for value in (*call.arguments, *(named for _, named in call.keywords))]
    if any(value.text == finding.value for value in values):
        return True
    names = {
        value.reference for value in values if value.reference is not None and value.path in {None, value.reference}
    }
    constants = (each for each in source.code.defaults if not (each.is_option or each.is_parameter or each.owner))
    return any(each.text == finding.value and each.name in names for each in constants)


def model_name(text: str) -> str | None:
    """Return the text where it names a model: an id of the Hub with a known size, or a name that the table has."""
    bare = _UNKNOWN_FOLDER.sub("", text.strip().strip("\"'"))
    if (cached := _CACHED.search(bare)) is not None:
        bare = f"{cached[1]}/{cached[2]}"
    if not 2 < len(bare) <= 120 or not bare.isprintable() or any(mark in bare for mark in "<>${} ,()"):
        return None
    if _HOSTED_BY.match(bare):
        return None
    if bare.startswith(("./", "../", "/", "~")) and not regex(r"\d[bB](?![A-Za-z0-9])").search(bare):
        return _of_local_copy(bare)
    if is_known_model(bare) or (HUB_ID.fullmatch(bare) and find_model(bare) is not None):
        return bare
    facts = find_model(bare.rstrip("/").rsplit("/", 1)[-1])
    return bare.strip("/") if facts is not None and regex(r"\d[bB](?![a-z])").search(bare) else None
