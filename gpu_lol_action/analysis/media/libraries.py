"""Networks whose layers were counted, that a program takes from a library by their names, or that its options name."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from gpu_lol_action.analysis.files.checkout import Source
from gpu_lol_action.analysis.files.effort import remembered
from gpu_lol_action.analysis.files.setting import fold_key
from gpu_lol_action.analysis.files.unfilled_options import is_unfilled
from gpu_lol_action.analysis.models.model_loads import is_helper_place
from gpu_lol_action.analysis.networks.blueprints import blueprint_of
from gpu_lol_action.analysis.networks.sources import only_judges, runs_without_gradients
from gpu_lol_action.analysis.networks.values import Named
from gpu_lol_action.analysis.programs.followed_values import Follower
from gpu_lol_action.analysis.python.chosen_calls import CHOSEN
from gpu_lol_action.analysis.python.code import Call, PythonCode
from gpu_lol_action.analysis.python.values import Value
from gpu_lol_action.analysis.runs.settings import LIGHTNINGS, Scope
from gpu_lol_action.domain.finding import Confidence, Evidence, Finding
from gpu_lol_action.domain.patterns import regex
from gpu_lol_action.estimation.media_facts import Network, find_network

# Modules whose functions and classes are networks by their names.
_LIBRARIES = regex(r"^(?:torchvision|timm|(?:(?:tf|tensorflow)\.)?keras\.applications|keras_cv|segmentation_models\w*|"
                        r"ultralytics|efficientnet_pytorch|pretrainedmodels|monai|smp|models|tv|nets?)(?:\.|$)")  # fmt: skip
_OF_NETWORKS = regex(r"^(?:torchvision\.models|timm|(?:tensorflow\.)?keras\.applications|segmentation_models\w*|efficientnet_pytorch|monai)"
                          r"|(?:^|\.)(?:models?|networks?|nets?|backbones?|resnet\w*|vgg\w*)$")  # fmt: skip
_KERAS = {"xception": "legacy_xception", "inceptionv3": "inception_v3", "densenet121": "densenet121", "mobilenetv2": "mobilenet_v2",
          "mobilenet": "mobilenet_v2", "nasnetlarge": "nasnetalarge", "inceptionresnetv2": "inception_resnet_v2",
          "resnet50v2": "resnetv2_50", "resnet101v2": "resnet101", "resnet152v2": "resnet152", "mobilenetv3small": "mobilenet_v3_small",
          "mobilenetv3large": "mobilenet_v3_large", "efficientnetv2b0": "tf_efficientnetv2_b0", "efficientnetv2b1": "efficientnet_b1",
          "efficientnetv2b2": "efficientnet_b2", "efficientnetv2b3": "efficientnet_b3", "efficientnetv2s": "tf_efficientnetv2_s",
          "efficientnetv2m": "tf_efficientnetv2_m", "efficientnetv2l": "tf_efficientnetv2_l",
          **{f"convnext{size}": f"convnext_{size}" for size in ("tiny", "small", "base", "large", "xlarge")}}  # fmt: skip
_SEGMENTERS = frozenset({"Unet", "UnetPlusPlus", "FPN", "PSPNet", "DeepLabV3", "DeepLabV3Plus", "Linknet", "MAnet", "PAN", "UNet", "AttentionUnet",
                         "SegResNet", "DynUNet", "UNETR", "SwinUNETR", "BasicUNet"})  # fmt: skip
_VOLUMES = frozenset({"DynUNet", "UNETR", "SwinUNETR", "SegResNet", "BasicUNet", "VNet"})
_OF_VOLUMES = {"SwinUNETR": "swinunetr-48"}
_NUMBERED = re.compile(r"\d|net$").search  # what the libraries' names are made of
# A library's own function for a network (`lab.models.resnet50_deterministic(...)`).
_OF_MODELS = regex(r"\w\.models\.[a-z]\w{3,60}$")
# What is built around a network that is only the part which reads the picture.
_AROUND = regex(
    r"u_?net|yolo|fpn|rcnn|detr|deeplab|psp|segment|detect|gan|ssd|retina|clip|llava|caption|vae|lstm|(?:^|_)(?:seg|det|sam|pose)(?:_|$)"
)
MOST_WORDS, MOST_LETTERS = 8, 80
SHORT = 3  # letters of a word that names no network
MAX_CALLS = 20_002  # that are looked at for networks, of all programs of a run together
_NETWORK_KEYS = frozenset(
    {"arch", "backbone", "model", "model_name", "encoder", "encoder_name", "net", "network", "weights", "cfg"}
)


_REGISTRIES = frozenset({"sam_model_registry"})
"""Tables of a library, from which programs take what builds a network by its name."""
_HUBS = "load"  # `torch.hub.load("facebookresearch/dinov2", "dinov2_vitl14")`
_LEARNERS = frozenset({"vision_learner", "cnn_learner", "create_cnn"})
"""What fastai makes a learner by, of its data and the function that builds the network (``vision_learner(dls, resnet50)``)."""
_BY_NAME = _LEARNERS | frozenset({"create_model", "get_model", "YOLO", "RTDETR", CHOSEN, _HUBS}) | _REGISTRIES
# Modules out of which programs take networks by their names.
_CHOSEN_FROM = regex(r"(?:torchvision\.models|(?:(?:tf|tensorflow)\.)?keras\.applications)")


def library_networks(scope: Scope, sources: Sequence[Source]) -> Iterator[Finding]:
    """Yield networks whose layers were counted, that the program takes from a library or names in its options."""
    before = 0
    keyed = {setting.key: setting.text for _, settings in reversed(scope.tiers[:2]) for setting in settings}
    given = keyed | {setting.path: setting.text for _, settings in reversed(scope.tiers[:2]) for setting in settings}
    follower = Follower(scope.tiers[0][1], scope.tiers[1][1], sources) if scope.tiers else None
    for source in sources:
        is_aside = only_judges(source) or runs_without_gradients(source) or is_helper_place(source.path)
        if source is not sources[0] and is_aside:
            continue
        confidence = Confidence.HIGH if source is sources[0] else Confidence.MEDIUM
        for place, call, built in _networks_of(source):
            said = _said_of(call, given if source.mentions("LightningCLI") else keyed)
            name = _as_given(built, said or _followed(source, call, follower))
            if name and before + place < MAX_CALLS:
                why = f"`{call.name[:60]}` builds {name}"
                where = Evidence(source.path, call.line)
                yield Finding("media.network", name, why, confidence, where)
                if source.code is not None and source.code.resolve(call.keyword("use_checkpoint")) == "True":
                    why = "its layers are computed anew (`use_checkpoint`)"
                    yield Finding("training.gradient_checkpointing", "on", why, confidence, where)
        before += len(source.code.calls) if source.code else 0
        if before >= MAX_CALLS:
            break
    for confidence, settings in scope.tiers[:3]:
        for setting in settings:
            if setting.key not in _NETWORK_KEYS:
                continue
            is_name = 3 < len(setting.text) < MOST_LETTERS and " " not in setting.text
            network = find_network(setting.text) if is_name else None
            why = f"`{setting.key}` is {setting.text}"
            if network is not None and network.family not in {"unet", "dit"}:
                yield Finding("media.network", network.name, why, min(confidence, Confidence.MEDIUM), setting.evidence)
            elif is_name and network is None and (part := _named_within(setting.text.lower())) is not None:
                yield Finding("media.network", part, f"{why}, of {part}", Confidence.LOW, setting.evidence)


def _as_given(built: str, said: str | None) -> str:
    """Return the counted network that a call by a name builds, of which something says the name; empty for one that is not known."""
    network = named_network(said) if said else None
    return built if not said or is_unfilled(said) else network.name if network is not None else ""


def named_network(name: str) -> Network | None:
    """Return the counted network of a library's name: Keras has its own for several."""
    return find_network(_KERAS.get(name.lower(), name))


