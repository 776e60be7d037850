"""Commands that run one model on a card, of libraries that are used from a shell more than from programs (``whisper talk.mp3 --model large-v3``).

Their names mean other things as well: a command hands them a file, a word of their own, or the option that tells the model.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from gpu_lol_action.domain.patterns import regex

MODEL_TOOLS = {
    "whisper": "openai-whisper", "whisper-ctranslate2": "whisper-ctranslate2", "whisperx": "whisperx", "insanely-fast-whisper": "insanely-fast-whisper",
    "demucs": "demucs", "tts": "coqui-tts", "boltz": "boltz", "chai-lab": "chai_lab", "colabfold_batch": "colabfold[alphafold]", "esm-fold": "fair-esm[esmfold]",
    "aphrodite": "aphrodite-engine", "mlc_llm": "mlc-llm", "marker_single": "marker-pdf", "infinity_emb": "infinity-emb[all]", "xinference": "xinference[all]",
}  # fmt: skip
"""By command: what pip installs it with, by the projects' own pages."""

_VERBS = {
    "boltz": frozenset({"predict"}),
    "chai-lab": frozenset({"fold"}),
    "aphrodite": frozenset({"run", "serve"}),
    "mlc_llm": frozenset({"serve", "chat"}),
    "infinity_emb": frozenset({"v2"}),
    "xinference": frozenset({"launch"}),
}
# Where each is told the cores, and what runs no model at all.
_DEVICES, _CORES = ("device", "d", "accelerator", "use_cuda"), frozenset({"cpu", "mps", "false", "0"})
_NO_MODEL = frozenset({"msa-only", "msa_only"})
_OPTIONS = {"tts": frozenset({"text", "model_name", "model_path"})}
_FILE = regex(r"[\w./$@{}*:~-]{0,300}\.\w{1,8}|[\w.$~{}-]{0,200}/[\w./$@{}*:~-]{0,300}|\"?\$[\w{}@*]{1,80}\"?")

# Sizes that each knows its models by, and the one that it starts with.
_OF_SPEECH = {
    "whisper": "turbo",
    "whisper-ctranslate2": "small",
    "whisperx": "small",
    "insanely-fast-whisper": "large-v3",
}
_SIZES = frozenset({"tiny", "base", "small", "medium", "large", "large-v1", "large-v2", "large-v3", "turbo", "large-v3-turbo"})  # fmt: skip
_PUBLISHED = {"turbo": "large-v3-turbo", "large": "large-v3"}
# XTuner's own recipes: `internlm2_5_chat_7b_qlora_oasst1_e3`.
_RECIPE = regex(
    r"([a-z][a-z0-9]{1,20}(?:_[a-z0-9]{1,10}){0,4}?_\d{1,3}b(?:_(?:chat|base|it|instruct)){0,2})_(?:q?lora|full|dpo|orpo)(?:_\w{0,80})?"
)
_FOLDED = {"esm-fold": "facebook/esmfold_v1"}


def is_model_command(tool: str, options: Mapping[str, str], places: Sequence[str]) -> bool:
    """Whether the words behind such a tool's name are a command of its own that runs its model on a card, and no sentence."""
    if any(options.get(name, "").lower() in _CORES for name in _DEVICES) or not _NO_MODEL.isdisjoint(options):
        return False
    if tool == "xinference" and any(_elsewhere(options.get(name, "")) for name in ("e", "endpoint")):
        return False
    if tool in _VERBS:
        return bool(places) and places[0] in _VERBS[tool]
    if tool in _OPTIONS:
        return not _OPTIONS[tool].isdisjoint(options)
    return any(_FILE.fullmatch(word) for word in (*places[:2], *list(options.values())[:4]))


def _elsewhere(address: str) -> bool:
    """Whether an address is another machine's."""
    return address != "" and not any(here in address for here in ("localhost", "127.0.0.1"))


def is_unmistakable(tool: str, options: Mapping[str, str]) -> bool:
    """Whether such a command tells what no other program of that name is told: a card, one of its models, or a word of its own before a file."""
    is_on_a_card = any(options.get(name, "").lower().startswith(("cuda", "gpu", "true")) for name in _DEVICES)
    size = options.get("model", "").removesuffix(".en")
    return is_on_a_card or (tool in _OF_SPEECH and size in _SIZES) or tool in _VERBS


def model_of_tool(tool: str, options: Mapping[str, str], words: Sequence[str]) -> str | None:
    """Return the model that a command runs or tunes, by its published name; None where that is not known."""
    if tool == "lighteval":  # `"model_name=a/b,dtype=float16"`
        return (options.get("model_name") or options.get("pretrained") or "").partition(",")[0] or None
    if tool == "xtuner":
        return next((name for word in words[1:4] if (name := _of_recipe(word)) is not None), None)
    if tool not in _OF_SPEECH:
        return _FOLDED.get(tool)
    size = options.get("model") or options.get("model_name") or _OF_SPEECH[tool]
    size = size.removesuffix(".en")
    return f"openai/whisper-{_PUBLISHED.get(size, size)}" if size in _SIZES else None


def _of_recipe(word: str) -> str | None:
    """Return the model that a recipe's name begins with, as models are called: dots in releases and sizes, hyphens between words."""
    found = _RECIPE.fullmatch(word)
    if found is None:
        return None
    return regex(r"(?<=[a-z]\d)_(?=\d_)|(?<=[a-z]_\d)_(?=\d{1,2}b)").sub(".", found[1]).replace("_", "-")
