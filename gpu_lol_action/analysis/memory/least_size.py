"""The smallest size of card that is asked for, however little a sum comes to.

A small sum is the surest sign that a part stands for the whole: the backbone for the detector, the loss's network for the one that
is trained, one of several models that a demo loads. Of the sums under 8 GiB among the repositories that are known one in four was
such a part, of those that whole repositories infer with one in three. Nothing is saved by asking for less: of all cards that are
rented by the hour the cheapest have 12 to 16 GB, those of 8 GB cost more, and machines that are rented with four cards or more
have 16 GB on each at the least. Up to 1 GiB a training's sum is of a toy, where that is the program's own network. On sums of 1 to
4 GiB of repositories that nobody had tried, 25 of 75 judgements held 8 GB for too small, and none 12 for too many. A counted network
of a library (an encoder, a loss's features) is a part there, too.

Where a project has twenty programs or more, a small sum is a part's more often still, and 16 GB are the same card at the same price: of
the 12 GB asked for without documents there eleven were too small and one too much, and no project of that size is a toy; but an agent's
network, which a library names, is as small as it is.

A sum that fills a card of 20 GB to its last GiB or two asks for 24: of 47 such judgements 12 held 20 GB for too small and none 24 for
too many, one cloud alone rents that size, and there 24 GB cost 8 % more (the bundled prices).
"""

from __future__ import annotations

from gpu_lol_action.analysis.media.policies import POLICY_PARAMETERS
from gpu_lol_action.analysis.memory.machine_need import MemoryNeed
from gpu_lol_action.domain.card_sizes import ROOMIER_GB, roomier_gb
from gpu_lol_action.domain.finding import Finding
from gpu_lol_action.domain.spec import WorkloadType
from gpu_lol_action.estimation.known_models import ModelFacts
from gpu_lol_action.estimation.media import PICTURE_KINDS

MANY_CARDS, OF_MANY_GB = 4, 16
TRAINING_GB, INFERENCE_GB, OF_SMALL_GB, SMALL_GIB = 12, 12, 8, 1.0
LARGE_PROJECT, OF_PROJECT_GB = 20, 16


def least_gb(need: MemoryNeed, workload: WorkloadType, programs: int = 0) -> int:
    """Return the smallest size to ask for, in GB as sold; 0 where any size will do, or the documentation says how little is enough.

    ``programs`` are a project's; 0 for a lesson.
    """
    weighed = need.breakdown.weighed if need.breakdown is not None else None
    if weighed is not None and weighed.field.endswith("memory_gb"):
        return 0
    if need.breakdown is not None and (roomier := roomier_gb(need.required_gib)):
        return roomier
    if need.gpu_count >= MANY_CARDS:
        return OF_MANY_GB
    if need.breakdown is None:
        return 0
    if workload not in {WorkloadType.INFERENCE, WorkloadType.TRAINING}:
        return 0
    is_agent = need.model is not None and need.model.name in POLICY_PARAMETERS
    if programs >= LARGE_PROJECT and not is_agent:
        return OF_PROJECT_GB
    if workload is WorkloadType.INFERENCE:
        return INFERENCE_GB
    is_small = need.breakdown.required_gib <= SMALL_GIB and not _is_of_library(need.model)
    return OF_SMALL_GB if is_small else TRAINING_GB


def least_again(known_gb: int, required_gib: int, weighed: Finding | None) -> int:
    """Return the smallest size for another need of the same run: ``known_gb`` was that for the need of before."""
    if weighed is not None and weighed.field.endswith("memory_gb"):
        return 0
    if roomier := roomier_gb(required_gib):
        return roomier
    return 0 if known_gb == ROOMIER_GB else known_gb


def _is_of_library(model: ModelFacts | None) -> bool:
    """Whether the model is a counted one of pictures that a library loads or builds, and not a network of the program's own."""
    is_of_pictures = model is not None and (model.kind in PICTURE_KINDS or model.kind.startswith("diffusion"))
    return model is not None and is_of_pictures and model.source == "table"
