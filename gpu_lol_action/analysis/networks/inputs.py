"""What a network's ``forward`` is given where nobody runs it: pictures, clips, sounds and features as its first layer wants them."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from gpu_lol_action.analysis.files.checkout import Source
from gpu_lol_action.analysis.networks.arguments import number
from gpu_lol_action.analysis.networks.attention import ATTENTION
from gpu_lol_action.analysis.networks.forms import numel_of
from gpu_lol_action.analysis.networks.machine import Machine
from gpu_lol_action.analysis.networks.order import in_order
from gpu_lol_action.analysis.networks.series import series_input
from gpu_lol_action.analysis.networks.sizes import side_of
from gpu_lol_action.analysis.networks.values import Class, Counted, Instance, Layer, Tensor, Value, names_label
from gpu_lol_action.analysis.networks.waves import is_judged, wave_input
from gpu_lol_action.analysis.networks.weights import NORM, RECURRENT, TABLES
from gpu_lol_action.analysis.python.defaults import by_place
from gpu_lol_action.domain.patterns import regex
from gpu_lol_action.domain.records import record

FORWARDS = ("forward", "call", "__call__")
LATENT_CHANNELS, LATENT = frozenset({4, 8, 9, 12, 13, 16}), 8
"""Channels of a latent picture, with those of a mask or another picture beside them, and how many pixels a side of it stands for."""
WAVES = frozenset({1, 2})
"""Channels of a sound as it is recorded; more are features of its windows."""
FEATURES = 16
CLIP, FRAMES = 5, 8
"""Sides of a clip with its channels and samples, and pictures of one of which nothing says how many."""
VOLUME = 128
"""Voxels of a side of what is cut out of a scan where nothing says it (nnU-Net's and MLPerf's patches)."""
COLORS = 3.0
LONGEST_HORIZON = 1024
"""Steps of a trajectory that is planned at once, by the name that planners give them (Janner et al. 2022, Chi et al. 2023)."""
FOLDED = 4
"""Pixels that are laid beside each other as channels."""
PICTURES = frozenset({1, 3, 4, 6})
_CLIP_PATCHES = ("b c (f", "b c (t")
_PICTURE = regex(r"(?:batched_)?(?:imgs?|images?|pixel_values|pictures?|samples|inputs?|input_images?|x)")
"""What a network calls a picture."""
_CLOUD = regex(r"p|pts?|points?|xyz|coords?|point_?clouds?|pcd?|query_points?")
"""What a network calls points of space, each of three numbers."""
_TWIN = regex(r"_?(?:hat|fake|real|gen|pred|true|target|prev|next|left|right|ref)$|_?\d$")


@record(frozen=True, slots=True)
class InputSizes:
    """Pixels of a side, pictures of a clip, samples of a sound and from window to window, points of a cloud; 0: not said.

    ``is_cut``: samples are cut out of rows, along which they have positions. ``infers``: nothing is kept for a backward pass, so that weights alone tell most. ``stray``: settings of a configuration
    beside the program that nothing names, for what nothing else says. ``configs``: the files that configure the run. ``saved``: those in folders of saved models.
    ``bound``: what gin-config gives to parameters.
    """

    side: int = 0
    frames: int = 0
    samples: int = 0
    hop: int = 0
    points: int = 0
    infers: bool = False
    is_cut: bool = False
    stray: tuple[tuple[str, str], ...] = ()
    configs: tuple[Source, ...] = ()
    saved: tuple[Source, ...] = ()
    bound: tuple[tuple[str, str], ...] = ()


def inputs_of(
    machine: Machine, network: Value, rank: int | None = None, function: ast.FunctionDef | None = None
) -> list[Tensor]:
    """Return as many fresh tensors as ``forward`` has parameters without a default; ``rank``: how many sides the first one has.

    ``function``: another method that is run in its place.
    """
    if function is None and isinstance(network, Instance) and isinstance(network.home, Class):
        named = {item.name: item for item in network.home.node.body if isinstance(item, ast.FunctionDef)}
        function = next((named[name] for name in FORWARDS if name in named), None)
    if function is None:
        return [_first_input(machine, network, "x", rank)]
    parameters = by_place(function)[1:]
    needed = len(parameters) - len(function.args.defaults)
    names = [parameter.arg for parameter in parameters] or ["x"]
    series = series_input(machine, names[0]) if rank is None else None
    parts = in_order(machine, network, function, names[0]) if isinstance(network, Instance) else network
    first = series or _first_input(machine, parts, names[0], rank)
    if len(names) > 1 and machine.points and _CLOUD.fullmatch(names[0]) and not _is_cloud(first):
        # Points and what they are asked of, which the first layer with weights reads: a picture, a sound.
        whole = _shaped(machine, names[0], (1.0, float(machine.points), 3.0))
        return [
            whole,
            Tensor(first.numel, first.shape, name=names[1]),
            *(_further_input(machine, first, n) for n in names[2 : max(needed, 2)]),
        ]
    return [first, *(_further_input(machine, first, name) for name in names[1 : max(needed, 1)])]


def _is_cloud(tensor: Tensor) -> bool:
    """Whether the first layer takes points as they are: along their positions."""
    return tensor.shape is not None and len(tensor.shape) == 3


def _further_input(machine: Machine, first: Tensor, name: str) -> Tensor:
    """Return what a parameter behind the first is given: as much as that where both are of a kind, else what its layer wants."""
    if (series := series_input(machine, name)) is not None:
        return series
    if machine.points and _CLOUD.fullmatch(name):
        return _shaped(machine, name, (1.0, float(machine.points), 3.0))
    return Tensor(first.numel, first.shape, name=name) if _are_twins(first.name, name) else Tensor(None, name=name)


def _are_twins(first: str, second: str) -> bool:
    """Whether two inputs are of one kind by their names (``y`` and ``y_hat``, ``image1`` and ``image2``), or the one judged by the other."""
    if is_judged(second, first):
        return True
    return _TWIN.sub("", first) == _TWIN.sub("", second) != ""


def _first_input(machine: Machine, network: Value, name: str, rank: int | None) -> Tensor:
    """Return the input that the first layer with weights wants: a picture, a sound, or what that layer sizes itself."""
    home: list[Class] = []
    for part in parts_of_network(network):
        home = [*home[-1:], part.home] if isinstance(part, Instance) and part.home is not None else home
        if isinstance(part, Tensor) and part.is_parameter and part.shape is not None and len(part.shape) == 4:
            if part.shape[1] in PICTURES and part.shape[2] == part.shape[3]:
                return _shaped(machine, name, (1.0, part.shape[1], *_sides(machine, 2)))
            break
        if isinstance(part, Tensor) and part.is_parameter and part.shape is not None and len(part.shape) > 1:
            break
        if not isinstance(part, Layer) or part.is_last or NORM.match(part.kind):
            continue
        if rank is None and (wave := wave_input(machine, part, name)) is not None:
            return wave
        shape = _convolved_shape(machine, part, rank)
        if shape is not None and len(shape) == 4 and _is_folded(home):
            return _shaped(machine, name, (1.0, shape[1] / FOLDED, *shape[2:]))
        if shape is not None:
            channels = _colors(network) if len(shape) == 4 and shape[1] >= FEATURES and _PICTURE.fullmatch(name) else 0
            return _shaped(machine, name, (1.0, channels, *_sides(machine, 2)) if channels else shape)
        pattern = str(part.places[0]).lstrip() if part.kind == "Rearrange" and part.places else ""
        if pattern.startswith(_CLIP_PATCHES):
            return _shaped(machine, name, (1.0, COLORS, float(machine.frames or FRAMES), *_sides(machine, 2)))
        is_patches = pattern.startswith(("b c (h", "b c (p")) or part.kind == "Unfold"
        if is_patches:
            return _shaped(machine, name, (1.0, 3.0, *_sides(machine, 2)))
        if part.parameters:
            return _steps(machine, part, network, name)
    return Tensor(None, name=name)


def _steps(machine: Machine, first: Layer, network: Value, name: str) -> Tensor:
    """Return steps of as many numbers as the first product takes, where what follows goes along steps: attention, without words or pictures."""
    inner = number(first, 0, "in_features") if first.kind == "Linear" else None
    parts = [part for part in parts_of_network(network) if isinstance(part, Layer)]
    is_along = any(
        part.kind in ATTENTION or (part.kind in RECURRENT and not part.kind.endswith("Cell")) for part in parts
    )
    is_other = any(part.kind in TABLES or part.kind.startswith("Conv") for part in parts)
    if (
        not inner
        or not machine.is_cut
        or not is_along
        or is_other
        or machine.points
        or names_label(Tensor(None, name=name))
    ):
        return Tensor(None, name=name)
    machine.kept.is_sequence = True
    return _shaped(machine, name, (1.0, float(machine.length), inner))


def _is_folded(homes: Sequence[Class]) -> bool:
    """Whether one of the classes around a convolution lays every second pixel of each side beside the others first (YOLOv5's Focus)."""
    return any("::2, ::2" in ast.unparse(item) for home in homes for item in home.node.body if isinstance(item, ast.FunctionDef) and item.name in FORWARDS)  # fmt: skip


def _colors(network: Value) -> float:
    """Return the colors of a picture that some convolution of a network reads, where another one stands first; 0 without one."""
    found = (
        number(part, 0, "in_channels")
        for part in parts_of_network(network)
        if isinstance(part, Layer) and part.kind == "Conv2d"
    )
    return next((inner for inner in found if inner == COLORS), 0.0)


def _convolved_shape(machine: Machine, layer: Layer, rank: int | None) -> tuple[float, ...] | None:
    """Return what a network is given whose first layer is this convolution; None for other layers."""
    inner = number(layer, 0, "in_channels")
    if not inner:
        return None
    if layer.kind == "ConvTranspose2d":
        return (1.0, inner, 1.0, 1.0)  # a generator's noise
    if machine.points and rank is None and (cloud := _edges_of(layer, inner)) is not None:
        return (1.0, cloud, float(machine.points))
    if layer.kind == "Conv2d" and rank == CLIP:
        frames = float(machine.frames or FRAMES)  # a clip of which each picture goes by itself
        return (1.0, inner, frames, *_sides(machine, 2))
    if layer.kind in {"Conv1d", "Conv2d", "Conv3d"}:
        return (1.0, inner, *_sides_for(machine, inner, rank - 2 if rank else int(layer.kind[4])))
    return None


def _edges_of(layer: Layer, inner: float | None) -> float | None:
    """Return how many numbers a point has in a network of edges (Wang et al. 2019), whose first layer reads those of two of them."""
    kernel = layer.named.get("kernel_size", layer.places[2] if len(layer.places) > 2 else None)
    is_pointwise = layer.kind == "Conv2d" and kernel in (1, [1, 1])
    return inner / 2 if is_pointwise and inner in {6.0, 12.0, 18.0} else None


def _shaped(machine: Machine, name: str, shape: tuple[float, ...]) -> Tensor:
    machine.kept.sides[len(shape) - 2] = shape[2:]
    return Tensor(numel_of(shape), shape, name=name)


def _sides_for(machine: Machine, inner: float, over: int) -> tuple[float, ...]:
    """Return the sides of what a convolution over so many of them is given."""
    if over == 1:
        return (positions(machine, inner),)
    if over == 2 and inner in LATENT_CHANNELS and machine.has_latents:
        return (side_of(machine) // LATENT,) * 2
    if over == 3 and machine.is_size_open and not machine.frames:
        # A clip in color, else a volume: what 3D U-Net and nnU-Net cut out of scans.
        pictures = _sides(machine, 2)
        return (float(FRAMES), *pictures) if inner == COLORS else (float(VOLUME),) * 3
    return _sides(machine, over)


def positions(machine: Machine, inner: float) -> float:
    """Return along how many positions a network goes: samples of a sound, windows of them, else what is said per position."""
    if machine.samples and inner in WAVES:
        return float(machine.samples)
    if machine.samples and machine.hop and inner >= FEATURES:
        return float(max(1, machine.samples // machine.hop))
    if machine.points and 3 <= inner < FEATURES:
        return float(machine.points)
    if isinstance(horizon := machine.option("horizon"), int) and 1 < horizon <= LONGEST_HORIZON:
        return float(horizon)
    machine.kept.is_sequence = True
    return float(machine.length)


def _sides(machine: Machine, over: int) -> tuple[float, ...]:
    if over == 3 and machine.frames:
        return (float(machine.frames), side_of(machine), side_of(machine))
    return (side_of(machine),) * over if over > 0 else ()


def parts_of_network(value: Value, limit: int = 20_000) -> list[Value]:
    """Return the layers, weights and networks that a network holds, itself first, each once."""
    found: dict[int, Value] = {}
    seen: set[int] = set()
    pending = [value]
    while pending and len(seen) < limit:
        each = pending.pop()
        if id(each) in seen:
            continue
        seen.add(id(each))
        if isinstance(each, (Instance, Layer, Counted)) or (isinstance(each, Tensor) and each.is_parameter):
            found[id(each)] = each
        pending.extend(part for part in reversed(_inner(each)) if id(part) not in seen)
    return list(found.values())


def _inner(each: Value) -> Sequence[Value]:
    if isinstance(each, Instance):
        return [*each.attributes.values(), *each.items]
    if isinstance(each, dict):
        return list(each.values())
    return each if isinstance(each, list) else []
