"""The words of one command: which tool starts what, with which options, on how many GPUs of a machine."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from gpu_lol_action.analysis.command_lines.launched_tools import bare_name, simulator_words, tool_among
from gpu_lol_action.analysis.command_lines.llama_cpp import LLAMA_CPP, computes_on_a_card
from gpu_lol_action.analysis.command_lines.model_tools import MODEL_TOOLS, is_model_command
from gpu_lol_action.analysis.command_lines.research_tools import RESEARCH_TOOLS
from gpu_lol_action.analysis.command_lines.shell_words import shell_words, without_redirections
from gpu_lol_action.analysis.formats.texts import without_comment
from gpu_lol_action.analysis.formats.told_numbers import COUNTED_ON, as_count, of_all_machines, visible_devices
from gpu_lol_action.domain.patterns import regex

# Flags that say how many processes a launcher starts on one machine, one per GPU.
COUNT_FLAGS: Mapping[str, tuple[str, ...]] = {
    "accelerate": ("num_processes",), "deepspeed": ("num_gpus",), "horovodrun": ("np",), "mpirun": ("np", "n"),
    "composer": ("n", "nproc"), "lightning": ("devices",),
    **dict.fromkeys(("torchrun", "tune", "colossalai", "fleetrun"), ("nproc_per_node",)),
}  # fmt: skip
# Flags of servers: the model is divided over so many GPUs.
SPLIT_FLAGS = ("tensor_parallel_size", "tp", "tp_size", "num_shard", "pipeline_parallel_size", "pp", "pp_size", "data_parallel_size", "dp", "dp_size")  # fmt: skip
NODE_FLAGS = ("nnodes", "num_nodes", "num_machines", "cluster.num_nodes")
# Launchers whose count is of all machines together.
COUNTS_ALL_MACHINES, MOST_CARDS = frozenset({"accelerate", "horovodrun", "mpirun"}), 16
TOOLS = frozenset({"llamafactory-cli", "axolotl", "vllm", "tune", "litgpt", "swift", "trl", "autotrain", "sglang", "yolo", "nequip-train", "trtllm-serve", "mim", "nemo",
    "text-generation-launcher", "xtuner", "lmdeploy", "fairseq-train", "fairseq-hydra-train", "fairseq-generate", "fairseq-interactive", "ns-train", "mistral-chat", "lm_eval", "lm-eval",
    "megatron", "caffe", "oumi", "unsloth", "openrlhf", "parlai", "lerobot-train", "metaseq-train", "spacy", "dorado", "darknet", "text-embeddings-router", *LLAMA_CPP, *RESEARCH_TOOLS, *MODEL_TOOLS})  # fmt: skip
# Trainers of any model, told by a configuration: what their library can do besides says nothing of a run. By command: the package that each starts.
CONFIGURED = {"llamafactory-cli": "llamafactory", "axolotl": "axolotl", "tune": "torchtune", "litgpt": "litgpt", "swift": "swift", "trl": "trl", "xtuner": "xtuner"}  # fmt: skip
# Tools whose names mean other things as well (a language, a storage client, a library): only these words of them train or infer.
_VERBS = {"swift": frozenset({"sft", "pt", "rlhf", "infer", "eval", "deploy", "app", "web-ui", "sample", "rollout", "export"}), "megatron": frozenset({"sft", "pt", "rlhf", "export"}), "caffe": frozenset({"train"}), "spacy": frozenset({"train", "pretrain"}), "ludwig": frozenset({"train", "experiment", "predict", "evaluate", "serve", "forecast", "hyperopt"}), "catalyst-dl": frozenset({"run"}), "dorado": frozenset({"basecaller", "duplex"}), "darknet": frozenset({"detector", "classifier", "segmenter", "yolo"}), "allennlp": frozenset({"train", "fine-tune", "predict", "evaluate"}),
          "parlai": frozenset({"train_model", "tm", "train", "multiprocessing_train", "mp_train", "interactive", "i", "safe_interactive", "interactive_web", "eval_model"})}  # fmt: skip
SERVERS = ("vllm.entrypoints", "sglang.launch_server", "sglang.bench_o", "lmdeploy", "fastchat.serve", "tgi", "llama_cpp.server", "ts.llm_launcher")  # fmt: skip
SERVING_TOOLS = ("vllm", "sglang", "text-generation-launcher", "lmdeploy", "trtllm-serve", *sorted(LLAMA_CPP))
INTERFACES = frozenset({"streamlit", "gradio", "jupyter", "chainlit"})
WEB_SERVERS = frozenset({"uvicorn", "gunicorn", "hypercorn", "fastapi", "flask", "waitress-serve"})

# Programs that start another one, behind options of their own.
_RUNNERS = frozenset({
    "sudo", "nohup", "time", "exec", "env", "srun", "uv", "uvx", "poetry", "pdm", "conda", "mamba", "micromamba", "pixi",
    "hatch", "rye", "pipenv", "docker", "podman", "nvidia-docker", "singularity", "apptainer", "numactl", "xvfb-run", "nsys",
    "timeout", "taskset", "rocprof", "screen", "tmux", "dotenv", "ray", "eval", "if", "modal", "stdbuf", "nice", "ionice", "setsid",
})  # fmt: skip
# These run a program only by a word of their own; else they install or create.
_UV_MODULE = frozenset({"-m", "--module"})
_MANAGERS = frozenset({"conda", "mamba", "micromamba", "poetry", "uv", "pdm", "pipenv", "pixi", "hatch", "rye", "docker", "podman", "modal",
                       "nvidia-docker", "singularity", "apptainer"})  # fmt: skip
SHELLS = frozenset({"bash", "sh", "zsh", "source", ".", "sbatch", "qsub", "bsub"})
_LAUNCH_MODULES = {
    "torch.distributed.launch": "torchrun", "torch.distributed.run": "torchrun", "accelerate.commands.launch": "accelerate",
    "deepspeed.launcher.runner": "deepspeed", "colossalai.cli": "colossalai", "paddle.distributed.launch": "fleetrun",
}  # fmt: skip
_ASSIGNED = regex(r"[A-Za-z_]\w*=")
_BRINGS = frozenset({"install", "add", "build", "create", "pull", "remove", "logs", "apt", "apt-get"})
MOST_BEFORE = 8  # words up to the project's own command
_NO_PROGRAMS = frozenset({"pip", "venv", "ipykernel", "pytest", "http.server", "unittest", "build", "twine", "nltk.downloader",
                          "coverage", "pre_commit", "virtualenv", "ensurepip", "json.tool", "site"})  # fmt: skip
_PYTHON = regex(r"i?python(?:3(?:\.\d+)?)?")
# What hands a file that describes a job to a platform.
SUBMITTERS = ("det e(?:xperiment)? create", "sky (?:jobs )?(?:launch|exec)", "dstack (?:apply|run)", "kubectl (?:apply|create)", "az ml job create")  # fmt: skip
_FLAGS = regex(r"-[bBdEiIOPqsSuv]{1,6}m?")  # of the interpreter, which a module may follow in the same word: `-um`
_MODULE = regex(r"[A-Za-z_]\w*(?:\.\w+)+|[a-z_]\w+")
_PROGRAM = regex(r"[a-z][a-z\d_-]{1,40}")
_MAY_START = regex(
    r"\$|\.(?:py|ipynb|sh|bash|slurm|sbatch)\b|python|\buv run\b.{0,200} (?:-m|--module) |\b(?:make|just|text-(?:generation|embeddings)-inference|lorax|llama\.cpp:server|"
    + "|".join(
        sorted(
            {*TOOLS, *COUNT_FLAGS, *INTERFACES, *WEB_SERVERS, "fabric", "torchx", *SUBMITTERS}
            | {s for s in SHELLS if s.isalpha()}
        )
    )
    + r")\b"
)
# Where the reader's clone of another project lies is left open, and not which program of it a launcher starts.
_IN_A_CLONE = regex(r"/?path/to/[\w.-]{1,60}(?:/\w[\w-]{0,60}){1,6}/[A-Za-z][\w-]{0,60}\.py")
_PLACEHOLDER = regex(r"^<.*>$|\bpath/to\b|your[_-]|x{3,}|\.\.\.|\*|^\$\{?\w+\}?$|\{\{")


# What a manual shows of a word that may stand there, and what stands for an option's value in it.
_MANUAL = regex(r"\[(?!\d+(?:,\s?\d+)*\])[^\[\]]*\]?")
_FILLED_IN = regex(r"\[(?!OPTION|ARG|FLAG)[A-Z][A-Z_-]{2,40}\]")


def split_words(text: str) -> list[str]:
    """Return a command's words as a shell would; by blanks where its quotes do not close."""
    text = without_comment(text)
    try:
        words = shell_words(text)
    except ValueError:
        words = text.split()
    # `[script.py]` is how a manual shows what may stand there; `[0,1]` is a list, `[...]` what it does not write down.
    bare = ["..." if word == "[...]" else word.strip(",") for word in without_redirections(words)]
    return [
        word
        for before, word in zip(["", *bare], bare, strict=False)
        if word and (_is_value(before, word) or not _MANUAL.fullmatch(word))
    ]


