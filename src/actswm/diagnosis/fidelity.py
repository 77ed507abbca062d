"""Counterfactual fidelity: is a prediction under other actions right about what those actions truly do?

Every window has eight true futures (see `futures`), one of them recorded. With d the Euclidean distance of
latents, at step k:

- F: how often the prediction under an alternative's actions is closer to the alternative's true latent than
  the prediction under the recorded actions is (ties count half);
- skill: 1 - sum d^2(prediction, truth) / sum d^2(z_t, truth): 0 for copying the last context frame;
- top-1: how often the true future nearest to a prediction, among the eight, is its own;
- distance, angle, place: where the recorded frame nearest to a prediction was taken (see `poses`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from ..data.loader import sampled_windows
from ..intervals import bootstrap_ratio
from ..model import Context, WorldModel
from ..results import FidelityStep, Spread
from .alternatives import KINDS
from .futures import TrueFutures
from .poses import PoseGallery

TIE = 1e-5
"""Distances that differ by less than this share are equal: batched arithmetic is not exact."""


@dataclass(frozen=True)
class Fidelity:
    """Per window, future and step, (N, 8, K) each; NaN where there is no case.

    A future that has ended is no case. Where an alternative still looks exactly like the recorded future there
    is nothing to tell apart: `closer` leaves it out, and top-1 counts equal-looking futures as one.
    """

    episode: NDArray[np.int64]
    """(N,): intervals are over episodes."""
    closer: NDArray[np.float64]
    error: NDArray[np.float64]
    copy_error: NDArray[np.float64]
    hit: NDArray[np.float64]
    chance: NDArray[np.float64]
    distance: NDArray[np.float64]
    angle: NDArray[np.float64]
    room: NDArray[np.float64]

    def table(self) -> tuple[FidelityStep, ...]:
        rows: list[FidelityStep] = []
        for kind in ("all", *dict.fromkeys(KINDS)):
            rows += self.of_kind(kind)
        return tuple(rows)

    def of_kind(self, kind: str) -> tuple[FidelityStep, ...]:
        """Steps 1 .. K of a kind. `all`: F and skill of the seven alternatives, top-1 of all eight."""
        mine = np.array([name == kind for name in KINDS])
        asked = np.ones(len(KINDS), bool) if kind == "all" else mine
        judged = np.array([name != "recorded" for name in KINDS]) if kind == "all" else mine
        closer, told_apart = _sums(self.closer[:, judged])
        error, cases = _sums(self.error[:, judged])
        copy, _ = _sums(self.copy_error[:, judged])
        fidelity = bootstrap_ratio(closer, told_apart, self.episode)
        skill = bootstrap_ratio(copy - error, copy, self.episode)
        top1 = bootstrap_ratio(*_sums(self.hit[:, asked]), self.episode)
        chance = bootstrap_ratio(*_sums(self.chance[:, asked]), self.episode)
        place = bootstrap_ratio(*_sums(self.room[:, asked]), self.episode)
        return tuple(
            FidelityStep(
                kind=kind,
                step=k + 1,
                cases=int(cases[:, k].sum()),
                distinct=int(told_apart[:, k].sum()),
                fidelity=fidelity[k],
                skill=skill[k],
                top1=top1[k],
                chance=chance[k].mean,
                distance=_spread(self.distance[:, asked, k]),
                angle=_spread(self.angle[:, asked, k]),
                place=place[k],
            )
            for k in range(self.closer.shape[2])
        )


def _spread(values: NDArray[np.float64]) -> Spread:
    values = values[np.isfinite(values)]
    return Spread(*np.quantile(values, (0.5, 0.9)).tolist()) if len(values) else Spread()


def _sums(values: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """(N, futures, K) with NaN -> per window (N, K): sum of the present entries, and their number."""
    return np.nansum(values, 1), np.isfinite(values).sum(1).astype(np.float64)


@torch.no_grad()
def counterfactual_fidelity(
    model: WorldModel,
    futures: TrueFutures,
    batch: int = 16,
    poses: PoseGallery | None = None,
    progress: Callable[[int], None] = lambda done: None,
) -> Fidelity:
    """Roll every window out under its eight action sequences; `progress` hears the windows done."""
    contexts = sampled_windows(futures.sample, model, future=False)
    frames, stored = futures.frames(model.config.image_size), futures.frames()
    count = len(KINDS)
    parts: list[tuple[NDArray[np.float64], ...]] = []
    for first in range(0, len(futures.raw), batch):
        index = np.arange(first, min(first + batch, len(futures.raw)))
        pixels, past = contexts.read(index)
        context = Context(model.encode(pixels), past)
        steps = torch.from_numpy(model.encoding.step_actions(futures.raw[index]))
        predicted = model.rollout(context, steps)
        items = np.arange(index[0] * count, (index[-1] + 1) * count)
        truth = model.encode(frames.read(items)[0][:, 1:]).unflatten(0, (-1, count))
        looks = stored.read(items)[0][:, 1:].unflatten(0, (-1, count)).numpy()
        compared = _compared(
            predicted.cpu().double(),  # not every device has doubles
            truth.cpu().double(),
            context.latents[:, -1].cpu().double(),
            _looks_same(looks),
            futures.valid[index],
        )
        parts.append((*compared, *_where(predicted, futures.pose[index], futures.sample.episode[index], poses)))
        progress(int(index[-1]) + 1)
    return Fidelity(futures.sample.episode, *(np.concatenate(part) for part in zip(*parts)))


def _compared(
    predicted: Tensor, truth: Tensor, now: Tensor, same: NDArray[np.bool_], valid: NDArray[np.bool_]
) -> tuple[NDArray[np.float64], ...]:
    """Predictions and truths (B, 8, K, D), z_t (B, D), which futures look the same (B, 8, 8, K), and which
    are still going on (B, 8, K) -> the arrays of `Fidelity`."""
    # distance[b, i, j, k]: prediction i to truth j
    distance = torch.linalg.vector_norm(predicted[:, :, None] - truth[:, None], dim=-1).numpy()
    own = np.einsum("biik->bik", distance)
    of_recorded = distance[:, 0]
    tie = np.abs(own - of_recorded) <= TIE * (own + of_recorded)
    closer = np.where(tie, 0.5, own < of_recorded)
    copy = torch.linalg.vector_norm(now[:, None, None] - truth, dim=-1).numpy()
    nearest = np.where(valid[:, None], distance, np.inf).argmin(2)
    hit = np.take_along_axis(same, nearest[:, :, None], 2)[:, :, 0].astype(np.float64)
    alike = (same & valid[:, None]).sum(2) / np.maximum(1, valid.sum(1))[:, None]
    nothing = np.full_like(own, np.nan)
    return (
        np.where(valid & ~same[:, 0], closer, nothing),
        np.where(valid, own**2, nothing),
        np.where(valid, copy**2, nothing),
        np.where(valid, hit, nothing),
        np.where(valid, alike, nothing),
    )


def _where(
    predicted: Tensor, true: NDArray[np.floating], episode: NDArray[np.int64], poses: PoseGallery | None
) -> tuple[NDArray[np.float64], ...]:
    """Distance, angle and room (B, 8, K); NaN where there is no gallery, or the future has ended."""
    if poses is None:
        return (np.full(true.shape[:3], np.nan),) * 3
    errors = poses.errors(predicted, true, episode)
    return errors.distance, errors.angle, np.where(np.isnan(errors.distance), np.nan, errors.room)


def _looks_same(frames: NDArray[np.uint8]) -> NDArray[np.bool_]:
    """Frames (B, 8, K, h, w, 3) -> (B, 8, 8, K): are futures i and j equal at step k, byte for byte?"""
    flat = frames.reshape(-1, *frames.shape[3:])
    digest = np.array([hash(frame.tobytes()) for frame in flat]).reshape(frames.shape[:3])
    return digest[:, :, None] == digest[:, None]
