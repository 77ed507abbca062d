"""One run, several processes: who started them, and which of them owns the run's folder.

Lightning starts the processes of one machine by itself. Those of several machines are started by torchrun, by SLURM, or
by hand with NODE_RANK and MASTER_ADDR.
"""

from __future__ import annotations

import os

import torch.distributed as dist

RANKS = ("RANK", "SLURM_PROCID", "NODE_RANK", "LOCAL_RANK")
"""What launchers call the number of a process, or of its machine."""


def is_first_process() -> bool:
    """Is this the process that locks the folder, refuses to overwrite it, and says how the run ended?"""
    return all(os.environ.get(name, "0") == "0" for name in RANKS)


def peer_is_gone(error: Exception) -> bool:
    """Did a collective end because another process does not answer? NCCL tells by a kind of error, gloo in words."""
    return isinstance(error, dist.DistError) or "/gloo/" in str(error)
