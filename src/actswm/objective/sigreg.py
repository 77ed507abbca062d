"""SIGReg: latents, seen along random directions, should look like a standard Gaussian.

For each time step and direction the empirical characteristic function of the batch is compared with
exp(-t^2/2) at `knots` points t in [0, 3] (the Epps-Pulley statistic). Statistics are averaged over ranks and
every rank uses the same directions, so that the loss does not depend on how a batch is spread.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

from ..model.distributed import mean_over_ranks, world_size
from .precision import in_fp32

T_MAX = 3.0


class _CharacteristicFunction(torch.autograd.Function):
    """Mean over the batch of cos(k dt x) and sin(k dt x), k = 0 .. knots-1, for x (T, B, P) -> (2, knots, T, P).

    The knots are equally spaced, so each is the one before, rotated by dt x: one sine and one cosine per
    element instead of `knots` of each, and nothing of size knots x T x B x P is ever kept.
    """

    @staticmethod
    def forward(ctx, x: Tensor, knots: int, dt: float) -> Tensor:  # type: ignore[no-untyped-def, override]
        step_cos, step_sin = (x * dt).cos_(), (x * dt).sin_()
        means = x.new_empty(2, knots, x.shape[0], x.shape[2])
        for k, cos, sin in _rotations(step_cos, step_sin, knots):
            torch.mean(cos, 1, out=means[0, k])
            torch.mean(sin, 1, out=means[1, k])
        ctx.save_for_backward(step_cos, step_sin)
        ctx.knots, ctx.dt = knots, dt
        return means

    @staticmethod
    def backward(ctx, gradient: Tensor):  # type: ignore[no-untyped-def, override]
        step_cos, step_sin = ctx.saved_tensors
        scale = (
            torch.arange(ctx.knots, dtype=gradient.dtype, device=gradient.device) * ctx.dt / step_cos.shape[1]
        )
        for_cos, for_sin = (gradient * scale.view(-1, 1, 1)).unsqueeze(3).transpose(2, 3)  # (knots, 1, T, P)
        total = torch.zeros_like(step_cos)
        for k, cos, sin in _rotations(step_cos, step_sin, ctx.knots):
            total.addcmul_(cos, for_sin[k].transpose(0, 1))
            total.addcmul_(sin, for_cos[k].transpose(0, 1), value=-1)
        return total, None, None


def _rotations(step_cos: Tensor, step_sin: Tensor, knots: int):  # type: ignore[no-untyped-def]
    cos, sin = torch.ones_like(step_cos), torch.zeros_like(step_sin)
    for k in range(knots):
        if k:
            turned = cos * step_cos
            turned.addcmul_(sin, step_sin, value=-1)
            sin = (sin * step_cos).addcmul_(cos, step_sin)
            cos = turned
        yield k, cos, sin


class SIGReg(nn.Module):
    phi: Tensor
    weights: Tensor

    def __init__(self, knots: int = 17, projections: int = 1024) -> None:
        super().__init__()
        self.knots = knots
        self.projections = projections
        self.dt = T_MAX / (knots - 1)
        t = torch.linspace(0, T_MAX, knots)
        trapezoid = torch.full((knots,), 2 * self.dt)
        trapezoid[[0, -1]] = self.dt
        self.register_buffer("phi", torch.exp(-t.square() / 2), persistent=False)
        self.register_buffer("weights", trapezoid * self.phi, persistent=False)

    @in_fp32
    def forward(self, latents: Tensor, generator: torch.Generator | None = None) -> Tensor:
        """Latents (T, B, D) -> the statistic, averaged over time steps and fresh random directions."""
        directions = torch.randn(
            latents.shape[-1], self.projections, generator=generator, dtype=torch.float32
        )
        directions = directions.to(latents.device) / directions.norm(dim=0).to(latents.device)
        means = _CharacteristicFunction.apply(latents.float() @ directions, self.knots, self.dt)
        cos, sin = mean_over_ranks(means)
        error = (cos - self.phi.view(-1, 1, 1)).square() + sin.square()
        batch = latents.shape[1] * world_size()
        return batch * (error * self.weights.view(-1, 1, 1)).sum(0).mean()
