"""Tools wherever they lie: ``${MPI_BIN}mpirun``, and what a launcher starts from a folder of builds (``mpirun -np 4 build/bin/caffe train``)."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from gpu_lol_action.domain.patterns import regex


def bare_name(word: str) -> str:
    """Return a program's name without the folder that it lies in, also where a variable tells that with its last slash."""
    name = word.rsplit("/", 1)[-1]
    return regex(r"^\$\{\w{1,60}\}(?=\w)").sub("", name) if name.startswith("$") else name


def simulator_words(words: Sequence[str]) -> int:
    """Return how many words start the Python that a simulator brings (Isaac Lab's ``./isaaclab.sh -p train.py``, Isaac Sim's ``python.sh``); 0 for others."""
    name = bare_name(words[0])
    if name == "isaaclab.sh" and words[1:2] and words[1] in {"-p", "--python"}:
        return 2
    return int(name == "python.sh" and len(words) > 1 and words[1].endswith(".py"))


def tool_among(places: Sequence[str], tools: Collection[str], verbs: Mapping[str, Collection[str]]) -> str | None:
    """Return the tool that a launcher starts, with the word that says what it does where its name alone says too little."""
    for place, word in enumerate(places):
        name = word.rsplit("/", 1)[-1]
        if name not in tools:
            continue
        if name not in verbs:
            return name
        said = next((verb for verb in places[place + 1 : place + 2] if verb in verbs[name]), None)
        return f"{name} {said}" if said is not None else None
    return None
