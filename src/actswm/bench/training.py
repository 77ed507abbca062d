"""One training step at the paper's size, by the rollout engine and plainly, side by side."""

from __future__ import annotations

import resource
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass

import torch

from ..model import Context, WorldModel
from ..objective import Batch, Objective
from ..training import Config, load_config
from .plain import plain_losses, plain_rollout
from .small_step import SmallStep, bench_small_steps


@dataclass(frozen=True)
class TrainBench:
    """CPU seconds are for information; the ratios are what is measured."""

    batch: int
    rollout_speedup_vs_naive: float
    step_speedup_vs_naive: float
    max_relative_loss_difference: float
    rollout_cpu_seconds: float
    naive_rollout_cpu_seconds: float
    step_cpu_seconds: float
    naive_step_cpu_seconds: float
    peak_rss_gib: float | None
    peak_rss_batch: int
    small: dict[str, SmallStep]
    """Presets that train on a CPU: a whole step against what it was."""


def bench_train(batch: int = 4, repeats: int = 3, memory_batch: int = 32) -> TrainBench:
    """Ratios at a small batch, best of `repeats` alternating runs; peak memory of one full step apart."""
    torch.set_num_threads(1)
    config = _config()
    model, objective, windows = _setup(config, batch)
    horizon = config.objective.horizon
    latents = torch.randn(batch, config.model.predictor.context, config.model.latent_dim)
    context = Context(latents, windows.actions[:, :-horizon])
    future = windows.actions[:, -horizon:]
    sequences = torch.stack([future, torch.zeros_like(future)], 1)

    def roll(rollout: Callable[[], torch.Tensor]) -> Callable[[], float]:
        def run() -> float:
            model.zero_grad()
            loss = rollout().square().mean()
            loss.backward()
            return float(loss.detach())

        return run

    rollouts = _alternate(
        roll(lambda: model.rollout(context, sequences)),
        roll(lambda: plain_rollout(model, context, sequences)),
        repeats,
    )

    def step(plain: bool) -> Callable[[], float]:
        def run() -> float:
            model.zero_grad()
            generator = torch.Generator().manual_seed(1)
            if plain:
                losses = plain_losses(model, objective, windows, generator)
            else:
                losses = objective(model, windows, generator)
            losses.total.backward()
            return float(losses.total.detach())

        return run

    steps = _alternate(step(plain=False), step(plain=True), repeats)
    return TrainBench(
        batch=batch,
        rollout_speedup_vs_naive=rollouts.plain_seconds / rollouts.seconds,
        step_speedup_vs_naive=steps.plain_seconds / steps.seconds,
        max_relative_loss_difference=max(rollouts.difference, steps.difference),
        rollout_cpu_seconds=rollouts.seconds,
        naive_rollout_cpu_seconds=rollouts.plain_seconds,
        step_cpu_seconds=steps.seconds,
        naive_step_cpu_seconds=steps.plain_seconds,
        peak_rss_gib=measure_memory(memory_batch) if memory_batch else None,
        peak_rss_batch=memory_batch,
        small=bench_small_steps(2 * repeats),
    )


@dataclass(frozen=True)
class _Pair:
    seconds: float
    plain_seconds: float
    difference: float


def _alternate(mine: Callable[[], float], plain: Callable[[], float], repeats: int) -> _Pair:
    """Best CPU time of each, run in turn so that a noisy moment hits both; and how far their results differ."""
    seconds: dict[str, float] = {}
    values: dict[str, float] = {}
    for _ in range(repeats):
        for name, run in (("mine", mine), ("plain", plain)):
            began = time.process_time()
            values[name] = run()
            seconds[name] = min(seconds.get(name, float("inf")), time.process_time() - began)
    difference = abs(values["mine"] - values["plain"]) / abs(values["plain"])
    return _Pair(seconds["mine"], seconds["plain"], difference)


def _config(checkpointing: bool = False) -> Config:
    config = load_config("paper/actswm", [f"model.checkpointing={str(checkpointing).lower()}"])
    config.model.predictor.dropout = 0.0  # both must compute the same numbers
    return config


def _setup(config: Config, batch: int) -> tuple[WorldModel, Objective, Batch]:
    torch.manual_seed(0)
    model = WorldModel(config.model).train()
    with torch.no_grad():  # away from AdaLN-zero, where the hinge has no gradient
        for block in model.predictor.blocks:
            block.modulate.weight.normal_(0, 0.02)
    objective = Objective(config.objective)
    frames, size = objective.frames(config.model.predictor.context), config.model.image_size
    pixels = torch.randint(0, 255, (batch, frames, size, size, 3), dtype=torch.uint8)
    actions = (torch.rand(batch, frames - 1, model.encoding.step_dim) < 0.2).float()
    return model, objective, Batch(pixels, actions)


def measure_memory(batch: int) -> float:
    """Peak resident GiB of a process that takes one optimiser step with activation checkpointing."""
    program = f"from actswm.bench.training import full_step; full_step({batch})"
    done = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True)
    return float(done.stdout)


def full_step(batch: int) -> None:
    """One `paper` step in this process; writes its peak resident memory in GiB to standard output."""
    config = _config(checkpointing=True)
    model, objective, windows = _setup(config, batch)
    optimizer = torch.optim.AdamW([p for p in model.parameters() if p.requires_grad], lr=1e-4)
    objective(model, windows).total.backward()
    optimizer.step()
    sys.stdout.write(f"{resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20:.3f}\n")
