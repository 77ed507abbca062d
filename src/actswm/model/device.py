"""Where a model runs. Whoever names a device on the command line gets it, or one line that says why not."""

from __future__ import annotations

import torch

from ..errors import UserError


def chosen_device(name: str = "auto") -> torch.device:
    """`auto` is the first of cuda, mps and cpu that is there; else torch's names, such as cuda:1."""
    if name == "auto":
        name = next(kind for kind in ("cuda", "mps", "cpu") if _is_here(kind))
    try:
        device = torch.device(name)
    except RuntimeError:
        raise UserError(f"--device {name!r}: no such device; use auto, cpu, cuda, cuda:1 or mps") from None
    if not _is_here(device.type):
        raise UserError(f"--device {name}: torch {torch.__version__} finds none on this machine; use auto or cpu")
    count = torch.get_device_module(device).device_count()
    if device.index is not None and device.index >= count:
        raise UserError(f"--device {name}: this machine has {count} of them, counted from 0")
    return device if device.index is not None or device.type == "cpu" else torch.device(device.type, 0)


def _is_here(kind: str) -> bool:
    if kind == "mps":
        return torch.backends.mps.is_available()
    try:
        return bool(torch.get_device_module(kind).is_available())
    except (RuntimeError, AttributeError):  # a name that torch knows, without anything behind it
        return False
