"""OpenArena with its status bar: loading, play against bots, the menu over the game, death, the main menu."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np

from ...games.lockstep import Engine
from ...games.openarena import client as openarena
from ...games.openarena.client import STEP_NS, Client
from ...games.openarena.game import Keys
from .screen import Screen
from .takes import PLAY, Take, TakeWriter, wander

FPS = 25
SIZE = (360, 640)
_MAPS = ("oa_dm1", "oa_dm2", "oa_dm3", "oa_dm4", "oa_dm5", "oa_dm6", "oa_dm7")


def openarena_takes(folder: Path, seed: int, seconds: float, takes: int = 3) -> list[Take]:
    """A take of loading, `takes` of play with a menu in it and a death at its end, and one of the main menu."""
    rng = np.random.default_rng([seed, 25])
    name = f"openarena-{seed}"
    loading = TakeWriter(folder / f"{name}-loading.mkv", FPS, SIZE)
    with _with_hud(), _watched_boot(lambda rgb: loading.add(rgb, "loading")):
        client = Client("openarena/takes", _MAPS[seed % len(_MAPS)], SIZE, bots=2)
    made = [loading.close()] if loading.labels else []
    try:
        for number in range(takes):
            client.begin()
            client.command("cg_drawCrosshair 4")
            writer = TakeWriter(folder / f"{name}-{number}.mkv", FPS, SIZE)
            _play_and_die(client, writer, rng, seconds)
            made.append(writer.close())
        client.command("disconnect")
        writer = TakeWriter(folder / f"{name}-main.mkv", FPS, SIZE)
        for step in range(25 + 6 * FPS):
            client.engine.step(STEP_NS)
            if step >= 25:
                writer.add(client.frame(), "menu")
        made.append(writer.close())
    finally:
        client.close()
    return made


def _play_and_die(client: Client, writer: TakeWriter, rng: np.random.Generator, seconds: float) -> None:
    keys, steps = Keys(), round(seconds * FPS)
    menu_at = int(steps * rng.uniform(0.35, 0.65))
    for step, action in enumerate(wander(rng, steps, FPS)):
        if step % 50 == 0:  # a slow or a fast hand on the mouse
            client.command(f"cl_yawspeed {int(rng.choice([100, 180, 500, 900]))}")
        events = client.step(keys.act(action))
        died = any(event["name"] == "death" for event in events)
        writer.add(client.frame(), "death" if died else PLAY)
        if died:
            break
        if step == menu_at:
            client.step(keys.release())
            _menu(client, writer, rng)
    else:
        client.command("kill")
        for _ in range(10):
            if any(event["name"] == "death" for event in client.step(keys.release())):
                break
    for _ in range(round(FPS * rng.uniform(1.2, 1.6))):  # then the game brings the player back
        client.step(keys.release())
        writer.add(client.frame(), "death")


def _menu(client: Client, writer: TakeWriter, rng: np.random.Generator) -> None:
    client.command("togglemenu")
    for step in range(3 + round(FPS * rng.uniform(2.5, 4.0))):
        client.engine.step(STEP_NS)
        if step >= 3:
            writer.add(client.frame(), "menu")
    client.command("togglemenu")
    for _ in range(3):
        client.engine.step(STEP_NS)


@contextlib.contextmanager
def _with_hud() -> Iterator[None]:
    """The recorder switches all drawing in two dimensions off; a stream shows it."""
    settings = openarena._settings
    try:
        openarena._settings = lambda size: settings(size).replace('seta cg_draw2D "0"', 'seta cg_draw2D "1"')
        yield
    finally:
        openarena._settings = settings


@contextlib.contextmanager
def _watched_boot(add: Callable[[np.ndarray], None]) -> Iterator[None]:
    """Hands out the screen while the engine starts, as often as a stream shows it; black ones before are left out."""
    await_boot = Engine.await_boot

    def watching(self: Engine, ready: Callable[[], bool]) -> None:
        screen, due = Screen(self.display.name), time.monotonic()

        def look() -> bool:
            nonlocal due
            if time.monotonic() >= due:
                due += 1 / FPS
                picture = screen.grab()
                if picture.max() > 60:
                    add(picture)
            return ready()

        try:
            if "entered the game" in str(getattr(ready, "__code__", None) and ready.__code__.co_consts):
                await_boot(self, look)
            else:
                await_boot(self, ready)
        finally:
            screen.close()

    try:
        Engine.await_boot = watching  # type: ignore[method-assign]
        yield
    finally:
        Engine.await_boot = await_boot  # type: ignore[method-assign]
