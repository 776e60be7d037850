"""Cards that scripts and images tell, where no program of the checkout is there to tell of any, and no list names a library for one.

``gmx mdrun -nb gpu``, ``run_fold.py --model_device cuda:0``, and a container whose image is
CUDA's own, or called by it: whatever is started there is somebody else's, and its words say where it computes.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from gpu_lol_action.analysis.commands.cluster_orders import tells_of_training
from gpu_lol_action.analysis.commands.command_verbs import TRAINING_TARGET
from gpu_lol_action.analysis.commands.launch_lines import is_makefile
from gpu_lol_action.analysis.dependencies.dependency_lists import declared_packages
from gpu_lol_action.analysis.files.checkout import Checkout, Source
from gpu_lol_action.analysis.files.configuration import read_settings
from gpu_lol_action.analysis.files.effort import remembered
from gpu_lol_action.analysis.formats.paths import Form
from gpu_lol_action.analysis.formats.texts import without_comment
from gpu_lol_action.domain.finding import Confidence, Evidence, Finding
from gpu_lol_action.domain.patterns import regex

MAX_SOURCES, MAX_LINES, MAX_COMMAND, MAX_HELPERS = 20, 2000, 4000, 3
_TOLD = regex(
    r"(?<![\w-])--?(?:[A-Za-z]{1,20}[-_]){0,2}(?:device|accelerator|platform|backend)[ =][\"']?(?:cuda|gpu|CUDA|GPU|OPTIX)(?::\d{1,2})?(?![\w-])"
    r"|(?<![\w-])-(?:nb|pme|bonded|update|sf|pk) gpu(?![\w-])"
    r"|(?:^|\s)(?:\S{0,80}/)?pmemd\.cuda\b|^(?:\S{0,80}/)?namd\d?\s[^#]{0,200}\+devices \d"
    r"|(?<![\w-])--gpu(?:[-_]ids?)?[ =][\"']?(?:\d|all\b|true\b)"
    r"|(?<![\w-])--(?:use[-_]gpus?|(?:num|n)[-_]gpus?|gpus|ngpus?)[ =][\"']?(?:[1-9]|all\b|true\b)"
    r"|(?<![\w-])--(?:(?:use[-_])?(?:gpu|cuda|amp|fp16|bf16)|mixed[-_]precision[ =][\"']?[fb]f?p?16)(?=[\s\"']|$)"
)
# What containers are given is looked at with these.
_SAYS = regex(
    r"(?:echo|printf|if|elif|while|alias|nvidia-smi|(?:sudo )?(?:docker|podman|nvidia-docker))\b|#|[A-Za-z_]\w{0,40}=[^ ]{0,200}$"
)
# What builds, tries, or orders machines computes nothing itself, and a browser draws pages.
_BUILDS = regex(
    r"(?:(?:sudo|time|exec|nohup|env|bash|sh|python3?|uv run|poetry run)\s+)*(?:-\w+\s+)*(?:\S{0,120}/)?"
    r"(?:build|configure|install|setup|bootstrap|compile|cmake|make|ninja|meson|bazel|conan|cargo|go|npm|npx|yarn|pnpm|pip3?|conda|mamba|apt(?:-get)?|brew"
    r"|minikube|kind|k3d|kubectl|helm|terraform|pulumi|ansible\S*|eksctl|az|gcloud|gsutil|aws|oci|doctl|vastai|runpodctl|modal|sky|ray|salloc"
    r"|google-chrome\S*|chrom(?:e|ium)\S*|firefox|playwright|electron|pytest|tox|nox|ctest|ffmpeg|ffprobe)(?=[\s._-]|$)"
)
_MAX_WORDS = 40
_SETS_IN_FRONT = regex(r"(?:[A-Za-z_]\w{0,40}=\S{0,200}\s+)*")
# An image by its repository's last name or its tag: `localai/localai:latest-aio-gpu-nvidia-cuda-12`, `nvcr.io/nvidia/tritonserver:24.10-py3`.
_FOR_CARDS = regex(
    r"nvcr\.io/nvidia/(?!cuda\b|base/|k8s/|cloud-native/|[\w./-]{0,60}(?:dcgm|toolkit|exporter|operator))[\w./-]{1,80}(?!\S{0,80}-sdk)|(?:docker\.io/)?nvidia/cuda"
    r"|[\w./-]{1,120}:[\w.-]{0,80}(?<![a-z])(?:cuda|cu1[1-3]\d)(?![a-z])[\w.-]{0,60}",
)
_STARTS = regex(r"^(?:CMD|ENTRYPOINT)\b", re.MULTILINE)
_FROM = regex(
    r"^FROM[ \t]+(?:--platform=\S{1,40}[ \t]+)?(\S{1,200})(?:[ \t]+(?:AS|as)[ \t]+\S{1,60})?[ \t]*$", re.MULTILINE
)
_SERVICES = frozenset({"docker-compose.yml", "docker-compose.yaml", "compose.yml", "compose.yaml"})


@remembered
def told_card(checkout: Checkout) -> Finding | None:
    """Return where a script tells what it starts to compute on a card, or what runs is an image for cards; None beside many programs, an image also beside a list."""
    if len(checkout.of(Form.PYTHON, Form.NOTEBOOK)) > MAX_HELPERS:
        return None
    for source in checkout.of(Form.SHELL)[:MAX_SOURCES]:
        for number, command in _commands(source) if not is_makefile(source) else ():
            if (found := _TOLD.search(command)) is not None and not _is_of_here(checkout, command):
                why = f"`{source.name}` starts a program with `{found[0].strip()[:60]}`"
                return Finding("gpu.use", "yes", why, Confidence.LOW, Evidence(source.path, number))
    return _image_for_cards(checkout) if not declared_packages(checkout) else None


def _is_of_here(checkout: Checkout, command: str) -> bool:
    """Whether a command builds or orders something, goes without where it fails, or starts a program that lies here and tells itself what it takes."""
    if _BUILDS.match(command) or "||" in command:
        return True
    words = command.split()[:_MAX_WORDS]
    return any(word.endswith(".py") and checkout.find_named(word.removeprefix("./")) is not None for word in words)


def told_workload(checkout: Checkout, need: Finding) -> Finding | None:
    """Return what is done on a card that a script or an image tells: training where its command, or the script, speaks of it."""
    if told_card(checkout) != need:
        return None
    source = checkout.by_path[need.evidence.path]
    line = next((text for number, text in _commands(source) if number == need.evidence.line), "")
    trains = TRAINING_TARGET.search(line) is not None if line else tells_of_training(source.text)
    kind = "training" if trains else "inference"
    return Finding("workload", kind, need.why, Confidence.LOW, need.evidence)


def _commands(source: Source) -> Iterator[tuple[int, str]]:
    """Yield a script's own commands with their first lines: no remark, nothing that is only said or asked, and nothing indented."""
    first, command = 0, ""
    for number, line in enumerate(source.text.split("\n")[:MAX_LINES], 1):
        first, command = (first, command) if command else (number, "")
        command = f"{command} {line.removesuffix(chr(92))}"[:MAX_COMMAND]
        if line.endswith("\\"):
            continue
        told = without_comment(command[1:])
        command = ""
        in_front = _SETS_IN_FRONT.match(told)
        bare = told[in_front.end() :] if in_front is not None else told
        if bare[:1].strip() and not _SAYS.match(bare):
            yield first, told


