"""The accelerator table: SkyPilot's names, other names, usable memory, architecture, count per machine.

Facts come from ``data/gpu_specs.csv``; its sources are named in ``data/SOURCES.md``.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping

from gpu_lol_action.domain.patterns import regex
from gpu_lol_action.domain.records import record
from gpu_lol_action.domain.tables import table_rows

# Cards of which nvidia-smi prints the marketed size: what the driver keeps is not taken off there. PyTorch then
# sees about 1 % less (A100-80GB 79.2 of 80, A100 39.5 of 40, RTX4090 23.6 and RTX3090 23.7 of 24: public OOM messages).
WHOLE_CARD_RESERVE = 0.01
# Where no nvidia-smi figure is known: marketed size less 3 %, the largest gap among the cards with both figures known.
UNMEASURED_RESERVE = 0.03

# The same card under another name on another cloud (SkyPilot 0.14.1's catalogs name cards per cloud).
_NAMES_PER_CLOUD: Mapping[str, Mapping[str, tuple[str, ...]]] = {
    "runpod": {
        "A6000": ("RTXA6000",),
        "H200": ("H200-SXM",),
        "RTXPRO6000S": ("RTXPRO6000",),
        "RTXPRO6000WS": ("RTXPRO6000-WK",),
    },
    "lambda": {"RTXA6000": ("A6000",), "A100-80GB-SXM": ("A100-80GB",), "H100-SXM": ("H100",), "H200-SXM": ("H200",)},
    "vast": {
        "A6000": ("RTXA6000",),
        "A100-80GB": ("A100",),
        "A100-80GB-SXM": ("A100",),
        "H100-SXM": ("H100",),
        "H100-NVL": ("H100",),
        "H200-SXM": ("H200",),
        "RTXPRO6000": ("RTXPRO6000S",),
        "RTXPRO6000-WK": ("RTXPRO6000WS",),
    },
}

# What SkyPilot 0.14.1 can launch where its catalog lists more: RunPod's names are looked up in its GPU_NAME_MAP, and a name
# that is not in it ends in a KeyError after the launch has begun. A newer catalog may list cards of tomorrow.
_LAUNCHABLE: Mapping[str, frozenset[str]] = {
    "runpod": frozenset({
        "MI300X", "A100-80GB", "A100-80GB-SXM", "A30", "A40", "B200", "RTX3070", "RTX3080", "RTX3080Ti", "RTX3090",
        "RTX3090Ti", "RTX4070Ti", "RTX4080", "RTX4080SUPER", "RTX4090", "RTX5080", "RTX5090", "H100-SXM", "H100-NVL", "H100",
        "H200-SXM", "L4", "L40", "L40S", "RTX2000-Ada", "RTX4000-Ada", "RTX4000-Ada-SFF", "RTX5000-Ada", "RTX6000-Ada",
        "RTXA2000", "RTXA4000", "RTXA4500", "RTXA5000", "RTXA6000", "RTXPRO4500", "RTXPRO6000", "RTXPRO6000-WK",
        "V100-16GB-FHHL", "V100-16GB-SXM2", "V100-32GB-SXM2", "V100-16GB-PCIe",
    }),
}  # fmt: skip

# What people write, after _fold(); the table's own names and nvidia-smi's names are added to these.
_ALIASES: Mapping[str, str] = {
    "a100sxm4": "A100-80GB-SXM",  # gpu-lol's name for RunPod's SXM card
    "a100sxm": "A100-80GB-SXM",
    "a100sxm480gb": "A100-80GB-SXM",
    "a100sxm80gb": "A100-80GB-SXM",
    "a10080gbsxm4": "A100-80GB-SXM",
    "a100pcie": "A100-80GB",
    "a100pcie80gb": "A100-80GB",
    "a10080gbpcie": "A100-80GB",
    "a10080g": "A100-80GB",
    "a10040gb": "A100",
    "a10040g": "A100",
    "a100sxm440gb": "A100",
    "a100pcie40gb": "A100",
    "h100pcie": "H100",
    "h10080gb": "H100",
    "h10080g": "H100",
    "h10080gbpcie": "H100",
    "h100sxm5": "H100-SXM",
    "h10080gbsxm": "H100-SXM",
    "h10080gbsxm5": "H100-SXM",
    "h200sxm5": "H200-SXM",
    "h200141gb": "H200",
    "a4000": "RTXA4000",
    "a4500": "RTXA4500",
    "a5000": "RTXA5000",
    "a2000": "RTXA2000",
    "6000ada": "RTX6000-Ada",
    "rtxa6000ada": "RTX6000-Ada",
    "a6000ada": "RTX6000-Ada",
    "4000ada": "RTX4000-Ada",
    "2000ada": "RTX2000-Ada",
    "v10016gb": "V100",
    "v100sxm2": "V100",
    "v100pcie": "V100",
    "v10032g": "V100-32GB",
    "pro6000": "RTXPRO6000",
    "rtx6000pro": "RTXPRO6000",
    "mi300": "MI300X",
}


@record(frozen=True, slots=True)
class Accelerator:
    """One row of the table. ``memory_gib`` is usable GiB; ``compute_capability`` is None for cards that are not NVIDIA's."""

    name: str
    memory_gib: float
    marketed_gb: float
    architecture: str
    compute_capability: tuple[int, int] | None
    has_bf16: bool
    has_fp8: bool
    max_per_node: int
    other_names: str
    note: str

    @property
    def is_nvidia(self) -> bool:
        """Whether CUDA images run on it."""
        return self.compute_capability is not None

    @property
    def is_arm(self) -> bool:
        """Whether it comes with an ARM host, on which x86 images do not run."""
        return self.name in {"GH200", "GB200", "GB10", "T4g"}

    @property
    def is_blackwell(self) -> bool:
        """Whether it needs torch 2.7 with CUDA 12.8 or newer."""
        return self.architecture.startswith("Blackwell")


