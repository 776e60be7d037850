"""What the ready comment says of requirements that could only be installed in another way than they are asked for."""

from __future__ import annotations

import re
from collections.abc import Sequence

from gpu_lol_action.domain.environment import Check, CheckStatus

_NAME = "set-up"
_AN_OLDER = re.compile(r"older ((?:pip|setuptools|wheel|cython)<[\d.]{1,10}(?: (?:wheel)<[\d.]{1,10})?)")
_ASIDE = re.compile(r"aside ([A-Za-z0-9][A-Za-z0-9._-]{0,99})")
_MOVED = re.compile(r"moved ([A-Za-z0-9][A-Za-z0-9._-]{0,99}==\d[\w.]{0,40})")
_NEWER = "Newer versions of these packages need none of this (~/.gpu-lol/setup.log says which failed first)."
_AGREE = "Ask for versions that go together; ~/.gpu-lol/setup.log says what each package needs."


def read_notes(marked: Sequence[str]) -> tuple[Check, ...]:
    """Return a check that is only noted for each kind of remedy that ``installer.sh`` says it took; other lines say nothing."""
    said = [line.removeprefix("note ") for line in marked if line.startswith("note ")]
    older = _told(_AN_OLDER, said)
    aside = [] if "as_asked" in said else _told(_ASIDE, said)
    moved = [told.partition("==") for told in _told(_MOVED, said)]
    notes = []
    if moved:
        them = ", ".join(f"`{name}` {release}" for name, _, release in moved)
        notes.append(
            (
                f"The image's {them} gave way: the requirements ask for other releases.",
                "They are built for their own CUDA, which the driver may not run: bound what needs them, or name an image that has them.",
            )
        )
    if older:
        notes.append((f"Installed with older tools, which an old package needs: {_list(older)}.", _NEWER))
    if "open" in said:
        notes.append(
            ("Built in sight of what is installed: a package imports for its build what it does not name.", _NEWER)
        )
    if aside:
        them = "it was" if len(aside) == 1 else "they were"
        notes.append(
            (f"The other requirements contradict {_list(aside)}: {them} installed last, as asked for.", _AGREE)
        )
    if "as_asked" in said:
        notes.append(("The requirements contradict each other: each was installed as it is asked for.", _AGREE))
    return tuple(Check(_NAME, CheckStatus.NOTED, sentence, fix) for sentence, fix in notes)


def _told(pattern: re.Pattern[str], said: Sequence[str]) -> list[str]:
    return list(dict.fromkeys(found[1] for line in said if (found := pattern.fullmatch(line))))


def _list(names: Sequence[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)
