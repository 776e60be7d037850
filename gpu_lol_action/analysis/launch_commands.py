"""Commands that start the workload, read from scripts, Makefiles, Dockerfiles, notebooks' magics and documentation."""

from __future__ import annotations

import functools
import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from gpu_lol_action.analysis.checkout import Checkout, Source
from gpu_lol_action.analysis.paths import Form, Role
from gpu_lol_action.domain.finding import Evidence

MAX_COMMANDS = 400
MAX_MENTIONING = 256 * 1024  # characters of documentation in which each of thousands of scripts is looked for
_FENCE = re.compile(r"^\s*(?:```|~~~)")
_VARIABLE = re.compile(r"^\s*(?:export\s+|local\s+)?([A-Za-z_]\w*)=(\"[^\"]*\"|'[^']*'|[^\s;#]*)\s*(?:;|#.*)?$")
_PREFIXES = frozenset(
    {"sudo", "nohup", "time", "exec", "env", "srun", "run", "uv", "poetry", "pdm", "conda", "pixi", "hatch", "$"}
)
_COUNT_FLAGS = {
    "torchrun": ("nproc_per_node", "nproc-per-node"),
    "accelerate": ("num_processes", "num-processes", "gpus"),
    "deepspeed": ("num_gpus",),
    "horovodrun": ("np",),
    "mpirun": ("np", "n"),
    "composer": ("n", "nproc"),
    "tune": ("nproc_per_node", "nproc-per-node"),
    "colossalai": ("nproc_per_node",),
    "vllm": ("tensor-parallel-size", "tensor_parallel_size", "tp"),
}
_NODE_FLAGS = ("nnodes", "num_nodes", "num_machines")
_TOOLS = frozenset({"llamafactory-cli", "axolotl", "vllm", "tune", "litgpt", "swift", "trl", "autotrain", "sglang", "yolo",
                    "text-generation-launcher", "xtuner"})  # fmt: skip
_INTERFACES = frozenset({"streamlit", "gradio", "jupyter", "chainlit"})
_SERVERS = ("vllm.entrypoints", "sglang.launch_server", "lmdeploy", "fastchat.serve", "tgi")
_CONFIG = re.compile(r"[\w./@{}$-]+\.(?:ya?ml|json|toml)$")


@dataclass(frozen=True, slots=True)
class LaunchCommand:
    """One command: the tool that starts it, what it starts, how many processes per machine, and its options."""

    tool: str
    target: str
    processes: int | None
    nodes: int
    options: Mapping[str, str]
    configs: tuple[str, ...]
    evidence: Evidence
    source: Source
    words: tuple[str, ...] = field(default=())

    @property
    def is_launcher(self) -> bool:
        """Whether the tool itself starts one process per GPU."""
        return self.tool in _COUNT_FLAGS

    @property
    def is_tool(self) -> bool:
        """Whether the tool is a training or serving program of its own."""
        return self.tool in _TOOLS or self.target.startswith(_SERVERS)


@functools.lru_cache(maxsize=4)
def launch_commands(checkout: Checkout) -> tuple[LaunchCommand, ...]:
    """Return all commands, in the order in which a reader meets them: documentation, then scripts, shallow files first."""
    found: list[LaunchCommand] = []
    documents = [
        s for s in checkout.of(Form.MARKDOWN, roles=(Role.DOCUMENTATION,)) if not s.path.startswith(("docs/", "doc/"))
    ]
    scripts = checkout.of(Form.SHELL, Form.DOCKERFILE, Form.YAML)
    for source in (*_by_name(documents), *_by_mention(scripts, documents)):
        if source.form is Form.YAML and not source.name.startswith(("sky", "task", "job")):
            continue
        for line, text, variables in _lines(source):
            command = parse_command(text, variables, source, line)
            if command is not None:
                found.append(command)
            if len(found) >= MAX_COMMANDS:
                return tuple(found)
    return tuple(found)


