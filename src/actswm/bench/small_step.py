"""A whole training step at the size that trains on a CPU, as it is and as it was: from frames to moved weights.

The former step encoded each window's frames for itself, normalised colour by colour, left products to torch's choice
and orthogonalised long matrices in full. Both compute the same losses. Steps count with the share of their stage.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from unittest.mock import patch

import torch
from torch import Tensor

from ..model import WorldModel
from ..model.products import fast_products
from ..objective import Batch, Objective
from ..training import Config, load_config
from ..training.muon import COEFFICIENTS, ITERATIONS
from ..training.optimizer import make_optimizer

PRESETS = ("small/contrast", "small/actswm-plus")
Progress = Callable[[str], None]


@dataclass(frozen=True)
class SmallStep:
    """CPU seconds are for information; the ratio is what is measured."""

    speedup_vs_former: float
    max_relative_loss_difference: float
    cpu_seconds: float
    former_cpu_seconds: float


def bench_small_steps(repeats: int, progress: Progress = lambda what: None) -> dict[str, SmallStep]:
    torch.set_num_threads(1)
    return {preset: _measured(preset, repeats, progress) for preset in PRESETS}


def _measured(preset: str, repeats: int, progress: Progress) -> SmallStep:
    config = load_config(preset)
    runs = {"former": _Run(config, former=True), "now": _Run(config, former=False)}
    begins = [stage.begin for stage in runs["now"].objective.schedule]
    shares = [end - begin for begin, end in zip(begins, [*begins[1:], 1.0])]
    spent, difference = dict.fromkeys(runs, 0.0), 0.0
    for begin, share in zip(begins, shares):
        best = dict.fromkeys(runs, float("inf"))
        for turn in range(repeats + 1):
            progress(f"{preset} from {begin:.0%} on, {turn}/{repeats}")
            losses = {name: run.step(begin, move=turn > 0) for name, run in runs.items()}
            if turn == 0:  # both with the same weights; buffers are warm now
                difference = max(difference, abs(losses["now"][1] / losses["former"][1] - 1))
                continue
            best = {name: min(best[name], losses[name][0]) for name in runs}
        for name, run in runs.items():
            spent[name] += share * best[name]
            run.reset()
    return SmallStep(spent["former"] / spent["now"], difference, spent["now"], spent["former"])


class _Run:
    def __init__(self, config: Config, former: bool) -> None:
        self.config, self.former = config, former
        self.objective = Objective(config.objective)
        self.reset()

    def reset(self) -> None:
        """The weights that a training begins with, and its batch."""
        torch.manual_seed(0)
        self.model = WorldModel(self.config.model).train()
        self.optimizer = make_optimizer(self.model, self.config.training)
        self.batch = _batch(self.config, self.objective.frames(self.config.model.predictor.context), self.model)

    def step(self, progress: float, move: bool) -> tuple[float, float]:
        """CPU seconds, and the loss."""
        with _former_ways() if self.former else fast_products():
            began = time.process_time()
            model = FormerWorldModel(self.model) if self.former else self.model
            self.model.zero_grad()
            losses = self.objective(model, self.batch, torch.Generator().manual_seed(1), progress)
            losses.total.backward()
            if move:
                self.optimizer.step()
            return time.process_time() - began, float(losses.total.detach())


def _batch(config: Config, frames: int, model: WorldModel) -> Batch:
    """Windows as a training's sampler chooses them: groups that lie near each other in some recording."""
    rng, place, size = torch.Generator().manual_seed(2), config.training.place, config.model.image_size
    anchors = 100_000 * torch.arange(1, config.training.batch // place.windows + 1)
    apart = torch.randint(-place.reach, place.reach + 1, (len(anchors), place.windows), generator=rng)
    rows = (anchors[:, None] + apart).flatten()[:, None] + config.model.frameskip * torch.arange(frames)
    distinct, which = rows.unique(return_inverse=True)
    shown = torch.randint(0, 255, (len(distinct), size, size, 3), dtype=torch.uint8, generator=rng)
    actions = torch.rand(len(rows), frames - 1, model.encoding.step_dim, generator=rng) < 0.2
    return Batch(shown[which], actions.float(), rows, place.windows)


class FormerWorldModel:
    """A view of a world model that encodes all frames of all windows."""

    def __init__(self, model: WorldModel) -> None:
        self._model = model

    def __getattr__(self, name: str):  # type: ignore[no-untyped-def]
        return getattr(self._model, name)

    def encode(self, pixels: Tensor, rows: Tensor | None = None) -> Tensor:
        model = self._model
        frames = (pixels.flatten(0, 1).permute(0, 3, 1, 2).to(model.dtype) - model.pixel_mean) / model.pixel_std
        return model.projector(model.encoder(frames)).unflatten(0, pixels.shape[:2])

    def encode_fixed(self, pixels: Tensor, rows: Tensor | None = None) -> Tensor:
        with patch.object(self._model, "encode", self.encode):
            return self._model.encode_fixed(pixels, rows)


@contextmanager
def _former_ways() -> Iterator[None]:
    with patch("actswm.training.muon.orthogonalized", _in_full):
        yield


def _in_full(matrix: Tensor) -> Tensor:
    a, b, c = COEFFICIENTS
    x = matrix if matrix.shape[0] <= matrix.shape[1] else matrix.T
    x = x / x.norm().clamp(min=1e-7)
    for _ in range(ITERATIONS):
        gram = x @ x.T
        x = torch.addmm(x, torch.addmm(gram, gram, gram, beta=b, alpha=c), x, beta=a)
    return x if matrix.shape[0] <= matrix.shape[1] else x.T
