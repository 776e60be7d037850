"""What speaks for an image: the repository's Dockerfile, versions of frameworks, CUDA, Python, compilers; and what contradicts."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from gpu_lol_action.analysis.command_lines.launch_tools import SERVERS, SERVING_TOOLS
from gpu_lol_action.analysis.commands.launch_commands import launch_commands
from gpu_lol_action.analysis.commands.native_programs import compiled_by_make
from gpu_lol_action.analysis.dependencies.dependency_lists import lists_of
from gpu_lol_action.analysis.dependencies.install_sources import main_dockerfiles
from gpu_lol_action.analysis.dependencies.python_version import python_wishes
from gpu_lol_action.analysis.files.checkout import Checkout
from gpu_lol_action.analysis.package_lists.conda_environments import environments
from gpu_lol_action.analysis.package_lists.conda_files import read_environment
from gpu_lol_action.analysis.package_lists.package_files import package_name
from gpu_lol_action.analysis.packages.jit_extensions import extension_loads
from gpu_lol_action.analysis.packages.local_projects import compiled_extension
from gpu_lol_action.analysis.packages.older_releases import taken_out
from gpu_lol_action.analysis.packages.packages import effective_packages
from gpu_lol_action.analysis.programs.behavior import Behavior
from gpu_lol_action.analysis.programs.import_graph import import_closure
from gpu_lol_action.analysis.runs.entry_points import Run
from gpu_lol_action.analysis.runs.runs import primary_run
from gpu_lol_action.domain.finding import Confidence, Evidence, Finding
from gpu_lol_action.domain.patterns import regex
from gpu_lol_action.estimation.image_contents import image_contents, is_gpu_image
from gpu_lol_action.estimation.package_pairs import allows, pinned
from gpu_lol_action.estimation.torch_releases import torch_releases

_FROM = regex(r"^\s*FROM\s+(?:--platform=\S+\s+)?(\S+)", re.IGNORECASE)
_IMAGE = regex(r"[a-z0-9][\w./:@-]{1,200}", re.IGNORECASE)
# No Python in it: a compiler and CUDA to build on. What is built there is what the image of a framework holds ready-made.
_BARE_CUDA = regex(r"(?:^|/)cuda:(\d{1,2}\.\d)[\w.]*-(?:(cudnn\d*)-)?(devel|runtime|base)")
_BUILT_PER_CUDA = frozenset({"torch", "torchvision", "torchaudio", "jaxlib", "jax"})
_NOT_FOR_PROGRAMS = regex(r"/driver:|/k8s|container-toolkit|dcgm|tritonserver:[\w.-]*-sdk")
_PUBLIC_HOSTS = frozenset({"docker.io", "nvcr.io", "ghcr.io", "quay.io", "gcr.io", "public.ecr.aws", "mcr.microsoft.com",
                           "registry.hub.docker.com", "index.docker.io", "huggingface.co"})  # fmt: skip
_FRAMEWORKS = {
    "torch": "torch",
    "tensorflow": "tensorflow",
    "tensorflow-gpu": "tensorflow",
    "vllm": "vllm",
    "jax": "jax",
}
_BUILD = regex(r"(?:\+|/|-)cu(\d{2})(\d)(?!\d)")


def detect(checkout: Checkout) -> list[Finding]:
    """Return the image that a Dockerfile starts from, versions that are asked for, and contradictions between them."""
    found = [
        *_dockerfile(checkout),
        *_versions(checkout),
        *_cudas(checkout),
        *_compilers(checkout),
        *_servers(checkout),
    ]
    return [*found, *_contradictions(checkout, found)]


def _dockerfile(checkout: Checkout) -> list[Finding]:
    """Return the last GPU image among the stages of the main Dockerfile; variables are filled from its own ARGs.

    A bare CUDA image is a wish for that CUDA (and a compiler), not an image to install Python packages into.
    """
    for source in main_dockerfiles(checkout, primary_run(checkout)):
        arguments = dict(regex(r"^[ \t]*ARG[ \t]+(\w+)=[\"']?([^\s\"']+)", re.MULTILINE).findall(source.text))
        for number, line in reversed(list(enumerate(source.text.split("\n"), 1))):
            match = _FROM.match(line)
            if not match:
                continue
            image = _filled(match[1], arguments)
            if (
                not is_gpu_image(image)
                or _NOT_FOR_PROGRAMS.search(image)
                or not _IMAGE.fullmatch(image)
                or ":" not in image
            ):
                continue
            where = Evidence(source.path, number)
            bare = _BARE_CUDA.search(image)
            if bare is not None:
                return _of_bare_cuda(image, bare, where)
            host = image.split("/", maxsplit=1)[0]
            if "/" in image and regex(r"[.:]").search(host) and host not in _PUBLIC_HOSTS:
                why = f"the Dockerfile starts from `{image}`, which may not be public: another image is taken"
                return [Finding("not_understood", "image", why, Confidence.MEDIUM, where)]
            return [Finding("environment.base_image", image, "the Dockerfile starts from it", Confidence.HIGH, where)]
    return []


def _of_bare_cuda(image: str, found: re.Match[str], where: Evidence) -> list[Finding]:
    why = f"the Dockerfile starts from `{image}`"
    cuda = Finding("framework.cuda", found[1], why, Confidence.MEDIUM, where)
    if found[3] != "devel":
        return [cuda]
    return [cuda, Finding("framework.compiler", "the Dockerfile", why, Confidence.LOW, where)]


def _filled(text: str, arguments: Mapping[str, str]) -> str:
    for _ in range(3):
        text = regex(r"\$\{?(\w+)(?::-([^}]*))?\}?").sub(
            lambda found: arguments.get(found[1]) or found[2] or found[0], text
        )
    return text


def _versions(checkout: Checkout) -> list[Finding]:
    found = []
    for item in effective_packages(checkout):
        name = package_name(item.requirement)
        if item.is_optional or name not in _FRAMEWORKS:
            continue
        version = regex(r"[\w.-]+(?:\[[^\]]*\])?\s*([^;@]*)").match(item.requirement)
        value = regex(r"\s+").sub("", version[1]) if version else ""
        why = f"`{item.requirement}` is asked for"
        found.append(Finding(f"framework.{_FRAMEWORKS[name]}", value, why, Confidence.HIGH, item.evidence))
    gone = taken_out(checkout, primary_run(checkout)).get("torch")
    if gone is None or any(finding.field == "framework.torch" and finding.value for finding in found):
        return found
    bound = ".".join(map(str, gone[2])).removesuffix(".0")
    why = f"`{gone[0]}` is in no torch from {bound} on, and no list bounds it"
    known = [finding for finding in found if finding.field != "framework.torch"]
    return [*known, Finding("framework.torch", f"<{bound}", why, Confidence.HIGH, gone[1])]


def _cudas(checkout: Checkout) -> list[Finding]:
    """Return the CUDA that conda's lists, an index of builds, or a pinned build names; the surest first."""
    found: list[Finding] = []
    for source in environments(checkout):
        file = read_environment(source)
        if file.cuda:
            found.append(_cuda(file.cuda, Evidence(source.path, file.cuda_line), Confidence.HIGH))
    lists = lists_of(checkout)
    for item in lists.pins:
        listed = checkout.find(item.evidence.path)
        if listed is None or package_name(item.requirement) not in _BUILT_PER_CUDA:
            continue
        lines = listed.text.split("\n")
        build = _BUILD.search(lines[item.evidence.line - 1]) if 0 < item.evidence.line <= len(lines) else None
        if build is not None:
            found.append(_cuda(f"{build[1]}.{build[2]}", item.evidence, Confidence.HIGH))
    for option in lists.options:
        build = _BUILD.search(option.value) if option.kind in {"index", "links"} else None
        if build is not None:
            found.append(_cuda(f"{build[1]}.{build[2]}", option.evidence, Confidence.MEDIUM))
    for source, project in lists.projects:
        for url in project.indexes:
            if build := _BUILD.search(url):
                line = source.text[: max(0, source.text.find(url))].count("\n") + 1
                found.append(_cuda(f"{build[1]}.{build[2]}", Evidence(source.path, line), Confidence.MEDIUM))
    found += [_cuda(command.cuda, command.evidence, Confidence.MEDIUM) for command in lists.commands if command.cuda]
    return [finding for place, finding in enumerate(found) if finding not in found[:place]]


