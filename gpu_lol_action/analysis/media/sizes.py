"""Sizes of pictures, clips and sounds: what options, configuration and transforms say, else the data set that is loaded."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from gpu_lol_action.analysis.files.checkout import Source
from gpu_lol_action.analysis.files.effort import remembered
from gpu_lol_action.analysis.files.setting import Setting, leaves_out
from gpu_lol_action.analysis.media.pixel_denoisers import of_pixels
from gpu_lol_action.analysis.media.transforms import (
    LEAST,
    MOST,
    first_inputs,
    network_inputs,
    resized_sizes,
    transformed_sizes,
)
from gpu_lol_action.analysis.programs.dead_branches import dead_lines
from gpu_lol_action.analysis.runs.settings import Found, Scope, as_number, look_up, look_up_number
from gpu_lol_action.domain.finding import Confidence, Evidence, Finding
from gpu_lol_action.domain.patterns import regex

_SIDE = ("resolution", "image_size", "img_size", "imgsz", "image_resolution", "input_size", "crop_size", "train_resolution", "img_dim",
         "image_dim", "im_size", "imsize", "img_height", "image_height", "target_size", "train_crop_size", "video_size", "img", "finesize", "fine_size",
         "spatial_size", "roi_size", "roi_x")  # fmt: skip
_HEIGHTS = (
    "train_h",
    "crop_h",
    "crop_y",
    "crop_height",
    "input_h",
    "input_height",
    "height",
    "video_height",
    "sample_height",
    "max_height",
    "imgh",
    "img_h",
    "image_h",
    "h",
)
_WIDTHS = (
    "train_w",
    "crop_w",
    "crop_x",
    "crop_width",
    "input_w",
    "input_width",
    "width",
    "video_width",
    "sample_width",
    "max_width",
    "imgw",
    "img_w",
    "image_w",
    "w",
)
_PART_OF_MODEL = regex(r"ddconfig|first_stage|vae|autoencoder|lossconfig|cond_stage", re.IGNORECASE)
# What judges pictures that are made scales them for a classifier of its own (Inception's 299 pixels).
_JUDGES = regex(
    r"(?:^|[/_])(?:inception|fid|lpips|metrics?|clean_?fid|perceptual|loss(?:es)?|criteria|criterion|discriminator)(?:[/_.]|$)",
    re.IGNORECASE,
)
_PAIR = (
    "video_size",
    "size",
    "image_size",
    "img_size",
    "resolution",
    "input_size",
    "crop_size",
    "target_size",
    "output_size",
)
# Detectors enlarge a picture until its shorter side is the one, and its longer side at most the other.
_SHORTER_SIDE = (
    "image_min_side",
    "min_side",
    "image_min_dim",
    "min_size_train",
    "img_min_side",
    "short_side",
    "min_image_size",
    "shorter_side",
)
_LONGER_SIDE = ("image_max_side", "max_side", "image_max_dim", "max_size_train", "img_max_side", "long_side", "max_image_size", "longer_side")  # fmt: skip
_FRAMES = ("num_frames", "video_length", "frame_num", "n_frames", "clip_len", "sample_n_frames", "frames_per_clip", "max_num_frames",
           "clip_length", "sequence_frames", "n_sample_frames", "sample_duration")  # fmt: skip
_SECONDS = ("max_duration_in_seconds", "max_length_seconds", "max_input_length_in_sec", "max_duration", "audio_length_in_s", "chunk_length_s", "segment_duration",
            "max_audio_length", "max_seconds", "clip_duration", "max_length_in_seconds", "segment_seconds")  # fmt: skip
_TUBES = ("tubelet_size", "tubelet", "tublet_size")
_CLASSES = ("num_classes", "n_classes", "num_labels", "nclass", "classes")
# Pixels of well-known data sets, as their papers give them.
_DATASETS = {"mnist": 28, "fashionmnist": 28, "kmnist": 28, "emnist": 28, "cifar10": 32, "cifar100": 32, "svhn": 32, "usps": 16, "omniglot": 105,
             "stl10": 96, "tinyimagenet": 64, "imagenet": 224, "imagefolder": 224}  # fmt: skip
_NAMED = frozenset({"dataset", "data_set", "dataset_name", "dataset_type", "dset"})
_OF_DATASET = regex(r"([A-Za-z]{3,12}\d{0,3})(?:Configs?|DataModule|Dataset)")
_OF_A_LAYER = ("output_size", "hidden_size", "out_features")
MOST_OF_A_BATCH = 6000


def size_findings(
    scope: Scope, sources: Sequence[Source], options: Mapping[str, str], *, trains: bool
) -> list[Finding]:
    """Return sizes that the run says, the nearest first; not what only branches say that its ``options`` switch off."""
    images = [*_image(scope, sources, options, trains=trains)]
    found = [max(images, key=lambda finding: finding.confidence)] if images else []
    numbers = (
        ("media.frames", _FRAMES, 2, 1024),
        ("media.classes", _CLASSES, 2, 30_000),
        ("media.tubelet", _TUBES, 1, 16),
    )
    for field, names, low, high in numbers:
        number = look_up_number(scope, names, low, high)
        # What an imported module starts with is a helper's as often as not: of a face's parts, of a shown clip.
        if number is not None and number.confidence is not Confidence.MEDIUM and not leaves_out(number.setting):
            found.append(_finding(field, str(as_number(number.text)), number))
    seconds = look_up(scope, _SECONDS)
    # lhotse's samplers count the seconds of a whole batch; what a function starts with may be frames.
    is_told = seconds is not None and not seconds.setting.is_parameter
    most = MOST_OF_A_BATCH if is_told and any(source.mentions("lhotse") for source in sources) else 600
    if (
        seconds is not None
        and regex(r"\d{1,4}(?:\.\d{1,3})?").fullmatch(seconds.text)
        and 0.1 <= float(seconds.text) <= most
    ):
        found.append(_finding("media.audio_seconds", seconds.text, seconds))
    return found


def image_size(findings: Iterable[Finding]) -> tuple[int, int] | None:
    """Return height and width in pixels as a finding of ``media.image_size`` gives them."""
    named = [finding for finding in findings if finding.field == "media.image_size"]
    best = max(named, key=lambda finding: finding.confidence, default=None)
    if best is None:
        return None
    height, _, width = best.value.partition("x")
    return int(height), int(width or height)


def _image(scope: Scope, sources: Sequence[Source], options: Mapping[str, str], *, trains: bool) -> Iterator[Finding]:
    """Yield the size of pictures: height and width, a pair, one side, a transform, a data set."""
    height, width = _nearest(scope, _HEIGHTS), _nearest(scope, _WIDTHS)
    if height is not None and width is not None and height.confidence is width.confidence:
        yield _finding("media.image_size", f"{as_number(height.text)}x{as_number(width.text)}", height)
    shorter, longer = _nearest(scope, _SHORTER_SIDE), _nearest(scope, _LONGER_SIDE)
    if shorter is not None and longer is not None and shorter.confidence is longer.confidence:
        longest = as_number(longer.text) or 0
        yield _finding("media.image_size", f"{min(as_number(shorter.text) or 0, longest)}x{longest}", shorter)
    pair = _pair(scope)
    if pair is not None:
        yield _finding("media.image_size", pair[0], pair[1])
    # Of a denoiser it is the size of its latents.
    side = _nearest(scope, (*_SIDE, "sample_size") if look_up(scope, ("sample_duration",)) else _SIDE)
    if side is not None:
        yield _finding("media.image_size", str(as_number(side.text)), side)
    yield from of_pixels(scope)
    yield from _bare_side(scope)
    transformed, named = (
        list(_live(transformed_sizes(scope, sources), sources, options)),
        list(_of_named_datasets(scope)),
    )
    # Where a program crops to that size for some data set, the one that is named goes before what others are resized to.
    is_cropped = bool(named) and any(each.value == named[0].value for each in transformed)
    yield from (*named, *transformed) if is_cropped else (*transformed, *named)
    beside = (*first_inputs(scope, sources), *(resized_sizes(scope, sources) if trains else ()))
    yield from _live((*beside, *network_inputs(scope, sources), *_from_datasets(sources)), sources, options)


def _live(found: Iterable[Finding], sources: Sequence[Source], options: Mapping[str, str]) -> Iterator[Finding]:
    """Yield what does not stand in a branch that the run's options switch off."""
    by_path = {source.path: source for source in sources}
    for each in found:
        dead = dead_lines(by_path[each.evidence.path], options)
        if not any(each.evidence.line in block for block in dead):
            yield each


