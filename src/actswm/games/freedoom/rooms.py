"""Which room of a Freedoom map is a point in? The engine's own sectors, asked for once."""

from __future__ import annotations

import contextlib
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from ...errors import UserError
from .engine import Engine, EngineSettings, screen_resolution
from .worlds import WORLDS


@dataclass(frozen=True)
class Rooms:
    """The border lines (n, 4) of each sector: x1, y1, x2, y2."""

    borders: tuple[NDArray[np.float64], ...]

    @staticmethod
    def of(world: str) -> Rooms:
        """Of a world with a single map."""
        if world not in WORLDS or len(WORLDS[world].maps) != 1:
            raise UserError(f"freedoom/{world}: its rooms are not known; name a world of one map")
        settings = EngineSettings(WORLDS[world], screen_resolution((64, 64)), False, False, False)
        with contextlib.closing(Engine(replace(settings, sectors=True))) as engine:
            engine.doom.new_episode()
            sectors = engine.doom.get_state().sectors
            return Rooms(tuple(np.array([(w.x1, w.y1, w.x2, w.y2) for w in s.lines]) for s in sectors))

    def at(self, points: NDArray[np.floating]) -> NDArray[np.int64]:
        """Points (..., 2) -> the number of the sector each is in; -1 outside of all, or where a point is no number."""
        x, y = points[..., 0, None], points[..., 1, None]
        found = np.full(points.shape[:-1], -1)
        for number, (x1, y1, x2, y2) in enumerate(border.T for border in self.borders):
            crossed = (y1 > y) != (y2 > y)  # by the ray that leaves the point to the right
            with np.errstate(divide="ignore", invalid="ignore"):
                to_the_right = x < x1 + (y - y1) * (x2 - x1) / (y2 - y1)
            inside = (crossed & to_the_right).sum(-1) % 2 == 1
            found = np.where(inside, number, found)
        return found