def parse_command(text: str, variables: Mapping[str, str], source: Source, line: int) -> LaunchCommand | None:
    """Read one command line; None where it starts nothing that we know."""
    words = _words(_substitute(text, variables))
    visible = next((w.partition("=")[2] for w in words if w.startswith("CUDA_VISIBLE_DEVICES=")), None)
    while words and (re.fullmatch(r"[A-Za-z_]\w*=.*", words[0]) or words[0] in _PREFIXES or words[0].startswith("--")):
        words.pop(0)
    if not words:
        return None
    tool, rest = _tool(words)
    if tool is None:
        return None
    options, places = _options(rest)
    target = _target(tool, options, places)
    if target is None:
        return None
    processes = _processes(tool, options, visible)
    nodes = next((_count(options.get(flag)) for flag in _NODE_FLAGS if flag in options), None) or 1
    configs = tuple(w for w in [*places, *options.values()] if _CONFIG.fullmatch(w))
    if tool == "accelerate" and processes is None and any("multi_gpu" in key for key in options):
        processes = None
    folded = {key.replace("-", "_"): value for key, value in options.items()}
    return LaunchCommand(
        tool, target, processes, nodes, folded, configs, Evidence(source.path, line), source, tuple(places)
    )


def _by_name(documents: Sequence[Source]) -> tuple[Source, ...]:
    """Return documents with the English README of each depth first."""
    return tuple(
        sorted(documents, key=lambda s: (s.depth, s.name not in {"readme.md", "readme.rst", "readme_en.md"}, s.path))
    )


def _by_mention(scripts: Sequence[Source], documents: Sequence[Source]) -> list[Source]:
    """Return scripts with those that documentation names first, in its order: a reader is told to start these."""
    text = "\n".join(document.text for document in _by_name(documents))[:MAX_MENTIONING]
    places = {source.path: text.find(source.path.rsplit("/", 1)[-1]) for source in scripts}
    return sorted(scripts, key=lambda source: (places[source.path] < 0, places[source.path], source.depth, source.path))


def _lines(source: Source) -> Iterator[tuple[int, str, dict[str, str]]]:
    """Yield line number, joined command, and the shell variables known there (to be read before the next is asked for)."""
    variables: dict[str, str] = {}
    inside = source.form is not Form.MARKDOWN
    pending, start = "", 0
    for number, line in enumerate(source.text.split("\n"), 1):
        if source.form is Form.MARKDOWN and _FENCE.match(line):
            inside = not inside
            pending = ""
            continue
        is_indented = source.form is Form.MARKDOWN and (line.startswith(("    ", "\t")) or source.name.endswith(".rst"))
        shown = line
        if not inside and not is_indented:
            inline = re.findall(r"`([^`\n]{6,300})`", line[:2000])
            shown = next(
                (text for text in inline if re.match(r"(?:python3?|torchrun|accelerate|deepspeed|vllm)\s", text)), ""
            )
        if not pending:
            start = number
        pending = f"{pending} {shown.strip()}".strip()
        if shown.rstrip().endswith("\\"):
            pending = pending.rstrip("\\ ")[:8000]
            continue
        joined, pending = pending, ""
        if found := _VARIABLE.match(joined):
            variables[found[1]] = _substitute(found[2].strip("\"'"), variables)[:500]
            continue
        for part in re.split(r"&&|\|\||;", joined.removeprefix("RUN ").removeprefix("CMD ")):
            if part.strip():
                yield start, part.strip().lstrip("$>@! ").strip("[]"), variables


def _substitute(text: str, variables: Mapping[str, str]) -> str:
    """Put known shell variables into the text; ``${X:-fallback}`` gives its fallback."""
    text = re.sub(r"\$\{(\w+):-([^}]{0,300})\}", lambda m: variables.get(m[1]) or m[2], text[:8000])
    return re.sub(r"\$\{?(\w+)\}?", lambda m: variables.get(m[1], m[0]), text)[:8000]


def _words(text: str) -> list[str]:
    try:
        words = shlex.split(text, comments=True)
    except ValueError:
        words = text.split()
    return [word.strip(",") for word in words]


