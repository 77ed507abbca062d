"""Freedoom as a `Game`: one ViZDoom tic a raw step, bit-identical for the same seed and actions."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import gymnasium
import numpy as np
from numpy.typing import NDArray

from ...controls import KEYS14
from ...errors import UserError
from ...game import Frame, Step
from ..guard import EngineDied
from ..seeds import EpisodeSeeds
from ..spaces import action_space, frame_space, played_actions
from .engine import VARIABLES, Engine, EngineSettings, import_vizdoom, screen_resolution
from .start import start_actions
from .worlds import WEAPON, WORLDS

if TYPE_CHECKING:
    import vizdoom

DEMO_TAIL = 2
"""Raw steps without action that the engine appends to a demo when its recording ends."""


@dataclass(frozen=True)
class Demo:
    """A replayed episode: action t leads from frame t to frame t + 1."""

    frames: NDArray[np.uint8]
    """(n + 1, h, w, 3); only n where the last action ended the episode"""
    actions: NDArray[np.float32]
    """(n, A)"""
    telemetry: tuple[dict[str, float], ...] = ()
    """Of each frame."""


class FreedoomGame(gymnasium.Env[Any, Any]):
    """A world of Freedoom.

    `controls` restricts the controls that do anything; `monsters` adds them; `goal` keeps the item that ends
    a scenario's level. `reset(options={"demo": path})` records the episode as a `.lmp` demo, which is complete
    after the next `reset` or `close`.

    Events: `death`, `kill` and `exit` (the level was left).
    """

    metadata = {"render_modes": ["rgb_array"], "render_fps": 35}
    render_mode: str | None = "rgb_array"
    vocabulary = KEYS14
    fps = 35.0
    aspect = 4 / 3
    """Width over height of the engine's screen, whatever the shape of the frames."""
    deterministic = True

    def __init__(
        self,
        world: str,
        *,
        seed: int | None = None,
        size: tuple[int, int] = (128, 128),
        controls: Sequence[str] | None = None,
        monsters: bool = False,
        goal: bool = False,
    ) -> None:
        self.name = f"freedoom/{world}"
        self.world = WORLDS[world]
        self.size = size
        self.observation_space = frame_space(size)
        self.action_space = action_space(self.vocabulary)
        enabled = self.world.controls if controls is None else tuple(controls)
        self.effective = self.vocabulary.action(enabled) > 0
        if not self.world.armed and not set(WEAPON).isdisjoint(enabled):
            raise UserError(
                f"{self.name} has no weapon, so {', '.join(WEAPON)} do nothing; choose other controls"
            )
        self._settings = EngineSettings(
            world=self.world,
            resolution=screen_resolution(size),
            monsters=monsters,
            weapon=not set(WEAPON).isdisjoint(enabled),
            goal=goal,
        )
        self._seeds = EpisodeSeeds(seed)
        self._engine: Engine | None = None
        self._frame: Frame = np.zeros((*size, 3), np.uint8)
        self._telemetry: dict[str, float] = {}
        self._kills = 0.0
        self._over = False

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Frame, dict[str, Any]]:
        seed = self._seeds.choose(seed, self.np_random)
        super().reset(seed=seed)
        demo = (options or {}).get("demo")
        # The engine has its own working directory.
        demo = str(Path(demo).resolve()) if demo else ""
        try:
            self._begin(seed, demo)
        except EngineDied:  # since the last step; a new one does
            self._begin(seed, demo)
        info = self._observe()
        return self._frame, {**info, "seed": seed}

    def step(self, action: NDArray[np.floating]) -> Step:
        return self.fast_forward(np.asarray(action)[None])

    def fast_forward(self, actions: NDArray[np.floating]) -> Step:
        """One `step` for each action, three times as fast: only the last frame is drawn."""
        self._advance((played_actions(self.vocabulary, actions, len(actions)) > 0.5) & self.effective)
        info = self._observe()
        return self._frame, 0.0, self._running().is_episode_finished(), False, info

    def replay(self, path: str | os.PathLike[str], *, seed: int) -> Demo:
        """Play the `.lmp` demo of an episode that was recorded in this world with `seed`; ends the current one."""
        if not Path(path).is_file():
            raise UserError(f"{path}: no such demo file")
        frames, actions, telemetry = [], [], []
        most = Path(path).stat().st_size + DEMO_TAIL  # a step takes at least a byte
        with self._watched():
            doom = self._level(seed)
            doom.replay_episode(str(Path(path).resolve()))
            for _ in start_actions(self.world.start, seed):
                doom.advance_action(1, True)
            while not doom.is_episode_finished():
                self._observe()
                frames.append(self._frame)
                telemetry.append(self._telemetry)
                doom.advance_action(1, True)
                actions.append(doom.get_last_action())
                if len(actions) > most:
                    self.close()
                    raise UserError(f"{path}: the engine does not replay it; the demo is damaged, record it again")
        if not doom.is_replaying_episode():  # it ran out; else the episode ended in it
            frames, actions = frames[: 1 - DEMO_TAIL], actions[:-DEMO_TAIL]
        self.close()  # an engine that has replayed does not start new episodes from their seeds
        return Demo(np.array(frames), np.array(actions, np.float32), tuple(telemetry[: len(frames)]))

    def render(self) -> Frame:
        return self._frame

    def close(self) -> None:
        if self._engine is not None:
            self._engine.close()
            self._engine = None

    def _begin(self, seed: int, demo: str) -> None:
        """Start an episode and go to its start."""
        with self._watched():
            doom = self._level(seed)
            doom.set_seed(seed)
            doom.new_episode(demo)
        self._kills, self._over = 0.0, False
        self._advance(start_actions(self.world.start, seed) > 0.5)

    def _level(self, seed: int) -> vizdoom.DoomGame:
        """The engine, running, with the seed's map chosen."""
        if self._engine is None:
            self._engine = Engine(self._settings)
        doom = self._engine.doom
        chosen = self.world.maps[seed % len(self.world.maps)]
        if doom.get_doom_map() != chosen:  # setting it loads it, even the same one
            doom.set_doom_map(chosen)
        return doom

    def _running(self) -> vizdoom.DoomGame:
        if self._engine is None:
            raise UserError(f"{self.name} is not running; call reset() first")
        return self._engine.doom

    def _advance(self, pressed: NDArray[np.bool_]) -> None:
        """Run raw steps, drawing only the last; stops where the episode ends."""
        doom = self._running()
        with self._watched():
            for index, buttons in enumerate(pressed.tolist(), 1 - len(pressed)):
                if doom.is_episode_finished():
                    break
                doom.set_action(buttons)
                doom.advance_action(1, index == 0)

    def _observe(self) -> dict[str, Any]:
        """Take over the engine's state as the current frame and telemetry, and what happened in it."""
        import cv2

        doom = self._running()
        events: list[dict[str, Any]] = []
        state = doom.get_state()
        if state is not None:  # None once the episode is over: the last frame and telemetry stand
            height, width = self.size
            screen: Any = state.screen_buffer
            variables: Any = state.game_variables
            frame: Any = cv2.resize(screen, (width, height), interpolation=cv2.INTER_AREA)
            self._frame = frame
            self._telemetry = dict(zip(VARIABLES, variables.tolist()))
        elif not self._over:
            self._over = True
            events.append({"name": "death" if doom.is_player_dead() else "exit"})
        for _ in range(round(self._telemetry["kills"] - self._kills)):
            events.append({"name": "kill"})
        self._kills = self._telemetry["kills"]
        return {"events": events, "telemetry": self._telemetry}

    @contextlib.contextmanager
    def _watched(self) -> Iterator[None]:
        """Name a dead engine, clean up after it, and let the next `reset` start a new one."""
        vizdoom = import_vizdoom()
        try:
            yield
        except (vizdoom.ViZDoomErrorException, vizdoom.ViZDoomUnexpectedExitException) as error:
            self.close()
            raise EngineDied(
                f"{self.name}: the ViZDoom engine died ({error}); reset() starts it again"
            ) from error
