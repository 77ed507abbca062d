"""Other actions that could have been taken: what the recorded rollout is contrasted with.

- `zero`: the no-op throughout (the paper). A model can learn that zero is special and nothing else.
- `shuffled`: another window's recorded actions, a real alternative.
"""

from __future__ import annotations

import torch
from torch import Tensor

ALTERNATIVES = ("zero", "shuffled")


def alternative(name: str, actions: Tensor, generator: torch.Generator | None) -> Tensor:
    """Recorded step actions from t on (B, K, A') -> the alternative called `name`, of the same shape."""
    if name == "zero":
        return torch.zeros_like(actions)
    if name == "shuffled":
        shift = torch.randint(1, max(2, len(actions)), (1,), generator=generator)
        return actions.roll(int(shift), 0)
    raise ValueError(f"unknown alternative {name!r}; known: {', '.join(ALTERNATIVES)}")
