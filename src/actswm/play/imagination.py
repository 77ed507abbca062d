"""The model's futures, imagined in a thread of their own so that the game never waits for them."""

from __future__ import annotations

import logging
import threading
import time
from collections import deque
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray

from ..errors import UserError
from ..game import Frame
from ..model import Context, WorldModel
from ..model.decoder import Draw
from ..model.history import observed
from .board import Board, Future, Imagined, jpeg
from .dream import Dream

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class _Seen:
    """A frame at a model step. `raw` (frameskip, A) led to it, None at an episode's start; `holding` (frameskip, A)
    goes on from it."""

    episode: int
    step: int
    frame: Frame
    raw: NDArray[np.float32] | None
    holding: NDArray[np.float32]
    when: float


class Imagination:
    """At each model step: the future if everything stays held, and the future if everything is let go.

    Both are rolled out from the last H real frames and shown at `steps` model steps ahead. `number` is the model's.
    """

    def __init__(
        self, model: WorldModel, draw: Draw, steps: tuple[int, ...], board: Board, number: int = 0
    ) -> None:
        self._model, self._draw, self._steps, self._board, self._number = model, draw, steps, board, number
        self.frameskip = model.encoding.frameskip
        self._context: Context | None = None
        self._raw: list[NDArray[np.float32]] = []
        self._waiting = threading.Condition()
        # a model that cannot keep up skips what its context would no longer hold
        self._seen: deque[_Seen] = deque(maxlen=model.context_length + model.encoding.lead + 1)
        self._ended = self._busy = False
        self._thread = threading.Thread(target=self._work, name="imagination", daemon=True)
        self._thread.start()

    def begin(self, episode: int, frame: Frame, holding: NDArray[np.float32]) -> None:
        """The first frame of an episode."""
        self._raw = []
        with self._waiting:
            self._seen.clear()
        self._tell(_Seen(episode, 0, frame, None, holding, time.monotonic()))

    def see(
        self, episode: int, step: int, action: NDArray[np.float32], frame: Frame, holding: NDArray[np.float32]
    ) -> None:
        """The frame after a raw step."""
        self._raw.append(action)
        if len(self._raw) == self.frameskip:
            raw, self._raw = np.stack(self._raw), []
            self._tell(_Seen(episode, step, frame, raw, holding, time.monotonic()))

    def dream(self) -> Dream:
        """What the model makes of the world from here on, once it has seen all that was shown to it."""
        with self._waiting:
            self._waiting.wait_for(lambda: self._ended or not (self._seen or self._busy))
            if self._ended or self._context is None:
                raise UserError("the model imagines nothing any more; the log says why")
            return Dream(self._model, self._draw, self._context)

    def close(self) -> None:
        self._end()
        self._thread.join()

    def _end(self) -> None:
        with self._waiting:
            self._ended = True
            self._waiting.notify_all()

    def _tell(self, seen: _Seen) -> None:
        with self._waiting:
            self._seen.append(seen)
            self._waiting.notify_all()

    def _work(self) -> None:
        try:
            while True:
                with self._waiting:
                    self._busy = False
                    self._waiting.notify_all()
                    self._waiting.wait_for(lambda: self._seen or self._ended)
                    if self._ended:
                        return
                    new = list(self._seen)
                    self._seen.clear()
                    self._busy = True
                self._board.post_imagined(self._imagine(new))
        except Exception:
            log.exception("the imagination stopped; the game goes on")
            self._end()

    @torch.no_grad()
    def _imagine(self, new: list[_Seen]) -> Imagined:
        for seen in new:
            self._context = context = observed(self._model, self._context, seen.raw, seen.frame)
        encoding, last = self._model.encoding, new[-1]
        raw = np.stack([last.holding, np.zeros_like(last.holding)])
        actions = torch.from_numpy(np.tile(encoding.step_actions(raw), (1, max(self._steps), 1)))
        latents = self._model.rollout(context, actions[None])[0]
        shown = latents[:, [step - 1 for step in self._steps]]
        pictures = [jpeg(frame) for frame in self._draw(shown.flatten(0, 1))]
        held = tuple(
            name for name, used in zip(encoding.vocabulary.names, (last.holding != 0).any(0)) if used
        )
        count = len(self._steps)
        futures = (Future(held, tuple(pictures[:count])), Future((), tuple(pictures[count:])))
        return Imagined(self._number, last.episode, last.step, futures, time.monotonic() - last.when)
