"""Which image holds which framework and CUDA, and on which cards that runs.

Tables with their sources: ``torch_releases``, ``framework_images``, ``package_pairs``; runpod/containers' bake file (what
a RunPod tag really holds). SkyPilot 0.14.1 cannot ask RunPod for a host's driver, so of several images that would do, the
one with the lowest CUDA 12 is taken: it starts on more hosts.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Sequence

from gpu_lol_action.domain.gpus import Accelerator
from gpu_lol_action.domain.patterns import regex
from gpu_lol_action.domain.records import record
from gpu_lol_action.estimation import framework_images as others
from gpu_lol_action.estimation.image_python import release_for_pins
from gpu_lol_action.estimation.package_pairs import (
    NEEDS_COMPILER,
    allows,
    disagreements,
    implied_torch,
    pinned,
    specifier_of,
)
from gpu_lol_action.estimation.torch_releases import (
    DEFAULT_TORCH,
    FIRST_BLACKWELL_CUDA,
    FIRST_BLACKWELL_TORCH,
    FIRST_HOPPER_CUDA,
    TorchRelease,
    Version,
    first_cuda,
    least_capability,
    least_driver,
    parse_version,
    torch_releases,
)
from gpu_lol_action.estimation.wheel_links import names_by_link

_ENDS = regex(r"(?:<=?|~=|={2,3})\s*(\d{1,3}(?:\.\d{1,3}){0,3})")


@record(frozen=True, slots=True)
class ImageWish:
    """What the code asks of an image.

    ``requirements`` are those to install, ``torch`` a specifier said elsewhere (a conda command), ``cuda`` a version that an
    index or a list names, ``python`` one that is asked for, ``compiles`` what of the repository itself needs nvcc.
    """

    framework: str = "torch"
    requirements: tuple[str, ...] = ()
    torch: str = ""
    cuda: str = ""
    python: str = ""
    compiles: str = ""
    card: Accelerator | None = None

    @property
    def names(self) -> frozenset[str]:
        """Normalized names of the requirements."""
        return frozenset(_name(text) for text in self.requirements)


@record(frozen=True, slots=True)
class ImageChoice:
    """The image, what it holds, one sentence why it was chosen, and what contradicts each other."""

    image: str
    python: str | None
    cuda: str | None
    why: str
    contradictions: tuple[str, ...] = ()


@record(frozen=True, slots=True)
class ImageContents:
    """What an image's name says of torch and of the CUDA that its torch was built for; None: it does not say."""

    torch: Version | None
    cuda: Version | None


def choose_image(wish: ImageWish) -> ImageChoice:
    """Return the image for that wish; always one that exists by the tables."""
    if wish.framework == "none":
        python = wish.python or "3.11"
        return ImageChoice(f"python:{python}-slim", python, None, "no GPU framework is used")
    special = _special(wish)
    if special is None:
        return _torch(wish)
    notes = (
        ()
        if special.is_exact
        else (f"{special.why}, but no image with that version is known: `{special.image}` is near",)
    )
    return ImageChoice(special.image, special.python, special.cuda, special.why, notes)


def _special(wish: ImageWish) -> others.FrameworkImage | None:
    """Return the image of a framework that has its own; None where PyTorch's is right."""
    if wish.framework == "tensorflow":
        names = ("tensorflow", "tensorflow-gpu", "tf-nightly", "tf-nightly-gpu", "tensorflow-cpu")
        return others.tensorflow_image(specifier_of(wish.requirements, *names) or "")
    if wish.framework == "vllm":
        return others.vllm_image(specifier_of(wish.requirements, "vllm") or "")
    if wish.framework == "sglang":
        return others.sglang_image(specifier_of(wish.requirements, "sglang") or "")
    if wish.framework == "paddle":
        return others.paddle_image(specifier_of(wish.requirements, "paddlepaddle-gpu", "paddlepaddle") or "")
    if wish.framework == "tgi":
        return others.FrameworkImage(others.TGI_IMAGE, None, None, "Text Generation Inference serves the model")
    if wish.framework == "mxnet":
        return others.FrameworkImage(
            others.MXNET_IMAGE, "3.8", "11.6", "MXNet is used, which NVIDIA built for newer cards"
        )
    if wish.framework == "nemo":
        return others.FrameworkImage(
            others.NEMO_IMAGE, "3.10", "12.5", "NeMo needs apex and Transformer Engine beside it"
        )
    if wish.framework == "nvidia":
        why = "apex, Transformer Engine and Megatron are built into NVIDIA's image"
        return others.FrameworkImage(others.NVIDIA_PYTORCH, "3.12", "12.6", why)
    return None


