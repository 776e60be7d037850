"""Which configuration files a run reads: those that it names, what these name, and what lies near where nothing is named."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator

from gpu_lol_action.analysis.commands.launcher_configs import accelerate_configs
from gpu_lol_action.analysis.files.checkout import Checkout, Source
from gpu_lol_action.analysis.files.configuration import read_settings
from gpu_lol_action.analysis.formats.gin_text import read_gin
from gpu_lol_action.analysis.formats.paths import Form
from gpu_lol_action.analysis.programs.import_graph import local_imports
from gpu_lol_action.analysis.runs.entry_points import Run
from gpu_lol_action.analysis.runs.served_archives import archived_config
from gpu_lol_action.domain.patterns import regex

MAX_CONFIGS = 20
ALIKE = 0.5
"""Share of the shorter file's settings over which two files are taken for alternatives."""

_OPTIONS = ("model", "model_name", "model_config", "arch")
# A text of the program with holes, that ends as a configuration does, and begins with a folder or a word of its own.
_PATTERN = regex(r"\bf([\"'])((?:[^\"'\n{}]{0,80}\{[^{}\n]{1,60}\}){1,4}[^\"'\n{}]{0,40}\.(?:json|ya?ml))\1")
_HOLE = regex(r"\{([^{}]*)\}")
_ANYTHING, MAX_OPEN = "[^/]{0,80}", 2
"""What an option may be that nothing says, and how many of a path's: more could be any file."""
_LITERAL = regex(r"[\w-]{3,}")
# A configuration in Python that goes on with what another one says.
_BEGINS = regex(r"\bget_(?:default_)?config\(|^from [\w.]{1,100} import \*", re.MULTILINE)
_OF_CONFIGS, MAX_BASES = regex(r"conf(?:ig)?s?", re.IGNORECASE), 4
_VARIANT = regex(r"config[_-]\w+\.json$")  # `config.json` alone is a saved model's
# Where trainers of pictures' models keep batch and size: a file of their data sets that the run's own file names.
_OF_DATA, _SETTINGS = regex(r"(?:train_?)?data_?(?:set|backend)?(?:_config)?"), (".toml", ".yaml", ".yml")


def run_configs(checkout: Checkout, run: Run) -> list[Source]:
    """Return the run's configuration files and those that they name, the nearest to the command first."""
    # Of several of gin's files a later one goes before those that were read.
    given = [s for s in run.configs if s.form is not Form.GIN] + [s for s in run.configs[::-1] if s.form is Form.GIN]
    said = (*_chosen(checkout, run), *given, *_named_by_options(checkout, run), *_composed(checkout, run))
    packed = archived_config(checkout, run)
    found = list(dict.fromkeys((*said, *([packed] if packed is not None else []))))
    for source in found:  # grows while it is walked: what is named may name others
        if len(found) >= MAX_CONFIGS:
            break
        found.extend(named for named in _named_by(checkout, run, source) if named not in found)
    return found[:MAX_CONFIGS]


def _named_by_options(checkout: Checkout, run: Run) -> Iterator[Source]:
    """Yield the file of the checkout's own model that an option names by its bare name (``--model open_3b``: ``model_configs/open_3b.json``)."""
    for key in _OPTIONS:
        name = run.options.get(key, "")
        if not regex(r"\w[\w.-]{1,60}").fullmatch(name) or "." in name[-5:]:
            continue
        named = (checkout.find_named(f"{name}{end}") for end in (".json", ".yaml", ".yml"))
        yield from [s for s in named if s is not None and regex(r"config|model").search(s.folder)][:1]


def _composed(checkout: Checkout, run: Run) -> Iterator[Source]:
    """Yield the file whose path the program puts together of its options (``f'dsconfig/{args["model"]}_stage_{stage}.json'``), where it is one."""
    script = run.script
    if script is None or script.code is None or (".json" not in script.text and ".y" not in script.text):
        return
    for found in itertools.islice(_PATTERN.finditer(script.text), MAX_CONFIGS):
        start = _LITERAL.match(found[2])
        parts = _HOLE.split(found[2])  # a text, what stands in a hole, a text, and so on
        filled = [_filled_in(run, part) if place % 2 else re.escape(part) for place, part in enumerate(parts)]
        if start is None or filled.count(_ANYTHING) > MAX_OPEN:
            continue
        path = re.compile(rf"(?:.*/)?{''.join(filled)}")
        named = [s for s in checkout.of(Form.JSON, Form.YAML) if start[0] in s.path and path.fullmatch(s.path)]
        if len(named) == 1:
            yield named[0]


