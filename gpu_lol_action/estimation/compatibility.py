"""Which image holds the framework and CUDA that the code asks for.

Tables with their sources: ``torch_releases``, ``framework_images``, ``package_pairs``. SkyPilot 0.14.1 cannot ask RunPod for a
host's driver, so of several images that would do, the one with the lowest CUDA 12 is taken: it starts on more hosts.
"""

from __future__ import annotations

from collections.abc import Sequence

from gpu_lol_action.domain.gpus import Accelerator
from gpu_lol_action.domain.patterns import regex
from gpu_lol_action.domain.records import record
from gpu_lol_action.estimation import framework_images as others
from gpu_lol_action.estimation.image_contents import image_refusal
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
    FIRST_HOPPER_CUDA,
    TorchRelease,
    Version,
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
    index or a list names, ``python`` one that is asked for, ``last_python`` the last that the code works on, ``compiles`` what of the
    repository itself needs nvcc.
    """

    framework: str = "torch"
    requirements: tuple[str, ...] = ()
    torch: str = ""
    cuda: str = ""
    python: str = ""
    last_python: str = ""
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
    older = _up_to(wish.last_python, fitting) if wish.last_python and not is_newer_card else []
    if older and chosen not in older:
        return older[-1], f"{why}; the code works up to Python {wish.last_python}", []
    better = None if is_newer_card else release_for_pins(fitting, chosen, wish.requirements)
    if better is not None:
        return better, f"{why}; packages that are pinned have builds for its Python {better.image_python}", []
    return chosen, why, []


def _up_to(python: str, releases: Sequence[TorchRelease]) -> list[TorchRelease]:
    """Return the releases whose image has that Python or an older one."""
    return [release for release in releases if parse_version(release.image_python) <= parse_version(python)]


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


__all__ = ["DEFAULT_TORCH", "NEEDS_COMPILER", "ImageChoice", "ImageWish", "choose_image", "parse_version"]