def _cuda(text: str, where: Evidence, confidence: Confidence) -> Finding:
    version = ".".join(text.split(".")[:2])
    return Finding("framework.cuda", version, f"CUDA {version} is asked for", confidence, where)


def _compilers(checkout: Checkout) -> list[Finding]:
    """Return what of the repository itself is compiled: extensions in its setup.py, or loaded by the program while it runs."""
    found: list[Finding] = []
    extension = compiled_extension(checkout)
    if extension is not None:
        why = "the repository compiles an extension for the GPU"
        found.append(Finding("framework.compiler", "the repository's own extension", why, Confidence.HIGH, extension))
    if (made := compiled_by_make(checkout)) is not None:
        why = "the Makefile compiles CUDA with `nvcc`"
        found.append(Finding("framework.compiler", "the Makefile's `nvcc`", why, Confidence.HIGH, made))
    run = primary_run(checkout)
    for source, call in extension_loads(checkout, run):
        why = "an extension is compiled while the program runs"
        where = Evidence(source.path, call.line)
        found.append(Finding("framework.compiler", "an extension that the program loads", why, Confidence.HIGH, where))
    for source in import_closure(checkout, run.script) if run and run.script else ():
        # A word that many programs call otherwise: no tree is built for it alone.
        is_said = source.code is not None and source.mentions("torch.compile")
        for call in source.code.calls_named("compile") if source.code is not None and is_said else ():
            if call.name == "torch.compile":
                why = "`torch.compile` needs a C compiler at run time"
                where = Evidence(source.path, call.line)
                found.append(Finding("dependencies.system_packages", "gcc", why, Confidence.MEDIUM, where))
    return [finding for place, finding in enumerate(found) if finding.value not in {f.value for f in found[:place]}]


