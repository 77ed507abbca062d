"""Other actions that could have been taken: what the recorded rollout is contrasted with.

- `zero`: the no-op throughout (the paper). A model can learn that zero is special and nothing else.
- `shuffled`: another window's recorded actions, a real alternative.
- `matched`: the recorded actions of the window whose last action before t is the nearest, so that they could have
  gone on from this past. A `shuffled` alternative can be told from its seam: a model may learn to spot it.
- `edited`: the recorded actions with one control, in use somewhere in the batch, pressed or released throughout;
  the camera turns the other way instead.
"""

from __future__ import annotations

import torch
from torch import Tensor

from ..controls import ActionEncoding

ALTERNATIVES = ("zero", "shuffled", "matched", "edited")


def alternative(
    name: str, past: Tensor, actions: Tensor, encoding: ActionEncoding, generator: torch.Generator | None
) -> Tensor:
    """Recorded step actions before t (B, n, A') and from t on (B, K, A') -> the alternative called `name`, as long."""
    if name == "zero":
        return torch.zeros_like(actions)
    if name == "shuffled":
        return actions.roll(_shift(len(actions), generator), 0)
    if name == "matched":
        return actions[_matched(past, generator)]
    if name == "edited":
        return _edited(actions, encoding, generator)
    raise ValueError(f"unknown alternative {name!r}; known: {', '.join(ALTERNATIVES)}")


def _shift(batch: int, generator: torch.Generator | None) -> int:
    return int(torch.randint(1, max(2, batch), (1,), generator=generator))


def _matched(past: Tensor, generator: torch.Generator | None) -> Tensor:
    """For each of B windows another one with the nearest last action (B,); chance decides between equals."""
    if len(past) < 2 or past.shape[1] == 0:
        return (torch.arange(len(past), device=past.device) + 1) % len(past)
    last = past[:, -1]
    distance = torch.cdist(last, last, p=1).cpu()
    distance += 0.01 * torch.rand(distance.shape, generator=generator)
    return distance.fill_diagonal_(torch.inf).argmin(1).to(past.device)


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
