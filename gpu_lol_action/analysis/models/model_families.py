"""The family of the model where nothing names the model: classes that the run loads weights into, and its files' names.

A program that takes the weights' path from its user still says what kind they are: ``LlamaForCausalLM.from_pretrained(path)``.
The family's usual size is then a better guess than none, and is said to be one.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence

from gpu_lol_action.analysis.files.checkout import Checkout, Source
from gpu_lol_action.analysis.files.configuration import read_settings
from gpu_lol_action.analysis.files.effort import remembered
from gpu_lol_action.analysis.formats.paths import Form
from gpu_lol_action.analysis.models import named_elsewhere
from gpu_lol_action.analysis.models.family_homes import home_of_pipeline, loads_unknown
from gpu_lol_action.analysis.models.family_shapes import of_its_shape
from gpu_lol_action.analysis.models.family_sizes import named_by_its_files, of_said_size
from gpu_lol_action.analysis.models.model_loads import HUB_ID, PLACEHOLDER, is_helper_place, loaded_texts, model_name
from gpu_lol_action.analysis.models.trainer_names import of_trainer
from gpu_lol_action.analysis.runs import serving_engine
from gpu_lol_action.analysis.runs.entry_points import Run, import_closure
from gpu_lol_action.domain.finding import Confidence, Evidence, Finding
from gpu_lol_action.domain.patterns import regex
from gpu_lol_action.estimation.media_facts import find_pipeline
from gpu_lol_action.estimation.model_facts import find_model

# In the order in which a more special word is tried first. The model is the one that the family is mostly run as.
_FAMILIES: tuple[tuple[str, str], ...] = (
    (r"stable_?diffusion_?xl|sdxl", "stabilityai/stable-diffusion-xl-base-1.0"),
    (r"stable_?diffusion_?3|\bsd3\b|_sd3|/sd3_", "stabilityai/stable-diffusion-3-medium-diffusers"),
    (r"flux_?2_?(?:pipeline|transformer|dev)", "black-forest-labs/FLUX.2-dev"),
    (r"flux(?:_?pipeline|_?transformer|_dev)|[_/]flux(?:[_./]|$)", "black-forest-labs/FLUX.1-dev"),
    (r"hunyuan_?dit", "Tencent-Hunyuan/HunyuanDiT-v1.2-Diffusers"),
    (r"hunyuan_?video|/hyvideo/|^hy_?video|/(?:hv|fpack)_train", "tencent/HunyuanVideo"),
    (r"cogvideox", "THUDM/CogVideoX-5b"),
    (r"mochi_?(?:preview|pipeline|1)|asymm_?dit", "genmo/mochi-1-preview"),
    (r"ltx_?(?:video|pipeline|transformer)", "Lightricks/LTX-Video"),
    (r"wan_?(?:pipeline|transformer|model|[tis]2v|ti2v|2\.?[12])", "Wan-AI/Wan2.1-T2V-14B"),
    (r"allegro_?(?:\w{0,8}pipeline|transformer)", "rhymes-ai/Allegro"),
    (r"step_?video_?(?:\w{0,8}pipeline|model|t2v|ti2v)", "stepfun-ai/stepvideo-t2v"),
    (r"step_?1x_?edit|/step1x_", "stepfun-ai/Step1X-Edit"),
    (r"pixart", "PixArt-alpha/PixArt-Sigma-XL-2-1024-MS"),
    (r"(?:^|[_/.])sana_?(?:\w{0,8}pipeline|transformer)", "Efficient-Large-Model/Sana_1600M_1024px_diffusers"),
    (r"lumina_?(?:2|image|next|t2i|train)", "Alpha-VLLM/Lumina-Image-2.0"),
    (r"qwen_?image_?(?:\w{0,12}pipeline|transformer|train)", "Qwen/Qwen-Image"),
    (r"z_?image_?(?:pipeline|transformer|train)", "Tongyi-MAI/Z-Image-Turbo"),
    (r"hi_?dream_?image", "HiDream-ai/HiDream-I1-Full"),
    (r"omni_?gen_?2?_?(?:\w{0,8}pipeline|transformer)", "OmniGen2/OmniGen2"),
    (r"aura_?flow", "fal/AuraFlow"),
    (r"kolors", "Kwai-Kolors/Kolors-diffusers"),
    (r"kandinsky", "kandinsky-community/kandinsky-2-2-decoder"),
    (r"stable_?cascade|wuerstchen", "stabilityai/stable-cascade"),
    (r"/deep_?floyd|deep_?floyd_?if|^if_?pipeline", "DeepFloyd/IF-I-XL-v1.0"),
    (r"stable_?video_?diffusion", "stabilityai/stable-video-diffusion-img2vid-xt"),
    (r"latte_?(?:pipeline|t2v)", "maxin-cn/Latte-1"),
    (r"stable_?audio_?(?:pipeline|dit)", "stabilityai/stable-audio-open-1.0"),
    (r"audio_?ldm_?2?_?(?:pipeline|unet)", "cvssp/audioldm2"),
    (r"stable_?diffusion|unet2dcondition|latent_?diffusion|[_/]ldm[_/.]", "stable-diffusion-v1-5/stable-diffusion-v1-5"),
    # Classes of small writers, which end as the large ones do.
    (r"m?bart_?for", "facebook/bart-large"),
    (r"gpt_?neo_?for", "EleutherAI/gpt-neo-1.3B"),
    (r"gptj|gpt_j", "EleutherAI/gpt-j-6b"),
    (r"mamba_?(?:lm|for)", "state-spaces/mamba-2.8b-hf"),
    (r"mixtral", "mistralai/Mixtral-8x7B-v0.1"),
    (r"mistral", "mistralai/Mistral-7B-v0.1"),
    (r"llava|minigpt|visual_?instruct", "llava-hf/llava-1.5-7b-hf"),
    (r"vicuna|alpaca(?!_?(?:paper|trad|api|data|\d)|$)|llama(?!_?(?:parse|index|cloud|hub|stack))", "meta-llama/Llama-2-7b-hf"),
    (r"chat_?glm", "THUDM/chatglm-6b"),
    (r"baichuan", "baichuan-inc/Baichuan2-7B-Base"),
    (r"qwen", "Qwen/Qwen2.5-7B"),
    (r"deepseek_?v2_?(?:for|model)", "deepseek-ai/DeepSeek-V2-Lite"),
    (r"falcon_?(?:for|model)", "tiiuae/falcon-7b"),
    (r"phi_?3_?(?:for|model)", "microsoft/Phi-3-mini-4k-instruct"),
    (r"opt_?for_?causal", "facebook/opt-1.3b"),
    (r"recurrent_?gemma|(?:^|\.)griffin$", "google/recurrentgemma-2b"),
    (r"pali_?gemma", "google/paligemma-3b-mix-224"),
    (r"gemma", "google/gemma-2-9b"),
    (r"idefics", "HuggingFaceM4/idefics2-8b"),
    (r"smol_?vlm", "HuggingFaceTB/SmolVLM-Instruct"),
    (r"intern_?vl", "OpenGVLab/InternVL2-8B"),
    (r"gptneox|gpt_neox|pythia", "EleutherAI/pythia-6.9b"),
    (r"bloom", "bigscience/bloom-7b1"),
    (r"gpt2", "openai-community/gpt2"),
    (r"whisper", "openai/whisper-large-v3"),
    (r"mt5|t5forconditional|seq2seqlm", "google/flan-t5-large"),
    (r"for_?causal_?lm", "meta-llama/Llama-2-7b-hf"),
)  # fmt: skip
_WORDS = tuple((regex(pattern, re.IGNORECASE), model) for pattern, model in _FAMILIES)
# Encoders are parts of other models, too: they are asked for where nothing else is found.
_ENCODERS: tuple[tuple[str, str], ...] = (
    (r"roberta", "FacebookAI/roberta-base"),
    (r"albert_?(?:model|for|pre_?trained)", "albert/albert-base-v2"),
    (r"xlnet_?(?:model|for|lm_?head|pre_?trained)", "xlnet/xlnet-base-cased"),
    (r"distil_?bert_?(?:model|for|pre_?trained)", "distilbert/distilbert-base-uncased"),
    (r"(?<![a-z])bert_?(?:model|for[a-z_]|pre_?trained)", "google-bert/bert-base-uncased"),
    (r"sentence_?transformer|cross_?encoder|sparse_?encoder", "sentence-transformers/all-mpnet-base-v2"),
    (r"for_?sequence_?classification|for_?token_?classification|for_?masked_?lm|for_?question_?answering",
     "google-bert/bert-base-uncased"),
)  # fmt: skip
_ENCODER_WORDS = tuple((regex(pattern, re.IGNORECASE), model) for pattern, model in _ENCODERS)
_Words = tuple[tuple[re.Pattern[str], str], ...]
_GENERIC = "stable-diffusion-v1-5/stable-diffusion-v1-5"
# What most servers are tried with where nobody says a model: the smallest of a family that needs a whole card.
_SERVED = "meta-llama/Llama-3.1-8B-Instruct"
_RESTORED = "meta-llama/Llama-3.1-8B"
_ANY_GPT = regex(r"GPT\w{0,40}Model\b")
_PRESET_KEYS = frozenset({"model", "model_name", "model_id", "model_path", "name_or_path", "model_name_or_path"})
_FOR_ANY = regex(r"(?:^|\.)AutoModel")
_OF_MODELS = regex(r"\.models\.[a-z]\w{1,60}$")
_CHATS = "THUDM/chatglm-6b"
_ANSWERS = ("chat", "stream_chat")
_DETECTOR = "Ultralytics/YOLOv8"
_CLASS = regex(r"^class\s+(\w{1,80})\(([\w.,= \t]{1,200})\)\s*:", re.MULTILINE)
MAX_PRESETS, LEAST_FAMILIES = 100, 3  # of so many families one can be the exception
FAR_LARGER = 3
_SERVERS = ("vllm", "sglang", "text-generation-launcher", "lmdeploy")
_MAKES_A_MODEL = frozenset({"from_pretrained", "from_config", "build", "from_single_file", "load_model", "load_pretrained_model"})  # fmt: skip
_PUT_TOGETHER = regex(r"^`[\w.]{0,80}Pipeline` ")
_NOT_MODELS = regex(r"okeniz|rocessor|xtractor|dataset|scheduler|config$|(?<!pipeline)output$", re.IGNORECASE)


def guess_family(checkout: Checkout, run: Run | None) -> list[Finding]:
    """Return the family's usual model, as a finding ``model.family`` of low confidence, in the size that options say; at most one."""
    guessed = _guess(checkout, run)
    if run is None:
        return guessed
    named = named_by_its_files(run) if not guessed or _is_of_text(guessed[0]) else None
    shaped = [of_its_shape(checkout, run, found) for found in guessed]
    return [named] if named is not None else [of_said_size(run, found) for found in shaped]


