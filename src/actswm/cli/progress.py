"""How a training goes, in one line that fits 100 columns."""

from __future__ import annotations

import sys
import time
from collections.abc import Mapping
from typing import Any

import lightning as L

WIDTH = 100
A_LINE_EVERY = 30.0
"""Seconds between lines where the output is kept, not overwritten."""


class TrainingProgress(L.Callback):
    """Steps are the run's, a resumed one's earlier ones included; only steps of this process tell the speed."""

    def __init__(self) -> None:
        self._terminal = sys.stderr.isatty()
        self._first: tuple[int, float] | None = None
        self._shown = 0.0

    def on_train_batch_start(self, trainer: L.Trainer, *_: Any) -> None:
        if self._first is None:
            self._first = trainer.global_step, time.monotonic()
            self._shown = 0.0 if self._terminal else self._first[1]

    def on_train_batch_end(self, trainer: L.Trainer, *_: Any) -> None:
        now, last = time.monotonic(), trainer.global_step >= trainer.max_steps
        if not trainer.is_global_zero or self._first is None:
            return
        if last or now - self._shown >= (0.5 if self._terminal else A_LINE_EVERY):
            self._shown = now
            begun, since = self._first
            speed = (trainer.global_step - begun) / max(now - since, 1e-9)
            figures = {name: float(value) for name, value in trainer.progress_bar_metrics.items()}
            line = progress_line(trainer.global_step, trainer.max_steps, speed, figures)
            sys.stderr.write(f"\r{line:<{WIDTH - 1}}" if self._terminal else f"{line}\n")
            sys.stderr.flush()

    def teardown(self, *_: Any, **__: Any) -> None:
        if self._terminal and self._shown:
            sys.stderr.write("\n")


def progress_line(step: int, steps: int, speed: float, figures: Mapping[str, float]) -> str:
    """Step, speed and the time that is left, then as many of the figures as fit, in their order."""
    left = round((steps - step) / speed) if speed else 0
    minutes, seconds = divmod(left, 60)
    rate = f"{speed:.1f} steps/s" if speed >= 1 or not speed else f"{1 / speed:.1f} s/step"
    line = f"step {step:,} of {steps:,} ({step / steps:.0%}), {rate}, {minutes}:{seconds:02} left"
    for name, value in figures.items():
        more = f"  {name} {value:.3g}"
        if len(line) + len(more) >= WIDTH:
            break
        line += more
    return line