def _of_named_datasets(scope: Scope) -> Iterator[Finding]:
    """Yield the pictures' size of a well-known data set that the command or the configuration names."""
    for confidence, settings in scope.tiers[:2]:
        for setting in settings:
            side = _DATASETS.get(regex(r"[_-]").sub("", setting.text.lower())) if setting.key in _NAMED else None
            if side is not None:
                found = Found(setting, min(confidence, Confidence.MEDIUM))
                yield replace(_finding("media.image_size", str(side), found), why=f"pictures of `{setting.text}`")


def _nearest(scope: Scope, names: Sequence[str]) -> Found | None:
    """Return the nearest number of pixels under one of these keys; an autoencoder's own size is not the run's."""
    for found in scope.under(names):
        number, setting = as_number(found.text), found.setting
        least = 64 if len(setting.key) == 1 else LEAST
        is_other = _PART_OF_MODEL.search(setting.path) or _JUDGES.search(setting.evidence.path)
        if number is not None and least <= number <= MOST and not (is_other or _is_width(scope, setting)):
            return found
    return None


def _is_width(scope: Scope, setting: Setting) -> bool:
    """Whether an ``input_size`` is what one layer takes: the call that says it says what it gives, or holds, as well."""
    section = setting.path.rpartition(".")[0]
    if setting.key != "input_size" or not section:
        return False
    others = (found.setting for found in scope.under(_OF_A_LAYER))
    return any(
        each.evidence.path == setting.evidence.path and each.path.rpartition(".")[0] == section for each in others
    )


