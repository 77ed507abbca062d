"""Freedoom in ViZDoom: the embedded default game, nothing but pip packages."""

from __future__ import annotations

from typing import Any

from .game import FreedoomGame
from .worlds import WORLDS

__all__ = ["FreedoomGame", "make", "worlds"]


def make(world: str, *, seed: int | None, size: tuple[int, int], **options: Any) -> FreedoomGame:
    """A world by name; options as in `FreedoomGame`."""
    return FreedoomGame(world, seed=seed, size=size, **options)


def worlds() -> tuple[str, ...]:
    return tuple(WORLDS)
