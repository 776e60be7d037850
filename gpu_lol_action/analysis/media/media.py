"""What a program says of pictures, video and sound, and the networks for them that it builds.

Findings: ``media.image_size`` (``512`` or ``720x1280``, pixels), ``media.frames``, ``media.tubelet`` (frames of a patch), ``media.audio_seconds``, ``media.classes``,
``media.offload`` (``parts``, ``layers``), ``media.text_encoder`` (``elsewhere``), ``media.latents`` (``cached``),
``media.trained_part``, ``media.runtime``, ``media.network`` (whose layers were counted); of one's own network ``media.own_network``
(its name), ``media.own_parameters``, ``media.own_outputs`` (per sample), ``media.own_sequence`` (``yes`` where that is per position), ``media.own_positions`` (rows of its table of positions),
``media.own_assumed`` (``size``: a usual one), ``media.own_file``; ``media.parts`` (of each scan), ``media.views`` and ``media.passes`` (of each sample).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from gpu_lol_action.analysis.files.checkout import Checkout, Source
from gpu_lol_action.analysis.files.configured_lists import listed_numbers
from gpu_lol_action.analysis.files.effort import remembered
from gpu_lol_action.analysis.media.cropped_volumes import crop_findings
from gpu_lol_action.analysis.media.detectors import built_detector, detector_findings
from gpu_lol_action.analysis.media.guidance import guidance_findings
from gpu_lol_action.analysis.media.inputs import input_sizes
from gpu_lol_action.analysis.media.latent import latent_findings
from gpu_lol_action.analysis.media.libraries import library_networks
from gpu_lol_action.analysis.media.networks import own_network
from gpu_lol_action.analysis.media.policies import assumed_network
from gpu_lol_action.analysis.media.scenes import each_ray_once, gaussian_findings, points_findings
from gpu_lol_action.analysis.media.sizes import size_findings
from gpu_lol_action.analysis.media.views import views_findings
from gpu_lol_action.analysis.media.zoo_detectors import zoo_findings
from gpu_lol_action.analysis.networks.configs import configured_modules
from gpu_lol_action.analysis.networks.measure import OwnNetwork
from gpu_lol_action.analysis.networks.saved_configs import saved_configs
from gpu_lol_action.analysis.networks.sources import named_modules, network_sources
from gpu_lol_action.analysis.programs.behavior import Behavior
from gpu_lol_action.analysis.programs.followed_values import Follower
from gpu_lol_action.analysis.programs.gin_bindings import bindings_of
from gpu_lol_action.analysis.programs.taken_names import whole_name
from gpu_lol_action.analysis.python.code import Call
from gpu_lol_action.analysis.runs.built_modules import built_modules
from gpu_lol_action.analysis.runs.entry_points import Run, import_closure
from gpu_lol_action.analysis.runs.run_configs import run_configs, stray_configs
from gpu_lol_action.analysis.runs.settings import Scope, is_on, look_up, scope_of, values_of
from gpu_lol_action.analysis.training.offload import managed_finding, offload_findings
from gpu_lol_action.analysis.training.optimized_parts import trained_beside
from gpu_lol_action.analysis.training.token_windows import token_windows
from gpu_lol_action.domain.finding import Confidence, Evidence, Finding
from gpu_lol_action.domain.patterns import regex
from gpu_lol_action.estimation.media_facts import find_network

_CONTROLLED = ("ControlNetModel", "ControlNetXSAdapter", "FluxControlNetModel", "SD3ControlNetModel")
_PARTS = (
    (r"controlnet", "controlnet", _CONTROLLED),
    (r"t2i.?adapter", "t2i-adapter", ("T2IAdapter",)),
    (r"textual.?inversion", "textual inversion", ()),
)
_COPIES_DENOISER = ("from_unet", "from_transformer")
_CLIPS = ("UNet3DConditionModel", "UNetMotionModel", "unet_additional_kwargs", "motion_module")
# diffusers' trainers, told `--offload`: the prompts' encoder is on the card only while it is at work.
_MOVES_ENCODER = regex(r"\btext_enc\w{0,30}\.(?:to\(\s{0,4}[\"']cpu[\"']|cpu\()|\boffload_models\(\s{0,40}text_enc")
_AT_32_BIT = "OpenAI's package loads weights at 32 bit"
MAX_CROPPING = 40  # programs that are asked what they cut out of scans
LEAST_NETWORK = 16  # weights: fewer are of a filter or a loss
MANY_LAYERS, LEAST_OF_A_LAYER = 20, 300
MAX_CUTTING = 20  # programs that are asked whether they cut samples out of rows
"""A network of so many layers with fewer weights in each on average was built of sides that were not read."""


def detect(checkout: Checkout, run: Run | None) -> list[Finding]:
    """Return what the run says of its pictures, clips and sounds, and which network it builds for them."""
    if run is None:
        return []
    scope = scope_of(checkout, run)
    closure = import_closure(checkout, run.script) if run.script is not None else ()
    sources = (*closure, *built_modules(checkout, run))
    networks = list(library_networks(scope, sources))
    cropped = _cropped(run, scope, sources, networks)
    told = {crop.field for crop in cropped}
    sized = size_findings(scope, sources, values_of(checkout, run), trains=run.behavior is Behavior.TRAINS)
    found = [*cropped, *(finding for finding in sized if finding.field not in told)]
    found += [
        *offload_findings(scope, sources, values_of(checkout, run)),
        *_text_encoder(scope, sources if run.behavior is Behavior.TRAINS else ()),
        *_trained_part(run, sources),
        *_runtime(run, sources),
    ]
    managed = managed_finding(scope, sources) if run.behavior is Behavior.INFERS else None
    found += [managed] if managed is not None else []
    found += _pictures_of_clips(sources)
    found += detector_findings(scope) or list(zoo_findings(scope, sources))[:1]
    found += views_findings(scope, sources) if run.behavior is Behavior.TRAINS else []
    found += built_detector(scope, sources)
    found += networks[:3]
    # Before a latent model's configuration: the guide's own says nothing of what is trained.
    guided = guidance_findings(scope, sources) if run.behavior is Behavior.TRAINS else []
    if guided:
        return [*found, *guided]
    latent = latent_findings(checkout, scope, run)
    if any(finding.field.startswith(("model.", "media.own")) for finding in latent):
        return [*latent, *found]
    if run.behavior is Behavior.TRAINS and (gaussians := gaussian_findings(sources)):
        return [*found, *gaussians]
    found += points_findings(scope, sources) if run.behavior is Behavior.TRAINS else []
    followed = network_sources(checkout, run.script) if run.script is not None else ()
    words = frozenset(setting.text for _, settings in scope.tiers[:4] for setting in settings)
    configs = tuple(run_configs(checkout, run))
    named = (*named_modules(checkout, followed, words), *configured_modules(checkout, configs, followed[:1]))
    followed = tuple(dict.fromkeys((*followed[:1], *named, *followed[1:]))) if followed else ()
    return each_ray_once([*found, *_own(checkout, run, scope, followed, found)], scope)


def _cropped(run: Run, scope: Scope, sources: Sequence[Source], networks: Sequence[Finding]) -> list[Finding]:
    """Return the parts of scans that are trained on; none of a volume where the network that was counted is one of pictures."""
    found: list[Finding] = []
    follower = Follower(scope.tiers[0][1], scope.tiers[1][1], sources)
    for source in sources[:MAX_CROPPING] if run.behavior is Behavior.TRAINS else ():
        found.extend(crop_findings(source, follower))
    network = find_network(networks[0].value) if networks and networks[0].field == "media.network" else None
    is_flat = network is not None and not network.is_volume
    return [] if is_flat and any(finding.field == "media.frames" for finding in found) else found


def _calls(sources: Sequence[Source], *names: str) -> Iterator[tuple[Source, Call]]:
    for source in sources:
        for call in source.code.calls_named(*names) if source.code else ():
            yield source, call


def _text_encoder(scope: Scope, training: Sequence[Source]) -> Iterator[Finding]:
    """Yield that the text encoder waits in main memory while the denoiser is at work, or that nothing has to be encoded any more."""
    names = ("t5_cpu", "text_encoder_cpu", "text_encoders_on_cpu")
    is_moved = any(source.mentions("text_enc") and _MOVES_ENCODER.search(source.text) for source in training)
    switch = look_up(scope, (*names, "offload") if is_moved else names)
    if switch is not None and is_on(switch):
        why = f"`{switch.setting.key}` is on"
        yield Finding("media.text_encoder", "elsewhere", why, switch.confidence, switch.evidence)
    cached = look_up(
        scope, ("cache_latents", "precompute_latents", "precompute_embeddings", "cache_text_encoder_outputs")
    )
    if cached is not None and is_on(cached):
        why = f"`{cached.setting.key}` is on"
        yield Finding("media.latents", "cached", why, cached.confidence, cached.evidence)


def _trained_part(run: Run, sources: Sequence[Source]) -> Iterator[Finding]:
    """Yield what is trained beside a frozen diffusion model: the program's name says it, and its calls build it."""
    program = run.script.path if run.script is not None else run.command.target if run.command is not None else ""
    if run.behavior is not Behavior.TRAINS or not program:
        return
    for pattern, part, builders in _PARTS:
        named = regex(pattern, re.IGNORECASE).search(program)
        calls = ((source, _first_of(source, builders)) for source in sources if builders)
        built = next(((source, call) for source, call in calls if call is not None), None)
        if built is not None:
            where = Evidence(built[0].path, built[1].line)
            yield Finding("media.trained_part", part, f"`{built[1].name}` builds it", Confidence.HIGH, where)
            return
        if named:
            where = Evidence(program) if run.script is not None else run.evidence
            yield Finding("media.trained_part", part, "the program's name says it", Confidence.MEDIUM, where)
            return
    if run.script is not None and (beside := trained_beside(run.script)) is not None:
        if (copied := _copied(run.script, beside[0])) is not None:
            why = f"`{copied.name[:60]}` begins it as a copy of the denoiser, and the optimizer is given its parameters"
            where = Evidence(run.script.path, copied.line)
            yield Finding("media.trained_part", "controlnet", why, Confidence.MEDIUM, where)
            return
        why = f"the optimizer is given the parameters of `{beside[0]}` alone"
        yield Finding("media.trained_part", "adapter", why, Confidence.MEDIUM, Evidence(run.script.path, beside[1]))


