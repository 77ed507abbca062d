"""Any Gymnasium environment as a `Game`: `gym:CartPole-v1`, `gym:MiniGrid-Empty-8x8-v0`, `gym:ALE/Pong-v5`.

Actions become controls, none of which pressed is always an action of the environment:

- `Discrete(n)`: a button for each action but one, which is what happens when none is pressed: the environment's own
  "do nothing", or else its first action. Of several buttons the first one counts.
- `MultiDiscrete`: the same for each of its numbers. `MultiBinary`: a button each.
- `Box`: continuous controls in the environment's own unit, clipped at its bounds.

Frames are the observations where these are pictures, else what `render` draws, scaled to the asked size.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

import cv2
import gymnasium
import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from ..controls import Control, Vocabulary
from ..errors import UserError
from ..game import Frame, Step

DEFAULT_FPS = 30.0
SMALLEST_PICTURE = 32
"""Pixels of the shorter side; smaller observations (MiniGrid's 7 x 7 symbols) are no pictures."""
RESTING = ("noop", "no-op", "no_op", "none", "nothing", "idle", "stay", "wait", "done")
"""Names of actions that do nothing, the surest first."""
WIDEST = 5.0
"""Spread of a continuous control without bounds."""


class GymGame:
    """`options` go to `gymnasium.make`; `picture` is `observation` or `render` (default: whichever is a picture)."""

    def __init__(
        self,
        environment: str,
        *,
        size: tuple[int, int],
        seed: int | None = None,
        picture: str | None = None,
        **options: Any,
    ) -> None:
        self.name = f"gym:{environment}"
        self._env = _made(environment, options)
        self._size, self._first_seed = size, seed
        self._action = _action_of(self._env, self.name)
        self.vocabulary = Vocabulary(_word(environment.rpartition(":")[2]), tuple(self._action.controls()))
        if not self.vocabulary.size:
            raise UserError(f"{self.name}: has one action only: there is nothing to choose")
        self.spread = {
            control.name: spread
            for control, spread in zip(self.vocabulary.controls, self._action.spreads())
            if not control.binary
        }
        self.effective = np.ones(self.vocabulary.size, bool)
        self.fps = float(self._env.metadata.get("render_fps") or DEFAULT_FPS)
        spec = self._env.spec
        self.deterministic = not (spec.nondeterministic if spec else False)
        seen = _is_picture(self._env.observation_space)
        if picture not in (None, "observation", "render"):
            raise UserError(f"{self.name}: picture {picture!r} is unknown; use observation or render")
        if picture == "observation" and not seen:
            raise UserError(f"{self.name}: its observations are no pictures; use picture=render")
        self._observed = seen if picture is None else picture == "observation"
        if not self._observed and self._env.render_mode != "rgb_array":
            raise UserError(f"{self.name}: has neither pictures as observations nor render_mode rgb_array")
        self._score = 0.0

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Frame, dict[str, Any]]:
        if seed is None:
            seed, self._first_seed = self._first_seed, None
        observation, told = self._env.reset(seed=seed, options=options)
        self._score = 0.0
        return self._frame(observation), {"seed": seed, "events": [], "telemetry": self._telemetry(told)}

    def step(self, action: NDArray[np.floating]) -> Step:
        observation, earned, terminated, truncated, told = self._env.step(self._action.taken(action))
        reward = float(earned)
        self._score += reward
        events: list[dict[str, Any]] = []
        if reward:
            events.append({"name": "reward" if reward > 0 else "penalty", "value": reward})
        if terminated:
            events.append({"name": "terminated"})
        info = {"events": events, "telemetry": self._telemetry(told)}
        return self._frame(observation), reward, bool(terminated), bool(truncated), info

    def random_action(self, rng: np.random.Generator) -> NDArray[np.float32]:
        """A raw action of somebody who tries everything alike."""
        return self._action.drawn(rng)

    def close(self) -> None:
        self._env.close()

    def _frame(self, observation: Any) -> Frame:
        picture = np.asarray(observation if self._observed else self._env.render())
        if picture.ndim == 2:
            picture = picture[..., None]
        if picture.ndim != 3 or picture.shape[2] not in (1, 3) or picture.dtype != np.uint8:
            raise UserError(f"{self.name}: draws {picture.dtype} {picture.shape}, which is no RGB picture")
        if picture.shape[2] == 1:
            picture = np.repeat(picture, 3, 2)
        height, width = self._size
        if picture.shape[:2] != self._size:
            picture = cv2.resize(picture, (width, height), interpolation=cv2.INTER_AREA)
        return np.ascontiguousarray(picture, np.uint8)

    def _telemetry(self, told: Mapping[str, Any]) -> dict[str, float]:
        """The score, and the plain numbers that the environment tells."""
        numbers = {
            key: float(value)
            for key, value in told.items()
            if np.ndim(value) == 0 and isinstance(value, int | float | np.number | np.bool_)
        }
        return {**numbers, "score": self._score}


