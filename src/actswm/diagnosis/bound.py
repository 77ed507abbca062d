"""Appendix E, measured: actions that a Lipschitz readout tells apart force their transitions apart.

If q is L-Lipschitz where the transitions u lie and reads their actions a with errors eps, then
||u_i - u_j|| >= (||a_i - a_j|| - eps_i - eps_j) / L for every pair. Here L is taken in two ways: `region`, the
largest spectral norm of q's Jacobian found at the transitions and on the segments between paired ones (local,
an estimate from below), and `product`, ||W_out|| max|gelu'| ||W_hidden|| (valid everywhere, and looser).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from ..data import WindowSample
from ..errors import UserError
from ..model import WorldModel
from ..model.readout import ActionReadout
from ..results import BoundCheck, ModelBounds, SeparationBound
from .windows import encoded_cases

GELU_SLOPE = 0.5 * (1 + math.erf(1)) + math.exp(-1) / math.sqrt(math.pi)
"""The steepest slope of x Phi(x), at x = sqrt(2)."""
SLOPE_TRANSITIONS, SLOPE_SEGMENTS, SEGMENT_POINTS = 1024, 256, 7
"""Where the region's slopes are sampled: at transitions, and at inner points of segments between pairs."""


@torch.no_grad()
def separation_bound(
    readout: ActionReadout, transitions: Tensor, actions: Tensor, pairs: int = 2000, seed: int = 0
) -> SeparationBound:
    """Transitions (N, 2D) with their normalised step actions (N, A'); pairs are drawn among different actions."""
    hidden, out = _Layer.of(readout.hidden), _Layer.of(readout.out)
    u, a = transitions.cpu().double(), actions.cpu().double()
    left, right = _different_pairs(a, pairs, seed)
    error = torch.linalg.vector_norm(out(torch.nn.functional.gelu(hidden(u))) - a, dim=-1)
    apart = torch.linalg.vector_norm(a[left] - a[right], dim=-1)
    distance = torch.linalg.vector_norm(u[left] - u[right], dim=-1)
    numerator = apart - error[left] - error[right]
    ends = u[left[:SLOPE_SEGMENTS]], u[right[:SLOPE_SEGMENTS]]
    places = torch.linspace(0, 1, SEGMENT_POINTS + 2)[1:-1].tolist()
    points = [u[:SLOPE_TRANSITIONS], *(torch.lerp(*ends, place) for place in places)]
    region = float(_largest_slope(hidden, out, torch.cat(points)))
    product = float(_spectral_norm(hidden.weight) * _spectral_norm(out.weight)) * GELU_SLOPE
    return SeparationBound(
        transitions=len(u),
        pairs=len(left),
        mean_error=float(error.mean()),
        blind_error=float(torch.linalg.vector_norm(a.mean(0) - a, dim=-1).mean()),
        mean_action_distance=float(apart.mean()),
        mean_distance=float(distance.mean()),
        positive_share=float((numerator > 0).double().mean()),
        region=_check(numerator, distance, region),
        product=_check(numerator, distance, product),
    )


@torch.no_grad()
def model_bounds(
    model: WorldModel,
    sample: WindowSample,
    batch: int = 64,
    pairs: int = 2000,
    seed: int = 0,
    progress: Callable[[int], None] = lambda done: None,
) -> ModelBounds:
    """The bound on all future transitions of the sampled windows; `progress` hears the number of windows done."""
    encoded, predicted, actions = [], [], []
    done = 0
    for case in encoded_cases(sample, model, batch):
        now = case.context.latents[:, -1:]
        rollout = model.rollout(case.context, case.recorded[:, None])[:, 0]
        encoded.append(_transitions(now, case.future))
        predicted.append(_transitions(now, rollout))
        actions.append(model.normalise(case.recorded).flatten(0, 1))
        done += len(case.recorded)
        progress(done)
    a = torch.cat(actions)
    return ModelBounds(
        model.config.readout.trainable,
        separation_bound(model.readout, torch.cat(encoded), a, pairs, seed),
        separation_bound(model.readout, torch.cat(predicted), a, pairs, seed),
    )


def _transitions(now: Tensor, latents: Tensor) -> Tensor:
    """z_t (B, 1, D) and z_t+1 .. z_t+K (B, K, D) -> all [z, z'] (B * K, 2D)."""
    before = torch.cat([now, latents[:, :-1]], 1)
    return torch.cat([before, latents], -1).flatten(0, 1)


@dataclass(frozen=True)
class _Layer:
    """A linear layer in double precision, which a CPU has: rounding must not decide whether a bound holds."""

    weight: Tensor
    bias: Tensor

    @staticmethod
    def of(layer: torch.nn.Linear) -> _Layer:
        return _Layer(layer.weight.cpu().double(), layer.bias.cpu().double())

    def __call__(self, x: Tensor) -> Tensor:
        return x @ self.weight.T + self.bias


def _spectral_norm(matrix: Tensor) -> Tensor:
    return torch.linalg.matrix_norm(matrix, 2)


def _largest_slope(hidden: _Layer, out: _Layer, points: Tensor) -> Tensor:
    """max over points (N, 2D) of ||J||_2, J = W_out diag(gelu'(W_hidden u + b)) W_hidden."""
    gram = hidden.weight @ hidden.weight.T  # ||J||^2 is the top eigenvalue of the small J J^T
    largest = torch.zeros((), dtype=points.dtype)
    for part in points.split(256):
        pre = hidden(part)
        slope = 0.5 * (1 + torch.erf(pre / math.sqrt(2))) + pre * torch.exp(-(pre**2) / 2) / math.sqrt(
            2 * math.pi
        )
        left = out.weight * slope[:, None]
        squared = torch.linalg.eigvalsh(left @ gram @ left.mT)[:, -1]
        largest = torch.maximum(largest, squared.max().clamp_min(0).sqrt())
    return largest


def _different_pairs(actions: Tensor, pairs: int, seed: int) -> tuple[Tensor, Tensor]:
    """Indices of random pairs whose actions differ."""
    rng = np.random.default_rng(seed)
    drawn = torch.from_numpy(rng.integers(len(actions), size=(2, 8 * pairs)))
    differ = (actions[drawn[0]] != actions[drawn[1]]).any(-1)
    left, right = drawn[:, differ][:, :pairs]
    if len(left) == 0:
        raise UserError(
            "all sampled transitions have the same action: no pair to compare; sample more windows"
        )
    return left, right


def _check(numerator: Tensor, distance: Tensor, lipschitz: float) -> BoundCheck:
    bound = numerator / max(lipschitz, 1e-12)
    slack = distance - bound
    tight = (bound / distance)[(bound > 0) & (distance > 0)]
    return BoundCheck(
        lipschitz=lipschitz,
        smallest_slack=float(slack.min()),
        violations=int((slack < -1e-9 * (1 + distance)).sum()),
        tightness=float(tight.mean()) if len(tight) else None,
    )
