"""Which cards the machines of AWS, Azure, Google Cloud and Oracle have, and NVIDIA's own, by the names of their types."""

from __future__ import annotations

import re

from gpu_lol_action.domain.patterns import regex

# Cards and how many of them, as the clouds' instance documentation lists them.
_INSTANCES: tuple[tuple[str, str, int], ...] = (
    (r"p3\.2xlarge", "V100", 1), (r"p3\.8xlarge", "V100", 4), (r"p3\.16xlarge", "V100", 8), (r"p3dn\.24xlarge", "V100-32GB", 8),
    (r"p4de\.24xlarge", "A100-80GB", 8), (r"p4d\.24xlarge", "A100", 8), (r"p5\.48xlarge", "H100", 8), (r"p5en?\.48xlarge", "H200", 8),
    (r"g4dn\.(?:x|2x|4x|8x|16x)large", "T4", 1), (r"g4dn\.12xlarge", "T4", 4), (r"g4dn\.metal", "T4", 8),
    (r"g5\.(?:x|2x|4x|8x|16x)large", "A10G", 1), (r"g5\.(?:12|24)xlarge", "A10G", 4), (r"g5\.48xlarge", "A10G", 8),
    (r"g6\.(?:x|2x|4x|8x|16x)large", "L4", 1), (r"g6\.(?:12|24)xlarge", "L4", 4), (r"g6\.48xlarge", "L4", 8),
    (r"g6e\.(?:x|2x|4x|8x|16x)large", "L40S", 1), (r"g6e\.(?:12|24)xlarge", "L40S", 4), (r"g6e\.48xlarge", "L40S", 8),
    (r"NC6s_v3", "V100", 1), (r"NC12s_v3", "V100", 2), (r"NC24r?s_v3", "V100", 4), (r"ND40rs_v2", "V100-32GB", 8),
    (r"NC24ads_A100_v4", "A100-80GB", 1), (r"NC48ads_A100_v4", "A100-80GB", 2), (r"NC96ads_A100_v4", "A100-80GB", 4),
    (r"ND96asr_v4", "A100", 8), (r"ND96amsr_A100_v4", "A100-80GB", 8), (r"ND96isr_H100_v5", "H100", 8), (r"NC40ads_H100_v5", "H100", 1),
    (r"a2-highgpu-1g", "A100", 1), (r"a2-highgpu-2g", "A100", 2), (r"a2-highgpu-4g", "A100", 4), (r"a2-highgpu-8g", "A100", 8),
    (r"a2-ultragpu-1g", "A100-80GB", 1), (r"a2-ultragpu-2g", "A100-80GB", 2), (r"a2-ultragpu-4g", "A100-80GB", 4),
    (r"a2-ultragpu-8g", "A100-80GB", 8), (r"a3-(?:high|mega)gpu-8g", "H100", 8), (r"a3-ultragpu-8g", "H200", 8), (r"a4-highgpu-8g", "B200", 8),
    (r"p6-b200\.48xlarge", "B200", 8), (r"ND96isr_H200_v5", "H200", 8),
    (r"p2\.xlarge", "K80", 1), (r"p2\.8xlarge", "K80", 8), (r"p2\.16xlarge", "K80", 16),
    (r"NC(?:4|8|16)as_T4_v3", "T4", 1), (r"NC64as_T4_v3", "T4", 4), (r"NV36ads_A10_v5", "A10", 1), (r"NV72ads_A10_v5", "A10", 2),
    (r"(?i:vm\.gpu\.a10\.1)", "A10", 1), (r"(?i:vm\.gpu\.a10\.2)", "A10", 2), (r"(?i:bm\.gpu\.a10\.4)", "A10", 4),
    (r"(?i:bm\.gpu4\.8)", "A100", 8), (r"(?i:bm\.gpu\.a100-v2\.8)", "A100-80GB", 8), (r"(?i:bm\.gpu\.h100\.8)", "H100", 8),
    (r"(?i:bm\.gpu\.h200\.8)", "H200", 8), (r"(?i:bm\.gpu\.l40s\.4)", "L40S", 4),
    (r"DGX-1(?:V)?", "V100", 8), (r"DGX-2", "V100-32GB", 16),
    (r"g2-standard-(?:4|8|12|16|32)", "L4", 1), (r"g2-standard-24", "L4", 2), (r"g2-standard-48", "L4", 4), (r"g2-standard-96", "L4", 8),
)  # fmt: skip
_PARTS = ("large", "metal", "_v", "gpu-", "standard-", ".gpu", ".GPU", "DGX-")
"""One of them stands in each instance's name: words are found long before an expression of all names is tried everywhere."""
_INSTANCE = regex(r"\b(?:ml\.|Standard_|oci\.)?(" + "|".join(f"(?:{pattern})" for pattern, _, _ in _INSTANCES) + r")\b")


def instance_in(line: str) -> tuple[str, str, int] | None:
    """Return the first type of machine that a line names, its card and how many of them; None without one."""
    found = _INSTANCE.search(line) if any(part in line for part in _PARTS) else None
    if found is None:
        return None
    card, count = next((card, count) for pattern, card, count in _INSTANCES if re.fullmatch(pattern, found[1]))
    return found[1], card, count