def _image_for_cards(checkout: Checkout) -> Finding | None:
    """Return the last image of the root's Dockerfile that starts something, or a service's, where it is made for cards."""
    for source in checkout.of(Form.DOCKERFILE)[:MAX_SOURCES]:
        images = list(_FROM.finditer(source.text)) if _STARTS.search(source.text) is not None else []
        if source.depth == 0 and images and _FOR_CARDS.match(images[-1][1]) is not None:
            line = source.text.count("\n", 0, images[-1].start()) + 1
            return _of_image(images[-1][1], Evidence(source.path, line))
    for source in checkout.of(Form.YAML)[:MAX_SOURCES] if not checkout.of(Form.PYTHON) else ():
        settings = read_settings(source) if source.depth == 0 and source.name in _SERVICES else ()
        # What is only started where its user asks for that profile is an extra.
        extra = {setting.path.partition(".profiles")[0] for setting in settings if ".profiles" in setting.path}
        for setting in settings:
            is_of_service = setting.key == "image" and setting.path.startswith("services.")
            is_extra = setting.path.rpartition(".")[0] in extra
            if is_of_service and not is_extra and _FOR_CARDS.match(setting.text):
                return _of_image(setting.text, setting.evidence)
    return None


def _of_image(image: str, where: Evidence) -> Finding:
    return Finding(
        "gpu.use", "yes", f"what runs is the image `{image[:80]}`, which is made for cards", Confidence.LOW, where
    )
