"""Which configuration files a program starts with: what its options, its loaders or its Hydra decorator name."""

from __future__ import annotations

import re

from gpu_lol_action.analysis.files.checkout import Checkout, Source
from gpu_lol_action.analysis.files.configuration import read_settings
from gpu_lol_action.analysis.files.effort import remembered
from gpu_lol_action.analysis.formats.paths import Form
from gpu_lol_action.analysis.programs.import_graph import import_closure, local_imports
from gpu_lol_action.domain.patterns import regex

_CONFIG_FILE = regex(r"^[^\s{}]{1,200}\.(?:ya?ml|json|toml|gin)$")
_KINDS = ("yaml", "yml", "json", "toml", "gin")
_QUOTED_END = regex(r"(?:ya?ml|json|toml|gin)['\"]")
_HYDRA = ("main", "hydra_runner", "hydra_task_runner", "compose", "initialize")
_LOADS_CONFIG = (
    "open",
    "load",
    "load_config",
    "from_file",
    "from_yaml",
    "read_config",
    "get_config",
    "parse_config",
    "Path",
    "load_yaml",
    "parse_yaml_file",
    "parse_json_file",
    "merge_from_file",
    "parse_config_file",  # gin's
    "parse_config_files_and_bindings",
    "create_model",  # ControlNet's, with the path of a YAML
)
_OPTIONS = ("config", "config_file", "config_path", "cfg", "cfg_path")
# `args.config = os.path.join(os.path.dirname(__file__), "configs", "small.yaml")`
_BESIDE_ITSELF = regex(
    r"\bjoin\(\s*os\.path\.\w{7,8}\([^\n]{0,60}?__file__\)+((?:\s*,\s*['\"][\w.-]{1,80}['\"]){1,4})\s*,?\s*\)"
)
# `ROOT / "configs" / "small.yaml"`, where the first is made of `__file__`
_BELOW = regex(r"\b(\w{1,40})((?:[ \t]{0,4}/[ \t]{0,4}['\"][\w.-]{1,80}['\"]){1,4})")
_MADE_OF_FILE = regex(r"(?m)^[ \t]*(\w{1,40})[ \t]?=[ \t]?[^\n]{0,80}\b__file__")
_PART = regex(r"['\"]([\w.-]+)['\"]")
_TAKES_CONFIG = regex(r"['\"]--?(?:config(?:[_-](?:file|path))?|cfg(?:[_-]path)?)['\"]")
# `parser.add_argument("--cfg-path", required=True, help=...)`
_MUST_BE_TOLD = regex(rf"add_argument\(\s*{_TAKES_CONFIG.pattern}[^()]{{0,200}}?required\s*=\s*True")
_DEFAULTS = regex(r"^def get_(?:default_|base_)?configs?\(", re.MULTILINE)
_BENTO = regex(r"^(?:args:|\[tool\.bentoml\.build\.args\])", re.MULTILINE)
_CONFIGURED = regex(r"^model:\s*\n(?:.*\n){0,3}?\s+target:", re.MULTILINE)
_TRAINS = regex(r"train|tun(?:e|ing)")


def own_configs(checkout: Checkout, script: Source | None) -> tuple[Source, ...]:
    """Return the configuration files that a program starts with: what its options, its loaders or its Hydra decorator name."""
    if script is None or script.code is None:
        return ()
    if script.mentions("use_arguments") and (build := _bento(checkout, script)) is not None:
        return (build,)
    named = _defaults(script)
    for call in script.code.calls_named(*(_HYDRA if script.mentions("hydra") else _HYDRA[1:])):
        if call.last == "main" and call.name != "hydra.main":
            continue
        path = script.code.resolve(call.keyword("config_path")) or ""
        if path.endswith((".yaml", ".yml")):  # Hydra before 1.0
            named.append(plain_path(f"{script.folder}/{path}"))
            continue
        name = script.code.resolve(call.keyword("config_name")) or "config"
        base = f"{script.folder}/{path}".strip("/") if script.folder else path
        named.append(f"{plain_path(base)}/{name}".lstrip("/") + ("" if name.endswith((".yaml", ".yml")) else ".yaml"))
    for call in script.code.calls_named(*_LOADS_CONFIG) if _names_file(script) else ():
        given = (each for value in call.arguments[:2] for each in (value.items or (value,)))
        texts = [script.code.resolve(value, call.owner) for value in given]
        named += [text for text in texts if text is not None and _CONFIG_FILE.search(text)]
    for call in script.code.calls_named(
        "DEFINE_config_file"
    ):  # ml_collections: a program that returns the configuration
        named += [text for value in call.arguments[1:2] if (text := script.code.resolve(value)) is not None]
    if not named and (own := _beside_itself(checkout, script)) is not None:
        named = [own.path]
    if not named:
        # A module of its own often reads the configuration.
        named = [text for source in local_imports(checkout, script)[:12] for text in _defaults(source)]
    found = [source for name in named if (source := checkout.find_named(name)) is not None and source is not script]
    return tuple(dict.fromkeys(s for s in found if s.code is not None or read_settings(s)))[:3] or _likely(
        checkout, script
    )


