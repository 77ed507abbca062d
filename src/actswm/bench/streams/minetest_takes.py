"""Minetest with its hot bar and hearts: play, the pause menu, the inventory, standing still, death."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from pathlib import Path

import cv2
import numpy as np

from ...games.minetest import client as minetest
from ...games.minetest.client import Client
from ...games.minetest.game import MinetestGame
from ...games.minetest.world import World
from .takes import PLAY, Take, TakeWriter, wander

FPS = 20
SIZE = (360, 640)
_ESCAPE = 0xFF1B
_INVENTORY = ord("i")


def minetest_takes(folder: Path, seed: int, seconds: float, takes: int = 3) -> list[Take]:
    """`takes` of play with a window or a rest in the middle; each ends with a death."""
    rng = np.random.default_rng([seed, 20])
    made = []
    with _with_hud():
        game = MinetestGame(("terrain", "arena")[seed % 2], seed=seed, size=SIZE)
        try:
            for number in range(takes):
                game.reset(seed=seed * 100 + number)
                writer = TakeWriter(folder / f"minetest-{seed}-{number}.mkv", FPS, SIZE)
                _play(game, writer, rng, seconds * rng.uniform(0.3, 0.5))
                interlude = ("pause", "inventory", "rest")[(seed + number) % 3]
                _interlude(game, writer, rng, interlude)
                _play(game, writer, rng, seconds * rng.uniform(0.4, 0.6))
                _die(game, writer, rng)
                made.append(writer.close())
        finally:
            game.close()
    return made


def minetest_screens(folder: Path, seeds: Sequence[int], places: int = 6) -> None:
    """Pictures to learn a pack from, in folders by state: play, the inventory and the pause menu, in many places."""
    for seed in seeds:
        rng = np.random.default_rng([seed, 21])
        with _with_hud():
            game = MinetestGame(("terrain", "arena")[seed % 2], seed=seed, size=SIZE)
            try:
                for place in range(places):
                    game.reset(seed=seed * 100 + place)
                    client = _client(game)
                    for step, action in enumerate(wander(rng, 3 * FPS, FPS)):
                        game.step(action)
                        if step % 10 == 0:
                            _save(client, folder / "play" / f"{seed}-{place}-{step}.png")
                    client.step(game._hands.release(), (0, 0))
                    for name, key in (("inventory", _INVENTORY), ("pause", _ESCAPE)):
                        _press(client, key)
                        _save(client, folder / f"menu-{name}" / f"{seed}-{place}.png")
                        _press(client, _ESCAPE)
            finally:
                game.close()


def _save(client: Client, path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    cv2.imwrite(str(path), client.frame()[..., ::-1])


def _client(game: MinetestGame) -> Client:
    assert game._client is not None
    return game._client


def _play(game: MinetestGame, writer: TakeWriter, rng: np.random.Generator, seconds: float) -> None:
    client, flick = _client(game), 0.0
    for action in wander(rng, round(seconds * FPS), FPS):
        game.step(action)
        writer.add(client.frame(), PLAY)
        if rng.random() < 0.5 / FPS:
            flick = float(rng.uniform(-1, 1)) * 1000  # pixels of the mouse: up to 50 degrees in a frame
        if abs(flick) > 40:
            client.step([], (round(flick), 0))
            writer.add(client.frame(), PLAY)
            flick *= 0.6
    client.step(game._hands.release(), (0, 0))


def _interlude(game: MinetestGame, writer: TakeWriter, rng: np.random.Generator, kind: str) -> None:
    client, steps = _client(game), round(FPS * rng.uniform(3.0, 5.0))
    if kind == "rest":
        for _ in range(2 * steps):
            client.step([], (0, 0))
            writer.add(client.frame(), "static")
        return
    _press(client, _ESCAPE if kind == "pause" else _INVENTORY)
    for _ in range(steps):
        client.step([], (0, 0))
        writer.add(client.frame(), "menu")
    _press(client, _ESCAPE)


def _die(game: MinetestGame, writer: TakeWriter, rng: np.random.Generator) -> None:
    client = _client(game)
    client.engine.gate.command({"name": "kill"})
    for step in range(8 + round(FPS * rng.uniform(2.0, 3.5))):
        client.step([], (0, 0))
        if step >= 8:
            writer.add(client.frame(), "death")
    _press(client, 0xFF0D)  # the button that has the focus brings the player back


def _press(client: Client, key: int) -> None:
    client.step([(key, True)], (0, 0))
    client.step([(key, False)], (0, 0))
    for _ in range(3):
        client.step([], (0, 0))


@contextlib.contextmanager
def _with_hud() -> Iterator[None]:
    """Bars and death screens, which the recorder's own mod and settings switch off."""
    configuration, write_world = minetest.configuration, minetest.write_world

    def configured(size: tuple[int, int], world: World) -> str:
        return configuration(size, world).replace(
            "hud_scaling = 0.5", "hud_scaling = 0.75\ngui_scaling = 0.6"
        )

    def written(folder: Path, world: World) -> None:
        write_world(folder, world)
        script = folder / "worldmods" / "actswm" / "init.lua"
        text = script.read_text()
        for old, new in (
            ("hotbar = false, healthbar = false", "hotbar = true, healthbar = true"),
            ("return 1 - health --", "return change --"),
            (
                "prepare(minetest.parse_json(ffi.string(command)))",
                "local told = minetest.parse_json(ffi.string(command))\n"
                '\t\tif told.name == "kill" then player:set_hp(0) else prepare(told) end',
            ),
        ):
            assert old in text, old
            text = text.replace(old, new)
        script.write_text(text)

    try:
        minetest.configuration, minetest.write_world = configured, written
        yield
    finally:
        minetest.configuration, minetest.write_world = configuration, write_world
