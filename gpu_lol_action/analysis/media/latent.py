"""Latent diffusion by configuration (``target`` and ``params``, as CompVis began it): which denoiser, which size, what is trained.

The U-Net's sides tell Stable Diffusion's generations apart (Rombach et al. 2022, Podell et al. 2023); any other U-Net is built
from the class that the configuration names and counted like a network of one's own.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from gpu_lol_action.analysis.files.checkout import Checkout, Source
from gpu_lol_action.analysis.files.setting import Setting
from gpu_lol_action.analysis.media.networks import configured_network
from gpu_lol_action.analysis.networks.measure import OwnNetwork
from gpu_lol_action.analysis.networks.parsed import parse_value
from gpu_lol_action.analysis.networks.sources import network_sources
from gpu_lol_action.analysis.networks.values import Value
from gpu_lol_action.analysis.programs.behavior import Behavior
from gpu_lol_action.analysis.programs.import_graph import import_closure
from gpu_lol_action.analysis.runs.entry_points import Run
from gpu_lol_action.analysis.runs.settings import Scope
from gpu_lol_action.domain.finding import Confidence, Finding
from gpu_lol_action.domain.records import record

_DENOISERS = ("unet_config.", "network_config.", "denoiser_network_config.")
# Channels, their multiples, width of the text: the model that has them.
_KNOWN: Mapping[tuple[int, tuple[int, ...], int], str] = {
    (320, (1, 2, 4, 4), 768): "stable-diffusion-v1-5/stable-diffusion-v1-5",
    (320, (1, 2, 4, 4), 1024): "stabilityai/stable-diffusion-2-1",
    (320, (1, 2, 4), 2048): "stabilityai/stable-diffusion-xl-base-1.0",
    (384, (1, 2, 4, 4), 1280): "stabilityai/stable-diffusion-xl-refiner-1.0",
}
# The same with layers over time between them: the model for clips that has the most of such layers.
_CLIPS: Mapping[str, str] = {
    "stable-diffusion-v1-5/stable-diffusion-v1-5": "guoyww/animatediff",
    "stabilityai/stable-diffusion-2-1": "damo-vilab/text-to-video-ms-1.7b",
}
# A picture that is set in motion: Stable Video Diffusion's mixing of what convolutions over time find (Blattmann et al. 2023).
_MOVED = "stabilityai/stable-video-diffusion-img2vid-xt"
_MOVING = "time_kernel_size"
LEAST, MOST = 8, 4096
MOST_FRAMES = 256
MOST_TRAINED = 2048


@record(frozen=True, slots=True)
class Latent:
    """A denoiser as a configuration describes it: the class, its arguments, where they stand, pixels of a picture (0: not said)."""

    target: str
    params: Mapping[str, Value]
    setting: Setting
    pixels: int
    has_control: bool

    @property
    def known(self) -> str | None:
        """The published model of these sides; None for any other."""
        channels, multiples, text = (self.params.get(key) for key in ("model_channels", "channel_mult", "context_dim"))
        text = text[0] if isinstance(text, list) and text else text
        sides = tuple(multiples) if isinstance(multiples, list) else ()
        plain = all(isinstance(value, int) for value in (channels, text, *sides))
        if not plain or not isinstance(channels, int) or not isinstance(text, int):
            return None
        picture = _KNOWN.get((channels, sides, text))
        if picture is not None and _MOVING in self.params:
            return _MOVED
        return _CLIPS.get(picture, picture) if picture is not None and self.is_of_clips else picture

    @property
    def is_of_clips(self) -> bool:
        """Whether layers over time stand between those for pictures."""
        return any(key.startswith("temporal") and value for key, value in self.params.items())

    @property
    def frames(self) -> int:
        """Pictures of a clip; 0 where not said."""
        length = self.params.get("temporal_length")
        return length if self.is_of_clips and isinstance(length, int) and 1 < length <= MOST_FRAMES else 0


def latent_of(scope: Scope) -> Latent | None:
    """Return the denoiser that the run's configuration describes; None where it describes none."""
    for _, settings in scope.tiers[1:2]:
        head = next(
            (s for s in settings if s.key == "model_channels" and any(d in f".{s.path}" for d in _DENOISERS)), None
        )
        if head is not None:
            return _latent(head, [s for s in settings if s.evidence.path == head.evidence.path])
    return None