def _tool(words: list[str]) -> tuple[str | None, list[str]]:
    first = words[0].rsplit("/", 1)[-1]
    if re.fullmatch(r"python(?:3(?:\.\d+)?)?|ipython", first):
        rest = words[1:]
        while rest and rest[0] in {"-u", "-O", "-B"}:
            rest = rest[1:]
        if rest[:1] == ["-m"] and len(rest) > 1:
            module = rest[1]
            if module in {"torch.distributed.launch", "torch.distributed.run"}:
                return "torchrun", rest[2:]
            if module == "accelerate.commands.launch":
                return "accelerate", rest[2:]
            if module in {"pip", "venv", "ipykernel", "pytest", "http.server"}:
                return None, []
            return "python", [module, *rest[2:]]
        return "python", rest
    if first == "accelerate" and "launch" in words[1:3]:
        return "accelerate", words[words.index("launch") + 1 :]
    if first == "tune" and words[1:2] == ["run"]:
        return "tune", words[2:]
    if first in {"torchrun", "deepspeed", "horovodrun", "mpirun", "composer"}:
        return first, words[1:]
    if first == "colossalai" and words[1:2] == ["run"]:
        return first, words[2:]
    if first in _TOOLS or first in _INTERFACES:
        return first, words[1:]
    return None, []


def _options(words: list[str]) -> tuple[dict[str, str], list[str]]:
    """Return options by name without dashes, and the words by place."""
    options: dict[str, str] = {}
    places: list[str] = []
    index = 0
    while index < len(words):
        word = words[index]
        following = words[index + 1] if index + 1 < len(words) else ""
        if word.startswith("-") and len(word) > 1 and not re.fullmatch(r"-\d.*", word):
            name, equals, value = word.lstrip("-").partition("=")
            if equals:
                options.setdefault(name, value)
            elif (
                following
                and not following.startswith("--")
                and not re.fullmatch(r"-[A-Za-z]\w*|\+{0,2}[A-Za-z_][\w.]*=.*", following)
            ):
                if following.endswith(".py"):
                    options.setdefault(name, "True")
                else:
                    options.setdefault(name, following)
                    index += 1
            else:
                options.setdefault(name, "True")
        elif (hydra := re.fullmatch(r"\+{0,2}([A-Za-z_][\w.]*)=(.*)", word)) is not None:
            options.setdefault(hydra[1], hydra[2])
        else:
            places.append(word)
        index += 1
    return options, places


def _target(tool: str, options: Mapping[str, str], places: list[str]) -> str | None:
    """Return what is started: a script, a module, or the tool's own command."""
    if tool in _TOOLS:
        # In prose and drawings a tool's name stands alone; a command goes on with a word, a file or an option.
        is_command = bool(places and re.fullmatch(r"[A-Za-z][\w./-]*", places[0])) or (bool(options) and not places)
        return " ".join([tool, *places[:1]]) if is_command else None
    script = next((place for place in places if place.endswith((".py", ".ipynb"))), None)
    if script is not None:
        return script
    if tool == "accelerate" and "m" in options:
        return options["m"]
    if tool == "python":
        return places[0] if places and re.fullmatch(r"[A-Za-z_]\w*(?:\.\w+)+|[a-z_]\w+", places[0]) else None
    if tool in _INTERFACES or tool in {"composer", "torchrun"}:
        return next(iter(places), tool)
    return None


def _processes(tool: str, options: Mapping[str, str], visible: str | None) -> int | None:
    for flag in _COUNT_FLAGS.get(tool, ()):
        if flag in options:
            count = _count(options[flag])
            if count:
                return count
    if tool == "deepspeed" and (found := re.search(r":([\d,]+)$", options.get("include", ""))):
        return len(found[1].split(","))
    if visible and re.fullmatch(r"\d+(?:,\d+)*", visible):
        return len(visible.split(","))
    return None


def _count(text: str | None) -> int | None:
    found = re.fullmatch(r"(\d{1,3})(?::\d+)?", (text or "").strip())
    return int(found[1]) if found and 0 < int(found[1]) <= 512 else None
