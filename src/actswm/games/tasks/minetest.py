"""Minetest's tasks, after the paper's three in Minecraft, played with the paper's own chunk libraries.

They start in an arena that each start furnishes in its own way. Results are Minetest's, not Minecraft's.

- mine-stone: a strip of stone lies in a wooden floor some way ahead; a stone has to be dug. The wooden pick needs
  1.6 s without pause, and the strip is only three nodes deep.
- place-torch: a patch of planks lies in the ground, ahead and to the right; a torch has to be placed on it.
- build-pillar: the player has to stand on a pillar of nine blocks of its own making.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from ...chunks import load_library
from ...chunks.policies import ChunkPolicy
from ...controls import MINECRAFT
from ...game import Info, Policy, Start
from ...task import Task
from ..minetest.world import FLOOR, Box, ground, tree

STARTS = 20
PILLAR_BLOCKS = 9
STONE = "default:stone"
TARGET = "default:wood"
"""What the torch has to stand on."""
FLOORS = (
    "default:pine_wood",
    "default:junglewood",
    "default:acacia_wood",
    "default:aspen_wood",
    "default:wood",
)
"""Floors that a wooden pick cannot dig in the time it needs for stone."""
SOILS = (
    "default:dirt_with_grass", "default:dirt_with_dry_grass", "default:dirt_with_coniferous_litter", "default:sand",
    "default:dirt_with_snow",
)  # fmt: skip
BLOCKS = ("default:dirt", "default:cobble", "default:brick", "default:sandstone")


def make_task(name: str) -> Task:
    make_start, succeeded, expert, plan_budget, env_budget = {
        "mine-stone": (_mine_start, dug_stone, _mine_expert, 150, 300),
        "place-torch": (_torch_start, placed_torch, _torch_expert, 50, 100),
        "build-pillar": (_pillar_start, built_pillar, _pillar_expert, 50, 40),
    }[name]
    starts = [make_start(np.random.default_rng([STARTS, index])) for index in range(STARTS + 1)]
    return Task(
        name=f"minetest/{name}",
        game="minetest/arena",
        game_options={"vocabulary": MINECRAFT.name},
        vocabulary=MINECRAFT,
        library=f"minecraft/{name}",
        plan_budget=plan_budget,
        env_budget=env_budget,
        mask="none" if name == "build-pillar" else "mining",
        starts=tuple(starts[:STARTS]),
        reference_start=starts[STARTS],
        succeeded=succeeded,
        expert=expert,
        draw_start=lambda seed: make_start(np.random.default_rng([STARTS + 1, seed])),
        redress=partial(_redressed, name),
    )


# Success.


def dug_stone(infos: Sequence[Info]) -> bool:
    return any(
        event["name"] == "dig" and event["node"] == STONE for info in infos for event in info["events"]
    )


def placed_torch(infos: Sequence[Info]) -> bool:
    return any(
        event["name"] == "place" and event["node"].startswith("default:torch") and event["against"] == TARGET
        for info in infos
        for event in info["events"]
    )


def built_pillar(infos: Sequence[Info]) -> bool:
    """Does the player stand, or hover in a jump, over a column of enough blocks that it placed?"""
    now = infos[-1]["telemetry"]
    column = (round(now["x"]), round(now["z"]))
    placed = {
        event["position"][1]
        for info in infos
        for event in info["events"]
        if event["name"] == "place" and (event["position"][0], event["position"][2]) == column
    }
    return len(placed) >= PILLAR_BLOCKS and now["y"] >= infos[0]["telemetry"]["y"] + PILLAR_BLOCKS - 0.1


# Starts: `forward` is the direction of the player's heading along the axes.


def _options(rng: np.random.Generator, heading: float, **options: Any) -> Start:
    return {"seed": int(rng.integers(2**31)), "options": {"yaw": round(heading, 1), **options}}


def _mine_start(rng: np.random.Generator) -> Start:
    x, z, (ahead_x, ahead_z), yaw = _stand(rng)
    distance = int(rng.integers(3, 7))  # nodes from the player to the strip's middle
    corners = [
        (x + ahead_x * away + ahead_z * side, z + ahead_z * away + ahead_x * side)
        for away in (distance - 1, distance + 1)
        for side in (-4, 4)
    ]
    strip = _box(corners, FLOOR - 2, FLOOR, STONE)
    boxes = (*ground(str(rng.choice(FLOORS)), "default:obsidian"), *_scenery(rng, (x, z)), strip)
    return _options(
        rng,
        yaw + rng.uniform(-8, 8),
        position=_feet(x, z, rng),
        boxes=boxes,
        inventory=("default:pick_wood",),
    )


def _torch_start(rng: np.random.Generator) -> Start:
    x, z, _, yaw = _stand(rng)
    heading = yaw + rng.uniform(-45, 45)
    bearing = math.radians(heading + rng.uniform(10, 50))
    distance = rng.uniform(6.5, 8.5)
    to_x, to_z = round(x + distance * math.sin(bearing)), round(z + distance * math.cos(bearing))
    patch: Box = (to_x - 1, FLOOR, to_z - 1, to_x + 1, FLOOR, to_z + 1, TARGET)
    boxes = (*ground(str(rng.choice(SOILS))), *_scenery(rng, (x, z)), patch)
    return _options(rng, heading, position=_feet(x, z, rng), boxes=boxes, inventory=("default:torch 99",))


def _pillar_start(rng: np.random.Generator) -> Start:
    x, z, _, yaw = _stand(rng)
    boxes = (*ground(str(rng.choice(SOILS))), *_scenery(rng, (x, z)))
    inventory = (f"{rng.choice(BLOCKS)} 99",)
    return _options(
        rng, yaw + rng.uniform(-45, 45), position=_feet(x, z, rng), boxes=boxes, inventory=inventory
    )


def _redressed(name: str, start: Start, number: int) -> Start:
    """The same stand, heading and target on another floor, among other scenery, with other blocks in the hand."""
    rng = np.random.default_rng([STARTS + 2, start["seed"], number])
    options = start["options"]
    x, _, z = (round(value) for value in options["position"])
    if name == "mine-stone":
        floor = ground(str(rng.choice(FLOORS)), "default:obsidian")
    else:
        floor = ground(str(rng.choice(SOILS)))
    target = options["boxes"][-1:] if name != "build-pillar" else ()
    inventory = (f"{rng.choice(BLOCKS)} 99",) if name == "build-pillar" else options["inventory"]
    boxes = (*floor, *_scenery(rng, (x, z)), *target)
    return {**start, "options": {**options, "boxes": boxes, "inventory": inventory}}


def _stand(rng: np.random.Generator) -> tuple[int, int, tuple[int, int], float]:
    """A node to stand on, and a heading along an axis: as a direction and as a yaw."""
    x, z = (int(value) for value in rng.integers(-5, 6, 2))
    turn = int(rng.integers(4))
    return x, z, ((0, 1), (1, 0), (0, -1), (-1, 0))[turn], 90.0 * turn


def _feet(x: int, z: int, rng: np.random.Generator) -> tuple[float, float, float]:
    off_x, off_z = rng.uniform(-0.25, 0.25, 2)
    return (round(x + float(off_x), 2), FLOOR + 0.5, round(z + float(off_z), 2))


def _box(corners: Sequence[tuple[int, int]], low: int, high: int, node: str) -> Box:
    xs, zs = [x for x, _ in corners], [z for _, z in corners]
    return (min(xs), low, min(zs), max(xs), high, max(zs), node)


def _scenery(rng: np.random.Generator, stand: tuple[int, int]) -> tuple[Box, ...]:
    """Trees, posts and walls that are well away from where the player acts."""
    boxes: list[Box] = []
    for _ in range(int(rng.integers(6, 13))):
        angle, distance = rng.uniform(0, 2 * math.pi), rng.uniform(10, 14)
        x, z = round(stand[0] + distance * math.sin(angle)), round(stand[1] + distance * math.cos(angle))
        height = int(rng.integers(1, 5))
        if rng.random() < 0.4:
            boxes.extend(tree(x, z, height + 2))
        else:
            wide, deep = (int(value) for value in rng.integers(0, 3, 2))
            node = str(rng.choice(("default:cobble", "default:brick", "default:desert_sandstone")))
            boxes.append((x, FLOOR + 1, z, x + wide, FLOOR + height, z + deep, node))
    return tuple(boxes)


# Experts: they choose chunks of the library by where the target is.


def _target(start: Start, node: str) -> tuple[float, float]:
    """Middle of the last box of `node`."""
    x1, _, z1, x2, _, z2, _ = [box for box in start["options"]["boxes"] if box[6] == node][-1]
    return (x1 + x2) / 2, (z1 + z2) / 2


def _expert(task: str, choose: Callable[[Info], str]) -> Policy:
    return ChunkPolicy(load_library(f"minecraft/{task}"), choose)


def _mine_expert(start: Start) -> Policy:
    x, z = _target(start, STONE)
    yaw = round(start["options"]["yaw"] / 90) * math.pi / 2

    def choose(info: Info) -> str:
        place = info["telemetry"]
        ahead = (x - place["x"]) * math.sin(yaw) + (z - place["z"]) * math.cos(yaw)
        speed = abs(place["velocity_x"]) + abs(place["velocity_z"])
        if place["y"] < FLOOR + 0.4 or abs(ahead - 0.06 * speed) < 0.8:
            return "mine down"
        return "forward" if ahead > 0 else "back"

    return _expert("mine-stone", choose)


def _torch_expert(start: Start) -> Policy:
    x, z = _target(start, TARGET)

    def choose(info: Info) -> str:
        place = info["telemetry"]
        away_x, away_z = x - place["x"], z - place["z"]
        if max(abs(away_x), abs(away_z)) < 1.2:
            return "look down" if place["pitch"] < 89 else "place"
        yaw = math.radians(place["yaw"])
        ahead = away_x * math.sin(yaw) + away_z * math.cos(yaw)
        aside = away_x * math.cos(yaw) - away_z * math.sin(yaw)
        return "forward" if ahead > 0 and abs(aside) < 0.9 else "turn right"

    return _expert("place-torch", choose)


def _pillar_expert(start: Start) -> Policy:
    return _expert("build-pillar", lambda info: "stack action")
