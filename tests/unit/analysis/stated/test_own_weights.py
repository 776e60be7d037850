"""A repository's own weights tell how large its model is, by the title that they bear or by what they are made from."""

from __future__ import annotations

import pytest

from gpu_lol_action.analysis.answer.assemble import detect_all
from tests.unit.analysis.conftest import Build

CARD = """# {title}
```python
from transformers import pipeline
pipe = pipeline("text-generation", model="{loaded}", torch_dtype="auto", device_map="auto")
print(pipe(prompt)[0])
```
"""
HUB = "https://huggingface.co"


def sizes(checkout: Build, title: str, line: str, loaded: str = "us/Net3") -> list[str]:
    others = f"[one]({HUB}/they/One-70B) [two]({HUB}/they/Two-3B)"
    tree = checkout(
        {"README.md": f"{CARD.format(title=title, loaded=loaded)}\n## Model\n{line}\n## Others\n{others}\n"}
    )
    return [finding.value for finding in detect_all(tree) if finding.field == "documented.parameters_b"]


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        (f"Net3 is tuned from [Base-10.7B-v1]({HUB}/them/Base-10.7B-v1).", ["10.7"]),
        (f"- Net3은 [them/Base-10.7B]({HUB}/them/Base-10.7B)을 기반으로", ["10.7"]),
        (f"Net3 is better than [Base-10.7B]({HUB}/them/Base-10.7B).", []),
        (f"Net3-mini is tuned from [Base-1.5B]({HUB}/them/Base-1.5B).", []),  # another one
        (f"Net3 comes from [a]({HUB}/them/A-7B) and [b]({HUB}/them/B-13B).", []),
        (f"## Net3 and [Base-10.7B]({HUB}/them/Base-10.7B)", []),
        (f"It is tuned from [Base]({HUB}/them/Base).", []),
    ],
)
def test_the_base_that_a_line_links_tells_how_large_it_is(checkout: Build, line: str, expected: list[str]) -> None:
    assert sizes(checkout, "A chat", line) == expected


@pytest.mark.parametrize(
    ("title", "line", "expected"),
    [
        ("Draw: with words", f"[weights]({HUB}/us/Draw-16B) [text]({HUB}/them/Words-8B)", ["16"]),
        ("Draw: with words", f"<a href='{HUB}/us/Draw-16B'>", ["16"]),
        ("Draw: with words", f"[a]({HUB}/us/Draw-16B) [b]({HUB}/us/Draw-3B)", []),
        ("Drawing: with words", f"[a]({HUB}/us/Draw-16B) [b]({HUB}/them/Words-8B)", []),
        ("Draw", f"[data]({HUB}/datasets/us/Draw-16B) [b]({HUB}/them/X-8B) [c]({HUB}/them/Y-3B)", []),
    ],
)
def test_weights_that_bear_the_title_tell_how_large_it_is(
    checkout: Build, title: str, line: str, expected: list[str]
) -> None:
    assert sizes(checkout, title, line, loaded="us/Other") == expected