def _bento(checkout: Checkout, script: Source) -> Source | None:
    """Return the file with the arguments that BentoML builds a service with: they go before what the program starts with."""
    if script.code is None or not script.code.calls_named("use_arguments"):
        return None
    files = (checkout.find(f"{script.folder}/{name}".lstrip("/")) for name in ("bentofile.yaml", "pyproject.toml"))
    return next((s for s in files if s is not None and _BENTO.search(s.text)), None)


def _defaults(source: Source) -> list[str]:
    """Return the configuration files that a program's values are; not parsed where no text ends like one."""
    if source.code is None or not _names_file(source):
        return []
    return [default.text for default in source.code.defaults if _CONFIG_FILE.search(default.text)]


def _beside_itself(checkout: Checkout, script: Source) -> Source | None:
    """Return the only configuration whose path a program puts together from its own folder."""
    if not script.mentions("__file__") or not _names_file(script):
        return None
    joined = {"/".join(_PART.findall(parts)) for parts in _BESIDE_ITSELF.findall(script.text)}
    made = {"parent", *_MADE_OF_FILE.findall(script.text)}
    below = {"/".join(_PART.findall(parts)) for base, parts in _BELOW.findall(script.text) if base in made}
    above = [script.folder, script.folder.rpartition("/")[0], ""]
    paths = [(script.folder, path) for path in sorted(joined)] + [(up, path) for path in sorted(below) for up in above]
    named = (checkout.find(f"{folder}/{path}".lstrip("/")) for folder, path in paths)
    found = {source for source in named if source is not None and source.form is Form.YAML}
    return found.pop() if len(found) == 1 else None


@remembered
def _names_file(source: Source) -> bool:
    """Whether a text of a program may end like a configuration file's name."""
    return any(source.mentions(kind) for kind in _KINDS) and _QUOTED_END.search(source.text) is not None


def _likely(checkout: Checkout, script: Source) -> tuple[Source, ...]:
    """Return the configuration that a program most likely starts with which its user must name; none where it needs none.

    Of latent diffusion's (``target`` and ``params``) one whose name says that it trains, else the first; of ``ml_collections``'
    programs one that is called default, else the first, and the defaults that it imports.
    """
    if script.code is not None and script.code.calls_named("instantiate_from_config"):
        likely = [s for s in checkout.of(Form.YAML) if _CONFIGURED.search(s.text) and "configs/" in f"/{s.path}"]
        likely.sort(key=_by_likelihood)
        return tuple(likely[:1])
    if script.code is not None and script.code.calls_named("DEFINE_config_file", "DEFINE_config_dict"):
        likely = [s for s in checkout.of(Form.PYTHON) if "def get_config(" in s.text and "configs/" in f"/{s.path}"]
        likely.sort(key=lambda source: (not source.name.startswith("default"), source.depth, source.path))
        imported = import_closure(checkout, likely[0])[1:] if likely else ()
        return (*likely[:1], *(s for s in imported if _DEFAULTS.search(s.text)))[:4]
    return _beside(checkout, script) or _only_one(checkout, script)


def _only_one(checkout: Checkout, script: Source) -> tuple[Source, ...]:
    """Return the only YAML file of the folders of configurations beside a program that must be told one by an option."""
    if script.code is None or not script.mentions("add_argument") or not _MUST_BE_TOLD.search(script.text):
        return ()
    found = [
        s
        for s in checkout.of(Form.YAML)
        if "conf" in s.folder.rpartition("/")[2] and s.folder.rpartition("/")[0] == script.folder
    ]
    return tuple(found) if len(found) == 1 and read_settings(found[0]) else ()


def _by_likelihood(source: Source) -> tuple[bool, bool, bool, int, str]:
    """Return how far behind a configuration of latent diffusion comes; copies of its first repository still have all of that one's."""
    trains = _TRAINS.search(source.name) is not None
    is_older = trains and "latent-diffusion/" in source.path
    return not trains, "autoencoder" in source.path, is_older, source.depth, source.path


def _beside(checkout: Checkout, script: Source) -> tuple[Source, ...]:
    """Return the first JSON beside a program that is called a configuration and configures a training, where one must be named.

    A program that reads one through an option without a value starts with none of its own.
    """
    option = next((d for name in _OPTIONS if script.code and (d := script.code.default(name)) is not None), None)
    is_open = option is None or option.text.strip().lower() in {"", "none"}
    if script.code is None or not is_open or not script.mentions("json") or not _TAKES_CONFIG.search(script.text):
        return ()
    folders = {script.folder, *(f"{script.folder}/{name}".lstrip("/") for name in ("configs", "config"))}
    found = (s for s in checkout.of(Form.JSON) if s.folder in folders and s.name.startswith("config"))
    return tuple(sorted((s for s in found if "batch_size" in s.text), key=lambda s: (s.depth, s.path)))[:1]


def plain_path(path: str) -> str:
    """Return a path without ``.`` and ``..``."""
    parts: list[str] = []
    for part in path.split("/"):
        if part == ".." and parts:
            parts.pop()
        elif part not in {"", ".", ".."}:
            parts.append(part)
    return "/".join(parts)
