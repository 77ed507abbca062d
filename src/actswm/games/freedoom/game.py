"""Freedoom as a `Game`: one ViZDoom tic a raw step, bit-identical for the same seed and actions."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import gymnasium
import numpy as np
from numpy.typing import NDArray

from ...controls import KEYS14
from ...errors import UserError
from ...game import Frame
from ..guard import EngineDied
from ..spaces import action_space, frame_space
from .engine import VARIABLES, Engine, EngineSettings, screen_resolution
from .start import start_actions
from .worlds import WORLDS

if TYPE_CHECKING:
    import vizdoom

MAX_SEED = 2**32 - 1
WEAPON_CONTROLS = {"Fire", "Aim", "Reload"}


class FreedoomGame(gymnasium.Env[Any, Any]):
    """A world of Freedoom.

    `controls` restricts the controls that do anything; `monsters` adds them; `goal` keeps the item that ends
    a scenario's level. `reset(options={"demo": path})` records the episode as a `.lmp` demo, which is complete
    after the next `reset` or `close`.

    Events: `death`, `kill` and `exit` (the level was left).
    """

    metadata = {"render_modes": ["rgb_array"], "render_fps": 35}
    render_mode = "rgb_array"
    vocabulary = KEYS14
    fps = 35.0
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
        self._settings = EngineSettings(
            world=self.world,
            resolution=screen_resolution(size),
            monsters=monsters,
            weapon=bool(WEAPON_CONTROLS & set(enabled)),
            goal=goal,
        )
        self._first_seed = seed
        self._engine: Engine | None = None
        self._frame: Frame = np.zeros((*size, 3), np.uint8)
        self._telemetry: dict[str, float] = {}
        self._kills = 0.0

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Frame, dict[str, Any]]:
        seed = self._episode_seed(seed)
        super().reset(seed=seed)
        if self._engine is None:
            self._engine = Engine(self._settings)
        doom = self._engine.doom
        with self._watched():
            doom.set_doom_map(self.world.maps[seed % len(self.world.maps)])
            doom.set_seed(seed)
            doom.new_episode(str((options or {}).get("demo", "")))
        self._kills = 0.0
        self._advance(start_actions(self.world.start, seed))
        info = self._observe()
        return self._frame, {**info, "seed": seed}

    def step(self, action: NDArray[np.floating]) -> tuple[Frame, float, bool, bool, dict[str, Any]]:
        self._advance(self._masked(np.asarray(action)[None]))
        info = self._observe()
        return self._frame, 0.0, self._running().is_episode_finished(), False, info

    def fast_forward(self, actions: NDArray[np.floating]) -> tuple[Frame, dict[str, Any]]:
        """The same as one `step` per action, three times as fast: only the last frame is drawn."""
        self._advance(self._masked(actions))
        info = self._observe()
        return self._frame, info

    def render(self) -> Frame:
        return self._frame

    def close(self) -> None:
        if self._engine is not None:
            self._engine.close()
            self._engine = None

    def _episode_seed(self, seed: int | None) -> int:
        """The seed asked for; else the constructor's, once; else the next of the game's own stream."""
        if seed is None:
            seed, self._first_seed = self._first_seed, None
        if seed is None:
            return int(self.np_random.integers(MAX_SEED + 1))
        if not 0 <= seed <= MAX_SEED:
            raise UserError(f"seed {seed} is out of range; use 0 to {MAX_SEED}")
        return seed

    def _running(self) -> vizdoom.DoomGame:
        if self._engine is None:
            raise UserError(f"{self.name} is not running; call reset() first")
        return self._engine.doom

    def _masked(self, actions: NDArray[np.floating]) -> NDArray[np.floating]:
        return np.asarray(actions) * self.effective

    def _advance(self, actions: NDArray[np.floating]) -> None:
        """Run raw steps, drawing only the last; stops where the episode ends."""
        doom = self._running()
        pressed = (actions > 0.5).tolist()
        with self._watched():
            for index, buttons in enumerate(pressed, 1 - len(pressed)):
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
            self._frame = np.asarray(cv2.resize(screen, (width, height), interpolation=cv2.INTER_AREA), np.uint8)
            self._telemetry = dict(zip(VARIABLES, map(float, state.game_variables)))  # type: ignore[arg-type]
        elif doom.is_player_dead():
            events.append({"name": "death"})
        else:
            events.append({"name": "exit"})
        for _ in range(round(self._telemetry["kills"] - self._kills)):
            events.append({"name": "kill"})
        self._kills = self._telemetry["kills"]
        return {"events": events, "telemetry": dict(self._telemetry)}

    @contextlib.contextmanager
    def _watched(self) -> Iterator[None]:
        """Name a dead engine, clean up after it, and let the next `reset` start a new one."""
        import vizdoom

        try:
            yield
        except (vizdoom.ViZDoomErrorException, vizdoom.ViZDoomUnexpectedExitException) as error:
            self.close()
            raise EngineDied(f"{self.name}: the ViZDoom engine died ({error}); reset() starts it again") from error
