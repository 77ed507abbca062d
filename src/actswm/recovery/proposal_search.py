"""Search with a proposal: what an inverse-dynamics model finds likely, judged by a world model over several steps.

For each step every likely combination of buttons that people press is tried, followed by some of the proposal's own
continuations, and the predictions are compared with the frames that were seen, each step with its own. A Gaussian error
of unknown size makes cost^-w of a cost: w is the weight of the world model, 0 leaves the proposal as it is.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from ..errors import UserError
from ..model import WorldModel
from .prior import ActionPrior
from .proposal import Proposal
from .windows import Case

Array = NDArray[np.floating]
WEIGHTS = (0.0, 0.125, 0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0)
_SAME = 1e-4
"""Nats of cross-entropy that are no reason to give the world model more weight."""
_SURE = 1e-4
"""Probabilities stay this far from 0 and 1, so that no evidence is infinite."""


@dataclass(frozen=True)
class ProposalSettings:
    candidates: int = 32
    """Combinations of buttons that are tried in a step: the likeliest of those in the pool."""
    continuations: int = 4
    """Sequences that follow each: the proposal's own labels, and draws from its distribution."""
    window: int = 4
    """Steps that are predicted and compared, the tried one included."""

    def __post_init__(self) -> None:
        if min(self.candidates, self.continuations, self.window) < 1:
            raise UserError("a search with a proposal needs candidates, continuations and a window of at least 1")


@dataclass(frozen=True)
class Evidence:
    """Of K steps, C combinations (K, C, A) each: the proposal's log probability (K, C), and their predictions' errors.

    `errors` (K, C, M): the logarithms of the costs, summed over the compared steps, of M continuations.
    """

    vectors: Array
    prior: Array
    errors: Array


class ProposalSearch:
    def __init__(self, model: WorldModel, pool: ActionPrior, settings: ProposalSettings, seed: int = 42) -> None:
        self.model, self.settings, self.seed = model, settings, seed
        self.binary = model.encoding.vocabulary.binary
        self.combinations = np.unique(np.where(self.binary, pool.pool > 0.5, 0).astype(np.float32), axis=0)

    @torch.no_grad()
    def evidence(self, case: Case, proposal: Proposal, index: int) -> Evidence:
        """One window. The context moves on by the frames that were seen and the proposal's own labels.

        Its random numbers depend on nothing but the seed and its index.
        """
        model, generator = self.model, np.random.default_rng((self.seed, index))
        decided = torch.from_numpy(proposal.decided)
        done = proposal.step_actions(decided, 0, model.encoding)
        context, parts = case.context, []
        for step in range(len(decided)):
            vectors, prior = self._likeliest(proposal.probability[step])
            steps = min(self.settings.window, len(decided) - step)
            plans = self._plans(vectors, proposal, step, steps, generator)[:, : None if steps > 1 else 1]
            actions = proposal.step_actions(plans.flatten(0, 1), step, model.encoding)
            latents = model.rollout(context, actions[None])[0]
            costs = (latents - case.future[step : step + steps]).square().sum(-1).cpu()
            errors = costs.clamp_min(1e-12).log().sum(-1).reshape(plans.shape[:2])
            errors = errors.expand(-1, self.settings.continuations)
            parts.append((vectors, prior, errors.double().numpy()))
            here = slice(step, step + 1)
            context = context.after(case.future[None, here], done[None, here], model.context_length)
        return Evidence(*(np.stack(part) for part in zip(*parts)))

    def _likeliest(self, probability: Array) -> tuple[Array, Array]:
        """Combinations (C, A) and their log probabilities (C,) by the proposal."""
        pressed = probability.astype(np.float64).clip(_SURE, 1 - _SURE)
        each = np.where(self.combinations > 0.5, np.log(pressed), np.log1p(-pressed))[:, self.binary].sum(1)
        chosen = np.argsort(-each, kind="stable")[: self.settings.candidates]
        return self.combinations[chosen], each[chosen]

    def _plans(
        self, vectors: Array, proposal: Proposal, step: int, steps: int, generator: np.random.Generator
    ) -> Tensor:
        """(C, M, W, A): each combination with the same continuations."""
        rest = slice(step + 1, step + steps)
        shape = (self.settings.continuations, steps - 1, len(self.binary))
        drawn = generator.random(shape) < proposal.probability[rest]
        drawn[0] = proposal.decided[rest] > 0.5
        plans = np.empty((len(vectors), shape[0], steps, shape[2]), np.float32)
        plans[:, :, 0], plans[:, :, 1:] = vectors[:, None], drawn
        return torch.from_numpy(plans)


def combined(proposal: Proposal, evidence: Evidence, weights: Array, binary: NDArray[np.bool_]) -> Array:
    """Probabilities (K, A): the proposal's odds, times what the world model makes of each control's odds.

    `weights` (A,). With weight 0 they are exactly the proposal's; a control that no candidate presses, or all do, keeps
    them, too.
    """
    before = proposal.probability.astype(np.float64).clip(_SURE, 1 - _SURE)
    blind = _log_odds(evidence, 0.0)
    changed = np.log(before / (1 - before))
    for weight in np.unique(weights[binary & (weights > 0)]):
        with np.errstate(invalid="ignore"):
            shift = _log_odds(evidence, float(weight)) - blind
        chosen = binary & (weights == weight)
        changed[:, chosen] += np.where(np.isfinite(shift), shift, 0)[:, chosen]
    return np.where(binary & (weights > 0), 1 / (1 + np.exp(-changed)), proposal.probability)


def chosen_weights(
    proposals: Sequence[Proposal], evidence: Sequence[Evidence], recorded: Array, binary: NDArray[np.bool_]
) -> tuple[Array, Array]:
    """The weight of each control (A,), and the cross-entropy (len(WEIGHTS), A) of all that were tried.

    Of windows (N, K, A) that nothing was trained on; the least cross-entropy decides, the smallest weight of equals.
    """
    pressed, losses = recorded > 0.5, []
    for weight in WEIGHTS:
        weights = np.full(recorded.shape[-1], weight)
        found = np.stack([combined(one, seen, weights, binary) for one, seen in zip(proposals, evidence)])
        found = found.clip(_SURE, 1 - _SURE)
        losses.append(-np.where(pressed, np.log(found), np.log1p(-found)).mean((0, 1)))
    table = np.stack(losses)
    used = binary & pressed.any((0, 1)) & ~pressed.all((0, 1))
    best = (table <= table.min(0) + _SAME).argmax(0)
    return np.where(used, np.array(WEIGHTS)[best], 0.0), table


def _log_odds(evidence: Evidence, weight: float) -> Array:
    """(K, A) of being pressed, over the candidates; not finite where all of them agree."""
    likelihood = _log_mean(-weight * evidence.errors)
    posterior = (evidence.prior + likelihood)[..., None]
    pressed = evidence.vectors > 0.5
    with np.errstate(invalid="ignore"):
        return _log_sum(np.where(pressed, posterior, -np.inf)) - _log_sum(np.where(pressed, -np.inf, posterior))


def _log_sum(values: Array) -> Array:
    """Over the candidates, axis 1."""
    top = values.max(1, keepdims=True)
    top = np.where(np.isfinite(top), top, 0)
    with np.errstate(divide="ignore"):
        return np.log(np.exp(values - top).sum(1)) + top[:, 0]


def _log_mean(values: Array) -> Array:
    """Over the continuations, the last axis."""
    top = values.max(-1, keepdims=True)
    return np.log(np.exp(values - top).mean(-1)) + top[..., 0]
