from __future__ import annotations

from dataclasses import dataclass

import jinja2
import pytest

from gpu_lol_action.render.markdown import Safe
from gpu_lol_action.render.templating import _environment, refuse_unescaped, templates_folder


@dataclass(frozen=True)
class View:
    raw: str
    safe: Safe


def filled(source: str) -> str:
    return _environment().from_string(source).render(view=View("a_b", Safe("c_d")))


def test_safe_and_filtered_values_are_printed() -> None:
    assert filled("{{ view.safe }} {{ view.raw|inline }}") == "c_d a\\_b"


@pytest.mark.parametrize("source", ["{{ view.raw }}", "{{ view.safe ~ 'x' }}", "{{ 1 }}", "{{ none }}", "{{ 'x' }}"])
def test_what_passed_no_filter_is_refused(source: str) -> None:
    with pytest.raises(TypeError, match="passed no escaping filter"):
        filled(source)


def test_a_value_that_is_not_there_is_an_error() -> None:
    with pytest.raises((jinja2.UndefinedError, TypeError)):
        filled("{{ view.nothing }}")


@pytest.mark.parametrize("name", ["safe", "upper", "replace", "join"])
def test_filters_of_the_template_language_are_not_there(name: str) -> None:
    with pytest.raises(jinja2.TemplateAssertionError):
        filled(f"{{{{ view.raw|{name} }}}}")


def test_refusal_names_the_value() -> None:
    with pytest.raises(TypeError, match="a_b"):
        refuse_unescaped("a_b")


def test_templates_are_found() -> None:
    assert (templates_folder() / "comments" / "proposal.md.j2").is_file()
