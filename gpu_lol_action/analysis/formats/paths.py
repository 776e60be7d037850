"""Which files of a checkout are read, and for what each may speak."""

from __future__ import annotations

import enum
from collections.abc import Iterator, Sequence

from gpu_lol_action.domain.patterns import regex

ALIKE = 0.5
"""Part of two names' letters that agree, from which on one is taken for the folder's new name (``mtmt``, ``mmt``)."""
MOST_FOLDERS = 40


class Role(enum.Enum):
    """What a file may speak for: the workload (code, configuration, launch scripts), packages, or documentation."""

    WORKLOAD = "workload"
    PACKAGES = "packages"
    DOCUMENTATION = "documentation"
    ASIDE = "aside"


class Form(enum.Enum):
    """How a file is read."""

    PYTHON = "python"
    NOTEBOOK = "notebook"
    SHELL = "shell"
    YAML = "yaml"
    JSON = "json"
    TOML = "toml"
    GIN = "gin"
    MARKDOWN = "markdown"
    REQUIREMENTS = "requirements"
    DOCKERFILE = "dockerfile"
    INI = "ini"
    CPP = "c++"
    BATCH = "batch"


# Never entered: what tools and other people's code leave behind.
SKIPPED_FOLDERS = frozenset({
    ".git", ".hg", ".svn", ".tox", ".nox", ".venv", "venv", ".env", "node_modules", "site-packages", "__pycache__",
    ".mypy_cache", ".pytest_cache", ".ruff_cache", ".ipynb_checkpoints", ".idea", ".vscode", "third_party",
    "third-party", "thirdparty", "vendor", "vendored", "_vendor", "submodules", "wandb", "mlruns", "checkpoints",
    ".eggs", "htmlcov", "bower_components",
})  # fmt: skip
# Read, but never for the workload.
_ASIDE_FOLDERS = frozenset({"test", "tests", "testing", "unittests", "unit_tests", "fixtures", "test_fixtures", "testdata", "test_data", "docs", "doc", ".github",
                            ".circleci", ".gitlab", "benchmark", "benchmarks", "build", "dist", ".claude", "site"})  # fmt: skip
_ASIDE_FILES = regex(r"(?:test_[^/]*|[^/]*_test|conftest|noxfile|setup_test[^/]*)\.py")
_LOCKS = frozenset({"package-lock.json", "yarn.lock", "pnpm-lock.yaml", "poetry.lock", "uv.lock", "pdm.lock", "pixi.lock",
                    "pipfile.lock", "conda-lock.yml", "tokenizer.json", "vocab.json", "package.json", "tsconfig.json"})  # fmt: skip
# `apt-requirements.txt` is for the system, and names no package of Python.
_REQUIREMENTS = regex(r"(?!apt\b|[^/]*[-_.]apt\b)(?:[^/]*requirements?[^/]*|constraints?[^/]*|pip)\.(?:txt|in)")
_ENVIRONMENTS = regex(r"(?:[^/]*environment[^/]*|conda[^/]*|env)\.ya?ml")

_READMES = (".org", ".txt", ".adoc", ".mkd")  # what of these suffixes is no README is data or a note
_DSTACK = (".dstack.yml", ".dstack.yaml")  # dstack's own name for what it starts begins with a dot
_PROJECT_FILES = frozenset(
    {
        "pyproject.toml",
        "setup.py",
        "setup.cfg",
        "pipfile",
        "pixi.toml",
        ".python-version",
        "runtime.txt",
        "settings.ini",
    }
)

_FORMS = {
    ".py": Form.PYTHON,
    ".ipynb": Form.NOTEBOOK,
    ".sh": Form.SHELL,
    ".bash": Form.SHELL,
    ".slurm": Form.SHELL,
    ".sbatch": Form.SHELL,
    ".slm": Form.SHELL,
    ".pbs": Form.SHELL,
    ".lsf": Form.SHELL,
    ".qsub": Form.SHELL,
    ".sub": Form.SHELL,
    ".zsh": Form.SHELL,
    ".yaml": Form.YAML,
    ".yml": Form.YAML,
    ".json": Form.JSON,
    ".toml": Form.TOML,
    ".gin": Form.GIN,
    ".md": Form.MARKDOWN,
    ".mdx": Form.MARKDOWN,
    ".markdown": Form.MARKDOWN,
    ".rst": Form.MARKDOWN,
    ".cfg": Form.INI,
    ".bat": Form.BATCH,
    ".cmd": Form.BATCH,
    ".ps1": Form.BATCH,
}


# What sets variables for whoever reads it, line by line as a shell does.
_VARIABLES = regex(r"(?:[\w-]{0,40}\.)?env(?:\.[\w-]{1,30})?")