def _is_value(before: str, word: str) -> bool:
    """Whether a word in brackets is what an option's reader fills in (``--model-path [MODEL-PATH]``)."""
    return before.startswith("--") and "=" not in before and _FILLED_IN.fullmatch(word) is not None


def without_runners(
    words: Sequence[str], scripts: Mapping[str, str] | None = None
) -> tuple[dict[str, str], list[str], list[str]]:
    """Return variables set in front of a command, the words of programs that only start another, and the command itself.

    ``scripts``: the project's own commands, which runners start like any program.
    """
    variables: dict[str, str] = {}
    runner: list[str] = []
    rest = list(words)
    while rest:
        word = rest[0]
        if found := regex(r"([A-Za-z_]\w*)=(.*)", re.DOTALL).fullmatch(word):
            variables[found[1]] = found[2]
        elif word in {"export", "set", "-x", "$", "then", "do", "command"}:
            pass
        elif word.rsplit("/", 1)[-1] in _RUNNERS:
            taken = _until_program(rest, scripts or {})
            runner += rest[:taken]
            rest = rest[taken:]
            if rest[:1] and rest[0] in _UV_MODULE:  # `uv run -m package.module`
                rest[:1] = ["python", "-m"]
            continue
        elif taken := simulator_words(rest):
            rest[:taken] = ["python"]
            break
        else:
            break
        rest.pop(0)
    return variables, runner, rest