def _copied(script: Source, trained: str) -> Call | None:
    """Return the call that begins what is trained as a copy of the denoiser (``branch = BranchModel.from_unet(unet)``): of a ControlNet's size, and no small adapter."""
    code = script.code
    calls = code.calls_named(*_COPIES_DENOISER) if code is not None else ()
    lines = script.text.split("\n") if calls else []
    places = [(call, code.line_of_text(call.line)) for call in calls] if code is not None else []
    return next((c for c, place in places if place and lines[place - 1].partition("=")[0].strip() == trained), None)


@remembered
def _first_of(source: Source, owners: tuple[str, ...]) -> Call | None:
    """Return a program's first call whose name begins with one of these words."""
    if source.code is None or not any(source.mentions(owner) for owner in owners):
        return None
    return next((call for call in source.code.calls if call.name.split(".")[0] in owners), None)


def _pictures_of_clips(sources: Sequence[Source]) -> Iterator[Finding]:
    """Yield that a denoiser for pictures makes those of a clip at once: its layers were taken to three dimensions."""
    for source in sources:
        if any(source.mentions(word) for word in _CLIPS):
            why = "a denoiser for pictures is taken to clips"
            yield Finding("media.pictures", "clip", why, Confidence.MEDIUM, Evidence(source.path))
            return


