"""The configuration that a command chooses by Hydra's own options: ``--config-dir conf/train --config-name base`` is ``conf/train/base.yaml``.

Source: Hydra's documentation of its command line flags. The name has no ending, and goes before what the program's decorator names.
"""

from __future__ import annotations

from collections.abc import Mapping

from gpu_lol_action.analysis.commands.program_configs import own_configs, plain_path
from gpu_lol_action.analysis.files.checkout import Checkout, Source
from gpu_lol_action.domain.patterns import regex

_FOLDERS, _NAMES = ("config_dir", "cd", "config_path", "cp"), ("config_name", "cn")
_NAME = regex(r"[\w-][\w./-]{0,120}")


def hydra_named(checkout: Checkout, options: Mapping[str, str], script: Source | None) -> list[Source]:
    """Return the file that the options choose; none where they choose none of this checkout.

    Without a folder the program must be Hydra's: elsewhere ``--config_name`` names a model.
    """
    folder = next((options[key] for key in _FOLDERS if key in options), "")
    name = next((options[key] for key in _NAMES if key in options), "")
    name = name or (_decorated(script) if folder and script is not None else "")
    if not _NAME.fullmatch(name):
        return []
    file = name if name.endswith((".yaml", ".yml")) else f"{name}.yaml"
    if folder:
        near = script.folder if script is not None else ""
        places = (f"{near}/{folder}", folder)  # seen from the program, else from where it is started
        found = next((s for place in places if (s := checkout.find(plain_path(f"{place}/{file}"))) is not None), None)
        found = found or _in_folder(checkout, plain_path(folder), file)
    elif script is not None and script.mentions("hydra"):
        beside = (f"{source.folder}/{file}".lstrip("/") for source in own_configs(checkout, script))
        found = next((s for path in beside if (s := checkout.find(path)) is not None), None) or checkout.find_named(
            file
        )
    else:
        found = None
    return [found] if found is not None else []


def _decorated(script: Source) -> str:
    """Return the name that the program's decorator says: of a command with another folder alone it is the one in that folder."""
    if script.code is None or not script.mentions("hydra"):
        return ""
    mains = script.code.calls_named("main", "hydra_runner")
    names = (script.code.resolve(call.keyword("config_name")) for call in mains)
    return next((name for name in names if name), "")


def _in_folder(checkout: Checkout, folder: str, file: str) -> Source | None:
    """Return the file of a folder that is named from outside the checkout (``/home/us/conf/train``); none where only its name is alike."""
    found = checkout.find_named(f"{folder}/{file}")
    tail = plain_path(f"{folder.rpartition('/')[2]}/{file}")
    return found if found is not None and f"/{found.path}".endswith(f"/{tail}") else None
