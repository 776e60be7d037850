"""What imports a GPU library and stays on the CPU: it reads files with it, names the CPU itself, or has somebody else compute.

Rules, each of which needs all programs to agree: TensorFlow that only lists or reads a checkpoint's values, or writes data as its records, PyTorch that only
writes a log; ``device = "cpu"`` and no word of another device; models that a company hosts, where commands mostly name these,
a document asks for a key and none speaks of a GPU; courses on what cores compute, of which few lessons build a network; among notebooks of a hosted model's maker the few that compute something of their own.
"""

from __future__ import annotations

import itertools
import re

from gpu_lol_action.analysis.commands.launch_commands import LaunchCommand, launch_commands
from gpu_lol_action.analysis.files.checkout import Checkout, Source
from gpu_lol_action.analysis.files.effort import remembered
from gpu_lol_action.analysis.formats.gpu_libraries import GPU_MODULES
from gpu_lol_action.analysis.formats.paths import Form, Role
from gpu_lol_action.analysis.models.model_loads import MODEL_KEYS
from gpu_lol_action.analysis.programs.behavior import Behavior, may_use_gpu
from gpu_lol_action.analysis.programs.hosted_calls import sends_by_hand
from gpu_lol_action.analysis.python.code import PythonCode
from gpu_lol_action.analysis.runs.entry_points import Run
from gpu_lol_action.domain.patterns import regex

_READS = regex(
    r"(?:tf|tensorflow)\.(?:compat\.v\d\.)?(?:train\.(?:list_variables|load_variable|load_checkpoint|latest_checkpoint|NewCheckpointReader|"
    r"(?:Sequence)?Example|Features?|FeatureLists?|(?:Bytes|Float|Int64)List)|(?:python_)?io\.(?:TFRecord\w+|tf_record_iterator)|"
    r"io\.gfile\.\w+|gfile\.\w+|(?:app\.)?flags\.\w+|app\.run|logging\.\w+)(?:\.(?:FromString|SerializeToString|write|close))?|SummaryWriter"
)
_USED = regex(r"(?<!from )(?<!import )\b(?:tf|tensorflow)\.[\w.]+")
_REMARK = regex(r"#.*")
# What records are made of, as generated from their definitions.
_RECORDS = regex(r"tensorflow\.core(?:\.\w+)*")
_LOGS = frozenset({"torch.utils.tensorboard", "torch.utils.tensorboard.writer"})
_ON_CPU = regex(
    r"\bdevice\b[\"']?\s*[=:(]{1,2}\s*(?:torch\.device\(\s*)?[\"']cpu[\"']|torch\.device\(\s*[\"']cpu[\"']|\bCPUPlace\(\)"
)
_ON_ANY = regex(r"cuda|gpu|mps\b|accelerat|is_available|device_count|[\"']auto[\"']|--device", re.IGNORECASE)
# Ids under which companies host models that nobody else can run.
_HOSTED_ID = regex(
    r"(?:openai/|azure/|anthropic/|gemini/|google/)?(?:gpt-?(?:3\.5|4|4o|4\.1|5)\b[\w.-]*|o[134](?:-mini|-preview|-pro)?|text-davinci-\d+|code-davinci-\d+|"
    r"claude-[\w.-]+|gemini-[\w.-]+|deepseek-(?:chat|reasoner))",
    re.IGNORECASE,
)
_KEY = regex(r"\b(?:OPENAI|ANTHROPIC|CLAUDE|GEMINI|GOOGLE|AZURE_OPENAI|COHERE|GROQ|MISTRAL|DEEPSEEK)_API_KEY\b")
_GPU = regex(r"\b(?:VRAM|GPUs?|CUDA)\b")
_CLIENTS = frozenset({"openai", "anthropic", "google.generativeai", "google.genai", "cohere", "groq", "mistralai", "litellm",
                      "langchain_openai", "langchain_anthropic", "langchain_google_genai", "langchain_groq", "langchain_cohere",
                      "together", "vertexai", "google.adk", "google.cloud.aiplatform", "langchain_google_vertexai", "langchain_together",
                      "llama_index.llms.openai", "agno", "crewai", "pydantic_ai", "openai_agents"})  # fmt: skip
_CLIENT_WORDS = frozenset(name.partition(".")[0] for name in _CLIENTS)
CLIENT_PACKAGES = frozenset({"openai", "anthropic", "google-generativeai", "google-genai", "cohere", "groq", "mistralai", "litellm",
                             "together", "langchain-openai", "langchain-anthropic", "langchain-google-genai", "langchain-groq", "langchain-cohere"})  # fmt: skip
HOSTED_PACKAGES = CLIENT_PACKAGES | {"zhipuai", "zai-sdk", "dashscope", "qianfan", "erniebot", "volcengine-python-sdk", "spark-ai-python", "baidu-aip",
                                      "replicate", "ai21", "aleph-alpha-client", "cerebras-cloud-sdk", "langchain-deepseek", "langchain-aws", "xai-sdk"}  # fmt: skip
