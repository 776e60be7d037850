"""Which installation commands count: of the image, of install scripts, and of the documentation beside the run."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from gpu_lol_action.analysis.dependencies.cloned_projects import of_others
from gpu_lol_action.analysis.dependencies.install_commands import InstallCommand, read_install_commands
from gpu_lol_action.analysis.documents.document_layout import section_around
from gpu_lol_action.analysis.files.checkout import Checkout, Source
from gpu_lol_action.analysis.formats.paths import Form, Role
from gpu_lol_action.analysis.package_lists.package_files import package_name
from gpu_lol_action.analysis.package_lists.project_files import is_development
from gpu_lol_action.analysis.runs.entry_points import Run
from gpu_lol_action.analysis.runs.rented_machines import task_for
from gpu_lol_action.analysis.runs.run_levels import levels_of
from gpu_lol_action.domain.patterns import regex

_DATABRICKS = "# Databricks notebook source"
_INSTALLS = regex(r"install|set[- ]?up|environment|requirement|dependenc|getting started|quick ?start|prepar|prerequisite|conda|\bpip\b|"
                       r"build|compil|安装|环境|准备|依赖|インストール|환경|설치", re.IGNORECASE)  # fmt: skip
_ASIDE = regex(r"optional|develop|contribut|\btests?\b|testing|\bdocs?\b|documentation|windows|\bmac|apple|\bamd\b|rocm|cpu[- ]only|"
                    r"troubleshoot|faq|evaluat|benchmark|uninstall|alternativ|export|colab|\btpu\b|ascend|\bnpu\b|intel|release|publish|"
                    r"visuali[sz]|notebook|\bxpu\b|jetson|acknowledg|citation|可选", re.IGNORECASE)  # fmt: skip
# Builds and packages for other makers' hardware: the whole command is for those who have that.
_ELSEWHERE = regex(
    r"(?:intel[-_]extension[-_]for[-_]\w{1,20}|torch[-_](?:npu|xla|directml)|mlx(?:[-_]\w{1,20})?|tensorflow-(?:metal|macos))(?![\w-]).*|"
    r"[^@/]{1,200}\+(?:xpu|rocm)[\w.]{0,20}",
    re.IGNORECASE,
)
# Where a manual keeps how to install, of which the README then says nothing.
_GUIDES = regex(
    r"docs?/(?:(?:source|src|en)/)?(?:getting[-_]?started|install(?:ation)?|quick[-_]?start|user[-_]?guide|guides?)"
)
_SCRIPT = regex(
    r"(?:^|[_-])(?:install|setup|env|environment|deps|dependencies|bootstrap|requirements|conda)(?:[_.-]|$)"
)
# What a script that installs calls what it installs: `install_tools.sh`.
_OF_TOOLS = regex(r"(?<=[_-])tools?$")
# Folders whose scripts speak for the whole tree; any other's (`beta/install.sh`) for itself.
_FOR_ALL = regex(
    r"\.?(?:scripts?|tools?|bin|docker|containers?|install(?:ation|ers?)?|setup|envs?|environments?|requirements?|conda|build|utils?|sh|"
    r"shell|bash|misc|dependencies|deps|third[-_]?party|ops|libs?|ext|extensions|devcontainer|dev|config|assets|src|resources)",
    re.IGNORECASE,
)
_PROJECTS = frozenset({"pyproject.toml", "setup.py"})
# Folders that hold what images are made of, whatever programs lie there.
_FOR_IMAGES = regex(r"docker|contain|deploy|\benv|image|build|infra|setup", re.IGNORECASE)
_OF_TRITON = regex(r"triton|trt[-_]?llm|tensorrt[-_]?llm", re.IGNORECASE)
DEEP = 2  # folders that are no images' own, from which on an image is the program's that lies there
_FOR_DOCKER = regex(r"(?:^|/)(?:docker(?:files?)?|containers?)$", re.IGNORECASE)
_COMMON_NAMES = frozenset(
    {"main.py", "app.py", "train.py", "run.py", "server.py", "test.py", "demo.py", "inference.py", "api.py", "cli.py"}
)
# Tools of a developer's desk, and what only sends the code to a host or sets up one: the machine has its own, or needs none.
TOOLS = frozenset({"pip", "uv", "poetry", "pipenv", "virtualenv", "conda", "setuptools", "wheel", "build", "twine", "pdm",
                    "pre-commit", "pip-tools", "tox", "nox", "pytest", "black", "ruff", "flake8", "mypy", "isort", "jupyter",
                    "jupyterlab", "notebook", "ipykernel", "mamba", "pipx", "cog", "truss", "condacolab"})  # fmt: skip


def counting_commands(checkout: Checkout, run: Run | None, *, has_list: bool) -> tuple[InstallCommand, ...]:
    """Return the commands that count, those of the image first. Without a list, documentation speaks more freely."""
    found: list[InstallCommand] = []
    own = run.script.folder if run is not None and run.script is not None else ""
    for source in main_dockerfiles(checkout, run)[:1]:
        found += read_install_commands(source)
    for source in checkout.of(Form.SHELL):
        if is_development(_OF_TOOLS.sub("", source.name.removesuffix(".sh"))):
            continue  # `install_dev.sh`, `setup_mac.sh`
        is_near = source.depth == 0 or (
            source.depth == 1 and (source.folder == own or _FOR_ALL.fullmatch(source.folder))
        )
        if not has_list or (is_near and _SCRIPT.search(source.name.removesuffix(".sh"))):
            found += read_install_commands(source)
    task = task_for(checkout, run)
    if task is not None and not (has_list and run is None):
        found += read_install_commands(task.source)
    if run is not None and run.script is not None and _has_cells(run.script):
        found += read_install_commands(run.script)
    elif not has_list:
        cells = (source for source in checkout.of(Form.NOTEBOOK, Form.PYTHON) if _has_cells(source))
        found += [command for source in cells for command in read_install_commands(source)]
    for source in _documents(checkout, run):
        told = _of_document(read_install_commands(source), _above_run(source, run), has_list=has_list)
        found += [_without_other_servers(command, run) for command in told]
    return tuple(_without_tools(of_others(checkout, command)) for command in found)


def _has_cells(source: Source) -> bool:
    """Whether it is a notebook, or one of Databricks' that is kept as a program."""
    return source.form is Form.NOTEBOOK or (source.mentions(_DATABRICKS) and source.text.startswith(_DATABRICKS))


