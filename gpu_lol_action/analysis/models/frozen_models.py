"""Programs that keep their language model as it is and train a few layers beside it: a projection, a resampler, a query former.

They say so by hand: ``for param in self.llm.parameters(): param.requires_grad = False``. The gradients still run through the
model, but it has no gradients and no optimizer state of its own: the terms are those of adapters.
"""

from __future__ import annotations

from collections.abc import Mapping

from gpu_lol_action.analysis.files.checkout import Checkout, Source
from gpu_lol_action.analysis.files.effort import remembered
from gpu_lol_action.analysis.formats.paths import Form
from gpu_lol_action.analysis.programs.dead_branches import decided
from gpu_lol_action.analysis.runs.entry_points import Run, import_closure
from gpu_lol_action.analysis.runs.settings import Scope, is_on, look_up, values_of
from gpu_lol_action.domain.finding import Confidence, Evidence, Finding
from gpu_lol_action.domain.patterns import regex

MAX_MODULES = 40
MAX_LINES_ABOVE = 300
_MODEL = r"(?:self\.)?(?:\w{1,20}_)?(?:llm|lm|llama|lang(?:uage)?_?(?:model|encoder)|opt|gpt|t5|vicuna)(?:_model)?(?:\.model)?"
_FROZEN = regex(
    rf"for(?<!\wfor)\s+\w+(?:\s*,\s*\w+)?\s+in\s+{_MODEL}\.(?:named_)?parameters\(\)\s*:\s*(?:#[^\n]{{0,200}})?\s*\w+\.requires_grad\s*=\s*False"
)
_FROZEN_AT_ONCE = regex(rf"(?<![\w.]){_MODEL}\.requires_grad_\(False\)")
# The whole model, and right behind it the parts that are trained.
_ALL_BUT_PARTS = regex(
    r"(?<![\w.])(\w{0,20}model)\.requires_grad_\(False\)(?:[^\n]{0,200}\n){1,12}?\s*\1\.[\w.]{1,60}\.requires_grad_\(True\)"
)
# LLaVA's word for training the projection alone, and those of models whose towers are switched one by one.
_SWITCH = regex(r"freeze_(?:llm|lm|language_model|llama)|tune_(?:\w{1,20}_)?mlp_adapter")
# Sparse autoencoders: SAELens's two runners (the older name first), and the trainers of sparsify and of dictionary_learning.
_READERS = ("SAETrainingRunner", "LanguageModelSAETrainingRunner", "SaeTrainer", "trainSAE")
_WHOLE = ".requires_grad_(False)"
_IF = regex(r"if\s+(.{1,200}?):\s*(?:#.*)?$")
_OTHERWISE = regex(r"(?:elif\b.*|else\s*):")
_OTHER_BLOCK = regex(r"(?:for|while|with|try|def|class|async)\b")
_TOLD_BY_HELPERS = regex(r"(?:^|[/_])(?:tests?|vision|image|clip|vae|reward|critic|ref)(?:[/_.]|$)")


def frozen_by_switch(run: Run, scope: Scope) -> Finding | None:
    """Return that the command or the configuration freezes the language model (``--freeze_llm True``, ``tune_mm_mlp_adapter: true``).

    What a program starts with is no word of who starts it: there its own code is asked.
    """
    own = run.script.path if run.script is not None else ""
    said = (setting for _, settings in scope.tiers[:2] for setting in settings if _SWITCH.fullmatch(setting.key))
    for word in dict.fromkeys(setting.key for setting in said):
        switch = look_up(scope, (word,))
        if switch is not None and is_on(switch) and switch.evidence.path != own:
            why = f"`{word}` is on: the language model is frozen, and layers beside it are trained"
            return Finding("training.method", "lora", why, Confidence.HIGH, switch.evidence)
    return None


def frozen_language_model(checkout: Checkout, run: Run, scope: Scope) -> Finding | None:
    """Return that the run trains layers beside a language model that it freezes; None where that is not sure.

    A condition above the line has to be known to hold: most programs can freeze what they load, few do.
    """
    if run.script is None:
        return None
    for call in run.script.code.calls_named(*_READERS)[:1] if run.script.code is not None else ():
        why = f"`{call.last}` trains an autoencoder on what a language model computes, which stays as it is"
        return Finding("training.method", "lora", why, Confidence.MEDIUM, Evidence(run.script.path, call.line))
    values = values_of(checkout, run)
    for source in import_closure(checkout, run.script)[:MAX_MODULES]:
        if source.form is not Form.PYTHON or "requires_grad" not in source.text or _TOLD_BY_HELPERS.search(source.path):
            continue
        for line in _freezing_lines(source):
            if _is_surely_reached(source, line, scope, values):
                why = "the language model is frozen, and layers beside it are trained"
                return Finding("training.method", "lora", why, Confidence.MEDIUM, Evidence(source.path, line))
    return None


@remembered
def _freezing_lines(source: Source) -> tuple[int, ...]:
    """Return where a program freezes a language model: the same for every run that comes by."""
    text = source.text
    starts = [found.start() for found in _FROZEN.finditer(text)] if "parameters()" in text else []
    if _WHOLE in text:
        starts += [found.start() for found in _FROZEN_AT_ONCE.finditer(text)]
        starts.sort()
        starts += [found.start() for found in _ALL_BUT_PARTS.finditer(text)]
    return tuple(text.count("\n", 0, start) + 1 for start in starts)


def _is_surely_reached(source: Source, line: int, scope: Scope, values: Mapping[str, str]) -> bool:
    """Whether every condition that a line stands under, up to its function, is known to hold."""
    lines = source.text.split("\n")
    depth = _indent(lines[line - 1])
    for text in reversed(lines[max(0, line - 1 - MAX_LINES_ABOVE) : line - 1]):
        bare = text.strip()
        if not bare or bare.startswith("#") or _indent(text) >= depth:
            continue
        depth = _indent(text)
        if _OTHERWISE.match(bare):
            return False
        if (condition := _IF.match(bare)) is not None and not _holds(condition[1], scope, values):
            return False
        if bare.startswith(("def ", "class ", "async def ")) or (depth == 0 and not _OTHER_BLOCK.match(bare)):
            return True
    return True


def _holds(condition: str, scope: Scope, values: Mapping[str, str]) -> bool:
    verdict = decided(condition.strip(), values)
    if verdict is not None:
        return verdict
    name = regex(r"(?:\w{1,60}\.){0,4}(\w{1,60})").fullmatch(condition.strip())
    return name is not None and is_on(look_up(scope, (name[1].lower(),)))


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())