def _until_program(words: Sequence[str], scripts: Mapping[str, str]) -> int:
    """Return how many words stand before the program that a runner starts; all where there is none."""
    if words[0] in _MANAGERS and not {"run", "exec", "x"} & set(words[1:4]):
        return len(words)
    for index, word in enumerate(words[1:], 1):
        name = word.rsplit("/", 1)[-1]
        is_runner = name in _RUNNERS and not word.startswith("-")
        if words[index - 1] in {"-n", "--name", "-p", "--prefix", "-e", "--extra", "--with", "-J", "--job-name"}:
            continue
        if (
            is_program(name)
            or is_runner
            or (word in _UV_MODULE and words[0] == "uv")
            or (word in scripts and not _BRINGS & set(words[:index]))
            or regex(r"[A-Z_][A-Z0-9_]*=.*").fullmatch(word)
            or word.partition("::")[0].endswith((".py", ".sh"))
        ):
            return index
    return len(words)


def may_start(text: str, scripts: Mapping[str, str]) -> bool:
    """Whether a line is worth reading as a command: it names a program, a script, a variable, or a command of the project."""
    if _MAY_START.search(text) or not scripts:
        return _MAY_START.search(text) is not None
    words = text.lstrip("$ ").split(None, MOST_BEFORE)[:MOST_BEFORE]
    first = next((place for place, word in enumerate(words) if _ASSIGNED.match(word) is None), len(words))
    # `uv run ours`, `CUDA_VISIBLE_DEVICES=0 ours`
    named = words[first:] if words[first : first + 1] and words[first] in _RUNNERS else words[first : first + 1]
    return any(word in scripts for word in named)