"""The same and those of companies whose models few applications ask alone."""
_CLASSICAL = frozenset({"sklearn", "xgboost", "lightgbm", "catboost", "statsmodels", "imblearn", "feature_engine"})
_ON_A_CARD = regex(r"\bcuda\b|\bGPUs?\b|\.to\(device", re.IGNORECASE)
EMBEDDERS = frozenset({"sentence-transformers", "sentence_transformers"})
MOST_OWN = 0.15  # of a collection's programs those that compute something themselves
LEAST_CLIENTS = 0.5
LEAST_APPLICATIONS, MOST_BESIDE = 0.25, 0.05
LEAST_PROGRAMS = 10


def only_reads(source: Source, modules: frozenset[str]) -> bool:
    """Whether a program does no more with these GPU libraries than to read a checkpoint's values, or to write a log or records of data."""
    if source.code is None or not modules <= {"tensorflow", "torch"}:
        return False
    if "torch" in modules and any(
        _top(item.module) == "torch" and item.module not in _LOGS for item in source.code.imports
    ):
        return False
    parts = [item for item in source.code.imports if _top(item.module) == "tensorflow" and item.names]
    if not all(_RECORDS.fullmatch(item.module) for item in parts):
        return False
    called = [call.name for call in source.code.calls if regex(r"(?:tf|tensorflow)\.").match(call.name)]
    used = set(_USED.findall(_REMARK.sub("", source.text)))
    if "tensorflow" in modules and not used and not parts:
        return False  # what works with it elsewhere may take it from here
    return all(_READS.fullmatch(name) for name in called) and all(_READS.match(name) for name in used)


def stays_on_cpu(source: Source) -> bool:
    """Whether a program puts all on the CPU in so many words, and speaks of no other device."""
    # The commonest names of another device first: most programs of a GPU library have one in their first lines.
    if "cuda" in source.text or "gpu" in source.text:
        return False
    return _ON_CPU.search(source.text) is not None and _ON_ANY.search(source.text) is None


@remembered
def asks_hosted_model(checkout: Checkout, run: Run | None) -> bool:
    """Whether what is started asks a model that a company hosts: commands name no other, and a document asks for its key."""
    if run is None or run.behavior is Behavior.TRAINS:
        return False
    named = [
        value.strip("\"'")
        for command in launch_commands(checkout)
        for key, value in command.options.items()
        if key.rpartition(".")[2] in MODEL_KEYS and _is_of(run, command)
    ]
    hosted = sum(_HOSTED_ID.fullmatch(name) is not None for name in named)
    if not hosted or 2 * hosted < len(named):
        return False
    documents = checkout.of(Form.MARKDOWN, roles=(Role.DOCUMENTATION,))
    return any(_KEY.search(s.text) for s in documents) and not any(_GPU.search(s.text) for s in documents)


def _is_of(run: Run, command: LaunchCommand) -> bool:
    """Whether a command starts what the run starts."""
    if run.command is not None:
        return command.target == run.command.target
    return run.script is not None and command.target.endswith(run.script.name)


@remembered
def is_collection_of_clients(checkout: Checkout) -> bool:
    """Whether most of many programs ask hosted models, and hardly any computes something itself."""
    every = [source for source in checkout.of(Form.PYTHON, Form.NOTEBOOK) if source.code is not None]
    own = map(_computes, every)
    # So many that they are too many of all are found among the first: the others' imports need not be read.
    if any(count > MOST_OWN * len(every) for count in itertools.accumulate(own)):
        return False
    programs = [source for source in every if source.code is not None and source.code.imports]
    computing = sum(map(_computes, programs))
    clients = sum(is_client(source) for source in programs)
    if len(programs) < LEAST_PROGRAMS or computing > MOST_OWN * len(programs):
        return False
    # Applications of several modules each ask in one of these: there the clients outnumber by far what computes.
    return clients >= LEAST_CLIENTS * len(programs) or (
        clients >= LEAST_APPLICATIONS * len(programs) and computing <= MOST_BESIDE * clients
    )


@remembered
def is_course_on_cores(checkout: Checkout) -> bool:
    """Whether most of many notebooks fit what cores compute, and the few that build a network name no card: lessons on classical learning."""
    lessons = [s for s in checkout.of(Form.NOTEBOOK) if s.code is not None]
    computing = [source for source in lessons if _computes(source)]
    if len(lessons) < LEAST_PROGRAMS or len(computing) > MOST_OWN * len(lessons):
        return False
    classical = sum(bool(s.code is not None and s.code.imported() & _CLASSICAL) for s in lessons)
    return classical >= LEAST_CLIENTS * len(lessons) and not any(_ON_A_CARD.search(s.text) for s in computing)


@remembered
def has_client(checkout: Checkout) -> bool:
    """Whether any program asks a hosted model."""
    return any(is_client(source) for source in checkout.of(Form.PYTHON, Form.NOTEBOOK))


def _computes(source: Source) -> bool:
    code = source.code
    return code is not None and may_use_gpu(source) and bool(code.imported() & GPU_MODULES)


def is_client(source: Source) -> bool:
    """Whether a program asks a hosted model."""
    if source.code is None:
        return False
    return (source.code.may_import_any(_CLIENT_WORDS) and _imports_client(source.code)) or sends_by_hand(source)


def _imports_client(code: PythonCode) -> bool:
    modules = {item.module for item in code.imports}
    taken = {f"{item.module}.{name}" for item in code.imports for name in item.names}
    tops = {_top(module) for module in modules}
    return bool((modules | taken | tops) & _CLIENTS)


def _top(module: str) -> str:
    return module.partition(".")[0]