@record(frozen=True, slots=True)
class AcceleratorRequest:
    """``A100-80GB:2`` understood. ``count`` is None where none was written."""

    accelerator: Accelerator
    count: int | None


@record(frozen=True, slots=True)
class UnknownAccelerator:
    """A name or count that no machine has: what is wrong in one sentence, and the nearest names."""

    text: str
    what: str
    did_you_mean: tuple[str, ...] = ()


@functools.cache
def accelerators() -> Mapping[str, Accelerator]:
    """Return the table by SkyPilot's name, in the order of the file."""
    return {row["sky_name"]: _accelerator(row) for row in table_rows("gpu_specs.csv")}


def find_accelerator(text: str) -> Accelerator | None:
    """Return the card that a person or a cloud means by ``text`` (any case, with spaces, dashes or maker's name)."""
    name = _names().get(_fold(text))
    return accelerators()[name] if name else None


def parse_accelerator(text: str) -> AcceleratorRequest | UnknownAccelerator:
    """Read ``NAME`` or ``NAME:COUNT``; a count over what one machine holds is refused here."""
    shown = text.strip()
    name, colon, number = shown.rpartition(":")
    if not colon:
        name, number = shown, ""
    found = find_accelerator(name)
    if found is None:
        nearest = nearest_accelerators(name)
        hint = " A number of cards goes behind a colon: A40:2." if colon and not name else ""
        return UnknownAccelerator(shown[:60], f"No accelerator is called `{shown[:60]}`.{hint}", nearest)
    if not colon:
        return AcceleratorRequest(found, None)
    if not regex(r"[0-9]{1,3}").fullmatch(number.strip()) or int(number) < 1:
        what = f"`{number[:20]}` is no number of cards; write `{found.name}:1` to `{found.name}:{found.max_per_node}`."
        return UnknownAccelerator(shown[:60], what, (f"{found.name}:1",))
    count = int(number)
    if count > found.max_per_node:
        what = f"One machine has at most {found.max_per_node} × {found.name}, not {count}."
        return UnknownAccelerator(shown[:60], what, (f"{found.name}:{found.max_per_node}",))
    return AcceleratorRequest(found, count)


