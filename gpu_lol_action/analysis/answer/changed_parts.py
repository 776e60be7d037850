"""Image, CUDA, Python, packages: what of an environment a change makes another, with the line that says so."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from gpu_lol_action.analysis.formats.surest import best
from gpu_lol_action.analysis.package_lists.package_files import package_name
from gpu_lol_action.domain.analysis import Analysis
from gpu_lol_action.domain.change import PartChange
from gpu_lol_action.domain.finding import Evidence, Finding

# What decides whether a program starts on a card at all comes first in a list that is cut.
_FIRST = ("torch", "vllm", "sglang", "flash-attn", "xformers", "triton", "bitsandbytes", "deepspeed", "transformers", "tensorflow",
          "jax", "accelerate", "peft", "trl", "diffusers")  # fmt: skip


def changed_parts(base: Analysis, head: Analysis) -> tuple[PartChange, ...]:
    """Return what differs in the environments that would be set up: image, CUDA, Python, then packages, what matters most first."""
    return (*_software(base, head), *_packages(base, head), *_others(base, head))


def _software(base: Analysis, head: Analysis) -> Iterator[PartChange]:
    old, new = base.spec.environment, head.spec.environment
    fields = (("image", "base_image", ("environment.base_image", "framework.torch", "framework.cuda")),
              ("CUDA", "cuda_version", ("framework.cuda", "environment.base_image", "framework.torch")),
              ("Python", "python_version", ("environment.python_version", "environment.fitting_python")))  # fmt: skip
    for what, name, said in fields:
        before, after = getattr(old, name), getattr(new, name)
        if before != after:
            yield PartChange(what, "", before, after, _changed_place(base, head, said))


def _changed_place(base: Analysis, head: Analysis, fields: Sequence[str]) -> Evidence | None:
    """Return the place of the first of these findings that differs from the base's."""
    for field in fields:
        old, new = best(base.findings, field), best(head.findings, field)
        if new is not None and (old is None or old.value != new.value):
            return new.evidence
    return None


def _packages(base: Analysis, head: Analysis) -> list[PartChange]:
    old, new = _by_name(base), _by_name(head)
    places = {_key(item): item.evidence for item in head.findings if item.field == "dependencies.requirements"}
    found = [
        PartChange("package", name, old.get(name), new.get(name), places.get(name) if name in new else None)
        for name in dict.fromkeys((*new, *old))
        if old.get(name) != new.get(name)
    ]
    return sorted(found, key=_importance)


def _by_name(analysis: Analysis) -> dict[str, str]:
    return {package_name(requirement): requirement for requirement in analysis.spec.dependencies.requirements}


def _key(finding: Finding) -> str:
    return package_name(finding.value)


def _importance(part: PartChange) -> tuple[int, str]:
    return _FIRST.index(part.name) if part.name in _FIRST else len(_FIRST), part.name


def _others(base: Analysis, head: Analysis) -> Iterator[PartChange]:
    old, new = base.spec.dependencies, head.spec.dependencies
    for what, before, after in (
        ("system package", old.system_packages, new.system_packages),
        ("command", old.setup_commands, new.setup_commands),
    ):
        for item in dict.fromkeys((*after, *before)):
            if (item in before) is not (item in after):
                yield PartChange(what, item, item if item in before else None, item if item in after else None)
