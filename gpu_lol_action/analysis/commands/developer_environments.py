"""A conda environment of those who work on a library: what tests, builds and releases it, and every package that it can work with.

The library's own list beside it says what who installs it needs; such an environment brings TensorFlow to test one module with it.
"""

from __future__ import annotations

from gpu_lol_action.analysis.files.checkout import Checkout, Source
from gpu_lol_action.analysis.formats.paths import Form, Role
from gpu_lol_action.domain.patterns import regex

_PROJECTS = ("pyproject.toml", "setup.py", "setup.cfg")
_REQUIRES = ("dependencies", "install_requires")
_CREATED = regex(r"(?:conda|mamba) env (?:create|update)")
_TOOL = regex(
    r"(?:^|\n)[ \t]{0,8}-[ \t]{1,4}(pytest|tox|nox|twine|asv|pre-commit|flake8|black|sphinx|coverage|mypy|isort|ruff|pylint|mkdocs|codecov"
    r"|python-build|nbval|numpydoc|cython-lint|spin)(?![\w-])"
)
LEAST_TOOLS = 4
"""Of them kinds that an environment lists: who runs a program may have a formatter and a test runner beside it."""


def is_for_developers(checkout: Checkout, environment: Source) -> bool:
    """Whether an environment beside a project's own list is full of what works on it, and no README has its readers create it."""
    base = f"{environment.folder}/" if environment.folder else ""
    projects = (checkout.find(f"{base}{name}") for name in _PROJECTS)
    if not any(source is not None and any(map(source.mentions, _REQUIRES)) for source in projects):
        return False
    if len(set(_TOOL.findall(environment.text[:20_000]))) < LEAST_TOOLS:
        return False
    documents = checkout.of(Form.MARKDOWN, roles=(Role.DOCUMENTATION,))
    telling = (source.text.lower() for source in documents if source.name.startswith(("readme", "install")))
    return not any(environment.name in text or _CREATED.search(text) for text in telling)
