"""Losses in fp32, whatever the model computed in. Squares and products of halves overflow at 65504, and differences of
bf16 latents have two digits; autocast would take a product down again even if its factors are fp32."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar

import torch
from torch import Tensor

Loss = TypeVar("Loss", bound=Callable[..., Tensor])


def in_fp32(loss: Loss) -> Loss:
    """A loss whose tensors in half precision come in as fp32, computed without autocast."""

    @wraps(loss)
    def computed(*given: Any, **named: Any) -> Tensor:
        device = next(each.device for each in (*given, *named.values()) if isinstance(each, Tensor))
        with torch.autocast(device.type, enabled=False):
            return loss(*map(_full, given), **{name: _full(each) for name, each in named.items()})

    return computed  # type: ignore[return-value]


def _full(value: Any) -> Any:
    half = isinstance(value, Tensor) and value.dtype in (torch.float16, torch.bfloat16)
    return value.float() if half else value
