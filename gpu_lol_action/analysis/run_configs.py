"""Which configuration files a run reads: those that it names, what these name, and what lies near where nothing is named."""

from __future__ import annotations

import re
from collections.abc import Iterator

from gpu_lol_action.analysis.checkout import Checkout, Source
from gpu_lol_action.analysis.configuration import read_settings
from gpu_lol_action.analysis.entry_points import Run
from gpu_lol_action.analysis.launcher_configs import accelerate_configs
from gpu_lol_action.analysis.paths import Form
from gpu_lol_action.domain.patterns import regex

MAX_CONFIGS = 20

_OPTIONS = ("model", "model_name", "model_config", "arch")
_VARIANT = regex(r"config[_-]\w+\.json$")  # `config.json` alone is a saved model's


def run_configs(checkout: Checkout, run: Run) -> list[Source]:
    """Return the run's configuration files and those that they name, the nearest to the command first."""
    found = list(dict.fromkeys((*_chosen(checkout, run), *run.configs, *_named_by_options(checkout, run))))
    for source in found:  # grows while it is walked: what is named may name others
        if len(found) >= MAX_CONFIGS:
            break
        found.extend(named for named in _named_by(checkout, run, source) if named not in found)
    return found[:MAX_CONFIGS]


def _named_by_options(checkout: Checkout, run: Run) -> Iterator[Source]:
    """Yield the file of the checkout's own model that an option names by its bare name (``--model open_3b``: ``model_configs/open_3b.json``)."""
    for key in _OPTIONS:
        name = run.options.get(key, "")
        if not re.fullmatch(r"\w[\w.-]{1,60}", name) or "." in name[-5:]:
            continue
        named = (checkout.find_named(f"{name}{end}") for end in (".json", ".yaml", ".yml"))
        yield from [s for s in named if s is not None and re.search(r"config|model", s.folder)][:1]


def _chosen(checkout: Checkout, run: Run) -> Iterator[Source]:
    """Yield the files of groups that a command chooses by their names, as Hydra has it: ``+experiment=small``."""
    folders = {source.folder for source in run.configs} | ({run.script.folder} if run.script is not None else set())
    tops = dict.fromkeys([*sorted(folders), "", "conf", "config", "configs"])
    for key, value in run.options.items():
        group = key.lstrip("+")
        if not re.fullmatch(r"[A-Za-z_][\w/]*", group) or not re.fullmatch(r"[\w/-]+", value):
            continue
        paths = (f"{top}/{group}/{value}.yaml".lstrip("/") for top in tops)
        named = next((source for path in paths if (source := checkout.find(path)) is not None), None)
        if named is not None and named not in run.configs:
            yield named


def _named_by(checkout: Checkout, run: Run, source: Source) -> Iterator[Source]:
    """Yield what a configuration names: a DeepSpeed JSON, the groups of a Hydra defaults list, the bases of OpenMMLab."""
    for setting in read_settings(source):
        named: Source | None = None
        if setting.key in {"deepspeed", "deepspeed_config", "deepspeed_config_file"}:
            named = checkout.find_named(setting.text)
        elif setting.path == "defaults":
            named = checkout.find(_beside(source, f"{setting.text}.yaml"))
        elif setting.path.startswith("defaults."):
            # `model=large` on the command line takes another file of the group.
            group = re.sub(r"^(?:override_|optional_)*/?|@.*$", "", setting.path.removeprefix("defaults."))
            name = run.options.get(group, setting.text).removesuffix(".yaml")
            above = source.folder.rpartition("/")[0]
            places = (_beside(source, f"{group}/{name}.yaml"), f"{above}/{group}/{name}.yaml".lstrip("/"))
            named = next((found for place in places if (found := checkout.find(place)) is not None), None)
        if named is not None:
            yield named
    base = source.code.default("_base_") if source.code is not None else None
    for path in base.text.split(",")[:10] if base is not None else []:
        named = checkout.find(_beside(source, path.strip())) or checkout.find_named(path.strip())
        if named is not None:
            yield named


def _beside(source: Source, path: str) -> str:
    """Return a path that a file names, seen from the root."""
    parts: list[str] = source.folder.split("/") if source.folder else []
    for part in path.split("/"):
        if part == "..":
            parts = parts[:-1]
        elif part not in {"", "."}:
            parts.append(part)
    return "/".join(parts)


def stray_configs(checkout: Checkout, run: Run) -> list[Source]:
    """Return configuration files near the script that nothing names; they speak softly."""
    folder = run.script.folder if run.script else ""
    near = [
        s
        for s in checkout.of(Form.YAML, Form.TOML, Form.JSON)
        if s.folder in {folder, f"{folder}/configs".strip("/"), f"{folder}/config".strip("/")}
        and (s.form is not Form.JSON or _VARIANT.match(s.name))
    ]
    return [*near[:5], *accelerate_configs(checkout)[:1]]
