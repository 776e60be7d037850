"""Loading and filling templates: the only place that knows Jinja, but for what keeps the compiled ones (`kept_templates`)."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from gpu_lol_action.render import markdown
from gpu_lol_action.render.markdown import Safe

if TYPE_CHECKING:
    import jinja2

_FILTERS: Mapping[str, Callable[..., Safe]] = {
    "inline": markdown.inline,
    "code": markdown.code,
    "html": markdown.html_text,
    "html_code": markdown.html_code,
    "prose": markdown.prose,
    "fence": markdown.fence,
    "mention": markdown.mention,
}


def fill(template: str, **values: object) -> str:
    """Return the template filled; raises TypeError where a value passed no escaping filter."""
    return _environment().get_template(template).render(**values).strip("\n")


def render_comment(template: str, view: object) -> str:
    """Return a comment from its template and view, whole; whoever posts it cuts it to the size that GitHub takes."""
    return fill(f"comments/{template}.md.j2", view=view)


def refuse_unescaped(value: object) -> str:
    """Let through only what a filter or this package made: repository text cannot slip into a comment."""
    if isinstance(value, Safe):
        return value
    raise TypeError(f"a template printed {type(value).__name__} {str(value)[:60]!r} that passed no escaping filter")


def templates_folder() -> Path:
    """Return where the templates are: inside the package in a wheel, beside it in a checkout."""
    package = Path(__file__).resolve().parents[1]
    inside = package / "templates"
    return inside if inside.is_dir() else package.parent / "templates"


@functools.lru_cache(maxsize=1)
def _environment() -> jinja2.Environment:
    import jinja2  # late: a reaction is posted before anything has to be said

    from gpu_lol_action.render.kept_templates import kept_templates

    environment = jinja2.Environment(  # as S701 below  # nosec B701
        loader=jinja2.FileSystemLoader(templates_folder()),
        undefined=jinja2.StrictUndefined,
        finalize=refuse_unescaped,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        bytecode_cache=kept_templates(),
        autoescape=False,  # noqa: S701 - Markdown has its own filters, and `finalize` refuses what passed none of them
    )
    environment.filters = dict(_FILTERS)  # Jinja's own filters return plain text, which `finalize` would refuse
    return environment
