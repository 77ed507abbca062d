"""The MineStudio adapter against a stand-in with MinecraftSim's interface; the engine itself is a download."""

from __future__ import annotations

import contextlib
import json
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

from actswm.chunks import load_library
from actswm.cli.main import app
from actswm.controls import MINECRAFT
from actswm.errors import UserError
from actswm.games.minestudio import ENGINE_JAR, MinecraftGame, simulator_action
from actswm.games.registry import make_game
from actswm.games.tasks import find_task


class StandIn:
    """Digs a stone on attack, uses a torch on use, looks where the camera is moved to; dies of sneaking."""

    made: list[StandIn] = []

    def __init__(
        self, *, action_type: str, obs_size: tuple[int, int], render_size: tuple[int, int], seed: int,
        inventory: dict[int, Any], preferred_spawn_biome: str | None, callbacks: list[Any],
    ) -> None:  # fmt: skip
        assert action_type == "env" and render_size == (640, 360)
        self.size, self.seed, self.inventory, self.biome = obs_size, seed, inventory, preferred_spawn_biome
        self.closed = False
        self.actions: list[dict[str, Any]] = []
        self.stones, self.torches, self.pitch = 5, 0, 0.0
        StandIn.made.append(self)

    def reset(self) -> tuple[dict[str, Any], dict[str, Any]]:
        return self._told(health=20.0)

    def step(self, action: dict[str, Any]) -> tuple[dict[str, Any], float, bool, bool, dict[str, Any]]:
        assert set(action) == {*MINECRAFT.names, "camera"} - {"pitch", "yaw"}
        self.actions.append(action)
        self.stones += 2 * action["attack"]
        self.torches += action["use"]
        self.pitch += float(action["camera"][0])
        observation, info = self._told(health=0.0 if action["sneak"] else 20.0)
        return observation, 0.0, bool(action["sneak"]), False, info

    def _told(self, health: float) -> tuple[dict[str, Any], dict[str, Any]]:
        width, height = self.size
        place = {"x": 1.5, "y": 64.0, "z": -3.0, "pitch": self.pitch, "yaw": 90.0}
        info = {
            "mine_block": {"stone": np.array(self.stones)},
            "use_item": {"torch": self.torches},
            "player_pos": place,
            "health": np.array(health),
        }
        return {"image": np.full((height, width, 3), 7, np.uint8)}, info

    def close(self) -> None:
        self.closed = True


@pytest.fixture
def engine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with the engine's jar, and the stand-in in place of MineStudio."""
    package, simulator = ModuleType("minestudio"), ModuleType("minestudio.simulator")
    simulator.MinecraftSim = StandIn  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "minestudio", package)
    monkeypatch.setitem(sys.modules, "minestudio.simulator", simulator)
    monkeypatch.setenv("MINESTUDIO_DIR", str(tmp_path))
    jar = tmp_path / ENGINE_JAR
    jar.parent.mkdir(parents=True)
    jar.write_bytes(b"")
    StandIn.made.clear()
    return tmp_path


@pytest.mark.usefixtures("engine")
def test_actions_events_and_telemetry_pass_through() -> None:
    game = make_game(
        "minecraft/survival", size=(48, 96), inventory={0: {"type": "torch", "quantity": 3}}, biome="plains"
    )
    with contextlib.closing(game):
        frame, info = game.reset(seed=11)
        assert frame.shape == (48, 96, 3) and info["events"] == []
        sim = StandIn.made[-1]
        assert (sim.seed, sim.inventory, sim.biome) == (11, {0: {"type": "torch", "quantity": 3}}, "plains")
        _, _, ended, _, info = game.step(
            MINECRAFT.action(["attack", "hotbar.3"], {"pitch": 82.0, "yaw": -5.0})
        )
        assert sim.actions[-1]["attack"] == sim.actions[-1]["hotbar.3"] == 1
        assert sum(value for name, value in sim.actions[-1].items() if name != "camera") == 2
        assert sim.actions[-1]["camera"].tolist() == [82.0, -5.0]
        assert not ended
        assert info["events"] == [{"name": "dig", "node": "stone"}] * 2
        assert info["telemetry"] == {
            "x": 1.5,
            "y": 64.0,
            "z": -3.0,
            "yaw": 90.0,
            "pitch": 82.0,
            "health": 20.0,
        }
        assert game.step(MINECRAFT.action(["use"]))[4]["events"] == [{"name": "use", "item": "torch"}]
        assert game.step(MINECRAFT.noop())[4]["events"] == []
        _, _, ended, _, info = game.step(MINECRAFT.action(["sneak"]))
        assert ended and info["events"] == [{"name": "death"}]
        game.reset(seed=11)
        assert len(StandIn.made) == 1
        game.reset(seed=12)
        assert [made.closed for made in StandIn.made] == [True, False]
    assert StandIn.made[-1].closed


def test_a_missing_engine_is_told_before_anything_is_imported(
    engine: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (engine / ENGINE_JAR).unlink()
    monkeypatch.setitem(sys.modules, "minestudio.simulator", None)  # an import would fail otherwise
    with pytest.raises(UserError, match=r"mcprec-6.13.jar.*minestudio.simulator.entry -y"):
        MinecraftGame().reset()


def test_a_missing_package_is_told(engine: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "minestudio.simulator", None)
    with pytest.raises(UserError, match="pip install minestudio"):
        MinecraftGame().reset()


def test_every_control_reaches_the_simulator() -> None:
    for name in MINECRAFT.names:
        action, rest = (
            simulator_action(MINECRAFT.action(values={name: 1.0})),
            simulator_action(MINECRAFT.noop()),
        )
        changed = [key for key in rest if not np.array_equal(action[key], rest[key])]
        assert changed == [name if name in rest else "camera"]


@pytest.mark.usefixtures("engine")
@pytest.mark.parametrize("name", ["mine-stone", "place-torch"])
def test_the_papers_tasks_are_planned_through_the_adapter(tmp_path: Path, name: str) -> None:
    out = tmp_path / "plans"
    options = ["--episodes", "2", "--baselines", "expert,noop", "--out", str(out), "--no-film"]
    ran = CliRunner().invoke(app, ["plan", "--task", f"minecraft/{name}", *options])
    assert ran.exit_code == 0, ran.output
    methods = json.loads((out / "results.json").read_text())["methods"]
    assert {method["method"]: method["successes"] for method in methods} == {"expert": 2, "noop": 0}
    assert {made.seed for made in StandIn.made} == {20_000, 20_001, 20_020}, "two starts and the reference's"
    item = {"mine-stone": "iron_pickaxe", "place-torch": "torch"}[name]
    assert all(made.inventory[0]["type"] == item and made.biome == "plains" for made in StandIn.made)


def test_a_pillar_lifts_its_builder_by_nine_blocks() -> None:
    task = find_task("minecraft/build-pillar")
    infos = [{"events": [], "telemetry": {"y": 64.0 + height}} for height in range(10)]
    assert task.succeeded(infos) and not task.succeeded(infos[:9])
    stack = load_library(task.library)["stack action"].steps
    expert = task.expert(task.starts[0])
    played = [expert.act(np.zeros((2, 2, 3), np.uint8), infos[0]) for _ in range(8)]
    np.testing.assert_array_equal(played, [*stack, *stack])