def _is_of_text(guessed: Finding) -> bool:
    facts = find_model(guessed.value)
    return facts is not None and facts.kind.startswith(("llm", "vlm"))


def _guess(checkout: Checkout, run: Run | None) -> list[Finding]:
    if run is None:
        return []
    if run.command is not None and (run.command.tool in _SERVERS or run.command.target.startswith(_SERVERS)):
        why = f"`{run.command.tool}` serves a language model that nothing names"
        return [_preset(checkout) or Finding("model.family", _SERVED, why, Confidence.LOW, run.evidence)]
    found = _of_code(checkout, run.script) if run.script is not None else of_trainer(run, _family)
    if found is None and run.script is not None and serving_engine.detect(checkout, run):
        why = "it serves a language model that nothing names"
        found = _preset(checkout) or Finding("model.family", _SERVED, why, Confidence.LOW, run.evidence)
    return [found] if (found := found or named_elsewhere.detect(checkout, run)) is not None else []


def _of_code(checkout: Checkout, script: Source) -> Finding | None:
    """Return what the program's name, its classes and its modules' names say."""
    closure = import_closure(checkout, script)
    own = _family(f"/{script.path}")
    # The classes of Stable Diffusion are all generations'.
    if own is not None and find_pipeline(own) is not None and own != _GENERIC and not loads_unknown(script):
        why = f"the program's name says the family of {own}"
        return Finding("model.family", own, why, Confidence.LOW, Evidence(script.path))
    # What encodes the prompt is a part, and of another family.
    closure = tuple(sorted(closure, key=lambda source: source is not script and is_helper_place(source.path)))
    for words in (_WORDS, _ENCODER_WORDS):
        for source in closure:
            if (made := _made(source, words)) is not None:
                return made
        if (made := _derived(closure, words)) is not None:
            return made
    for told in (_chats, _detects, _of_nemo):
        if (found := next((found for source in closure if (found := told(source)) is not None), None)) is not None:
            return found
    for source in () if loads_unknown(script) else closure[:12]:
        if (model := _family(f"/{source.path}")) is not None:
            why = f"the file's name says the family of {model}"
            return Finding("model.family", model, why, Confidence.LOW, Evidence(source.path))
    return None