def _bare_side(scope: Scope) -> Iterator[Finding]:
    """Yield a bare ``size`` of the run's options or configuration where it is one that pictures are made with."""
    for confidence, settings in scope.tiers[:2]:
        for setting in settings:
            number = as_number(setting.text) if setting.key == "size" else None
            if number is not None and 256 <= number <= 2048 and number % 64 == 0:
                yield _finding("media.image_size", str(number), Found(setting, confidence))


def _pair(scope: Scope) -> tuple[str, Found] | None:
    """Return two sides that one setting gives: ``720 1280``, ``512,512``, ``832*480``, ``(224, 224, 3)``."""
    for confidence, settings in scope.tiers[:4]:
        for setting in settings:
            # What is cut out of a picture after it was resized is what goes in.
            is_resize = setting.path.rpartition(".")[0].endswith("Resize")
            if setting.key not in _PAIR or is_resize or _JUDGES.search(setting.evidence.path):
                continue
            whole = regex(r"[\[(]?\s*(\d{2,4})\s*[,x*\s]\s*(\d{2,4})(?:\s*,\s*[13])?\s*[\])]?").fullmatch(setting.text)
            if whole and LEAST <= int(whole[1]) <= MOST and LEAST <= int(whole[2]) <= MOST:
                return f"{whole[1]}x{whole[2]}", Found(setting, confidence)
    return None


def _from_datasets(sources: Sequence[Source]) -> Iterator[Finding]:
    for source in sources:
        yield from _datasets_of(source)


@remembered
def _datasets_of(source: Source) -> tuple[Finding, ...]:
    """Return the pictures' sizes of the well-known data sets that a program loads."""
    found: list[Finding] = []
    for call in source.code.calls if source.code else ():
        word = call.last.lower().replace("_", "")
        if word == "loaddata":
            word = call.name.rpartition(".")[0].rpartition(".")[2].lower().replace("_", "")
        if word == "loaddataset" and call.arguments and call.arguments[0].text:
            word = call.arguments[0].text.rsplit("/", 1)[-1].lower().replace("_", "").replace("-", "")
        if word in _DATASETS:
            where = Evidence(source.path, call.line)
            why = f"pictures of `{call.last}`"
            found.append(Finding("media.image_size", str(_DATASETS[word]), why, Confidence.LOW, where))
    # A class that a library has for one of them (`class Run(CIFAR10Configs)`) is called by its name.
    names = [name for item in source.code.imports for name in item.names] if source.code else []
    for name in names:
        known = _OF_DATASET.fullmatch(name)
        if known is not None and (side := _DATASETS.get(known[1].lower())) is not None:
            found.append(
                Finding("media.image_size", str(side), f"pictures of `{name}`", Confidence.LOW, Evidence(source.path))
            )
    return tuple(found)


def _finding(field: str, value: str, found: Found) -> Finding:
    return Finding(field, value, f"`{found.setting.key}` is {found.text[:60]}", found.confidence, found.evidence)