def _torch(wish: ImageWish) -> ImageChoice:
    asked, said = _asked(wish)
    release, why, notes = _release(wish, asked, said)
    cuda = _cuda(wish, release)
    linked = names_by_link(wish.requirements, release.image_python)
    compiled = sorted((wish.names | linked) & NEEDS_COMPILER)
    kind = "devel" if compiled or wish.compiles else "runtime"
    if kind == "devel":
        why += f"; with a compiler for {', '.join(compiled) or wish.compiles}"
    if wish.cuda and wish.cuda == cuda:
        why += f"; CUDA {cuda} is asked for"
    else:
        why += f"; of its builds CUDA {cuda} starts on the most drivers"
    driver = least_driver(cuda)
    why += f" (from {driver} on)" if driver else ""
    image = f"pytorch/pytorch:{release.name}-cuda{cuda}-cudnn{release.cudnn}-{kind}"
    notes += [*disagreements(wish.requirements), *_python_notes(wish, release, asked), *_card_notes(wish, image)]
    return ImageChoice(image, release.image_python, cuda, why, tuple(dict.fromkeys(notes)))


def _asked(wish: ImageWish) -> tuple[str, str]:
    """Return the specifier of PyTorch that counts, and who says it."""
    named = specifier_of(wish.requirements, "torch") or wish.torch
    if pinned(named):
        return named, ""
    implied, by = implied_torch(wish.requirements)
    if implied and (not named or allows(named, implied.lstrip("="))):
        return implied, by
    return named, ""


def _release(wish: ImageWish, asked: str, said: str) -> tuple[TorchRelease, str, list[str]]:
    """Return the release of the image, why, and what could not be had."""
    known = list(torch_releases().values())
    exact = pinned(asked)
    if exact:
        by = f" (by {said})" if said else ""
        same = [release for release in known if allows(asked, release.name)]
        if same:
            return same[-1], f"torch {exact} is pinned{by}", []
        version = parse_version(exact)
        older = [release for release in known if release.version <= version]
        near = older[-1] if older else known[0]
        why = f"torch {exact} is pinned{by}; {near.name} is the nearest release with a known image"
        return near, why, []
    fitting = [release for release in known if allows(asked, release.name)] if asked else known
    why = f"torch{asked} is asked for" if asked else "torch is not pinned"
    if not fitting:
        fitting = [_nearest(known, asked)]
        why += f"; {fitting[0].name} is the nearest release with a known image"
    floor = parse_version(DEFAULT_TORCH)
    if wish.card is not None and wish.card.is_blackwell and any(release.version >= (2, 8) for release in fitting):
        floor, why = (2, 8, 0), f"{wish.card.name} needs torch 2.7 or newer"
    if wish.python and parse_version(wish.python) >= (3, 12) and any(r.version >= (2, 9, 1) for r in fitting):
        floor, why = (2, 9, 1), f"Python {wish.python} is asked for"
    # A range with an old CUDA beside it was written then; newer builds run on more cards, and the range allows them.
    by_cuda = [release for release in fitting if wish.cuda in release.image_cudas]
    is_of_its_day = by_cuda and not any(release.version >= floor for release in by_cuda)
    if is_of_its_day and parse_version(wish.cuda) >= FIRST_HOPPER_CUDA:
        return by_cuda[-1], f"{why}; it is the newest with CUDA {wish.cuda}", []
    newer = [release for release in fitting if release.version >= floor]
    chosen = newer[0] if newer else fitting[-1]
    is_newer_card = wish.card is not None and wish.card.is_blackwell
    better = None if is_newer_card else release_for_pins(fitting, chosen, wish.requirements)
    if better is not None:
        return better, f"{why}; packages that are pinned have builds for its Python {better.image_python}", []
    return chosen, why, []


def _nearest(known: Sequence[TorchRelease], asked: str) -> TorchRelease:
    """Return the newest release that is not above what a specifier ends at (``==1.1.*``, ``<1.4``), the oldest where all are."""
    ends = [parse_version(end) for end in _ENDS.findall(asked)]
    older = [release for release in known if not ends or release.version <= min(ends)]
    return older[-1] if older else known[0]


def _cuda(wish: ImageWish, release: TorchRelease) -> str:
    """Return the CUDA of the image: the one asked for where there is an image with it, else the lowest CUDA 12."""
    needs_blackwell = wish.card is not None and wish.card.is_blackwell
    floor: Version = FIRST_BLACKWELL_CUDA if needs_blackwell else (12, 0)
    if wish.cuda in release.image_cudas and (not needs_blackwell or parse_version(wish.cuda) >= floor):
        return wish.cuda
    fitting = [cuda for cuda in release.image_cudas if parse_version(cuda) >= floor]
    return fitting[0] if fitting else release.image_cudas[-1]


def _python_notes(wish: ImageWish, release: TorchRelease, asked: str) -> list[str]:
    """Return what contradicts between the Python that is asked for, the pinned PyTorch, and the image's Python."""
    if not wish.python:
        return []
    minor = parse_version(wish.python)[:2]
    least, most = (parse_version(python) for python in release.pythons)
    if pinned(asked) and not least <= minor <= most:
        span = " to ".join(release.pythons)
        return [f"Python {wish.python} is asked for, but torch {release.name} exists for Python {span} only"]
    if minor <= (3, 9) and minor < parse_version(release.image_python):
        return [f"Python {wish.python} is asked for, the image with torch {release.name} has {release.image_python}"]
    return []