def _preset(checkout: Checkout) -> Finding | None:
    """Return the smallest language model that configuration files offer a server which takes its model from its user."""
    found: list[tuple[float, str, Finding]] = []
    for source in checkout.of(Form.YAML, Form.JSON, Form.TOML)[:MAX_PRESETS]:
        for setting in read_settings(source):
            if setting.key not in _PRESET_KEYS or not regex(r"[\w.-]+/[\w.-]+").fullmatch(setting.text):
                continue
            facts = find_model(setting.text)
            if facts is not None and facts.kind == "llm":
                why = f"`{setting.key}` is `{setting.text}` among the models that the server is configured for"
                finding = Finding("model.family", setting.text, why, Confidence.LOW, setting.evidence)
                found.append((facts.parameters_b, setting.evidence.path, finding))
    return min(found, key=lambda each: each[:2])[2] if found else None


@remembered
def _made(source: Source, words: _Words) -> Finding | None:
    """Return the family of the first model that a program makes, by its class: of one that takes many families, none far larger than most."""
    made: list[Finding] = []
    for call in source.code.calls if source.code else ():
        makes = call.last in _MAKES_A_MODEL or call.last[:1].isupper()
        # A library's function for a model of its own (`lab.models.bert_model(...)`) is called by the model's name.
        makes = makes or (words is _ENCODER_WORDS and _OF_MODELS.search(call.name) is not None)
        owner = call.name if makes else ""
        if owner.partition(".")[0] == "Llama" and source.code is not None and "llama_cpp" in source.code.imported():
            continue  # llama.cpp's class for whatever model it is handed
        if _FOR_ANY.search(owner) and any(_names_one(text) for text in loaded_texts(call, source)):
            continue  # a class for any model says nothing where the call names one
        if (
            owner
            and not _NOT_MODELS.search(owner)
            and (model := _of_pipeline(source, owner) or _family(owner, words)) is not None
        ):
            why = f"`{call.name[:60]}` is of the family of {model}"
            made.append(Finding("model.family", model, why, Confidence.LOW, Evidence(source.path, call.line)))
    usual = [each for each in made if _size(each) <= FAR_LARGER * _usual_size(made)]
    # A pipeline put together of its parts is what runs (its prompts' encoder may be loaded before), but for one behind another.
    first = next(iter(usual), None)
    is_whole = first is None or "Pipeline." in first.why
    return first if is_whole else next((each for each in usual if _PUT_TOGETHER.search(each.why)), first)