def latent_findings(checkout: Checkout, scope: Scope, run: Run) -> list[Finding]:
    """Return the model, the size of its pictures, checkpointing and the trained part that a configuration of latent diffusion says."""
    latent = latent_of(scope)
    if latent is None:
        return []
    where = latent.setting.evidence
    shown = f"`{latent.target.rpartition('.')[2]}` of {latent.setting.text} channels is configured"
    found: list[Finding] = []
    if latent.known is not None:
        found.append(Finding("model.id", latent.known, f"{shown}, as {latent.known} has it", Confidence.HIGH, where))
    elif (network := _counted(checkout, latent)) is not None:
        found += _own(network, latent, shown)
    if latent.frames:
        found.append(
            Finding("media.frames", str(latent.frames), "a clip's length is configured", Confidence.HIGH, where)
        )
    if latent.pixels:
        found.append(
            Finding("media.image_size", str(latent.pixels), "latents' size is configured", Confidence.HIGH, where)
        )
    if latent.has_control:
        found.append(
            Finding("media.trained_part", "controlnet", "`control_stage_config` is given", Confidence.HIGH, where)
        )
    if (
        run.behavior is Behavior.INFERS
        and run.script is not None
        and not _is_halved(import_closure(checkout, run.script))
    ):
        why = "checkpoints are loaded at 32 bit, and nothing makes them smaller"
        found.append(Finding("model.weight_bits", "32", why, Confidence.MEDIUM, where))
    if latent.params.get("use_checkpoint") is True:
        why = "`use_checkpoint` is on"
        found.append(Finding("training.gradient_checkpointing", "on", why, Confidence.HIGH, where))
    return found


def _is_halved(sources: Sequence[Source]) -> bool:
    return any(source.code.calls_named("half", "bfloat16") for source in sources if source.code is not None)


def _latent(head: Setting, settings: Sequence[Setting]) -> Latent:
    prefix = head.path.removesuffix("model_channels")
    params: dict[str, Value] = {}
    for setting in settings:
        key = setting.path.removeprefix(prefix)
        if not setting.path.startswith(prefix) or "." in key:
            continue
        value = parse_value(setting.text)
        before = params.get(key)
        params[key] = value if key not in params else [*before, value] if isinstance(before, list) else [before, value]
    outer = prefix.removesuffix("params.")
    target = next((s.text for s in settings if s.path == f"{outer}target"), "UNetModel")
    base = outer.rstrip(".").rpartition(".")[0]
    return Latent(
        target,
        params,
        head,
        _pixels(settings, base),
        any(s.path.endswith("control_stage_config.target") for s in settings),
    )


def _pixels(settings: Iterable[Setting], base: str) -> int:
    """Return a picture's side: latents' times two for each level of the autoencoder but one; 0 where not said.

    Nobody trains on pictures of over 2048 pixels a side: a size that comes to more is the picture's own (StableSR).
    """
    known = list(settings)
    side = next((parse_value(s.text) for s in known if s.path == f"{base}.image_size"), 0)
    levels = sum(s.path.endswith("first_stage_config.params.ddconfig.ch_mult") for s in known)
    pixels = side * 2 ** (min(levels, 8) - 1) if isinstance(side, int) and levels else 0
    pixels = side if isinstance(side, int) and pixels > MOST_TRAINED else pixels
    return pixels if LEAST <= pixels <= MOST else 0


def _counted(checkout: Checkout, latent: Latent) -> OwnNetwork | None:
    """Return the denoiser of a class of the checkout, counted with latents of its own size."""
    source = _module(checkout, latent.target)
    size = latent.params.get("image_size")
    if source is None:
        return None
    side = size if isinstance(size, int) and 4 <= size <= MOST else 32
    return configured_network(
        network_sources(checkout, source), latent.target, latent.params, side, latent.setting.evidence
    )


def _module(checkout: Checkout, target: str) -> Source | None:
    """Return the file of a dotted class: from the root, or in a folder of the checkout."""
    path = target.rpartition(".")[0].replace(".", "/")
    return checkout.find(f"{path}.py") or checkout.find_named(f"{path}.py")


def _own(network: OwnNetwork, latent: Latent, shown: str) -> list[Finding]:
    where = latent.setting.evidence
    values = (("own_network", network.name), ("own_parameters", str(network.parameters)),
              ("own_outputs", str(network.outputs)), ("own_at_work", str(network.at_work)))  # fmt: skip
    why = f"{shown}: {network.parameters:,} parameters"
    return [Finding(f"media.{field}", value, why, Confidence.HIGH, where) for field, value in values]
