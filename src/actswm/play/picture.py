"""The game drawn large for the person, while the model and the recording get the frames that they are used to."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..game import Frame, Game

log = logging.getLogger(__name__)


class LargePicture:
    """The same game once more, with larger frames: being deterministic, it goes the same way under the same actions.

    That is looked at, by its telemetry: if it once goes another way, or its engine dies, the small frames are shown
    for the rest of the episode.
    """

    def __init__(self, game: Game, engine_errors: tuple[type[Exception], ...] = ()) -> None:
        self._game, self._engine_errors = game, engine_errors
        self._lost = False

    def reset(self, seed: int, frame: Frame, info: Mapping[str, Any]) -> Frame:
        """The start of an episode, large; `frame` and `info` are those of the game itself."""
        self._lost = False
        try:
            large, told = self._game.reset(seed=seed)
        except self._engine_errors as error:
            return self._small(frame, error)
        return self._same(large, told, frame, info)

    def step(self, action: NDArray[np.float32], frame: Frame, info: Mapping[str, Any]) -> Frame:
        """The frame after an action that the game itself has taken already."""
        if self._lost:
            return frame
        try:
            large, _, _, _, told = self._game.step(action)
        except self._engine_errors as error:
            return self._small(frame, error)
        return self._same(large, told, frame, info)

    def _same(self, large: Frame, told: Mapping[str, Any], frame: Frame, info: Mapping[str, Any]) -> Frame:
        ours, theirs = (dict(each["telemetry"]) for each in (told, info))
        if ours.keys() != theirs.keys() or not np.array_equal(
            list(ours.values()), [theirs[name] for name in ours], equal_nan=True
        ):
            return self._small(frame, "it went another way")
        return large

    def _small(self, frame: Frame, why: object) -> Frame:
        log.warning("the large picture is gone for this episode: %s", why)
        self._lost = True
        return frame
