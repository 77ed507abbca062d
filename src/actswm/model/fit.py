"""Saved weights must fit their configuration and be numbers: asked before anything is allocated for them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn
from torch.overrides import TorchFunctionMode

from ..errors import UserError


def require_finite(state: Mapping[str, Tensor], where: str) -> None:
    """A model with one NaN predicts NaN everywhere, and every figure of it is nonsense."""
    for name, tensor in state.items():
        if tensor.is_floating_point() and not torch.isfinite(tensor).all():
            count = int((~torch.isfinite(tensor)).sum())
            raise UserError(
                f"{where}: {count} of {tensor.numel()} values of {name} are not finite (NaN, or too large for "
                f"{str(tensor.dtype).removeprefix('torch.')}); train again from an earlier checkpoint"
            )


def require_fit(
    build: Callable[[], nn.Module], state: Mapping[str, Tensor], config: Path, weights: Path
) -> None:
    """Compare shapes with those of what `build` makes: a damaged configuration may ask for any amount of memory."""
    try:
        with _ShapesOnly():
            expected = {name: tensor.shape for name, tensor in build().state_dict().items()}
    except UserError as error:
        raise UserError(f"{config}: {error}") from None
    except Exception as error:  # whatever torch's layers say to sizes that are none
        reason = " ".join(str(error).split())[:300]
        raise UserError(f"{config}: makes no model ({reason})") from None
    found = {name: tensor.shape for name, tensor in state.items()}
    for name in [*expected, *found]:
        if expected.get(name) != found.get(name):
            held, wanted = (tuple(each[name]) if name in each else "absent" for each in (found, expected))
            raise UserError(f"{weights}: does not fit {config.name}: {name} is {held}, not {wanted}")


class _ShapesOnly(TorchFunctionMode):
    """Inside, new parameters have shapes and no memory. (`torch.device("meta")` would load torch's compiler.)"""

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        if func in (torch.empty, torch.zeros, torch.ones, torch.randn):
            return torch.empty(*args, **{**kwargs, "device": "meta"})
        if getattr(func, "__module__", "") == "torch.nn.init":
            return args[0] if args else kwargs["tensor"]
        return func(*args, **kwargs)