def _servers(checkout: Checkout) -> list[Finding]:
    """Return servers that are images rather than packages, where serving is what is run."""
    run = primary_run(checkout)
    if (run is not None and _is_other_server(run)) or (run is not None and run.behavior is Behavior.TRAINS):
        return []
    if run is not None and run.script is not None:
        return []  # a program that asks such a server, or stands beside one
    for command in launch_commands(checkout):
        if command.tool == "text-generation-launcher":
            return [Finding("framework.tgi", "", f"`{command.tool}` is started", Confidence.HIGH, command.evidence)]
    return []


def _is_other_server(run: Run) -> bool:
    command = run.command
    return command is not None and (
        command.target.startswith(SERVERS)
        or (command.tool in SERVING_TOOLS and command.tool != "text-generation-launcher")
    )


def _contradictions(checkout: Checkout, found: list[Finding]) -> Iterator[Finding]:
    """Yield what cannot all be had: two pins of one framework, Pythons that exclude each other, a Dockerfile against its list."""
    pins: dict[str, tuple[str, Evidence]] = {}
    for item in lists_of(checkout).pins:
        name = package_name(item.requirement)
        version = pinned(regex(r"^[\w.-]+(?:\[[^\]]*\])?\s*|;.*$").sub("", item.requirement))
        if name not in {"torch", "torchvision", "tensorflow", "jax", "transformers", "vllm", "numpy"} or not version:
            continue
        old = pins.setdefault(name, (version, item.evidence))
        if old[0] != version:
            why = f"{name} {old[0]} is pinned in {old[1]}, {name} {version} in {item.evidence}: the first is taken"
            yield Finding("contradiction", name, why, Confidence.HIGH, item.evidence)
    wishes = python_wishes(checkout)
    exact = next((wish for wish in wishes if wish.exact), None)
    for wish in wishes if exact is not None else ():
        if exact is not None and not wish.allows(exact.exact):
            why = f"Python {exact.exact} is named in {exact.evidence}, but {wish.evidence} asks for {wish.said}"
            yield Finding("contradiction", "python", why, Confidence.HIGH, wish.evidence)
    torch = next((finding for finding in found if finding.field == "framework.torch"), None)
    exact_torch = pinned(torch.value) if torch is not None else ""
    release = torch_releases().get(exact_torch)
    for finding in found:
        if torch is None or not exact_torch:
            break
        holds = image_contents(finding.value) if finding.field == "environment.base_image" else None
        if holds is not None and holds.torch is not None and not allows(torch.value, ".".join(map(str, holds.torch))):
            why = (f"{finding.evidence} starts from `{finding.value}`, but {torch.evidence} pins torch {exact_torch}: "
                   "it is installed over the image's")  # fmt: skip
            yield Finding("contradiction", "image", why, Confidence.HIGH, finding.evidence)
        if finding.field == "framework.cuda" and release is not None and finding.value not in release.wheel_cudas:
            builds = ", ".join(release.wheel_cudas)
            why = f"{finding.evidence} asks for CUDA {finding.value}, but torch {exact_torch} ({torch.evidence}) is built for {builds}"
            yield Finding("contradiction", "cuda", why, Confidence.MEDIUM, finding.evidence)
