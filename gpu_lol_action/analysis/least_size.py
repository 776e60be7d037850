"""The smallest size of card that is asked for, however little a sum comes to.

A small sum is the surest sign that a part stands for the whole: the backbone for the detector, the loss's network for the one that
is trained. Of the sums under 8 GiB among the repositories that are known one in four was such a part. Nothing is saved by asking for
less: of all cards that are rented by the hour the cheapest have 12 to 16 GB, those of 8 GB cost more, and machines that are rented
with four cards or more have 16 GB on each at the least. Of the sums under 4 GiB none was: what is that small is a small network.
"""

from __future__ import annotations

from gpu_lol_action.analysis.memory_need import MemoryNeed
from gpu_lol_action.domain.spec import WorkloadType

MANY_CARDS, OF_MANY_GB = 4, 16
TRAINING_GB, OF_SMALL_GB, SMALL_GIB = 12, 8, 4.0


def least_gb(need: MemoryNeed, workload: WorkloadType) -> int:
    """Return the smallest size to ask for, in GB as sold; 0 where any size will do, or the documentation says how little is enough."""
    weighed = need.breakdown.weighed if need.breakdown is not None else None
    if weighed is not None and weighed.field.endswith("memory_gb"):
        return 0
    if need.gpu_count >= MANY_CARDS:
        return OF_MANY_GB
    if workload is not WorkloadType.TRAINING or need.breakdown is None:
        return 0
    return OF_SMALL_GB if need.breakdown.required_gib <= SMALL_GIB else TRAINING_GB
