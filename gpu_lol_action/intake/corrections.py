"""Words of `set` in, corrections or a problem out: `vram=48`, `gpu=A100-80GB:2`, `image=auto`."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from gpu_lol_action.domain.command_spec import CommandSpec, Option
from gpu_lol_action.domain.corrections import FORGET, Correction, read_count, read_gib, read_gpu
from gpu_lol_action.domain.folders import read_folder_name
from gpu_lol_action.domain.gpus import UnknownAccelerator
from gpu_lol_action.domain.records import record
from gpu_lol_action.domain.suggest import nearest
from gpu_lol_action.intake.values import read_image


@record(frozen=True, slots=True)
class SettingProblem:
    """What is wrong with one word, and the nearest words that would do."""

    what: str
    did_you_mean: tuple[str, ...] = ()
    reason_code: str = "command_not_understood"


_READERS: Mapping[str, Callable[[str], int | str | None]] = {
    "vram": read_gib,
    "count": read_count,
    "image": read_image,
    "project": read_folder_name,
}


def read_setting(spec: CommandSpec, word: str) -> tuple[Correction, ...] | SettingProblem:
    """Return what one word corrects; ``--vram=48`` and ``vram:48`` are no such words, and are told the form."""
    name, equals, value = word.partition("=")
    setting = next((each for each in spec.settings if each.name == name.lower()), None)
    if setting is None or not equals:
        return _unknown(spec, word, name)
    if not value:
        return SettingProblem(f"`{setting.name}` needs a value, as `{_form(setting)}`")
    if value.lower() == FORGET:
        # The card and its number belong together: without the card the number would count some other card.
        taken_back = ("gpu", "count") if setting.name == "gpu" else (setting.name,)
        return tuple(Correction(key, None) for key in taken_back)
    if setting.name == "gpu":
        found = read_gpu(value)
        if isinstance(found, UnknownAccelerator):
            return SettingProblem(found.what, found.did_you_mean, "unknown_accelerator")
        return found
    read = _READERS[setting.name](value)
    if read is None:
        return SettingProblem(f"`{setting.name}` cannot be `{value[:40]}`: write it as `{_form(setting)}`")
    return (Correction(setting.name, read),)


def forms(spec: CommandSpec) -> tuple[str, ...]:
    """Return every word that the command takes, as an example."""
    return tuple(_form(setting) for setting in spec.settings)


def _unknown(spec: CommandSpec, word: str, name: str) -> SettingProblem:
    bare = name.lstrip("-").partition(":")[0]
    near = nearest(bare, [setting.name for setting in spec.settings])
    guesses = tuple(_form(setting) for setting in spec.settings if setting.name in near)
    return SettingProblem(f"`{spec.name}` takes no `{word[:40]}`", guesses or forms(spec))


def _form(setting: Option) -> str:
    return f"{setting.name}={setting.metavar}"
