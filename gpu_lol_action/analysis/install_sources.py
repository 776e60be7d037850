"""Which installation commands count: of the image, of install scripts, and of the documentation beside the run."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from gpu_lol_action.analysis.checkout import Checkout, Source
from gpu_lol_action.analysis.entry_points import Run
from gpu_lol_action.analysis.install_commands import InstallCommand, read_install_commands
from gpu_lol_action.analysis.package_files import package_name
from gpu_lol_action.analysis.paths import Form, Role
from gpu_lol_action.analysis.project_files import is_development
from gpu_lol_action.analysis.rented_machines import task_for
from gpu_lol_action.domain.patterns import regex

_INSTALLS = regex(r"install|set[- ]?up|environment|requirement|dependenc|getting started|quick ?start|prepar|prerequisite|conda|\bpip\b|"
                       r"build|安装|环境|准备|依赖|インストール|환경|설치", re.IGNORECASE)  # fmt: skip
_ASIDE = regex(r"optional|develop|contribut|\btests?\b|testing|\bdocs?\b|documentation|windows|\bmac|apple|\bamd\b|rocm|cpu[- ]only|"
                    r"troubleshoot|faq|evaluat|benchmark|uninstall|alternativ|export|colab|\btpu\b|ascend|\bnpu\b|intel|release|publish|"
                    r"visuali[sz]|notebook|\bxpu\b|jetson|acknowledg|citation|可选", re.IGNORECASE)  # fmt: skip
_SCRIPT = regex(
    r"(?:^|[_-])(?:install|setup|env|environment|deps|dependencies|bootstrap|requirements|conda)(?:[_.-]|$)"
)
_OF_THE_PAST = regex(
    r"(?:^|[/_.-])(?:v\d{1,3}\.\d{1,3}[\w.]{0,20}|old|legacy|deprecated|archived?)(?=[/_.-])", re.IGNORECASE
)
# Tools of a developer's desk, and what only sends the code to a host or sets up one: the machine has its own, or needs none.
_TOOLS = frozenset({"pip", "uv", "poetry", "pipenv", "virtualenv", "conda", "setuptools", "wheel", "build", "twine", "pdm",
                    "pre-commit", "pip-tools", "tox", "nox", "pytest", "black", "ruff", "flake8", "mypy", "isort", "jupyter",
                    "jupyterlab", "notebook", "ipykernel", "mamba", "cog", "truss", "condacolab"})  # fmt: skip


def counting_commands(checkout: Checkout, run: Run | None, *, has_list: bool) -> tuple[InstallCommand, ...]:
    """Return the commands that count, those of the image first. Without a list, documentation speaks more freely."""
    found: list[InstallCommand] = []
    for source in main_dockerfiles(checkout)[:1]:
        found += read_install_commands(source)
    for source in checkout.of(Form.SHELL):
        if is_development(source.name.removesuffix(".sh")):
            continue  # `install_dev.sh`, `setup_mac.sh`
        if has_list and _OF_THE_PAST.search(f"{source.folder}/"):
            continue  # `v1.0.0/install.sh` beside today's list
        if not has_list or (source.depth <= 1 and _SCRIPT.search(source.name.removesuffix(".sh"))):
            found += read_install_commands(source)
    task = task_for(checkout, run)
    if task is not None and not (has_list and run is None):
        found += read_install_commands(task.source)
    if run is not None and run.script is not None and run.script.form is Form.NOTEBOOK:
        found += read_install_commands(run.script)
    elif not has_list:
        found += [command for source in checkout.of(Form.NOTEBOOK) for command in read_install_commands(source)]
    for source in _documents(checkout, run):
        told = _of_document(read_install_commands(source), has_list=has_list)
        found += [_without_other_servers(command, run) for command in told]
    return tuple(_without_tools(command) for command in found)


def main_dockerfiles(checkout: Checkout) -> tuple[Source, ...]:
    """Return Dockerfiles for this kind of machine, shallow ones first."""
    files = checkout.of(Form.DOCKERFILE)
    fit = [
        source
        for source in files
        if not is_development(source.path) and not re.search(r"arm64|aarch|jetson|frontend|web", source.path.lower())
    ]
    return tuple(fit)


def _documents(checkout: Checkout, run: Run | None) -> list[Source]:
    """Return the READMEs and installation pages at the root and beside what is started."""
    folder = run.script.folder if run and run.script else ""
    named = [source for source in checkout.of(Form.MARKDOWN, roles=(Role.DOCUMENTATION,))
             if re.match(r"readme|install|setup|getting[_-]?started|quick[_-]?start", source.name)]  # fmt: skip
    places = {folder, *(folder[:place] for place, letter in enumerate(folder) if letter == "/")}
    near = [source for source in named if source.folder in {"", "docs", "doc", *places}]
    near = near or [source for source in named if source.depth == named[0].depth]
    return sorted(
        near,
        key=lambda s: (-s.depth if s.folder in places else 99, not re.fullmatch(r"readme\.(?:md|rst)", s.name), s.path),
    )[:6]


def _of_document(commands: Sequence[InstallCommand], *, has_list: bool) -> list[InstallCommand]:
    """Return a document's commands that install for the run: under a heading of that kind, or beside one that installs a list."""
    blocks = {
        command.block for command in commands if command.values("include") or command.values("local") or command.python
    }
    return [
        command
        for command in commands
        if not _ASIDE.search(command.heading)
        and (not has_list or command.block in blocks or not command.heading or _INSTALLS.search(command.heading))
    ]


def _without_tools(command: InstallCommand) -> InstallCommand:
    kept = tuple(item for item in command.declared if package_name(item.requirement) not in _TOOLS)
    return command if len(kept) == len(command.declared) else replace(command, declared=kept)


# Documents show how a model is served by each of them, one after another: a run needs the one that it is, if it is one.
SERVERS = frozenset({"vllm", "sglang", "lmdeploy", "text-generation", "mlc-llm", "ktransformers", "xinference"})
_OF_SERVING = regex(r"serv(?:e|ing)|deploy|inferenc|infer\b|vllm|sglang|\btgi\b|部署|推理", re.IGNORECASE)


def _without_other_servers(command: InstallCommand, run: Run | None) -> InstallCommand:
    """Return a command without the servers that the run neither is nor imports: of a section on serving, or where it is a server."""
    if run is None or command.values("local") or not SERVERS & {package_name(d.requirement) for d in command.declared}:
        return command
    started = {run.command.tool, run.command.target.split(".")[0]} if run.command is not None else set[str]()
    if not _OF_SERVING.search(command.heading) and not started & SERVERS:
        return command
    code = run.script.code if run.script is not None else None
    own = started | {name.replace("_", "-") for name in (code.imported() if code is not None else ())}
    kept = (item for item in command.declared if package_name(item.requirement) not in SERVERS - own)
    return replace(command, declared=tuple(kept))