class _Choice:
    """One of n actions: a button each, but for the resting one."""

    def __init__(self, names: list[str], rest: int, start: int = 0) -> None:
        self._names, self._start, self._rest = names, start, rest
        self._others = [index for index in range(len(names)) if index != rest]

    def controls(self) -> Iterator[Control]:
        return (Control(self._names[index]) for index in self._others)

    def spreads(self) -> list[float]:
        return [1.0] * len(self._others)

    def taken(self, action: NDArray[np.floating]) -> int:
        pressed = np.flatnonzero(np.asarray(action) > 0.5)
        return self._start + (self._others[pressed[0]] if len(pressed) else self._rest)

    def drawn(self, rng: np.random.Generator) -> NDArray[np.float32]:
        chosen = int(rng.integers(len(self._names)))
        return (np.array(self._others) == chosen).astype(np.float32)


class _Choices:
    """Several choices, one after the other."""

    def __init__(self, parts: list[_Choice], shape: tuple[int, ...], dtype: Any) -> None:
        self._parts, self._shape, self._dtype = parts, shape, dtype
        self._ends = np.cumsum([len(part.spreads()) for part in parts])

    def controls(self) -> Iterator[Control]:
        return (control for part in self._parts for control in part.controls())

    def spreads(self) -> list[float]:
        return [1.0] * int(self._ends[-1])

    def taken(self, action: NDArray[np.floating]) -> NDArray[Any]:
        pieces = np.split(np.asarray(action), self._ends[:-1])
        values = [part.taken(piece) for part, piece in zip(self._parts, pieces)]
        return np.array(values, self._dtype).reshape(self._shape)

    def drawn(self, rng: np.random.Generator) -> NDArray[np.float32]:
        return np.concatenate([part.drawn(rng) for part in self._parts])


class _Axes:
    """Continuous controls."""

    def __init__(self, space: spaces.Box) -> None:
        self._space = space
        self._low, self._high = (np.asarray(side, np.float64).ravel() for side in (space.low, space.high))

    def controls(self) -> Iterator[Control]:
        return (Control(f"a{index}", binary=False) for index in range(len(self._low)))

    def spreads(self) -> list[float]:
        reach = np.maximum(np.abs(self._low), np.abs(self._high)) / 2
        return [float(each) if np.isfinite(each) and each > 0 else WIDEST for each in reach]

    def taken(self, action: NDArray[np.floating]) -> NDArray[Any]:
        return np.clip(action, self._low, self._high).astype(self._space.dtype).reshape(self._space.shape)

    def drawn(self, rng: np.random.Generator) -> NDArray[np.float32]:
        drawn = rng.normal(0, self.spreads())
        return np.clip(drawn, self._low, self._high).astype(np.float32)


def _action_of(env: gymnasium.Env, name: str) -> _Choice | _Choices | _Axes:
    space = env.action_space
    if isinstance(space, spaces.Discrete):
        names = _meanings(env, int(space.n))
        rest = next((i for word in RESTING for i, each in enumerate(names) if each.lower() == word), 0)
        return _Choice(names, rest, int(space.start))
    if isinstance(space, spaces.MultiDiscrete):
        counts, starts = np.ravel(space.nvec), np.ravel(space.start)
        parts = [
            _Choice([f"{axis}.{value}" for value in range(count)], 0, int(first))
            for axis, (count, first) in enumerate(zip(counts, starts))
        ]
        return _Choices(parts, space.shape, space.dtype)
    if isinstance(space, spaces.MultiBinary):
        pairs = [_Choice([f"-b{index}", f"b{index}"], 0) for index in range(int(np.prod(space.shape)))]
        return _Choices(pairs, space.shape, space.dtype)
    if isinstance(space, spaces.Box):
        return _Axes(space)
    raise UserError(f"{name}: its actions are {space}; Discrete, MultiDiscrete, MultiBinary and Box can be played")


def _meanings(env: gymnasium.Env, count: int) -> list[str]:
    """What the environment itself calls its actions, where it does; else a0, a1, ..."""
    inner = env.unwrapped
    names: list[str] = []
    if callable(tell := getattr(inner, "get_action_meanings", None)):
        names = [_word(str(name)) for name in tell()]
    elif (members := getattr(getattr(inner, "actions", None), "__members__", None)) is not None:
        names = [_word(name) for name, _ in sorted(members.items(), key=lambda each: int(each[1]))]
    return names if len(set(names)) == len(names) == count else [f"a{index}" for index in range(count)]


def _word(text: str) -> str:
    """Text as a name that a vocabulary may have."""
    return re.sub(r"[\s,~()\x00-\x1f]+", "_", text)[:64] or "_"


def _is_picture(space: spaces.Space) -> bool:
    if not isinstance(space, spaces.Box) or space.dtype != np.uint8 or len(space.shape) not in (2, 3):
        return False
    return min(space.shape[:2]) >= SMALLEST_PICTURE and space.shape[2:] in ((), (1,), (3,))


def _made(environment: str, options: Mapping[str, Any]) -> gymnasium.Env:
    name = f"gym:{environment}"
    if environment.startswith("ALE/"):
        try:
            import ale_py

            gymnasium.register_envs(ale_py)
        except ImportError:
            raise UserError(f"{name}: needs the package 'ale-py', which is not installed") from None
    try:
        return gymnasium.make(environment, render_mode="rgb_array", **options)
    except gymnasium.error.DependencyNotInstalled as error:
        raise UserError(f"{name}: {error}") from None
    except (gymnasium.error.Error, ModuleNotFoundError, TypeError) as error:
        raise UserError(f"{name}: Gymnasium cannot make it ({' '.join(str(error).split())[:300]})") from None
