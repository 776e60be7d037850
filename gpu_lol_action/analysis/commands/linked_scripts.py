"""Launch scripts that a README's sentences send their reader to: "examples of training in [scripts/launch.sh](scripts/launch.sh)".

Under a heading on training such a link says what a command in a block does, where the section shows no command itself.
"""

from __future__ import annotations

from collections.abc import Iterator

from gpu_lol_action.analysis.commands.launch_lines import NOTHING, CommandLine
from gpu_lol_action.analysis.files.checkout import Source
from gpu_lol_action.analysis.formats.texts import is_fence, without_remarks
from gpu_lol_action.domain.patterns import regex

MAX_SCRIPTS = 8
MAX_LINE = 2000
_HEADING = regex(r" {0,3}(#{1,6})\s+(.{1,200})")
_ON_TRAINING = regex(r"(?i)(?<![a-z])(?:pre-?|re-?)?train(?:ing|s)?(?![a-z])|fine-?tun|reproduc")
_ON_ELSE = regex(r"(?i)install|requirement|\bdata(?:sets?)?\b|evaluat|\btest|environment|setup|benchmark")
_NAMED = regex(
    r"\]\((?:https://github\.com/[\w.-]{1,60}/[\w.-]{1,100}/(?:blob|tree)/[\w.-]{1,60}/|\.?/)?([\w./-]{1,200}\.(?:sh|bash|slurm|sbatch))\)"
    r"|`(?:\./)?([\w./-]{1,200}\.(?:sh|bash|slurm|sbatch))`"
)
# What prepares, tries or measures is no training, wherever it is told of.
_BESIDE = regex(
    r"(?i)(?<![a-z])(?:eval\w{0,8}|test\w{0,3}|infer\w{0,6}|sampl\w{0,4}|demo|download|prep\w{0,10}|install|setup|convert|env|build|docker)(?![a-z])"
)


def linked_scripts(source: Source) -> Iterator[CommandLine]:
    """Yield the scripts that a README names in its sentences under headings on training, as the commands that start them."""
    if not source.name.startswith("readme") or not source.mentions(".sh"):
        return
    inside, count = False, 0
    headings: dict[int, str] = {}
    for number, line in without_remarks(enumerate(source.text.split("\n"), 1)):
        if is_fence(line, is_code=inside):
            inside = not inside
        elif inside:
            continue
        elif (heading := _HEADING.match(line)) is not None:
            level = len(heading[1])
            headings = {depth: text for depth, text in headings.items() if depth < level} | {level: heading[2].strip()}
        elif headings and _is_on_training(headings):
            for found in _NAMED.finditer(line[:MAX_LINE]):
                name = found[1] or found[2]
                if count < MAX_SCRIPTS and not _BESIDE.search(name.rpartition("/")[2].replace("_", " ")):
                    count += 1
                    yield CommandLine(f"bash {name}", number, NOTHING, headings[max(headings)])


def _is_on_training(headings: dict[int, str]) -> bool:
    """Whether a heading, or one that it stands below, is on training, and the nearest on nothing else."""
    nearest = headings[max(headings)]
    if _ON_ELSE.search(nearest) and not _ON_TRAINING.search(nearest):
        return False
    return any(_ON_TRAINING.search(text) for text in headings.values())
