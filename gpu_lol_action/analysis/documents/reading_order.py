"""The order in which a reader meets documents, and the scripts that they tell of."""

from __future__ import annotations

from collections.abc import Sequence

from gpu_lol_action.analysis.files.checkout import Source

MAX_MENTIONING = 256 * 1024  # characters of documentation in which each of thousands of scripts is looked for


def by_name(documents: Sequence[Source]) -> tuple[Source, ...]:
    """Return documents with the English README of each depth first; without their endings, so that `a.md` comes before `a-b.md`."""
    names = {"readme.md": 0, "readme.rst": 0, "readme": 0, "readme_en.md": 0}

    def place(source: Source) -> tuple[int, int, str, str]:
        kind = names.get(source.name, 1 if source.name.startswith("readme") else 2)
        return source.depth, kind, source.path.rpartition(".")[0], source.path

    return tuple(sorted(documents, key=place))


def by_mention(scripts: Sequence[Source], documents: Sequence[Source]) -> list[Source]:
    """Return scripts with those that documentation names first, in its order: a reader is told to start these."""
    text = "\n".join(document.text for document in by_name(documents))[:MAX_MENTIONING]
    places = {source.path: text.find(source.path.rsplit("/", 1)[-1]) for source in scripts}
    return sorted(
        scripts,
        key=lambda source: (
            places[source.path] < 0,
            places[source.path],
            source.depth,
            source.path.rpartition(".")[0],  # without its ending, so that `run.sh` comes before `run-large.sh`
            source.path,
        ),
    )
