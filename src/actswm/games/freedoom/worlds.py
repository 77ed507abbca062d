"""The worlds of Freedoom: which map files they load, which controls they use, how an episode starts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from ...controls import KEYS14

Start = Literal["spawn", "turn", "walk"]
"""How the seed varies a start: by the map's own spawns; by the heading at one spot; by a short walk."""

WEAPON = ("Fire", "Aim", "Reload")
LOOKING = ("Turn_L", "Turn_R", "Look_U", "Look_D")
WALKING = ("W", "A", "S", "D", "Turn_L", "Turn_R")


@dataclass(frozen=True)
class World:
    """`maps` of the game file `iwad` (one is drawn by the seed), or those of a ViZDoom `scenario` file."""

    maps: tuple[str, ...]
    iwad: str = "freedoom2.wad"
    scenario: str | None = None
    controls: tuple[str, ...] = KEYS14.names
    """The controls that are in use unless others are asked for."""
    armed: bool = True
    """Can the weapon's controls do anything? A scenario may take the weapon away."""
    start: Start = "walk"


MAPS = ("map02", "map11", "map15")

WORLDS: dict[str, World] = {
    "turn": World(("map11",), controls=LOOKING, start="turn"),
    "room": World(("map01",), scenario="basic.wad", controls=WALKING),
    "maze": World(("map01",), scenario="my_way_home.wad", controls=WALKING, armed=False, start="spawn"),
    "maps": World(MAPS),
    **{f"map{number:02}": World((f"map{number:02}",)) for number in range(1, 33)},
    **{
        f"e{episode}m{number}": World((f"e{episode}m{number}",), iwad="freedoom1.wad")
        for episode in range(1, 5)
        for number in range(1, 10)
    },
}
