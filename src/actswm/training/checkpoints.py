"""Checkpoints on a clock: whatever ends the run, little is lost, and the file is never half written.

They are taken between steps only: within one, weights, optimiser and the count of steps do not belong together.
"""

from __future__ import annotations

import time
import zipfile
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import lightning as L
import torch
from lightning.pytorch.utilities.exceptions import SIGTERMException

from ..atomic import appearing_whole
from ..errors import UserError
from .interruption import Interruption

LAST = "last.ckpt"


class ClockCheckpoint(L.Callback):
    """Saves the whole training state every `minutes`, every `steps` if set, at the end and when interrupted.

    Knows how long the run has trained, before and after its interruptions.
    """

    def __init__(self, folder: Path, minutes: float, steps: int, interruption: Interruption) -> None:
        self.path = folder / LAST
        self.minutes = minutes
        self.steps = steps
        self.interruption = interruption
        self.has_stepped = False
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

    def on_train_batch_start(self, trainer: L.Trainer, *_: Any) -> None:
        """By now the step before has been validated and logged."""
        # Lightning counts logged steps apart, and takes every checkpoint for one from before the step was logged
        trainer.fit_loop.epoch_loop._batches_that_stepped = trainer.global_step
        due = time.monotonic() - self._saved_at >= 60 * self.minutes
        interrupted = trainer.strategy.reduce_boolean_decision(self.interruption.asked, all=False)
        if due or interrupted or self._has_steps(trainer.global_step):
            self.save(trainer)
        if interrupted:
            raise KeyboardInterrupt

    def on_train_batch_end(self, *_: Any) -> None:
        self.has_stepped = True

    def _has_steps(self, step: int) -> bool:
        return self.steps > 0 and step > 0 and step % self.steps == 0

    def on_train_end(self, trainer: L.Trainer, *_: Any) -> None:
        self.save(trainer)

    def on_exception(self, trainer: L.Trainer, module: L.LightningModule, error: BaseException) -> None:
        if isinstance(error, SIGTERMException):  # Lightning raises it between steps
            self.save(trainer)

    def save(self, trainer: L.Trainer) -> None:
        # the first process writes, but all of them have to call
        with appearing_whole(self.path) if trainer.is_global_zero else nullcontext(self.path) as temporary:
            trainer.save_checkpoint(temporary)
        if trainer.is_global_zero:
            for logger in trainer.loggers:
                logger.save()  # a resumed run finds logged what it does not compute again
        self._saved_at = time.monotonic()


def read_checkpoint(path: Path) -> dict[str, Any]:
    """What `save` wrote. Sums are checked, which torch does not: a flipped bit would go on as a wrong weight."""
    try:
        with zipfile.ZipFile(path) as archive:
            if wrong := archive.testzip():
                raise ValueError(f"{wrong} is not what was written")
        saved = torch.load(path, map_location="cpu", weights_only=True)
        if not all(isinstance(saved[part], dict) for part in ("state_dict", "callbacks", "loops")):
            raise ValueError("it is not a training state")
        if not all(isinstance(weight, torch.Tensor) for weight in saved["state_dict"].values()):
            raise ValueError("its weights are no tensors")
        int(saved["global_step"])
    except Exception as error:  # damaged bytes make zipfile and torch raise anything
        raise damaged(path, error) from None
    return saved


def damaged(path: Path, error: Exception) -> UserError:
    reason = " ".join(str(error).split())[:200] or type(error).__name__
    return UserError(f"{path}: damaged ({reason}); copy it again, or remove it to begin the run anew")
