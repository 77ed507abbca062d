"""Other actions that could have been taken: what the recorded rollout is contrasted with.

- `zero`: the no-op throughout (the paper). A model can learn that zero is special and nothing else.
- `shuffled`: another window's recorded actions, a real alternative.
- `edited`: the recorded actions with one control, in use somewhere in the batch, pressed or released throughout.
"""

from __future__ import annotations

import torch
from torch import Tensor

from ..controls import ActionEncoding

ALTERNATIVES = ("zero", "shuffled", "edited")


def alternative(
    name: str, actions: Tensor, encoding: ActionEncoding, generator: torch.Generator | None
) -> Tensor:
    """Recorded step actions (B, K, A') -> the alternative called `name`, of the same shape."""
    if name == "zero":
        return torch.zeros_like(actions)
    if name == "shuffled":
        return actions.roll(_shift(len(actions), generator), 0)
    if name == "edited":
        return _edited(actions, encoding, generator)
    raise ValueError(f"unknown alternative {name!r}; known: {', '.join(ALTERNATIVES)}")


def _shift(batch: int, generator: torch.Generator | None) -> int:
    return int(torch.randint(1, max(2, batch), (1,), generator=generator))


def _edited(actions: Tensor, encoding: ActionEncoding, generator: torch.Generator | None) -> Tensor:
    """Binary controls flip from mostly released to pressed or back; continuous ones change sign."""
    raw = actions.unflatten(-1, (-1, encoding.vocabulary.size))  # (B, K, repeats, A)
    used = raw.abs().amax((0, 1, 2)) > 0
    if not used.any():
        return actions
    choice = torch.multinomial(used.float().cpu(), len(actions), True, generator=generator).to(actions.device)
    chosen = torch.nn.functional.one_hot(choice, encoding.vocabulary.size).bool()[:, None, None]
    mostly = raw.mean((1, 2), keepdim=True) > 0.5
    binary = torch.from_numpy(encoding.vocabulary.binary).to(actions.device)
    changed = torch.where(binary, (~mostly).to(raw.dtype).expand_as(raw), -raw)
    return torch.where(chosen, changed, raw).flatten(2)
