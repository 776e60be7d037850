"""The keys of `.gpu-lol.yaml`, in the order in which they are written: reader, writer, schema and docs follow this table."""

from __future__ import annotations

import enum

from gpu_lol_action.domain.records import record

SCHEMA_URL = "https://raw.githubusercontent.com/gpu-lol/gpu-lol-action/main/docs/gpu-lol.schema.json"


class Kind(enum.Enum):
    """What a value is."""

    TEXT = "text"
    WHOLE = "whole number"
    GIB = "whole number of GB"
    SWITCH = "true or false"
    ACCELERATOR = "accelerator"
    ACCELERATORS = "list of accelerators"
    IMAGES = "list of images"
    WORKLOAD = "workload"
    TEXTS = "list of texts"
    SCRIPTS = "list of commands"
    SYSTEM_PACKAGES = "list of system packages"
    LINKS = "list of links"
    PATHS = "list of paths"
    VARIABLES = "variables"


@record(frozen=True, slots=True)
class Key:
    """One key: its kind, bounds for numbers, and what it means, in a sentence for schema and docs."""

    name: str
    kind: Kind
    meaning: str
    low: int = 0
    high: int = 0


HARDWARE = (
    Key(
        "gpu_type",
        Kind.ACCELERATOR,
        "SkyPilot's name of the card, such as RTX4090 or A100-80GB; null: the cheapest that fits.",
    ),
    Key("gpu_count", Kind.WHOLE, "Cards per machine; 0: no GPU.", 0, 16),
    Key(
        "vram_required_gb",
        Kind.GIB,
        "Memory per GPU in GB, as cards are sold: 24 takes any card sold with 24 GB or more.",
        0,
        1024,
    ),
    Key("num_nodes", Kind.WHOLE, "Machines; more than one where the cloud can.", 1, 64),
    Key("use_spot", Kind.SWITCH, "Whether a machine that may be taken away is welcome."),
    Key("disk_gb", Kind.GIB, "Disk of the machine in GB.", 10, 4096),
    Key("cpus", Kind.WHOLE, "At least so many virtual CPUs.", 1, 512),
    Key("memory_gb", Kind.GIB, "At least so much main memory in GB.", 1, 8192),
    Key("alternatives", Kind.ACCELERATORS, "Other cards that are welcome, best first."),
)
ENVIRONMENT = (
    Key("base_image", Kind.TEXT, "Container image; null: chosen by the table of torch, CUDA, driver and GPU."),
    Key("python_version", Kind.TEXT, 'Version of Python, in quotes: "3.11".'),
    Key("cuda_version", Kind.TEXT, 'Version of CUDA, in quotes: "12.4".'),
)
DEPENDENCIES = (
    Key("requirements", Kind.TEXTS, "Python packages as pip takes them."),
    Key("system_packages", Kind.SYSTEM_PACKAGES, "Debian packages."),
    Key("setup_commands", Kind.SCRIPTS, "Shell commands, run in this order in the checkout after the packages."),
    Key("asset_links", Kind.LINKS, "Links to make, as /existing/path:/link/path."),
)
META = (
    Key("name", Kind.TEXT, "A name for people."),
    Key("workload_type", Kind.WORKLOAD, "What the code is for."),
    Key("created_from", Kind.TEXT, "Where the file came from: auto, snapshot, file."),
    Key("created_at", Kind.TEXT, "When it was first written."),
)
SMOKE = (
    Key("command", Kind.TEXT, "Command that proves the environment; null: tests marked for GPUs, else an import."),
    Key("timeout_minutes", Kind.WHOLE, "Its time box.", 1, 720),
    Key("gpus", Kind.ACCELERATORS, "Cards to run it on, side by side: L4, A100-80GB:2; none: the spec's."),
    Key("images", Kind.IMAGES, "Images to run it in, side by side; none: the spec's."),
)

SECTIONS: dict[str, tuple[Key, ...]] = {
    "hardware": HARDWARE,
    "environment": ENVIRONMENT,
    "dependencies": DEPENDENCIES,
    "meta": META,
}
TOP_KEYS: dict[str, str] = {
    "hardware": "The machine.",
    "environment": "Image and versions.",
    "dependencies": "What is installed on top of the image.",
    "meta": "Name, purpose and origin.",
    "env": "Plain environment variables; no secrets.",
    "profiles": "Named variants (one per entry point): each holds only what differs.",
    "smoke": "The test that proves the environment.",
    "keep": "Paths that are rescued before the machine ends.",
    "measured": "What runs used, written by the tool.",
}
PROFILE_KEYS = ("hardware", "environment", "dependencies", "meta", "env", "smoke", "keep")


def key_named(section: tuple[Key, ...], name: str) -> Key | None:
    """Return the key of that name, or None."""
    return next((key for key in section if key.name == name), None)
