"""What there is to see right now: the game and the imagination post it, the page's streams wait for it."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray

from ..game import Frame

JPEG_QUALITY = 90


@dataclass(frozen=True)
class Kept:
    """What this session has saved so far."""

    episodes: int
    frames: int


@dataclass(frozen=True)
class Moment:
    """The frame after raw step `step` of an episode, and the action (A,) that led to it."""

    episode: int
    step: int
    jpeg: bytes
    action: NDArray[np.float32]
    running: bool
    """Is the game's clock running?"""
    fps: float
    """Raw steps in the last second."""
    news: str
    """What happened at last, in words."""
    kept: Kept
    presses: tuple[int, ...] = ()
    """How often each control was pressed in this session."""
    seen: bytes = b""
    """The frame as model and recording get it, where `jpeg` is another."""
    dreams: tuple[bytes, ...] = ()
    """What each model imagines in its place, if the person is in there; `step` stands still meanwhile."""
    dreamt: int = 0
    """Model steps since reality."""


@dataclass(frozen=True)
class Future:
    """One imagined future: what is held in it, and a picture for each shown step."""

    held: tuple[str, ...]
    jpegs: tuple[bytes, ...]


@dataclass(frozen=True)
class Imagined:
    """The futures from the frame after raw step `step` of `episode`, `latency` seconds after it was seen.

    `model` is the number of the model, in the order in which they were named.
    """

    model: int
    episode: int
    step: int
    futures: tuple[Future, ...]
    latency: float


@dataclass(frozen=True)
class View:
    """`number` grows with each change."""

    number: int = 0
    moment: Moment | None = None
    imagined: Mapping[int, Imagined] = field(default_factory=dict)
    """The newest of each model."""
    ended: bool = False


class Board:
    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._view = View()
        self._watchers = 0

    @property
    def view(self) -> View:
        return self._view

    @property
    def watchers(self) -> int:
        return self._watchers

    def post(self, moment: Moment) -> None:
        self._change(moment=moment)

    def post_imagined(self, imagined: Imagined) -> None:
        with self._changed:
            self._change(imagined={**self._view.imagined, imagined.model: imagined})

    def end(self) -> None:
        """Nothing will come any more."""
        self._change(ended=True)

    def _change(self, **changes: Any) -> None:
        with self._changed:
            self._view = replace(self._view, number=self._view.number + 1, **changes)
            self._changed.notify_all()

    def newer_than(self, number: int, seconds: float) -> View | None:
        """The view, as soon as it is newer; None if it does not change for so long."""
        with self._changed:
            if self._changed.wait_for(lambda: self._view.number > number, seconds):
                return self._view
            return None

    @contextmanager
    def watching(self) -> Iterator[None]:
        """Somebody looks on."""
        with self._changed:
            self._watchers += 1
        try:
            yield
        finally:
            with self._changed:
                self._watchers -= 1
                self._changed.notify_all()

    def wait_until_unwatched(self, seconds: float) -> None:
        with self._changed:
            self._changed.wait_for(lambda: self._watchers == 0, seconds)


def jpeg(frame: Frame) -> bytes:
    done, encoded = cv2.imencode(
        ".jpg", cv2.cvtColor(frame, cv2.COLOR_RGB2BGR), [cv2.IMWRITE_JPEG_QUALITY, JPEG_QUALITY]
    )
    assert done
    return encoded.tobytes()
