"""Games by name: `make_game("freedoom/maze")`, and the same worlds as Gymnasium ids. Other people's games are in `own`.

Each family of games is one module with `make(world, *, seed, size, **options) -> Game` and `worlds()`.
Family modules import their engine only inside `make`, so that listing worlds costs nothing and works where an
engine is missing.
"""

from __future__ import annotations

import difflib
import importlib
from types import ModuleType
from typing import Any

import gymnasium

from ..errors import UserError
from ..game import Game
from .own import is_own, open_own, own_names
from .spaces import frame_size

FAMILIES = {
    "freedoom": "actswm.games.freedoom",
    "minetest": "actswm.games.minetest",
    "openarena": "actswm.games.openarena",
    "minecraft": "actswm.games.minestudio",
}
DEFAULT_SIZE = (128, 128)
RENDER_MODE = "rgb_array"


def make_game(
    name: str,
    seed: int | None = None,
    size: int | tuple[int, int] = DEFAULT_SIZE,
    render_mode: str | None = RENDER_MODE,
    **options: Any,
) -> Game:
    """The game `name` with frames of `size` = (height, width), or a square of one number.

    `name` is "family/world", or another's game (see `own`): "my_module:MyGame", "gym:CartPole-v1".
    `seed` is the seed of the first `reset()` that names none; `options` belong to the family. `render_mode` is
    Gymnasium's: the games have one, `rgb_array`, and `render` returns the last frame in it.
    """
    if render_mode not in (None, RENDER_MODE):
        raise UserError(f"{name}: render_mode {render_mode!r} is unknown; use {RENDER_MODE!r}")
    family, _, world = name.partition("/")
    if family not in FAMILIES and is_own(name):
        own = open_own(name, seed, frame_size(size), options)
        own.render_mode = render_mode
        return own
    if family not in FAMILIES or world not in _module(family).worlds():
        known = game_names() + own_names()
        nearest = difflib.get_close_matches(name.lower(), known, n=1, cutoff=0.0)[0]
        raise UserError(f"unknown game {name!r}; the nearest known one is {nearest!r}")
    try:
        game = _module(family).make(world, seed=seed, size=frame_size(size), **options)
        game.render_mode = render_mode
        return game
    except TypeError as error:
        if "unexpected keyword argument" not in str(error):
            raise
        option = str(error).rsplit("argument", 1)[1].strip().strip("'")
        raise UserError(f"{family} games have no option {option!r}") from None


# Gymnasium looks here before it makes a game: other modes become wrappers around ours
make_game.metadata = {"render_modes": [RENDER_MODE]}  # type: ignore[attr-defined]


def game_names() -> tuple[str, ...]:
    """Every known game, "family/world"."""
    return tuple(f"{family}/{world}" for family in FAMILIES for world in _module(family).worlds())


def gymnasium_id(name: str) -> str:
    """ "freedoom/maze" -> "actswm/freedoom-maze-v0"."""
    return f"actswm/{name.replace('/', '-')}-v0"


def register_with_gymnasium() -> None:
    """Register every game, so that `gymnasium.make("actswm/freedoom-maze-v0")` builds it."""
    for name in game_names():
        if gymnasium_id(name) not in gymnasium.registry:
            gymnasium.register(
                gymnasium_id(name), entry_point="actswm.games.registry:make_game", kwargs={"name": name}
            )


def _module(family: str) -> ModuleType:
    return importlib.import_module(FAMILIES[family])