def _said_of(call: Call, given: Mapping[str, str]) -> str | None:
    """Return what a command or a configuration says of the option by which a call names its network."""
    first = _first(call)
    option = first.path if first is not None else None
    return next((given[name] for name in _said_as(option) if name in given), None) if option else None


def _followed(source: Source, call: Call, follower: Follower | None) -> str | None:
    """Return the name of a call's network where it is written elsewhere: in a module, by who calls the function that builds it."""
    first = _first(call)
    is_written = first is None or (first.text is not None and first.path is None)
    told = (
        follower.value(source, first, call.owner)
        if follower is not None and first is not None and not is_written
        else None
    )
    return told[0] if told is not None else None


def _first(call: Call) -> Value | None:
    """Return what a call by a name is given for that name."""
    if call.last in _REGISTRIES:
        return call.key
    if call.last == _HUBS:
        second = call.arguments[1] if len(call.arguments) > 1 else call.keyword("model")
        return second if call.name.endswith(f"hub.{_HUBS}") else None
    if call.last in _LEARNERS:
        return call.arguments[1] if len(call.arguments) > 1 else call.keyword("arch", "base_arch")
    named = call.arguments[0] if call.arguments else call.keyword("model_name", "model", "name")
    return named if call.last in _BY_NAME else None


def _said_as(option: str) -> tuple[str, ...]:
    """Return the names under which a command or a configuration says an option, or a parameter of Lightning's model (``model.name``)."""
    return (
        (fold_key(option.rpartition(".")[2]),) if "." in option else tuple(f"{start}.{option}" for start in LIGHTNINGS)
    )


