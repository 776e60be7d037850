"""``gpu-lol policy``: check a folder's policy file and say what holds, and where each value comes from."""

from __future__ import annotations

import json
from pathlib import Path

from gpu_lol_action.analysis.files.located import standing_in
from gpu_lol_action.domain.policy import POLICY_PATH
from gpu_lol_action.domain.policy_keys import KEYS
from gpu_lol_action.domain.policy_text import explain, notes, plain_value, write_policy
from gpu_lol_action.domain.policy_yaml import PolicyReading, read_policy
from gpu_lol_action.domain.request import Command
from gpu_lol_action.domain.yaml_nodes import MAX_BYTES
from gpu_lol_action.errors import UserError
from gpu_lol_action.render.policy_text import render_policy
from gpu_lol_action.render.screen import Screen


def describe_policy(command: Command, screen: Screen) -> str:
    """Return the policy of a folder (or of the file itself) as the bot would read it from the default branch.

    Without a path it is that of the checkout, wherever in it one stands.
    Without ``--explain`` it is a whole file with every default written out. Raises SpecError where the file cannot be
    read as a policy, UserError where it is no text.
    """
    given = Path(command.path) if command.path else _here()
    path = given / POLICY_PATH if given.is_dir() else given
    text = _text(path, is_named=not given.is_dir())
    reading = read_policy(text, POLICY_PATH if given.is_dir() else str(given))
    source = None if text is None else str(path)
    if command.output_format == "json":
        return json.dumps(_as_json(reading, source), indent=2, ensure_ascii=False)
    if not command.is_explained:
        return write_policy(reading.policy).rstrip("\n")
    return render_policy(explain(reading), (*notes(reading.policy), *_misnamed(given)), source, screen)


def _here() -> Path:
    root, place = standing_in(Path())
    return root if place else Path()


def _misnamed(folder: Path) -> tuple[str, ...]:
    """Return a sentence for each file that looks like a policy and is read by nobody."""
    likely = (".github/gpu-lol.yaml", ".github/.gpu-lol.yml", ".github/.gpu-lol.yaml", "gpu-lol.yml", ".gpu-lol.yml")
    found = [name for name in likely if folder.is_dir() and (folder / name).is_file()]
    return tuple(f"Nobody reads {name}: the policy's name is {POLICY_PATH}." for name in found)


def _as_json(reading: PolicyReading, source: str | None) -> dict[str, object]:
    keys: dict[str, object] = {}
    for key in KEYS:
        line = reading.lines.get(key.name)
        origin = {"source": "default" if line is None else "file", "line": line}
        keys[key.name] = {"value": plain_value(key.value(reading.policy)), **origin}
    return {"file": source, "keys": keys, "notes": list(notes(reading.policy))}


def _text(path: Path, *, is_named: bool) -> str | None:
    """Return the file's text, None where a folder has none."""
    if not path.is_file():
        if is_named:
            raise UserError("not_a_folder", f"{path} is neither a folder nor a file.", fix="gpu-lol policy .")
        return None
    with path.open("rb") as file:
        raw = file.read(MAX_BYTES + 1)  # one more than is read: the reader says that it is too large
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError:
        raise UserError("file_not_text", f"{path} is no UTF-8 text.", fix="Save it as UTF-8.") from None
