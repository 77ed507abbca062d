"""OpenArena, the fast shooter: the stock Debian package in lockstep.

A world is one of the game's maps: `make("oa_dm1")`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .game import OpenArenaGame


def worlds() -> tuple[str, ...]:
    return ("oa_dm1", "oa_dm2", "oa_dm3", "oa_dm4", "oa_dm5", "oa_dm6", "oa_dm7")


def make(
    world: str, *, seed: int | None = None, size: tuple[int, int] = (128, 128), **options: Any
) -> OpenArenaGame:
    """See `OpenArenaGame` for the options."""
    from .game import OpenArenaGame

    return OpenArenaGame(world, seed=seed, size=size, **options)