@remembered
def _networks_of(source: Source) -> tuple[tuple[int, Call, str], ...]:
    """Return the counted networks that a program builds: the call's place among all of them, the call, and the name."""
    code = source.code
    if code is None:
        return ()
    modules = {item.module for item in code.imports}
    libraries = frozenset(module for module in modules if _LIBRARIES.match(module))
    imports_networks = any(_OF_NETWORKS.search(module) for module in modules)
    named = (
        (place, call, _network_of(code, call, libraries, imports_networks=imports_networks))
        for place, call in enumerate(code.calls)
        if _may_build(call.last) or _OF_MODELS.search(call.name) is not None
    )
    return tuple(
        (place, call, name or "") for place, call, name in named if name is not None or _may_be_told(call, code)
    )


def _may_be_told(call: Call, code: PythonCode) -> bool:
    """Whether a call by a name leaves that to another place to say."""
    first = _first(call)
    is_meant = call.last != CHOSEN or _is_librarys(code, call)
    return is_meant and first is not None and first.is_open and code.resolve(first) is None


def _may_build(last: str) -> bool:
    """Whether a function's name is one that may stand for a network: a small word may be any function, or an instance that is called."""
    return (
        last in _BY_NAME
        or last in _SEGMENTERS
        or last.lower() in _KERAS
        or (len(last) > SHORT and _NUMBERED(last.lower()) is not None)
    )


def _network_of(code: PythonCode, call: Call, libraries: frozenset[str], *, imports_networks: bool) -> str | None:
    """Return the counted network that a call builds, by the module it comes from and its name or first argument."""
    last = call.last
    if last == CHOSEN and not _is_librarys(code, call):
        return None
    if last == _HUBS and not call.name.endswith(f"hub.{_HUBS}"):
        return None
    if last in _BY_NAME:
        first = code.resolve(_first(call), call.owner) or (_builder(call) if last in _LEARNERS else None)
        network = named_network(first) if first else None
        return network.name if network is not None and network.family not in {"unet", "dit"} else None
    is_library = call.name.rpartition(".")[0] in libraries or bool(_LIBRARIES.match(call.name))
    if _OF_MODELS.search(call.name) is not None and not is_library:
        return _named_within(last.lower())
    if last in _SEGMENTERS and (is_library or imports_networks) and _is_drawn(code, call):
        return None  # counted with its encoder, as a network of the program's own
    if last in _SEGMENTERS and (is_library or imports_networks):
        return _OF_VOLUMES.get(last, "unet3d-128") if last in _VOLUMES else _segmenter(call)
    if not (is_library or imports_networks) or last.lower() == "unet":
        return None
    network = named_network(last.lower())
    return network.name if network is not None and network.family not in {"unet", "dit", "audio"} else None


def _builder(call: Call) -> str | None:
    """Return the name of the function that a learner is given to build its network (``models.resnet50``)."""
    first = _first(call)
    return first.reference if first is not None and not first.items else None


def _is_librarys(code: PythonCode, call: Call) -> bool:
    """Whether a call takes a network by its name out of torchvision's or Keras's, and not out of a package of the project's own."""
    base = call.name.rpartition(".")[0]
    if _CHOSEN_FROM.match(base):
        return True
    whole = any(_CHOSEN_FROM.fullmatch(item.module) and not item.names for item in code.imports)  # under any name
    return whole or any(_CHOSEN_FROM.fullmatch(f"{item.module}.{base}") and base in item.names for item in code.imports)


def _named_within(name: str) -> str | None:
    """Return the counted network that a longer name is of, with what is done to it before or behind (``resnet50_deterministic``, ``omnivore_swin_t``)."""
    words = name.split("_")[:MOST_WORDS]
    parts = [words[start:] for start in range(1, len(words))] + [words[:end] for end in range(len(words) - 1, 0, -1)]
    is_part = len(name) > MOST_LETTERS or _AROUND.search(name) is not None
    for part in parts if not is_part else ():
        network = find_network("_".join(part)) if len("_".join(part)) > SHORT else None
        if network is not None and network.family == "vision" and _NUMBERED("_".join(part) if len(part) == 1 else "1"):
            return network.name
    return None


def _is_drawn(code: PythonCode, call: Call) -> bool:
    """Whether a segmenter is one of segmentation-models-pytorch or MONAI that is written down."""
    libraries = (each for each in ("segmentation_models_pytorch", "monai") if each in code.imported())
    return any(blueprint_of(Named(f"{library}.{call.last}")) is not None for library in libraries)


def _segmenter(call: Call) -> str:
    return "deeplabv3_resnet50" if call.last.startswith(("Deep", "PSP")) else "unet-64"