def sets_variables(path: str) -> bool:
    """Whether the file is one of variables, or what it is copied from: ``.env``, ``.env.example``, ``server.env``."""
    return _is_of_variables(path.rpartition("/")[2].lower())


def _is_of_variables(small: str) -> bool:
    return small != "env" and _VARIABLES.fullmatch(small) is not None and small[small.rfind(".") :] not in _FORMS


def form_of(path: str) -> Form | None:
    """Return how the file is read; None for files that say nothing to us (data, pictures, lock files)."""
    name = path.rsplit("/", 1)[-1]
    small = name.lower()
    if small in _LOCKS or small.endswith((".lock", ".min.js")):
        return None
    if small.startswith(("dockerfile", "containerfile")) or small.endswith(".dockerfile"):
        return Form.DOCKERFILE
    if small.endswith(".py"):  # most are
        return Form.PYTHON if small != ".py" else None
    if small in {"makefile", "justfile", "procfile", "supervisord.conf"} or small.endswith((".mk", ".service")):
        return Form.SHELL
    if small in {"pipfile", "mlproject"}:
        return Form.TOML if small == "pipfile" else Form.YAML
    if small in {".python-version", "runtime.txt", "settings.ini"} or path in {
        "CMakeLists.txt",
        ".gitmodules",
    }:  # the root's alone says what all is built with
        return Form.INI
    if small.endswith((".cpp", ".cc", ".cxx")):
        return (
            Form.CPP if small == path.lower() else None
        )  # below the root it is an extension, or somebody else's library
    if _REQUIREMENTS.fullmatch(small) or (small.endswith(".txt") and "/requirements/" in f"/{path.lower()}"):
        return Form.REQUIREMENTS
    if small.startswith("readme") and ("." not in small or small.endswith(_READMES)):
        return Form.MARKDOWN
    dot = small.rfind(".")
    form = _FORMS.get(small[dot:]) if dot > 0 else None
    return Form.SHELL if form is None and _is_of_variables(small) else form


def is_named_like_a_test(path: str) -> bool:
    """Whether only a program's own name says that it is beside the workload, not a folder."""
    *folders, name = path.lower().split("/")
    is_named = name.endswith(".py") and (name.startswith("test_") or name.endswith("_test.py"))
    return is_named and not _ASIDE_FOLDERS.intersection(folders)


def role_of(path: str, form: Form) -> Role:
    """Return what the file may speak for."""
    parts = path.split("/")
    folders = {part.lower() for part in parts[:-1]}
    small = parts[-1].lower()
    is_aside = bool(folders & _ASIDE_FOLDERS) or bool(_ASIDE_FILES.fullmatch(small))
    if is_packages_file(path, form):
        return Role.ASIDE if is_aside else Role.PACKAGES
    if form is Form.MARKDOWN:
        return Role.DOCUMENTATION if not (folders & _ASIDE_FOLDERS - {"docs", "doc"}) else Role.ASIDE
    if is_aside or (small.startswith(".") and not small.endswith(_DSTACK)) or _is_of_variables(small):
        return Role.ASIDE
    return Role.WORKLOAD


def is_packages_file(path: str, form: Form) -> bool:
    """Whether the file lists packages."""
    small = path.rsplit("/", 1)[-1].lower()
    if form is Form.YAML:
        return bool(_ENVIRONMENTS.fullmatch(small))
    return form is Form.REQUIREMENTS or small in _PROJECT_FILES


def folders_above(path: str) -> Iterator[str]:
    """Yield the folders above a path, the nearest first, without the root."""
    folder = path.rpartition("/")[0]
    while folder:
        yield folder
        folder = folder.rpartition("/")[0]


def nearest_folder(folders: Sequence[str], named: str) -> int:
    """Return the place of the folder whose last part is spelled most like the named one's; the first where none is like it."""
    if len(folders) < 2:
        return 0
    from difflib import SequenceMatcher  # hardly any checkout asks

    last = [folder.rpartition("/")[2] for folder in (named, *folders[:MOST_FOLDERS])]
    alike = [SequenceMatcher(None, part, last[0], autojunk=False).ratio() for part in last[1:]]
    best = max(range(len(alike)), key=alike.__getitem__)
    return best if alike[best] >= ALIKE else 0


def joined(folder: str, reference: str) -> str:
    """Return a reference relative to a folder; one that leaves the checkout begins with ``..``."""
    parts = [part for part in folder.split("/") if part]
    for part in reference.split("/"):
        if part == ".." and parts and parts[-1] != "..":
            parts.pop()
        elif part not in {"", "."}:
            parts.append(part)
    return "/".join(parts)