def _filled_in(run: Run, hole: str) -> str:
    """Return what stands in a hole of a path: the option's value, else anything without a slash."""
    words = regex(r"\w+").findall(hole)
    key = words[-1] if words else ""
    default = run.script.code.default(key) if run.script is not None and run.script.code is not None else None
    said = run.options.get(key) or (default.text if default is not None and default.is_option else "")
    return re.escape(said) if regex(r"[\w.-]{1,80}").fullmatch(said) else _ANYTHING


def _chosen(checkout: Checkout, run: Run) -> Iterator[Source]:
    """Yield the files of groups that a command chooses by their names, as Hydra has it: ``+experiment=small``."""
    folders = {source.folder for source in run.configs} | ({run.script.folder} if run.script is not None else set())
    tops = dict.fromkeys([*sorted(folders), "", "conf", "config", "configs"])
    for key, value in run.options.items():
        group = key.lstrip("+")
        if not regex(r"[A-Za-z_][\w/]*").fullmatch(group) or not regex(r"[\w/-]+").fullmatch(value):
            continue
        paths = (f"{top}/{group}/{value}.yaml".lstrip("/") for top in tops)
        named = next((source for path in paths if (source := checkout.find(path)) is not None), None)
        if named is not None and named not in run.configs:
            yield named


def _named_by(checkout: Checkout, run: Run, source: Source) -> Iterator[Source]:
    """Yield what a configuration names: a DeepSpeed JSON, the groups of a Hydra defaults list, the bases of OpenMMLab."""
    for path in read_gin(source.text).includes[::-1] if source.form is Form.GIN else ():
        included = checkout.find(_beside(source, path)) or checkout.find_named(path)
        if included is not None and included.form is Form.GIN:
            yield included
    for setting in read_settings(source):
        named: Source | None = None
        if setting.key in {"deepspeed", "deepspeed_config", "deepspeed_config_file"}:
            named = checkout.find_named(setting.text)
        elif setting.text.endswith(_SETTINGS) and _OF_DATA.fullmatch(setting.key):
            named = checkout.find(_beside(source, setting.text)) or checkout.find_named(setting.text)
        elif setting.path == "defaults":
            named = checkout.find(_beside(source, f"{setting.text}.yaml"))
        elif setting.path.startswith("defaults."):
            # `model=large` on the command line takes another file of the group.
            group = regex(r"^(?:override_|optional_)*/?|@.*$").sub("", setting.path.removeprefix("defaults."))
            name = run.options.get(group, setting.text).removesuffix(".yaml")
            above = source.folder.rpartition("/")[0]
            places = (_beside(source, f"{group}/{name}.yaml"), f"{above}/{group}/{name}.yaml".lstrip("/"))
            named = next((found for place in places if (found := checkout.find(place)) is not None), None)
        elif setting.key == "_base_":  # detectron2's
            named = checkout.find(_beside(source, setting.text)) or checkout.find_named(setting.text)
        if named is not None:
            yield named
    base = source.code.default("_base_") if source.code is not None else None
    for path in base.text.split(",")[:10] if base is not None else []:
        named = checkout.find(_beside(source, path.strip())) or checkout.find_named(path.strip())
        if named is not None:
            yield named
    yield from _continued(checkout, run, source)


def _continued(checkout: Checkout, run: Run, source: Source) -> Iterator[Source]:
    """Yield the configurations that one written in Python begins with (``config = base_config.get_config()``, ``from .base import *``)."""
    if source.form is not Form.PYTHON or source is run.script or source.code is None:
        return
    begins = _BEGINS.search(source.text) is not None
    for base in local_imports(checkout, source)[:MAX_BASES] if begins else ():
        if base is not run.script and _OF_CONFIGS.search(base.path):
            yield base


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
    return [*_without_alternatives(near[:5]), *accelerate_configs(checkout)[:1]]


def _without_alternatives(near: list[Source]) -> list[Source]:
    """Return the files without those that say other values for what one before them says: a run reads one of them (``sft_full``, ``sft_lora``)."""
    kept: list[tuple[Source, set[str]]] = []
    for source in near:
        paths = {setting.path for setting in read_settings(source)}
        if not any(
            len(paths & before) > ALIKE * min(len(paths), len(before)) for _, before in kept if before and paths
        ):
            kept.append((source, paths))
    return [source for source, _ in kept]
