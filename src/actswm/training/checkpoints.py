"""Checkpoints on a clock: whatever ends the run, little is lost, and the file is never half written."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import Any

import lightning as L

LAST = "last.ckpt"


class ClockCheckpoint(L.Callback):
    """Saves the whole training state every `minutes`, every `steps` if set, at the end and on an interrupt.

    Knows how long the run has trained, before and after its interruptions.
    """

    def __init__(self, folder: Path, minutes: float, steps: int = 0) -> None:
        self.path = folder / LAST
        self.minutes = minutes
        self.steps = steps
        self._began = self._saved_at = time.monotonic()
        self._before = 0.0

    @property
    def seconds(self) -> float:
        return self._before + time.monotonic() - self._began

    def state_dict(self) -> dict[str, Any]:
        return {"seconds": self.seconds}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        self._before = state_dict["seconds"]
        self._began = time.monotonic()

    def on_train_batch_end(self, trainer: L.Trainer, *_: Any) -> None:
        due = time.monotonic() - self._saved_at >= 60 * self.minutes
        if due or (self.steps and trainer.global_step % self.steps == 0):
            self.save(trainer)

    def on_train_end(self, trainer: L.Trainer, *_: Any) -> None:
        self.save(trainer)

    def on_exception(self, trainer: L.Trainer, module: L.LightningModule, error: BaseException) -> None:
        if isinstance(error, KeyboardInterrupt):
            self.save(trainer)

    def save(self, trainer: L.Trainer) -> None:
        temporary = self.path.with_name(f".{self.path.name}.tmp")
        trainer.save_checkpoint(temporary)
        if trainer.is_global_zero:
            os.replace(temporary, self.path)
        self._saved_at = time.monotonic()