def nearest_accelerators(text: str, limit: int = 3) -> tuple[str, ...]:
    """Return the names in the table that look most like ``text``, best first."""
    import difflib

    folded = _fold(text)[:40]
    names = _names()
    close = difflib.get_close_matches(folded, sorted(names), n=limit * 3, cutoff=0.6)
    holding = [key for key in sorted(names) if len(folded) >= 3 and folded in key]
    return tuple(dict.fromkeys(names[key] for key in [*close, *holding]))[:limit]


def names_on(cloud: str, name: str) -> tuple[str, ...]:
    """Return the names under which ``cloud`` rents the card that SkyPilot calls ``name`` elsewhere, itself included."""
    return (name, *_NAMES_PER_CLOUD.get(cloud, {}).get(name, ()))


def is_launchable(cloud: str, name: str) -> bool:
    """Whether SkyPilot 0.14.1 can start that card there (some catalog names fail at launch)."""
    known = _LAUNCHABLE.get(cloud)
    return known is None or name in known


def usable_gib(marketed_gb: float, nvidia_smi_mib: float | None) -> float:
    """Return what programs can allocate on an empty card, in GiB, to one decimal.

    nvidia-smi's total in GiB (an A40 prints 46068 MiB: 45.0), less 1 % where that is the marketed size (81920 MiB:
    79.2), because the driver's share is then still in it. The CUDA context is a term of the estimate instead.
    """
    if nvidia_smi_mib is None:
        return round(marketed_gb * (1 - UNMEASURED_RESERVE), 1)
    gib = nvidia_smi_mib / 1024
    is_whole = gib >= marketed_gb * (1 - WHOLE_CARD_RESERVE)
    return round(gib * (1 - WHOLE_CARD_RESERVE) if is_whole else gib, 1)


def _accelerator(row: Mapping[str, str]) -> Accelerator:
    capability = regex(r"(\d+)\.(\d+)").fullmatch(row["compute_capability"])
    mib = float(row["nvidia_smi_memory_mib"]) if row["nvidia_smi_memory_mib"] else None
    count = regex(r"\d+").match(row["max_gpus_per_node"])
    marketed = float(row["vram_gb_marketed"])
    return Accelerator(
        name=row["sky_name"],
        memory_gib=usable_gib(marketed, mib),
        marketed_gb=marketed,
        architecture=row["architecture"],
        compute_capability=(int(capability[1]), int(capability[2])) if capability else None,
        has_bf16=row["bf16"] == "yes",
        has_fp8=row["fp8"] == "yes",
        max_per_node=int(count[0]) if count else 1,
        other_names=row["other_names"],
        note=row["note"],
    )


@functools.cache
def _names() -> Mapping[str, str]:
    """Return folded name to SkyPilot's name: own names win over aliases, aliases over nvidia-smi's names."""
    printed: dict[str, str] = {}
    for row in table_rows("gpu_specs.csv"):
        printed.setdefault(_fold(row["nvidia_smi_name"]), row["sky_name"])
    names = {**printed, **_ALIASES}
    for name in accelerators():
        names[_fold(name)] = name
        bare = regex(r"^(rtx|gtx)(?=\d)").sub("", _fold(name))
        names.setdefault(bare, name)
    return names


@functools.lru_cache(maxsize=256)  # asked of the same few names for each of hundreds of offers
def _fold(text: str) -> str:
    """Return ``text`` in small letters without the maker's words, spaces, dashes and underscores."""
    small = regex(r"[\s_\-/]+").sub("", text.strip().lower()[:80])
    return regex(r"^(nvidia|amd)?(geforce|tesla|quadro|instinct)?").sub("", small)
