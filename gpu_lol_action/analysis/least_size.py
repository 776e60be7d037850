"""The smallest size of card that is asked for, however little a sum comes to.

A small sum is the surest sign that a part stands for the whole: the backbone for the detector, the loss's network for the one that
is trained. Of the sums under 8 GiB among the repositories that are known one in four was such a part. And nothing is saved below
these sizes: of all cards that are rented by the hour the cheapest have 12 to 16 GB, those of 8 GB cost more.
"""

from __future__ import annotations

from gpu_lol_action.analysis.memory_need import MemoryNeed
from gpu_lol_action.domain.spec import WorkloadType

TRAINING_GB, OTHER_GB = 12, 8


def least_gb(need: MemoryNeed, workload: WorkloadType) -> int:
    """Return the smallest size to ask for, in GB as sold; 0 where the documentation says how little is enough.

    A default and a documented figure that stands alone are taken as they are.
    """
    if need.breakdown is None:
        return 0
    weighed = need.breakdown.weighed
    if weighed is not None and weighed.field.endswith("memory_gb"):
        return 0
    return TRAINING_GB if workload is WorkloadType.TRAINING else OTHER_GB
