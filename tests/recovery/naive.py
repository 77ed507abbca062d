"""Algorithm 1 line by line: every candidate alone, the whole window through the predictor each time."""

from __future__ import annotations

import torch
from torch import Tensor

from actswm.model import Context, WorldModel
from actswm.recovery.prior import ActionPrior
from actswm.recovery.search import RecoverySettings


@torch.no_grad()
def naive_recovery(
    model: WorldModel,
    context: Context,
    target: Tensor,
    horizon: int,
    prior: ActionPrior,
    settings: RecoverySettings,
    generator: torch.Generator,
) -> Tensor:
    """Recovered actions (K, A) from a context (B = 1) towards one target latent (D,)."""
    pool = torch.from_numpy(prior.pool).to(model.dtype)
    mu_gt = torch.from_numpy(prior.mean).to(model.dtype)
    sigma_gt = torch.from_numpy(prior.std).to(model.dtype)
    buffer = list(context.actions[0])  # b: the history in the model's encoding, oldest first
    state = list(context.latents[0])  # e
    recovered: list[Tensor] = []
    for k in range(horizon):
        if k == 0:
            mu, sigma = mu_gt, sigma_gt
        else:
            mu, sigma = recovered[-1], 0.5 * sigma_gt
        for i in range(settings.iterations):
            sigma = torch.clamp(sigma, min=settings.sigma_floor)
            quarter = settings.candidates // 4 if i == 0 else 0
            chosen = torch.randint(len(pool), (quarter, 1), generator=generator)[:, 0]
            noise = torch.randn(
                settings.candidates - quarter, 1, len(mu), generator=generator, dtype=mu.dtype
            )[:, 0]
            candidates = [*pool[chosen], *(mu + sigma * row for row in noise)]
            costs = [float(((predict(model, state, buffer, c) - target) ** 2).sum()) for c in candidates]
            order = sorted(range(len(costs)), key=costs.__getitem__)[: settings.elites]
            elites = torch.stack([candidates[j] for j in order])
            mu = elites.mean(0)
            sigma = ((elites - mu) ** 2).mean(0).sqrt()
        recovered.append(mu)
        state.append(predict(model, state, buffer, mu))
        buffer.append(as_step(model, mu))
    return torch.stack(recovered)


def predict(model: WorldModel, state: list[Tensor], buffer: list[Tensor], candidate: Tensor) -> Tensor:
    """The next latent (D,) after doing `candidate` in the last frame of `state`."""
    frames = min(len(state), model.context_length)
    actions = [*buffer, as_step(model, candidate)][-(frames + model.encoding.lead) :]
    window = torch.stack(state[-frames:])[None]
    return model.predict(window, torch.stack(actions)[None])[0, -1]


def as_step(model: WorldModel, vector: Tensor) -> Tensor:
    """One A-vector as it is, or held for the raw steps of a block (binary controls)."""
    return vector if model.encoding.kind == "sliding" else vector.repeat(model.encoding.frameskip)
