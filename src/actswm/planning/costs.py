"""How far an imagined future is from the reference: the costs of a plan."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from torch import Tensor


def tracking(futures: Tensor, goals: Tensor) -> Tensor:
    """The paper's J: L2 distance to each step's goal, averaged. (..., K, D) and (K, D) -> (...)."""
    return (futures - goals).norm(dim=-1).mean(-1)


def final(futures: Tensor, goals: Tensor) -> Tensor:
    """Squared L2 distance of the last latent to the last goal (stable-worldmodel's cost)."""
    return (futures[..., -1, :] - goals[..., -1, :]).square().sum(-1)


COSTS: Mapping[str, Callable[[Tensor, Tensor], Tensor]] = {"tracking": tracking, "final": final}