def _runtime(run: Run, sources: Sequence[Source]) -> Iterator[Finding]:
    if run.command is not None and run.command.tool == "whisper":
        yield Finding("media.runtime", "openai-whisper", _AT_32_BIT, Confidence.HIGH, run.evidence)
        return
    for source, call in _calls(sources, "load_model"):
        if whole_name(source, call.name) == "whisper.load_model":
            where = Evidence(source.path, call.line)
            yield Finding("media.runtime", "openai-whisper", _AT_32_BIT, Confidence.HIGH, where)
            return


def _own(
    checkout: Checkout, run: Run, scope: Scope, sources: Sequence[Source], found: Sequence[Finding]
) -> list[Finding]:
    """Return the network of one's own that the run builds, else the policy that a library of agents builds for it."""
    options = {setting.key: setting.text for setting in reversed(scope.tiers[0][1])}
    options = {**listed_numbers(run_configs(checkout, run)), **options}
    for setting in scope.tiers[1][1]:
        options.setdefault(setting.key, setting.text)
    rest = {setting.key: setting.text for setting in reversed(scope.tiers[-1][1])}
    rest |= listed_numbers(stray_configs(checkout, run)) if rest and not run.configs else {}
    sizes = input_sizes(scope, found, infers=run.behavior is Behavior.INFERS)
    stray, configs = tuple(sorted(rest.items())), tuple(run_configs(checkout, run))
    sizes = replace(sizes, stray=stray, configs=configs, is_cut=any(map(token_windows, sources[:MAX_CUTTING])))
    sizes = replace(sizes, saved=saved_configs(checkout), bound=bindings_of(scope.tiers[0][1], scope.tiers[1][1]))
    network = own_network(sources, sizes, options) if sources else None
    known = [*_own_findings(network), *_shape_findings(run, network)] if network is not None else []
    if known and known[0].confidence is not Confidence.LOW:
        return known
    trains = run.behavior is Behavior.TRAINS and not any(f.field == "media.network" for f in found)
    return list(assumed_network(sources, is_alone=network is None, trains=trains)) or known