def is_program(name: str) -> bool:
    """Whether the word is a program that starts a workload."""
    return (
        bool(_PYTHON.fullmatch(name))
        or name in TOOLS
        or name in COUNT_FLAGS
        or name in INTERFACES
        or name in WEB_SERVERS
        or name in {"fabric", "torchpack", *SHELLS}
    )


def inner_text(words: Sequence[str]) -> str | None:
    """Return the command that a shell is handed as a text (``bash -c "..."``)."""
    is_shell = bool(words) and words[0].rsplit("/", 1)[-1] in {"bash", "sh", "zsh"}
    return words[2] if is_shell and len(words) > 2 and words[1] in {"-c", "-lc", "-xc"} else None


def tool_of(words: Sequence[str]) -> tuple[str | None, list[str]]:
    """Return the tool that starts the work, and the words behind it; no tool where nothing is started that we know."""
    first, rest = bare_name(words[0]).replace("mpiexec", "mpirun"), list(words[1:])
    if _PYTHON.fullmatch(first):
        while rest and (_FLAGS.fullmatch(rest[0]) or rest[0] in {"-W", "ignore"} or rest[0].startswith("-X")):
            rest = ["-m", *rest[1:]] if rest[0].endswith("m") else rest[1:]
        if rest[:1] == ["-m"] and len(rest) > 1:
            return _module_tool(rest[1], rest[2:])
        return ("python", rest) if not rest[:1] or not rest[0].startswith("-c") else (None, [])
    if words[0].partition("::")[0].endswith(".py"):  # Modal writes `file.py::function`
        return "python", [words[0].partition("::")[0], *words[1:]]
    if first in {"accelerate", "tune"}:
        verb = "launch" if first == "accelerate" else "run"
        return (first, list(words[words.index(verb) + 1 :])) if verb in words[1:3] else (None, [])
    if first in {"lightning", "fabric"}:
        places = [word for word in rest if word not in {"run", "model"}]
        return ("lightning", places) if "run" in rest[:1] else (None, [])
    if first in {"colossalai", "torchpack"}:  # the latter is MPI behind a word of its own
        own, word = (first, "run") if first == "colossalai" else ("mpirun", "dist-run")
        return _inner(own, rest[1:]) if rest[:1] == [word] else (None, [])
    if first in COUNT_FLAGS or first in TOOLS or first in INTERFACES or first in WEB_SERVERS:
        return _inner(first, rest)
    return ("torchrun", rest) if _PROGRAM.fullmatch(first) and starts_ranks(rest) else (None, [])


def starts_ranks(words: Sequence[str]) -> bool:
    """Whether words are told how many processes of a program to start: any launcher says it as PyTorch's does (``dlrover-run``)."""
    is_told = any(word.startswith(("--nproc_per_node", "--nproc-per-node")) for word in words)
    return is_told and any(word.endswith(".py") for word in words)


def _module_tool(module: str, rest: list[str]) -> tuple[str | None, list[str]]:
    if module in _LAUNCH_MODULES:
        return _LAUNCH_MODULES[module], rest
    if module in {"lightning", "lightning.pytorch"} or module in WEB_SERVERS or module in INTERFACES or module in TOOLS:
        return tool_of([module, *rest])
    if starts_ranks(rest):
        return "torchrun", rest  # `python -m oneflow.distributed.launch --nproc_per_node 4 train.py`
    return (None, []) if module in _NO_PROGRAMS else ("python", [module, *rest])


def _inner(first: str, rest: list[str]) -> tuple[str, list[str]]:
    """Return the launcher, past the interpreter that it starts (``mpirun -np 8 python train.py``)."""
    if first in {"mpirun", "horovodrun"}:
        cut = next((i for i, word in enumerate(rest) if _PYTHON.fullmatch(word.rsplit("/", 1)[-1])), None)
        if cut is not None:
            return first, [*rest[:cut], *(word for word in rest[cut + 1 :] if word != "-u")]
    return first, rest


