"""Minetest (Luanti), the voxel world: the stock Debian binary in lockstep.

`make("arena")` is a flat playground that each episode's seed furnishes, `make("terrain")` natural landscape.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .game import MinetestGame


def worlds() -> tuple[str, ...]:
    return ("arena", "terrain")


def make(
    world: str, *, seed: int | None = None, size: tuple[int, int] = (128, 128), **options: Any
) -> MinetestGame:
    """See `MinetestGame` for the options."""
    from .game import MinetestGame

    return MinetestGame(world, seed=seed, size=size, **options)