def _of_pipeline(source: Source, owner: str) -> str | None:
    home = home_of_pipeline(source, owner)
    # A package is named for its own model; its modules also for those of which it has parts.
    model = (_family(home.partition(".")[0]) or _family(home)) if home else None
    return model if model is not None and model != _GENERIC and find_pipeline(model) is not None else None


def _size(made: Finding) -> float:
    facts = find_model(made.value)
    return facts.parameters_b if facts is not None else 0.0


def _usual_size(made: Sequence[Finding]) -> float:
    """Return the middle size, in billions of parameters, of the families that a program takes; infinite where they are too few to tell."""
    sizes = sorted({each.value: _size(each) for each in made}.values())
    return sizes[len(sizes) // 2] if len(sizes) >= LEAST_FAMILIES else math.inf


@remembered
def _chats(source: Source) -> Finding | None:
    """Return the usual model of those that come with their own code and answer by `model.chat(tokenizer, ...)`: of 6 to 7 B parameters."""
    if source.code is None or not source.mentions("AutoModel") or not source.code.calls_named(*_ANSWERS):
        return None
    for call in source.code.calls_named("from_pretrained"):
        if (
            call.name.rpartition(".")[0].rpartition(".")[2] == "AutoModel"
            and call.keyword("trust_remote_code") is not None
        ):
            why = "`AutoModel` loads a model with code of its own that answers by `chat`, as chatglm-6b does"
            return Finding("model.family", _CHATS, why, Confidence.LOW, Evidence(source.path, call.line))
    return None


@remembered
def _detects(source: Source) -> Finding | None:
    """Return ultralytics' usual detector where its weights are its user's (``YOLO(args.weights)``): the largest of its sizes."""
    if source.code is None or not source.mentions("ultralytics") or "ultralytics" not in source.code.imported():
        return None
    for call in source.code.calls_named("YOLO"):
        why = f"`{call.name[:60]}` is of the family of {_DETECTOR}"
        return Finding("model.family", _DETECTOR, why, Confidence.LOW, Evidence(source.path, call.line))
    return None


@remembered
def _of_nemo(source: Source) -> Finding | None:
    """Return what stands for the language model that a program of NeMo restores into its class for any (``load_from_nemo(GPTSFTModel, cfg, ...)``)."""
    if source.code is None or not source.mentions("GPT") or not source.code.imported() & {"nemo", "nemo_aligner"}:
        return None
    for call in source.code.calls_named("load_from_nemo", "restore_from"):
        named = [call.name, *(value.reference or "" for value in call.arguments[:1])]
        if any(_ANY_GPT.search(name) for name in named):
            why = f"`{call.name[:60]}` loads a language model that nothing names"
            return Finding("model.family", _RESTORED, why, Confidence.LOW, Evidence(source.path, call.line))
    return None


def _derived(closure: Sequence[Source], words: _Words) -> Finding | None:
    """Return the family of the first model that is loaded into a class of the program's own which another one's class is the base of."""
    bases: dict[str, str] = {}
    for source in closure:
        if source.form is Form.PYTHON and "class " in source.text:
            bases.update({found[1]: found[2] for found in _CLASS.finditer(source.text)})
    for source in closure:
        for call in source.code.calls_named("from_pretrained") if source.code else ():
            owner = call.name.rpartition(".")[0].rpartition(".")[2]
            base = bases.get(owner, "")
            if base and not _NOT_MODELS.search(owner) and (model := _family(base, words)) is not None:
                why = f"`{owner}` derives from `{base[:60]}`, of the family of {model}"
                return Finding("model.family", model, why, Confidence.LOW, Evidence(source.path, call.line))
    return None


def _names_one(text: str) -> bool:
    """Whether a text names a model of the Hub, of a known size or not, that is there to be loaded."""
    return (model_name(text) is not None or HUB_ID.fullmatch(text) is not None) and not PLACEHOLDER.search(text)


def _family(text: str, words: _Words = _WORDS) -> str | None:
    return next((model for pattern, model in words if pattern.search(text)), None)
