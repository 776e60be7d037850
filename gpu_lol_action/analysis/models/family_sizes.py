"""Which size of a family is meant, where options say no more than that: ``--variant 4b``, ``--bert_dir .../bert_uncased_large``.

What starts a run is often called by its model: ``run_sft_yi_6b.sh``, ``finetune_13b.sh``, ``llama3-8b.yaml``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from gpu_lol_action.analysis.runs.entry_points import Run
from gpu_lol_action.domain.finding import Confidence, Evidence, Finding
from gpu_lol_action.domain.patterns import regex
from gpu_lol_action.estimation.model_facts import find_model

_SIZE_KEYS = ("variant", "model_size", "model_variant", "model_scale", "size", "model", "choose_model")
_BILLIONS = regex(r"[\"']?(\d{1,3}(?:\.\d{1,2})?)[bB](?=$|[-_\"'])")
_LARGE = regex(r"(?:^|[/_.-])large(?=$|[/_.-])", re.IGNORECASE)
# Options that say where the weights lie, and none of a model beside this one.
_WHERE = regex(r"\w{0,30}(?:model|ckpt|checkpoint|weights?)\w{0,20}", re.IGNORECASE)
_NOT_WHERE = regex(
    r"out|save|log|cache|tok|draft|reward|ref|judge|lora|adapter|resume|vae|vision|clip|encoder|critic|teacher",
    re.IGNORECASE,
)
_IN_PATH = regex(r"(?:^|[-_])(\d{1,3}(?:\.\d{1,2})?)[bB](?=$|[-_.])")
_SIZE_OF_NAME = regex(r"(?<=-)\d{1,3}(?:\.\d{1,2})?B(?=$|-)")
# `whisper-hindi-base`, `whisper-large-v2-ft`: sizes that families without billions are told by.
_SIZE_WORD = regex(r"[-_.](tiny|mini|small|base|medium|large|huge|giant)(?:[-_.]?(v\d))?(?=$|[-_.])", re.IGNORECASE)
ALIKE = 0.05
MAX_PATH = 200
_WORD = regex(r"[A-Za-z]+")
_FAMILY = r"llama|qwen|mistral|mixtral|gemma|phi|opt|falcon|bloomz?|pythia|vicuna|alpaca|guanaco|(?:chat)?glm|yi|deepseek|mpt|olmo|baichuan|internlm|internvl|llava|nemotron|redpajama|starcoder|mamba|rwkv|gpt_?neox|gpt_?3"
# From the family's word to the size: `llama3_8b`, `Olmo-3-Hybrid-7B`, `qwen2.5-7b`, `vicuna13b`.
_NAMED = regex(
    rf"(?:^|[^A-Za-z])((?:{_FAMILY})(?![A-Za-z]{{3}})[\w.-]{{0,20}}?)[-_.]?(?<![\d.])(?<![-_]a)"
    r"((?:\d{1,2}x)?\d{1,3}(?:\.\d{1,2})?)(b?[-_]a\d{1,2}b|b)(?=$|[^A-Za-z0-9])",
    re.IGNORECASE,
)
_IS_FAMILY = regex(rf"(?:{_FAMILY})[-_]?(?:\d(?:\.\d)?)?", re.IGNORECASE)
_MIXED = regex(r"^b?[-_]?", re.IGNORECASE)  # before what a token uses of a mixture
_SIZED = regex(r"(?:^|[-_])(\d{1,3}(?:\.\d{1,2})?)b(?=$|[-_.])", re.IGNORECASE)


def of_said_size(run: Run, guessed: Finding) -> Finding:
    """Return the guess, as the member of its family that the run's options or its program's own start with; unchanged where nothing says so."""
    family = find_model(guessed.value)
    if family is None:
        return guessed
    if family.kind == "encoder":
        model, said = _large(run, guessed.value)
    elif family.kind == "llm":
        model, said = _of_billions(run, guessed.value)
    else:
        model, said = _sibling(run, guessed.value)
    if not model or find_model(model) is None:
        return guessed
    return replace(guessed, value=model, why=f"{guessed.why}, and `{said}` says which")


def named_by_its_files(run: Run) -> Finding | None:
    """Return the language model that the run's launch script, configuration or program is called by, as a finding ``model.family``."""
    for path in (*_files(run), *_kinds(run)):
        name = _name_in(_stem(path)) or _of_folder(path)
        model = find_model(name) if name else None
        if model is not None and model.kind.startswith(("llm", "vlm")):
            why = f"the name `{path.rpartition('/')[2]}` says it"
            # A command may name a file that is not there.
            read = [source.path for source in (run.script, *run.configs) if source is not None]
            where = Evidence(path) if path in (run.evidence.path, *read) else run.evidence
            return Finding("model.family", name, why, Confidence.LOW, where)
    return None


def _name_in(stem: str) -> str:
    """Return a model's name as others write it, ``qwen3-30b-a3b`` of ``run_qwen3_30_a3b``; nothing where a name has none."""
    found = _NAMED.search(stem)
    if found is None:
        return ""
    size = _MIXED.sub("", found[3])
    return f"{found[1].rstrip('-_.')}-{found[2]}b{size and '-'}{size}"


def _of_folder(path: str) -> str:
    """Return a model's name of a folder that is called by a family and a file called by a size (``scripts/opt/single_gpu/run_1.3b.sh``)."""
    size = _SIZED.search(_stem(path))
    folders = path.split("/")[:-1] if size is not None else []
    family = next((folder for folder in reversed(folders) if _IS_FAMILY.fullmatch(folder)), "")
    return f"{family.rstrip('-_')}-{size[1]}b" if family and size is not None else ""