def _shape_findings(run: Run, network: OwnNetwork) -> list[Finding]:
    """Return the shape that the program computes from its options (`--depth`) where the command that starts it gives any and layers were built."""
    if run.command is None or not run.options or not network.shape or not network.layers:
        return []
    numbers = ", ".join(f"{field.rpartition('.')[2]} {number}" for field, number in network.shape)
    why = f"with its options the program builds `{network.name}` of {numbers}"
    return [Finding(field, str(number), why, Confidence.HIGH, run.evidence) for field, number in network.shape]


def _own_findings(network: OwnNetwork) -> list[Finding]:
    is_hollow = network.layers >= MANY_LAYERS and network.parameters < LEAST_OF_A_LAYER * network.layers
    is_read = network.unknown * 5 <= network.layers and network.parameters >= LEAST_NETWORK and not is_hollow
    confidence = Confidence.HIGH if is_read else Confidence.LOW
    missing = f"; {network.unknown} layers could not be sized" if network.unknown else ""
    why = f"`{network.name}` has {network.layers} layers with {network.parameters:,} parameters{missing}"
    values = [
        ("own_network", network.name),
        ("own_parameters", str(network.parameters)),
        ("own_outputs", str(network.outputs)),
        ("own_at_work", str(network.at_work)),
    ]
    if network.known_as:
        values.append(("own_known_as", network.known_as))
    values += [("own_sequence", "yes")] if network.is_sequence else []
    values += [("own_file", "yes")] if network.is_of_file else []
    values += [("own_assumed", "size")] if network.is_size_assumed else []
    found = [Finding(f"media.{field}", value, why, confidence, network.evidence) for field, value in values]
    if network.positions:  # what its texts may have at the most
        rows = f"`{network.name}` has a table of {network.positions} positions"
        found.append(Finding("media.own_positions", str(network.positions), rows, Confidence.LOW, network.evidence))
    return found
