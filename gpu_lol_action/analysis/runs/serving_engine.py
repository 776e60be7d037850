"""Whether a run serves a language model by an engine that keeps room for the model's whole context."""

from __future__ import annotations

import re
from collections.abc import Mapping

from gpu_lol_action.analysis.command_lines.launch_tools import SERVING_TOOLS
from gpu_lol_action.analysis.files.checkout import Checkout
from gpu_lol_action.analysis.formats.paths import Form
from gpu_lol_action.analysis.programs.behavior import Behavior
from gpu_lol_action.analysis.runs.entry_points import Run, import_closure
from gpu_lol_action.analysis.runs.served_archives import archived_engine
from gpu_lol_action.domain.finding import Confidence, Finding
from gpu_lol_action.domain.patterns import regex

# TGI takes 4096 tokens unless told otherwise; these take what the model's configuration says.
_WHOLE_CONTEXT = ("vllm", "sglang")
# By engine: what makes one, in programs that import these modules. Ray's own server and batches start vLLM.
_BUILT_BY: Mapping[str, tuple[tuple[str, tuple[str, ...]], ...]] = {
    "vllm": (
        ("vllm", ("LLM", "AsyncEngineArgs", "EngineArgs")),
        ("ray.serve.llm", ("LLMConfig",)),
        ("ray.data.llm", ("vLLMEngineProcessorConfig",)),
    ),
    "sglang": (("sglang", ("Engine",)),),
}
_TORCHSERVES = "ts.llm_launcher"  # which starts vLLM unless told another engine
_BUILT = regex(r"^trt_llm:", re.MULTILINE)  # Truss has TensorRT-LLM build an engine


def detect(checkout: Checkout, run: Run | None) -> list[Finding]:
    """Return ``serving.engine`` where the run starts vLLM or SGLang, as a command, a module, or from its program."""
    if run is None or run.behavior is not Behavior.INFERS:
        return []
    if run.command is None and any(_BUILT.search(source.text) for source in run.configs if source.form is Form.YAML):
        return _finding("tensorrt-llm", run)
    if (packed := archived_engine(checkout, run)) is not None:
        return _finding(packed, run)
    if run.command is not None:
        started = next((tool for tool in _WHOLE_CONTEXT if run.command.target.startswith(tool)), None)
        if run.command.target == _TORCHSERVES and run.options.get("engine", "vllm") == "vllm":
            return _finding("vllm", run)
        if started is not None or run.command.tool in SERVING_TOOLS:
            return _finding(started, run) if started is not None else []
    if run.script is None:
        return []
    source = run.script
    engine = next((tool for tool in _WHOLE_CONTEXT if source.code and tool in source.code.imported()), None)
    if engine is None and source.mentions("vllm") and any(word in source.text for word in ('"vllm"', "'vllm'")):
        engine = "vllm"
    engine = engine or next((tool for tool in _WHOLE_CONTEXT if builds_engine(checkout, run, tool)), None)
    return _finding(engine, run) if engine is not None else []


def builds_engine(checkout: Checkout, run: Run, library: str) -> bool:
    """Whether the run's program, or a module that it imports, makes an engine of that library's (``LLM(model="a/b")``)."""
    return run.script is not None and any(
        source.code is not None
        and source.mentions(module)
        and module.partition(".")[0] in source.code.imported()
        and bool(source.code.calls_named(*names))
        for source in import_closure(checkout, run.script)
        for module, names in _BUILT_BY[library]
    )


def _finding(engine: str, run: Run) -> list[Finding]:
    why = f"{engine} keeps room for one sequence of the model's whole context"
    return [Finding("serving.engine", engine, why, Confidence.MEDIUM, run.evidence)]