def _files(run: Run) -> list[str]:
    """Return the paths of what starts a run and what it reads: a launch script, the first configuration, the program."""
    script = [run.evidence.path] if run.command is not None and run.evidence.path.endswith((".sh", ".slurm")) else []
    program = [run.script.path] if run.script is not None else [run.command.target] if run.command is not None else []
    return [*script, *(source.path for source in run.configs[:1]), *_elsewhere(run), *program]


def _elsewhere(run: Run) -> list[str]:
    """Return the configuration that a command reads of a library which is not here (``composer train.py yamls/pretrain/mpt-7b.yaml``)."""
    words = run.command.words if run.command is not None and not run.configs else ()
    named = (word.rpartition("=")[2].strip("\"'") for word in words if word.endswith((".yaml", ".yml", ".toml")))
    return [path for path in named if len(path) < MAX_PATH][:1]


def _kinds(run: Run) -> list[str]:
    """Return what the run, or its program by itself, says of the kind of its network: ``model_type="pretrain_vicuna7b"`` names a part of it."""
    code = run.script.code if run.script is not None else None
    default = code.default("model_type") if code is not None else None
    said = run.options.get("model_type") or (default.text if default is not None else "")
    return [said] if regex(r"[\w.-]{3,60}").fullmatch(said) else []


def _stem(path: str) -> str:
    return regex(r"\.(?:sh|slurm|py|ipynb|ya?ml|json|toml)$").sub("", path.rpartition("/")[2])


def _large(run: Run, name: str) -> tuple[str, str]:
    """Return the large sibling of an encoder, where an option's path is one's (``bert/bert_uncased_large``)."""
    kind = "bert" if "bert" in name.lower() else name.rpartition("/")[2].partition("-")[0].lower()
    for key, value in run.options.items():
        named = value.rstrip("/").rpartition("/")[2] if "/" in value else value
        if kind in named.lower() and _LARGE.search(named) and len(named) < 80:
            return name.replace("-base", "-large"), f"{key} {named}"
    return "", ""


def _of_billions(run: Run, name: str) -> tuple[str, str]:
    """Return the member of a family that has as many parameters as an option says; its default where a command fills in nothing."""
    owner, _, last = name.rpartition("/")
    word = _WORD.match(last)
    for key in _SIZE_KEYS if word is not None else ():
        said = _BILLIONS.match(run.options.get(key, ""))
        code = run.script.code if said is None and run.script is not None else None
        default = (code.default(key) or code.default(key.upper())) if code is not None else None
        said = said or (_BILLIONS.match(default.text) if default is not None else None)
        if said is not None and word is not None:
            return f"{owner}/{word[0]}-{said[1]}b", f"{key} {said[1]}b"
    size, last_word = _size_in_path(run)
    if size and word is not None:
        return f"{owner}/{word[0]}-{size}b", last_word
    for path in _files(run) if word is not None else ():
        named = _SIZED.search(_stem(path))
        if named is not None and word is not None:
            return f"{owner}/{word[0]}-{named[1]}b", path.rpartition("/")[2]
    return "", ""


def _sibling(run: Run, name: str) -> tuple[str, str]:
    """Return the member of a family of pictures, films or sounds whose size the path of the run's weights bears (``.../Net-T2V-1.3B``)."""
    size, said = _size_in_path(run)
    sibling = _SIZE_OF_NAME.sub(f"{size}B", name) if size else name
    if _is_other(name, sibling):
        return sibling, said
    return _worded(run, name)


def _worded(run: Run, name: str) -> tuple[str, str]:
    """Return the member of a family whose size the path of the run's weights bears as a word behind the family's (``me/whisper-hindi-base``)."""
    family, own = _WORD.match(name.rpartition("/")[2]), _SIZE_WORD.search(name)
    if family is None or own is None:
        return "", ""
    for last in _paths_of_weights(run):
        begin = last.lower().find(family[0].lower())
        said = [found for found in _SIZE_WORD.finditer(last) if found.start() > begin >= 0]
        for found in said[-1:]:
            plain = f"{name[: own.start()]}-{found[1].lower()}"
            members = (f"{plain}-{found[2].lower()}", plain) if found[2] else (plain,)
            if (member := next((each for each in members if _is_other(name, each)), None)) is not None:
                return member, last
    return "", ""


def _is_other(name: str, sibling: str) -> bool:
    """Whether a name is another member's of a family: a size that no member has gives the family's own again."""
    one, other = find_model(name), find_model(sibling)
    return one is not None and other is not None and abs(one.parameters_b / other.parameters_b - 1) > ALIKE


def _paths_of_weights(run: Run) -> Iterator[str]:
    """Yield the last words of the options' paths to the weights."""
    for key, value in run.options.items():
        if _WHERE.fullmatch(key.rpartition(".")[2]) and not _NOT_WHERE.search(key) and "/" in value:
            yield value.strip("\"'").rstrip("/").rpartition("/")[2][:120]


def _size_in_path(run: Run) -> tuple[str, str]:
    """Return the billions of parameters that the last word of an option's path to the weights bears, and that word."""
    for last in _paths_of_weights(run):
        sizes = set(_IN_PATH.findall(last))
        if len(sizes) == 1:
            return next(iter(sizes)), last
    return "", ""
