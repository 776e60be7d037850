"""A justfile's lines as a Makefile has them: ``{{model}}`` is a variable, and a recipe's parameters are set before it.

Source: https://just.systems/man/en/recipe-parameters.html.
"""

from __future__ import annotations

from gpu_lol_action.domain.patterns import regex

_PUT = regex(r"\{\{[ \t]{0,4}(\w{1,60})[ \t]{0,4}\}\}")
_VALUE = r"(?:\"([^\"\n]{0,200})\"|'([^'\n]{0,200})'|([\w./-]{1,200}))"
_PLAIN = r"(?:\"[^\"\n]{0,200}\"|'[^'\n]{0,200}'|[\w./-]{1,200})"
_RECIPE = regex(rf"@?([A-Za-z_][\w-]*)((?:[ \t]+[+*$]?\w{{1,60}}(?:={_PLAIN})?){{1,12}})[ \t]*:(?!=)")
_PARAMETER = regex(rf"(\w{{1,60}})(?:={_VALUE})?")


def just_line(text: str) -> tuple[str, list[str]]:
    """Return a line of a justfile with its variables as a shell has them, and the assignments that a recipe's parameters are.

    A parameter that starts with nothing is the caller's to fill in.
    """
    line = _PUT.sub(r"${\1}", text)
    head = _RECIPE.match(line)
    if head is None:
        return line, []
    starting = []
    for name, double, single, bare in _PARAMETER.findall(head[2]):
        variable = f"${bare}" if bare and not bare[0].isdigit() else bare
        starting.append(f'{name}="{double or single or variable or f"<{name}>"}"')
    return f"{head[1]}:", starting
