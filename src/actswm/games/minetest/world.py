"""Minetest's worlds: how each is generated, and where an episode in it begins."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

WORLD_SEED = 3
"""Seed of the map where none is asked for; land around the origin."""
FLOOR = 8
"""Height of the arena's top layer of nodes; a player stands at FLOOR + 0.5."""
ARENA_RADIUS = 20

Box = tuple[int, int, int, int, int, int, str]
"""x1, y1, z1, x2, y2, z2, node: both corners belong to it."""

INVENTORY = (
    "default:pick_steel", "default:torch 99", "default:dirt 99", "default:cobble 99", "default:wood 99",
    "default:axe_steel", "default:shovel_steel", "default:brick 99", "default:glass 99",
)  # fmt: skip


@dataclass(frozen=True)
class World:
    """A world's seed and map generator."""

    name: str
    seed: int
    generator: dict[str, Any]


@dataclass(frozen=True)
class Start:
    """Where and how an episode begins. Angles in degrees, right and down positive; yaw 0 looks along +z."""

    position: tuple[float, float, float] | None = None
    """Feet of the player; None: on the ground at the first of `spots` (x, z) that is land."""
    spots: tuple[tuple[int, int], ...] = ((0, 0),)
    yaw: float = 0.0
    pitch: float = 0.0
    inventory: tuple[str, ...] = INVENTORY
    slot: int = 1
    """Selected hotbar slot, from 1."""
    boxes: tuple[Box, ...] = ()
    """Nodes to set before the player arrives, later boxes over earlier ones."""
    radius: int = 40
    """How far around the player the world is generated."""

    def command(self) -> dict[str, Any]:
        """As the mod wants it."""
        return asdict(self)


def arena(seed: int) -> World:
    """Flat grassland, with a playground that each episode's seed furnishes."""
    flags = "nocaves,nodungeons,light,nodecorations,biomes,noores"
    return World(
        "arena", seed, {"mg_name": "flat", "mg_flags": flags, "mgflat_spflags": "nolakes,nohills,nocaverns"}
    )


def terrain(seed: int) -> World:
    """Hills, woods, shores: Minetest's v7 generator."""
    return World(
        "terrain", seed, {"mg_name": "v7", "mg_flags": "caves,nodungeons,light,decorations,biomes,ores"}
    )


WORLDS = {"arena": arena, "terrain": terrain}


def episode_start(world: World, seed: int) -> Start:
    """The start that `reset(seed=...)` gives without options."""
    rng = np.random.default_rng([world.seed, seed])
    yaw = float(np.round(rng.uniform(-180, 180), 1))
    if world.name == "terrain":
        spots = tuple((int(x), int(z)) for x, z in rng.integers(-80, 81, (32, 2)))
        return Start(spots=spots, yaw=yaw)
    x, z = (float(value) for value in rng.integers(-6, 7, 2))
    return Start(position=(x, FLOOR + 0.5, z), yaw=yaw, boxes=furnish(rng, clear=(x, z)))


def ground(top: str, below: str = "default:dirt") -> tuple[Box, ...]:
    """The arena's empty floor and the air over it."""
    r = ARENA_RADIUS
    return (
        (-r, FLOOR - 4, -r, r, FLOOR - 1, r, below),
        (-r, FLOOR, -r, r, FLOOR, r, top),
        (-r, FLOOR + 1, -r, r, FLOOR + 14, r, "air"),
    )


def furnish(rng: np.random.Generator, clear: tuple[float, float]) -> tuple[Box, ...]:
    """A floor with patches, walls, blocks and trees, none of them within two nodes of `clear`."""
    tops = (
        "default:dirt_with_grass",
        "default:dirt_with_dry_grass",
        "default:sand",
        "default:dirt_with_snow",
    )
    solids = ("default:stone", "default:cobble", "default:wood", "default:brick", "default:desert_stone")
    boxes = list(ground(str(rng.choice(tops))))
    for _ in range(int(rng.integers(2, 6))):  # patches in the floor
        x, z, wide, deep = *_place(rng, 16), *rng.integers(1, 5, 2)
        boxes.append((x, FLOOR, z, x + int(wide), FLOOR, z + int(deep), str(rng.choice(tops + solids))))
    for _ in range(int(rng.integers(8, 15))):  # walls and blocks
        x, z, height = *_place(rng, 16), int(rng.integers(1, 5))
        wide, deep = ((int(rng.integers(0, 6)), 0), (0, int(rng.integers(0, 6))))[int(rng.integers(2))]
        if not _near((x, z, x + wide, z + deep), clear):
            boxes.append((x, FLOOR + 1, z, x + wide, FLOOR + height, z + deep, str(rng.choice(solids))))
    for _ in range(int(rng.integers(2, 7))):  # trees
        x, z, height = *_place(rng, 16), int(rng.integers(3, 6))
        if not _near((x - 2, z - 2, x + 2, z + 2), clear):
            boxes.extend(tree(x, z, height))
    return tuple(boxes)


def tree(x: int, z: int, height: int) -> tuple[Box, ...]:
    top = FLOOR + height
    return (
        (x - 2, top, z - 2, x + 2, top + 1, z + 2, "default:leaves"),
        (x - 1, top + 2, z - 1, x + 1, top + 2, z + 1, "default:leaves"),
        (x, FLOOR + 1, z, x, top, z, "default:tree"),
    )


def _place(rng: np.random.Generator, reach: int) -> tuple[int, int]:
    x, z = rng.integers(-reach, reach + 1 - 5, 2)
    return int(x), int(z)


def _near(rectangle: tuple[int, int, int, int], clear: tuple[float, float]) -> bool:
    x1, z1, x2, z2 = rectangle
    return x1 - 2 <= clear[0] <= x2 + 2 and z1 - 2 <= clear[1] <= z2 + 2