def main_dockerfiles(checkout: Checkout, run: Run | None) -> tuple[Source, ...]:
    """Return Dockerfiles for this kind of machine: what starts the run's program first, then shallow ones.

    Beside a list or a project of the root's own, those of another project that was copied in are that one's.
    """
    others = _copied_in(checkout, run)
    found = (
        source
        for source in checkout.of(Form.DOCKERFILE)
        if not is_development(source.path)
        and not regex(r"arm64|aarch|jetson|frontend|web|monitor|grafana|dashboard").search(source.path.lower())
        and not f"{source.folder}/".startswith(others)
        and not _is_of_a_sibling(checkout, source, run)
        and not _is_of_another(source, run)
    )
    return tuple(sorted(found, key=lambda source: not _starts(source, run)))


def _is_of_another(dockerfile: Source, run: Run | None) -> bool:
    """Whether an image is of a program deep in the tree (``annotator/zoe/net``), or of an inference server, and the run is neither."""
    path = run.script.path if run is not None and run.script is not None else ""
    command = run.command.target if run is not None and run.command is not None else ""
    if _OF_TRITON.search(dockerfile.path) and not _OF_TRITON.search(f"{path} {command}"):
        return True
    home = [part for part in dockerfile.folder.split("/") if part and not _FOR_IMAGES.search(part)]
    return len(home) >= DEEP and not path.startswith(f"{'/'.join(home)}/") and not _starts(dockerfile, run)


