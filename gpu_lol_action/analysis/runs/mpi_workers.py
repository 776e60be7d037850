"""Whether what ``mpirun`` starts are workers on cores: a simulation's actors average their gradients, and none of them takes a card.

A program that spreads over cards tells each process which is its own, or leaves that to a library; one that only speaks MPI does not.
"""

from __future__ import annotations

from collections.abc import Iterable

from gpu_lol_action.analysis.files.checkout import Source

_SPEAKS = ("mpi4py", "mpi_fork")
# What gives each process a card of its own, or does so for its caller.
_OWN_CARDS = ("local_rank", "LOCAL_RANK", "set_device", "CUDA_VISIBLE_DEVICES", "visible_device", "cuda:{", "cuda:%", "'cuda:'", '"cuda:"',
              "init_process_group", "nccl", "NCCL", "horovod", "deepspeed", "GPUS_PER_NODE", "device_count")  # fmt: skip


def are_on_cores(sources: Iterable[Source]) -> bool:
    """Whether a run's own files, the program first, speak MPI themselves and give no process a card."""
    files = tuple(sources)
    speaks = any(source.mentions(word) for source in files for word in _SPEAKS)
    return speaks and not any(source.mentions(word) for source in files for word in _OWN_CARDS)