def target_of(tool: str, options: Mapping[str, str], places: Sequence[str]) -> str | None:
    """Return what is started: a script, a module, or the tool's own command; None where it is only a name or a placeholder."""
    if tool in MODEL_TOOLS:
        return " ".join([tool, *places[:1]]) if is_model_command(tool, options, places) else None
    if tool in LLAMA_CPP:
        return tool if computes_on_a_card(options) else None
    if tool in TOOLS:
        if tool in _VERBS and not _VERBS[tool] & set(places[:1]):
            return None
        # In prose a tool's name stands alone; a command goes on with a word, a file, or a few options behind a reader's own path.
        is_word = regex(r"(?:\$(?:\w+|\{\w+\})/)?[A-Za-z][\w./-]*|\d{1,4}|[23]d\w*").fullmatch("".join(places[:1]))
        return " ".join([tool, *places[:1]]) if is_word or len(options) > 2 * bool(places) else None
    script = next((place for place in places if place.endswith((".py", ".ipynb"))), None)
    if script is not None:
        is_clone = tool in COUNT_FLAGS and _IN_A_CLONE.fullmatch(script) is not None
        return None if _PLACEHOLDER.search(script) and not is_clone else script
    module = options.get("m") or options.get("module")
    if tool in COUNT_FLAGS and module and _MODULE.fullmatch(module):
        return module
    if tool in COUNT_FLAGS and (inner := tool_among(places, TOOLS, _VERBS)):
        return inner  # `torchrun $(which fairseq-train)`, `mpirun -np 4 build/caffe train`
    if tool == "tune":
        return f"tune {places[0]}" if places else None
    if tool in WEB_SERVERS:
        app = next((place for place in places if ":" in place), None)
        return app.partition(":")[0] if app and _MODULE.fullmatch(app.partition(":")[0]) else None
    if tool == "python":
        return places[0] if places and _MODULE.fullmatch(places[0]) else None
    if tool in INTERFACES:
        return next(iter(places), tool)
    return None


def processes_of(tool: str, target: str, options: Mapping[str, str], variables: Mapping[str, str]) -> int | None:
    """Return how many GPUs of one machine a command asks for; None where it does not say."""
    for flag in COUNT_FLAGS.get(tool, ("nproc_per_node",)):
        count = as_count(options.get(flag))
        if count:
            machines = next((as_count(options.get(name)) for name in NODE_FLAGS if name in options), None) or 1
            if tool == "mpirun" and count // machines > MOST_CARDS:
                return None  # MPI starts workers on cores as well
            return max(1, count // machines) if tool in COUNTS_ALL_MACHINES else count
    if tool == "deepspeed" and (found := regex(r":([\d,]+)$").search(options.get("include", ""))):
        return len(found[1].split(","))
    if tool == "caffe" and (listed := visible_devices(options.get("gpu"))):
        return listed
    if tool == "fleetrun" and (listed := visible_devices(options.get("gpus") or options.get("devices"))):
        return listed  # Paddle's launcher lists cards by number
    if tool in SERVING_TOOLS or target.startswith(SERVERS):
        split = 1
        for flag in SPLIT_FLAGS:
            split *= as_count(options.get(flag)) or 1
        if split > 1:
            return split
    counted = next(filter(None, (as_count(variables.get(name)) for name in COUNTED_ON)), None)
    if tool in TOOLS and counted:
        return counted
    seen = visible_devices(variables.get("CUDA_VISIBLE_DEVICES"))
    if tool == "accelerate" and seen is None and "config_file" not in options:
        return counted
    return of_all_machines(variables) if seen is None and tool == "deepspeed" and "hostfile" not in options else seen


def starts_several(tool: str, options: Mapping[str, str]) -> bool:
    """Whether a launcher is told to start several processes in words that are no number (``N``, ``$GPUS``, ``gpu``)."""
    if tool in {"torchrun", "accelerate", "lightning", "colossalai", "tune"}:
        given = next((options[flag] for flag in COUNT_FLAGS[tool] if flag in options), None)
        return (given is not None and as_count(given) is None) or "multi_gpu" in options
    return tool in {"deepspeed", "horovodrun"} and "num_gpus" not in options