def _starts(dockerfile: Source, run: Run | None) -> bool:
    """Whether an image names the run's program; of a name that many programs have, one above the program."""
    script = run.script if run is not None else None
    if script is None or script.form is not Form.PYTHON or script.name not in dockerfile.text:
        return False
    home = _FOR_DOCKER.sub("", dockerfile.folder)
    return script.name not in _COMMON_NAMES or f"{script.folder}/".startswith(f"{home}/")


def _is_of_a_sibling(checkout: Checkout, dockerfile: Source, run: Run | None) -> bool:
    """Whether an image lies above the programs of one sub-project, and what is started in another: each has its own."""
    script = run.script if run is not None else None
    levels = levels_of(checkout)
    if script is None or not (levels.of(script.path) and levels.of(dockerfile.path)):
        return False
    if script.path.partition("/")[0] == dockerfile.path.partition("/")[0] or _FOR_IMAGES.search(dockerfile.folder):
        return False
    return any(source.path.startswith(f"{dockerfile.folder}/") for source in checkout.of(Form.PYTHON))


def _copied_in(checkout: Checkout, run: Run | None) -> tuple[str, ...]:
    """Return the folders, each with its slash, of projects below a root that has a project or a list, which the run is not of."""
    files = checkout.of(Form.TOML, Form.PYTHON, Form.REQUIREMENTS, roles=(Role.PACKAGES,))
    if not any(source.depth == 0 and not is_development(source.name) for source in files):
        return ()
    started = [] if run is None else [run.evidence.path, *([run.script.path] if run.script is not None else [])]
    projects = {f"{source.folder}/" for source in files if source.folder and source.name in _PROJECTS}
    return tuple(sorted(each for each in projects if not any(path.startswith(each) for path in started)))


def _documents(checkout: Checkout, run: Run | None) -> list[Source]:
    """Return the READMEs and installation pages at the root and beside what is started."""
    folder = run.script.folder if run and run.script else ""
    named = [source for source in checkout.of(Form.MARKDOWN, roles=(Role.DOCUMENTATION,))
             if regex(r"readme|install|setup|getting[_-]?started|quick[_-]?start").match(source.name)]  # fmt: skip
    places = {folder, *(folder[:place] for place, letter in enumerate(folder) if letter == "/")}
    near = [source for source in named if source.folder in {"", "docs", "doc", *places}]
    near = near or [source for source in named if source.depth == named[0].depth]
    if not any(" install " in source.text for source in near):
        near += [source for source in named if _GUIDES.fullmatch(source.folder) and source not in near]
    return sorted(
        near,
        key=lambda s: (
            -s.depth if s.folder in places else 99,
            not regex(r"readme\.(?:md|rst)").fullmatch(s.name),
            s.path,
        ),
    )[:6]


def _above_run(document: Source, run: Run | None) -> range:
    """Return the lines of a document's section that lead up to the run that it shows; none of a document that does not show it."""
    said = (
        run.command.said if run is not None and run.command is not None else run.evidence if run is not None else None
    )
    if said is None or said.path != document.path:
        return range(0)
    return range(section_around(document.text.split("\n"), said.line).start, said.line)


def _of_document(commands: Sequence[InstallCommand], above: range, *, has_list: bool) -> list[InstallCommand]:
    """Return a document's commands that install for the run: under a heading of that kind, beside one that installs a list, or ``above`` it."""
    blocks = {command.block for command in commands if _installs_list(command)}
    return [
        command
        for command in commands
        if not _ASIDE.search(command.heading)
        and not any(_ELSEWHERE.fullmatch(item.requirement) for item in command.declared)
        and (
            not has_list
            or command.block in blocks
            or not command.heading
            or command.evidence.line in above
            or _INSTALLS.search(command.heading)
        )
    ]


def _installs_list(command: InstallCommand) -> bool:
    """Whether a command installs a list, an environment, or the project at hand; not a part of it that only some steps need (``models/ops``)."""
    is_part = "/" in command.folder and command.values("local") == (".",)
    return bool(command.values("include") or command.python or (command.values("local") and not is_part))


def _without_tools(command: InstallCommand) -> InstallCommand:
    kept = tuple(item for item in command.declared if package_name(item.requirement) not in TOOLS)
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