def _card_notes(wish: ImageWish, image: str) -> list[str]:
    refusal = image_refusal(image, wish.card) if wish.card is not None else ""
    return [f"`{image}` does not run on {wish.card.name}: {refusal}"] if refusal and wish.card else []


@functools.lru_cache(maxsize=64)  # asked of the same few images for each of hundreds of offers
def image_contents(image: str) -> ImageContents:
    """Read torch and CUDA off an image's name (pytorch/pytorch, runpod/pytorch old and new, NVIDIA's, vllm, nvidia/cuda)."""
    name = image.removeprefix("docker:")
    if found := regex(r"cu(\d{2})(\d)\d?-torch(\d)(\d{1,2})(\d)(?:-|$)").search(name):
        torch: Version = (int(found[3]), int(found[4]), int(found[5]))
        # A torch260 tag holds a CUDA 12.6 build, a torch271 tag a 12.8 one, whatever toolkit the tag names.
        builds: dict[Version, Version] = {(2, 6): (12, 6), (2, 7): (12, 8)}
        built_for = builds.get(torch[:2], (int(found[1]), int(found[2])))
        return ImageContents(torch, built_for)
    if found := regex(r"nvcr\.io/nvidia/pytorch:(\d\d\.\d\d)-").search(name):
        return ImageContents(*others.NVIDIA_RELEASES.get(found[1], (None, None)))
    if found := regex(r"tensorflow/tensorflow:(\d+\.\d+)\.\d+-gpu").search(name):
        cudas = [cuda for release, (cuda, _) in others.TENSORFLOW.items() if release.startswith(f"{found[1]}.")]
        return ImageContents(None, parse_version(cudas[0]) if cudas else None)
    torch_found = regex(r"(?:^|/)pytorch:v?(\d+)\.(\d+)(?:\.(\d+))?[-+]").search(name)
    # Behind `pytorch-cuda:` may stand PyTorch's version first.
    cuda_found = regex(r"cuda[:-]?([7-9]|[1-9]\d)\.(\d)").search(name)
    cuda_found = cuda_found or regex(r"[-+]cu(\d{2})(\d)(?:\D|$)").search(name)
    return ImageContents(
        tuple(int(part or 0) for part in torch_found.groups()) if torch_found else None,
        (int(cuda_found[1]), int(cuda_found[2])) if cuda_found else None,
    )


def image_refusal(image: str, card: Accelerator) -> str:
    """Return why that image's torch does not run on that card, in one clause; an empty text when nothing speaks against it."""
    holds = image_contents(image)
    if card.is_blackwell and holds.torch is not None and holds.torch < FIRST_BLACKWELL_TORCH:
        return f"{card.architecture} needs torch 2.7 or newer, the image holds {_dotted(holds.torch)}"
    if holds.cuda is None or card.compute_capability is None:
        return ""
    needed = first_cuda(card.compute_capability)
    is_build = holds.torch is not None or needed < (11, 8)
    if is_build and holds.cuda < needed and not image.removeprefix("docker:").startswith("nvidia/cuda"):
        return f"{card.architecture} needs a CUDA {_dotted(needed)} build, the image holds {_dotted(holds.cuda)}"
    if card.compute_capability < least_capability(holds.torch, holds.cuda) and (holds.torch or holds.cuda >= (13, 0)):
        return f"CUDA {_dotted(holds.cuda)} builds do not run on {card.architecture}"
    return ""


def is_gpu_image(image: str) -> bool:
    """Whether an image's name promises CUDA."""
    return bool(
        regex(r"cuda|cu1[123]\d|pytorch|torch|tensorflow.*gpu|nvidia|nvcr\.io|vllm|sglang|runpod/|paddle.*gpu|"
                  r"text-generation-inference|deepspeed", re.IGNORECASE).search(image)
    )  # fmt: skip


def _name(requirement: str) -> str:
    if regex(r"(?:git\+|https?://)").match(requirement):
        tail = (
            requirement.rpartition("#egg=")[2] if "#egg=" in requirement else requirement.partition("#")[0].rstrip("/")
        )
        tail = tail.rsplit("/", maxsplit=1)[-1]
        bare = regex(r"\.git\b|@").split(tail)[0]
    else:
        found = regex(r"[A-Za-z0-9][\w.-]*").match(requirement)
        bare = found[0] if found else ""
    return regex(r"[-_.]+").sub("-", bare).lower()


def _dotted(version: Version) -> str:
    return ".".join(str(part) for part in version)


__all__ = ["DEFAULT_TORCH", "NEEDS_COMPILER", "ImageChoice", "ImageContents", "ImageWish", "choose_image", "image_contents",
           "image_refusal", "is_gpu_image", "parse_version"]  # fmt: skip
