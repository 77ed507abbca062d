"""The paper's three tasks in Minecraft itself, through MineStudio: its triggers, budgets and chunk libraries.

A start is a world. The paper judges a pillar by eye; here it has to lift the player by nine blocks. Experts know
nothing of the world and act as the paper's references look: dig down, put the torch in front, stack.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ...chunks import load_library
from ...chunks.policies import ChunkPolicy
from ...controls import MINECRAFT
from ...game import Info, Policy, Start
from ...task import Task

STARTS = 20
FIRST_WORLD = 20_000
PILLAR_BLOCKS = 9
BIOME = "plains"
"""Level ground, soil over stone."""


def make_task(name: str) -> Task:
    item, succeeded, chunks, plan_budget, env_budget = {
        "mine-stone": ({"type": "iron_pickaxe", "quantity": 1}, mined_stone, ("mine down",), 150, 300),
        "place-torch": ({"type": "torch", "quantity": 64}, used_torch, ("look down", "place"), 50, 100),
        "build-pillar": ({"type": "dirt", "quantity": 64}, built_pillar, ("stack action",), 50, 40),
    }[name]
    return Task(
        name=f"minecraft/{name}",
        game="minecraft/survival",
        game_options={"inventory": {0: item}, "biome": BIOME},
        vocabulary=MINECRAFT,
        library=f"minecraft/{name}",
        plan_budget=plan_budget,
        env_budget=env_budget,
        mask="none" if name == "build-pillar" else "mining",
        starts=tuple({"seed": FIRST_WORLD + number} for number in range(STARTS)),
        reference_start={"seed": FIRST_WORLD + STARTS},
        succeeded=succeeded,
        expert=lambda start: _expert(name, chunks),
        draw_start=_another_world,
    )


def mined_stone(infos: Sequence[Info]) -> bool:
    return any(_is(event, "dig", "node", "stone") for info in infos for event in info["events"])


def used_torch(infos: Sequence[Info]) -> bool:
    return any(_is(event, "use", "item", "torch") for info in infos for event in info["events"])


def built_pillar(infos: Sequence[Info]) -> bool:
    return bool(infos[-1]["telemetry"]["y"] - infos[0]["telemetry"]["y"] >= PILLAR_BLOCKS - 0.1)


def _is(event: Mapping[str, Any], name: str, field: str, what: str) -> bool:
    """The simulator's versions say `stone`, `minecraft.stone` or `minecraft:stone`."""
    return event["name"] == name and event[field].replace(":", ".").rpartition(".")[2] == what


def _expert(task: str, chunks: Sequence[str]) -> Policy:
    """Every chunk once, the last one again and again."""
    left = list(chunks)
    return ChunkPolicy(load_library(f"minecraft/{task}"), lambda info: left.pop(0) if left[1:] else left[0])


def _another_world(seed: int) -> Start:
    return {"seed": FIRST_WORLD + STARTS + 1 + seed % 2**30}
